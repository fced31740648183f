"""Rehearsals: each table is built once of made-up numbers, before the first job.

The rows are those of the grids, as jobs will write them, with two runs where there are more; only
estimates, exact values and seconds are made up, each from its own identity alone. What follows from
grids and options shows at once: what a builder refuses, printed rows that the table has not, two
rows for one point of a figure, an axis that a figure cannot show.
"""

from __future__ import annotations

import json
import warnings
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from epsilometer import seeds
from epsilometer.densities.histogram import ladder
from epsilometer.errors import ConfigError, one_line
from epsilometer.estimators.base import pairs_of
from epsilometer.mechanisms.base import OUTPUT_KINDS, Kind
from epsilometer.settings.registry import load
from epsilometer_workflow.configuration.study import Combination, Study
from epsilometer_workflow.files.identities import EstimatesToSummarise
from epsilometer_workflow.files.parsing import Batch, spell
from epsilometer_workflow.files.place import Place
from epsilometer_workflow.files.storage import concatenated
from epsilometer_workflow.products.experiments import Summary
from epsilometer_workflow.products.reductions import Samples
from epsilometer_workflow.products.reports import Table
from epsilometer_workflow.reports import grouping, layouts
from epsilometer_workflow.stages import estimate, render, summarise, tabulate

_LEVEL = 0.5  # of estimates and exact values, about


def rehearse(table: Table, renderer: Any | None, place: Place) -> None:
    """Raise `ConfigError` where a table cannot be built, joined with a paper's rows or drawn."""
    paper = table.definition.paper
    layout = table.definition.layout
    if renderer is not None and not hasattr(renderer, "shows"):
        message = f"{table.definition.figure} must say what tells its points apart: @points"
        raise place.at("figure").error(message)
    built = built_of(table, place)
    if built is None:
        return
    if paper is not None:
        built = tabulate.join_paper(built, paper, place.at("paper"))
    if layout is not None:
        with place.named():
            layouts.latex(built, layout)
    if renderer is not None:
        with place.at("figure").named():
            render.figures_of(built, renderer)


def built_of(table: Table, place: Place) -> pd.DataFrame | None:
    """Return a table of made-up numbers; none of a builder that reads many draws, or other files.

    A builder that reads no experiment makes the table that its job will make.
    """
    study = table.study
    entry = table.definition.table
    builder = load(table.builder)
    kind = tabulate.reads(builder)
    if kind in ("draws", "tables") or entry.files:
        return None
    for c in table.combinations() if kind == "samples" else ():
        if _outputs(study, c).several:
            wrong = f"{c.mechanism} has outputs of several numbers, the table is of single ones"
            raise place.at("table", "data").error(wrong)
    with place.at("table").named():
        frames = [_rows(study, table.report, name, kind) for name in entry.data]
    data = [pd.concat(frames, ignore_index=True)] if frames else []
    try:
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            return tabulate.build(builder, data, entry.options, place, study.law)
    except ConfigError:
        raise
    except Exception as error:  # of a builder that neither builds nor refuses
        wrong = f"{entry.builder} ends in {type(error).__name__}: {one_line(error)}"
        raise place.at("table", "builder").error(wrong) from error


@cache
def _rows(study: Study, report: str, experiment: str, kind: str | None) -> pd.DataFrame:
    """Return the rows of an experiment that a builder of this kind reads."""
    combinations = study.combinations(report, experiment)
    if kind == "timings":
        rows = []
        for c in combinations:
            rows += [_seconds(study, c, run) for run in range(c.runs)]
        return pd.DataFrame(rows)
    if kind == "samples":
        drawn = dict.fromkeys(Samples.of(study, c, Batch(0, c.runs - 1)) for c in combinations)
        return pd.concat(map(_draws, drawn), ignore_index=True)
    members = Summary(study, report, experiment).members()
    parts = []
    precision = []
    for c, member in zip(combinations, members, strict=True):
        part = _estimates(study, c, member)
        parts.append(part)
        precision += [member.precision or np.nan] * len(part["run"])
    frame = pd.DataFrame(concatenated(parts))
    grouping.check_once(frame)
    if kind == "runs":
        return frame
    summaries = []
    for gamma, rows_of_gamma in frame.groupby(np.array(precision), dropna=False):
        summaries.append(summarise.summarise(rows_of_gamma, gamma))
    return pd.concat(summaries, ignore_index=True)


def _estimates(study: Study, c: Combination, member: EstimatesToSummarise) -> dict[str, Any]:
    """Return the columns of a combination's runs, as `summarise.with_truth` names them."""
    estimator = study.estimator(c.estimator)
    identity = member.identity
    one_pair = estimator.reads == "evidence" or getattr(estimator, "largest", False)
    values = identity.inputs.sides
    names = identity.inputs.names
    pairs = identity.inputs.pairs
    if one_pair:
        pairs = pairs[:1]
    sizes = ladder(c.n.first) if c.n.searched else [c.n.first]
    claims = estimator.grid if estimator.reads == "verdicts" else [np.nan]
    keys = product(range(min(c.runs, 2)), sizes, range(len(pairs)), claims)
    run, n, pair, claim = map(np.array, zip(*keys, strict=True))
    sides = np.array(pairs)[pair]
    falling = np.exp(-np.nan_to_num(claim))
    levels = _LEVEL + _numbers(len(pairs), *_texts(c)[:4])
    truth = levels[pair] * falling
    level = levels.max() * falling
    answers = {"run": run, "n": n, "side_x": sides[:, 0], "side_x_prime": sides[:, 1]}
    answers |= {"fresh": np.full(run.size, c.n.fresh), "claim": claim}
    for way in ("", "_reverse"):
        made_up = truth + _numbers(run.size, *_texts(c), way)
        answers |= {f"estimate{way}": made_up, f"low{way}": made_up - 0.05}
        answers[f"high{way}"] = made_up + 0.05
    columns = estimate.labelled(answers, identity)
    inputs = np.array(list(map(json.dumps, values)), object)
    columns["pair"] = np.array(names or [""] * len(pairs), object)[pair]
    columns["x"], columns["x_prime"] = inputs[sides].T
    unknown = np.nan if member.law is None else 1.0
    columns["truth"] = columns["truth_reverse"] = truth * unknown
    columns["level"] = level * unknown
    texts = {
        "guarantee": member.guarantee,
        "parameters": json.dumps(identity.mechanism_parameters, sort_keys=True),
        "settings": json.dumps(identity.parameters, sort_keys=True),
    }
    for name, text in texts.items():
        columns[name] = [text] * run.size
    return columns


def _numbers(count: int, *identity: str) -> np.ndarray:
    """Return made-up numbers from 0 to 0.1, which belong to an identity."""
    return seeds.generator(0, "rehearsal", *identity).random(count) / 10


def _seconds(study: Study, c: Combination, run: int) -> dict[str, Any]:
    names = ("sampling", "estimating", "seconds", "bound")
    spent = dict(zip(names, _numbers(len(names), *_texts(c), str(run)), strict=True))
    inputs = study.inputs(c.mechanism, c.inputs)
    pairs = pairs_of(len(inputs.sides()), inputs.pairing)
    return c.axes | {"run": run, "pairs": len(pairs)} | spent


def _texts(c: Combination) -> list[str]:
    """Return the identity of a combination, as texts."""
    return list(map(str, c.axes.values()))


def _outputs(study: Study, c: Combination | Samples) -> Kind:
    return OUTPUT_KINDS[study.mechanism(c.mechanism, c.epsilon).outputs]


def _draws(samples: Samples) -> pd.DataFrame:
    """Return two outputs of each side, of one run."""
    dtype = _outputs(samples.study, samples).dtype
    identity = samples.mechanism, spell(samples.epsilon), samples.inputs, str(samples.n)
    first = _numbers(samples.sides, *identity)
    outputs_of_run_0 = []
    for side, output in enumerate(first):
        outputs_of_run_0.append((0, side, np.array([output, 1 + output]).astype(dtype)))
    return tabulate.drawn(samples.job(), outputs_of_run_0)

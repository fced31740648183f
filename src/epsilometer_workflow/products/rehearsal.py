"""Rehearsals: each table is built once of made-up numbers, before the first job.

The rows are those of the grids, as jobs will write them, with two runs where there are more; only
estimates, exact values and seconds are made up. What follows from grids and options alone shows at
once: what a builder refuses, printed rows that the table has not, two rows for one point of a
figure. Other errors may come from the numbers, so they are not counted.
"""

from __future__ import annotations

import json
import warnings
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from epsilometer.densities.histogram import ladder
from epsilometer.errors import ConfigError
from epsilometer.estimators.base import pairs_of
from epsilometer.mechanisms.base import OUTPUT_KINDS, Kind
from epsilometer.registry import load
from epsilometer_workflow.configuration.study import Combination, Study, placed
from epsilometer_workflow.files.parsing import Batch, spell
from epsilometer_workflow.products.experiments import Summary
from epsilometer_workflow.products.reductions import Samples
from epsilometer_workflow.products.reports import Table
from epsilometer_workflow.reports import layouts
from epsilometer_workflow.stages import estimate, summarise, tabulate
from epsilometer_workflow.stages.render import two_rows_of_a_point

_LEVEL = 0.5  # of every estimate and exact value
_WAYS = ("", "_reverse")


def rehearse(table: Table, renderer: Any | None, file: str, key: str) -> None:
    """Raise `ConfigError` where a table cannot be built, joined with a paper's rows or drawn."""
    study, entry, paper = table.study, table.definition.table, table.definition.paper
    builder = load(table.builder)
    if renderer is not None and not hasattr(renderer, "points"):
        message = f"{table.definition.figure} must say what tells its points apart: @points"
        raise ConfigError(file, f"{key}.figure", message)
    kind = tabulate.reads(builder)
    if kind in ("draws", "table") or entry.files:
        return
    combinations = [c for name in entry.data for c in study.combinations(table.report, name)]
    if kind == "samples" and any(_outputs(study, c).several for c in combinations):
        return
    try:
        data = [_rows(study, table.report, name, kind).copy() for name in entry.data]
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            built = tabulate.build(builder, data, entry.options, file, key)
    except ConfigError:
        raise
    except Exception:
        if kind is None:  # nothing is made up
            raise
        return
    if paper is not None:
        built = tabulate.join_paper(built, paper.model_dump(), file, key)
    if layout := table.definition.layout:
        with placed(file, key):
            layouts.latex(built, layout.model_dump())
    if renderer is not None and (wrong := two_rows_of_a_point(built, renderer.points)):
        raise ConfigError(file, f"{key}.figure", wrong)


@cache
def _rows(study: Study, report: str, experiment: str, kind: str | None) -> pd.DataFrame:
    """Return the rows of an experiment that a builder of this kind reads."""
    combinations = study.combinations(report, experiment)
    if kind == "timings":
        rows = [_seconds(study, c, run) for c in combinations for run in range(c.runs)]
        return pd.DataFrame(rows)
    if kind == "samples":
        return pd.concat([_draws(study, c) for c in combinations], ignore_index=True)
    members = Summary(study, report, experiment).members()
    parts = [_estimates(study, c, m) for c, m in zip(combinations, members, strict=True)]
    frame = pd.DataFrame(
        {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    )
    if kind == "runs":
        return frame
    counts = [len(part["run"]) for part in parts]
    precision = np.repeat([member["precision"] or np.nan for member in members], counts)
    return pd.concat(
        [
            summarise.summarise(part, gamma)
            for gamma, part in frame.groupby(precision, dropna=False)
        ],
        ignore_index=True,
    )


def _estimates(study: Study, c: Combination, member: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a combination's runs, as `summarise.with_truth` names them."""
    estimator, identity = study.estimator(c.estimator), member["identity"]
    one_pair = estimator.reads == "evidence" or getattr(estimator, "largest", False)
    values, names = identity["inputs"]["values"], identity["inputs"]["names"]
    pairs = pairs_of(len(values), identity["inputs"]["pairing"])[: 1 if one_pair else None]
    sizes = ladder(c.n.first) if c.n.searched else [c.n.first]
    claims = estimator.grid if estimator.reads == "verdicts" else [np.nan]
    keys = product(range(min(c.runs, 2)), sizes, range(len(pairs)), claims)
    run, n, pair, claim = (np.array(part) for part in zip(*keys, strict=True))
    sides = np.array(pairs)[pair]
    level = np.full(run.size, _LEVEL)
    answers = {"run": run, "n": n, "side_x": sides[:, 0], "side_x_prime": sides[:, 1]}
    answers |= {"fresh": np.full(run.size, c.n.fresh), "claim": claim}
    answers |= {f"{name}{way}": level for name in ("estimate", "low", "high") for way in _WAYS}
    inputs = np.array([json.dumps(value) for value in values], object)
    truth = level if member["law"] else np.nan * level
    texts = {"parameters": identity["mechanism_parameters"], "settings": identity["parameters"]}
    return {
        **estimate.labelled(answers, identity),
        "pair": np.array(names or [""] * len(pairs), object)[pair],
        "x": inputs[sides[:, 0]],
        "x_prime": inputs[sides[:, 1]],
        **dict.fromkeys(("truth", "truth_reverse", "level"), truth),
        "guarantee": [member["guarantee"]] * run.size,
        **{name: [json.dumps(text, sort_keys=True)] * run.size for name, text in texts.items()},
    }


def _seconds(study: Study, c: Combination, run: int) -> dict[str, Any]:
    spent = dict.fromkeys(("sampling", "estimating", "seconds", "bound"), 1.0)
    sides = len(study.input_values(c.mechanism, c.inputs))
    pairs = len(pairs_of(sides, study.pairing(c.mechanism, c.inputs)))
    keys = {"mechanism": c.mechanism, "epsilon": c.epsilon, "lambda": spell(c.order), "run": run}
    keys |= {"estimator": c.estimator, "n": c.n.first, "fresh": c.n.fresh, "pairs": pairs}
    return keys | spent


def _outputs(study: Study, c: Combination) -> Kind:
    return OUTPUT_KINDS[study.mechanism(c.mechanism, c.epsilon).outputs]


def _draws(study: Study, c: Combination) -> pd.DataFrame:
    """Return two outputs of each side, 0 and 1."""
    spec = Samples.of(study, c, Batch(0, c.runs - 1)).spec()
    sides = ((0, side, np.array([0, 1], _outputs(study, c).dtype)) for side in range(spec["sides"]))
    return tabulate.drawn(spec, sides)

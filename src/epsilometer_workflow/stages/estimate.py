"""From files of reduced samples to a tidy table of estimates.

A row per run, n and pair of sides; for a lower bound this is the selected pair. Tables are held as
columns: arrays of shape ``(rows,)``, by name.
"""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer import seeds
from epsilometer.densities.base import Densities
from epsilometer.estimators.base import OutputEvidence, over_pairs
from epsilometer.numerics.arrays import Counts
from epsilometer_workflow.files.identities import EstimateJob, EstimatesIdentity, job_of
from epsilometer_workflow.files.storage import concatenated, read_columns, write_columns

Columns = dict[str, Any]

_KEYS = ("run", "n", "side_x", "side_x_prime")
_ESTIMATES = ("estimate", "estimate_reverse")
_ENDS = ("low", "high", "low_reverse", "high_reverse")
_UNLESS_ANSWERED = {
    **{"fresh": 0, **dict.fromkeys(_ESTIMATES, np.nan), "failed": False},
    **{"claim": np.nan, **dict.fromkeys(_ENDS, np.nan), "trusted": True},
}
"""The columns of estimates, with what those hold that an estimator does not answer."""


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `estimate`."""
    job = job_of(snakemake, EstimateJob)
    columns = estimates_of(snakemake.input, job)
    write_columns(columns, snakemake.output[0], "estimates", job.identity)


def estimates_of(files: Sequence[str], job: EstimateJob) -> Columns:
    """Estimate from every file of reductions."""
    identity = job.identity
    estimator = identity.load()
    kind, answer = _ANSWERS[job.reads]
    parts = []
    for file, expected in zip(files, job.data, strict=True):
        parts.append(answer(estimator, read_columns(file, kind, expected), identity))
    return labelled(concatenated(parts), identity)


def labelled(answers: Columns, identity: EstimatesIdentity) -> Columns:
    """Return the columns of a file of estimates, of answers and the keys of their rows."""
    rows = answers["run"].size
    values: dict[str, Any] = {
        "mechanism": identity.mechanism,
        "epsilon": float(identity.epsilon),
        "lambda": identity.order,
        "estimator": identity.estimator,
        "cells": identity.cells,
        "inputs": identity.inputs.id,
        "claimed_lipschitz": identity.claims.lipschitz or np.nan,
    }
    columns = {}
    for name, value in (values | dict.fromkeys(_KEYS) | _UNLESS_ANSWERED).items():
        if name in answers:
            columns[name] = answers[name]
        elif isinstance(value, str):
            columns[name] = [value] * rows
        else:
            columns[name] = np.full(rows, value)
    return columns


def _from_histograms(estimator: Any, histograms: Columns, identity: EstimatesIdentity) -> Columns:
    runs, sizes, counts = _by_run(histograms)
    order = float(identity.order)
    pairing = identity.inputs.pairing
    answers = over_pairs(estimator, counts, identity.claims, order, pairing)
    parts = []
    for (i, j), answer in answers.items():
        part = {
            "run": np.repeat(runs, sizes.size),
            "n": np.tile(sizes, runs.size),
            "side_x": np.full(answer.forward.size, i, np.int32),
            "side_x_prime": np.full(answer.forward.size, j, np.int32),
            "estimate": answer.forward.ravel(),
            "estimate_reverse": answer.reverse.ravel(),
            "failed": answer.failed.ravel(),
        }
        parts.append(part)
    return concatenated(parts)


def _by_run(histograms: Columns) -> tuple[NDArray[np.int64], NDArray[np.int64], Counts]:
    """Shape rows ordered by run, side and n into (runs, len(n), sides, cells)."""
    runs = np.unique(histograms["run"])
    sizes = np.unique(histograms["n"])
    sides = int(histograms["side"].max()) + 1
    counts = np.reshape(histograms["counts"], (runs.size, sides, sizes.size, -1))
    return runs, sizes, counts.swapaxes(1, 2)


def _from_densities(estimator: Any, densities: Columns, identity: EstimatesIdentity) -> Columns:
    order = float(identity.order)
    pairs = len(identity.inputs.pairs)
    bounds_of_pairs = []
    trusted = []
    names = ("p", "q", "spacing", "bandwidth", "bandwidth_prime", "n")
    for p, q, spacing, h, h_prime, n in zip(*map(densities.get, names), strict=True):
        d = Densities(p, q, spacing, (h, h_prime))
        bounds_of_pairs.append(estimator.bounds(d, order=order, n=int(n), pairs=pairs))
        trusted.append(estimator.trusted(d, order=order, n=int(n)))
    bounds = np.array(bounds_of_pairs)
    believed = np.array(trusted)
    if estimator.largest:
        either = bounds.max(axis=1)
        chosen = _largest(either, densities["run"])
        return _symmetric(_at(densities, chosen), either[chosen]) | {"trusted": believed[chosen]}
    answers = _at(densities, slice(None)) | {"trusted": believed}
    answers["estimate"], answers["estimate_reverse"] = bounds.T
    return answers


def _from_verdicts(estimator: Any, verdicts: Columns, identity: EstimatesIdentity) -> Columns:
    inputs = identity.inputs
    alpha = estimator.alpha
    if estimator.largest:  # shared by both directions of all pairs
        alpha /= 2 * len(inputs.pairs)
    keys = (*_KEYS, "reverse")
    names = "bootstrap", identity.mechanism, f"epsilon={identity.epsilon!r}", inputs.id
    parts = []
    for rows in _stretches(verdicts, keys):
        part = {name: values[rows] for name, values in verdicts.items()}
        run, n, i, j, reverse = (part[key][0] for key in keys)
        tested = estimator.tested(part)
        stream = f"n={n}", f"{i},{j},{reverse}", f"run={run}"
        rng = seeds.generator(identity.seed, *names, *stream)
        low, high = tested.interval(estimator.interval, alpha, rng)
        part |= {"claim": tested.claims, "estimate": tested.delta, "low": low, "high": high}
        parts.append(part)
    joined = concatenated(parts)
    return _largest_of_all(joined) if estimator.largest else _side_by_side(joined)


def _from_answers(_: Any, answers: Columns, __: EstimatesIdentity) -> Columns:
    failed = np.isnan(answers["estimate"]) | np.isnan(answers["estimate_reverse"])
    return answers | {"failed": failed}


def _stretches(columns: Columns, keys: Sequence[str]) -> Iterator[slice]:
    """Yield slices of neighbouring rows that agree in some columns."""
    changes = [columns[key][1:] != columns[key][:-1] for key in keys]
    starts = np.flatnonzero(np.concatenate([[True], np.any(changes, axis=0)]))
    for first, last in zip(starts, [*starts[1:], None], strict=True):
        yield slice(first, last)


def _side_by_side(rows: Columns) -> Columns:
    """Return the answers of both directions in a row: a pair's second follows its first."""
    back = rows["reverse"]
    joined = {}
    for key in (*_KEYS, "claim", "estimate", "low", "high"):
        joined[key] = rows[key][~back]
    for key in ("estimate", "low", "high"):
        joined[f"{key}_reverse"] = rows[key][back]
    return joined


def _largest_of_all(rows: Columns) -> Columns:
    """Keep the largest answer of each run and claim, with the largest ends of all intervals."""
    _, cell = np.unique(np.stack([rows["run"], rows["claim"]]), axis=1, return_inverse=True)
    cell = cell.ravel()  # some versions of NumPy return a row
    chosen = _largest(rows["estimate"], cell)
    largest = _symmetric(_at(rows, chosen), rows["estimate"][chosen])
    largest["claim"] = rows["claim"][chosen]
    for end in ("low", "high"):
        most = np.full(cell.max() + 1, -np.inf)
        np.maximum.at(most, cell, rows[end])
        largest[end] = largest[f"{end}_reverse"] = most[cell[chosen]]
    return largest


def _largest(values: NDArray[np.float64], group: NDArray[Any]) -> NDArray[np.intp]:
    """Return the first row of the largest value in each group, groups as they first appear."""
    by_value = np.argsort(-values, kind="stable")
    _, first = np.unique(group[by_value], return_index=True)
    _, appears = np.unique(group, return_index=True)
    return by_value[first][np.argsort(appears, kind="stable")]


def _from_losses(estimator: Any, losses: Columns, _: EstimatesIdentity) -> Columns:
    rows = losses["selected"] if estimator.largest else slice(None)
    return _symmetric(_at(losses, rows), losses["loss"][rows])


def _from_evidence(estimator: Any, weighed: Columns, _: EstimatesIdentity) -> Columns:
    names = OutputEvidence.__dataclass_fields__
    evidence = OutputEvidence(**{name: weighed[name] for name in names})
    keys = _at(weighed, slice(None)) | {"fresh": weighed["fresh"]}
    return _symmetric(keys, estimator.bound(evidence))


def _at(columns: Columns, rows: Any) -> Columns:
    """Return the columns that identify some rows."""
    return {key: columns[key][rows] for key in _KEYS}


def _symmetric(keys: Columns, answers: Any) -> Columns:
    """Return rows for answers that count for both directions."""
    values = np.asarray(answers, np.float64)
    return keys | {"estimate": values, "estimate_reverse": values}


_ANSWERS: dict[str, tuple[str, Callable[[Any, Columns, EstimatesIdentity], Columns]]] = {
    "histograms": ("histograms", _from_histograms),
    "densities": ("densities", _from_densities),
    "verdicts": ("verdicts", _from_verdicts),
    "samples": ("answers", _from_answers),
    "losses": ("losses", _from_losses),
    "evidence": ("evidence", _from_evidence),
}
"""By what an estimator reads: the kind of the file, and its answers from the columns of one."""

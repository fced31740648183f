"""From files of reduced samples to a tidy table of estimates.

A row per run, n and pair of sides; for a lower bound this is the selected pair. Tables are held as
columns: arrays of shape ``(rows,)``, by name.
"""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer import seeds
from epsilometer.arrays import Counts
from epsilometer.densities.base import Densities
from epsilometer.estimators.base import Claims, OutputEvidence, over_pairs, pairs_of
from epsilometer.registry import load
from epsilometer_workflow.files.storage import read_columns, read_counts, write_columns

Spec = Mapping[str, Any]
Columns = dict[str, Any]

_KEYS = ["run", "n", "side_x", "side_x_prime"]
_INTERVAL = ("low", "high", "low_reverse", "high_reverse")


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `estimate`."""
    run(snakemake.input, snakemake.output[0], snakemake.params.spec)


def run(files: Sequence[str], output: str, spec: Spec) -> None:
    """Estimate from every run of one combination."""
    write_columns(estimates_of(files, spec), output, "estimates", spec["identity"])


def estimates_of(files: Sequence[str], spec: Spec) -> Columns:
    """Estimate from every file; ``spec`` names the reductions and the estimator."""
    identity = spec["identity"]
    estimator = load(identity["registered"])(**identity["parameters"])
    answer = _ANSWERS[spec["reads"]]
    joined = _joined(
        answer(estimator, file, expected, identity)
        for file, expected in zip(files, spec["data"], strict=True)
    )
    return labelled(joined, identity)


def labelled(joined: Columns, identity: Spec) -> Columns:
    """Return the columns of a file of estimates, of answers and the keys of their rows."""
    rows = joined["run"].size
    missing = np.full(rows, np.nan)
    claimed = identity["claims"]["lipschitz"]
    return {
        "mechanism": [identity["mechanism"]] * rows,
        "epsilon": np.full(rows, identity["epsilon"], np.float64),
        "lambda": [identity["lambda"]] * rows,
        "estimator": [identity["estimator"]] * rows,
        "cells": np.full(rows, identity["cells"], np.int64),
        "inputs": [identity["inputs"]["id"]] * rows,
        "claimed_lipschitz": np.full(rows, claimed or np.nan, np.float64),
        **{name: joined[name] for name in ("run", "n", "fresh", "side_x", "side_x_prime")},
        "estimate": joined["estimate"],
        "estimate_reverse": joined["estimate_reverse"],
        "failed": joined.get("failed", np.zeros(rows, bool)),
        "claim": joined.get("claim", missing),
        **{name: joined.get(name, missing) for name in _INTERVAL},
        "trusted": joined.get("trusted", np.ones(rows, bool)),
    }


def _joined(parts: Iterator[Columns]) -> Columns:
    """Return the rows of all parts, which have the same columns."""
    tables = list(parts)
    return {name: np.concatenate([part[name] for part in tables]) for name in tables[0]}


def _from_histograms(estimator: Any, file: str, expected: Spec, identity: Spec) -> Columns:
    runs, n, counts = _by_run(read_counts(file, expected))
    claims, order = Claims(**identity["claims"]), float(identity["lambda"])
    answers = over_pairs(estimator, counts, claims, order, identity["inputs"]["pairing"])
    rows = runs.size * n.size
    return _joined(
        {
            "run": np.repeat(runs, n.size),
            "n": np.tile(n, runs.size),
            "fresh": np.zeros(rows, np.int64),
            "side_x": np.full(rows, i, np.int32),
            "side_x_prime": np.full(rows, j, np.int32),
            "estimate": answer.forward.ravel(),
            "estimate_reverse": answer.reverse.ravel(),
            "failed": answer.failed.ravel(),
        }
        for (i, j), answer in answers.items()
    )


def _by_run(
    arrays: Mapping[str, NDArray[np.int64]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], Counts]:
    """Shape rows ordered by run, side and n into (runs, len(n), sides, cells)."""
    runs, n = np.unique(arrays["run"]), np.unique(arrays["n"])
    sides = int(arrays["side"].max()) + 1
    counts = arrays["counts"].reshape(runs.size, sides, n.size, -1)
    return runs, n, counts.swapaxes(1, 2)


def _from_densities(estimator: Any, file: str, expected: Spec, identity: Spec) -> Columns:
    densities = read_columns(file, "densities", expected)
    inputs, order = identity["inputs"], float(identity["lambda"])
    pairs = len(pairs_of(len(inputs["values"]), inputs["pairing"]))
    bounds_of_pairs, trusted = [], []
    names = ("p", "q", "spacing", "bandwidth", "bandwidth_prime", "n")
    for p, q, spacing, h, h_prime, n in zip(*map(densities.get, names), strict=True):
        d = Densities(p, q, spacing, (h, h_prime))
        bounds_of_pairs.append(estimator.bounds(d, order=order, n=int(n), pairs=pairs))
        trusted.append(estimator.trusted(d, order=order, n=int(n)))
    bounds, believed = np.array(bounds_of_pairs), np.array(trusted)
    if estimator.largest:
        either = bounds.max(axis=1)
        chosen = _largest(either, densities["run"])
        return _symmetric(_at(densities, chosen), either[chosen]) | {"trusted": believed[chosen]}
    return _at(densities, slice(None)) | {
        "estimate": bounds[:, 0],
        "estimate_reverse": bounds[:, 1],
        "trusted": believed,
    }


def _from_verdicts(estimator: Any, file: str, expected: Spec, identity: Spec) -> Columns:
    verdicts = read_columns(file, "verdicts", expected)
    inputs = identity["inputs"]
    answers = 2 * len(pairs_of(len(inputs["values"]), inputs["pairing"]))
    alpha = estimator.alpha / answers if estimator.largest else estimator.alpha
    parts = []
    for rows in _stretches(verdicts, [*_KEYS, "reverse"]):
        part = {name: values[rows] for name, values in verdicts.items()}
        n, i, j, reverse = (part[key][0] for key in ("n", "side_x", "side_x_prime", "reverse"))
        tested = estimator.tested(part)
        keys = identity["mechanism"], f"epsilon={identity['epsilon']!r}", inputs["id"], f"n={n}"
        pair = f"{i},{j},{reverse}", f"run={part['run'][0]}"
        rng = seeds.generator(identity["seed"], "bootstrap", *keys, *pair)
        low, high = tested.interval(estimator.interval, alpha, rng)
        values = {"claim": tested.claims, "estimate": tested.delta, "low": low, "high": high}
        parts.append({key: part[key] for key in [*_KEYS, "reverse"]} | values)
    joined = _joined(iter(parts))
    return _largest_of_all(joined) if estimator.largest else _side_by_side(joined)


def _from_answers(_: Any, file: str, expected: Spec, __: Spec) -> Columns:
    answers = read_columns(file, "answers", expected)
    failed = np.isnan(answers["estimate"]) | np.isnan(answers["estimate_reverse"])
    return answers | {"failed": failed, "fresh": np.zeros(failed.size, np.int64)}


def _stretches(columns: Columns, keys: Sequence[str]) -> Iterator[slice]:
    """Yield slices of neighbouring rows that agree in some columns."""
    changes = [columns[key][1:] != columns[key][:-1] for key in keys]
    starts = np.flatnonzero(np.concatenate([[True], np.any(changes, axis=0)]))
    for first, last in zip(starts, [*starts[1:], None], strict=True):
        yield slice(first, last)


def _side_by_side(rows: Columns) -> Columns:
    """Return the answers of both directions in a row: a pair's second follows its first."""
    forward, back = ({k: v[rows["reverse"] == way] for k, v in rows.items()} for way in (0, 1))
    joined = {key: forward[key] for key in (*_KEYS, "claim", "estimate", "low", "high")}
    joined |= {f"{key}_reverse": back[key] for key in ("estimate", "low", "high")}
    return joined | {"fresh": np.zeros(len(forward["run"]), np.int64)}


def _largest_of_all(rows: Columns) -> Columns:
    """Keep the largest answer of each run and claim, with the largest ends of all intervals."""
    _, cell = np.unique(np.stack([rows["run"], rows["claim"]]), axis=1, return_inverse=True)
    cell = cell.ravel()  # some versions of NumPy return a row
    chosen = _largest(rows["estimate"], cell)
    largest = _at(rows, chosen) | {key: rows[key][chosen] for key in ("claim", "estimate")}
    for end in ("low", "high"):
        most = np.full(cell.max() + 1, -np.inf)
        np.maximum.at(most, cell, rows[end])
        largest[end] = most[cell[chosen]]
    return largest | {f"{key}_reverse": largest[key] for key in ("estimate", "low", "high")}


def _largest(values: NDArray[np.float64], group: NDArray[Any]) -> NDArray[np.intp]:
    """Return the first row of the largest value in each group, groups as they first appear."""
    by_value = np.argsort(-values, kind="stable")
    _, first = np.unique(group[by_value], return_index=True)
    _, appears = np.unique(group, return_index=True)
    return by_value[first][np.argsort(appears, kind="stable")]


def _from_losses(estimator: Any, file: str, expected: Spec, _: Spec) -> Columns:
    losses = read_columns(file, "losses", expected)
    rows = losses["selected"] if estimator.largest else slice(None)
    return _symmetric(_at(losses, rows), losses["loss"][rows])


def _from_evidence(estimator: Any, file: str, expected: Spec, _: Spec) -> Columns:
    weighed = read_columns(file, "evidence", expected)
    names = OutputEvidence.__dataclass_fields__
    evidence = OutputEvidence(**{name: weighed[name] for name in names})
    return _symmetric(_at(weighed, slice(None)), np.asarray(estimator.bound(evidence)))


def _at(columns: Columns, rows: Any) -> Columns:
    """Return the columns that identify some rows."""
    keys = {key: columns[key][rows] for key in _KEYS}
    fresh = columns.get("fresh", np.zeros(len(columns["run"]), np.int64))
    return keys | {"fresh": fresh[rows]}


def _symmetric(keys: Columns, answers: Any) -> Columns:
    """Return rows for answers that count for both directions."""
    values = np.asarray(answers, np.float64)
    return keys | {"estimate": values, "estimate_reverse": values}


_ANSWERS: dict[str, Callable[[Any, str, Spec, Spec], Columns]] = {
    "histograms": _from_histograms,
    "densities": _from_densities,
    "verdicts": _from_verdicts,
    "samples": _from_answers,
    "losses": _from_losses,
    "evidence": _from_evidence,
}

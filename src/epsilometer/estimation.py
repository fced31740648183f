"""From files of what samples were reduced to, to a tidy table of estimates.

A row per run, n and pair of sides; for a lower bound the pair is the one that was selected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from epsilometer import seeds
from epsilometer.estimators.base import (
    Claims,
    Counts,
    Densities,
    Evidence,
    PairEstimates,
    over_pairs,
    pairs_of,
)
from epsilometer.registry import load
from epsilometer.storage import read_counts, read_table

Spec = Mapping[str, Any]


def estimate_files(files: Sequence[str], spec: Spec) -> pd.DataFrame:
    """Estimate from every file; ``spec`` says what they hold and who estimates."""
    identity = spec["identity"]
    estimator = load(identity["registered"])(**identity["parameters"])
    rows = _ROWS[spec["reads"]]
    frames = [
        rows(estimator, file, expected, identity)
        for file, expected in zip(files, spec["data"], strict=True)
    ]
    frame = pd.concat(frames, ignore_index=True)
    keys = {key: identity[key] for key in ("mechanism", "epsilon", "lambda", "estimator", "cells")}
    keys["inputs"] = identity["inputs"]["id"]
    for position, (key, value) in enumerate(keys.items()):
        frame.insert(position, key, value)
    for column in ("claim", "low", "high", "low_reverse", "high_reverse"):
        if column not in frame:
            frame[column] = np.nan
    claimed = identity["claims"]["lipschitz"]
    frame.insert(len(keys), "claimed_lipschitz", np.float64(claimed or np.nan))
    return frame


def _from_histograms(estimator: Any, file: str, expected: Spec, identity: Spec) -> pd.DataFrame:
    claims = Claims(**identity["claims"])
    runs, n, counts = _by_run(read_counts(file, expected))
    answers = over_pairs(
        estimator, counts, claims, float(identity["lambda"]), identity["inputs"]["pairing"]
    )
    parts = [_rows(runs, n, sides, answer) for sides, answer in answers.items()]
    return pd.concat(parts, ignore_index=True)


def _rows(
    runs: np.ndarray, n: np.ndarray, sides: tuple[int, int], answer: PairEstimates
) -> pd.DataFrame:
    """Return a row a run and n for a pair, from answers of shape ``(runs, len(n))``."""
    return pd.DataFrame(
        {
            "run": np.repeat(runs, n.size),
            "n": np.tile(n, runs.size),
            "fresh": np.int64(0),
            "side_x": np.int32(sides[0]),
            "side_x_prime": np.int32(sides[1]),
            "estimate": answer.forward.ravel(),
            "estimate_reverse": answer.reverse.ravel(),
            "failed": answer.failed.ravel(),
        }
    )


def _by_run(arrays: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, Counts]:
    """Shape rows ordered by run, side and n into (runs, len(n), sides, cells)."""
    runs, n = np.unique(arrays["run"]), np.unique(arrays["n"])
    sides = int(arrays["side"].max()) + 1
    counts = arrays["counts"].reshape(runs.size, sides, n.size, -1)
    return runs, n, counts.swapaxes(1, 2)


def _from_densities(estimator: Any, file: str, expected: Spec, identity: Spec) -> pd.DataFrame:
    densities = read_table(file, "densities", expected)
    inputs, order = identity["inputs"], float(identity["lambda"])
    pairs = len(pairs_of(len(inputs["values"]), inputs["pairing"]))
    bounds = np.array(
        [
            estimator.bounds(
                Densities(row.p, row.q, row.spacing, (row.bandwidth, row.bandwidth_prime)),
                order=order,
                n=int(row.n),
                pairs=pairs,
            )
            for row in densities.itertuples(index=False)
        ]
    )
    if estimator.largest:
        either = pd.Series(bounds.max(axis=1))
        chosen = either.groupby(densities["run"]).idxmax()
        return _symmetric(densities.loc[chosen].assign(fresh=np.int64(0)), either[chosen])
    rows = densities[["run", "n", "side_x", "side_x_prime"]].assign(fresh=np.int64(0))
    return rows.assign(estimate=bounds[:, 0], estimate_reverse=bounds[:, 1], failed=False)


def _from_verdicts(estimator: Any, file: str, expected: Spec, identity: Spec) -> pd.DataFrame:
    verdicts = read_table(file, "verdicts", expected)
    inputs = identity["inputs"]
    answers = 2 * len(pairs_of(len(inputs["values"]), inputs["pairing"]))
    alpha = estimator.alpha / answers if estimator.largest else estimator.alpha
    keys = ["run", "n", "side_x", "side_x_prime"]
    frames = []
    for (run, n, i, j, reverse), group in verdicts.groupby([*keys, "reverse"], sort=False):
        tested = estimator.tested(group)
        words = identity["mechanism"], f"epsilon={identity['epsilon']!r}", inputs["id"], f"n={n}"
        rng = seeds.generator(
            identity["seed"], "bootstrap", *words, f"{i},{j},{reverse}", f"run={run}"
        )
        low, high = tested.interval(estimator.interval, alpha, rng)
        values = {"claim": tested.claims, "estimate": tested.delta, "low": low, "high": high}
        frames.append(group[keys].assign(reverse=reverse, **values))
    rows = pd.concat(frames, ignore_index=True).assign(fresh=np.int64(0))
    if estimator.largest:
        return _largest_of_all(rows)
    forward, back = (rows[rows["reverse"] == way].drop(columns="reverse") for way in (False, True))
    joined = forward.merge(back, on=[*keys, "fresh", "claim"], suffixes=("", "_reverse"))
    return joined.assign(failed=False)


def _largest_of_all(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the largest answer of each run and claim, with the largest ends of all intervals."""
    groups = rows.groupby(["run", "claim"], sort=False)
    largest = rows.loc[groups["estimate"].idxmax()].drop(columns=["low", "high", "reverse"])
    ends = groups[["low", "high"]].max().reset_index()
    joined = largest.merge(ends, on=["run", "claim"])
    reverse = {f"{name}_reverse": joined[name] for name in ("estimate", "low", "high")}
    return joined.assign(**reverse, failed=False)


def _from_losses(estimator: Any, file: str, expected: Spec, _: Spec) -> pd.DataFrame:
    losses = read_table(file, "losses", expected)
    if estimator.largest:
        losses = losses[losses["selected"]]
    return _symmetric(losses, losses["loss"])


def _from_evidence(estimator: Any, file: str, expected: Spec, _: Spec) -> pd.DataFrame:
    weighed = read_table(file, "evidence", expected)
    evidence = Evidence(**{name: weighed[name] for name in Evidence.__dataclass_fields__})
    return _symmetric(weighed, np.asarray(estimator.bound(evidence)))


def _symmetric(keys: pd.DataFrame, answers: Any) -> pd.DataFrame:
    """Return rows for answers that count for both directions."""
    rows = keys[["run", "n", "fresh", "side_x", "side_x_prime"]].reset_index(drop=True)
    values = np.asarray(answers, np.float64)
    return rows.assign(estimate=values, estimate_reverse=values, failed=False)


_ROWS: dict[str, Callable[[Any, str, Spec, Spec], pd.DataFrame]] = {
    "histograms": _from_histograms,
    "densities": _from_densities,
    "verdicts": _from_verdicts,
    "losses": _from_losses,
    "evidence": _from_evidence,
}

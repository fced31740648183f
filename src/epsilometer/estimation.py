"""From files of histograms to a tidy table of estimates: a row per run, n and pair of sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from epsilometer.estimators.base import Claims, Counts, Estimator, PairEstimates, over_pairs
from epsilometer.registry import load
from epsilometer.storage import read_counts


def estimate_files(files: Sequence[str], spec: Mapping[str, Any]) -> pd.DataFrame:
    """Estimate from every file of histograms; ``spec`` says what they hold and who estimates."""
    identity = spec["identity"]
    estimator: Estimator = load(identity["registered"])(**identity["parameters"])
    claims = Claims(**identity["claims"])
    keys = {key: identity[key] for key in ("mechanism", "epsilon", "lambda", "estimator", "cells")}
    keys["inputs"] = identity["inputs"]["id"]
    frames = []
    for file, expected in zip(files, spec["histograms"], strict=True):
        runs, n, counts = _by_run(read_counts(file, expected))
        answers = over_pairs(
            estimator, counts, claims, float(identity["lambda"]), identity["inputs"]["pairing"]
        )
        frames.append(_rows(answers, runs, n))
    frame = pd.concat(frames, ignore_index=True)
    for position, (key, value) in enumerate(keys.items()):
        frame.insert(position, key, value)
    frame.insert(len(keys), "claimed_lipschitz", np.float64(claims.lipschitz or np.nan))
    return frame


def _rows(
    answers: Mapping[tuple[int, int], PairEstimates], runs: np.ndarray, n: np.ndarray
) -> pd.DataFrame:
    """Return a row a run and n for every pair, from answers of shape ``(runs, len(n))``."""
    parts = [
        pd.DataFrame(
            {
                "run": np.repeat(runs, n.size),
                "n": np.tile(n, runs.size),
                "side_x": np.int32(x),
                "side_x_prime": np.int32(x_prime),
                "estimate": answer.forward.ravel(),
                "estimate_reverse": answer.reverse.ravel(),
                "failed": answer.failed.ravel(),
            }
        )
        for (x, x_prime), answer in answers.items()
    ]
    return pd.concat(parts, ignore_index=True)


def _by_run(arrays: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, Counts]:
    """Shape rows ordered by run, side and n into (runs, len(n), sides, cells)."""
    runs, n = np.unique(arrays["run"]), np.unique(arrays["n"])
    sides = int(arrays["side"].max()) + 1
    counts = arrays["counts"].reshape(runs.size, sides, n.size, -1)
    return runs, n, counts.swapaxes(1, 2)

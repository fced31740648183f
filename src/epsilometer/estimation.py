"""From files of histograms to a tidy table of estimates: a row per run, n and pair of sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.base import Claims, Counts, Estimator, over_all_pairs
from epsilometer.storage import read_counts


def estimate_files(files: Sequence[str], spec: Mapping[str, Any]) -> pd.DataFrame:
    """Estimate from every file of histograms; ``spec`` says what they hold and who estimates."""
    identity = spec["identity"]
    estimator: Estimator = ESTIMATORS.load(identity["registered"])(**identity["parameters"])
    claims = Claims(**identity["claims"])
    keys = ("mechanism", "epsilon", "inputs", "lambda", "estimator", "cells")
    frames = []
    for file, expected in zip(files, spec["histograms"], strict=True):
        runs, n, counts = _by_run(read_counts(file, expected))
        frames.append(estimate(estimator, claims, float(identity["lambda"]), runs, n, counts))
    frame = pd.concat(frames, ignore_index=True)
    for position, key in enumerate(keys):
        frame.insert(position, key, identity[key])
    frame.insert(len(keys), "claimed_lipschitz", np.float64(claims.lipschitz or np.nan))
    return frame


def estimate(
    estimator: Estimator,
    claims: Claims,
    order: float,
    runs: np.ndarray,
    n: np.ndarray,
    counts: Counts,
) -> pd.DataFrame:
    """Estimate from counts of shape ``(runs, len(n), sides, cells)``."""
    parts = []
    for (x, x_prime), answer in over_all_pairs(estimator, counts, claims, order).items():
        parts.append(
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
        )
    return pd.concat(parts, ignore_index=True)


def _by_run(arrays: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, Counts]:
    """Shape rows ordered by run, side and n into (runs, len(n), sides, cells)."""
    runs, n = np.unique(arrays["run"]), np.unique(arrays["n"])
    sides = int(arrays["side"].max()) + 1
    counts = arrays["counts"].reshape(runs.size, sides, n.size, -1)
    return runs, n, counts.swapaxes(1, 2)

"""Draws of mechanisms at level 0.7 on two inputs, side 0 and side 1, for measurements."""

from __future__ import annotations

import math

import numpy as np

from epsilometer.mechanisms.noisy_max import ReportNoisyMax
from epsilometer.mechanisms.sparse_vector import SparseVector

LEVEL = 0.7


def laplace(unit: float, side: int, n: int, rng: np.random.Generator) -> np.ndarray:
    return unit * rng.laplace(LEVEL * side, 1, n)


def geometric(scale: int, side: int, n: int, rng: np.random.Generator) -> np.ndarray:
    stop = -math.expm1(-LEVEL / scale)
    noise = rng.geometric(stop, n) - rng.geometric(stop, n)
    return (noise + scale * side).astype(np.int32)


def noisy_max(side: int, n: int, rng: np.random.Generator) -> np.ndarray:
    return ReportNoisyMax(LEVEL).sample([[1] * 6, [0, *[2] * 5]][side], n, rng)


def svt6(side: int, n: int, rng: np.random.Generator) -> np.ndarray:
    return SparseVector(LEVEL, 6).sample([[1] * 10, [0] * 5 + [2] * 5][side], n, rng)

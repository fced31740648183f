"""Two mechanisms to be audited in example.yaml: they count the ones in a list, and add noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Answers = NDArray[np.float64]


def noisy_count(x: list[int], size: int, rng: np.random.Generator, epsilon: float) -> Answers:
    """Return how many are ones, with noise of scale 1 / epsilon: the right one."""
    return sum(x) + rng.laplace(0, 1 / epsilon, size)


def noisy_sum(x: list[float], size: int, rng: np.random.Generator, epsilon: float) -> Answers:
    """Return the sum of values from 0 to 3, with the same noise; it takes three times as much."""
    return sum(x) + rng.laplace(0, 1 / epsilon, size)

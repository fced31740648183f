"""Two mechanisms to be audited in example.yaml: they add whole noise to a count, and to a sum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Answers = NDArray[np.int64]


def noisy_count(x: list[int], size: int, rng: np.random.Generator, epsilon: float) -> Answers:
    """Return how many are ones, with two-sided geometric noise for epsilon: the right one."""
    stop = 1 - np.exp(-epsilon)
    return sum(x) + rng.geometric(stop, size) - rng.geometric(stop, size)


def noisy_sum(x: list[int], size: int, rng: np.random.Generator, epsilon: float) -> Answers:
    """Return the sum of values from 0 to 3, with the same noise; it takes three times as much."""
    return noisy_count(x, size, rng, epsilon)

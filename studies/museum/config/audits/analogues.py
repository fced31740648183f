"""Six faults of libraries as short mechanisms, each right with ``fixed``.

They are of the same kinds as the tests of dp-recorder (Cebere et al. 2026), and written anew. All
claim epsilon where a row is added or removed. Sums are told to three digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

WORDS = ("a", "b", "c")
FEATURES = 5
Rng = np.random.Generator


def noisy(value: float, sensitivity: float, epsilon: float, size: int, rng: Rng) -> Any:
    """Draw a value with Laplace noise, told to three digits."""
    return np.round(value + rng.laplace(0, sensitivity / epsilon, size), 3)


def whole(value: int, epsilon: float, size: int, rng: Rng) -> Any:
    """Draw a count with geometric noise."""
    stop = -math.expm1(-epsilon)
    return value + rng.geometric(stop, size) - rng.geometric(stop, size)


def mean(x: Sequence[float], size: int, rng: Rng, epsilon: float, *, fixed: bool) -> Any:
    """Divide a noisy sum by the number of rows, which nobody may know."""
    total = float(np.clip(np.asarray(x, float), -1, 1).sum())
    if not fixed:
        return np.round(noisy(total, 1, epsilon, size, rng) / max(len(x), 1), 3)
    counts = np.maximum(whole(len(x), epsilon / 2, size, rng), 1)
    return np.round(noisy(total, 1, epsilon / 2, size, rng) / counts, 3)


def classes(x: Sequence[str], size: int, rng: Rng, epsilon: float, *, fixed: bool) -> Any:
    """Count each class with noise; the classes are those of the data."""
    names = WORDS if fixed else sorted(set(x))
    counts = {name: whole(list(x).count(name), epsilon, size, rng) for name in names}
    return [{name: int(counts[name][i]) for name in names} for i in range(size)]


def twice(x: Sequence[int], size: int, rng: Rng, epsilon: float, *, fixed: bool) -> Any:
    """Tell a sum and a count, each with the whole budget."""
    each = epsilon / 2 if fixed else epsilon
    total = int(np.clip(np.asarray(x, int), 0, 1).sum())
    return np.column_stack([whole(total, each, size, rng), whole(len(x), each, size, rng)])


def clipped(x: Sequence[float], size: int, rng: Rng, epsilon: float, *, fixed: bool) -> Any:
    """Sum clipped values; a missing one stays missing."""
    values = np.clip(np.asarray(x, float), -5, 5)
    return noisy(float(np.nansum(values) if fixed else values.sum()), 5, epsilon, size, rng)


def degree(x: Sequence[int], size: int, rng: Rng, epsilon: float, *, fixed: bool) -> Any:
    """Count with a noise that is nothing if the degree is the number of features."""
    scale = 1 if fixed else FEATURES - 5
    return noisy(float(np.sum(np.asarray(x, int) > 0)), scale, epsilon, size, rng)


def raw(x: Sequence[float], size: int, rng: Rng, epsilon: float, *, fixed: bool) -> Any:
    """Clip values, and sum those before that."""
    values = np.asarray(x, float)
    kept = np.clip(values, -5, 5)
    return noisy(float((kept if fixed else values).sum()), 5, epsilon, size, rng)

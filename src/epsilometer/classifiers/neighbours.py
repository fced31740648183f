"""k nearest neighbours of real outputs, by sorting and a sliding window.

The k nearest of a sorted training sample are a window of it. Queries are sorted, too, so that the
window only moves upwards: after the sorts, which cost O(n log n), everything is one pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.classifiers.base import Floats, Sample, Votes, log_odds_of, square_root
from epsilometer.errors import ArgumentError


@dataclass(frozen=True)
class NearestNeighbours:
    """kNN with Euclidean distance on the real line (lu2022, Section 6).

    Parameters
    ----------
    k
        Neighbours; the square root of the number of training points, if not given. Of points at
        equal distance at both ends of the window, the smaller ones are nearer.
    """

    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None:
            checks.integer("k", self.k)

    def check(self, outputs: str) -> None:
        """Raise `ArgumentError` unless outputs are real numbers."""
        if outputs != "scalar":
            raise ArgumentError("outputs", f"must be scalar for the window, not {outputs}")

    def fit(self, x: Sample, x_prime: Sample, training: int, seed: int) -> FittedNeighbours:
        """Sort and merge the training points."""
        k = min(self.k or square_root(training), x.size + x_prime.size)
        if k == 0:
            raise ArgumentError("x", "has no draws to train on")
        points, before = _merged(np.sort(x), np.sort(x_prime))
        return FittedNeighbours(points, before, k)


@dataclass(frozen=True)
class FittedNeighbours:
    """Training points in rising order, and how many of x' lie before each position."""

    points: Floats
    before: NDArray[np.int32]
    k: int

    def votes(self, outputs: Sample) -> Votes:
        """Return the odds of each number of neighbours from x', and how many outputs have it."""
        counts = _window_counts(self.points, self.before, self.k, np.sort(outputs))
        return Votes(log_odds_of(self.k), counts)


@numba.njit(cache=True)
def _merged(a, b):  # type: ignore[no-untyped-def]
    """Merge two sorted arrays; also return how many elements of the second lie before each."""
    size = a.size + b.size
    points = np.empty(size)
    before = np.empty(size + 1, np.int32)
    i = j = 0
    for m in range(size):
        before[m] = j
        if j == b.size or (i < a.size and a[i] <= b[j]):
            points[m] = a[i]
            i += 1
        else:
            points[m] = b[j]
            j += 1
    before[size] = j
    return points, before


@numba.njit(cache=True)
def _window_counts(points, before, k, queries):  # type: ignore[no-untyped-def]
    """Return, for c = 0, ..., k, how many sorted queries have c neighbours from x'."""
    counts = np.zeros(k + 1, np.int64)
    left = 0
    last = points.size - k
    for q in queries:
        while left < last and q - points[left] > points[left + k] - q:
            left += 1
        counts[before[left + k] - before[left]] += 1
    return counts

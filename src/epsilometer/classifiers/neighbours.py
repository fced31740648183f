"""k nearest neighbours of numbers, by sorting and a sliding window.

The k nearest of a sorted training sample are a window of it. Queries are sorted, too, so that the
window only moves upwards: after the sorts, which cost O(n log n), everything is one pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.classifiers.base import (
    Counts,
    Floats,
    Sample,
    Votes,
    log_odds_of,
    neighbours,
    shared_log_odds,
)
from epsilometer.classifiers.counting import tallied, together
from epsilometer.errors import ArgumentError


@dataclass(frozen=True)
class NearestNeighbours:
    """kNN with Euclidean distance on the real line (lu2022, Section 6).

    Parameters
    ----------
    k
        Neighbours; a power of the number of training points, if not given. Of real points
        at equal distance at both ends of the window, the smaller ones are nearer. Many integers are
        at equal distances: those at the distance of the k-th share what is left of the k votes in
        proportion to their numbers.
    exponent
        That power, the square root in the paper. More neighbours have less noise in their votes
        and see less detail: for losses that hardly change from output to output.
    """

    k: int | None = None
    exponent: float = 0.5

    def __post_init__(self) -> None:
        checks.between_0_and_1("exponent", self.exponent)
        if self.k is not None:
            checks.integer("k", self.k)

    def check(self, outputs: str) -> None:
        """Raise `ArgumentError` unless outputs are numbers."""
        if outputs not in ("scalar", "index"):
            raise ArgumentError("outputs", f"must be scalar or index to be near, not {outputs}")

    def fit(
        self, x: Sample, x_prime: Sample, training: int, seed: int
    ) -> FittedNeighbours | FittedIntegers:
        """Sort and merge the training points."""
        k = min(self.k or neighbours(training, self.exponent), x.size + x_prime.size)
        if k == 0:
            raise ArgumentError("x", "has no draws to train on")
        if np.issubdtype(x.dtype, np.integer):
            return FittedIntegers(*together(tallied(x), tallied(x_prime)), k)
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


@dataclass(frozen=True)
class FittedIntegers:
    """Distinct training points in rising order, and how often x and x' have drawn each."""

    points: NDArray[np.integer]
    drawn: Counts
    drawn_prime: Counts
    k: int

    def votes(self, outputs: Sample) -> Votes:
        """Return the odds of every distinct output, and how many outputs have it."""
        seen, counts = tallied(outputs)
        reached = [np.append(0, np.cumsum(side)) for side in (self.drawn, self.drawn_prime)]

        def within(radius: Counts) -> tuple[Counts, Counts]:
            """Return the draws of each side at most so far from each output."""
            first = np.searchsorted(self.points, seen - radius, side="left")
            last = np.searchsorted(self.points, seen + radius, side="right")
            empty = radius < 0
            x, x_prime = (np.where(empty, 0, side[last] - side[first]) for side in reached)
            return x, x_prime

        seen = seen.astype(np.int64)
        span = int(max(seen.max(), self.points[-1]) - min(seen.min(), self.points[0]))
        low, high = np.full(seen.size, -1), np.full(seen.size, span)
        while (high - low > 1).any():  # the least radius that holds k
            middle = (low + high) // 2
            enough = sum(within(middle)) >= self.k
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        odds = shared_log_odds(within(high - 1), within(high), self.k)
        return Votes(odds, counts)


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

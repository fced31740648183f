"""k nearest neighbours of numbers, by sorting and a sliding window, and of vectors, by distances.

The k nearest of a sorted training sample are a window of it. Queries are sorted, too, so the window
only moves upwards: after the sorts in O(n log n) there is one pass. Where points outside the window
are as far as the k-th, all points at that distance share its votes: clamped, rounded or counted
outputs have many of them. Vectors are compared in powers of 2 near the spread of each entry, so
that ties of clamped or rounded entries stay exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilometer.checks import Checked, Count, Fractional
from epsilometer.classifiers.base import Votes, in_blocks, neighbours, shared_log_odds, units_of
from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Floats, Indices, Sample
from epsilometer.numerics.compiled import compiled, compiled_part

MOST_ENTRIES = 20  # of vectors: among more, all points are nearly as far
_MOST_POINTS = 2**12  # of vectors in training: each output is compared with all of them


@dataclass(frozen=True)
class NearestNeighbours(Checked):
    """kNN with Euclidean distance on the real line (lu2022, Section 6), or of vectors.

    Parameters
    ----------
    k
        Neighbours; a power of the number of training points, if not given. Points at the distance
        of the k-th share the rest of the k votes in proportion to their numbers.
    exponent
        That power, the square root in the paper. More neighbours mean less noise and less detail:
        for losses that hardly change from output to output.
    """

    k: Count | None = None
    exponent: Fractional = 0.5

    def check(self, outputs: str) -> None:
        if outputs not in ("scalar", "index", "vector"):
            message = f"must be scalar, index or vector to be near, not {outputs}"
            raise ArgumentError("outputs", message)

    def fit(
        self, x: Sample, x_prime: Sample, training: int, seed: int
    ) -> FittedNeighbours | FittedVectors:
        if x.ndim > 1:
            return self._of_vectors(x, x_prime, training)
        k = min(self.k or neighbours(training, self.exponent), x.size + x_prime.size)
        if k == 0:
            raise ArgumentError("x", "has no draws to train on")
        size = x.size + x_prime.size
        points = np.empty(size, x.dtype)
        before = np.empty(size + 1, np.int32)
        _merge(np.sort(x), np.sort(x_prime), points, before)
        return FittedNeighbours(points, before, k)

    def _of_vectors(self, x: Sample, x_prime: Sample, training: int) -> FittedVectors:
        if x.shape[1] > MOST_ENTRIES:
            message = f"must have {MOST_ENTRIES} entries at most to be near, not {x.shape[1]}"
            raise ArgumentError("outputs", message)
        if not len(x) or not len(x_prime):
            raise ArgumentError("x", "has no draws of one side to train on")
        units = units_of(x, x_prime, alike=False)
        share = min(1.0, _MOST_POINTS / (len(x) + len(x_prime)))
        x, x_prime = (side[: max(1, int(share * len(side)))] / units for side in (x, x_prime))
        k = self.k or neighbours(int(share * training), self.exponent)
        return FittedVectors(x, x_prime, units, min(k, len(x) + len(x_prime)))


@dataclass(frozen=True)
class FittedVectors:
    """Training points of x and of x', ``(m, d)``, in ``units`` of their entries, ``(d,)``."""

    x: Sample
    x_prime: Sample
    units: Floats
    k: int

    def votes(self, outputs: Sample) -> Votes:
        """Return the odds of each output."""
        odds = in_blocks(self._log_odds, outputs, len(self.x) + len(self.x_prime))
        return Votes(odds, np.ones(len(outputs), np.int64))

    def _log_odds(self, outputs: Sample) -> Floats:
        from scipy.spatial.distance import cdist  # imported where outputs are vectors

        queries = outputs / self.units
        distances = [cdist(queries, points, "sqeuclidean") for points in (self.x, self.x_prime)]
        pooled = np.concatenate(distances, axis=1)
        pooled.partition(self.k - 1, axis=1)  # one value is read: the order of ties says nothing
        kth = pooled[:, self.k - 1, None]
        closer = [np.count_nonzero(side < kth, axis=1) for side in distances]
        within = [np.count_nonzero(side <= kth, axis=1) for side in distances]
        return shared_log_odds(closer, within, self.k)


@dataclass(frozen=True)
class FittedNeighbours:
    """Sorted training points, ``(m,)``, and the points of x' before each, ``(m + 1,)``."""

    points: Sample
    before: Indices
    k: int

    def votes(self, outputs: Sample) -> Votes:
        """Return the odds of each number of neighbours from x', and of each output with ties."""
        queries = np.sort(outputs)
        counts = np.zeros(self.k + 1, np.int64)
        ties = _window_counts(self.points, self.before, self.k, 0, queries, counts)
        tied, tied_counts = np.unique(queries[:ties], return_counts=True)
        first, last = np.empty((2, 2, tied.size), np.int32)
        _ranges(self.points, self.k, tied, first, last)
        of_x_prime = self.before[last] - self.before[first]
        closer, within = zip(last - first - of_x_prime, of_x_prime, strict=True)
        c = np.arange(self.k + 1, dtype=np.float64)
        with np.errstate(divide="ignore"):
            odds = np.log(c) - np.log(self.k - c)
        odds = np.concatenate([odds, shared_log_odds(closer, within, self.k)])
        return Votes(odds, np.concatenate([counts, tied_counts]))


@compiled
def _merge(a, b, points, before):  # type: ignore[no-untyped-def]
    """Set merged points of two sorted arrays, and how many of the second are before each."""
    i = j = 0
    for m in range(points.size):
        before[m] = j
        if j == b.size or (i < a.size and a[i] <= b[j]):
            points[m] = a[i]
            i += 1
        else:
            points[m] = b[j]
            j += 1
    before[points.size] = j


@compiled_part
def _placed(points, k, left, q):  # type: ignore[no-untyped-def]
    """Move the window to the k nearest of q; return start and radius, rounded as distances are."""
    while left < points.size - k and q - points[left] > points[left + k] - q:
        left += 1
    below = q - points[left]
    above = points[left + k - 1] - q
    return left, max(below, above)


@compiled
def _window_counts(points, before, k, left, queries, counts):  # type: ignore[no-untyped-def]
    """Count queries by their neighbours from x'; return how many, with ties, move to the front."""
    ties = 0
    last = points.size - k
    for q in queries:
        left, radius = _placed(points, k, left, q)
        if (left > 0 and q - points[left - 1] == radius) or (
            left < last and points[left + k] - q == radius
        ):
            queries[ties] = q
            ties += 1
        else:
            counts[before[left + k] - before[left]] += 1
    return ties


@compiled
def _ranges(points, k, queries, first, last):  # type: ignore[no-untyped-def]
    """Set the ends, ``(2, m)``, of points below the k-th distance, and of those up to it."""
    left = 0
    for m in range(queries.size):
        q = queries[m]
        left, radius = _placed(points, k, left, q)
        right = left + k
        first[0, m] = left + _run(points, q, -1, radius, left, right)
        last[0, m] = max(first[0, m], right - _run(points, q, 1, radius, right - 1, left - 1))
        first[1, m] = left - _run(points, q, -1, radius, left - 1, -1)
        last[1, m] = right + _run(points, q, 1, radius, right, points.size)


@compiled_part
def _run(points, q, side, radius, start, stop):  # type: ignore[no-untyped-def]
    """Return how many consecutive points at the radius lie below (``side`` -1) or above q."""
    step = 1 if stop > start else -1
    size = (stop - start) * step
    low = 0
    stride = 1
    while stride <= size and side * (points[start + (stride - 1) * step] - q) == radius:
        low = stride
        stride = 2 * stride
    high = min(stride - 1, size)
    while low < high:
        middle = (low + high) // 2
        if side * (points[start + middle * step] - q) == radius:
            low = middle + 1
        else:
            high = middle
    return low

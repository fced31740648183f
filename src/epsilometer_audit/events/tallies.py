"""Counts of the whole numbers of two samples, by value and by cell."""

from __future__ import annotations

import itertools

import numpy as np

from epsilometer.arrays import Counts, Sample
from epsilometer.densities.frequencies import count_outcomes

FOLDS = 5


def fifths(size: int) -> list[slice]:
    """Return the successive fifths of so many draws."""
    ends = [-(-size * i // FOLDS) for i in range(FOLDS + 1)]
    return [slice(a, b) for a, b in itertools.pairwise(ends)]


class Tally:
    """Counts of each whole number, where few different ones occur: nothing is sorted.

    ``values`` are the different numbers, rising, ``(k,)``; ``folds`` the counts of either side by
    successive fifths of its draws, two of shape ``(5, k)``; ``times`` their sum, ``(k,)``.
    """

    def __init__(self, x: Sample, x_prime: Sample, low: int, high: int) -> None:
        counts = []
        for side in (x, x_prime):
            from_0 = side.astype(np.int64) - low if low else side
            parts = (from_0[part] for part in fifths(side.size))
            counts.append(np.stack([count_outcomes(part, high - low + 1) for part in parts]))
        present = np.flatnonzero((counts[0] + counts[1]).any(axis=0))
        self.values = (present + low).astype(x.dtype)
        self.folds = counts[0][:, present], counts[1][:, present]
        self.times: Counts = self.folds[0].sum(axis=0) + self.folds[1].sum(axis=0)
        self._ends = np.cumsum(self.times)

    @classmethod
    def of(cls, x: Sample, x_prime: Sample) -> Tally | None:
        """Return the tally, or None where numbers are not whole, or spread wider than the draws."""
        if not (x.size and x_prime.size and np.issubdtype(x.dtype, np.integer)):
            return None
        low, high = int(min(x.min(), x_prime.min())), int(max(x.max(), x_prime.max()))
        return cls(x, x_prime, low, high) if high - low < min(x.size, x_prime.size) else None

    def ranked(self, ranks: Counts) -> Sample:
        """Return the numbers at some ranks of both sides together, from 0."""
        return np.asarray(self.values[np.searchsorted(self._ends, ranks, side="right")])

    def in_cells(self, starts: Sample, size: int) -> tuple[Counts, Counts]:
        """Return the folds of cells instead of numbers, of shape ``(5, size)`` each."""
        cells = np.searchsorted(starts, self.values, side="right")
        counts = np.zeros((2, FOLDS, size), np.int64)
        for side, folds in enumerate(self.folds):
            np.add.at(counts[side].T, cells, folds.T)
        return counts[0], counts[1]

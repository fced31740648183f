"""Classifiers of discrete outputs, by the counts of both sides: exact, or of near bit vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilometer.checks import Checked, Count
from epsilometer.classifiers.base import Votes, in_blocks, neighbours, shared_log_odds
from epsilometer.densities.frequencies import joint_counts
from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Counts, Floats, Integers, Sample

_BITS = np.iinfo(np.int64).bits


@dataclass(frozen=True)
class Counting:
    """The odds of an output are those of its counts in training; unseen outputs are even."""

    def check(self, outputs: str) -> None:
        if outputs not in ("index", "bits", "tuple"):
            raise ArgumentError("outputs", f"must be index, bits or tuple to count, not {outputs}")

    def fit(self, x: Sample, x_prime: Sample, training: int, seed: int) -> FittedCounts:
        return FittedCounts(*joint_counts(x, x_prime))


@dataclass(frozen=True)
class FittedCounts:
    """Outcomes of shape ``(m,)`` or ``(m, d)``, and their counts for x and for x', ``(m,)``."""

    outcomes: Sample
    counts: Counts
    counts_prime: Counts

    def votes(self, outputs: Sample) -> Votes:
        """Return the odds of every distinct output, and its count."""
        values, counts, _ = joint_counts(outputs, outputs[:0])
        with np.errstate(divide="ignore"):
            odds: Floats = np.log(self.counts_prime) - np.log(self.counts)
        unseen = 0.0
        return Votes(np.append(odds, unseen)[_positions(self.outcomes, values)], counts)


def _positions(outcomes: Sample, values: Sample) -> Counts:
    """Return the position of each value among distinct outcomes, or their number for others."""
    pooled, index = np.unique(np.concatenate([outcomes, values]), axis=0, return_inverse=True)
    index = index.ravel()
    size = len(outcomes)
    positions = np.full(len(pooled), size)
    positions[index[:size]] = np.arange(size)
    return positions[index[size:]]


@dataclass(frozen=True)
class HammingNeighbours(Checked):
    """kNN on bit vectors, which are integers with bit i for entry i.

    Many training points lie at the same distance. Those at the distance of the k-th share the rest
    of the k votes in proportion to their numbers, as a random choice would on average.

    Parameters
    ----------
    k
        Neighbours; the square root of the number of training points, if not given.
    """

    k: Count | None = None

    def check(self, outputs: str) -> None:
        if outputs != "bits":
            raise ArgumentError("outputs", f"must be bits for Hamming distances, not {outputs}")

    def fit(self, x: Sample, x_prime: Sample, training: int, seed: int) -> FittedHamming:
        k = min(self.k or neighbours(training), len(x) + len(x_prime))
        return FittedHamming(*joint_counts(x, x_prime), k)


@dataclass(frozen=True)
class FittedHamming:
    """Distinct training points, and their counts for x and for x', of shape ``(m,)``."""

    points: Integers
    counts: Counts
    counts_prime: Counts
    k: int

    def votes(self, outputs: Sample) -> Votes:
        """Return the odds of every distinct output, and its count."""
        values, counts, _ = joint_counts(outputs, outputs[:0])
        return Votes(in_blocks(self._log_odds, values, len(self.points)), counts)

    def _log_odds(self, queries: Integers) -> Floats:
        rows = np.arange(len(queries))
        distance = np.bitwise_count(queries[:, None] ^ self.points)
        cell = (distance + _BITS * rows[:, None]).ravel()
        sides = []
        for side in (self.counts, self.counts_prime):
            counted = np.bincount(cell, np.tile(side, len(queries)), len(queries) * _BITS)
            sides.append(counted.reshape(len(queries), _BITS))
        there = np.array(sides)  # points of each side, at each distance from each query
        within = there.cumsum(axis=2)
        kth = np.count_nonzero(within.sum(axis=0) < self.k, axis=1)  # distance of the k-th
        within = within[:, rows, kth]
        closer = within - there[:, rows, kth]
        return shared_log_odds(list(closer), list(within), self.k)

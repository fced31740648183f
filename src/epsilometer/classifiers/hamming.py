"""k nearest neighbours of bit vectors by Hamming distance, as lu2022 used them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilometer.arrays import Counts, Floats, Integers, Sample
from epsilometer.checks import Checked, Count
from epsilometer.classifiers.base import Votes, neighbours, shared_log_odds
from epsilometer.classifiers.counting import value_counts
from epsilometer.densities.frequencies import joint_counts
from epsilometer.errors import ArgumentError

_BITS = 64
_BLOCK = 1 << 22  # distances held at once


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
        """Raise `ArgumentError` unless outputs are bit vectors."""
        if outputs != "bits":
            raise ArgumentError("outputs", f"must be bits for Hamming distances, not {outputs}")

    def fit(self, x: Sample, x_prime: Sample, training: int, seed: int) -> FittedHamming:
        """Count the distinct training points."""
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
        values, counts = value_counts(outputs)
        step = max(1, _BLOCK // len(self.points))
        blocks = [self._log_odds(values[i : i + step]) for i in range(0, len(values), step)]
        return Votes(np.concatenate(blocks), counts)

    def _log_odds(self, queries: Counts) -> Floats:
        distance = np.bitwise_count(queries[:, None] ^ self.points)
        cell = (distance + _BITS * np.arange(len(queries))[:, None]).ravel()
        shape = len(queries), _BITS
        cumulative = [
            np.bincount(cell, np.tile(side, len(queries)), len(queries) * _BITS)
            .reshape(shape)
            .cumsum(axis=1)
            for side in (self.counts, self.counts_prime)
        ]
        radius = (cumulative[0] + cumulative[1] < self.k).sum(
            axis=1, keepdims=True
        )  # the distance of the k-th

        within = [np.take_along_axis(side, radius, 1).ravel() for side in cumulative]
        previous = np.maximum(radius - 1, 0)
        closer = [
            np.where(radius > 0, np.take_along_axis(side, previous, 1), 0.0).ravel()
            for side in cumulative
        ]
        return shared_log_odds(closer, within, self.k)

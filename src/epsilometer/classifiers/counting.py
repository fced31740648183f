"""Exact classification of discrete outputs, by the counts of both sides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilometer.arrays import Counts, Floats, Sample
from epsilometer.classifiers.base import Votes
from epsilometer.densities.frequencies import joint_counts
from epsilometer.errors import ArgumentError


@dataclass(frozen=True)
class Counting:
    """The odds of an output are those of its counts in training; unseen outputs are even."""

    def check(self, outputs: str) -> None:
        """Raise `ArgumentError` unless outputs are discrete."""
        if outputs not in ("index", "bits", "tuple"):
            raise ArgumentError("outputs", f"must be index, bits or tuple to count, not {outputs}")

    def fit(self, x: Sample, x_prime: Sample, training: int, seed: int) -> FittedCounts:
        """Count the training points."""
        return FittedCounts(*joint_counts(x, x_prime))


@dataclass(frozen=True)
class FittedCounts:
    """Outcomes of shape ``(m,)`` or ``(m, d)``, and their counts for x and for x', ``(m,)``."""

    outcomes: Sample
    counts: Counts
    counts_prime: Counts

    def votes(self, outputs: Sample) -> Votes:
        """Return the odds of every distinct output, and its count."""
        values, counts = value_counts(outputs)
        index = _positions(self.outcomes, values)
        with np.errstate(divide="ignore"):
            odds: Floats = np.log(self.counts_prime) - np.log(self.counts)
        return Votes(np.where(index >= 0, odds[index], 0.0), counts)


def value_counts(outputs: Sample) -> tuple[Sample, Counts]:
    """Return the sorted distinct outputs, and the count of each.

    Outputs have shape ``(n,)`` or ``(n, d)``, results ``(m,)`` or ``(m, d)`` and ``(m,)``.
    """
    dense = outputs.ndim == 1 and outputs.size and outputs.dtype.kind == "i"
    if dense and outputs.min() >= 0 and outputs.max() < outputs.size:
        counts = np.bincount(outputs)
        return np.flatnonzero(counts), counts[counts > 0].astype(np.int64)
    values, counts = np.unique(outputs, axis=0, return_counts=True)
    return values, counts.astype(np.int64)


def _positions(outcomes: Sample, values: Sample) -> Counts:
    """Return the position of each value among distinct outcomes; -1 where it is none of them."""
    pooled, index = np.unique(np.concatenate([outcomes, values]), axis=0, return_inverse=True)
    index, size = index.ravel(), len(outcomes)
    positions = np.full(len(pooled), -1)
    positions[index[:size]] = np.arange(size)
    return positions[index[size:]]

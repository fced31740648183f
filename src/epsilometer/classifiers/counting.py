"""Exact classification of discrete outputs: which side has drawn an output more often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilometer.arrays import Counts, Floats, Sample
from epsilometer.classifiers.base import Votes
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
        return FittedCounts(*together(tallied(x), tallied(x_prime)))


@dataclass(frozen=True)
class FittedCounts:
    """Outcomes of shape ``(m,)`` or ``(m, d)``, and how often x and x' have drawn each."""

    outcomes: Sample
    drawn: Counts
    drawn_prime: Counts

    def votes(self, outputs: Sample) -> Votes:
        """Return the odds of every outcome, and how many outputs have it."""
        seen, counts = tallied(outputs)
        place = _places(self.outcomes, seen)
        with np.errstate(divide="ignore"):
            odds: Floats = np.log(self.drawn_prime) - np.log(self.drawn)
        return Votes(np.where(place >= 0, odds[place], 0.0), counts)


def tallied(outputs: Sample) -> tuple[Sample, Counts]:
    """Return the distinct outputs in order, and how often each occurs.

    Of outputs of shape ``(n,)`` or ``(n, d)`` they are ``(m,)`` or ``(m, d)``, the counts ``(m,)``.
    """
    dense = outputs.ndim == 1 and outputs.size and outputs.dtype.kind == "i"
    if dense and outputs.min() >= 0 and outputs.max() < outputs.size:
        counts = np.bincount(outputs)
        return np.flatnonzero(counts), counts[counts > 0].astype(np.int64)
    seen, counts = np.unique(outputs, axis=0, return_counts=True)
    return seen, counts.astype(np.int64)


def together(
    x: tuple[Sample, Counts], x_prime: tuple[Sample, Counts]
) -> tuple[Sample, Counts, Counts]:
    """Return the outcomes of both sides, and how often each has occurred on either.

    Each side, and the result, has shapes as in `tallied`. Raise `ArgumentError` where no side has
    an outcome.
    """
    every = np.concatenate([x[0], x_prime[0]])
    if not len(every):
        raise ArgumentError("x", "has no draws to train on")
    outcomes, which = np.unique(every, axis=0, return_inverse=True)
    which, first = which.ravel(), len(x[0])
    drawn, drawn_prime = np.zeros((2, len(outcomes)), np.int64)
    drawn[which[:first]] = x[1]
    drawn_prime[which[first:]] = x_prime[1]
    return outcomes, drawn, drawn_prime


def _places(outcomes: Sample, seen: Sample) -> Counts:
    """Return where among distinct outcomes others stand; -1 for those that are not there."""
    every, which = np.unique(np.concatenate([outcomes, seen]), axis=0, return_inverse=True)
    which, known = which.ravel(), len(outcomes)
    place = np.full(len(every), -1)
    place[which[:known]] = np.arange(known)
    return place[which[known:]]

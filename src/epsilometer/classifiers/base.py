"""What classifiers share: trained on draws of both sides, they say how the odds stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from epsilometer.arrays import Counts, Floats, Sample


@dataclass(frozen=True)
class Votes:
    """How the outputs of a test sample are classified, in no particular order.

    ``log_odds`` has shape ``(m,)``: the log of the votes for x' over those for x, infinite where
    all votes agree; ``counts``, ``(m,)``, says how many outputs each of them stands for.
    """

    log_odds: Floats
    counts: Counts

    def above(self, thresholds: Floats) -> Counts:
        """Return how many outputs have log odds above each threshold, ties not counted.

        Thresholds, in nats, and numbers have shape ``(t,)``.
        """
        order = np.argsort(self.log_odds)
        reached = np.concatenate([[0], np.cumsum(self.counts[order])])
        at_most = np.searchsorted(self.log_odds[order], thresholds, side="right")
        return np.asarray(reached[-1] - reached[at_most], np.int64)

    def below(self, thresholds: Floats) -> Counts:
        """Return how many outputs have log odds below each threshold; shapes as in `above`."""
        return Votes(-self.log_odds, self.counts).above(-np.asarray(thresholds))


class Fitted(Protocol):
    """A trained classifier."""

    def votes(self, outputs: Sample) -> Votes:
        """Classify outputs of shape ``(n,)`` or ``(n, d)``.

        Raise `ArgumentError` where options made a classifier that fails.
        """


class Classifier(Protocol):
    """A classification algorithm; implementations are frozen dataclasses.

    They raise `ArgumentError` for parameters out of range.
    """

    def check(self, outputs: str) -> None:
        """Raise `ArgumentError` unless it applies to outputs of this kind."""

    def fit(self, x: Sample, x_prime: Sample, training: int, seed: int) -> Fitted:
        """Train on draws of both sides.

        Raise `ArgumentError` where there are too few, or where options made a classifier that
        fails.

        Parameters
        ----------
        x, x_prime
            Draws of shape ``(n,)`` or ``(n, d)``, not necessarily as many of either side.
        training
            How many training points there were, those that were replaced by the null value and are
            no longer here among them.
        seed
            For algorithms that draw.
        """


def log_odds_of(votes: int) -> Floats:
    """Return log(c / (votes - c)) for c = 0, ..., votes, of shape ``(votes + 1,)``."""
    c = np.arange(votes + 1, dtype=np.float64)
    with np.errstate(divide="ignore"):
        odds: Floats = np.log(c) - np.log(votes - c)
    return odds


def shared_log_odds(nearer: Sequence[Sample], reached: Sequence[Sample], k: int) -> Floats:
    """Return the log odds of k votes where many points lie at the distance of the k-th.

    ``nearer`` are how many points of x and of x' lie closer, fewer than k together, and ``reached``
    how many closer or there, at least k: those there share what is left in proportion. Each of the
    four, and what is returned, has shape ``(m,)`` for m outputs.
    """
    inner, whole = (np.add(*sides, dtype=np.float64) for sides in (nearer, reached))
    # multiplied by the number of those there, votes are whole: even ones have log odds of 0 exactly
    votes = [
        a * (whole - inner) + (b - a) * (k - inner) for a, b in zip(nearer, reached, strict=True)
    ]
    with np.errstate(divide="ignore"):
        odds: Floats = np.log(votes[1]) - np.log(votes[0])
    return odds


def neighbours(training: int, exponent: float = 0.5) -> int:
    """Return k = n^exponent, rounded down, at least 1; the square root in lu2022's Theorem 2."""
    if exponent == 0.5:
        return max(math.isqrt(training), 1)
    return max(math.floor(math.pow(training, exponent)), 1)

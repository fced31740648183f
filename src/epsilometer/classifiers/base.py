"""What classifiers share: trained on draws of both sides, they say how the odds stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Sample = NDArray[Any]


@dataclass(frozen=True)
class Votes:
    """How the outputs of a test sample are classified, in no particular order.

    ``log_odds`` has shape ``(m,)``: the log of the votes for x' over those for x, infinite where
    all votes agree; ``counts`` says how many outputs each of them stands for.
    """

    log_odds: Floats
    counts: Counts

    def above(self, thresholds: Floats) -> Counts:
        """Return how many outputs have log odds above each threshold, ties not counted."""
        order = np.argsort(self.log_odds)
        reached = np.concatenate([[0], np.cumsum(self.counts[order])])
        at_most = np.searchsorted(self.log_odds[order], thresholds, side="right")
        return np.asarray(reached[-1] - reached[at_most], np.int64)

    def below(self, thresholds: Floats) -> Counts:
        """Return how many outputs have log odds below each threshold, ties not counted."""
        return Votes(-self.log_odds, self.counts).above(-np.asarray(thresholds))


class Fitted(Protocol):
    """A trained classifier."""

    def votes(self, outputs: Sample) -> Votes:
        """Classify outputs of shape ``(n,)`` or ``(n, d)``."""


class Classifier(Protocol):
    """A classification algorithm; implementations are frozen dataclasses."""

    def check(self, outputs: str) -> None:
        """Raise `ArgumentError` unless it applies to outputs of this kind."""

    def fit(self, x: Sample, x_prime: Sample, training: int, seed: int) -> Fitted:
        """Train on draws of both sides.

        ``training`` is how many training points there were, those that were replaced by the null
        value and are no longer here among them; ``seed`` serves algorithms that draw.
        """


def log_odds_of(votes: int) -> Floats:
    """Return log(c / (votes - c)) for c = 0, ..., votes."""
    c = np.arange(votes + 1, dtype=np.float64)
    with np.errstate(divide="ignore"):
        odds: Floats = np.log(c) - np.log(votes - c)
    return odds


def shared_log_odds(
    nearer: Sequence[NDArray[Any]], reached: Sequence[NDArray[Any]], k: int
) -> Floats:
    """Return the log odds of k votes where many points lie at the distance of the k-th.

    ``nearer`` are how many points of x and of x' lie closer, fewer than k together, and ``reached``
    how many closer or there, at least k: those there share what is left in proportion.
    """
    inner, whole = sum(nearer), sum(reached)
    share = (k - inner) / (whole - inner)
    votes = [a + share * (b - a) for a, b in zip(nearer, reached, strict=True)]
    with np.errstate(divide="ignore"):
        odds: Floats = np.log(votes[1]) - np.log(votes[0])
    return odds


def neighbours(training: int, exponent: float = 0.5) -> int:
    """Return k = n^exponent, rounded down, at least 1; the square root in lu2022's Theorem 2."""
    if exponent == 0.5:
        return max(math.isqrt(training), 1)
    return max(math.floor(math.pow(training, exponent)), 1)

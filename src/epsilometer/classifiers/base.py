"""Protocols of classifiers, and the log odds of their votes.

Three outputs, of which two have three of four votes for x', and one has all votes for x:

    votes = Votes(np.array([1.10, -np.inf]), np.array([2, 1]))
    votes.above(np.array([0.0]))  # [2]: outputs that are taken for one of x'
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from epsilometer.numerics.arrays import Counts, Floats, Sample

_UNIT_DRAWS = 1000  # draws of each side that determine the units of entries
_BLOCK = 2**22  # distances held at once


@dataclass(frozen=True)
class Votes:
    """The classification of a test sample, in no particular order.

    ``log_odds``, ``(m,)``, are the logs of the votes for x' over those for x, infinite where all
    votes agree; ``counts``, ``(m,)``, are the numbers of outputs that have them.
    """

    log_odds: Floats
    counts: Counts

    def above(self, thresholds: Floats) -> Counts:
        """Return the number of outputs with log odds above each threshold, ``(t,)``, in nats."""
        order = np.argsort(self.log_odds, kind="stable")
        cumulative = np.concatenate([[0], np.cumsum(self.counts[order])])
        at_most = np.searchsorted(self.log_odds[order], thresholds, side="right")
        return np.asarray(cumulative[-1] - cumulative[at_most], np.int64)

    def below(self, thresholds: Floats) -> Counts:
        """Return the number of outputs with log odds below each threshold, ``(t,)``, in nats."""
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
        """Train on draws of both sides, of shape ``(n,)`` or ``(n, d)``, n for each side apart.

        ``training`` is the number of training points before some were replaced by the null value;
        ``seed`` is for algorithms that draw. Raise `ArgumentError` where there are too few draws,
        or where options made a classifier that fails.
        """


def shared_log_odds(closer: Sequence[Sample], within: Sequence[Sample], k: int) -> Floats:
    """Return the log odds of k votes where many points tie at the distance of the k-th.

    ``closer`` are the numbers of points of x and of x' below that distance, fewer than k together,
    and ``within`` those at or below it, at least k: ties share the remaining votes in proportion.
    All arrays have shape ``(m,)`` for m outputs.
    """
    inner = np.add(*closer, dtype=np.float64)
    total = np.add(*within, dtype=np.float64)
    # times the number of ties, votes are integers: even ones have log odds of exactly 0
    votes = []
    for inside, all_in_reach in zip(closer, within, strict=True):
        votes.append(inside * (total - inner) + (all_in_reach - inside) * (k - inner))
    with np.errstate(divide="ignore"):
        odds: Floats = np.log(votes[1]) - np.log(votes[0])
    return odds


def in_blocks(log_odds: Callable[[Sample], Floats], outputs: Sample, points: int) -> Floats:
    """Return the log odds of outputs, ``(n,)``, by their distances from so many points.

    Outputs are asked in blocks of 2^22 distances at most, or one by one: they bound the memory.
    """
    step = max(1, _BLOCK // points)
    return np.concatenate([log_odds(outputs[i : i + step]) for i in range(0, len(outputs), step)])


def neighbours(training: int, exponent: float = 0.5) -> int:
    """Return k = n^exponent, rounded down, at least 1; the square root in lu2022's Theorem 2."""
    if exponent == 0.5:
        return max(math.isqrt(training), 1)
    return max(math.floor(math.pow(training, exponent)), 1)


def units_of(*sides: Sample, alike: bool) -> Floats:
    """Return a power of 2 by each entry's spread, ``(d,)``, or by the median of them if ``alike``.

    Distances add entries, and scikit-learn has absolute thresholds. Sides have shape ``(n, d)``.
    """
    first = np.concatenate([side[:_UNIT_DRAWS] for side in sides]).astype(float)
    spread = np.subtract(*np.quantile(first, [0.75, 0.25], axis=0))
    spread = np.where(spread > 0, spread, first.std(axis=0))
    if alike:
        spread = np.full(spread.shape, np.median(spread))
    usable = np.isfinite(spread) & (spread > 0)
    return np.asarray(np.exp2(np.floor(np.log2(np.where(usable, spread, 1.0)))))

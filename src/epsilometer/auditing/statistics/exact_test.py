"""The exact test for a fixed number of draws: one test of events that were chosen before.

It is a little stronger than the bets of `wealth` where all draws exist already, but allows no early
stop. The first fifth of the draws chooses pair and events, and the rest confirms them; see
`epsilometer.estimators.berger_boos`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from epsilometer.arrays import Sample
from epsilometer.auditing.outcomes.outcomes import Layout
from epsilometer.auditing.statistics.bets import Bet
from epsilometer.auditing.statistics.claims import Claim, Delta, EventClaim, Gaussian, Pure
from epsilometer.auditing.statistics.learning import expected, learn
from epsilometer.estimators.berger_boos import lower_bound, p_value

CHOOSING = 0.2  # share of the draws
_OPTIMISTIC_SHARE = 0.15  # of alpha
_EXACT = 0.97  # of alpha; the rest covers the gaps of the grid of the exact test
_PRECISION = 2e-5
_LARGEST = 700.0


@dataclass(frozen=True)
class Counted:
    """An event, its counts among fresh draws of P and of Q, and its share of alpha."""

    bet: Bet
    hits: int
    hits_prime: int
    draws: int
    share: float


@dataclass(frozen=True)
class Fixed:
    """The counts of the chosen events among fresh draws of the chosen pair."""

    pair: int
    counted: tuple[Counted, ...]

    def lower_bound(self, claim: EventClaim, alpha: float) -> float:
        """Return the largest of the events' bounds, each at its share of alpha."""
        return max((bound(event, claim, alpha) for event in self.counted), default=0.0)


def choose(
    past: list[tuple[Sample, Sample]],
    claim: EventClaim,
    draws: int,
    alpha: float,
    layouts: Sequence[Layout | None] | None = None,
    *,
    as_reals: bool = False,
) -> tuple[int, list[Bet]]:
    """Return the pair with the largest expected level, and the bets to be counted on it.

    ``past`` are draws of both sides of each pair; other parameters are those of `learn`.
    """
    layouts = layouts or [None] * len(past)
    bets = [
        learn(x, x_prime, claim, draws, alpha, layout, as_reals=as_reals)
        for (x, x_prime), layout in zip(past, layouts, strict=True)
    ]
    pair = max(range(len(past)), key=lambda i: (expected(bets[i][:1]), -i))
    return pair, bets[pair]


def count(pair: int, bets: list[Bet], fresh: tuple[Sample, Sample]) -> Fixed:
    """Count fresh draws in the events."""
    n = min(len(side) for side in fresh)
    counted = []
    for i, bet in enumerate(bets):
        sides = fresh[::-1] if bet.swapped else fresh
        hits, hits_prime = (int(bet.coded(side[:n]).sum()) for side in sides)
        rest = _OPTIMISTIC_SHARE * (len(bets) - 1)
        counted.append(Counted(bet, hits, hits_prime, n, _OPTIMISTIC_SHARE if i else 1 - rest))
    return Fixed(pair, tuple(counted))


def bound(event: Counted, claim: EventClaim, alpha: float) -> float:
    """Return the bound of one event, at its share of alpha."""
    alpha *= event.share
    counts = event.hits, event.draws, event.hits_prime, event.draws
    if isinstance(claim, Pure):
        return lower_bound(*counts, alpha=alpha, delta=claim.delta)
    top = claim.grid()[-1] if isinstance(claim, Gaussian) else 1.0
    return _last_refuted(lambda level: _refuted(event, claim.at(level), alpha), float(top))


def _refuted(event: Counted, claim: Claim, alpha: float) -> bool:
    """Tell whether the counts refute a claim, for mu-GDP by the tangent at the past Q(S)."""
    k, n, other = event.hits, event.draws, event.hits_prime
    if isinstance(claim, Gaussian):
        slope, intercept = claim.null(np.array([claim.level]), event.bet.mean_psi, math.nan)
        epsilon, delta = math.log(slope[0]), float(intercept[0])
        if epsilon < 0:  # the complement, with P and Q exchanged, has the opposite slope
            k, other = n - other, n - k
            delta = 1 - (1 - delta) / float(slope[0])
            epsilon = -epsilon
    else:
        assert isinstance(claim, Delta)
        epsilon, delta = claim.epsilon, claim.delta
    if not 0 <= delta < 1 or epsilon > _LARGEST:
        return False
    p = p_value(k, n, other, n, epsilon=epsilon, delta=delta, gamma=0.01 * alpha)
    return p <= _EXACT * alpha


def _last_refuted(refuted: Callable[[float], bool], top: float) -> float:
    """Return the last of the rising levels before the first that is not refuted."""
    if not refuted(_PRECISION):
        return 0.0
    low, high = _PRECISION, min(2 * _PRECISION, top)
    while high < top and refuted(high):
        low, high = high, min(2 * high, top)
    while high - low > _PRECISION * max(low, 0.01):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low

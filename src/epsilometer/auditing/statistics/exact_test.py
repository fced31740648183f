"""The exact test for a fixed number of draws: one look at events that were chosen first.

It is worth a little more than the bets of `wealth` where all draws are there anyway, and nothing
where one would like to stop early. The first fifth of the draws chooses pair and events, and the
rest confirms them; see `epsilometer.estimators.berger_boos`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.auditing.outcomes.outcomes import Layout
from epsilometer.auditing.statistics.bets import Bet
from epsilometer.auditing.statistics.claims import Claim, Delta, EventClaim, Gaussian, Pure
from epsilometer.auditing.statistics.learning import learn, promise
from epsilometer.estimators.berger_boos import lower_bound, p_value

Sample = NDArray[Any]

CHOOSING = 0.2  # share of the draws
_BOLD_SHARE = 0.15  # of alpha
_EXACT = 0.97  # of alpha; the rest is for tails between the values that the exact test looks at
_DIGITS = 2e-5
_LARGEST = 700.0


@dataclass(frozen=True)
class Counted:
    """An event, and how many fresh draws of P and Q lie in it, among so many of each."""

    bet: Bet
    hits: int
    hits_prime: int
    draws: int
    share: float


@dataclass(frozen=True)
class Fixed:
    """What the fresh draws of the chosen pair say of the events that were chosen."""

    pair: int
    counted: tuple[Counted, ...]

    def lower_bound(self, claim: EventClaim, alpha: float) -> float:
        """Return the largest of the events' bounds, each at its share of alpha."""
        return max((bound(seen, claim, alpha) for seen in self.counted), default=0.0)


def choose(
    past: list[tuple[Sample, Sample]],
    claim: EventClaim,
    draws: int,
    alpha: float,
    layouts: Sequence[Layout | None] | None = None,
    *,
    as_reals: bool = False,
) -> tuple[int, list[Bet]]:
    """Return the pair that promises most, and what is to be counted of its fresh draws.

    ``past`` are draws of both sides of each pair; all else is as for `learn`.
    """
    layouts = layouts or [None] * len(past)
    bets = [
        learn(x, x_prime, claim, draws, alpha, layout, as_reals=as_reals)
        for (x, x_prime), layout in zip(past, layouts, strict=True)
    ]
    pair = max(range(len(past)), key=lambda i: (promise(bets[i][:1]), -i))
    return pair, bets[pair]


def count(pair: int, bets: list[Bet], fresh: tuple[Sample, Sample]) -> Fixed:
    """Count fresh draws in the events."""
    n = min(len(side) for side in fresh)
    counted = []
    for i, bet in enumerate(bets):
        sides = fresh[::-1] if bet.swapped else fresh
        hits, hits_prime = (int(bet.coded(side[:n]).sum()) for side in sides)
        rest = _BOLD_SHARE * (len(bets) - 1)
        counted.append(Counted(bet, hits, hits_prime, n, _BOLD_SHARE if i else 1 - rest))
    return Fixed(pair, tuple(counted))


def bound(seen: Counted, claim: EventClaim, alpha: float) -> float:
    """Return the bound of one event, at its share of alpha."""
    alpha *= seen.share
    counts = seen.hits, seen.draws, seen.hits_prime, seen.draws
    if isinstance(claim, Pure):
        return lower_bound(*counts, alpha=alpha, delta=claim.delta)
    top = claim.grid()[-1] if isinstance(claim, Gaussian) else 1.0
    return _last_refuted(lambda level: _refuted(seen, claim.at(level), alpha), float(top))


def _refuted(seen: Counted, claim: Claim, alpha: float) -> bool:
    """Tell whether the counts refute a claim, for mu-GDP by the tangent where Q(S) was seen."""
    k, n, other = seen.hits, seen.draws, seen.hits_prime
    if isinstance(claim, Gaussian):
        slope, intercept = claim.null(np.array([claim.level]), seen.bet.mean_psi, math.nan)
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


def _last_refuted(refuted: Any, top: float) -> float:
    """Return the last of the rising levels before the first that is not refuted."""
    if not refuted(_DIGITS):
        return 0.0
    low, high = _DIGITS, min(2 * _DIGITS, top)
    while high < top and refuted(high):
        low, high = high, min(2 * high, top)
    while high - low > _DIGITS * max(low, 0.01):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low

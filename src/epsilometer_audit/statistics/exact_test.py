"""The exact test for a fixed number of draws: one test of events that were chosen before.

It is a little stronger than the bets of `wealth` where all draws exist already, but allows no early
stop. The first fifth of the draws chooses pair and events, and the rest confirms them; see
`berger_boos`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from epsilometer.arrays import Sample
from epsilometer.bisection import bisected
from epsilometer_audit.outcomes.outcomes import Layout
from epsilometer_audit.statistics.berger_boos import lower_bound, p_value
from epsilometer_audit.statistics.claims import Claim, Delta, EventClaim, Gaussian, Pure
from epsilometer_audit.statistics.learning import expected, learn
from epsilometer_audit.statistics.wealth import Bet, PlacedBet

CHOOSING = 0.2  # share of the draws
_PRECISION = 2e-5  # of a bound


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


def count(
    bets: list[Bet], fresh: tuple[Sample, Sample], layout: Layout | None = None
) -> list[PlacedBet]:
    """Count fresh draws, of shape ``(n,)`` or ``(n, d)``, in the events."""
    n = min(len(side) for side in fresh)
    return [bet.on((fresh[0][:n], fresh[1][:n]), [n], n, layout) for bet in bets]


def largest_bound(
    counted: list[PlacedBet], claim: EventClaim, alpha: float
) -> tuple[float, PlacedBet | None]:
    """Return the largest of the events' bounds, and its event; later ones have .15 of alpha."""
    largest, best = 0.0, next(iter(counted), None)
    for i, event in enumerate(counted):
        share = 0.15 if i else 1 - 0.15 * (len(counted) - 1)
        bound = _bound(event, claim, alpha * share, largest)
        if bound > largest:
            largest, best = bound, event
    return largest, best


def _bound(event: PlacedBet, claim: EventClaim, alpha: float, least: float) -> float:
    """Return an event's bound, or 0 where the claim of the level ``least`` is not refuted."""
    (rest, hits), (_, hits_prime) = (
        side.sum(axis=0).tolist() for side in (event.counts, event.counts_prime)
    )
    n = rest + hits
    if isinstance(claim, Pure):
        return lower_bound(hits, n, hits_prime, n, alpha=alpha, delta=claim.delta, least=least)
    top = claim.grid[-1] if isinstance(claim, Gaussian) else 1.0

    def refuted(level: float) -> bool:
        return _refuted((hits, n, hits_prime), event.bet.mean_psi, claim.at(level), alpha)

    return _last_refuted(refuted, float(top), least)


def _refuted(counts: tuple[int, int, int], mean_psi: float, claim: Claim, alpha: float) -> bool:
    """Tell whether the counts refute a claim, for mu-GDP by the tangent at the past Q(S)."""
    k, n, other = counts
    if isinstance(claim, Gaussian):
        slope, intercept = claim.null(np.array([claim.level]), mean_psi, math.nan)
        epsilon, delta = math.log(slope[0]), float(intercept[0])
        if epsilon < 0:  # the complement, with P and Q exchanged, has the opposite slope
            k, other = n - other, n - k
            delta = 1 - (1 - delta) / float(slope[0])
            epsilon = -epsilon
    else:
        assert isinstance(claim, Delta)
        epsilon, delta = claim.epsilon, claim.delta
    if not 0 <= delta < 1 or epsilon > 700:  # its exponential is infinite
        return False
    p = p_value(k, n, other, n, epsilon=epsilon, delta=delta, gamma=0.01 * alpha)
    return p <= 0.97 * alpha  # the rest covers the gaps of the grid of the exact test


def _last_refuted(refuted: Callable[[float], bool], top: float, least: float) -> float:
    """Return the last of the rising levels before the first that is not refuted."""
    if not refuted(max(least, _PRECISION)):
        return 0.0
    low, high = _PRECISION, min(2 * _PRECISION, top)
    while high < top and refuted(high):
        low, high = high, min(2 * high, top)
    return bisected(refuted, low, high, lambda low, _: _PRECISION * max(low, 0.01))[0]

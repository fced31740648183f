"""Upper confidence bounds, for outputs of which the provider declares the number of outcomes.

No number of draws of a black box bounds its level from above (gorla2022, Section III): the level
may come from outputs that are too rare to be drawn. If there are k outcomes, all of which occur,
each of their probabilities has an exact interval.

A pure level is the largest log ratio, over pairs, directions and cells. The place of the largest is
fixed before any draw; the bound, the largest of all ratios' bounds, is too low only if the bound
there is. So each ratio may err with probability alpha. A ratio needs an upper end of one side and a
lower end of the other. The sides are independent: if each end errs with probability a, one of the
two does with 1 - (1 - a)^2 = alpha. A delta is the largest, over pairs and directions, of sums over
all cells: there each of k ends of a side may err with a / k.

The number of draws of a pair depends on its draws: the pair may be dropped, and the audit may stop.
For a fixed number of rounds the ends are exact. The numbers of rounds after which pairs are dropped
are known beforehand and share alpha, so that the bound holds at all of them (`share_of_rounds`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from epsilometer.arrays import Floats, Sample
from epsilometer.bisection import bisected
from epsilometer.errors import ArgumentError
from epsilometer.proportions import clopper_pearson
from epsilometer_audit.events.events import codes_of
from epsilometer_audit.statistics.claims import Claim, Concentrated, Delta, Pure, Renyi

MOST_OUTCOMES = 1_000_000  # more would need far more draws than an audit can make


def share_of_rounds(ends: int, rounds: int, stopped: bool) -> float:
    """Return the part of alpha for a pair with so many ``rounds``; see the module.

    Without an early stop, pairs are dropped after ``ends`` different numbers of rounds. If the
    audit ``stopped`` early, any number of rounds was possible.
    """
    early = 0.1  # of alpha, for audits that stop early
    return early / (rounds * (rounds + 1)) if stopped else (1 - early) / ends


def upper_bound(
    samples: Sequence[tuple[Sample, Sample]],
    claim: Claim,
    outcomes: int,
    alpha: float,
    shares: Sequence[float] | None = None,
) -> float | None:
    """Return a number that the level of all pairs exceeds with probability ``alpha`` at most.

    ``samples`` are independent draws of both sides of each pair, of shape ``(n,)`` or ``(n, d)``,
    each one of so many ``outcomes``; ``shares`` are the parts of alpha for each pair, where their
    number depends on the draws (`share_of_rounds`). The bound is infinite for too few draws, and
    None for claims without such a bound, as mu-GDP.
    """
    parts = [1.0] * len(samples) if shares is None else shares
    bounds = [
        _of_pair(x, y, claim, outcomes, alpha * part)
        for (x, y), part in zip(samples, parts, strict=True)
    ]
    return None if None in bounds else max(bound for bound in bounds if bound is not None)


def _of_pair(x: Sample, x_prime: Sample, claim: Claim, outcomes: int, alpha: float) -> float | None:
    summed = isinstance(claim, Delta) or (isinstance(claim, Pure) and claim.delta > 0)
    low, high = _limits(x, x_prime, outcomes, alpha, summed)
    if summed:
        return _with_delta(low, high, claim)
    with np.errstate(divide="ignore"):
        pure = max(float((np.log(high[i]) - np.log(low[1 - i])).max()) for i in (0, 1))
    if isinstance(claim, Pure):
        return max(pure, 0.0)
    if isinstance(claim, Renyi):  # Bun and Steinke 2016, Proposition 3.3
        return max(min(pure, claim.order * pure**2 / 2), 0.0)
    return pure**2 / 2 if isinstance(claim, Concentrated) else None


def _with_delta(low: Floats, high: Floats, claim: Any) -> float:
    def deltas(epsilon: float) -> float:
        return max(
            float(np.maximum(high[i] - math.exp(epsilon) * low[1 - i], 0.0).sum()) for i in (0, 1)
        )

    if isinstance(claim, Delta):
        return min(deltas(claim.epsilon), 1.0)
    above = 1.0
    while deltas(above) > claim.delta:
        above *= 2
        if above > 500:
            return math.inf
    return bisected(lambda epsilon: deltas(epsilon) > claim.delta, 0.0, above, 1e-6)[1]


def _limits(
    x: Sample, x_prime: Sample, outcomes: int, alpha: float, summed: bool
) -> tuple[Floats, Floats]:
    """Return lower and upper limits of probabilities, of shape ``(2, outcomes)`` each.

    All of them hold together if they are to be ``summed``, else any two of them.
    """
    codes = codes_of(np.concatenate([x, x_prime]))
    number = int(codes.max()) + 1
    if number > outcomes:
        raise ArgumentError("outcomes", f"must be at least {number}: so many were seen")
    sides = codes[: len(x)], codes[len(x) :]
    counts = np.stack([np.bincount(side, None, outcomes) for side in sides])
    n = counts.sum(axis=1, keepdims=True)
    each = min(-math.expm1(math.log1p(-alpha) / 2) / (outcomes if summed else 1), 0.49)
    low, high = clopper_pearson(counts, np.broadcast_to(n, counts.shape), 1 - 2 * each)
    return np.asarray(low, float), np.asarray(high, float)

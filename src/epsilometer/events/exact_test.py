"""The exact test for a fixed number of draws, and its lower bound for a privacy level.

The first fifth of the draws, of outputs of several columns half as many more, chooses events
(`epsilometer.events.choosing`), and the rest confirms them.

A claim (epsilon, delta) says P(S) <= e^epsilon P'(S) + delta for every event S. For an event that
was chosen beforehand, k of n fresh draws of x and k' of n' of x' lie in it. The p-value of the
claim is the supremum, over the unknown P'(S) = q, of the exact binomial probability of a score at
least as large as the one seen. The supremum over all q would be wasteful; Berger and Boos (1994)
take it over a confidence interval of q at 1 - gamma, and add gamma. The score is the standardised
excess

    z = (k/n - e^epsilon k'/n' - delta) / sd,

with the standard deviation where the claim just holds, q pooled from both counts. The test is exact
for any score; a standardised one hardly depends on q, so the supremum costs little.

The score rises with k and falls with k'. So for all q between two values, the probability is at
most that with P(S) as of the larger one and P'(S) as of the smaller. The confidence interval is cut
into parts until this is small enough in each, or the probability itself, at the end of a part, is
not. To end in time, a claim is not refuted from a p-value of 95 % of alpha on.

The lower bound for epsilon at ``alpha`` is the last of the rising claims before the first that is
not refuted. A true claim is refuted with probability ``alpha`` at most, whatever its P(S) and P'(S)
are. That no claim below the bound is left unrefuted rests on a search: where few draws are in an
event, or outside, p-values may fall by a quarter as claims rise, and close claims below the bound
are tested again. The bound holds with confidence 1 - alpha for every n that was fixed before the
draws; not for a test that is repeated with more draws after a look at the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from epsilometer import checks
from epsilometer.claims import EventClaim
from epsilometer.errors import ArgumentError
from epsilometer.events.choosing import ChosenEvent
from epsilometer.numerics.arrays import Counts, Floats, Sample
from epsilometer.numerics.bisection import Apart, bisected
from epsilometer.numerics.proportions import clopper_pearson

CHOOSING = 0.2  # share of the draws
_OTHER_EVENT = 0.15  # share of alpha for each event but the first
_PRECISION = 2e-5  # of a bound
_GAMMA = 0.01  # share of alpha for the interval of q
_PARTS = 4  # into which an interval of q is cut; the first, into as many parts of each
_NEARLY = 0.95  # share of the tail that is allowed, above which a claim is not refuted
_FEW = 1000  # draws of a side in an event, or outside: up to them p-values may fall
_STEPS = 16  # claims of the rising grid, before the last step is bisected
_BACK = 0.3  # distance below a bound of few draws in which claims are tested again
_SMALLEST = 1e-15  # share of the mean count's probability; rarer counts are negligible
_NEARLY_ZERO = 2.0**-1022
_NEARLY_ONE = 1 - 2**-53
_AS_LARGE = 1 - 1e-9  # times z: scores that differ from it in their rounding only
_HELD = 2**22  # probabilities in memory
_LARGEST = 700.0  # largest epsilon: its exponential is finite


@dataclass(frozen=True, eq=False)
class Counted:
    """A chosen event, and its ``hits`` among ``draws`` fresh draws of either side.

    ``hits`` are those of the side where it is likelier, and ``hits_prime`` those of the other.
    """

    chosen: ChosenEvent
    hits: int
    hits_prime: int
    draws: int


def count(chosen: Sequence[ChosenEvent], x: Sample, x_prime: Sample) -> list[Counted]:
    """Count fresh draws, of shape ``(n,)`` or ``(n, d)``, in events; equally many a side."""
    n = min(len(x), len(x_prime))
    counted = []
    for each in chosen:
        hits = each.event.count(x[:n])
        hits_prime = each.event.count(x_prime[:n])
        if each.swapped:
            hits, hits_prime = hits_prime, hits
        counted.append(Counted(each, hits, hits_prime, n))
    return counted


def largest_bound(
    counted: Sequence[Counted], claim: EventClaim, alpha: float, least: float = 0.0
) -> tuple[float, Counted | None]:
    """Return the largest of the events' bounds above ``least`` and its event, or that and None."""
    largest = least
    best = None
    for i, event in enumerate(counted[::-1] if claim.of_last_event else counted):
        share = _OTHER_EVENT if i else 1 - _OTHER_EVENT * (len(counted) - 1)
        bound = _bound(event, claim, alpha * share, largest)
        if bound > largest:
            largest = bound
            best = event
    return largest, best


def _bound(event: Counted, claim: EventClaim, alpha: float, least: float) -> float:
    """Return an event's bound, or 0 where the claim of the level ``least`` is not refuted."""
    n = event.draws
    hits = event.hits
    hits_prime = event.hits_prime
    if (delta := claim.fixed_delta) is not None:
        return lower_bound(hits, n, hits_prime, n, alpha=alpha, delta=delta, least=least)

    def refuted(level: float, coarsely: bool = False) -> bool:
        """Tell whether the counts refute what a level says of this event."""
        slope, intercept = claim.null(np.array([level]), event.chosen.share_prime, math.nan)
        kappa = float(slope[0])
        b = float(intercept[0])
        k = hits
        k_prime = hits_prime
        if kappa < 1:  # the complement, with P and Q exchanged, has the opposite slope
            k = n - hits_prime
            k_prime = n - hits
            kappa, b = 1 / kappa, 1 - (1 - b) / kappa
        if not 0 <= b < 1 or kappa > math.exp(_LARGEST):
            return False
        epsilon = math.log(kappa)
        counts = k, n, k_prime, n
        return refutes(*counts, epsilon=epsilon, delta=b, alpha=alpha, coarsely=coarsely)

    if not refuted(max(least, _PRECISION)):
        return 0.0
    are_few = _are_few(hits, n, hits_prime, n)
    top = float(claim.grid[-1])
    low = _PRECISION
    high = min(2 * _PRECISION, top)
    while high < top and refuted(high, coarsely=not are_few):
        low = high
        high = min(2 * high, top)
    bound = _last_refuted(
        refuted, _PRECISION, (low, high), lambda low, _: _PRECISION * max(low, 0.01)
    )
    if are_few:
        return _bound_of_few_draws(refuted, bound, _PRECISION, (1 - _BACK) * bound)
    return bound


class _Refuted(Protocol):
    def __call__(self, level: float, /, coarsely: bool = False) -> bool:
        """Tell whether a level is refuted."""


def _last_refuted(
    refuted: _Refuted, least: float, between: tuple[float, float], apart: Apart[float]
) -> float:
    """Return where levels above the ``least``, which is refuted, end to be so; ``apart`` at most.

    A first guess lies ``between`` two of them.
    """
    guess, high = bisected(lambda level: refuted(level, coarsely=True), *between, apart)
    step = high - guess
    while guess > least and not refuted(guess):
        high = guess
        guess = max(guess - step, least)
        step *= 2
    return bisected(refuted, guess, high, apart)[0]


def _are_few(hits: int, draws: int, hits_prime: int, draws_prime: int) -> bool:
    """Tell whether few draws of a side are in an event, or outside."""
    return min(hits, draws - hits, hits_prime, draws_prime - hits_prime) <= _FEW


def _bound_of_few_draws(
    refuted: Callable[[float], bool], bound: float, lowest: float, first: float
) -> float:
    """Return a bound of few draws, whose p-values rise in steps, and sometimes fall by one.

    Levels from the ``first`` to the bound are tested again; the ``lowest``, below them, is refuted.
    """
    levels: list[float] = np.linspace(first, bound, _STEPS * 4).tolist()
    for last, level in pairwise([lowest, *levels]):
        if not refuted(level):
            return bisected(refuted, last, level, _PRECISION)[0]
    return bound


def lower_bound(
    hits: int,
    draws: int,
    hits_prime: int,
    draws_prime: int,
    *,
    alpha: float = 0.05,
    delta: float = 0.0,
    least: float = 0.0,
) -> float:
    """Return the lower confidence bound of epsilon from one event's counts, in nats, at least 0.

    ``hits`` of the ``draws`` of x lie in the event, and the same for x'. The bound lies above the
    level with probability ``alpha`` at most; ``delta`` is that of a claim (epsilon, delta). It is 0
    where the claim ``least`` is not refuted. All are scalars. Raise `ArgumentError` for more hits
    than draws, or a side without draws.

    >>> round(lower_bound(1000, 1000, 0, 1000), 2)  # no noise at all
    5.79
    """

    def refuted(epsilon: float, coarsely: bool = False) -> bool:
        """Tell whether the counts refute a claim of this epsilon."""
        counts = hits, draws, hits_prime, draws_prime
        return refutes(*counts, epsilon=epsilon, delta=delta, alpha=alpha, coarsely=coarsely)

    if not refuted(min(least, _LARGEST)):
        return 0.0
    share = hits / draws - delta
    share_prime = max(hits_prime, 0.01) / draws_prime
    observed = math.log(max(share, 1 / draws)) - math.log(share_prime)
    step = min(max(observed, _PRECISION), _LARGEST) / _STEPS
    are_few = _are_few(hits, draws, hits_prime, draws_prime)
    low = least
    while low + step < _LARGEST and refuted(low + step, coarsely=not are_few):
        low += step
    bound = _last_refuted(refuted, least, (low, low + step), _PRECISION)
    if are_few:
        return _bound_of_few_draws(refuted, bound, 0.0, max(bound - _BACK, 0.0))
    return bound


def refutes(
    hits: int,
    draws: int,
    hits_prime: int,
    draws_prime: int,
    *,
    epsilon: float,
    delta: float = 0.0,
    alpha: float = 0.05,
    coarsely: bool = False,
) -> bool:
    """Tell whether one event's counts refute the claim (epsilon, delta) at the level ``alpha``.

    Counts are as in `lower_bound`. A true claim is refuted with probability ``alpha`` at most. A
    first guess, ``coarsely``, takes a fraction of the time and refutes more claims.
    Raise `ArgumentError` for counts that cannot be, an epsilon below 0 or above 700, a delta
    outside [0, 1), or an alpha not between 0 and 1.
    """
    k, n, k_prime, m = (int(count) for count in (hits, draws, hits_prime, draws_prime))
    if not (0 <= k <= n and 0 <= k_prime <= m and min(n, m) > 0):
        raise ArgumentError("hits", f"must be 0 to draws, got {k} of {n} and {k_prime} of {m}")
    if not 0 <= checks.real("epsilon", epsilon) <= _LARGEST:
        raise ArgumentError("epsilon", f"must lie in [0, {_LARGEST:g}], got {epsilon!r}")
    if not 0 <= checks.real("delta", delta) < 1:
        raise ArgumentError("delta", f"must lie in [0, 1), got {delta!r}")
    checks.between_0_and_1("alpha", alpha)
    claim = _Claim(n, m, np.float64(math.exp(epsilon)), delta)
    z = float(claim.score(np.array(k), np.array(k_prime)))
    if not z > 0.0:
        return False
    gamma = _GAMMA * alpha
    low, high = clopper_pearson(k_prime, m, level=1 - gamma)
    # above the first q of which the claim says nothing, the tail falls
    top = min(float(high), (1.0 - delta) / claim.scale)
    return _at_most(alpha - gamma, _Tail(claim, z, float(low), top), coarsely)


@dataclass(frozen=True)
class _Claim:
    """P(S) <= scale P'(S) + delta, of which n draws of x and m draws of x' are counted."""

    n: int
    m: int
    scale: float
    delta: float

    @np.errstate(over="ignore", divide="ignore", invalid="ignore")  # the scale may be very large
    def score(self, hits: Counts, hits_prime: Counts) -> Floats:
        """Return z of counts; 0 where they agree with the claim."""
        excess = hits / self.n - self.scale * (hits_prime / self.m) - self.delta
        q = (hits - self.n * self.delta + hits_prime) / (self.n * self.scale + self.m)
        p = self.scale * q + self.delta
        variance = p * (1.0 - p) / self.n + self.scale * (self.scale * q) * (1.0 - q) / self.m
        return np.where(excess > 0.0, excess / np.sqrt(variance), 0.0)

    def least(self, z: float, hits_prime: Counts) -> Counts:
        """Return the least count of x, n + 1 if there is none, whose score is z at least.

        The score rises with the count, so that a bisection finds it.
        """
        below = np.full(hits_prime.size, -1)
        reached = np.full(hits_prime.size, self.n + 1)
        while (reached - below > 1).any():
            middle = (below + reached) // 2
            reaches = self.score(middle, hits_prime) >= z
            below = np.where(reaches, below, middle)
            reached = np.where(reaches, middle, reached)
        return reached

    def largest(self, q: Floats) -> Floats:
        """Return the largest P(S) that the claim allows where P'(S) = q."""
        return self.scale * q + self.delta


class _Tail:
    """The probability of a score of z at least, where P'(S) is from first to last."""

    def __init__(self, claim: _Claim, z: float, first: float, last: float) -> None:
        self.claim = claim
        self.first = first
        self.last = last
        middle = min(max(0.5, first), last)  # where counts vary most
        half = _half_width(claim.m, middle * (1 - middle))
        self._start = int(claim.m * first) - half
        counts = np.arange(self._start, int(claim.m * last) + half + 1)
        self._least = claim.least(z * _AS_LARGE, counts)

    def between(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return it where P'(S) is high, and a bound of it from low to high, each ``(v,)``.

        P(S) is the largest that the claim allows.
        """
        first, weights = _likely(self.claim.n, self.claim.largest(high))
        upper = np.zeros((high.size, weights.shape[1] + 1))
        weights[:, ::-1].cumsum(axis=1, out=upper[:, -2::-1])
        upper /= upper[:, :1]
        return self._sum(first, upper, high), self._sum(first, upper, low)

    def _sum(self, first: Counts, upper: Floats, q: Floats) -> Floats:
        """Return the probability where P'(S) = q, with that of each count of x or a larger one."""
        first_prime, weights = _likely(self.claim.m, q)
        counts = first_prime[:, None] + np.arange(weights.shape[1])
        index = self._least[counts - self._start] - first[:, None]
        index = np.clip(index, 0, upper.shape[1] - 1)
        reached = (weights * np.take_along_axis(upper, index, axis=1)).sum(axis=1)
        return np.asarray(reached / weights.sum(axis=1))


def _at_most(allowed: float, tail: _Tail, coarsely: bool) -> bool:
    """Tell whether a tail is at most the one that is allowed, at every q from first to last.

    It is then. If not, it is larger than nearly the one that is allowed at one of them.
    ``coarsely`` asks for a few of them only.
    """
    ends = np.linspace(tail.first, tail.last, (_PARTS if coarsely else _PARTS**2) + 1)
    low = ends[:-1]
    high = ends[1:]
    widest = 2 * _half_width(max(tail.claim.n, tail.claim.m), 0.25) + 1
    step = max(_HELD // widest, 1)
    while low.size > 0:
        doubtful = []
        for first in range(0, low.size, step):
            some = slice(first, first + step)
            at_ends, largest = tail.between(low[some], high[some])
            if not at_ends.max() <= _NEARLY * allowed:
                return False
            doubtful.append(~(largest <= allowed))
        if coarsely:
            return True
        cut = np.concatenate(doubtful)
        inner = np.linspace(low[cut], high[cut], _PARTS + 1, axis=1)
        low = inner[:, :-1].ravel()
        high = inner[:, 1:].ravel()
    return True


def _likely(n: int, p: Floats) -> tuple[Counts, Floats]:
    """Return the first of the likely counts, ``(v,)``, and the weights of all, ``(v, w)``."""
    p = np.clip(p, _NEARLY_ZERO, _NEARLY_ONE)
    mean = (n * p).astype(np.int64)[:, None]
    half = _half_width(n, float((p * (1 - p)).max()))
    odds = (p / (1 - p))[:, None]
    steps = np.arange(half)
    weights = np.ones((p.size, 2 * half + 1))
    rising = np.maximum(n - mean - steps, 0) / (mean + steps + 1) * odds
    rising.cumprod(axis=1, out=weights[:, half + 1 :])
    falling = np.maximum(mean - steps, 0) / (n - mean + steps + 1) / odds
    falling.cumprod(axis=1, out=weights[:, half - 1 :: -1])
    return mean[:, 0] - half, weights


def _half_width(n: int, variance: float) -> int:
    """Return how far from the mean counts are negligible, by Bernstein's inequality, at most n."""
    log = -math.log(_SMALLEST)
    return min(math.ceil(log + math.sqrt(2 * log * n * variance)), n)

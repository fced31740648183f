"""The exact test for a fixed number of draws, and its lower bound for a privacy level.

The first fifth of the draws, of outputs of several columns half as many more, chooses events
(`epsilometer.events.choosing`), and the rest confirms them.

A claim (epsilon, delta) says P(S) <= e^epsilon P'(S) + delta for every event S. For an event that
was chosen beforehand, k of n fresh draws of x and k' of n' of x' lie in it. The p-value of the
claim is the supremum, over the unknown P'(S) = q, of the exact binomial probability of a score at
least as large as the one seen. The supremum over all q would be wasteful; Berger and Boos (1994)
take it over those below an upper confidence limit of q at 1 - gamma, and add gamma. The score is
the standardised excess

    z = (k/n - e^epsilon k'/n' - delta) / sd,

with the standard deviation where the claim just holds, q pooled from both counts. The test is exact
for any score; a standardised one hardly depends on q, so the supremum costs little.

The supremum is taken over some hundred values of q. Between them the tail was larger by up to
2.2 % in 3,500 random cases of equal numbers of draws, and by 3.1 % in 1,500 of unequal ones; bounds
keep 5 % of alpha for it.

The lower bound for epsilon at ``alpha`` is the last of the rising claims before the first that is
not refuted. It holds with confidence 1 - alpha for every n that was fixed before the draws; not
for a test that is repeated with more draws after a look at the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from epsilometer import checks
from epsilometer.claims import EventClaim
from epsilometer.errors import ArgumentError
from epsilometer.events.choosing import ChosenEvent
from epsilometer.numerics.arrays import Bools, Counts, Floats, Sample
from epsilometer.numerics.bisection import bisected
from epsilometer.numerics.compiled import compiled, compiled_part, has_compiler

CHOOSING = 0.2  # share of the draws
_OTHER_EVENT = 0.15  # share of alpha for each event but the first
_PRECISION = 2e-5  # of a bound
_GAMMA = 0.01  # share of alpha for the limit of q
_BETWEEN = 0.05  # share of alpha for larger tails between the values of q
_NEAR = 17  # values of q near the likeliest one
_BOUNDARY = 32  # counts of either side, at equal numbers of draws, where tails jump
_FEW = 1000  # draws up to which every claim of the rising grid is tested at all of them
_STEPS = 16  # claims of the rising grid, before the last step is bisected
_BACK = 0.3  # distance below a bound of few draws in which claims are tested again
_DEVIATIONS = np.linspace(-4.0, 4.0, _NEAR)
_ROOTS = np.arange(1, 65) / 64  # of shares of the largest q
_EXPECTED = (np.arange(1, 25) / 4) ** 2  # draws in S, or outside of it
_BEYOND = 1.0, 2.0  # standard deviations from a jump of the tail to its peak
_DOUBTFUL = 10.0  # times alpha: the p-value of a normal law, above which ``least`` is not refuted
_SMALLEST = 1e-15  # share of the mean count's probability; rarer counts are negligible
_NEARLY_ONE = 1 - 2**-53
_AS_LARGE = 1 - 1e-9  # times z: scores that differ from it in their rounding only
_AT_ONCE = 64  # values of q, at most
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

    def refuted(level: float) -> bool:
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
        gamma = _GAMMA * alpha
        p = p_value(k, n, k_prime, n, epsilon=epsilon, delta=b, gamma=gamma)
        return p <= (1 - _BETWEEN) * alpha

    if not refuted(max(least, _PRECISION)):
        return 0.0
    top = float(claim.grid[-1])
    low = _PRECISION
    high = min(2 * _PRECISION, top)
    while high < top and refuted(high):
        low = high
        high = min(2 * high, top)
    bound = bisected(refuted, low, high, lambda low, _: _PRECISION * max(low, 0.01))[0]
    if n <= _FEW:
        return _bound_of_few_draws(refuted, bound, _PRECISION, (1 - _BACK) * bound)
    return bound


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
    checks.between_0_and_1("alpha", alpha)
    counts = hits, draws, hits_prime, draws_prime
    worst_tail = _worst_tail(*counts, delta, _GAMMA * alpha)
    allowed = (1 - _GAMMA - _BETWEEN) * alpha

    def refuted(epsilon: float, *, everywhere: bool = True) -> bool:
        return worst_tail(epsilon, allowed, everywhere) <= allowed

    if least > 0:
        z = _score(*counts, math.exp(min(least, _LARGEST)), delta)
        if math.erfc(z / math.sqrt(2)) > 2 * _DOUBTFUL * allowed:
            return 0.0
    # the first guess tests likely q only: it is too high, and costs a tenth
    everywhere = max(draws, draws_prime) <= _FEW
    if not refuted(least, everywhere=everywhere):
        return 0.0
    share = hits / draws - delta
    share_prime = max(hits_prime, 0.01) / draws_prime
    observed = math.log(max(share, 1 / draws)) - math.log(share_prime)
    step = min(max(observed, _PRECISION), _LARGEST) / _STEPS
    low = least
    while low + step < _LARGEST and refuted(low + step, everywhere=everywhere):
        low += step
    low, high = bisected(lambda e: refuted(e, everywhere=everywhere), low, low + step, _PRECISION)
    if everywhere:
        return _bound_of_few_draws(refuted, low, 0.0, max(low - _BACK, 0.0))
    step = 4 * _PRECISION
    while low > 0 and not refuted(low):
        low, high, step = max(low - step, 0.0), low, 2 * step
    return bisected(refuted, low, high, _PRECISION)[0]


def p_value(
    hits: int,
    draws: int,
    hits_prime: int,
    draws_prime: int,
    *,
    epsilon: float,
    delta: float = 0.0,
    gamma: float = 0.0005,
) -> float:
    """Return the p-value of Berger and Boos (1994) of the claim (epsilon, delta), for one event.

    Counts are as in `lower_bound`; ``gamma`` is the share for the limit of q. Raise `ArgumentError`
    for epsilon below 0 or above 700.
    """
    if not 0 <= checks.real("epsilon", epsilon) <= _LARGEST:
        raise ArgumentError("epsilon", f"must lie in [0, {_LARGEST:g}], got {epsilon!r}")
    checks.between_0_and_1("gamma", gamma)
    tail = _worst_tail(hits, draws, hits_prime, draws_prime, delta, gamma)
    return min(tail(epsilon, 1.0, True) + gamma, 1.0)


def _worst_tail(
    k: int, n: int, k_prime: int, m: int, delta: float, gamma: float
) -> Callable[[float, float, bool], float]:
    """Return the largest tail over q of a claim, or the first above the one that is allowed."""
    from scipy.special import betaincinv

    k, n, k_prime, m = (int(count) for count in (k, n, k_prime, m))
    if not (0 <= k <= n and 0 <= k_prime <= m and min(n, m) > 0):
        raise ArgumentError("hits", f"must be 0 to draws, got {k} of {n} and {k_prime} of {m}")
    if not 0 <= checks.real("delta", delta) < 1:
        raise ArgumentError("delta", f"must lie in [0, 1), got {delta!r}")
    # Clopper and Pearson's upper limit of q
    limit = 1.0 if k_prime == m else float(betaincinv(k_prime + 1, m - k_prime, 1 - gamma))
    tails = _compiled_tails if has_compiler() else _largest_tail

    def tail(epsilon: float, allowed: float, everywhere: bool) -> float:
        scale = math.exp(epsilon)
        largest = (1.0 - delta) / scale
        likeliest = min(max((k - n * delta + k_prime) / (n * scale + m), 0.0), largest)
        spread = math.sqrt(max(likeliest * (1.0 - likeliest), 1.0 / m) / (n * scale + m))
        values = likeliest + spread * (_DEVIATIONS if everywhere else _DEVIATIONS[::4])
        if everywhere:
            claim = _Claim(n, m, np.float64(scale), delta)
            values = np.concatenate([values, claim.peaks(k, k_prime, min(limit, largest))])
        values = values[(values > 0) & (values <= min(limit, largest))]
        return tails(k, n, k_prime, m, scale, delta, values, allowed)

    return tail


def _compiled_tails(
    k: int, n: int, k_prime: int, m: int, scale: float, delta: float, q: Floats, allowed: float
) -> float:
    """Return what `_largest_tail` does, ten times as fast for few draws."""
    work = np.empty(n + 1), np.empty(m + 1), np.full(m + 1, -1)
    return float(_tails(k, n, k_prime, m, scale, delta, q, allowed, *work))


@compiled
def _tails(k, n, k_prime, m, scale, delta, values, allowed, upper, pmf, least):  # type: ignore[no-untyped-def]
    z = _score(k, n, k_prime, m, scale, delta)
    if z <= 0.0:
        return 1.0
    worst = 0.0
    for q in values:
        worst = max(worst, _tail(z, n, m, scale, delta, q, upper, pmf, least))
        if worst > allowed:
            break
    return worst


@compiled_part
def _score(k, n, k_prime, m, scale, delta):  # type: ignore[no-untyped-def]
    """Return z; 0 where the counts agree with the claim."""
    excess = k / n - scale * (k_prime / m) - delta
    if excess <= 0.0:
        return 0.0
    q = (k - n * delta + k_prime) / (n * scale + m)  # so that P(S) is between delta and 1
    p = scale * q + delta
    variance = p * (1.0 - p) / n + scale * (scale * q) * (1.0 - q) / m
    return math.inf if variance <= 0.0 else excess / math.sqrt(variance)


@compiled_part
def _tail(z, n, m, scale, delta, q, upper, pmf, least):  # type: ignore[no-untyped-def]
    """Return the probability of a score of z at least, where P'(S) = q and the claim just holds."""
    z *= _AS_LARGE
    low, high, unit = _binomial(n, scale * q + delta, upper)
    low_prime, high_prime, unit_prime = _binomial(m, q, pmf)
    for i in range(high - 1, low - 1, -1):
        upper[i] += upper[i + 1]
    total = 0.0
    first = low  # the least count of x that reaches z, if it is not below: it rises with j
    for j in range(low_prime, high_prime + 1):
        if least[j] >= 0:  # it is known
            first = least[j]
        else:
            while first <= high and _score(first, n, j, m, scale, delta) < z:
                first += 1
        if first > high:
            break
        if first > low:
            least[j] = first
        total += pmf[j] * upper[max(first, low)]
    return total / (unit * unit_prime)


@compiled_part
def _binomial(n, p, out):  # type: ignore[no-untyped-def]
    """Set the weights of likely counts at their places; return the first, the last and the sum."""
    if p >= 1.0:
        out[n] = 1.0
        return n, n, 1.0
    low = high = int(n * p)
    odds = p / (1.0 - p)
    out[low] = total = 1.0
    while low > 0 and out[low] > _SMALLEST:
        out[low - 1] = out[low] * (low / ((n - low + 1) * odds))
        low -= 1
        total += out[low]
    while high < n and out[high] > _SMALLEST:
        out[high + 1] = out[high] * ((n - high) * odds / (high + 1))
        high += 1
        total += out[high]
    return low, high, total


# --- without Numba --------------------------------------------------------------------------------


def _largest_tail(
    k: int, n: int, k_prime: int, m: int, scale: float, delta: float, q: Floats, allowed: float
) -> float:
    """Return the largest probability of the score of the counts at least, over P'(S) = q, ``(v,)``.

    k of n draws of x and k' of m of x' are in the event, and P(S) = scale q + delta. It may be the
    first that was found above the one that is allowed.
    """
    claim = _Claim(n, m, np.float64(scale), delta)
    z = float(claim.score(np.array(k), np.array(k_prime)))
    if z <= 0.0:
        return 1.0
    z *= _AS_LARGE
    rising = np.sort(q)
    worst = 0.0
    widest = 2 * _half_width(max(claim.n, claim.m), 0.25) + 1
    step = max(min(_AT_ONCE, _HELD // widest), 1)
    for first in range(0, q.size, step):
        some = rising[first : first + step]
        worst = max(worst, float(_tails_of(claim, z, some).max()))
        if worst > allowed:
            break
    return worst


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

        The score rises with the count.
        """
        return _first(lambda hits: self.score(hits, hits_prime) >= z, hits_prime.size, self.n)

    def most(self, z: float, hits: Counts) -> Counts:
        """Return the most count of x', -1 if there is none, whose score is z at least."""
        beyond = _first(lambda other: self.score(hits, other) < z, hits.size, self.m)
        return beyond - 1

    @np.errstate(over="ignore", invalid="ignore")
    def peaks(self, k: int, k_prime: int, top: float) -> Floats:
        """Return values of q up to the ``top``, of which one has nearly the largest tail.

        As q changes, the tail jumps where one side's likely counts pass the boundary of the scores
        that are as large, and peaks a deviation or two beyond. Elsewhere it changes with the
        standard deviation of a count: as the root of q, but where few draws are in S or outside.
        """
        n = self.n
        m = self.m
        z = float(self.score(np.array(k), np.array(k_prime))) * _AS_LARGE
        number = _BOUNDARY * int(min(math.sqrt(max(n / m, m / n)), 64.0))
        hits = _up_to(n * min(self.scale * top + self.delta, 1.0), number)
        hits_prime = _up_to(m * top, number)
        p = np.minimum(self.least(z, hits_prime), n) / n
        q = np.maximum(self.most(z, hits), 0) / m
        largest = (1.0 - self.delta) / self.scale
        few = [_EXPECTED / m, _EXPECTED / (n * self.scale), largest * (1 - _EXPECTED / n)]
        values = [top * _ROOTS**2, *few, np.array([top])]
        for deviations in _BEYOND:
            reached = p + deviations * np.sqrt(np.maximum(p * (1 - p), 1 / n) / n)
            values.append((np.minimum(reached, 1.0) - self.delta) / self.scale)
            values.append(q - deviations * np.sqrt(np.maximum(q * (1 - q), 1 / m) / m))
        return np.concatenate(values)


def _up_to(last: float, number: int) -> Counts:
    """Return counts from 0 to the last, at most so many, and most of them small."""
    whole = math.ceil(last)
    if whole < number:
        return np.arange(whole + 1)
    return np.unique((np.geomspace(1, whole + 1, number) - 1).astype(np.int64))


def _first(holds: Callable[[Counts], Bools], size: int, last: int) -> Counts:
    """Return the first counts, last + 1 if there is none, from which on a condition holds."""
    below = np.full(size, -1)
    reached = np.full(size, last + 1)
    while (reached - below > 1).any():
        middle = (below + reached) // 2
        reaches = holds(middle)
        below = np.where(reaches, below, middle)
        reached = np.where(reaches, middle, reached)
    return reached


def _tails_of(claim: _Claim, z: float, q: Floats) -> Floats:
    """Return the probability of a score of z at least where P'(S) = q and the claim just holds."""
    first, weights = _likely(claim.n, claim.scale * q + claim.delta)
    first_prime, weights_prime = _likely(claim.m, q)
    upper = np.zeros((q.size, weights.shape[1] + 1))
    weights[:, ::-1].cumsum(axis=1, out=upper[:, -2::-1])
    counts = first_prime[:, None] + np.arange(weights_prime.shape[1])
    start = counts.min()
    least = claim.least(z, np.arange(start, counts.max() + 1))
    index = np.clip(least[counts - start] - first[:, None], 0, weights.shape[1])
    reached = (weights_prime * np.take_along_axis(upper, index, axis=1)).sum(axis=1)
    return np.asarray(reached / (upper[:, 0] * weights_prime.sum(axis=1)))


def _likely(n: int, p: Floats) -> tuple[Counts, Floats]:
    """Return the first of the likely counts, ``(v,)``, and the weights of all, ``(v, w)``."""
    p = np.minimum(p, _NEARLY_ONE)
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

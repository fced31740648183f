"""The power of an audit, before or after it is run.

Model mechanisms attain a level: Laplace noise for claims of epsilon, Gaussian noise for claims of
mu, rho or a Rényi divergence (Laplace noise at orders at which draws cannot show the divergence of
Gaussians); and, if its probability is given, one event, beside which outputs satisfy the claim.
Forecasts are the growth of the wealth for known distributions, less the cost of learning them,
which was measured in audits: of bets on all cells, whose growth is near KL_inf, and of bets on
events; the better of them decides.

    steps = schedule(10_000, 1)  # the rounds of an audit
    detectable(pure(1.0), steps, alpha=0.05, event=0.1)  # 1.24: the level that nine in ten find

What is detectable of an event depends on the draws, the claim and the probability of the event on
the less likely side, which is fixed before any draw. An event of one column is a value, a word or a
range. One of two columns is any set of the cells of a table that past draws teach (`scores`): it is
found once its table differs clearly, from half of the draws, and outputs near the ends of cells,
which are quantiles of past draws, count for a neighbouring cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from epsilometer import checks
from epsilometer.claims import AnyClaim, Claim
from epsilometer.errors import ArgumentError
from epsilometer.events.scores import CELLS, SCREENED
from epsilometer.numerics.arrays import Bools, Floats
from epsilometer.numerics.bisection import bisected, reached
from epsilometer_audit.question import claims
from epsilometer_audit.statistics.portfolio import against
from epsilometer_audit.statistics.predictors import FLOOR, Prediction
from epsilometer_audit.statistics.rounds import Step, least_samples, schedule

POWER = 0.9
EVENTS = (0.5, 0.1, 0.01, 0.001)
"""The probabilities, on the less likely side, of the events of which verdicts print levels."""
EVENT = 0.1
"""That of the event in which a level is to be detected, if no other is requested."""
# Measured by `python -m tests.benchmarks.power` and `python -m tests.benchmarks.detectable`.
_PREDICTING = 8.0  # nats, to learn noise
_EVENT = 12.0  # nats, to learn an event
_RARITY = 1.2  # nats more, for an event whose probability is e times smaller
_MOVED = 9.5  # times the root of draws: outputs in a neighbouring cell, whose ends are quantiles
_CHOSEN = 125.0  # of Pearson's statistic beyond its cells, for a table that is chosen
_FUNCTION = 35.0  # nats, to learn a function of rare outputs
_KEPT = 3.5  # nats that a pair must have won where others are dropped
_MOST = 10**12  # draws that are forecast
_INSIDE = 1e-300, 1 - 1e-9  # probabilities in place of 0 and 1, of which logarithms are taken


def _cells(claim: Claim, levels: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities of cells of noise on x and on x' for each level, ``(levels, k)``."""
    noise = claim.noise(levels)
    distance = noise.distances[:, None]
    from scipy.special import ndtr

    def cells(z: Floats) -> Floats:
        """Return the probabilities of the cells between these ends."""
        half = np.exp(-np.abs(z)) / 2
        below = ndtr(z) if noise.gaussian else np.where(z < 0, half, 1 - half)
        return np.diff(below, prepend=0.0, append=1.0, axis=1)

    around_x = np.broadcast_to(np.linspace(-3, 3, 32), (len(distance), 32))
    ends = np.sort(np.concatenate([around_x, around_x + distance], axis=1), axis=1)
    return cells(ends), cells(ends - distance)


def _event(claim: Claim, levels: Floats, q: float) -> tuple[Floats, Floats]:
    """Return probabilities of an event, the rarer one ``q``, or less where p + q would exceed 1."""
    half = np.full(levels.shape, 0.5)
    more = reached(lambda more: claim.of(0.5 + more, 0.5 - more), levels, half)
    rarer = np.minimum(half - more, q)
    return claim.likelier(rarer, levels), rarer


@np.errstate(all="ignore")  # levels may be very large
def _detected(
    claim: Claim,
    levels: Floats,
    steps: Sequence[Step],
    alpha: float,
    goal: float,
    event: float | None,
    joint: bool = False,
) -> Bools:
    """Tell for each level whether a bet on cells, or on an event, refutes the claim."""
    from scipy.special import ndtri

    draws = sum(step.draws for step in steps)
    visible = levels > 0
    laws: list[_Law] = []
    if event is None:
        p, q = _cells(claim, levels)
        laws.append(_Law(*_growth(claim, p, q, FLOOR), _PREDICTING))
        if claim.orders:
            laws.append(_Law(*_growth(claim, p, q, 0.0), _FUNCTION))
        ends = slice(3, -3, 4)  # of half-lines, at some of those of cells
        events = list(zip(p.cumsum(axis=1).T[ends], q.cumsum(axis=1).T[ends], strict=True))
    else:
        p, q = _event(claim, levels, event)
        if joint:
            first = 2 * steps[0].draws if steps[0].pairs > 1 else draws  # which rank the pairs
            p, q, visible = _in_table(p, q, first // 4)  # a half of those before the last round
            draws //= 2
        events = [(p, q)]
    for p, q in events:
        nats = _EVENT - _RARITY * np.log(np.clip(q, *_INSIDE))
        laws.append(_Law(*_growth_of_event(claim, p, q), nats))
    z = float(ndtri(goal))
    needed = math.log(steps[0].pairs / alpha)
    detected = np.zeros(levels.size, bool)
    for law in laws:
        past = 0
        kept = visible
        for step, after in pairwise(steps):
            past += step.draws
            if after.pairs < step.pairs:  # the pair that violates it stays if its bet has grown
                kept = kept & (past * law.growth >= _KEPT)
        won = draws * law.growth - z * np.sqrt(draws * law.variance)
        detected |= kept & (won >= law.nats + needed)
    return detected


@dataclass(frozen=True, eq=False)
class _Law:
    """Mean and variance of the growth at each level, ``(m,)``, and the nats to learn the bet."""

    growth: Floats
    variance: Floats
    nats: float | Floats


def _in_table(p: Floats, q: Floats, draws: int) -> tuple[Floats, Floats, Bools]:
    """Return the probabilities of an event of two columns in a table that so many draws teach.

    The last value tells whether the table is chosen with probability .9.
    """
    moved = min(_MOVED / math.sqrt(draws), 0.5)
    nearby = np.maximum((p + q) / 2, 1 / CELLS)
    p = p + moved * ((1 - p) * nearby - p)
    q = q + moved * ((1 - q) * nearby - q)
    distance = (p - q) ** 2 * (1 / (p + q) + 1 / (2 - p - q))
    return p, q, min(draws, SCREENED) * distance >= _CHOSEN


def _growth(claim: Claim, p: Floats, q: Floats, floor: float) -> tuple[Floats, Floats]:
    """Return the largest mean growth of bets against the claim at each level, and its variance."""
    bets = against(claim, np.array([claim.level]))
    first = bets.first.ravel()
    second = bets.second.ravel()
    p = np.clip(p, *_INSIDE)
    q = np.clip(q, *_INSIDE)
    fs = []
    gs = []
    for law in zip(p, q, strict=True):
        of_p, of_q = bets.factors(Prediction(np.empty(0), *law, floor), first, second)
        fs.append(of_p)
        gs.append(of_q)
    f = np.array(fs)
    g = np.array(gs)
    p = p[..., None]
    q = q[..., None]
    mean = (p * f).sum(axis=1)
    mean_prime = (q * g).sum(axis=1)
    spread = (p * f**2).sum(axis=1) - mean**2 + (q * g**2).sum(axis=1) - mean_prime**2
    growth = mean + mean_prime
    best = np.arange(len(growth)), growth.argmax(axis=1)
    return growth[best], spread[best]


def _growth_of_event(claim: Claim, p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return the same of bets on events of these probabilities, ``(k,)``.

    It is their least relative entropy to probabilities that the claim allows.
    """
    if claim.orders:
        return _growth(claim, np.stack([p, 1 - p], axis=1), np.stack([q, 1 - q], axis=1), 0.0)
    p = np.clip(p, *_INSIDE)[:, None]
    q = np.clip(q, *_INSIDE)[:, None]
    allowed_prime = q * (p / q) ** np.linspace(0, 1, 200)
    allowed = np.minimum(claim.likelier(allowed_prime, claim.level), p)
    mean, spread = _log_ratio_moments(p, allowed)
    mean_prime, spread_prime = _log_ratio_moments(q, allowed_prime)
    growth = mean + mean_prime
    nearest = np.arange(len(growth)), growth.argmin(axis=1)
    return growth[nearest], (spread + spread_prime)[nearest]


def _log_ratio_moments(share: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of the log ratio of an event's probability to another one."""
    hit = np.log(share / other)
    miss = np.log((1 - share) / (1 - other))
    return share * hit + (1 - share) * miss, share * (1 - share) * (hit - miss) ** 2


def detectable(
    claim: Claim, steps: Sequence[Step], *, alpha: float, event: float, joint: bool = False
) -> float | None:
    """Return the smallest level that is detected with probability 0.9; None if there is none.

    It shows in an ``event`` of this probability on the less likely side, or less where both
    probabilities would exceed 1 together. The first of the rounds, ``steps``, has no bets.
    ``joint`` tells whether the event is one of two columns, not of one.
    """
    low = claim.level
    top = float(claim.grid[-1])
    excess = np.geomspace(max(1e-3 * low, 1e-6), max(top - low, 1e-6), 24)
    for _ in range(2):
        detected = _detected(claim, low + excess, steps, alpha, POWER, event, joint)
        if not detected.any():
            return None
        first = int(detected.argmax())
        level = float(low + excess[first])
        excess = np.geomspace(excess[max(first - 1, 0)], excess[first], 24)
    return level


def samples_needed(
    claim: AnyClaim,
    *,
    detect: float,
    power: float = POWER,
    alpha: float = 0.05,
    pairs: int = 1,
    event: float | None = None,
) -> int:
    """Return how many draws of a side, over all pairs, detect a violation.

    It uses the formula for the detectable levels of verdicts, and is as cautious.

    >>> from epsilometer_audit.question.claims import pure
    >>> 100 < samples_needed(pure(1.0), detect=2.0) < 300
    True

    Parameters
    ----------
    claim, detect
        The claim, and the true level, above the claimed one, in the same unit.
    power, alpha
        The probabilities of detection, and of a false alarm.
    pairs
        How many pairs share the draws; one of them violates the claim.
    event
        The probability of the rarer event that shows the violation; additive noise if not given.
    """
    goal = checks.between_0_and_1("power", power)
    checks.between_0_and_1("alpha", alpha)
    checks.integer("pairs", pairs, maximum=1_000_000)
    if event is not None:
        checks.between_0_and_1("event", event)
    claims.checked_detect(detect, claim)
    (single,) = claim.parts
    low = high = least_samples(pairs)

    def enough(samples: int) -> bool:
        steps = schedule(samples, pairs)
        return bool(_detected(single, np.array([detect]), steps, alpha, goal, event)[0])

    while not enough(high):
        if high == _MOST:
            raise ArgumentError("detect", f"{detect:g} takes more than {_MOST:g} draws")
        low = high
        high = min(2 * high, _MOST)
    _, high = bisected(lambda n: not enough(n), low, high, lambda _, high: max(1, 0.02 * high))
    unit: int = 10 ** max(len(str(high)) - 2, 0)  # two digits
    return math.ceil(high / unit) * unit

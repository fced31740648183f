"""What an audit would have found: its power, before or after it was run.

A mechanism is imagined whose outputs exceed the claim in the way that the audit looks at, by an
event of probabilities p and q, or by a density ratio in cells. Counts are drawn, and bet on as the
audit does: an event has to be learned from the past, against one that is more frequent, and its
pair kept among others that are at the claim. Learning a ratio, for a Rényi divergence, was seen to
cost two thirds of the draws at orders up to 3, of which the rest count here; beyond, tails that few
draws reach decide, and nothing is foretold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.audit.bets import HORIZONS, Bet, Round, purses, stakes
from epsilometer.audit.claims import AnyClaim, Claim, EventClaim, parts
from epsilometer.audit.schedule import Step, least_samples, schedule
from epsilometer.errors import ArgumentError
from epsilometer.estimators.candidates import promise_of

Floats = NDArray[np.float64]

POWER = 0.9
_RUNS = 1000
_CAUTIONS = (2.5, 1.5)  # standard deviations that events are judged with
LARGEST_ORDER = 3.0  # that power is known of
_MOST_SAMPLES = 10**12
_FINE = 1e-3
_NORMAL = 64  # cells
_LEARNED = 0.33  # share of the draws that is as good as with a known density ratio


@dataclass(frozen=True)
class Alternative:
    """Laws of what is counted, of shape ``(k,)`` each, and the functions that are bet on."""

    p: Floats
    q: Floats
    phi: Floats
    psi: Floats
    order: float = math.nan

    def bet(self) -> Bet:
        """Return the bet of somebody who knows the laws."""
        means = float(self.p @ self.phi), float(self.q @ self.psi)
        spread = (
            float(self.p @ self.phi**2) - means[0] ** 2,
            float(self.q @ self.psi**2) - means[1] ** 2,
        )
        return Bet(
            _no_code,
            self.phi,
            self.psi,
            False,
            mean_phi=means[0],
            mean_psi=means[1],
            variance_phi=spread[0],
            variance_psi=spread[1],
            order=self.order,
        )


def event_alternative(claim: EventClaim, level: float, q: float | None = None) -> Alternative:
    """Return an event that exceeds the claim up to the level.

    Parameters
    ----------
    claim
        The kind of claim.
    level
        At which the event shows it to be.
    q
        The event's probability on the side where it is rarer. An event that could not have it at
        this level has q = 1 - p; if not given, p is 1/2, as for additive noise.
    """

    def symmetric(total: Callable[[float, float], float]) -> float:
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            p = float(claim.likelier(np.array(middle), level))
            low, high = (middle, high) if total(p, middle) < 1 else (low, middle)
        return low

    most = symmetric(lambda p, q: p + q)
    q = min(q, most) if q is not None else symmetric(lambda p, _: 2 * p)
    p = float(claim.likelier(np.array(q), level))
    inside = np.array([0.0, 1.0])
    return Alternative(np.array([1 - p, p]), np.array([1 - q, q]), inside, inside)


def function_alternative(
    claim: Claim, level: float, order: float, made: Round | None = None
) -> Alternative:
    """Return laws whose divergence of this order shows the claim to be at the level.

    They are those of the cells that a bet was made on, tilted; or nearly two Gaussians.
    """
    rho = level * order if claim.quantity == "rho" else level
    if made is not None and np.ptp(made.bet.phi) > 0:
        q = made.counts_prime.sum(axis=0) + 0.5
        ratio = np.log(made.bet.phi) / (made.bet.order - 1)
    else:  # evenly likely cells of N(0, 1), and about what N(mu, 1) makes of them
        from scipy.special import ndtri

        ratio = ndtri((np.arange(_NORMAL) + 0.5) / _NORMAL)
        q = np.ones(_NORMAL)
    q = q / q.sum()

    def tilted(strength: float) -> Floats:
        p = np.exp(strength * (ratio - ratio.max())) * q
        return np.asarray(p / p.sum())

    def divergence(strength: float) -> float:
        with np.errstate(divide="ignore"):
            terms = order * np.log(tilted(strength)) + (1 - order) * np.log(q)
        return float(np.logaddexp.reduce(terms)) / (order - 1)

    low, high = 0.0, 1.0
    while divergence(high) < rho and high < 1e4:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if divergence(middle) < rho else (low, middle)
    p = tilted(high)
    with np.errstate(divide="ignore"):
        g = np.maximum(np.log(p) - np.log(q), -50.0)
    g -= g.max()
    return Alternative(p, q, np.exp((order - 1) * g), np.exp(order * g), order)


def power(claim: Claim, other: Alternative, steps: Sequence[Step], *, alpha: float) -> float:
    """Return the probability that bets on these laws refute the claim, up to two percent.

    Parameters
    ----------
    claim
        What is claimed.
    other
        The laws of the pair that violates it; other pairs are just at the claim.
    steps
        Rounds; nothing is bet in the first.
    alpha
        The probability of a false alarm.
    """
    if isinstance(claim, EventClaim):
        return _power_of_event(claim, float(other.p[1]), float(other.q[1]), steps, alpha)
    rng = np.random.default_rng(0)
    bet = other.bet()
    level = np.array([claim.level])
    kappa, b = claim.null(level, np.array(bet.mean_psi), bet.order)
    u = kappa * bet.mean_psi + b
    if bet.mean_phi <= u[0]:
        return 0.0
    wealth = np.tile(np.log(purses(1)), (_RUNS, 1))
    reached = np.zeros(_RUNS, bool)
    for step in steps[1:]:
        stake = stakes(bet, kappa, u, _LEARNED * step.ahead, alpha)[:, 0]
        won = np.log1p(stake[:, None] * (bet.phi - u))
        lost = np.log1p(-stake[:, None] * kappa * (bet.psi - bet.mean_psi))
        draws = round(_LEARNED * step.draws)
        ours, theirs = (rng.multinomial(draws, law, _RUNS) for law in (other.p, other.q))
        wealth = wealth + ours @ won.T + theirs @ lost.T
        reached |= np.logaddexp.reduce(wealth, axis=1) >= -math.log(alpha)
    return float(reached.mean())


def _power_of_event(
    claim: EventClaim, p: float, q: float, steps: Sequence[Step], alpha: float
) -> float:
    """Return how often an event is learned, its pair kept, and the claim refuted.

    In a round the event is taken up by whom it promises more than the event of probability 1/2
    would that is just at the claim.
    """
    rng = np.random.default_rng(0)
    pairs = steps[0].pairs
    starts = np.log(purses(len(_CAUTIONS)))
    at_claim = float(claim.likelier(np.array(q), claim.level))
    usual = event_alternative(claim, claim.level)
    runs = max(_RUNS // (4 if pairs > 1 else 1), 100)
    seen, seen_prime = np.zeros((2, runs, pairs))
    going = np.ones((runs, pairs), bool)
    wealth = np.tile(starts - math.log(pairs), (runs, 1, 1))
    reached, n = np.zeros(runs, bool), 0
    for i, step in enumerate(steps):
        if i:

            def promised(caution: float, hits: Floats, others: Floats, n: int = n) -> Floats:
                return promise_of(hits, n, others, n, step.ahead, caution, claim.of)  # noqa: B023

            before = int(going[0].sum())
            if before > step.pairs:
                shown = np.where(going, promised(_CAUTIONS[0], seen, seen_prime), -math.inf)
                order = np.argsort(-shown, axis=1, kind="stable")[:, : step.pairs]
                going = np.zeros_like(going)
                np.put_along_axis(going, order, True, axis=1)
                left = starts + math.log(1 / step.pairs - 1 / before)
                wealth = np.logaddexp(wealth, left)
            rival = [
                float(promised(c, np.array([n * usual.p[1]]), np.array([n * usual.q[1]]))[0])
                for c in _CAUTIONS
            ]
            taken = [
                promised(c, seen[:, 0], seen_prime[:, 0]) > r
                for c, r in zip(_CAUTIONS, rival, strict=True)
            ]
            grown = _grown(
                claim, seen[:, 0], seen_prime[:, 0], n, (p, q), step.draws, step.ahead, alpha, rng
            )
            (new, new_prime), log_growth = grown
            bold_or_not = np.stack(taken, axis=1)[:, :, None] & going[:, :1, None]
            wealth = wealth + np.where(bold_or_not, log_growth[:, None, :], 0.0)
            total = np.logaddexp.reduce(wealth.reshape(runs, -1), axis=1)
            reached |= going[:, 0] & (total >= -math.log(alpha))
        else:
            new, new_prime = rng.binomial(step.draws, p, runs), rng.binomial(step.draws, q, runs)
        seen[:, 0] += new
        seen_prime[:, 0] += new_prime
        if pairs > 1:
            seen[:, 1:] += rng.binomial(step.draws, at_claim, (runs, pairs - 1))
            seen_prime[:, 1:] += rng.binomial(step.draws, q, (runs, pairs - 1))
        n += step.draws
    return float(reached.mean())


def _grown(
    claim: EventClaim,
    hits: Floats,
    others: Floats,
    n: int,
    law: tuple[float, float],
    draws: int,
    ahead: int,
    alpha: float,
    rng: np.random.Generator,
) -> tuple[tuple[Any, Any], Floats]:
    """Draw counts, and return them with the growth of each horizon's wealth, ``(runs, 2)``."""
    mean, v = ((counts + 0.5) / (n + 1) for counts in (hits, others))
    kappa, b = claim.null(np.array([claim.level]), v, math.nan)
    u = kappa * v + b
    variance = mean * (1 - mean) + kappa**2 * v * (1 - v)
    horizons = np.maximum(np.array(HORIZONS)[:, None] * ahead, 1.0)
    stake = np.sqrt(2 * math.log(1 / alpha) / (horizons * variance))
    most = np.minimum(1 / u, 1 / (kappa * (1 - v)))
    stake = np.where(mean > u, np.minimum(stake, 0.95 * most), 0.0)
    k, m = (rng.binomial(draws, share, hits.shape) for share in law)
    grown = k * np.log1p(stake * (1 - u)) + (draws - k) * np.log1p(-stake * u)
    grown += m * np.log1p(-stake * kappa * (1 - v)) + (draws - m) * np.log1p(stake * kappa * v)
    return (k, m), np.asarray(grown.T)


def detectable(
    claim: Claim,
    alternative: Callable[[float], Alternative],
    steps: Sequence[Step],
    *,
    alpha: float,
    goal: float = POWER,
) -> float | None:
    """Return the smallest level that is found with probability ``goal``; None if there is none."""

    def found(level: float) -> bool:
        return power(claim, alternative(level), steps, alpha=alpha) >= goal

    low = claim.level
    top = float(claim.grid()[-1])
    step = max(0.05 * low, 1e-3 if top > 1 else 1e-6)
    high = low + step
    while not found(min(high, top)):
        if high >= top:
            return None
        low, step = high, 2 * step
        high = low + step
    high = min(high, top)
    while high - low > _FINE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def samples_needed(
    claim: AnyClaim,
    *,
    detect: float,
    power: float = POWER,
    alpha: float = 0.05,
    pairs: int = 1,
    event: float | None = None,
) -> int:
    """Return how many draws of a side, over all pairs, find a violation.

    Parameters
    ----------
    claim
        What is claimed.
    detect
        The true level, above the one that is claimed, in the same unit.
    power
        The probability with which it is to be found.
    alpha
        The probability of a false alarm.
    pairs
        How many pairs share the draws; one of them violates the claim.
    event
        The probability of the event that shows it, where it is rarer; additive noise if not given.

    >>> from epsilometer.audit.claims import pure
    >>> samples_needed(pure(1.0), detect=1.2)
    2600
    """
    goal = checks.between_0_and_1("power", power)
    checks.between_0_and_1("alpha", alpha)
    checks.integer("pairs", pairs)
    if event is not None:
        checks.between_0_and_1("event", event)
    claims = parts(claim)
    if len(claims) > 1:
        raise ArgumentError("claim", "must be of one order: name the one that is to be found")
    (single,) = claims
    if not foretold(single):
        raise ArgumentError("renyi", f"has no forecast for orders above {LARGEST_ORDER:g}")
    if not checks.real("detect", detect) > single.level:
        raise ArgumentError("detect", f"must be above the claim, {single.level:g}, got {detect:g}")
    other = alternative_of(single, detect, event)

    def enough(samples: int) -> bool:
        steps = schedule(samples, pairs)
        return _power(single, other, steps, alpha=alpha) >= goal

    low = high = least_samples(pairs)
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST_SAMPLES:
            raise ArgumentError("detect", f"{detect:g} takes more than {_MOST_SAMPLES:.0e} draws")
    while high - low > 0.02 * high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return _rounded_up(high)


_power = power


def alternative_of(
    claim: Claim, level: float, q: float | None = None, made: Round | None = None
) -> Alternative:
    """Return laws that exceed the claim up to the level."""
    if isinstance(claim, EventClaim):
        return event_alternative(claim, level, q)
    if made is not None and made.bet.order > LARGEST_ORDER:
        made = None
    order = made.bet.order if made is not None else min(claim.orders, key=lambda a: abs(a - 2))
    return function_alternative(claim, level, order, made)


def foretold(claim: Claim) -> bool:
    """Tell whether the power of audits of such a claim is known."""
    return isinstance(claim, EventClaim) or min(claim.orders) <= LARGEST_ORDER


def _rounded_up(number: int) -> int:
    """Return two digits, rounded up."""
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return math.ceil(number / unit) * unit


def _no_code(_: Any) -> Any:
    raise AssertionError("imagined laws have no outputs")

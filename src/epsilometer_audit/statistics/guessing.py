"""Guesses about canaries: the right guesses that the output of a private mechanism allows.

Each of m canaries is in the input or not, by a fair coin. Of r guesses about them, made from the
output of an (epsilon, delta)-private mechanism, v or more are right with probability at most

    P[W >= v] + m delta P[W >= v] P[W < v] / (v P[W = v]),

with W binomial, of r trials at e^epsilon / (1 + e^epsilon): without delta proposition 5.1 of
Steinke, Nasr and Jagielski, "Privacy auditing with one (1) training run" (2023); docs/training.md
proves the second term. A rule is fixed before anybody looks at the coins; several share alpha
evenly (a union bound). The order of a file may depend on the coins, so equal scores are put in
random order. Claims of Gaussian privacy have one rule, and the bound of `profiles`.

A claim that guesses can test says so (`EventClaim.one_run`): it has a fixed delta, or those of
Gaussian noise.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from epsilometer import checks
from epsilometer.claims import EventClaim, gaussian_deltas
from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Bools, Floats
from epsilometer.seeds import generator
from epsilometer_audit.question.shares import share_of
from epsilometer_audit.statistics import profiles

Guesses = int | Sequence[int]

_LEAST = 10  # guesses of a default rule
_POWER = 0.9
_STRIDE = 5  # of the levels of a claim's grid
_TINY = -600.0  # log probability below which a limit replaces the quotient
_SINGLE = np.linspace(0.02, 5.0, 250)  # epsilons of a Gaussian claim, over its mu
_HOPELESS = 0.5  # p-value at one epsilon from which no others are tried
_ROUNDING = 1e-15  # of a delta


def _terms(right: int, guesses: int, epsilon: float | Floats) -> tuple[Floats, Floats]:
    """Return P[W >= v], and P[W >= v] P[W < v] / (v P[W = v])."""
    from scipy.special import betainc, expit, gammaln

    v = right
    r = guesses
    level = np.asarray(epsilon, float)
    if v <= 0:
        return np.ones(level.shape), np.zeros(level.shape)
    q = expit(level)
    tail = betainc(v, r - v + 1, q)
    below = betainc(r - v + 1, v, expit(-level))
    log_right = -np.logaddexp(0.0, -level)
    chosen = gammaln(r + 1) - gammaln(v + 1) - gammaln(r - v + 1)
    log_pmf = chosen + v * log_right + (r - v) * (log_right - level)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = tail / np.exp(np.maximum(log_pmf, _TINY))
        limit = (v + 1) * (1 - q) / (v + 1 - q * (r + 1))  # of a geometric series, far in the tail
    ratio = np.where(log_pmf > _TINY, quotient, np.where(tail < below, limit, 0.0))
    return tail, ratio * below / v


@dataclass(frozen=True)
class Rule:
    """A rule: the ``top`` highest scores are guessed to be in, the ``bottom`` lowest out."""

    top: int
    bottom: int

    @classmethod
    def even(cls, guesses: int) -> Rule:
        """Return the rule of so many guesses, half of them at each end."""
        return cls(guesses - guesses // 2, guesses // 2)

    @property
    def guesses(self) -> int:
        """The number of guesses."""
        return self.top + self.bottom

    def text(self) -> str:
        """Return the rule in words."""
        ends = []
        if self.top:
            ends.append(f"the {self.top} highest scores as in")
        if self.bottom:
            ends.append(f"the {self.bottom} lowest as out")
        return ", ".join(ends)


def rules_of(canaries: int, claim: EventClaim, alpha: float) -> list[Rule]:
    """Return the default rules, which do not depend on the scores.

    They guess all canaries, a half, a quarter, and so on, from both ends evenly, if all guesses
    right refute the claim. A Gaussian claim has one rule: that which refutes the claim with
    probability 1/2 where Gaussian noise is least too small.

    >>> from epsilometer.claims import Pure
    >>> [rule.guesses for rule in rules_of(80, Pure(1.0), 0.05)]
    [80, 40, 20]
    """
    has_delta = claim.fixed_delta is not None
    rules = []
    guesses = float(canaries)
    while guesses >= _LEAST:
        rules.append(Rule.even(int(guesses)))
        guesses /= 2.0 if has_delta else math.sqrt(2)
    share = share_of(1.0, len(rules))
    if has_delta:
        refuting = []
        for rule in rules:
            all_right = Counted(rule, rule.guesses, canaries, share)
            if all_right.p_value_of(claim) <= alpha:
                refuting.append(rule)
        return refuting or rules[:1]
    mu = claim.level

    def refuted_level(rule: Rule) -> float:
        least = _fewest(
            rule, canaries, 1.0, alpha, lambda counted: counted.at_one_epsilon(mu).p_value
        )
        return _gaussian_level(rule, canaries, least, 0.5)

    return [min(rules, key=refuted_level)]


def _fewest(
    rule: Rule, canaries: int, share: float, alpha: float, p_value: Callable[[Counted], float]
) -> int:
    """Return the fewest right guesses that refute a claim; more than all if none do."""

    def refutes(right: int) -> bool:
        return p_value(Counted(rule, right, canaries, share)) <= alpha

    return bisect_left(range(rule.guesses + 1), True, key=refutes)


def requested_rules(
    guesses: Guesses | None, canaries: int, claim: EventClaim, alpha: float
) -> list[Rule]:
    """Return the requested rule, or those of `rules_of`."""
    if guesses is None:
        return rules_of(canaries, claim, alpha)
    if isinstance(guesses, Sequence) and not isinstance(guesses, str):
        if len(guesses) != 2:
            raise ArgumentError("guesses", f"must be one number or two, got {len(guesses)}")
        rule = Rule(*(checks.integer("guesses", number, minimum=0) for number in guesses))
    else:
        rule = Rule.even(checks.integer("guesses", guesses))
    if not 1 <= rule.guesses <= canaries:
        message = f"must be 1 to {canaries}, as many as there are canaries, got {rule.guesses}"
        raise ArgumentError("guesses", message)
    return [rule]


@dataclass(frozen=True)
class AtOneEpsilon:
    """A p-value of mu-GDP that one (epsilon, delta) gives, and the weight of its delta."""

    p_value: float
    epsilon: float
    weight: float


@dataclass(frozen=True)
class Counted:
    """The right guesses of a rule, whose part of alpha is ``share``.

    >>> float(Counted(Rule(10, 0), right=10, canaries=20, share=1.0).p_value(0.0, 0.0))  # ten coins
    0.0009765625
    """

    rule: Rule
    right: int
    canaries: int
    share: float

    def p_value(self, epsilon: float | Floats, delta: float) -> Floats:
        """Return the p-value of a claim over the share; for several claims of shape ``(k,)``."""
        tail, slope = _terms(self.right, self.rule.guesses, epsilon)
        return np.minimum((tail + self.canaries * delta * slope) / self.share, 1.0)

    def at_one_epsilon(self, mu: float) -> AtOneEpsilon:
        """Return the p-value of mu-GDP from the best (epsilon, delta)."""
        epsilons = mu * (_SINGLE + mu / 2)
        tail, slope = _terms(self.right, self.rule.guesses, epsilons)
        p = tail + self._price(epsilons, mu) * slope
        best = int(p.argmin())
        p_value = min(float(p[best]) / self.share, 1.0)
        return AtOneEpsilon(p_value, float(epsilons[best]), float(slope[best]))

    def p_value_of(self, claim: EventClaim) -> float:
        """Return the p-value of a claim over the share."""
        if claim.fixed_delta is not None:
            return float(self.p_value(claim.level, claim.fixed_delta))
        single = self.at_one_epsilon(claim.level)
        if single.p_value >= _HOPELESS:
            return single.p_value
        price = partial(self._price, mu=claim.level)
        several = profiles.p_value(
            self.right, self.rule.guesses, price, single.epsilon, single.weight
        )
        return min(single.p_value, several / self.share)

    def _price(self, epsilons: Floats, mu: float) -> Floats:
        return self.canaries * (np.maximum(gaussian_deltas(epsilons, mu), 0.0) + _ROUNDING)

    def delta(self, epsilon: float, alpha: float) -> float:
        """Return the largest refuted delta at this epsilon; 0 if none is."""
        tail, slope = _terms(self.right, self.rule.guesses, epsilon)
        left = self.share * alpha - float(tail)
        if left <= 0:
            return 0.0
        return left / (self.canaries * float(slope))  # below 1: m slopes are P[W < v] or more


def count(scores: Floats, included: Bools, rules: Sequence[Rule], seed: int) -> list[Counted]:
    """Count the right guesses of each rule.

    ``scores`` and ``included`` have shape ``(m,)``; ``seed`` gives the order of equal scores.
    """
    m = scores.size
    share = share_of(1.0, len(rules))
    ties = generator(seed, "one run", "ties").random(m)
    rising = included[np.lexsort((ties, scores))]
    counted = []
    for rule in rules:
        right = int(rising[m - rule.top :].sum()) + int((~rising[: rule.bottom]).sum())
        counted.append(Counted(rule, right, m, share))
    return counted


def refuted(counted: Sequence[Counted], claim: EventClaim, alpha: float) -> float:
    """Return the last level before the first that is not refuted; -1 where none is.

    Levels are a grid with the claimed one. The levels of a Gaussian claim are halved, as those
    below a refuted one are refuted.
    """
    if claim.fixed_delta is None:
        (only,) = counted

        def stands(level: float) -> bool:
            return only.p_value_of(claim.at(level)) > alpha

        levels = np.union1d(claim.grid[1:], claim.level)
        claimed = int(np.searchsorted(levels, claim.level))
        if stands(claim.level):
            first = bisect_left(levels, True, 0, claimed, key=stands)
        else:
            first = bisect_left(levels, True, claimed, key=stands)
    else:
        levels = np.union1d(claim.grid[::_STRIDE], claim.level)
        p = np.min([rule.p_value(levels, claim.fixed_delta) for rule in counted], axis=0)
        first = int(np.argmax(p > alpha))  # the highest level is never refuted
    return float(levels[first - 1]) if first else -1.0


def _gaussian_level(rule: Rule, canaries: int, least: int, chance: float) -> float:
    """Return the mu of Gaussian noise with ``least`` right guesses or more, with this chance."""
    from scipy.special import betaincinv, ndtri

    r = rule.guesses
    if least > r:
        return math.inf
    q = float(betaincinv(least, r - least + 1, chance)) if least else 0.0
    guessed = canaries if rule.top and rule.bottom else canaries / 2  # in, or out, at the ends
    return float(ndtri(min(q * r / guessed, 1.0)) - ndtri(min((1 - q) * r / guessed, 1.0)))


def independent_mu(scores: Floats, included: Bools, alpha: float, seed: int) -> float:
    """Return a lower end for mu if canaries are independent and their scores Gaussian.

    Nothing tests this: where canaries share the leak, it is too large in far more than ``alpha`` of
    the runs. Half of all canaries are guessed to be in.
    """
    (counted,) = count(scores, included, [Rule.even(scores.size)], seed)
    return max(_gaussian_level(counted.rule, scores.size, counted.right, alpha), 0.0)


def detectable(rules: Sequence[Rule], m: int, claim: EventClaim, alpha: float) -> float | None:
    """Return the smallest level that optimal guesses about m canaries detect with probability 0.9.

    None where no rule can refute the claim, even with all guesses right. Levels of a Gaussian claim
    are those of Gaussian noise.
    """
    from scipy.special import betaincinv, logit

    share = share_of(1.0, len(rules))
    levels = []
    for rule in rules:
        r = rule.guesses
        least = _fewest(rule, m, share, alpha, lambda counted: counted.p_value_of(claim))
        if least > r:
            continue
        if claim.fixed_delta is None:
            levels.append(_gaussian_level(rule, m, least, _POWER))
        else:
            levels.append(float(logit(betaincinv(least, r - least + 1, _POWER))))
    return min(levels, default=None)

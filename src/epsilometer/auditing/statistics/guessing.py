"""Guesses about canaries: who is in the input of a private mechanism cannot be told too often.

Each of m canaries is in the input or not by a fair coin. Who guesses from the output of an
(epsilon, delta)-private mechanism which of them were, r times, and abstains from the others,
guesses right no more often than so: at least v times with probability

    P[W >= v] + m delta P[W >= v] P[W < v] / (v P[W = v])

at most, with W binomial, of r trials at e^epsilon / (1 + e^epsilon). To put one canary in, or to
leave it out, must be what the claim calls neighbours.

Steinke, Nasr and Jagielski, "Privacy auditing with one (1) training run" (2023), show this without
delta (proposition 5.1), and with another second term for delta (theorem 5.2). Ours follows from the
claim by duality. Fix the guesses t, and let k(s) of them be right where s are the coins. With
weights a_k, from coins of k + 1 right guesses to their neighbours of k,

    k a_(k-1) - e^epsilon (r - k) a_k = 1[k >= v] - P[W >= v]          for k = 0, ..., r

has a solution a >= 0, the largest of which is a_(v-1) = P[W >= v] P[W < v] / (v P[W = v]). Weighted
so, the probability of t and v right guesses is at most P[W >= v] times that of t, and a_(v-1) times
what P(t | s) - e^epsilon P(t | s') is above 0, over all neighbours s and s'. Summed over t that is
delta at most, for each of the m 2^m pairs of neighbours, of which each has probability 2^-m.

Small deltas reach it. In the tail, where tests are, it is less than what theorem 5.2 has. In the
middle it can be more, where theorem 5.2 is too little: of three coins at epsilon = 0 some mechanism
lets one guess or more be right with probability 7/8 + 7/8 delta; the theorem has 7/8 + 3/4 delta.

Coins that are 1 with another probability p than 1/2: a guess "in" is right with odds of e^epsilon
p / (1 - p) at most, "out" with e^epsilon (1 - p) / p, whatever the other coins are. If all guesses
are of one kind, the argument stands with these odds, c e^epsilon, in place of e^epsilon, and with
c a_k in place of a_k: all pairs of neighbours still weigh m at most. Guesses of both kinds have the
larger odds; but without delta their number is at most a sum of two binomials, and at v >= r q + 1 a
binomial of r trials at the mean probability q has a larger tail (Hoeffding 1956).

A *rule* says how many of the highest scores are guessed to be in, and how many of the lowest not to
be. It is fixed before anybody looks at who was in; of several, each gets an even share of alpha
(a union bound). To try many and keep the best has no level. Scores that are equal are put in an
order of chance: that of a file may know who was in.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.auditing.statistics.claims import Pure
from epsilometer.errors import ArgumentError
from epsilometer.seeds import generator

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Guesses = int | tuple[int, int]

_LEAST = 10  # guesses of a rule that is not asked for
_POWER = 0.9
_FINE = 5  # every so many levels of a claim's grid are looked at
_UNEVEN = 0.2  # how far from 1/2 probabilities are where ends are better guessed by themselves
_TINY = -600.0  # logarithms of probabilities that are looked at as they are


# --- the probability of so many right guesses -----------------------------------------------------


def p_value(
    right: int, guesses: int, canaries: int, epsilon: float | Floats, delta: float = 0.0
) -> Floats:
    """Return the largest probability of so many right guesses under (epsilon, delta)-privacy.

    Parameters
    ----------
    right, guesses, canaries
        Of so many guesses about so many canaries at least so many are right.
    epsilon, delta
        Of the claim; of several epsilons, of shape ``(k,)``, the answer has their shape.

    >>> float(p_value(10, 10, 20, 0.0))  # ten coins
    0.0009765625
    """
    tail, slope = _terms(right, guesses, epsilon)
    return np.minimum(tail + canaries * delta * slope, 1.0)


def _terms(right: int, guesses: int, epsilon: float | Floats) -> tuple[Floats, Floats]:
    """Return P[W >= v], and P[W >= v] P[W < v] / (v P[W = v])."""
    from scipy.special import betainc, expit, gammaln

    v, r, level = right, guesses, np.asarray(epsilon, float)
    if v <= 0:
        return np.ones(level.shape), np.zeros(level.shape)
    q = expit(level)
    tail, below = betainc(v, r - v + 1, q), betainc(r - v + 1, v, expit(-level))
    log_right = -np.logaddexp(0.0, -level)
    chosen = gammaln(r + 1) - gammaln(v + 1) - gammaln(r - v + 1)
    log_pmf = chosen + v * log_right + (r - v) * (log_right - level)
    with np.errstate(divide="ignore", invalid="ignore"):
        seen = tail / np.exp(np.maximum(log_pmf, _TINY))
        most = (v + 1) * (1 - q) / (v + 1 - q * (r + 1))  # of a geometric series, far in the tail
    ratio = np.where(log_pmf > _TINY, seen, np.where(tail < below, most, 0.0))
    return tail, ratio * below / v


# --- rules ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """So many of the highest scores are guessed to be in, so many of the lowest not to be."""

    top: int
    bottom: int

    @property
    def guesses(self) -> int:
        """How many there are."""
        return self.top + self.bottom

    def words(self) -> str:
        """Say it in a line."""
        parts = []
        if self.top:
            parts.append(f"the {self.top} highest scores as in")
        if self.bottom:
            parts.append(f"the {self.bottom} lowest as out")
        return ", ".join(parts)


def rules_of(canaries: int, claim: Pure, alpha: float, probability: float = 0.5) -> list[Rule]:
    """Return the rules that are tried where none is asked for, whatever the scores are.

    All canaries, a half of them, a quarter, and so on: from both ends evenly, or from either where
    coins are far from fair, or not fair and delta is not 0. Without those that could not refute the
    claim if all guesses were right.

    >>> [rule.guesses for rule in rules_of(80, Pure(1.0), 0.05)]
    [80, 40, 20]
    """
    found, guesses = [], canaries
    while guesses >= _LEAST:
        if probability != 0.5 and (claim.delta > 0 or abs(probability - 0.5) > _UNEVEN):
            found += [Rule(guesses, 0), Rule(0, guesses)]
        else:
            found += [Rule(guesses - guesses // 2, guesses // 2)]
        guesses //= 2

    def may_refute(rule: Rule) -> bool:
        most = Counted(rule, rule.guesses, canaries, 1 / len(found), probability)
        return bool(most.p_value(claim.epsilon, claim.delta) <= alpha)

    return list(filter(may_refute, found)) or found[:1]


def asked_rules(
    guesses: Guesses | None, canaries: int, claim: Pure, alpha: float, probability: float = 0.5
) -> list[Rule]:
    """Return the rule that is asked for, or those of `rules_of`."""
    if guesses is None:
        return rules_of(canaries, claim, alpha, probability)
    if isinstance(guesses, Sequence) and not isinstance(guesses, str):
        if len(guesses) != 2:
            raise ArgumentError("guesses", f"must be one number or two, got {len(guesses)}")
        top, bottom = (checks.integer("guesses", one, minimum=0) for one in guesses)
    else:
        number = checks.integer("guesses", guesses)
        top, bottom = number - number // 2, number // 2
    if not 1 <= top + bottom <= canaries:
        message = f"must be 1 to {canaries}, as many as there are canaries, got {top + bottom}"
        raise ArgumentError("guesses", message)
    return [Rule(top, bottom)]


@dataclass(frozen=True)
class Counted:
    """How many guesses of a rule are right, of so many canaries that were in with a probability.

    ``share`` is the rule's part of alpha.
    """

    rule: Rule
    right: int
    canaries: int
    share: float
    probability: float = 0.5

    def p_value(self, epsilon: float | Floats, delta: float) -> Floats:
        """Return the p-value of a claim, for this share; of several, shape ``(k,)``."""
        level, odds = self._level(epsilon, delta)
        tail, slope = _terms(self.right, self.rule.guesses, level)
        found = tail + self.canaries * delta * odds * slope
        if level is not epsilon and not delta:  # Hoeffding's theorem is for what is above the mean
            found = np.where(self.right < self.rule.guesses / (1 + np.exp(-level)) + 1, 1.0, found)
        return np.minimum(found / self.share, 1.0)

    def delta(self, epsilon: float, alpha: float) -> float:
        """Return the delta up to which all are refuted at this epsilon; 0 if none is."""
        level, odds = self._level(epsilon, 1.0)
        tail, slope = _terms(self.right, self.rule.guesses, level)
        left = self.share * alpha - float(tail)
        if left <= 0 or slope <= 0:
            return 0.0
        return min(left / (self.canaries * odds * float(slope)), 1.0)

    def _level(self, epsilon: float | Floats, delta: float) -> tuple[float | Floats, float]:
        """Return the log of the odds of a right guess, and what they are of e^epsilon."""
        shift = math.log(self.probability / (1 - self.probability))
        both = bool(self.rule.top and self.rule.bottom)
        if both and shift and not delta:
            return mean_level(self.rule, self.probability, epsilon), 1.0
        shift = abs(shift) if both else shift if self.rule.top else -shift
        return (np.add(epsilon, shift) if shift else epsilon), math.exp(shift)


def mean_level(rule: Rule, probability: float, epsilon: float | Floats) -> Floats:
    """Return the log of the odds of a guess of this rule, where all are as good as can be."""
    from scipy.special import expit

    shift = math.log(probability / (1 - probability))
    right, wrong = (
        rule.top * expit(sign * (np.asarray(epsilon, float) + shift))
        + rule.bottom * expit(sign * (np.asarray(epsilon, float) - shift))
        for sign in (1, -1)
    )
    return np.asarray(np.log(right) - np.log(wrong))


def count(
    scores: Floats, included: Bools, rules: Sequence[Rule], seed: int, probability: float = 0.5
) -> list[Counted]:
    """Return how many guesses of each rule are right.

    ``scores`` and ``included`` have shape ``(m,)``; ``seed`` is of the order of equal scores,
    ``probability`` that of a canary to be in.
    """
    m = scores.size
    chance = generator(seed, "one run", "ties").random(m)
    rising = included[np.lexsort((chance, scores))]
    found = []
    for rule in rules:
        right = int(rising[m - rule.top :].sum()) + int((~rising[: rule.bottom]).sum())
        found.append(Counted(rule, right, m, 1 / len(rules), probability))
    return found


# --- levels ---------------------------------------------------------------------------------------


def refuted(counted: Sequence[Counted], claim: Pure, alpha: float) -> float:
    """Return the epsilon up to which all are refuted; -1 where none is.

    Of a grid of levels, in which the claim's own is: the last before the first that is not.
    """
    levels = np.union1d(claim.grid()[::_FINE], claim.epsilon)
    p = np.min([one.p_value(levels, claim.delta) for one in counted], axis=0)
    first = int(np.argmax(p > alpha))  # the highest level is never refuted
    return float(levels[first - 1]) if first else -1.0


def detectable(
    rules: Sequence[Rule], canaries: int, claim: Pure, alpha: float, probability: float = 0.5
) -> float | None:
    """Return the smallest epsilon that is found with probability .9, by guesses that are as good.

    None where no rule can refute the claim, whatever is guessed right.
    """
    from scipy.special import betaincinv, logit

    def found(rule: Rule) -> float | None:
        r = rule.guesses

        def enough(right: int) -> bool:
            seen = Counted(rule, right, canaries, 1 / len(rules), probability)
            return bool(seen.p_value(claim.epsilon, claim.delta) <= alpha)

        least = bisect_left(range(r + 1), True, key=enough)
        if least > r:
            return None
        odds = float(logit(betaincinv(least, r - least + 1, _POWER)))
        if probability == 0.5:
            return odds
        levels = np.linspace(0, 2 * abs(odds) + 10, 10_000)
        return float(np.interp(odds, mean_level(rule, probability, levels), levels))

    return min((level for level in map(found, rules) if level is not None), default=None)

"""Guesses about canaries: who is in the input of a private mechanism cannot be told too often.

Who guesses from the output of an (epsilon, delta)-private mechanism which of m canaries were in its
input, each by a fair coin, and abstains where it pleases, guesses right no more often than this. Of
r guesses at least v are right with probability

    P[W >= v] + 2 m delta max_i P[v - i <= W < v] / i        for i = 1, ..., m

at most, with W binomial, of r trials at e^epsilon / (1 + e^epsilon): theorem 5.2 of Steinke, Nasr
and Jagielski, "Privacy auditing with one (1) training run" (2023). To put one canary in, or to
leave it out, must be what the claim calls neighbours.

A *rule* says how many of the highest scores are guessed to be in, and how many of the lowest not to
be. It is fixed before anybody looks at who was in; of several, each gets an even share of alpha
(a union bound). To try many and keep the best has no level. Scores that are equal are put in an
order of chance: that of a file may know who was in.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.audit.claims import Pure
from epsilometer.errors import ArgumentError
from epsilometer.seeds import generator

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Guesses = int | tuple[int, int]

_LEAST = 10  # guesses of a rule that is not asked for
_POWER = 0.9
_MOST = 300.0  # the largest epsilon that is claimed
_FINE = 1e-4
_STEPS = np.concatenate(
    [np.arange(0, 1, 0.01), 1.01 ** np.arange(math.ceil(math.log(_MOST, 1.01)))]
)


# --- the theorem ----------------------------------------------------------------------------------


def p_value(right: int, guesses: int, canaries: int, epsilon: float, delta: float = 0.0) -> float:
    """Return the probability of so many right guesses, at most, under (epsilon, delta)-privacy.

    Parameters
    ----------
    right, guesses, canaries
        Of so many guesses about so many canaries at least so many are right.
    epsilon, delta
        Of the claim.

    >>> p_value(10, 10, 20, 0.0)  # ten coins
    0.0009765625
    """
    tail, slope = _terms(right, guesses, epsilon, delta > 0)
    return min(tail + 2 * canaries * delta * slope, 1.0)


def _terms(right: int, guesses: int, epsilon: float, slope: bool) -> tuple[float, float]:
    """Return P[W >= v], and where it is asked for the largest P[v - i <= W < v] / i."""
    from scipy.special import betainc, expit, gammaln

    v, r = right, guesses
    if v <= 0:
        return 1.0, 0.0
    tail = float(betainc(v, r - v + 1, expit(epsilon)))
    if not slope:
        return tail, 0.0
    below = np.arange(v - 1, -1, -1, dtype=float)  # W = v - 1, ..., 0
    chosen = gammaln(r + 1) - gammaln(below + 1) - gammaln(r - below + 1)
    log_right = -np.logaddexp(0.0, -epsilon)
    log_pmf = chosen + below * log_right + (r - below) * (log_right - epsilon)
    return tail, float(np.max(np.cumsum(np.exp(log_pmf)) / np.arange(1, v + 1)))


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


def rules_of(canaries: int, claim: Pure, alpha: float) -> list[Rule]:
    """Return the rules that are tried where none is asked for, whatever the scores are.

    All canaries, a half of them, a quarter, and so on: from both ends evenly, and from the top.
    Without those that could not refute the claim if all guesses were right.

    >>> [rule.guesses for rule in rules_of(80, Pure(1.0), 0.05)]
    [80, 40, 40, 20, 20]
    """
    found = [Rule(canaries - canaries // 2, canaries // 2)]
    guesses = canaries // 2
    while guesses >= _LEAST:
        found += [Rule(guesses - guesses // 2, guesses // 2), Rule(guesses, 0)]
        guesses //= 2

    def may_refute(rule: Rule) -> bool:
        r = rule.guesses
        return p_value(r, r, canaries, claim.epsilon, claim.delta) <= alpha / len(found)

    return list(filter(may_refute, found)) or found[:1]


def asked_rules(guesses: Guesses | None, canaries: int, claim: Pure, alpha: float) -> list[Rule]:
    """Return the rule that is asked for, or those of `rules_of`."""
    if guesses is None:
        return rules_of(canaries, claim, alpha)
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
    """How many guesses of a rule are right, of so many canaries; ``share`` is its part of alpha."""

    rule: Rule
    right: int
    canaries: int
    share: float

    def p_value(self, epsilon: float, delta: float) -> float:
        """Return the p-value of a claim, for this share."""
        found = p_value(self.right, self.rule.guesses, self.canaries, epsilon, delta)
        return min(found / self.share, 1.0)

    def delta(self, epsilon: float, alpha: float) -> float:
        """Return the delta up to which all are refuted at this epsilon; 0 if none is."""
        tail, slope = _terms(self.right, self.rule.guesses, epsilon, True)
        left = self.share * alpha - tail
        return min(max(left / (2 * self.canaries * slope), 0.0), 1.0) if slope > 0 else 0.0


def count(scores: Floats, included: Bools, rules: Sequence[Rule], seed: int) -> list[Counted]:
    """Return how many guesses of each rule are right.

    ``scores`` and ``included`` have shape ``(m,)``; ``seed`` is of the order of equal scores.
    """
    m = scores.size
    chance = generator(seed, "one run", "ties").random(m)
    rising = included[np.lexsort((chance, scores))]
    found = []
    for rule in rules:
        right = int(rising[m - rule.top :].sum()) + int((~rising[: rule.bottom]).sum())
        found.append(Counted(rule, right, m, 1 / len(rules)))
    return found


# --- levels ---------------------------------------------------------------------------------------


def _smallest(test: Callable[[float], bool], low: float, high: float) -> float:
    """Return, from below, where a test begins to hold that is monotone."""
    while high - low > _FINE * max(high, 1e-2):
        middle = (low + high) / 2
        low, high = (low, middle) if test(middle) else (middle, high)
    return low


def refuted(p: Callable[[float], float], claimed: float, alpha: float, mixes: bool) -> float:
    """Return the epsilon up to which all are refuted; -1 where none is.

    Where ``mixes``, 2 m delta < 1, the p-value is the largest of mixtures of two binomial tails,
    and rises with epsilon. Elsewhere levels are gone through from below, that which is claimed
    among them, and the first that is not refuted ends it.
    """
    last = -1.0
    if not mixes:
        for level in np.union1d(_STEPS, claimed):
            if p(level) > alpha:
                break
            last = float(level)
        return last
    if p(claimed) <= alpha:
        last = claimed
    elif p(0.0) <= alpha:
        last = 0.0
    else:
        return last
    high = _MOST if last == claimed else claimed
    return _smallest(lambda level: p(level) > alpha, last, high)


def detectable(rules: Sequence[Rule], canaries: int, claim: Pure, alpha: float) -> float | None:
    """Return the smallest epsilon that is found with probability .9, by guesses that are as good.

    None where a rule cannot refute the claim, whatever is guessed right.
    """
    from scipy.special import betainc, expit

    levels = []
    for rule in rules:
        r = rule.guesses

        def enough(right: int, r: int = r) -> bool:
            p = p_value(right, r, canaries, claim.epsilon, claim.delta)
            return p <= alpha / len(rules)

        least = bisect_left(range(r + 1), True, key=enough)

        def shows(level: float, r: int = r, v: int = least) -> bool:
            return bool(betainc(v, r - v + 1, expit(level)) >= _POWER)

        if least <= r:
            found = _smallest(shows, claim.epsilon, _MOST)
            levels.append(found * (1 + 2 * _FINE))
    return min(levels, default=None)

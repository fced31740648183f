"""Exact distributions of mechanisms with finitely many outputs."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from epsilometer import checks
from epsilometer.exact import levels
from epsilometer.exact.levels import Comparison
from epsilometer.mechanisms.finite import (
    BernoulliPair,
    CountingExponential,
    RandomizedBits,
    RandomizedResponse,
    RareMatch,
)
from epsilometer.numerics.arrays import Floats

_MOST_PEOPLE = 20  # 2^20 vectors are enumerated


class Enumerated(ABC):
    """Levels by enumeration of the outputs."""

    def __init__(self, mechanism: Any) -> None:  # noqa: B027 (some have no parameters)
        """Take the mechanism."""

    @abstractmethod
    def compare(self, x: Any, x_prime: Any) -> Comparison:
        """Return both inputs' log probabilities of the same outputs, and the losses."""

    def probabilities(self, x: Any) -> Floats:
        """Return the probabilities of 0, ..., k - 1 at input ``x``, of shape ``(k,)``."""
        return np.asarray(np.exp(self._compared(x, x).log_p))

    def _compared(self, x: Any, x_prime: Any) -> Comparison:
        """Return the comparison, computed once for a pair."""
        cache: dict[tuple[str, str], Comparison] = self.__dict__.setdefault("_cache", {})
        key = repr(x), repr(x_prime)
        if key not in cache:
            cache[key] = levels.completed(self.compare(x, x_prime))
            cache[key[::-1]] = cache[key].reversed()
        return cache[key]

    def privacy_loss(self, x: Any, x_prime: Any) -> float:
        """Return the largest log ratio; infinity if x can do what x' cannot."""
        return levels.privacy_loss(self._compared(x, x_prime))

    def renyi(self, order: float, x: Any, x_prime: Any) -> float:
        """Return log sum p^order q^(1-order) / (order - 1)."""
        return levels.renyi(order, self._compared(x, x_prime))

    def spectrum(self, claims: Floats, x: Any, x_prime: Any) -> Floats:
        """Return sum p (1 - exp(e - loss))+ for each claim e."""
        return levels.deltas(claims, self._compared(x, x_prime))


class ExactRandomizedResponse(Enumerated):
    """k-ary randomised response."""

    def __init__(self, mechanism: RandomizedResponse) -> None:
        self._outcomes = mechanism.outcomes
        self._epsilon = mechanism.epsilon

    @property
    def smallest_probability(self) -> float:
        """The least likely answer's probability, the lower bound that Remark 2 asks for."""
        rare = math.exp(-self._epsilon)
        return rare / (1 + (self._outcomes - 1) * rare)

    def compare(self, x: int, x_prime: int) -> Comparison:
        """Return losses of epsilon at x, -epsilon at x', and 0 elsewhere."""
        truthful = -math.log1p((self._outcomes - 1) * math.exp(-self._epsilon))
        lies = -self._epsilon * (np.arange(self._outcomes)[:, None] != [x, x_prime])
        return Comparison(truthful + lies[:, 0], truthful + lies[:, 1], lies[:, 0] - lies[:, 1])


class ExactRandomizedBits(Enumerated):
    """Randomised response of all people, shuffled or not: vectors with bit i for person i.

    With d answers flipped a vector has probability exp(-epsilon d) / (1 + exp(-epsilon))^people.
    """

    def __init__(self, mechanism: RandomizedBits) -> None:
        checks.integer("people", mechanism.people, maximum=_MOST_PEOPLE)
        self._mechanism = mechanism

    def compare(self, x: Sequence[int], x_prime: Sequence[int]) -> Comparison:
        """Return the loss epsilon (d' - d), or shuffled that of the mixtures over d."""
        m = self._mechanism
        vectors = (np.arange(1 << m.people)[:, None] >> np.arange(m.people)) & 1
        best = -m.people * math.log1p(math.exp(-m.epsilon))
        if not m.shuffled:
            d = (vectors != np.asarray(x)).sum(axis=1)
            d_prime = (vectors != np.asarray(x_prime)).sum(axis=1)
            loss = m.epsilon * (d_prime - d)
            return Comparison(best - m.epsilon * d, best - m.epsilon * d_prime, loss)
        p = self._flips(sum(x))
        q = self._flips(sum(x_prime))
        flips = np.arange(m.people + 1)
        with np.errstate(divide="ignore"):
            log_p = levels.log_sum(np.log(p) - m.epsilon * flips)
            log_q = levels.log_sum(np.log(q) - m.epsilon * flips)
        # the differences of chances sum to 0: only terms beyond the fewest flips count
        fewest = np.argmax(p + q > 0, axis=1)[:, None]
        excess = np.expm1(-m.epsilon * np.maximum(flips - fewest, 0))
        with np.errstate(over="ignore"):
            rise = ((p - q) * excess).sum(axis=1) * np.exp(-m.epsilon * fewest[:, 0] - log_q)
        loss = np.where(np.abs(rise) < 0.5, np.log1p(rise.clip(-0.5, 0.5)), log_p - log_q)
        ones = vectors.sum(axis=1)
        return Comparison(best + log_p[ones], best + log_q[ones], loss[ones])

    def _flips(self, true_ones: int) -> Floats:
        """Return the chance that a random vector with t ones is d flips away, of shape (t, d)."""
        n = self._mechanism.people
        chances = np.zeros((n + 1, n + 1))
        for t, of_flips in enumerate(chances):
            for kept in range(max(0, true_ones + t - n), min(true_ones, t) + 1):
                ways = math.comb(true_ones, kept) * math.comb(n - true_ones, t - kept)
                of_flips[true_ones + t - 2 * kept] = ways / math.comb(n, t)
        return chances


class ExactBernoulliPair(Enumerated):
    """The adversarial pair of coins of Theorems 1 and 5."""

    def __init__(self, mechanism: BernoulliPair) -> None:
        self._chances = mechanism.chances
        self._gap = mechanism.epsilon  # between the logarithms of the chances
        if math.isfinite(mechanism.order):
            self._gap -= math.log(self._chances[0]) / (mechanism.order - 1)

    @property
    def smallest_probability(self) -> float:
        """The rarer coin's chance of a 1."""
        return min(self._chances)

    def compare(self, x: int, x_prime: int) -> Comparison:
        """Return the losses of input 0 from 1: log (1 - p) / (1 - q) at 0, and the gap at 1.

        p and q are the chances of a 1 at the inputs 0 and 1. The other way losses are opposite.
        """
        p, q = self._chances
        log_laws = [
            np.array([math.log1p(-p), math.log(p)]),
            np.array([math.log1p(-q), math.log(p) - self._gap]),
        ]
        at_0 = math.log1p(p * math.expm1(-self._gap) / (1 - q))
        loss = np.array([at_0, self._gap])
        return Comparison(log_laws[x], log_laws[x_prime], np.sign(x_prime - x) * loss)


class ExactRareMatch(Enumerated):
    """The mechanism that reveals a match with probability e^-rarity."""

    def __init__(self, mechanism: RareMatch) -> None:
        self._rarity = mechanism.rarity

    def compare(self, x: int, x_prime: int) -> Comparison:
        """Return the log probabilities, from e^-rarity's own logarithm."""
        if self._rarity < 1:
            never = math.log(-math.expm1(-self._rarity))
        else:
            never = math.log1p(-math.exp(-self._rarity))
        laws = np.array([0.0, -np.inf]), np.array([never, -self._rarity])
        return levels.compared(laws[x], laws[x_prime])


class ExactCountingExponential(Enumerated):
    """The exponential mechanism with a counting query."""

    def __init__(self, mechanism: CountingExponential) -> None:
        self._epsilon = mechanism.epsilon
        self._values = mechanism.values

    def _counts(self, x: Sequence[int]) -> Floats:
        return np.array([list(x).count(value) for value in range(self._values)], float)

    def compare(self, x: Sequence[int], x_prime: Sequence[int]) -> Comparison:
        """Return the losses: those of the weights, less that of their sums."""
        p = self._epsilon * self._counts(x) / 2
        q = self._epsilon * self._counts(x_prime) / 2
        shift = self._epsilon * (self._counts(x) - self._counts(x_prime)) / 2
        sums = levels.total(p, q, shift)
        return Comparison(p - sums.log_p, q - sums.log_q, shift - sums.loss)


class ExactNoiselessCount(Enumerated):
    """The known bit plus a binomial number of ones."""

    def probabilities(self, x: Sequence[int]) -> Floats:
        rows, bit = x
        from scipy.stats import binom  # slow to import, and needed here only

        return np.asarray(binom.pmf(np.arange(rows + 1) - bit, rows - 1, 0.5), np.float64)

    def compare(self, x: Sequence[int], x_prime: Sequence[int]) -> Comparison:
        size = max(x[0], x_prime[0]) + 1
        p = np.pad(self.probabilities(x), (0, size - x[0] - 1))
        q = np.pad(self.probabilities(x_prime), (0, size - x_prime[0] - 1))
        with np.errstate(divide="ignore"):
            log_p = np.log(p)
            log_q = np.log(q)
        return levels.compared(log_p, log_q)


class ExactRandomRows(Enumerated):
    """A sum of independent bits."""

    def probabilities(self, x: Sequence[float]) -> Floats:
        law = np.ones(1)
        for chance in x:
            law = np.append(law * (1 - chance), 0.0) + np.append(0.0, law * chance)
        return law

    def compare(self, x: Sequence[float], x_prime: Sequence[float]) -> Comparison:
        with np.errstate(divide="ignore"):
            log_p = np.log(self.probabilities(x))
            log_q = np.log(self.probabilities(x_prime))
        return levels.compared(log_p, log_q)

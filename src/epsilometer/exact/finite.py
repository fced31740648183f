"""Exact laws of mechanisms with finitely many outputs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax

from epsilometer import checks
from epsilometer.errors import ArgumentError
from epsilometer.exact.base import Floats
from epsilometer.mechanisms.bernoulli_pair import BernoulliPair
from epsilometer.mechanisms.counting_exponential import CountingExponential
from epsilometer.mechanisms.random_rows import NoiselessCount
from epsilometer.mechanisms.randomized_bits import RandomizedBits
from epsilometer.mechanisms.randomized_response import RandomizedResponse
from epsilometer.mechanisms.rare_match import RareMatch

_MOST_PEOPLE = 20  # 2^20 vectors are enumerated


class Enumerated(ABC):
    """Levels by enumeration of the outputs."""

    @abstractmethod
    def probabilities(self, x: Any) -> Floats:
        """Return the probabilities of 0, ..., k - 1 at input ``x``."""

    def _known(self, x: Any) -> Floats:
        """Return the probabilities, worked out once for an input."""
        known: dict[str, Floats] = self.__dict__.setdefault("_worked_out", {})
        key = repr(x)
        if key not in known:
            known[key] = self.probabilities(x)
        return known[key]

    def both(self, x: Any, x_prime: Any) -> tuple[Floats, Floats]:
        """Return both inputs' probabilities of the same outputs, those of either."""
        p, q = self._known(x), self._known(x_prime)
        size = max(p.size, q.size)
        return np.pad(p, (0, size - p.size)), np.pad(q, (0, size - q.size))

    def privacy_loss(self, x: Any, x_prime: Any) -> float:
        """Return the largest log ratio; infinity if x can do what x' cannot."""
        p, q = self.both(x, x_prime)
        with np.errstate(divide="ignore"):
            return float((np.log(p[p > 0]) - np.log(q[p > 0])).max())

    def renyi(self, order: float, x: Any, x_prime: Any) -> float:
        """Return log sum p^order q^(1-order) / (order - 1)."""
        order = checks.order("order", order, finite=True)
        p, q = self.both(x, x_prime)
        with np.errstate(divide="ignore"):
            terms = order * np.log(p[p > 0]) + (1 - order) * np.log(q[p > 0])
        return float(logsumexp(terms)) / (order - 1)

    def spectrum(self, claims: Floats, x: Any, x_prime: Any) -> Floats:
        """Return sum (p - exp(e) q)+ for each claim e."""
        p, q = self.both(x, x_prime)
        delta: Floats = np.maximum(p - np.exp(claims)[:, None] * q, 0.0).sum(axis=1)
        return delta


class RandomizedResponseLaw(Enumerated):
    """k-ary randomised response."""

    def __init__(self, mechanism: RandomizedResponse) -> None:
        self._outcomes, self._epsilon = mechanism.outcomes, mechanism.epsilon

    @property
    def smallest_probability(self) -> float:
        """The least likely answer's probability, the lower bound that Remark 2 asks for."""
        rare = math.exp(-self._epsilon)
        return rare / (1 + (self._outcomes - 1) * rare)

    def probabilities(self, x: int) -> Floats:
        """Return the k probabilities at input ``x``."""
        probabilities = np.full(self._outcomes, self.smallest_probability)
        probabilities[x] = 1 / (1 + (self._outcomes - 1) * math.exp(-self._epsilon))
        return probabilities


class RandomizedBitsLaw(Enumerated):
    """Everybody's randomised response, as it is or shuffled."""

    def __init__(self, mechanism: RandomizedBits) -> None:
        if mechanism.people > _MOST_PEOPLE:
            raise ArgumentError("people", f"must be at most {_MOST_PEOPLE} for an exact law")
        self._mechanism = mechanism

    def probabilities(self, x: Sequence[int]) -> Floats:
        """Return the probabilities of the 2^people vectors, bit i for person i."""
        m = self._mechanism
        vectors = (np.arange(1 << m.people)[:, None] >> np.arange(m.people)) & 1
        kept = np.where(vectors == np.asarray(x), m.truthful, 1 - m.truthful).prod(axis=1)
        if not m.shuffled:
            return np.asarray(kept, np.float64)
        ones = vectors.sum(axis=1)  # shuffled, vectors with as many ones are equally likely
        totals = np.bincount(ones, kept)
        return np.asarray(totals[ones] / np.bincount(ones)[ones], np.float64)


class BernoulliPairLaw(Enumerated):
    """The adversarial pair of coins of Theorems 1 and 5."""

    def __init__(self, mechanism: BernoulliPair) -> None:
        self._chances = mechanism.chances

    @property
    def smallest_probability(self) -> float:
        """The rarer coin's chance of a 1."""
        return min(self._chances)

    def probabilities(self, x: int) -> Floats:
        """Return the probabilities of 0 and 1 at input ``x``."""
        return np.array([1 - self._chances[x], self._chances[x]])


class RareMatchLaw(Enumerated):
    """The mechanism that gives itself away with probability e^-rarity."""

    def __init__(self, mechanism: RareMatch) -> None:
        self._chance = mechanism.chance

    def probabilities(self, x: int) -> Floats:
        """Return the probabilities of 0 and 1 at input ``x``."""
        return np.array([1 - x * self._chance, x * self._chance])


class CountingExponentialLaw(Enumerated):
    """The exponential mechanism with a counting query."""

    def __init__(self, mechanism: CountingExponential) -> None:
        self._epsilon, self._values = mechanism.epsilon, mechanism.values

    def probabilities(self, x: Sequence[int]) -> Floats:
        """Return the probabilities of the values."""
        counts = [list(x).count(value) for value in range(self._values)]
        return np.asarray(softmax(self._epsilon * np.array(counts) / 2), np.float64)


class NoiselessCountLaw(Enumerated):
    """The known bit plus a binomial number of ones."""

    def __init__(self, mechanism: NoiselessCount) -> None:
        """Take any: the count has no parameters."""

    def probabilities(self, x: Sequence[int]) -> Floats:
        """Return the probabilities of 0, ..., m ones."""
        rows, bit = x
        from scipy.stats import binom  # half a second to import, for this law only

        return np.asarray(binom.pmf(np.arange(rows + 1) - bit, rows - 1, 0.5), np.float64)

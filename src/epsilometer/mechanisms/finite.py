"""Mechanisms with finitely many outputs, which are integers."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.checks import Checked, Count, Flag, Fractional, Order, Positive, Several
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs, check_list, check_people
from epsilometer.mechanisms.noise import Noise, blocks
from epsilometer.numerics.arrays import Floats, Indices
from epsilometer.numerics.compiled import compiled


@dataclass(frozen=True)
class RandomizedResponse(Checked):
    """Randomised response over ``outcomes`` values 0, ..., k - 1 (gorla2022, Remark 2).

    The truth has probability e^epsilon / (e^epsilon + k - 1); k = 2 is Warner's.
    """

    outputs: ClassVar[Outputs] = "index"
    epsilon: Positive
    outcomes: Several = 2

    def check_input(self, x: object) -> None:
        checks.integer("input", x, minimum=0, maximum=self.outcomes - 1)

    def sample(self, x: int, size: int, rng: np.random.Generator) -> Indices:
        truthful = 1 / (1 + (self.outcomes - 1) * math.exp(-self.epsilon))
        keep = rng.random(size) < truthful
        others = rng.integers(0, self.outcomes - 1, size, dtype=np.int32)
        others += others >= x  # skips the true value
        return np.where(keep, np.int32(x), others)


class _Coins(Checked):
    """A coin for each of the inputs 0 and 1, which answers 1 with its chance, and else 0."""

    @property
    @abstractmethod
    def chances(self) -> tuple[float, float]:
        """Probability of the output 1 at input 0 and at input 1."""

    def check_input(self, x: object) -> None:
        checks.integer("input", x, minimum=0, maximum=1)

    def sample(self, x: int, size: int, rng: np.random.Generator) -> Indices:
        return (rng.random(size) < self.chances[x]).astype(np.int32)


@dataclass(frozen=True)
class BernoulliPair(_Coins):
    """A pair of coins that no estimator of at most ``budget`` draws can tell from a constant.

    gorla2022, Theorems 1 and 5. For pure privacy (order infinity) input 0 answers 1 with
    probability d and input 1 with probability d/h; for Rényi order a with d^(1/a) and
    d^(1/(a-1))/h. For any h, the true level is at least log h, and an estimator that sees only
    zeros cannot know h. The budget is of both inputs together; ``epsilon`` is log h, ``delta`` the
    confidence that the estimator claims, and ``order`` the Rényi order that it estimates.

    Erratum: the proof of Theorem 5 bounds d^(1/a) by d^(1/(a-1)), which holds the other way round
    for d < 1, and its d = ((1 - rho)/n0)^(a-1) lets ones appear (for a = 2 the coin shows about
    sqrt(n0) of them). Here d = ((1 - rho)/n0)^a, so that the likelier coin answers 1 with
    probability (1 - rho)/n0 at every order, as the argument needs.
    """

    outputs: ClassVar[Outputs] = "index"
    epsilon: Positive
    budget: Count
    delta: Fractional
    order: Order = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.chances) == 0:
            raise ArgumentError("epsilon", "and order make an output too rare for a number")

    @classmethod
    def against(
        cls, answer: float, *, gamma: float, budget: int, delta: float, order: float = math.inf
    ) -> BernoulliPair:
        """Build the pair for an estimator whose answer to zeros only is ``answer``.

        Its error is then 2 ``gamma`` with probability above 1 - ``delta``.
        """
        level = max(checks.real("answer", answer), 0.0) + 2 * checks.positive("gamma", gamma)
        return cls(level, budget, delta, order)

    @property
    def chances(self) -> tuple[float, float]:
        """Probability of the output 1 at input 0 and at input 1."""
        rho = (1 - self.delta) ** (1 / 3)
        likely = (1 - rho) / self.budget
        if math.isinf(self.order):
            return likely, likely * math.exp(-self.epsilon)
        d = likely**self.order
        return likely, d ** (1 / (self.order - 1)) * math.exp(-self.epsilon)


@dataclass(frozen=True)
class RareMatch(_Coins):
    """Answers 1 with probability e^-rarity if the input matches (1), and 0 otherwise.

    It is not private at any epsilon: an answer 1 proves the match. But the leak is so rare that no
    sample shows it (askin2022, Example 2).
    """

    outputs: ClassVar[Outputs] = "index"
    epsilon: Positive
    rarity: Positive

    @property
    def chances(self) -> tuple[float, float]:
        """Probability of the output 1 at input 0 and at input 1."""
        return 0.0, math.exp(-self.rarity)


@dataclass(frozen=True)
class CountingExponential(Checked):
    """The exponential mechanism for the most frequent value of a database (lu2022, Figure 5a).

    Value v has probability proportional to exp(epsilon * count of v / 2). A database is a list of
    values 0, ..., ``values`` - 1; its length may be any.
    """

    outputs: ClassVar[Outputs] = "index"
    epsilon: Positive
    values: Several = 3

    def check_input(self, x: object) -> None:
        for value in check_list(x, "values"):
            if checks.integer("input", value, minimum=0) >= self.values:
                raise ArgumentError("input", f"must hold values below {self.values}, got {value!r}")

    def weights(self, x: Sequence[int]) -> Floats:
        scores = self.epsilon / 2 * np.bincount(np.asarray(x, int), minlength=self.values)
        weights: Floats = np.exp(scores - scores.max())
        return np.asarray(weights / weights.sum(), np.float64)

    def sample(self, x: Sequence[int], size: int, rng: np.random.Generator) -> Indices:
        steps = np.cumsum(self.weights(x))[:-1]
        return np.searchsorted(steps, rng.random(size), side="right").astype(np.int32)


@dataclass(frozen=True)
class NoiselessCount(Checked):
    """How many of m rows hold a one: one row is known, each other is a one with probability 1/2.

    An input is ``[m, bit of the known row]``. The count is exact, so privacy comes from the other
    rows: distributional privacy of the histogram of bits (lu2022, Section 8.3). ``epsilon`` is only
    the level to compare it with.
    """

    outputs: ClassVar[Outputs] = "index"
    epsilon: Positive

    def check_input(self, x: object) -> None:
        rows, bit = check_list(x, "numbers: rows, bit of the known row", 2)
        checks.integer("input", rows)
        checks.integer("input", bit, minimum=0, maximum=1)

    def sample(self, x: Sequence[int], size: int, rng: np.random.Generator) -> Indices:
        return (x[1] + rng.binomial(x[0] - 1, 0.5, size)).astype(np.int32)


@dataclass(frozen=True)
class RandomRows(Checked):
    """How many rows hold a one, where row i does with probability ``x[i]``, independently.

    The count under distributional privacy (lu2022, Definition 4): a known row has probability 0 or
    1. ``epsilon`` is only the level to compare it with.
    """

    outputs: ClassVar[Outputs] = "index"
    epsilon: Positive

    def check_input(self, x: object) -> None:
        check_people(x)

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Indices:
        ones = np.zeros(size, np.int32)
        for chance in x:
            ones += rng.random(size) < chance
        return ones


@dataclass(frozen=True)
class RandomizedBits(Checked):
    """Each person's bit, kept with probability e^epsilon / (1 + e^epsilon): bit i for person i.

    ``shuffled`` permutes the answers at random (kutta2022, rows vi and vii).
    """

    outputs: ClassVar[Outputs] = "index"
    epsilon: Positive
    people: Annotated[int, partial(checks.integer, maximum=30)] = 10  # bits of an output
    shuffled: Flag = False

    @property
    def truthful(self) -> float:
        """The probability that an answer is kept."""
        return 1 / (1 + math.exp(-self.epsilon))

    def check_input(self, x: object) -> None:
        if not set(check_people(x, self.people)) <= {0, 1}:
            raise ArgumentError("input", f"must hold zeros and ones, got {x!r}")

    def sample(self, x: Sequence[int], size: int, rng: np.random.Generator) -> Indices:
        noise = Noise(rng)
        bits = np.asarray(x, np.int32)
        swaps = self.people // 2 if self.shuffled else 0  # each word serves two swaps
        outputs = np.zeros(size, np.int32)
        for block in blocks(size, self.people + swaps):
            answers = outputs[block]
            _respond(answers, bits, self.truthful, noise.words(self.people, answers.size))
            if swaps:
                halves = noise.words(swaps, answers.size).view(np.uint32)
                _shuffle(answers, halves.reshape(2 * swaps, answers.size), self.people)
        return outputs


@compiled
def _respond(answers, bits, truthful, words):  # type: ignore[no-untyped-def]
    """Flip bits by arithmetic, as branches are slow here."""
    for j in range(bits.size):
        for i in range(answers.size):
            uniform = np.float64(words[j, i] >> np.uint64(11)) * 2.0**-53
            answers[i] |= (bits[j] ^ (uniform >= truthful)) << j


@compiled
def _shuffle(answers, halves, people):  # type: ignore[no-untyped-def]
    """Swap each bit, from the last, with a random bit up to it, chosen by a share of 2^32."""
    for j in range(people - 1, 0, -1):
        for i in range(answers.size):
            k = (np.int64(halves[j - 1, i]) * (j + 1)) >> 32
            bits = np.int64(answers[i])
            differ = ((bits >> j) ^ (bits >> k)) & 1
            answers[i] = bits ^ ((differ << j) | (differ << k))

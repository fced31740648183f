"""Noisy Max: which noisy answer is largest (its index), or how large it is (its value).

askin2022, Section V, mechanisms b and c, and lu2022, Figure 9c (Ding et al. 2018, Algorithms 5 to
8).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.compiled import compiled
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs


def check_answers(x: object, count: int) -> None:
    """Raise `ArgumentError` unless ``x`` is a list of ``count`` finite query answers."""
    if not isinstance(x, Sequence) or isinstance(x, str) or len(x) != count:
        raise ArgumentError("input", f"must be a list of {count} query answers, got {x!r}")
    for answer in x:
        checks.real("input", answer)


@dataclass(frozen=True)
class ReportNoisyMax:
    """The index of the largest answer after Lap(2 / epsilon) noise on each."""

    outputs: ClassVar[Outputs] = "index"
    epsilon: float
    queries: int = 6

    def __post_init__(self) -> None:
        checks.positive("epsilon", self.epsilon)
        checks.integer("queries", self.queries, minimum=2)

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return 2 / self.epsilon

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` holds an answer a query."""
        check_answers(x, self.queries)

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """Draw ``size`` indices."""
        answers, group = np.unique(np.asarray(x, np.float64), return_inverse=True)
        index = np.empty(size, np.int32)
        _largest(index, answers, group, self.scale, rng)
        return index


@compiled
def _largest(index, answers, group, scale, rng):  # type: ignore[no-untyped-def]
    """Draw the index of the largest noisy answer.

    Noise is the inverted CDF of a uniform. Among equal answers the largest uniform has the largest
    noise, so that only that one is inverted.
    """
    best = np.empty(answers.size)
    who = np.empty(answers.size, np.int32)
    for i in range(index.size):
        best[:] = -1.0
        for j in range(group.size):
            u = rng.random()
            if u > best[group[j]]:
                best[group[j]] = u
                who[group[j]] = j
        top = -math.inf
        for g in range(answers.size):
            u = 2.0 * best[g] - 1.0
            noise = -scale * math.log(1.0 - abs(u))
            noisy = answers[g] + (noise if u >= 0 else -noise)
            if noisy > top:
                top = noisy
                index[i] = who[g]


@dataclass(frozen=True)
class ContinuousNoisyMax:
    """The largest answer after Lap(queries / epsilon) noise on each.

    With noise of scale 1/lambda the level between answers that all move by one is queries x lambda,
    reached in the lower tail.
    """

    outputs: ClassVar[Outputs] = "scalar"
    epsilon: float
    queries: int = 3

    def __post_init__(self) -> None:
        checks.positive("epsilon", self.epsilon)
        checks.integer("queries", self.queries, minimum=1)

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return self.queries / self.epsilon

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` holds an answer a query."""
        check_answers(x, self.queries)

    def sample(
        self, x: Sequence[float], size: int, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw ``size`` maxima."""
        best = rng.laplace(x[0], self.scale, size)
        for answer in x[1:]:
            np.maximum(best, rng.laplace(answer, self.scale, size), out=best)
        return best


@dataclass(frozen=True)
class NoisyMaxIndex:
    """The index of the largest answer after noise of scale 1 / epsilon on each (NM1 and NM3).

    Half of the usual scale is enough for counting queries, which all move the same way.
    """

    outputs: ClassVar[Outputs] = "index"
    epsilon: float
    noise: Literal["laplace", "exponential"] = "laplace"
    queries: int = 7

    def __post_init__(self) -> None:
        _check_noise(self.epsilon, self.noise, self.queries)

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` holds an answer a query."""
        check_answers(x, self.queries)

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """Draw ``size`` indices."""
        noisy = _noisy(x, size, self.noise, 1 / self.epsilon, rng)
        return np.asarray(np.argmax(noisy, axis=1), np.int32)


@dataclass(frozen=True)
class NoisyMaxValue:
    """The largest answer itself after noise of scale 1 / epsilon on each (NM2 and NM4): wrong.

    Only the index may be released at this price.
    """

    outputs: ClassVar[Outputs] = "scalar"
    epsilon: float
    noise: Literal["laplace", "exponential"] = "laplace"
    queries: int = 4

    def __post_init__(self) -> None:
        _check_noise(self.epsilon, self.noise, self.queries)

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` holds an answer a query."""
        check_answers(x, self.queries)

    def sample(
        self, x: Sequence[float], size: int, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw ``size`` maxima."""
        largest: NDArray[np.float64] = _noisy(x, size, self.noise, 1 / self.epsilon, rng).max(
            axis=1
        )
        return largest


def _check_noise(epsilon: object, noise: object, queries: object) -> None:
    checks.positive("epsilon", epsilon)
    if noise not in ("laplace", "exponential"):
        raise ArgumentError("noise", f"must be laplace or exponential, got {noise!r}")
    checks.integer("queries", queries, minimum=2)


def _noisy(
    x: Sequence[float], size: int, noise: str, scale: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return noisy answers of shape ``(size, queries)``."""
    shape = size, len(x)
    drawn = rng.laplace(0, scale, shape) if noise == "laplace" else rng.exponential(scale, shape)
    return np.asarray(x, np.float64) + drawn

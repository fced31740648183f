"""Noisy Max: which noisy answer is largest (its index), or how large it is (its value).

askin2022, Section V, mechanisms b and c (Ding et al. 2018, Algorithms 5 and 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from epsilometer import checks
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
        best = rng.laplace(x[0], self.scale, size)
        index = np.zeros(size, np.int32)
        for i, answer in enumerate(x[1:], start=1):
            noisy = rng.laplace(answer, self.scale, size)
            higher = noisy > best
            index[higher] = i
            np.maximum(best, noisy, out=best)
        return index


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

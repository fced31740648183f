"""Noisy Max: the index of the largest noisy answer, or its value.

askin2022, Section V, mechanisms b and c; lu2022, Figure 9c (Ding et al. 2018, Algorithms 5 to 8).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from epsilometer.checks import Count, Positive, Several
from epsilometer.mechanisms.base import Outputs, QueryAnswers
from epsilometer.mechanisms.noise import Noise, blocks, laplace_of, largest
from epsilometer.numerics.arrays import Floats, Indices


@dataclass(frozen=True)
class ReportNoisyMax(QueryAnswers):
    """The index of the largest answer after Lap(2 / epsilon) noise on each."""

    outputs: ClassVar[Outputs] = "index"
    epsilon: Positive
    queries: Several = 6

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return 2 / self.epsilon

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Indices:
        index = np.empty(size, np.int32)
        for block, noisy, winners in _largest_of_equal_answers(x, size, self.scale, rng):
            _index(index[block], noisy, winners)
        return index


def _largest_of_equal_answers(
    x: Sequence[float], size: int, scale: float, rng: np.random.Generator
) -> Iterator[tuple[slice, Floats, Indices]]:
    """Yield a block, and the largest noisy answer and its index, ``(different answers, draws)``."""
    answers, group = np.unique(np.asarray(x, np.float64), return_inverse=True)
    noise = Noise(rng)
    for block in blocks(size, group.size):
        words, winners = largest(noise.words(group.size, block.stop - block.start), group)
        noisy = laplace_of(words, scale)
        noisy += answers[:, None]
        yield block, noisy, winners


def _index(index: Indices, noisy: Floats, winners: Indices) -> None:
    """Write the index of the largest noisy answer of all groups."""
    index[:] = winners[0]
    top = noisy[0]
    for group in range(1, len(noisy)):
        np.copyto(index, winners[group], where=noisy[group] > top)
        top = np.maximum(top, noisy[group])


@dataclass(frozen=True)
class ContinuousNoisyMax(QueryAnswers):
    """The largest answer after Lap(queries / epsilon) noise on each.

    With noise of scale 1/lambda the level between answers that all move by one is queries x lambda,
    reached in the lower tail.
    """

    outputs: ClassVar[Outputs] = "scalar"
    epsilon: Positive
    queries: Count = 3

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return self.queries / self.epsilon

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Floats:
        best = np.empty(size)
        for block, noisy, _ in _largest_of_equal_answers(x, size, self.scale, rng):
            noisy.max(axis=0, out=best[block])
        return best


@dataclass(frozen=True)
class _EitherNoise(QueryAnswers):
    """Laplace or exponential noise of scale 1 / epsilon on each answer."""

    epsilon: Positive
    noise: Literal["laplace", "exponential"] = "laplace"
    queries: Several = 7

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return 1 / self.epsilon

    def _noisy(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Floats:
        """Return noisy answers of shape ``(size, queries)``."""
        draw = rng.laplace if self.noise == "laplace" else rng.exponential
        return np.asarray(x, np.float64) + draw(scale=self.scale, size=(size, len(x)))


@dataclass(frozen=True)
class NoisyMaxIndex(_EitherNoise):
    """The index of the largest answer after noise of scale 1 / epsilon on each (NM1 and NM3).

    Half of the usual scale is enough for counting queries, which all move the same way.
    """

    outputs: ClassVar[Outputs] = "index"

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Indices:
        return np.asarray(np.argmax(self._noisy(x, size, rng), axis=1), np.int32)


@dataclass(frozen=True)
class NoisyMaxValue(_EitherNoise):
    """The largest answer itself after noise of scale 1 / epsilon on each (NM2 and NM4): wrong.

    Only the index may be released at this price.
    """

    outputs: ClassVar[Outputs] = "scalar"
    queries: Several = 4

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Floats:
        return np.asarray(self._noisy(x, size, rng).max(axis=1))

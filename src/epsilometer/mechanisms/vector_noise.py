"""Noise on every entry of a vector of answers (lu2022, Definitions 17 and 18)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilometer.arrays import Floats
from epsilometer.checks import Checked, Count, Fractional, Positive
from epsilometer.mechanisms.base import Outputs
from epsilometer.mechanisms.databases import check_answers
from epsilometer.mechanisms.noise import Noise, noisy


class _Vectors(Checked):
    """Mechanisms whose inputs are lists of ``dimension`` finite answers."""

    dimension: int

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` holds ``dimension`` answers."""
        check_answers(x, self.dimension)


@dataclass(frozen=True)
class LaplaceVector(_Vectors):
    """Adds Lap(1 / epsilon) to each of ``dimension`` answers: pure where they differ by 1 in L1."""

    outputs: ClassVar[Outputs] = "vector"
    epsilon: Positive
    dimension: Count

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return 1 / self.epsilon

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Floats:
        """Draw ``size`` noisy vectors."""
        return noisy(x, Noise(rng).laplaces, self.scale, (size, self.dimension))


@dataclass(frozen=True)
class GaussianVector(_Vectors):
    """Adds N(0, sigma^2) to each answer, sigma as for one, where they differ by 1 in L2."""

    outputs: ClassVar[Outputs] = "vector"
    epsilon: Positive
    dimension: Count
    delta: Fractional = 1e-5

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise."""
        return math.sqrt(2 * math.log(1.25 / self.delta)) / self.epsilon

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Floats:
        """Draw ``size`` noisy vectors."""
        return noisy(x, Noise(rng).normals, self.sigma, (size, self.dimension))

"""Laplace and Gaussian noise on a number, on a vector, or on each step of a descent."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.checks import Checked, Count, Flag, Fractional, Positive
from epsilometer.mechanisms.base import Outputs, check_answers, check_people
from epsilometer.mechanisms.noise import Noise, blocks, noisy
from epsilometer.numerics.arrays import Floats
from epsilometer.numerics.compiled import compiled


class _Additive(Checked):
    """Adds noise to an answer, or to each answer of a vector."""

    outputs: ClassVar[Outputs]
    epsilon: float
    dimension: int

    def check_input(self, x: object) -> None:
        if self.outputs == "scalar":
            checks.real("input", x)
        else:
            check_answers(x, self.dimension)


class _LaplaceNoise(_Additive):
    """Adds Laplace noise."""

    @property
    def scale(self) -> float:
        """Scale of the noise, in the units of the input."""
        return 1 / self.epsilon

    def sample(self, x: float | Sequence[float], size: int, rng: np.random.Generator) -> Floats:
        return noisy(x, Noise(rng).laplaces, self.scale, size)


class _GaussianNoise(_Additive):
    """Adds Gaussian noise."""

    delta: float

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise, in the units of the input."""
        return math.sqrt(2 * math.log(1.25 / self.delta)) / self.epsilon

    def sample(self, x: float | Sequence[float], size: int, rng: np.random.Generator) -> Floats:
        return noisy(x, Noise(rng).normals, self.sigma, size)


@dataclass(frozen=True)
class Laplace(_LaplaceNoise):
    """``x + Lap(1 / epsilon)`` (askin2022, Section V, mechanism a)."""

    outputs: ClassVar[Outputs] = "scalar"
    epsilon: Positive


@dataclass(frozen=True)
class LaplaceVector(_LaplaceNoise):
    """Adds Lap(1 / epsilon) to each of ``dimension`` answers: pure where they differ by 1 in L1.

    lu2022, Definition 17.
    """

    outputs: ClassVar[Outputs] = "vector"
    epsilon: Positive
    dimension: Count


@dataclass(frozen=True)
class NoisyHistogram(_LaplaceNoise):
    """One bin of a histogram: a count plus Lap(1 / epsilon); or, ``wrong``, plus Lap(epsilon).

    Ding et al. (2018), Algorithms 9 and 10. Other bins are the same on neighbouring databases.
    """

    outputs: ClassVar[Outputs] = "scalar"
    epsilon: Positive
    wrong: Flag = False

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return self.epsilon if self.wrong else 1 / self.epsilon

    def check_input(self, x: object) -> None:
        checks.integer("input", x, minimum=0)


@dataclass(frozen=True)
class Gaussian(_GaussianNoise):
    """``x + N(0, sigma^2)``, calibrated as usual: sigma = sqrt(2 ln(1.25/delta)) / epsilon.

    It is private only up to a delta. At every epsilon its pure level is infinite: the loss grows
    without end in the tails.
    """

    outputs: ClassVar[Outputs] = "scalar"
    epsilon: Positive
    delta: Fractional = 1e-5


@dataclass(frozen=True)
class GaussianVector(_GaussianNoise):
    """Adds N(0, sigma^2) to each answer, sigma as for one, where they differ by 1 in L2.

    lu2022, Definition 18.
    """

    outputs: ClassVar[Outputs] = "vector"
    epsilon: Positive
    dimension: Count
    delta: Fractional = 1e-5


@dataclass(frozen=True)
class NoisyGradientDescent(Checked):
    """The last of ``steps`` iterates to a database's mean, from 0, with loss (theta - x_i)^2 / 2.

    kutta2022, row i. Each step goes down the mean gradient at learning rate ``rate`` and adds
    sqrt(2 rate) times Gaussian noise of standard deviation b = 1/epsilon.
    """

    outputs: ClassVar[Outputs] = "scalar"
    epsilon: Positive
    steps: Count = 10
    rate: Fractional = 0.2
    people: Count = 10

    @property
    def step_noise(self) -> float:
        """Standard deviation of the noise of one step."""
        return math.sqrt(2 * self.rate) / self.epsilon

    def check_input(self, x: object) -> None:
        check_people(x, self.people)

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Floats:
        noise = Noise(rng)
        people = np.asarray(x, np.float64)
        outputs = np.zeros(size)
        for block in blocks(size, self.steps):
            theta = outputs[block]
            steps = noise.normals(self.steps, theta.size)
            _descend(theta, people.sum(), people.size, self.rate, self.step_noise, steps)
        return outputs


@compiled
def _descend(theta, total, people, rate, noise, normals):  # type: ignore[no-untyped-def]
    down = -rate / people
    for step in range(len(normals)):
        for i in range(theta.size):
            gradient = people * theta[i] - total  # the sum of theta - x_i
            theta[i] += down * gradient + noise * normals[step, i]

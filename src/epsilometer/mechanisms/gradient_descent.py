"""Noisy gradient descent to the mean of a database (kutta2022, row i)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilometer.arrays import Floats
from epsilometer.checks import Checked, Count, Fractional, Positive
from epsilometer.compiled import compiled
from epsilometer.mechanisms.base import Outputs
from epsilometer.mechanisms.databases import check_people
from epsilometer.mechanisms.noise import Noise, blocks


@dataclass(frozen=True)
class NoisyGradientDescent(Checked):
    """The last of ``steps`` iterates, from 0, with the loss (theta - x_i)^2 / 2.

    Each step goes down the mean gradient at learning rate ``rate`` and adds sqrt(2 rate) times
    Gaussian noise of standard deviation b = 1/epsilon.
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
        """Raise `ArgumentError` unless ``x`` holds a number in [0, 1] for each person."""
        check_people(x, self.people)

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Floats:
        """Draw ``size`` runs of the descent."""
        noise, people = Noise(rng), np.asarray(x, np.float64)
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

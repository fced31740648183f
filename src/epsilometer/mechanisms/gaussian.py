"""The Gaussian mechanism on the real line, which is private only up to a delta."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Floats
from epsilometer.checks import Checked, Fractional, Positive
from epsilometer.mechanisms.base import Outputs
from epsilometer.mechanisms.noise import Noise, noisy


@dataclass(frozen=True)
class Gaussian(Checked):
    """``x + N(0, sigma^2)``, calibrated as usual: sigma = sqrt(2 ln(1.25/delta)) / epsilon.

    At every epsilon its pure level is infinite: the loss grows without end in the tails.
    """

    outputs: ClassVar[Outputs] = "scalar"
    epsilon: Positive
    delta: Fractional = 1e-5
    sensitivity: Positive = 1.0

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise, in the units of the input."""
        return self.sensitivity * math.sqrt(2 * math.log(1.25 / self.delta)) / self.epsilon

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` is a finite number."""
        checks.real("input", x)

    def sample(self, x: float, size: int, rng: np.random.Generator) -> Floats:
        """Draw ``size`` outputs at answer ``x``."""
        return noisy(x, Noise(rng).normals, self.sigma, (size,))

"""The Laplace mechanism on the real line: the answer plus Laplace noise of scale 1 / epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Floats
from epsilometer.checks import Checked, Positive
from epsilometer.mechanisms.base import Outputs
from epsilometer.mechanisms.noise import Noise, noisy


@dataclass(frozen=True)
class Laplace(Checked):
    """``x + Lap(sensitivity / epsilon)`` (askin2022, Section V, mechanism a)."""

    outputs: ClassVar[Outputs] = "scalar"
    epsilon: Positive
    sensitivity: Positive = 1.0

    @property
    def scale(self) -> float:
        """Scale of the noise, in the units of the input."""
        return self.sensitivity / self.epsilon

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` is a finite number."""
        checks.real("input", x)

    def sample(self, x: float, size: int, rng: np.random.Generator) -> Floats:
        """Draw ``size`` outputs at answer ``x``."""
        return noisy(x, Noise(rng).laplaces, self.scale, (size,))

"""One bin of a histogram with Laplace noise of the right or of a wrong scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Floats
from epsilometer.checks import Checked, Flag, Positive
from epsilometer.mechanisms.base import Outputs
from epsilometer.mechanisms.noise import Noise, noisy


@dataclass(frozen=True)
class NoisyHistogram(Checked):
    """A count plus Lap(1 / epsilon); or, ``wrong``, plus Lap(epsilon).

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
        """Raise `ArgumentError` unless ``x`` is a count."""
        checks.integer("input", x, minimum=0)

    def sample(self, x: int, size: int, rng: np.random.Generator) -> Floats:
        """Draw ``size`` noisy counts."""
        return noisy(x, Noise(rng).laplaces, self.scale, (size,))

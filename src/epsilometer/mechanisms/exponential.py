"""The exponential mechanism on the half line: density proportional to exp(-rate |x - t|), t >= 0.

askin2022, Section V, mechanism d: inputs in [1, 2]. The level of the pair (1, 2) is
rate + log(2 - e^(-2 rate)) - log(2 - e^(-rate)), which is solved for the rate that gives epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Floats
from epsilometer.checks import Checked, Positive
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs


@dataclass(frozen=True)
class ExponentialHalfLine(Checked):
    """Outputs on t >= 0 for inputs in [1, 2]."""

    outputs: ClassVar[Outputs] = "scalar"
    epsilon: Positive

    @cached_property
    def rate(self) -> float:
        """lambda, at which the pair (1, 2) has level epsilon."""
        from scipy.optimize import brentq  # slow to import, and rarely needed

        def excess(rate: float) -> float:
            ratio = math.log((2 - math.exp(-2 * rate)) / (2 - math.exp(-rate)))
            return rate + ratio - self.epsilon

        return float(brentq(excess, 0.0, self.epsilon, xtol=1e-15, rtol=1e-14))

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` lies in [1, 2]."""
        if not 1 <= checks.real("input", x) <= 2:
            raise ArgumentError("input", f"must lie in [1, 2], got {x!r}")

    def sample(self, x: float, size: int, rng: np.random.Generator) -> Floats:
        """Draw ``size`` outputs by inverting the CDF."""
        left = -math.expm1(-self.rate * x)  # mass of [0, x], in units of 1/rate; above x it is 1
        mass = rng.random(size) * (left + 1) - left
        outputs = x + np.copysign(-np.log1p(-np.abs(mass)) / self.rate, mass)
        return np.maximum(outputs, 0.0)

"""Laplace noise conditioned on an interval, sampled by inverting its CDF.

gorla2022, Definition II.5 and appendix A: on [lower, upper] the density of the output at input x
is K exp(-|z - x| / B). With B = (upper - lower) / epsilon the mechanism is epsilon-LDP.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numba
import numpy as np
from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs


@dataclass(frozen=True)
class TruncatedLaplace:
    """Truncated Laplace mechanism on inputs and outputs in ``[lower, upper]``."""

    outputs: ClassVar[Outputs] = "scalar"
    epsilon: float
    lower: float = 0.0
    upper: float = 1.0

    def __post_init__(self) -> None:
        checks.positive("epsilon", self.epsilon)
        checks.interval("interval", self.lower, self.upper)

    @property
    def scale(self) -> float:
        """B, in the units of the input."""
        return (self.upper - self.lower) / self.epsilon

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` lies in ``[lower, upper]``."""
        if not self.lower <= checks.real("input", x) <= self.upper:
            raise ArgumentError("input", f"must lie in [{self.lower}, {self.upper}], got {x!r}")

    def sample(self, x: float, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw ``size`` outputs at input ``x``."""
        draws = rng.random(size)
        _invert_cdf(draws, float(x), self.scale, self.lower, self.upper)
        return draws


@numba.njit(cache=True)
def _invert_cdf(p, x, scale, lower, upper):  # type: ignore[no-untyped-def]
    """Replace uniform draws by outputs, in place.

    In units of the unnormalised mass (B times), ``left`` lies below x and ``right`` above.
    """
    left = -math.expm1(-(x - lower) / scale)
    right = -math.expm1(-(upper - x) / scale)
    total = left + right
    for i in range(p.size):
        mass = p[i] * total
        if mass <= left:
            z = x + scale * math.log1p(mass - left)
        else:
            z = x - scale * math.log1p(left - mass)
        p[i] = min(max(z, lower), upper)  # rounding must not leave the interval

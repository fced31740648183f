"""Noise conditioned on an interval or a half line, sampled by inverting its CDF."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.checks import Checked, Positive
from epsilometer.mechanisms.base import Outputs
from epsilometer.numerics.arrays import Floats


@dataclass(frozen=True)
class OnInterval(Checked):
    """Inputs and outputs in ``[lower, upper]``."""

    outputs: ClassVar[Outputs] = "scalar"
    epsilon: Positive
    lower: float = 0.0
    upper: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.interval("interval", self.lower, self.upper)

    def check_input(self, x: object) -> None:
        checks.within("input", x, self.lower, self.upper)


@dataclass(frozen=True)
class TruncatedGaussian(OnInterval):
    """Truncated Gaussian mechanism on inputs and outputs in ``[lower, upper]``, of width W.

    gorla2022, Section III-E and Table I: the loss between the two ends is linear in the output and
    at most W^2 / (2 sigma^2); sigma = W / sqrt(2 epsilon) makes it epsilon.
    """

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise before truncation, in the units of the input."""
        return (self.upper - self.lower) / math.sqrt(2 * self.epsilon)

    def sample(self, x: float, size: int, rng: np.random.Generator) -> Floats:
        from scipy.special import ndtr, ndtri

        below = ndtr((self.lower - x) / self.sigma)
        above = ndtr((self.upper - x) / self.sigma)
        outputs = x + self.sigma * ndtri(below + rng.random(size) * (above - below))
        clipped: Floats = np.clip(outputs, self.lower, self.upper)
        return clipped


@dataclass(frozen=True)
class TruncatedLaplace(OnInterval):
    """Truncated Laplace mechanism on inputs and outputs in ``[lower, upper]``.

    gorla2022, Definition II.5 and appendix A: the density of the output at input x is
    K exp(-|z - x| / B). With B = (upper - lower) / epsilon the mechanism is epsilon-LDP.
    """

    @property
    def scale(self) -> float:
        """B, in the units of the input."""
        return (self.upper - self.lower) / self.epsilon

    def sample(self, x: float, size: int, rng: np.random.Generator) -> Floats:
        """Draw ``size`` outputs at input ``x``.

        In units of the mass without normalisation, divided by B, ``left`` lies below x and
        ``right`` above; a uniform draw is turned into its signed distance from x.
        """
        left = -math.expm1(-(x - self.lower) / self.scale)
        right = -math.expm1(-(self.upper - x) / self.scale)
        outputs = rng.random(size)
        outputs *= left + right
        outputs -= left
        distance = np.log1p(-np.abs(outputs))
        distance *= -self.scale
        np.copysign(distance, outputs, out=outputs)
        outputs += x
        np.clip(outputs, self.lower, self.upper, out=outputs)  # rounding must not leave the ends
        return outputs


@dataclass(frozen=True)
class ExponentialHalfLine(Checked):
    """Outputs t >= 0 with density proportional to exp(-rate |x - t|), for inputs in [1, 2].

    askin2022, Section V, mechanism d. The level of the pair (1, 2) is
    rate + log(2 - e^(-2 rate)) - log(2 - e^(-rate)), which is solved for the rate that gives
    epsilon.
    """

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
        checks.within("input", x, 1, 2)

    def sample(self, x: float, size: int, rng: np.random.Generator) -> Floats:
        left = -math.expm1(-self.rate * x)  # mass of [0, x], in units of 1/rate; above x it is 1
        mass = rng.random(size) * (left + 1) - left
        return np.maximum(x + np.copysign(-np.log1p(-np.abs(mass)) / self.rate, mass), 0.0)

"""Noise conditioned on the interval of the inputs, sampled by inverting its CDF (gorla2022)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Floats
from epsilometer.checks import Checked, Positive
from epsilometer.mechanisms.base import Outputs

_BLOCK = 1 << 14  # draws that stay in the processor's cache from one step to the next


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
        """Raise `ArgumentError` unless ``x`` lies in ``[lower, upper]``."""
        checks.within("input", x, self.lower, self.upper)


@dataclass(frozen=True)
class TruncatedGaussian(OnInterval):
    """Truncated Gaussian mechanism on inputs and outputs in ``[lower, upper]``, of width W.

    Section III-E and Table I: the loss between the two ends is linear in the output and at most
    W^2 / (2 sigma^2); sigma = W / sqrt(2 epsilon) makes it epsilon.
    """

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise before truncation, in the units of the input."""
        return (self.upper - self.lower) / math.sqrt(2 * self.epsilon)

    def sample(self, x: float, size: int, rng: np.random.Generator) -> Floats:
        """Draw ``size`` outputs at input ``x``."""
        from scipy.special import ndtr, ndtri

        below, above = ndtr((self.lower - x) / self.sigma), ndtr((self.upper - x) / self.sigma)
        outputs = x + self.sigma * ndtri(below + rng.random(size) * (above - below))
        clipped: Floats = np.clip(outputs, self.lower, self.upper)
        return clipped


@dataclass(frozen=True)
class TruncatedLaplace(OnInterval):
    """Truncated Laplace mechanism on inputs and outputs in ``[lower, upper]``.

    Definition II.5 and appendix A: the density of the output at input x is K exp(-|z - x| / B).
    With B = (upper - lower) / epsilon the mechanism is epsilon-LDP.
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
        for start in range(0, size, _BLOCK):
            block = outputs[start : start + _BLOCK]
            block *= left + right
            block -= left
            distance = np.log1p(-np.abs(block))
            distance *= -self.scale
            np.copysign(distance, block, out=block)
            block += x
            np.clip(block, self.lower, self.upper, out=block)  # rounding must not leave the ends
        return outputs

"""Laplace noise conditioned on an interval, sampled by inverting its CDF.

gorla2022, Definition II.5 and appendix A: on [lower, upper] the density of the output at input x
is K exp(-|z - x| / B). With B = (upper - lower) / epsilon the mechanism is epsilon-LDP.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilometer.arrays import Floats
from epsilometer.mechanisms.interval import OnInterval

_BLOCK = 1 << 14  # draws that stay in the processor's cache from one step to the next


@dataclass(frozen=True)
class TruncatedLaplace(OnInterval):
    """Truncated Laplace mechanism on inputs and outputs in ``[lower, upper]``."""

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

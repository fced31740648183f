"""Gaussian noise conditioned on an interval, sampled by inverting its CDF.

gorla2022, Section III-E and Table I: on [lower, upper], of width W, the loss between the two ends
is linear in the output and at most W^2 / (2 sigma^2); sigma = W / sqrt(2 epsilon) makes it epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilometer.arrays import Floats
from epsilometer.mechanisms.interval import OnInterval


@dataclass(frozen=True)
class TruncatedGaussian(OnInterval):
    """Truncated Gaussian mechanism on inputs and outputs in ``[lower, upper]``."""

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

"""Gaussian noise conditioned on an interval, sampled by inverting its CDF.

gorla2022, Section III-E and Table I: on [lower, upper], of width W, the loss between the two ends
is linear in the output and at most W^2 / (2 sigma^2); sigma = W / sqrt(2 epsilon) makes it epsilon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from epsilometer import checks
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs


@dataclass(frozen=True)
class TruncatedGaussian:
    """Truncated Gaussian mechanism on inputs and outputs in ``[lower, upper]``."""

    outputs: ClassVar[Outputs] = "scalar"
    epsilon: float
    lower: float = 0.0
    upper: float = 1.0

    def __post_init__(self) -> None:
        checks.positive("epsilon", self.epsilon)
        checks.interval("interval", self.lower, self.upper)

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise before truncation, in the units of the input."""
        return (self.upper - self.lower) / math.sqrt(2 * self.epsilon)

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` lies in ``[lower, upper]``."""
        if not self.lower <= checks.real("input", x) <= self.upper:
            raise ArgumentError("input", f"must lie in [{self.lower}, {self.upper}], got {x!r}")

    def sample(self, x: float, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw ``size`` outputs at input ``x``."""
        below, above = ndtr((self.lower - x) / self.sigma), ndtr((self.upper - x) / self.sigma)
        outputs = x + self.sigma * ndtri(below + rng.random(size) * (above - below))
        clipped: NDArray[np.float64] = np.clip(outputs, self.lower, self.upper)
        return clipped

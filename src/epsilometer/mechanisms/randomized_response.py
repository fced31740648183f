"""k-ary randomised response: the truth with probability e^epsilon / (e^epsilon + k - 1).

The finite mechanism of gorla2022, Remark 2; for k = 2 it is Warner's randomised response.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Indices
from epsilometer.checks import Checked, Positive, Several
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs


@dataclass(frozen=True)
class RandomizedResponse(Checked):
    """Randomised response over ``outcomes`` values 0, ..., k - 1."""

    outputs: ClassVar[Outputs] = "index"
    epsilon: Positive
    outcomes: Several = 2

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` is one of the outcomes."""
        if checks.integer("input", x, minimum=0) >= self.outcomes:
            raise ArgumentError("input", f"must be one of 0, ..., {self.outcomes - 1}, got {x!r}")

    def sample(self, x: int, size: int, rng: np.random.Generator) -> Indices:
        """Draw ``size`` answers to the true value ``x``."""
        truthful = 1 / (1 + (self.outcomes - 1) * math.exp(-self.epsilon))
        keep = rng.random(size) < truthful
        others = rng.integers(0, self.outcomes - 1, size, dtype=np.int32)
        others += others >= x  # skips the true value
        return np.where(keep, np.int32(x), others)

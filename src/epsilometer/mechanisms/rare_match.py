"""A mechanism with a leak so rare that no sample shows it (askin2022, Example 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Indices
from epsilometer.checks import Checked, Positive
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs


@dataclass(frozen=True)
class RareMatch(Checked):
    """Answers 1 with probability e^-rarity if the input matches (1), and 0 otherwise.

    It is not private at any epsilon: an answer 1 proves the match.
    """

    outputs: ClassVar[Outputs] = "index"
    epsilon: Positive
    rarity: Positive

    @property
    def chance(self) -> float:
        """The probability of an answer 1 to a match."""
        return math.exp(-self.rarity)

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` is 0 or 1."""
        if checks.integer("input", x, minimum=0) > 1:
            raise ArgumentError("input", f"must be 0 or 1 (a match), got {x!r}")

    def sample(self, x: int, size: int, rng: np.random.Generator) -> Indices:
        """Draw ``size`` answers."""
        return (rng.random(size) < x * self.chance).astype(np.int32)

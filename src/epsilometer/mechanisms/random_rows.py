"""A count without noise over rows that are random themselves (lu2022, Section 8.3).

Privacy comes from the other rows: distributional privacy of the histogram of bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Indices
from epsilometer.checks import Checked, Positive
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs


@dataclass(frozen=True)
class NoiselessCount(Checked):
    """How many of m rows hold a one: one row is known, each other is a one with probability 1/2.

    An input is ``[m, bit of the known row]``. The count is exact; ``epsilon`` is only the level to
    compare it with.
    """

    outputs: ClassVar[Outputs] = "index"
    epsilon: Positive

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` is a number of rows and a bit."""
        if not isinstance(x, Sequence) or isinstance(x, str) or len(x) != 2:
            raise ArgumentError("input", f"must be [rows, bit of the known row], got {x!r}")
        checks.integer("input", x[0])
        if checks.integer("input", x[1], minimum=0) > 1:
            raise ArgumentError("input", f"must have 0 or 1 in the known row, got {x[1]!r}")

    def sample(self, x: Sequence[int], size: int, rng: np.random.Generator) -> Indices:
        """Draw ``size`` databases, and count."""
        return (x[1] + rng.binomial(x[0] - 1, 0.5, size)).astype(np.int32)

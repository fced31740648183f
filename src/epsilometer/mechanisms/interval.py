"""The base of mechanisms whose inputs and outputs lie on one closed interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from epsilometer import checks
from epsilometer.checks import Checked, Positive
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs


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
        if not self.lower <= checks.real("input", x) <= self.upper:
            raise ArgumentError("input", f"must lie in [{self.lower}, {self.upper}], got {x!r}")

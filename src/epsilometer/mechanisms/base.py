"""What every mechanism offers: a calibrated object that can be sampled on an input."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Outputs = Literal["scalar", "index"]
"""``scalar``: real numbers (float64); ``index``: integers 0, 1, ..., k - 1 (int32)."""

Sample = NDArray[np.float64] | NDArray[np.int32]


class Mechanism(Protocol):
    """A randomised mechanism at one privacy parameter.

    Implementations are frozen dataclasses whose first field is ``epsilon``; all fields are
    checked when the object is made, so a mechanism that exists can be sampled.
    """

    outputs: ClassVar[Outputs]
    epsilon: float

    def check_input(self, x: Any) -> None:
        """Raise `ArgumentError` if ``x`` is outside the mechanism's domain."""

    def sample(self, x: Any, size: int, rng: np.random.Generator) -> Sample:
        """Draw ``size`` independent outputs on input ``x``; shape ``(size,)``."""

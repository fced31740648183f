"""What exact laws share whose outputs lie on one closed interval."""

from __future__ import annotations

import numpy as np

from epsilometer.arrays import Floats
from epsilometer.exact.on_the_line import OnTheLine
from epsilometer.mechanisms.interval import OnInterval


class OnIntervalLaw(OnTheLine):
    """Outputs in ``[lower, upper]``."""

    def __init__(self, mechanism: OnInterval, width: float) -> None:
        """Take the mechanism, and the width of its noise."""
        self._width = width
        self._lower, self._upper = float(mechanism.lower), float(mechanism.upper)

    @property
    def support(self) -> tuple[float, float]:
        """The ends of the interval."""
        return self._lower, self._upper

    def window(self, x: float) -> tuple[float, float]:
        """Return the interval, which holds all of the mass."""
        return self.support

    def pieces(self, x: float, x_prime: float) -> tuple[Floats, float]:
        """Return both inputs and the ends."""
        return np.array([self._lower, x, x_prime, self._upper]), self._width

    def _inside(self, z: Floats, logs: Floats) -> Floats:
        """Return log densities, minus infinity outside of the interval."""
        return np.where((z >= self._lower) & (z <= self._upper), logs, -np.inf)

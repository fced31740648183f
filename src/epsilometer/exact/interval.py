"""What exact laws share whose outputs lie on one closed interval."""

from __future__ import annotations

from epsilometer.mechanisms.interval import OnInterval


class OnIntervalLaw:
    """Outputs in ``[lower, upper]``."""

    def __init__(self, mechanism: OnInterval) -> None:
        self._lower, self._upper = float(mechanism.lower), float(mechanism.upper)

    @property
    def support(self) -> tuple[float, float]:
        """The ends of the interval."""
        return self._lower, self._upper

    def window(self, x: float) -> tuple[float, float]:
        """Return the interval, which holds all of the mass."""
        return self.support

"""What is known exactly about a mechanism."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from epsilometer.arrays import Floats


class Law(Protocol):
    """The exact law of a mechanism, made from the mechanism itself; levels are in nats."""

    def privacy_loss(self, x: Any, x_prime: Any) -> float:
        """Return sup_z log f(z | x) / f(z | x'), the pure privacy level in this direction."""

    def renyi(self, order: float, x: Any, x_prime: Any) -> float:
        """Return the Rényi divergence of the given order of x's law from x''s.

        Raise `ArgumentError` unless the order is finite and above 1.
        """


class ContinuousLaw(Law, Protocol):
    """Real outputs with a density.

    ``z`` is in the unit of outputs and may have any shape, which is that of what is returned.
    """

    def window(self, x: Any) -> tuple[float, float]:
        """Return an interval outside of which there is less than 1e-12 of the mass."""

    def pdf(self, z: ArrayLike, x: Any) -> Floats:
        """Return the density at ``z``, of its shape and in one over its unit."""

    def cdf(self, z: ArrayLike, x: Any) -> Floats:
        """Return the distribution function at ``z``, of its shape."""


class IntervalLaw(ContinuousLaw, Protocol):
    """Outputs with a Lipschitz density on a closed interval."""

    @property
    def support(self) -> tuple[float, float]:
        """The ends of the interval."""

    @property
    def lipschitz_output(self) -> float:
        """C: |f(z | x) - f(z' | x)| <= C |z - z'| for every input."""

    @property
    def lipschitz_input(self) -> float:
        """D: |f(z | x) - f(z | x')| <= D |x - x'| for every output."""


def divergence(law: Law, order: float, x: Any, x_prime: Any) -> float:
    """Return the privacy level at a Rényi order, in nats; infinity means the pure level."""
    return law.privacy_loss(x, x_prime) if np.isinf(order) else law.renyi(order, x, x_prime)

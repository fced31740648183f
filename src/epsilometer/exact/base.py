"""Protocols of exact distributions, and their levels."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Floats

_ROUNDING = 1e-14  # relative error of a level


class Distribution(Protocol):
    """The exact distribution of a mechanism's outputs; levels are in nats."""

    def privacy_loss(self, x: Any, x_prime: Any) -> float:
        """Return sup_z log f(z | x) / f(z | x'), the pure privacy level in this direction."""

    def renyi(self, order: float, x: Any, x_prime: Any) -> float:
        """Return the Rényi divergence of the given order of the distribution at x from that at x'.

        Raise `ArgumentError` unless the order is finite and above 1.
        """


class ContinuousDistribution(Distribution, Protocol):
    """Real outputs with a density.

    ``z`` is in the unit of outputs; results have its shape.
    """

    def pdf(self, z: ArrayLike, x: Any) -> Floats:
        """Return the density at ``z``, in one over its unit."""

    def cdf(self, z: ArrayLike, x: Any) -> Floats:
        """Return the distribution function at ``z``."""


def divergence(distribution: Distribution, order: float, x: Any, x_prime: Any) -> float:
    """Return the privacy level at a Rényi order, in nats; infinity means the pure level."""
    if np.isinf(order):
        return distribution.privacy_loss(x, x_prime)
    return distribution.renyi(order, x, x_prime)


def spectrum(distribution: Distribution, claims: ArrayLike, x: Any, x_prime: Any) -> Floats:
    """Return delta at each claim e of shape ``(m,)``, the hockey-stick divergence of x from x'.

    delta(e) = P(S) - exp(e) Q(S) for the set S of outputs whose privacy loss exceeds e. It is
    computed as the mean under P of (1 - exp(e - loss))+, since the difference of two probabilities
    has no digits left where delta is small.
    """
    epsilons = np.atleast_1d(np.asarray(claims, float))
    if not hasattr(distribution, "spectrum"):
        raise ArgumentError("distribution", f"{type(distribution).__name__} has no spectrum")
    # where no loss exceeds the claim delta is 0, without rounding errors
    below = epsilons < distribution.privacy_loss(x, x_prime) * (1 - _ROUNDING)
    deltas = np.zeros(epsilons.size)
    if below.any():
        deltas[below] = distribution.spectrum(epsilons[below], x, x_prime)
    return np.clip(deltas, 0.0, 1.0)

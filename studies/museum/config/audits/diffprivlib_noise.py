"""Mechanisms of diffprivlib 0.6, which add noise to a number."""

from __future__ import annotations

from diffprivlib import mechanisms
from numpy.random import RandomState


def _draws(mechanism: mechanisms.DPMechanism, x: float, size: int) -> list[float]:
    return [mechanism.randomise(x) for _ in range(size)]


def laplace(x: float, size: int, random_state: RandomState, epsilon: float = 1) -> list[float]:
    """Draw x with Laplace noise."""
    mechanism = mechanisms.Laplace(epsilon=epsilon, sensitivity=1, random_state=random_state)
    return _draws(mechanism, x, size)


def truncated(x: float, size: int, random_state: RandomState, epsilon: float = 1) -> list[float]:
    """Draw x with Laplace noise; what leaves [0, 1] is moved to its ends."""
    mechanism = mechanisms.LaplaceTruncated(
        epsilon=epsilon, sensitivity=1, lower=0, upper=1, random_state=random_state
    )
    return _draws(mechanism, x, size)


def bounded(x: float, size: int, random_state: RandomState, epsilon: float = 1) -> list[float]:
    """Draw x with Laplace noise; what leaves [0, 1] is drawn again, and the noise is wider."""
    mechanism = mechanisms.LaplaceBoundedDomain(
        epsilon=epsilon, sensitivity=1, lower=0, upper=1, random_state=random_state
    )
    return _draws(mechanism, x, size)


def staircase(x: float, size: int, random_state: RandomState, epsilon: float = 1) -> list[float]:
    """Draw x with noise whose density is a staircase."""
    mechanism = mechanisms.Staircase(epsilon=epsilon, sensitivity=1, random_state=random_state)
    return _draws(mechanism, x, size)


def gaussian(
    x: float, size: int, random_state: RandomState, epsilon: float = 1, delta: float = 1e-5
) -> list[float]:
    """Draw x with Gaussian noise of the classical size."""
    mechanism = mechanisms.Gaussian(
        epsilon=epsilon, delta=delta, sensitivity=1, random_state=random_state
    )
    return _draws(mechanism, x, size)


def analytic(
    x: float, size: int, random_state: RandomState, epsilon: float = 1, delta: float = 1e-5
) -> list[float]:
    """Draw x with the least Gaussian noise that is enough."""
    mechanism = mechanisms.GaussianAnalytic(
        epsilon=epsilon, delta=delta, sensitivity=1, random_state=random_state
    )
    return _draws(mechanism, x, size)


def snapping(x: float, size: int, random_state: RandomState, epsilon: float = 1) -> list[float]:
    """Draw x with Laplace noise, rounded to a grid (Mironov 2012)."""
    mechanism = mechanisms.Snapping(
        epsilon=epsilon, sensitivity=1, lower=0, upper=8, random_state=random_state
    )
    return _draws(mechanism, x, size)


def geometric(x: float, size: int, random_state: RandomState, epsilon: float = 1) -> list[int]:
    """Draw a whole number with geometric noise on both sides."""
    mechanism = mechanisms.Geometric(epsilon=epsilon, sensitivity=1, random_state=random_state)
    return [mechanism.randomise(int(x)) for _ in range(size)]

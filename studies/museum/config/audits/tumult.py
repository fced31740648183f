"""Whole noise of Tumult Core, and what its privacy functions claim."""

from __future__ import annotations

from tmlt.core.measurements.noise_mechanisms import AddDiscreteGaussianNoise, AddGeometricNoise


def discrete_laplace(x: int, size: int) -> list[int]:
    """Draw x with two-sided geometric noise of scale 1."""
    measurement = AddGeometricNoise(1)
    return [measurement(int(x)) for _ in range(size)]


def discrete_laplace_claim() -> float:
    """Return epsilon for a change of 1."""
    return float(AddGeometricNoise(1).privacy_function(1).to_float(round_up=True))


def discrete_gaussian(x: int, size: int) -> list[int]:
    """Draw x with discrete Gaussian noise of variance 1."""
    measurement = AddDiscreteGaussianNoise(1)
    return [measurement(int(x)) for _ in range(size)]


def discrete_gaussian_claim() -> float:
    """Return rho for a change of 1."""
    return float(AddDiscreteGaussianNoise(1).privacy_function(1).to_float(round_up=True))

"""Laplace noise of python-dp (PyDP), which wraps Google's library in C++."""

from __future__ import annotations

from pydp.algorithms.numerical_mechanisms import LaplaceMechanism


def laplace(x: float, size: int) -> list[float]:
    """Draw x with noise for epsilon = 1 and a sensitivity of 1."""
    mechanism = LaplaceMechanism(1.0, 1.0)
    return [mechanism.add_noise(float(x)) for _ in range(size)]


def laplace_claim() -> float:
    """Return the epsilon that the mechanism says it has."""
    return float(LaplaceMechanism(1.0, 1.0).epsilon)

"""Measurements of OpenDP 0.4 and 0.5, which are made by `opendp.meas`."""

from __future__ import annotations

from typing import Any

from opendp.meas import make_base_laplace, make_randomized_response_bool
from opendp.mod import binary_search, enable_features

enable_features("contrib", "floating-point")


def response(x: bool, size: int, prob: float = 0.75) -> list[bool]:
    """Draw answers of somebody whose true answer is x; it is given with probability ``prob``."""
    measurement = make_randomized_response_bool(prob)
    return [measurement(bool(x)) for _ in range(size)]


def response_claim(prob: float = 0.75) -> float:
    """Return the smallest epsilon that the library's relation lets pass."""
    return _smallest(make_randomized_response_bool(prob), 1)


def laplace(x: float, size: int, scale: float = 1.0) -> list[float]:
    """Draw x with noise: entries of a vector get independent noise, so one call has all draws."""
    measurement = make_base_laplace(scale, D="VectorDomain<AllDomain<f64>>")
    return list(measurement([float(x)] * size))


def laplace_claim(scale: float = 1.0) -> float:
    """Return the smallest epsilon that the library's relation lets pass for a change of 1."""
    return _smallest(make_base_laplace(scale), 1.0)


def _smallest(measurement: Any, distance: float) -> float:
    return float(binary_search(lambda level: measurement.check(distance, level), (0.0, 100.0)))

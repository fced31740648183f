"""Checks of arguments: each returns the converted value, or raises `ArgumentError`."""

from __future__ import annotations

import math
from numbers import Integral, Real

from epsilometer.errors import ArgumentError


def real(argument: str, value: object) -> float:
    """Return a finite real number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ArgumentError(argument, f"must be a finite number, got {value!r}")
    return float(value)


def positive(argument: str, value: object) -> float:
    """Return a finite number above 0."""
    number = real(argument, value)
    if number <= 0:
        raise ArgumentError(argument, f"must be positive, got {value!r}")
    return number


def between_0_and_1(argument: str, value: object) -> float:
    """Return a number strictly inside (0, 1)."""
    number = real(argument, value)
    if not 0 < number < 1:
        raise ArgumentError(argument, f"must lie strictly between 0 and 1, got {value!r}")
    return number


def integer(argument: str, value: object, *, minimum: int = 1) -> int:
    """Return an integer not below ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ArgumentError(argument, f"must be an integer, got {value!r}")
    if value < minimum:
        raise ArgumentError(argument, f"must be at least {minimum}, got {value!r}")
    return int(value)


def flag(argument: str, value: object) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise ArgumentError(argument, f"must be true or false, got {value!r}")
    return value


def order(argument: str, value: object, *, finite: bool = False) -> float:
    """Return a Rényi order: a real above 1, or infinity for pure differential privacy."""
    if isinstance(value, bool) or not isinstance(value, Real) or not float(value) > 1:
        hint = "and finite" if finite else "(inf for pure privacy)"
        raise ArgumentError(argument, f"must be above 1 {hint}, got {value!r}")
    if finite and not math.isfinite(value):
        raise ArgumentError(argument, f"must be above 1 and finite, got {value!r}")
    return float(value)


def interval(argument: str, lower: object, upper: object) -> tuple[float, float]:
    """Return the two ends of an interval of positive width."""
    low, high = real(f"{argument}.lower", lower), real(f"{argument}.upper", upper)
    if not low < high:
        raise ArgumentError(argument, f"must have lower < upper, got [{lower!r}, {upper!r}]")
    return low, high

"""Numbers and options in paths, each with one spelling only, so that paths are unique."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from epsilometer.errors import EpsilometerError, one_line


def written(value: float) -> str:
    """Return a number as paths and plots show it.

    >>> written(1.0), written(0.5), written(float("inf"))
    ('1', '0.5', 'inf')
    """
    return repr(float(value)).removesuffix(".0")


def number(key: str, text: str) -> float:
    """Read a number in the spelling of `written`."""
    try:
        value = float(text)
    except ValueError:
        raise EpsilometerError(f"{key}={one_line(text)} is not a number") from None
    if written(value) != text:
        raise EpsilometerError(f"{key}={one_line(text)} is written {key}={written(value)}")
    return value


def positive(key: str, text: str) -> float:
    """Read a positive, finite number."""
    value = number(key, text)
    if not 0 < value < math.inf:
        raise EpsilometerError(f"{key}={text} must be positive and finite")
    return value


def order(text: str) -> float:
    """Read a Rényi order."""
    value = number("lambda", text)
    if not value > 1:
        raise EpsilometerError(f"lambda={text} must be above 1 (inf for pure privacy)")
    return value


def integer(key: str, text: str, *, minimum: int = 1) -> int:
    """Read an integer without signs, points or leading zeros."""
    if not re.fullmatch("0|[1-9][0-9]{0,14}", text) or int(text) < minimum:
        raise EpsilometerError(f"{key}={one_line(text)} must be a whole number from {minimum}")
    return int(text)


@dataclass(frozen=True)
class Reduction:
    """The reduction of draws to a density: cells, or the points and the power of kernels.

    >>> str(Reduction.parse("points=1000_power=1.1"))
    'points=1000_power=1.1'
    >>> Reduction.of({"cells": 1000}).settings
    {'cells': 1000}
    """

    items: tuple[tuple[str, float], ...]

    @classmethod
    def of(cls, settings: Mapping[str, float]) -> Reduction:
        """Return the reduction of an estimator."""
        return cls(tuple(settings.items()))

    @classmethod
    def parse(cls, text: str) -> Reduction:
        """Read a part of a path; raise `EpsilometerError` if it is invalid."""
        pairs = [part.partition("=")[::2] for part in text.split("_")]
        names, parts = [name for name, _ in pairs], dict(pairs)
        if names == ["cells"]:
            return cls.of({"cells": integer("cells", parts["cells"], minimum=2)})
        if names == ["points", "power"]:
            points = integer("points", parts["points"], minimum=2)
            return cls.of({"points": points, "power": positive("power", parts["power"])})
        raise EpsilometerError(f"{text!r} must be cells=... or points=..._power=...")

    def __str__(self) -> str:
        return "_".join(f"{key}={written(value)}" for key, value in self.items)

    @property
    def settings(self) -> dict[str, float]:
        """The settings by name."""
        return dict(self.items)

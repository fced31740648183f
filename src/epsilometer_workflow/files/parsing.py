"""Numbers and options in configuration and paths, each with one spelling only.

So paths are unique. Numbers of draws are ``N``, ``1..N`` or ``n+N``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from epsilometer.errors import EpsilometerError, one_line

_SIZE = "[1-9][0-9]{0,14}"  # exact in floating point
_PATTERN = re.compile(rf"(?P<searched>1\.\.)?(?P<first>{_SIZE})(\+(?P<fresh>{_SIZE}))?")


def spell(value: float) -> str:
    """Return a number as paths and plots show it.

    >>> spell(1.0), spell(0.5), spell(float("inf"))
    ('1', '0.5', 'inf')
    """
    return repr(float(value)).removesuffix(".0")


def number(key: str, text: str) -> float:
    """Read a number in the spelling of `spell`."""
    try:
        value = float(text)
    except ValueError:
        raise EpsilometerError(f"{key}={one_line(text)} is not a number") from None
    if spell(value) != text:
        raise EpsilometerError(f"{key}={one_line(text)} is written {key}={spell(value)}")
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
        names = [name for name, _ in pairs]
        parts = dict(pairs)
        if names == ["cells"]:
            return cls.of({"cells": integer("cells", parts["cells"], minimum=2)})
        if names == ["points", "power"]:
            points = integer("points", parts["points"], minimum=2)
            return cls.of({"points": points, "power": positive("power", parts["power"])})
        raise EpsilometerError(f"{text!r} must be cells=... or points=..._power=...")

    def __str__(self) -> str:
        return "_".join(f"{key}={spell(value)}" for key, value in self.items)

    @property
    def settings(self) -> dict[str, float]:
        """The settings by name."""
        return dict(self.items)


@dataclass(frozen=True)
class Draws:
    """Numbers of draws of each side, in one run.

    The ``first`` ones are for the estimate, or for a search: ``1..N`` has an estimate at every
    prefix of N draws. With ``n+N`` the first n select pair and event, and the ``fresh`` N confirm.

    >>> Draws.parse("20000+50000")
    Draws(first=20000, searched=False, fresh=50000)
    >>> str(Draws(100, searched=True))
    '1..100'
    """

    first: int
    searched: bool = False
    fresh: int = 0

    @classmethod
    def parse(cls, text: str) -> Draws:
        """Read configuration or a path; raise `EpsilometerError` if it is invalid."""
        match = _PATTERN.fullmatch(text)
        if match is None or (match["searched"] and match["fresh"]):
            raise EpsilometerError(
                f"n={one_line(text)} must be a whole number from 1, 1..N for a search up to N, or "
                "n+N to confirm by N fresh samples"
            )
        return cls(int(match["first"]), bool(match["searched"]), int(match["fresh"] or 0))

    def __str__(self) -> str:
        searched = "1.." if self.searched else ""
        fresh = f"+{self.fresh}" if self.fresh else ""
        return f"{searched}{self.first}{fresh}"

    @property
    def first_stage(self) -> Draws:
        """The first draws alone."""
        return Draws(self.first, self.searched)


@dataclass(frozen=True)
class Batch:
    """The runs, ``first`` to ``last``, whose draws share a file."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> Batch:
        """Read a path; raise `EpsilometerError` if it is invalid."""
        first, _, last = text.partition("-")
        for run in (first, last):
            if not re.fullmatch(f"0|{_SIZE}", run):
                message = f"runs={one_line(text)} must be two whole numbers from 0, as 0-9"
                raise EpsilometerError(message)
        if int(first) > int(last):
            raise EpsilometerError(f"runs={text} ends before it begins")
        return cls(int(first), int(last))

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"

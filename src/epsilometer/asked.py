"""What a path asks for: its wildcards, read as names and numbers.

A number is written in one way only, so that one thing has one path; what means nothing is an error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from epsilometer import paths
from epsilometer.errors import EpsilometerError, suggest

Keys = Mapping[str, str]


class Wildcards(dict[str, str]):
    """The wildcards of another job: those of a given one, with some replaced."""

    def __init__(self, wildcards: Any, **replaced: str) -> None:
        super().__init__({**dict(wildcards.items()), **replaced})
        self.__dict__ = self


def entry(entries: Mapping[str, Any], kind: str, name: str) -> Any:
    """Return an entry of the configuration by its name."""
    if name not in entries:
        raise EpsilometerError(f"unknown {kind} {name!r}{suggest(name, entries)}")
    return entries[name]


def power(text: str) -> float:
    """Return a power of bandwidths."""
    value = number("power", text)
    if not 0 < value < math.inf:
        raise EpsilometerError(f"power={text} must be positive and finite")
    return value


def epsilon(text: str) -> float:
    """Return a privacy parameter."""
    value = number("epsilon", text)
    if not 0 < value < math.inf:
        raise EpsilometerError(f"epsilon={text} must be positive and finite")
    return value


def order(text: str) -> float:
    """Return a Rényi order."""
    value = number("lambda", text)
    if not value > 1:
        raise EpsilometerError(f"lambda={text} must be above 1 (inf for pure privacy)")
    return value


def fresh(n: str) -> int:
    """Return the N of n+N; 0 where there is none."""
    return whole("n", n.partition("+")[2]) if "+" in n else 0


def refuse_two_sizes(keys: Keys) -> None:
    """Raise where a path of first samples names fresh ones, too."""
    if "+" in keys["n"]:
        raise EpsilometerError(f"n={keys['n']} must be one size: fresh samples are confirmations")


def runs(keys: Keys) -> tuple[int, int]:
    """Return the first and the last run of a batch."""
    first, last = (whole("runs", keys[key], minimum=0) for key in ("first", "last"))
    if first > last:
        raise EpsilometerError(f"runs={first}-{last} ends before it begins")
    return first, last


def whole(key: str, text: str, *, minimum: int = 1) -> int:
    """Return a whole number, written without signs, points or leading zeros."""
    if not text.isascii() or not text.isdigit() or str(int(text)) != text or int(text) < minimum:
        raise EpsilometerError(f"{key}={text} must be a whole number from {minimum}")
    return int(text)


def number(key: str, text: str) -> float:
    """Return a number that is written as paths write it, so that one thing has one path."""
    try:
        value = float(text)
    except ValueError:
        raise EpsilometerError(f"{key}={text} is not a number") from None
    if paths.number(value) != text:
        raise EpsilometerError(f"{key}={text} is written {key}={paths.number(value)}")
    return value

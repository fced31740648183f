"""What mechanisms on whole databases share: a person is a number in [0, 1], or a bit."""

from __future__ import annotations

from collections.abc import Sequence

from epsilometer import checks
from epsilometer.errors import ArgumentError


def check_people(x: object, count: int) -> None:
    """Raise `ArgumentError` unless ``x`` is a list of ``count`` numbers in [0, 1]."""
    if not isinstance(x, Sequence) or isinstance(x, str) or len(x) != count:
        raise ArgumentError("input", f"must be a list of {count} people's numbers, got {x!r}")
    for person in x:
        if not 0 <= checks.real("input", person) <= 1:
            raise ArgumentError("input", f"must hold numbers in [0, 1], got {person!r}")


def check_bits(x: object, count: int) -> None:
    """Raise `ArgumentError` unless ``x`` is a list of ``count`` zeros and ones."""
    check_people(x, count)
    if isinstance(x, Sequence) and not set(x) <= {0, 1}:
        raise ArgumentError("input", f"must hold zeros and ones, got {x!r}")

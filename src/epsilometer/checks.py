"""Checks of arguments: each returns the converted value, or raises `ArgumentError`.

Types of fields name their checks: a `Checked` dataclass calls them when an object is made.
"""

import math
from collections.abc import Callable
from dataclasses import fields
from functools import cache, partial
from numbers import Integral
from numbers import Real as RealNumber
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from epsilometer.errors import ArgumentError, shown

LARGEST_INTEGER = 2**63 - 1
_MOST_LISTED = 100  # values, for which an error names both ends
LONGEST = 1e8  # seconds: three years


def real(argument: str, value: object) -> float:
    """Return a finite real number."""
    try:
        if not isinstance(value, bool) and isinstance(value, RealNumber) and math.isfinite(value):
            return float(value)
    except OverflowError:  # of a whole number
        pass
    raise ArgumentError(argument, f"must be a finite number, got {shown(value)}")


def positive(argument: str, value: object) -> float:
    """Return a finite number above 0."""
    number = real(argument, value)
    if number <= 0:
        raise ArgumentError(argument, f"must be positive, got {shown(value)}")
    return number


def seconds(argument: str, value: object) -> float:
    """Return a time above 0, short enough for the timers of any system."""
    number = positive(argument, value)
    if number > LONGEST:
        raise ArgumentError(argument, f"must be at most {LONGEST:g} seconds, got {shown(value)}")
    return number


def between_0_and_1(argument: str, value: object) -> float:
    """Return a number strictly inside (0, 1)."""
    number = real(argument, value)
    if not 0 < number < 1:
        raise ArgumentError(argument, f"must lie strictly between 0 and 1, got {shown(value)}")
    return number


def within(argument: str, value: object, low: float, high: float) -> float:
    """Return a finite number in the closed interval [low, high]."""
    number = real(argument, value)
    if not low <= number <= high:
        raise ArgumentError(argument, f"must lie in [{low}, {high}], got {shown(value)}")
    return number


def integer(
    argument: str, value: object, *, minimum: int = 1, maximum: int = LARGEST_INTEGER
) -> int:
    """Return an integer from ``minimum`` to ``maximum``."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise ArgumentError(argument, f"must be an integer, got {shown(value)}")
    number = int(value)
    if not minimum <= number <= maximum:
        known = f"at least {minimum}" if number < minimum else f"at most {maximum}"
        if maximum - minimum < _MOST_LISTED:
            known = f"one of {minimum}, ..., {maximum}"
        raise ArgumentError(argument, f"must be {known}, got {shown(value)}")
    return number


def flag(argument: str, value: object) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise ArgumentError(argument, f"must be true or false, got {shown(value)}")
    return value


def order(argument: str, value: object, *, finite: bool = False) -> float:
    """Return a Rényi order: a real above 1, or infinity for pure differential privacy."""
    if isinstance(value, float) and value == math.inf and not finite:
        return math.inf
    try:
        number = real(argument, value)
    except ArgumentError:
        number = 0.0
    if number <= 1:
        hint = "and finite" if finite else "(inf for pure privacy)"
        raise ArgumentError(argument, f"must be above 1 {hint}, got {shown(value)}")
    return number


def interval(argument: str, lower: object, upper: object) -> tuple[float, float]:
    """Return the two ends of an interval of positive width."""
    low = real(f"{argument}.lower", lower)
    high = real(f"{argument}.upper", upper)
    if not low < high:
        got = f"[{shown(lower)}, {shown(upper)}]"
        raise ArgumentError(argument, f"must have lower < upper, got {got}")
    return low, high


def choice(argument: str, value: object, choices: tuple[object, ...]) -> object:
    """Return one of some values."""
    if value not in choices:
        names = list(map(str, choices))
        known = f"one of {', '.join(names)}" if len(names) > 2 else " or ".join(names)
        raise ArgumentError(argument, f"must be {known}, got {shown(value)}")
    return value


Real = Annotated[float, real]
Positive = Annotated[float, positive]
Fractional = Annotated[float, between_0_and_1]
Order = Annotated[float, order]
Count = Annotated[int, integer]
Several = Annotated[int, partial(integer, minimum=2)]
Flag = Annotated[bool, flag]


class Checked:
    """A dataclass whose fields are checked by their types: those above, and `Literal`."""

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for name, check, optional in _checks_of(kind):
            value = getattr(self, name)
            if not (optional and value is None):
                check(name, value)


@cache
def _checks_of(kind: Any) -> list[tuple[str, Callable[[str, object], object], bool]]:
    """Return field, check and whether None is allowed, for each field that has a check."""
    hints = get_type_hints(kind, include_extras=True)
    checks = []
    for name in (field.name for field in fields(kind)):
        alternatives = get_args(hints[name])
        for part in (hints[name], *alternatives):
            if get_origin(part) is Annotated:
                checks.append((name, part.__metadata__[0], type(None) in alternatives))
            elif get_origin(part) is Literal:
                check = partial(choice, choices=get_args(part))
                checks.append((name, check, type(None) in alternatives))
    return checks

"""Numbers as arrays of whole numbers, or of reals and their remainders.

A remainder is the nearest real of the difference between a number and the reals before: 1 for
2^60 + 1. Further ones follow until all together tell the number from others of so many digits.
"""

from __future__ import annotations

import itertools
import math
import re
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.arrays import Bools, Counts, Floats
from epsilometer_audit.events.events import MINUS_ZERO

Array = NDArray[Any]
Values = list[Any] | Array  # arrays of numbers only, the outputs along the first axis

EXACT = 2**53
"""Whole numbers up to here are exact as reals."""
NUMBER = re.compile(  # as a user, C or awk writes it
    r"[+-]?(nan|inf(inity)?|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)", re.IGNORECASE
)
_LIMITS = np.iinfo(np.int64)
NONE = int(_LIMITS.min)
"""The code for a missing number in a table of whole numbers."""
_DOUBLE = 8  # bytes
_REALS = 21  # that hold any whole number below 2^1024
_DECIMALS = 400  # places of a decimal's first digit
_LONG = 4000  # digits, of which Python makes an integer
_FEW = 16


@np.errstate(over="ignore")  # a long double may be too large for a double
def as_numbers(values: Values) -> tuple[Array, Array | None, bool]:
    """Return numbers, their remainders, and whether both tell each of them from others.

    They are whole numbers (int64), or reals (float64) with remainders if not all are 0, of the
    shape of the reals with a last axis.
    """
    if isinstance(values, np.ndarray):
        return _of_array(values)
    kinds = set(map(type, values))
    with suppress(OverflowError):
        if are_whole(values):
            whole = values if kinds <= {int, bool} else [int(value) for value in values]
            return np.array(whole, np.int64), None, True
        if all(issubclass(kind, (int, float, np.number, np.bool_)) for kind in kinds):
            reals = np.array(values, np.float64)
            exact = all(issubclass(kind, (float, np.float32, np.float16)) for kind in kinds)
            if exact or (np.longdouble not in kinds and not (np.abs(reals) >= EXACT).any()):
                return reals, None, True
    rows, told = zip(*map(_split, values), strict=True)
    table = np.array(list(itertools.zip_longest(*rows, fillvalue=0.0))).T
    return table[:, 0], table[:, 1:] if table[:, 1:].any() else None, all(told)


def are_real(values: Array) -> bool:
    """Tell whether an array holds numbers that are not complex."""
    return values.dtype.kind in "biuf"


def are_whole(values: Values) -> bool:
    """Tell whether all values are whole by their types."""
    if isinstance(values, np.ndarray):
        return values.dtype.kind in "biu"
    return all(issubclass(kind, (int, np.integer, np.bool_)) for kind in set(map(type, values)))


def type_of(kind: type) -> str:
    """Return the name of a type of numbers, whatever its number of bits."""
    for name, kinds in (("bool", (bool, np.bool_)), ("float", (float, np.floating))):
        if issubclass(kind, kinds):
            return name
    return "int" if issubclass(kind, (int, np.integer)) else kind.__name__


def types_of(values: Values) -> set[str]:
    """Return the names of the types of numbers."""
    if isinstance(values, np.ndarray):
        return {type_of(values.dtype.type)}
    return set(map(type_of, set(map(type, values))))


def typed(values: Values) -> bool:
    """Tell whether numbers of the same value may have different types."""
    names = types_of(values)
    if names != {"int", "float"}:
        return len(names) > 1
    reals = {v for v in values if isinstance(v, (float, np.floating)) and float(v).is_integer()}
    whole = {v for v in values if not isinstance(v, (float, np.floating))}
    return not whole.isdisjoint(reals) or (len(whole) > _FEW and len(reals) > 0)


def both_zeros(*numbers: Array) -> bool:
    """Tell whether there are zeros of both signs."""
    signs = [np.signbit(some[some == 0]) for some in numbers]
    return any(each.any() for each in signs) and not all(each.all() for each in signs)


def with_signs(numbers: Array, where: Bools | bool = True) -> Floats:
    """Return reals with `MINUS_ZERO` in place of -0.0, at some positions."""
    return np.where((numbers == 0) & np.signbit(numbers) & where, MINUS_ZERO, numbers)


def _of_array(values: Array) -> tuple[Array, Array | None, bool]:
    kind = values.dtype.kind
    if kind == "f" and (values.dtype.itemsize <= _DOUBLE or not values.size):
        return values.astype(np.float64, copy=False), None, True
    if kind in "bi" or (kind == "u" and not (values > _LIMITS.max).any()):
        return values.astype(np.int64, copy=False), None, True
    reals, rest, told = as_numbers(list(values.ravel()))
    rest = None if rest is None else rest.reshape(*values.shape, -1)
    return reals.reshape(values.shape), rest, told


def _split(value: Any) -> tuple[list[float], bool]:
    """Return reals that add up to a number, and whether they tell it from others."""
    try:
        real = float(value)
    except OverflowError:
        return [math.copysign(math.inf, value > 0 or -1)], False
    except (ValueError, TypeError, ArithmeticError):  # a signalling NaN
        return [math.nan], True
    if not math.isfinite(real):
        return [real], bool(value == real or math.isnan(real))
    unit = Fraction(0)  # two such numbers differ by more
    if isinstance(value, Fraction):
        unit = Fraction(1, 2 * value.denominator**2)
    elif isinstance(value, Decimal):
        if abs(value.adjusted()) > _DECIMALS:  # no huge fractions
            return [real], not value
        unit = Fraction(1, 2 * 10 ** -min(int(value.as_tuple().exponent), 0))
    elif isinstance(value, (int, np.integer, np.bool_)):
        value = int(value)
    reals, left = [real], Fraction(*value.as_integer_ratio()) - Fraction(real)
    while left and (abs(left) >= unit or len(reals) == 1) and len(reals) < _REALS:
        reals.append(float(left))
        left -= Fraction(reals[-1])
    return reals, abs(left) <= unit


def number_of(text: str) -> int | float | Decimal:
    """Return the number that a text spells: a decimal if its nearest real has other digits.

    Raise `ValueError` if it is none.
    """
    if text.strip().lstrip("+-").isdigit() and len(text) < _LONG:
        return int(text)
    real = float(text)
    if text == repr(real) or not any(map(str.isdigit, text)):
        return real
    try:
        exact = Decimal(text.strip())
    except InvalidOperation:  # of an exponent that no decimal has
        return real
    digits = len(exact.as_tuple().digits)
    if math.isfinite(real) and exact in (Decimal(repr(real)), Decimal(f"{real:.{digits - 1}e}")):
        return real
    return exact


def floats(numbers: Array) -> Floats:
    """Return numbers as reals."""
    return numbers.astype(np.float64, copy=False)


def remainders_of(numbers: Array, rest: Array | None) -> Array | None:
    """Return the remainders of numbers as reals, if not all are 0."""
    if numbers.dtype != np.int64 or not numbers.size:
        return rest
    if numbers.min() >= -EXACT and numbers.max() <= EXACT:
        return None
    reals = floats(numbers)
    below = np.minimum(reals, 2.0**63 - 1024)
    rest = (numbers - below.astype(np.int64)).astype(np.float64) - (reals - below)
    return rest[..., None] if rest.any() else None


def as_whole(numbers: Array, rest: Array | None) -> Counts:
    """Return int64: `NONE` for numbers that are not whole, the nearest one beyond its limits."""
    if numbers.dtype == np.int64:
        return numbers
    whole = np.full(numbers.shape, NONE)
    inside = (np.abs(numbers) < 2.0**63) & (numbers == np.floor(numbers))
    whole[inside] = numbers[inside].astype(np.int64)
    whole[numbers >= 2.0**63] = _LIMITS.max
    first = np.zeros(0) if rest is None else rest[..., 0]
    for i in np.flatnonzero(first).tolist():
        number, remainder = float(numbers.flat[i]), float(first.flat[i])
        exact = remainder.is_integer() and number.is_integer()
        total = int(number) + int(remainder) if exact else NONE
        whole.flat[i] = min(max(total, NONE), _LIMITS.max)
    return whole

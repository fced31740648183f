"""Numbers as arrays of whole numbers, or of reals and their remainders.

A remainder is the nearest real of the difference between a number and its nearest real: 1 for
2^60 + 1.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.numerics.arrays import Counts, Floats

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
_BELOW = np.nextafter(2.0**63, 0)  # the greatest real in int64
_LONG = 4000  # digits, of which Python makes an integer


@dataclass(frozen=True)
class Numbers:
    """Whole numbers (int64), or reals (float64).

    ``corrections`` are the remainders of reals, of their shape, None if all are 0. ``exact`` tells
    whether both tell each of them from all others.
    """

    nearest: Array
    corrections: Array | None = None
    exact: bool = True

    @property
    def floats(self) -> Floats:
        """The nearest reals."""
        return self.nearest.astype(np.float64, copy=False)

    @property
    def remainders(self) -> Array | None:
        """The remainders of the nearest reals, also of whole numbers, if not all are 0."""
        numbers = self.nearest
        if numbers.dtype != np.int64 or not numbers.size:
            return self.corrections
        if numbers.min() >= -EXACT and numbers.max() <= EXACT:
            return None
        below = np.minimum(self.floats, _BELOW)
        remainders = (numbers - below.astype(np.int64)).astype(np.float64) - (self.floats - below)
        return remainders if remainders.any() else None

    @property
    def whole(self) -> Counts:
        """Whole numbers: `NONE` for any other, the nearest one beyond the limits of int64."""
        numbers = self.nearest
        if numbers.dtype == np.int64:
            return numbers
        whole = np.full(numbers.shape, NONE)
        inside = (np.abs(numbers) < 2.0**63) & (numbers == np.floor(numbers))
        whole[inside] = numbers[inside].astype(np.int64)
        whole[numbers >= 2.0**63] = _LIMITS.max
        if self.corrections is None:
            return whole
        for i in np.flatnonzero(self.corrections).tolist():
            number = float(numbers.flat[i])
            correction = float(self.corrections.flat[i])
            total = NONE
            if correction.is_integer() and number.is_integer():
                total = int(number) + int(correction)
            whole.flat[i] = min(max(total, NONE), _LIMITS.max)
        return whole


@np.errstate(over="ignore")  # a long double may be too large for a double
def as_numbers(values: Values) -> Numbers:
    """Return numbers of any types."""
    if isinstance(values, np.ndarray):
        return _of_array(values)
    kinds = set(map(type, values))
    with suppress(OverflowError):
        if are_whole(values):
            return Numbers(np.array(list(map(int, values)), np.int64))
        if all(issubclass(kind, (int, float, np.number, np.bool_)) for kind in kinds):
            reals = np.array(values, np.float64)
            are_reals = all(issubclass(kind, (float, np.float32, np.float16)) for kind in kinds)
            if are_reals or (np.longdouble not in kinds and not (np.abs(reals) >= EXACT).any()):
                return Numbers(reals)
    nearest, corrections, exact = map(np.array, zip(*map(_split, values), strict=True))
    return Numbers(nearest, corrections if corrections.any() else None, bool(exact.all()))


def are_whole(values: Values) -> bool:
    """Tell whether all values are whole by their types."""
    if isinstance(values, np.ndarray):
        return values.dtype.kind in "biu"
    return all(issubclass(kind, (int, np.integer, np.bool_)) for kind in set(map(type, values)))


def _of_array(values: Array) -> Numbers:
    kind = values.dtype.kind
    if kind == "f" and (np.can_cast(values.dtype, np.float64) or not values.size):
        return Numbers(values.astype(np.float64, copy=False))
    if kind in "bi" or (kind == "u" and not (values > _LIMITS.max).any()):
        return Numbers(values.astype(np.int64, copy=False))
    flat = as_numbers(list(values.ravel()))
    corrections = None if flat.corrections is None else flat.corrections.reshape(values.shape)
    return Numbers(flat.nearest.reshape(values.shape), corrections, flat.exact)


def _split(value: Any) -> tuple[float, float, bool]:
    """Return a number's nearest real, its remainder, and whether both tell it from others."""
    try:
        real = float(value)
    except OverflowError:
        return (math.inf if value > 0 else -math.inf), 0.0, False
    except (ValueError, TypeError, ArithmeticError):  # a signalling NaN
        return math.nan, 0.0, True
    if not math.isfinite(real):
        return real, 0.0, bool(value == real or math.isnan(real))
    if not real:  # 0, or too small for a real: no huge fractions
        return real, 0.0, not value
    least = Fraction(0)  # distance of one to another of no more digits, no larger denominator
    if isinstance(value, Fraction):
        least = Fraction(1, value.denominator**2)
    elif isinstance(value, Decimal):
        least = Fraction(1, 10 ** -min(int(value.as_tuple().exponent), 0))
    elif isinstance(value, (int, np.integer, np.bool_)):
        value = int(value)
    exact_remainder = Fraction(*value.as_integer_ratio()) - Fraction(real)
    remainder = float(exact_remainder)
    is_exact = exact_remainder == remainder
    return real, remainder, is_exact or math.ulp(remainder) < least  # both are within an ulp


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

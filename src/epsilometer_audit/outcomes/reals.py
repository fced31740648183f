"""Numbers as arrays of whole numbers, or of reals and their remainders.

A remainder is the difference between a number and its nearest real: 1 for 2^60 + 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.arrays import Bools, Counts, Floats

Array = NDArray[Any]
Values = list[Any] | Array  # arrays of numbers only, the outputs along the first axis

EXACT = 2**53
"""Whole numbers up to here are exact as reals."""
_LIMITS = np.iinfo(np.int64)
NONE = int(_LIMITS.min)
"""The code for a missing number in a table of whole numbers."""
BELOW = -5e-324
"""The code for -0.0 in signed columns."""
_FEW = 16
_HEAD = 1 << 16  # outputs of a batch that are searched for zeros


def as_numbers(values: Values) -> tuple[Array, Array | None]:
    """Return whole numbers (int64), or reals (float64) and their remainders, if not all are 0."""
    if isinstance(values, np.ndarray):
        return _of_array(values)
    kinds = set(map(type, values))
    if are_whole(values):
        try:
            whole = values if kinds <= {int, bool} else [int(value) for value in values]
            return np.array(whole, np.int64), None
        except OverflowError:
            pass
    elif all(issubclass(kind, (float, np.float32, np.float16)) for kind in kinds):
        return np.array(values, np.float64), None
    elif all(issubclass(kind, (int, float, np.number, np.bool_)) for kind in kinds):
        try:
            reals = np.array(values, np.float64)
            if np.longdouble not in kinds and not (np.abs(reals) >= EXACT).any():
                return reals, None
        except OverflowError:
            pass
    pairs = np.array([_split(value) for value in values])
    return pairs[:, 0], pairs[:, 1] if pairs[:, 1].any() else None


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


def typed(values: Values) -> bool:
    """Tell whether numbers of the same value may have different types."""
    if isinstance(values, np.ndarray):
        return False
    names = set(map(type_of, set(map(type, values))))
    if names != {"int", "float"}:
        return len(names) > 1
    reals = {v for v in values if isinstance(v, (float, np.floating)) and float(v).is_integer()}
    whole = {v for v in values if not isinstance(v, (float, np.floating))}
    return not whole.isdisjoint(reals) or (len(whole) > _FEW and len(reals) > 0)


def both_zeros(arrays: Sequence[Array]) -> Array:
    """Tell at which positions of arrays of one shape there are zeros of both signs."""
    heads = [array[:_HEAD] for array in arrays]
    if heads[0].dtype.kind != "f" or all((head != 0).all() for head in heads):
        return np.zeros(heads[0].shape[1:], bool)
    head = np.concatenate(heads)
    zero, negative = head == 0, np.signbit(head)
    return np.asarray((zero & negative).any(axis=0) & (zero & ~negative).any(axis=0))


def with_signs(numbers: Array, where: Bools | bool = True) -> Floats:
    """Return reals with `BELOW` in place of -0.0, at some positions."""
    return np.where((numbers == 0) & np.signbit(numbers) & where, BELOW, numbers)


def _of_array(values: Array) -> tuple[Array, Array | None]:
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "u" and size == 8 and values.size and values.max() > _LIMITS.max:
        reals = values.astype(np.float64)
        below = np.minimum(reals, 2.0**64 - 2048)
        difference = (values - below.astype(np.uint64)).view(np.int64).astype(np.float64)
        rest = difference - (reals - below)
    elif kind in "biu":
        return values.astype(np.int64, copy=False), None
    elif size > 8:
        with np.errstate(all="ignore"):
            reals = values.astype(np.float64)
            rest = np.where(np.isfinite(reals), values - reals, 0).astype(np.float64)
    else:
        return values.astype(np.float64, copy=False), None
    return reals, rest if rest.any() else None


def _split(value: Any) -> tuple[float, float]:
    """Return the nearest real, and the remainder."""
    try:
        real = float(value)
    except OverflowError:
        return math.copysign(math.inf, value > 0 or -1), 0.0
    except (ValueError, TypeError, ArithmeticError):  # a signalling NaN
        return math.nan, 0.0
    rest = 0.0
    if not math.isfinite(real) or isinstance(value, (float, np.float32, np.float16)):
        pass
    elif isinstance(value, np.longdouble):
        rest = float(value - np.longdouble(real))
    elif isinstance(value, (int, np.integer, np.bool_)):
        rest = float(int(value) - int(real))
    elif isinstance(value, Fraction) or (
        isinstance(value, Decimal) and abs(value.adjusted()) < 400  # no huge fractions
    ):
        rest = float(Fraction(value) - Fraction(real))
    return real, rest


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
    return rest if rest.any() else None


def as_whole(numbers: Array, rest: Array | None) -> Counts:
    """Return int64: `NONE` for numbers that are not whole, the nearest one beyond its limits."""
    if numbers.dtype == np.int64:
        return numbers
    whole = np.full(numbers.shape, NONE)
    inside = (np.abs(numbers) < 2.0**63) & (numbers == np.floor(numbers))
    whole[inside] = numbers[inside].astype(np.int64)
    whole[numbers >= 2.0**63] = _LIMITS.max
    for i in np.flatnonzero(0.0 if rest is None else rest).tolist():
        number, remainder = float(numbers.flat[i]), rest.flat[i]  # type: ignore[union-attr]
        exact = remainder.is_integer() and number.is_integer()
        total = int(number) + int(remainder) if exact else NONE
        whole.flat[i] = min(max(total, NONE), _LIMITS.max)
    return whole

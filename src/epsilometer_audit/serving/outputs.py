"""Outputs of a function: arrays where that loses nothing, plain values elsewhere."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import itertools
import uuid
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from numbers import Number, Rational
from pathlib import PurePath
from typing import Any

from .errors import Broken, type_text
from .optional import np

ATOMS = (float, int, bool, str, type(None), bytes)
_MOST_BITS = 14_284  # fewer than any number of 4301 digits has
_DATES = (datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo)
_VALUES = (str, bytes, Number, Enum, *_DATES, uuid.UUID, PurePath, range, type)


@dataclass(frozen=True)
class Failure:
    """An outcome: the mechanism failed, with an exception of this type and this message."""

    type_name: str
    message: str = ""

    def __str__(self) -> str:
        return f"failed with {self.type_name}{': ' if self.message else ''}{self.message}"

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Return the outcome that an exception is."""
        try:
            return cls(type(error).__name__, str(error))
        except Exception:  # its text cannot be made
            return cls(type(error).__name__)


class Plain(list):  # type: ignore[type-arg]
    """A list of plain values; see `compact`. The types of its numbers may be those of a column."""

    def __getitem__(self, at: Any) -> Any:
        values = super().__getitem__(at)
        return type(self)(values) if isinstance(at, slice) else values


class Own(Plain):
    """Plain values of which each has a type of its own, which is a part of the output."""


if np is not None:

    class OwnArray(np.ndarray):
        """Numbers that happen to have one type, where each has its own; see `Own`."""


def owned(outputs: Any) -> Any:
    """Return an array or a list of outputs, with their types as their own."""
    return Own(outputs) if isinstance(outputs, list) else outputs.view(OwnArray)


def of_array(array: Any) -> Any:
    """Return outputs that are an array of any type as an array of numbers, or a list.

    The type that its entries share is no outcome: complex numbers without imaginary parts are real
    ones, and bytes in UTF-8 texts.
    """
    if array.ndim > 1 and array.size == 0:
        raise Broken("returned outputs without entries")
    if array.dtype.kind in "MmV":
        kind = "records" if array.dtype.kind == "V" else "dates or durations"
        raise Broken(f"returned an array of {kind}; return numbers or a list")
    if array.dtype.kind == "c":
        array = array.real if (array.imag == 0).all() else array
    if array.dtype.kind == "c" and array.imag.all():
        array = np.stack([array.real, array.imag], -1)
    if array.dtype.kind in "biuf":
        return array
    values = array.tolist()
    return compact(decoded(values) if array.dtype.kind == "S" else values)


def decoded(value: Any) -> Any:
    """Return bytes as a text in UTF-8, if they are one."""
    if isinstance(value, list):
        return list(map(decoded, value))
    with contextlib.suppress(UnicodeDecodeError):
        return value.decode()
    return value


def compact(values: list[Any], done: tuple[type, ...] = ATOMS, *, own: bool = False) -> Any:
    """Return outputs as an array where that loses nothing, as a list of plain values otherwise.

    Plain are numbers, texts, bytes, None, `Failure`, dictionaries, sets and tuples of these, and
    dates and other values of the standard library that differ in their text. Values of the types
    ``done`` are plain already. What outputs of a call have in common is no outcome: their types are
    kept where each has its ``own``, from a call of its own, or where they differ within the call.
    """
    if np is not None and values and all(type(value) is np.ndarray for value in values):
        shapes = {(value.shape, value.dtype) for value in values}
        if len(shapes) == 1 and values[0].ndim and not values[0].dtype.hasobject:
            return of_array(np.stack(values))
    kinds = {type(value) for value in values}
    if np is not None and kinds in ({list}, {tuple}) and (array := _vectors(values)) is not None:
        return owned(array) if own else array
    if not kinds <= set(done):
        values = [value if type(value) in done else plain(value) for value in values]
        kinds = {type(value) for value in values}
    if own or several_types(values):
        return owned(compact(values, done)) if own else Own(values)
    if np is None or not values:
        return Plain(values)
    array = _vectors(values) if kinds == {tuple} else _numbers(values)
    if array is not None:
        return array
    return Plain(printable(value) if type(value) is int else value for value in values)


def several_types(values: list[Any]) -> bool:
    """Tell whether equal numbers among values are of several of Python's types."""
    kinds = {type(value) for value in values} & {float, int, bool}
    numbers = [{value for value in values if type(value) is kind} for kind in kinds]
    return any(not a.isdisjoint(b) for a, b in itertools.combinations(numbers, 2))


def _numbers(values: list[Any]) -> Any:
    """Return numbers of one type, floats, integers or truth values, as an array; else None."""
    kinds = {type(value) for value in values}
    with contextlib.suppress(OverflowError):
        for kind in (float, int, bool):
            if kinds == {kind}:
                return np.array(values, {float: np.float64, int: np.int64, bool: bool}[kind])
    return None


def _vectors(values: list[Any]) -> Any:
    """Return sequences of as many numbers of one type as an array; else None."""
    lengths = set(map(len, values))
    if lengths == {0} or len(lengths) > 1:
        return None
    flat = _numbers(list(itertools.chain.from_iterable(values)))
    return None if flat is None else flat.reshape(len(values), -1)


def printable(value: Any) -> Any:
    """Return a rational number; raise `Broken` if Python prints no number of so many digits."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        raise Broken("returned a number of more than 4300 digits; return it as a text")
    return value


def plain(value: Any) -> Any:  # noqa: PLR0911
    """Return one output as numbers, texts, None, tuples, sets and dictionaries of these.

    A dataclass or a record becomes a dictionary of its fields.
    """
    if type(value) in ATOMS or isinstance(value, Failure):
        return value if type(value) is not int else printable(value)
    if type(value) is complex:
        return (value.real, value.imag) if value.imag else value.real
    if has_labels(value):
        raise Broken(f"returned {type_text(value)}; return its values, in a list or an array")
    if np is not None and isinstance(value, (np.generic, np.ndarray)):
        if value.dtype.kind in "MmVS":
            entries = of_array(np.reshape(value, -1))
            return tuple(map(plain, entries)) if value.ndim else entries[0]
        item = value.tolist()
        return item if isinstance(item, np.generic) else plain(item)
    if type(value).__name__ == "NAType":  # of pandas
        return None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (field.name for field in dataclasses.fields(value))
        return {name: plain(getattr(value, name)) for name in fields if hasattr(value, name)}
    for kinds, convert in _CONTAINERS:
        if isinstance(value, kinds):
            return convert(value)
    if np is not None and hasattr(value, "__array__"):
        return plain(np.asarray(value))
    if isinstance(value, _VALUES):
        return printable(value) if isinstance(value, Rational) else value
    raise Broken(
        f"returned {type_text(value)}; return numbers, strings, None, lists, dictionaries, "
        "dataclasses or arrays"
    )


_LABELS = ("index", "columns", "coords", "schema", "mask", "unit", "units", "categories")


def has_labels(value: Any) -> bool:
    """Tell whether a value is a table, whose array does not hold all of it."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__array__"):  # also NumPy's texts
        return False
    return any(hasattr(value, name) for name in _LABELS)


def _frozen(value: Any) -> Any:
    """Return a plain value in a hashable form."""
    if isinstance(value, dict):
        return tuple((key, _frozen(entry)) for key, entry in value.items())
    return tuple(map(_frozen, value)) if isinstance(value, tuple) else value


_CONTAINERS: list[tuple[Any, Callable[[Any], Any]]] = [
    ((list, tuple, collections.deque), lambda value: tuple(plain(entry) for entry in value)),
    (Mapping, lambda value: {_frozen(plain(k)): plain(v) for k, v in value.items()}),
    (Set, lambda value: frozenset(_frozen(plain(member)) for member in value)),
    (bytearray, bytes),
]


def as_json(value: Any) -> Any:  # noqa: PLR0911
    """Return a plain output for JSON.

    Numbers that JSON does not know, sets, and mappings whose keys are not texts are behind ``$``.
    """
    if isinstance(value, Failure):
        message = {"message": value.message} if value.message else {}
        return {"error": value.type_name, **message}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    if isinstance(value, (list, tuple)):
        return [as_json(entry) for entry in value]
    if isinstance(value, frozenset):
        return {"$set": [as_json(member) for member in sorted(value, key=repr)]}
    if isinstance(value, dict):
        if all(type(key) is str and key[:1] != "$" for key in value):
            return {key: as_json(entry) for key, entry in value.items()}
        return {"$items": [[as_json(key), as_json(entry)] for key, entry in value.items()]}
    if type(value) in ATOMS:
        return value
    if isinstance(value, Number) and not isinstance(value, Enum):
        if np is not None and isinstance(value, np.floating):  # a long double
            real = float(value)
            if real == value or np.isnan(value):
                return real
        return {"$number": str(value)}
    return str(value)


def from_json(json_object: dict[str, Any]) -> Any:
    """Return the set or dictionary that `as_json` wrote as this object; others as they are."""
    with contextlib.suppress(ValueError, TypeError, ArithmeticError):  # of another program
        if set(json_object) == {"$set"}:
            return frozenset(plain(member) for member in json_object["$set"])
        if set(json_object) == {"$items"}:
            return {_frozen(plain(key)): entry for key, entry in json_object["$items"]}
        if set(json_object) == {"$number"}:
            number: str = json_object["$number"]
            return Fraction(number) if "/" in number else Decimal(number)
        if set(json_object) == {"$bytes"}:
            return bytes.fromhex(json_object["$bytes"])
    return json_object

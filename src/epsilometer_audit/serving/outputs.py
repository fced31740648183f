"""Outputs of a function: arrays where that loses nothing, plain values elsewhere."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import functools
import itertools
import operator
import uuid
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from numbers import Number, Rational
from pathlib import PurePath
from typing import Any

from .errors import Broken, type_text
from .modules import np

ATOMS = (float, int, bool, str, type(None), bytes)
_SIMPLE = frozenset(ATOMS) - {int}  # of an integer, the digits must be counted
_MOST_BITS = 14_284  # fewer than any number of 4301 digits has
FACTS = "$"  # the key in a mapping for the type of its record or table
_DATES = (datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo)
_VALUES = (str, bytes, Number, Enum, *_DATES, uuid.UUID, PurePath, range, type)


@dataclass(frozen=True)
class Failure:
    """An outcome: the mechanism failed, with an exception of this type and this message."""

    type_name: str
    message: str = ""

    def __str__(self) -> str:
        text = f"failed with {self.type_name}"
        return f"{text}: {self.message}" if self.message else text


class Plain(list):  # type: ignore[type-arg]
    """A list of plain values; see `compact`."""

    def __getitem__(self, at: Any) -> Any:
        values = super().__getitem__(at)
        return type(self)(values) if isinstance(at, slice) else values


def of_array(array: Any) -> Any:
    """Return outputs that are an array of any type as an array of numbers, or a list.

    The type that its entries share is no outcome: dates are whole nanoseconds, complex numbers
    without imaginary parts real ones, bytes in UTF-8 texts, and records have no types.
    """
    if isinstance(array, np.ma.MaskedArray):
        array = np.array(array.tolist(), object) if array.mask.any() else array.data
    if array.dtype.kind in "Mm":
        array = array.astype(f"{array.dtype.kind}8[ns]")
    if array.dtype.kind == "c":
        if not array.imag.any():
            array = array.real
        elif array.imag.all():
            array = np.stack([array.real, array.imag], -1)
    if array.dtype.kind in "biuf":
        return array
    values = array.tolist()
    if array.dtype.kind in "SV":
        values = decoded(values)
    return compact(values)


def decoded(value: Any) -> Any:
    """Return bytes as a text in UTF-8, if they are one."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(decoded, value))
    with contextlib.suppress(UnicodeDecodeError, AttributeError):
        return value.decode()
    return value


def compact(values: list[Any], done: tuple[type, ...] = ATOMS) -> Any:
    """Return outputs as an array where that loses nothing, as a list of plain values otherwise.

    Plain are numbers, texts, bytes, None, `Failure`, dictionaries, sets and tuples of these, and
    dates and other values of the standard library that differ in their text. Values of the types
    ``done`` are plain already.
    """
    if np is not None and set(map(type, values)) == {np.ndarray}:
        shapes = {(value.shape, value.dtype) for value in values}
        if len(shapes) == 1 and values[0].ndim and not values[0].dtype.hasobject:
            return of_array(np.stack(values))
    array = array_of(values)
    if array is None and not set(map(type, values)) <= set(done):
        values = [value if type(value) in done else plain(value) for value in values]
        array = array_of(values)
    if array is not None:
        return array
    if int in set(map(type, values)):
        values = [printable(value) if type(value) is int else value for value in values]
    return Plain(values)


def array_of(values: list[Any], depth: int = 1) -> Any:
    """Return numbers of one type, or sequences of one shape to a depth, as an array; else None."""
    kinds = set(map(type, values))
    if np is None or len(kinds) != 1:
        return None
    (kind,) = kinds
    if kind in (list, tuple) and depth and len(set(map(len, values))) == 1:
        inside = array_of(list(itertools.chain.from_iterable(values)), depth - 1)
        if inside is None:
            return None
        return inside.reshape(len(values), -1, *inside.shape[1:])
    if kind in (float, bool):
        return np.array(values, kind)
    if kind is int:
        with contextlib.suppress(OverflowError):
            return np.array(values, np.int64)
    return None


def printable(value: Any) -> Any:
    """Return a rational number; raise `Broken` if Python prints no number of so many digits."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        raise Broken("returned a number of more than 4300 digits; return it as a text")
    return value


def plain(value: Any) -> Any:
    """Return one output as plain values; with labels, as a dictionary, its type under ``$``."""
    return _converter(type(value))(value)  # type: ignore[arg-type]


@functools.lru_cache(maxsize=256)
def _converter(kind: type) -> Callable[[Any], Any]:  # noqa: PLR0911
    """Return the function that makes values of a type plain."""
    if kind is int:
        return printable
    if kind in ATOMS or issubclass(kind, Failure):
        return lambda value: value
    if kind is complex:
        return _of_complex
    if np is not None and issubclass(kind, (np.generic, np.ndarray)):
        return _of_numpy
    if kind.__name__ == "NAType":  # of pandas
        return lambda _: None
    if dataclasses.is_dataclass(kind) or hasattr(kind, "__attrs_attrs__"):
        return _record
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return lambda value: _mapping(kind.__name__, zip(kind._fields, value))
    if any(hasattr(kind, name) for name in ("iloc", "get_columns", "to_frame")):
        return _labelled
    for kinds, convert in _CONTAINERS:
        if issubclass(kind, kinds):
            return convert
    return _other


def _of_complex(value: complex) -> Any:
    """Return a real number, or both parts."""
    return (value.real, value.imag) if value.imag else value.real


def _of_numpy(value: Any) -> Any:
    """Return an array, or a value of one, as plain values."""
    if value.ndim and value.dtype.kind in "VMmSc":
        entries = of_array(value)
        if not isinstance(entries, list):
            entries = entries.tolist()
        return tuple(map(plain, entries))
    if value.dtype.names:
        return _mapping("", ((name, value[name]) for name in value.dtype.names))
    if value.dtype.kind in "MmS":
        item = of_array(np.reshape(value, 1))[0]
    else:
        item = value.tolist()
    return item if isinstance(item, np.generic) else plain(item)


def _record(value: Any) -> Any:
    """Return an object of a dataclass, or of attrs, as a dictionary."""
    entries = []
    for field in getattr(value, "__attrs_attrs__", None) or dataclasses.fields(value):
        if hasattr(value, field.name):
            entries.append((field.name, getattr(value, field.name)))
    return _mapping(type(value).__name__, entries)


def _other(value: Any) -> Any:
    """Return a value of the standard library, or raise `Broken`."""
    if np is not None and hasattr(value, "__array__"):
        if not any(hasattr(value, name) for name in _LABELS):
            return plain(np.asarray(value))
    elif isinstance(value, _VALUES):
        return printable(value) if isinstance(value, Rational) else value
    if hasattr(value, "cr_frame"):
        value.close()  # a coroutine, of which Python would warn
    raise Broken(
        f"returned {type_text(value)}; return numbers, strings, None, lists, dictionaries, "
        "dataclasses, arrays or tables"
    )


def _simple(values: Iterable[Any]) -> bool:
    """Tell whether all values are plain already."""
    return set(map(type, values)) <= _SIMPLE


_LABELS = ("index", "columns", "coords", "schema", "mask", "unit", "units", "categories")


def _labelled(value: Any) -> Any:
    """Return a table, or a column, as a dictionary from its labels."""
    table = _table(value)
    if table is None:
        return _other(value)
    labels = table.labels
    columns = table.columns
    if hasattr(type(value), "columns"):  # a table, not a column
        text = _text_of_table(value, table.types)
        if labels:
            columns = [(name, _mapping("", zip(labels, column))) for name, column in columns]
        return _mapping(text, columns)
    ((name, entries),) = columns
    facts = [*table.types, *(labels or ())]
    if name is not None:
        facts.append(repr(name))
    text = _text_of_table(value, facts)
    if labels is None:
        return text, plain(entries)
    return _mapping(text, zip(labels, entries))


def _text_of_table(value: Any, facts: Iterable[Any]) -> str:
    return " ".join(map(str, [type(value).__name__, "of", *facts]))


@dataclass(frozen=True)
class _Table:
    """A table of pandas or Polars: types, labels of its rows if there are any, lists by name."""

    types: list[Any]
    labels: list[Any] | None
    columns: list[tuple[Any, Any]]


def _table(value: Any) -> _Table | None:
    """Return the parts of a table or a column of pandas or Polars; None of other values."""
    kind = type(value)  # a label may be that of an attribute
    if hasattr(kind, "get_columns"):
        columns = value.get_columns()
    elif hasattr(kind, "iloc") and hasattr(kind, "columns"):
        columns = [column for _, column in value.items()]
    elif hasattr(kind, "to_list") and hasattr(kind, "to_frame"):
        columns = [value]
    else:
        return None
    labels = None
    types = [_type(column.dtype) for column in columns]
    if hasattr(kind, "iloc"):
        labels = value.index.tolist()
        types += ["by", _type(value.index.dtype), *filter(None, value.index.names)]
    return _Table(types, labels, [(column.name, column.to_list()) for column in columns])


def _type(dtype: Any) -> str:
    categories = getattr(dtype, "categories", None)
    if categories is None:
        return _text(dtype)
    return f"{dtype} of {list(categories)}"


_text = functools.lru_cache(maxsize=64)(str)


def _mapping(facts: Any, pairs: Iterable[tuple[Any, Any]]) -> Any:
    """Return values by their labels, or pairs of both where a label occurs twice."""
    entries = [(_frozen(plain(label)), plain(value)) for label, value in pairs]
    labels = {label for label, _ in entries}
    holds_nan = any(map(operator.ne, labels, labels))
    if len(labels) < len(entries) or FACTS in labels or holds_nan:
        return str(facts), *entries
    mapping = dict(entries)
    if facts:
        mapping[FACTS] = str(facts)
    return mapping


def _dictionary(value: Any) -> Any:
    """Return a mapping as a dictionary of plain values."""
    if type(value) is dict and set(map(type, value)) == {str} and _simple(value.values()):
        return value.copy()
    return {_frozen(plain(key)): plain(entry) for key, entry in value.items()}


def _frozen(value: Any) -> Any:
    """Return a plain value in a hashable form."""
    if isinstance(value, dict):
        return tuple((key, _frozen(entry)) for key, entry in value.items())
    if isinstance(value, tuple):
        return tuple(map(_frozen, value))
    return value


def rows(table: Any, *, index: bool = True) -> Any:
    """Return the rows of a table as outputs: dictionaries of its columns, or values.

    Anything but a table or a column is returned as it is. With ``index`` the labels of rows are
    part of the outputs, unless they only count the rows.
    """
    parts = _table(table)
    if parts is None:
        return table
    labels = parts.labels
    columns = parts.columns
    if index and labels is not None and labels != list(range(len(labels))):
        columns = [("index", labels), *columns]
    elif not hasattr(type(table), "columns"):  # a column
        if np is not None and hasattr(table, "iloc"):
            return np.array(table)
        return columns[0][1]
    names, lists = zip(*columns)
    return [_mapping("", zip(names, row)) for row in zip(*lists)]


_CONTAINERS: list[tuple[Any, Callable[[Any], Any]]] = [
    ((list, tuple, collections.deque), lambda v: tuple(v if _simple(v) else map(plain, v))),
    (Mapping, _dictionary),
    (Set, lambda value: frozenset(_frozen(plain(member)) for member in value)),
    (bytearray, bytes),
]


def as_json(value: Any) -> Any:  # noqa: PLR0911
    """Return a plain output for JSON.

    Numbers that JSON does not know, sets, and mappings whose keys are not texts are behind ``$``.
    """
    if isinstance(value, Failure):
        failure = {"error": value.type_name}
        if value.message:
            failure["message"] = value.message
        return failure
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
        return {"$number": str(value)}
    return str(value)


def from_json(json_object: dict[str, Any]) -> Any:
    """Return the set or dictionary that `as_json` wrote as this object; others as they are."""
    with contextlib.suppress(ValueError, TypeError, ArithmeticError):  # another, or wrong
        ((kind, value),) = json_object.items()
        if kind == "$set":
            return frozenset(map(plain, value))
        if kind == "$items":
            return {_frozen(plain(key)): entry for key, entry in value}
        if kind == "$number":
            return Fraction(value) if "/" in value else Decimal(value)
        if kind == "$bytes":
            return bytes.fromhex(value)
    return json_object

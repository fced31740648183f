"""Declarations of domains, plain values of JSON or YAML, are read and checked here."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, NoReturn

from epsilometer import checks
from epsilometer.errors import ArgumentError, shown, suggest
from epsilometer_audit.question.entries import (
    NORMS,
    Choices,
    Counts,
    Entry,
    Number,
    Row,
    Space,
    Vector,
)
from epsilometer_audit.question.tables import Table

_ADD = "add or remove a row"
_REPLACE = "replace a row"
_ORDER = "any order"
_FLIP = "flip one"
_ANY = "any"
_LONGEST = 10_000  # rows, bits, columns
_WIDEST = 1000  # entries of a row
_FARTHEST = 1e100  # whole number: sums and products are finite as floats
MAPPING = """a mapping, as {"values": [0, 1]}"""


def must(where: str, wanted: str, value: Any) -> NoReturn:
    """Raise the error that a value is not as it must be."""
    raise ArgumentError(where, f"must be {wanted}, got {shown(value)}")


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _whole(where: str, value: Any) -> int:
    if not isinstance(value, Integral | float) or value != value // 1:
        must(where, "a whole number", value)
    checks.within(where, value, -_FARTHEST, _FARTHEST)
    return int(value)


_size = partial(checks.integer, maximum=_LONGEST)


def _ends(where: str, value: Any) -> tuple[Any, Any]:
    if not _is_list(value) or len(value) != 2:
        must(where, "two numbers, [lower, upper]", value)
    low, high = value
    if checks.real(where, low) >= checks.real(where, high):
        must(where, "[lower, upper] with lower < upper", value)
    return low, high


def _sizes(where: str, value: Any) -> tuple[int, int]:
    low, high = (_size(where, end, minimum=0) for end in _ends(where, value))
    return low, high


def _lengths(where: str, value: Any) -> tuple[int, int]:
    """Return the least and the largest length, of which one number stands for both."""
    if not _is_list(value):
        value = [value, value]
    if len(value) != 2 or value[0] != value[1]:
        return _sizes(where, value)
    length = _size(where, value[0], minimum=0)
    return length, length


def _one_of(*known: Any) -> Callable[[str, Any], Any]:
    def checked(where: str, value: Any) -> Any:
        if repr(value) not in map(repr, known):
            must(where, f"one of {', '.join(map(json.dumps, known))}", value)
        return value

    return checked


def _options(where: str, value: Any) -> list[Any]:
    if not _is_list(value) or len(value) < 2:
        must(where, "a list of two values or more", value)
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        must(where, "values as JSON has them", value)
    return list(value)


def _words(where: str, value: Any) -> list[str]:
    if not (_is_list(value) and value and all(isinstance(word, str) for word in value)):
        must(where, "a list of words", value)
    return list(value)


def _rows(where: str, value: Any) -> Any:
    if isinstance(value, Mapping) and value:
        if not all(isinstance(column, Mapping) for column in value.values()):
            return read(where, value, _OF_ROWS)
        columns = [read(f"{where}.{name}", value[name], _OF_ROWS) for name in value]
        return Row(columns, list(map(str, value)))
    if not _is_list(value) or not value:
        must(where, "a domain, a list of one for each column, or one by each name", value)
    return Row([read(f"{where}.{i}", column, _OF_ROWS) for i, column in enumerate(value, 1)])


def _column_name(where: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        must(where, "the name of a further column, beside rows with names", value)
    return value


_KEYS: dict[str, dict[str, Callable[[str, Any], Any]]] = {  # of each kind, with what checks them
    "values": {
        "values": _ends,
        **dict.fromkeys(("whole", "clipped"), checks.flag),
        "distance": checks.real,
        "missing": _one_of(True, False, "NaN", "None"),
        "length": _size,
        "norm": _one_of(*NORMS),
    },
    "choices": {"choices": _options},
    "bits": {"bits": _size, "neighbours": _one_of(_FLIP, _ANY)},
    "rows": {
        "rows": _rows,
        "length": _lengths,
        "neighbours": _one_of(_ADD, _REPLACE, _ORDER),
        "user": _column_name,
        "per user": _size,
    },
    "counts": {"counts": _sizes, "keys": _words, "changed": _size},
}
DOMAIN_KINDS = tuple(_KEYS)
_OF_ROWS = ("values", "choices", "bits")
_NEEDED = {"rows": ("length", "[0, 20], or one number"), "counts": ("keys", "a list of words")}


def read(where: str, declared: Any, kinds: Sequence[str] = DOMAIN_KINDS) -> Any:
    """Return what is declared, of one of these ``kinds``; raise `ArgumentError` if it is wrong."""
    if not isinstance(declared, Mapping):
        must(where, MAPPING, declared)
    kind = next((key for key in kinds if key in declared), None)
    if kind is None:
        wrong = next(iter(declared), "")
        text = f"must be one of {', '.join(kinds)}"
        if wrong:
            text += f", got {wrong!r}{suggest(str(wrong), kinds)}"
        raise ArgumentError(where, text)
    given = {}
    for key, value in declared.items():
        if key not in _KEYS[kind]:
            nearest = suggest(key, _KEYS[kind])
            raise ArgumentError(where, f"has no key {key!r} beside {kind!r}{nearest}")
        given[key] = _KEYS[kind][key](f"{where}.{key}", value)
    needed, example = _NEEDED.get(kind, (kind, ""))
    if needed not in given:
        raise ArgumentError(f"{where}.{needed}", f"is missing; write {example}")
    return _MAKERS[kind](where, given, kinds)


def _values(where: str, given: dict[str, Any], _: Sequence[str]) -> Entry:
    """Return numbers, or vectors of them if they have a length."""
    whole = given.get("whole", False)
    clipped = given.get("clipped", False)
    distance = given.get("distance")
    size = given.get("length")
    norm = given.get("norm")
    missing = given.get("missing", False)
    if missing and distance:
        raise ArgumentError(f"{where}.missing", "cannot be used with distance; choose one")
    if bool(norm) != bool(distance and size):
        message = f"must be one of {', '.join(NORMS)} beside length and distance, and only there"
        raise ArgumentError(f"{where}.norm", message)
    number = partial(_whole, f"{where}.values") if whole else float
    low, high = (number(end) + 0 for end in given["values"])  # 0.0 for -0.0
    if distance is not None:
        if whole:
            distance = _whole(f"{where}.distance", distance)
        widest = high - low
        if size and norm:
            widest *= size ** (1 / NORMS[norm])
        if not 0 < distance <= widest:
            must(f"{where}.distance", f"above 0, and {widest:g} at most", distance)
    if missing is True:
        missing = "None" if whole else "NaN"
    missing_values = {"NaN": (math.nan,), "None": (None,)}.get(missing, ())
    entry = Number(low, high, whole, clipped, distance, missing_values)
    if size is None:
        return entry
    if norm is None or distance is None:
        return Row([entry] * size)
    return Vector([entry] * size, distance=distance, norm=norm)


def _bits(_: str, given: dict[str, Any], kinds: Sequence[str]) -> Entry:
    """Return bits, of which by default one is flipped, or of a row any number."""
    usual = _ANY if kinds is _OF_ROWS else _FLIP
    bit = Number(0, 1, whole=True, distance=1)
    if given.get("neighbours", usual) == _FLIP:
        return Vector([bit] * given["bits"], distance=1, norm="L1")
    return Row([Choices([0, 1])] * given["bits"])


def _table(where: str, given: dict[str, Any], _: Sequence[str]) -> Space:
    rows = given["rows"]
    user = given.get("user")
    low, high = given["length"]
    usual = _REPLACE if low == high else _ADD
    kind = given.get("neighbours", usual)
    replaced = kind == _REPLACE or (kind == _ORDER and low == high)
    if kind == _ADD and low == high:
        ends = f"a range where rows are added or removed, as [{low - 1}, {low}], got {low}"
        raise ArgumentError(f"{where}.length", f"must be {ends}")
    if high < 1:
        raise ArgumentError(f"{where}.length", f"must allow one row at least, got {high}")
    if rows.width > _WIDEST:
        message = f"must have {_WIDEST} entries at most, got {rows.width}"
        raise ArgumentError(f"{where}.rows", message)
    if not rows.free and not replaced:
        message = f"has near values, which go with neighbours: {_REPLACE!r}; an added row has none"
        raise ArgumentError(f"{where}.rows", message)
    if user is None:
        if "per user" in given:
            raise ArgumentError(f"{where}.per user", "needs user, the name of a column")
        return Table(rows, low, high, replaced, kind == _ORDER)
    if not isinstance(rows, Row) or rows.names is None or user in rows.names:
        must(f"{where}.user", "the name of a further column, beside rows with names", user)
    if kind == _ORDER:
        raise ArgumentError(f"{where}.user", f"cannot be used with {_ORDER!r}; choose one")
    most = given.get("per user", 3)
    _size(f"{where}.per user", most * high)
    return Table(rows, low, high, replaced, user=user, most=most)


def _counts(where: str, given: dict[str, Any], _: Sequence[str]) -> Space:
    keys = given["keys"]
    changed = given.get("changed", 1)
    if changed > len(keys):
        must(f"{where}.changed", f"at most {len(keys)}, the number of keys", changed)
    low, high = given["counts"]
    number = Number(low, high, whole=True, distance=1)
    return Counts([number] * len(keys), keys, changed=changed)


_MAKERS: dict[str, Callable[[str, dict[str, Any], Sequence[str]], Any]] = {
    "values": _values,
    "choices": lambda _, given, __: Choices(given["choices"]),
    "bits": _bits,
    "rows": _table,
    "counts": _counts,
}

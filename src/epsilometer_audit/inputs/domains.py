"""Declared domains of inputs: up to a hundred pairs of neighbours, the most useful first.

A declaration consists of plain values for JSON or YAML; docs/audit.md has all kinds.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from numbers import Integral
from typing import Any, NoReturn

import numpy as np

from epsilometer import checks
from epsilometer.errors import ArgumentError, suggest
from epsilometer.errors import shown as shown_value
from epsilometer.seeds import generator
from epsilometer_audit.checks.accepted_pairs import Candidates
from epsilometer_audit.inputs.designs import Counts, Table
from epsilometer_audit.inputs.entries import (
    NORMS,
    Bits,
    Choices,
    Columns,
    Entry,
    Named,
    Number,
    Vector,
    shown,
)
from epsilometer_audit.inputs.neighbours import MOST_PAIRS, patterns
from epsilometer_audit.outcomes.words import listed
from epsilometer_audit.serving.errors import shortened

_ADD, _REPLACE, _FLIP, _ANY = "add or remove a row", "replace a row", "flip one", "any"
_NULL, _ORDER = "null row", "any order"
_MOST = 100  # pairs
_LONGEST = 10_000  # rows, bits, columns
_WIDEST = 1000  # entries of a row
_LARGEST = 100_000_000  # entries of all inputs, which are kept in memory
_FINEST = 1e-15  # step, as a part of an interval
_FARTHEST = 1e100  # whole number: sums and products are finite as floats
_KEYS = {  # further keys of each kind
    "values": ("whole", "clipped", "distance", "step", "missing", "length", "norm", "neighbours"),
    "choices": ("neighbours",),
    "bits": ("neighbours",),
    "rows": ("length", "neighbours", "null", "user", "per user", "frame"),
    "counts": ("keys", "changed", "frame"),
    "patterns": (),
}
DOMAIN_KINDS = tuple(_KEYS)
_ENTRIES = ("values", "choices", "bits")

_MISSING: dict[str, tuple[float | None, ...]] = {"": (), "NaN": (math.nan,), "None": (None,)}
_FRAMES = {  # the types of a library: floats, whole numbers, also with missing ones, and others
    "pandas": ("float64", "int64", "Int64", "bool", "object", "object"),
    "polars": ("Float64", "Int64", "Int64", "Boolean", "String", "Object"),
}

Pairs = Callable[[np.random.Generator], Iterator[Named]]


def domain(
    declaration: Mapping[str, Any], *, limit: int | None = None, seed: int = 0
) -> Candidates:
    """Return candidate pairs of neighbours of a declared domain, with names that describe them.

    Parameters
    ----------
    declaration
        A mapping; docs/audit.md has all keys. ``{"values": [lower, upper]}`` are numbers, vectors
        with a ``length``; ``{"choices": [...]}`` one of some values; ``{"bits": n}`` lists of zeros
        and ones; ``{"rows": ..., "length": [shortest, longest]}`` tables, lists of rows, which are
        one of these, several in a list, or several by their names; ``{"counts": [lower, upper],
        "keys": [...]}`` a count of each key; ``{"patterns": n}`` the ten of askin2022.
        ``neighbours`` or a ``distance`` say which are neighbours. ``limit`` and ``seed`` may stand
        in it, too.
    limit
        The largest number of pairs; 100 if not given. There are fewer if these are all.
    seed
        Of random inputs; the same seed gives the same pairs.

    Returns
    -------
    Candidates
        A mapping of names to pairs ``(x, x')`` of plain inputs; no two pairs are equal, in any
        order. An audit leaves out pairs of which a mechanism refuses both inputs.

    Raises
    ------
    ArgumentError
        If the declaration is wrong.

    >>> list(domain({"bits": 3}, limit=2))
    ['last bit flipped of all zeros', 'last bit flipped of all ones']
    """
    declared = _mapping("domain", declaration)
    own = {key: value for key, value in declared.items() if key not in ("limit", "seed")}
    most = declared.get("limit", _MOST) if limit is None else limit
    most = checks.integer("domain.limit", most, maximum=MOST_PAIRS)
    seed = checks.integer("domain.seed", declared.get("seed", seed), minimum=0)
    pairs, entries, size, relation, table = _top("domain", own)
    if most * size > _LARGEST:
        message = f"must be at most {_LARGEST // size} for inputs of {size} entries, got {most}"
        raise ArgumentError("domain.limit", message)
    rng = generator(seed, "domain", json.dumps(own, sort_keys=True))
    chosen: dict[str, tuple[Any, Any]] = {}
    known = set()
    for name, *sides in pairs(rng):
        texts = [json.dumps(side) for side in sides]
        if texts[0] == texts[1] or frozenset(texts) in known:
            continue
        known.add(frozenset(texts))
        x, y = map(json.loads, texts)  # without shared rows
        names = (f"{name} ({i})" if i > 1 else name for i in count(1))
        chosen[next(free for free in names if free not in chosen)] = (x, y)
        if len(chosen) == most:
            break
    if not chosen:
        raise ArgumentError("domain", "has no two inputs that are neighbours")
    numbers = [getattr(entry, "number", entry) for entry in entries]
    kept = [each for each in numbers if isinstance(each, Number) and not each.clipped]
    ranges = listed("", list(dict.fromkeys(shown([entry.low, entry.high]) for entry in kept)))
    advice = 'if the mechanism clips its inputs, declare "clipped": true'
    untried = [f"numbers beyond {ranges} were not tried; {advice}"] * bool(kept)
    untried += table.untried() if table else []
    return Candidates(chosen, untried=untried, relations=[relation])


# --- declarations ---------------------------------------------------------------------------------


def _top(
    where: str, declared: Mapping[str, Any]
) -> tuple[Pairs, Sequence[Entry], int, str, Table | None]:
    """Return a domain's generator of pairs, its entries, their number, the relation, a table."""
    kind = _kind(where, declared, DOMAIN_KINDS)
    if kind == "patterns":
        size = _size(f"{where}.patterns", declared["patterns"], minimum=2)
        relation = "answers of which each differs by 1 at most; not: by more"
        return (lambda _: iter(patterns(size))), (), size, relation, None
    if kind == "rows":
        table, relation = _table(where, declared)
        columns = _columns(table.rows)
        size = table.longest * table.most * _width(columns)
        pairs = _framed(where, declared, table.pairs, _types(table))
        return pairs, columns, size, relation, table
    if kind == "counts":
        counts = _counts(where, declared)
        types = {"key": 4, "count": 1}
        keys = "one key" if counts.changed == 1 else f"up to {counts.changed} keys, all on one side"
        relation = f"counts that are larger by 1 in {keys}; not: in more keys, or by more"
        pairs = _framed(where, declared, counts.pairs, types)
        return pairs, (), len(counts.keys), relation, None
    entry = _entry(where, declared)
    relation = "any two values"
    if isinstance(entry, Bits) and entry.flip_one:
        relation = "lists that differ in one bit; not: in several"
    elif distance := getattr(entry, "distance", None):
        what = f"vectors in {entry.norm}" if isinstance(entry, Vector) else "numbers"
        relation = f"{what} at most {distance:g} apart; not: farther apart"
    return entry.pairs, _columns(entry), _width(_columns(entry)), relation, None


def _table(where: str, declared: Mapping[str, Any]) -> tuple[Table, str]:
    """Return the table of a declaration, and how neighbours differ."""
    rows = _rows(f"{where}.rows", declared["rows"])
    if "length" not in declared:
        raise ArgumentError(f"{where}.length", "is missing; write [0, 20], or one number")
    length = declared["length"]
    of_one = not isinstance(length, Sequence)
    low, high = _ends(f"{where}.length", [length, length] if of_one else length, _size)
    kind = _choice(where, declared, (_ADD, _REPLACE, _NULL, _ORDER), (_ADD, _REPLACE)[low == high])
    if kind == _ADD and low == high:
        message = f"must be a range where rows are added or removed, as [{low - 1}, {low}]"
        raise ArgumentError(f"{where}.length", f"{message}, got {length}")
    if high < 1:
        raise ArgumentError(f"{where}.length", f"must allow one row at least, got {length}")
    replaced = kind in (_REPLACE, _NULL) or (kind == _ORDER and low == high)
    near = any(getattr(column, "distance", None) for column in _columns(rows))
    if near and (not replaced or kind == _NULL):
        message = f"goes with neighbours: {_REPLACE!r}; added rows are at no distance"
        raise ArgumentError(f"{where}.rows.distance", message)
    for key, needed in (("per user", "user"), ("null", "neighbours")):
        if key in declared and (needed not in declared or (key == "null" and kind != _NULL)):
            wanted = {"per user": "user, the name of a column", "null": f"neighbours: {_NULL!r}"}
            raise ArgumentError(f"{where}.{key}", f"needs {wanted[key]}")
    most = _size(f"{where}.per user", declared.get("per user", 3), minimum=1)
    user, names = declared.get("user"), rows.names if isinstance(rows, Columns) else None
    if user is not None:
        if kind == _NULL:
            raise ArgumentError(f"{where}.user", f"cannot be used with neighbours: {_NULL!r}")
        if not isinstance(user, str) or not user or names is None or user in names:
            _refuse(f"{where}.user", "the name of a further column, beside rows with names", user)
        _size(f"{where}.per user", most * high)
    if (width := _width(_columns(rows))) > _WIDEST:
        raise ArgumentError(f"{where}.rows", f"must have {_WIDEST} entries at most, got {width}")
    null = [declared.get("null", rows.null)] if kind == _NULL else []
    any_order, most = kind == _ORDER, most if user is not None else 1
    unit = "a row" if user is None else "all rows of a user"
    how = " by one at most as far as declared" if near else ""
    changes = {_REPLACE: f"{unit} replaced{how}", _ADD: f"{unit} added or removed"}
    changes[_NULL] = f"a row replaced by a null row, {shown((null or [None])[0])}"
    own = kind if kind != _ORDER else _REPLACE if replaced else _ADD
    without = [text for key, text in changes.items() if key not in (own, _NULL)]
    relation = f"tables with {changes[own]}, in {'any' if any_order else 'the same'} order; not: "
    relation += ", ".join([*without, *["another order"] * (not any_order)])
    return Table(rows, low, high, replaced, any_order, null, user, most), relation


def _types(table: Table) -> dict[str, int]:
    """Return the columns of a table with names, and the positions of their types in `_FRAMES`."""
    types = {} if table.user is None else {table.user: 1}
    names = table.rows.names if isinstance(table.rows, Columns) else None
    for name, column in zip(names or (), _columns(table.rows), strict=False):
        if isinstance(column, Number):
            whole = column.whole and column.missing in ((), (None,))
            types[name] = len(column.missing) + 1 if whole else 0
            continue
        kinds = {type(option) for option in getattr(column, "options", [()])}
        known = ((1, {int}), (3, {bool}), (4, {str, type(None)}), (5, kinds))
        types[name] = next(position for position, some in known if kinds <= some)
    return types


def _framed(where: str, declared: Mapping[str, Any], pairs: Pairs, types: dict[str, int]) -> Pairs:
    """Return the generator of pairs, of data frames if they are declared."""
    if "frame" not in declared:
        return pairs
    if (library := str(declared["frame"])) not in _FRAMES:
        raise ArgumentError(f"{where}.frame", f"has no kind {library!r}{suggest(library, _FRAMES)}")
    if not types:
        raise ArgumentError(f"{where}.frame", 'needs rows with names, as {"age": {...}}')
    columns = {name: _FRAMES[library][position] for name, position in types.items()}

    def frame(table: Any) -> dict[str, Any]:
        rows = table.items() if isinstance(table, dict) else map(dict.values, table)
        return {
            "rows": [list(row) for row in rows],
            {"pandas": "$frame", "polars": "$polars"}[library]: columns,
        }

    return lambda rng: ((name, frame(x), frame(y)) for name, x, y in pairs(rng))


def _rows(where: str, declared: Any) -> Entry:
    if isinstance(declared, Mapping) and declared:
        if not all(isinstance(column, Mapping) for column in declared.values()):
            return _entry(where, declared)
        names = [str(name) for name in declared]
        return Columns([_entry(f"{where}.{n}", declared[n]) for n in declared], names)
    if not _is_list(declared) or not declared:
        _refuse(where, "a domain, a list of one for each column, or one by each name", declared)
    return Columns([_entry(f"{where}.{i}", column) for i, column in enumerate(declared, 1)])


def _entry(where: str, declared: Any) -> Entry:
    """Return a domain of single values."""
    kind = _kind(where, _mapping(where, declared), _ENTRIES)
    if kind == "choices":
        options = declared["choices"]
        if not _is_list(options) or len(options) < 2:
            _refuse(f"{where}.choices", "a list of two values or more", options)
        try:
            texts = [json.dumps(option, allow_nan=False) for option in options]
        except (TypeError, ValueError):
            _refuse(f"{where}.choices", "values as JSON has them", options)
        if len({*texts}) < len(texts):
            text = max(texts, key=Counter(texts).__getitem__)
            raise ArgumentError(f"{where}.choices", f"has {shortened(text)} twice")
        _choice(where, declared, (_ANY,), _ANY)
        return Choices(list(options))
    if kind == "bits":
        size = _size(f"{where}.bits", declared["bits"], minimum=1)
        return Bits(size, _choice(where, declared, (_FLIP, _ANY), _FLIP) == _FLIP)
    _choice(where, declared, (_ANY,), _ANY)
    return _vector(where, declared, _number(where, declared))


def _vector(where: str, declared: Mapping[str, Any], number: Number) -> Entry:
    """Return numbers, or vectors of them if they have a length."""
    if "neighbours" in declared and number.distance is not None:
        raise ArgumentError(f"{where}.neighbours", "cannot be used with distance; choose one")
    if "length" not in declared:
        if "norm" in declared:
            raise ArgumentError(f"{where}.norm", "needs length, that of vectors")
        return number
    size = _size(f"{where}.length", declared["length"], minimum=1)
    if number.distance is None:
        return Columns([number] * size)
    if (norm := declared.get("norm")) not in NORMS:
        raise ArgumentError(f"{where}.norm", f"must be one of {', '.join(NORMS)}, got {norm!r}")
    return Vector(replace(number, distance=None), size, number.distance, norm)


def _number(where: str, declared: Mapping[str, Any]) -> Number:
    whole, clipped = (
        checks.flag(f"{where}.{key}", declared.get(key, False)) for key in ("whole", "clipped")
    )
    number = _whole if whole else checks.real
    low, high = _ends(f"{where}.values", declared["values"], number)
    if not low < high:
        _refuse(f"{where}.values", "[lower, upper] with lower < upper", declared["values"])
    distance = None
    if declared.get("distance") is not None:
        distance = number(f"{where}.distance", declared["distance"])
        entries = _size(f"{where}.length", declared.get("length", 1), minimum=1)
        widest = (high - low) * entries ** (1 / NORMS.get(declared.get("norm", ""), math.inf))
        if not 0 < distance <= widest:
            _refuse(f"{where}.distance", f"above 0, and {widest:g} at most", distance)
    step = declared.get("step")
    width = high - low
    if step is not None and not _FINEST * width < checks.real(f"{where}.step", step) <= width:
        _refuse(f"{where}.step", f"above 0, and {width:g} at most", step)
    missing = declared.get("missing", False)
    chosen = {True: ("None" if whole else "NaN"), False: "", "NaN": "NaN", "None": "None"}
    if not isinstance(missing, bool | str) or missing not in chosen:
        _refuse(f"{where}.missing", 'true, "NaN" or "None"', missing)
    for key, other in (("step", "whole"), ("step", "distance"), ("missing", "distance")):
        if declared.get(key) and declared.get(other):
            raise ArgumentError(f"{where}.{key}", f"cannot be used with {other}; choose one")
    return Number(low, high, whole, clipped, distance, step, _MISSING[chosen[missing]])


def _counts(where: str, declared: Mapping[str, Any]) -> Counts:
    low, high = _ends(f"{where}.counts", declared["counts"], _size)
    if not low < high:
        _refuse(f"{where}.counts", "[lower, upper] with lower < upper", declared["counts"])
    keys: Any = declared.get("keys")
    if not _is_list(keys) or not keys or not all(isinstance(key, str) for key in keys):
        _refuse(f"{where}.keys", "a list of words", keys)
    if len(set(keys)) < len(keys):
        raise ArgumentError(f"{where}.keys", "has a key twice")
    changed = _size(f"{where}.changed", declared.get("changed", 1), minimum=1)
    if changed > len(keys):
        _refuse(f"{where}.changed", f"at most {len(keys)}, the number of keys", changed)
    return Counts(list(keys), low, high, changed)


def _kind(where: str, declared: Mapping[str, Any], kinds: Sequence[str]) -> str:
    """Return the key of the kind, if all other keys fit."""
    kind = next((key for key in kinds if key in declared), None)
    if kind is None:
        wrong = next(iter(declared), "")
        near = suggest(str(wrong), kinds) if wrong else ""
        named = f", got {wrong!r}" if wrong else ""
        raise ArgumentError(where, f"must be one of {', '.join(kinds)}{named}{near}")
    known = (kind, *_KEYS[kind])
    for key in declared:
        if key not in known:
            raise ArgumentError(where, f"has no key {key!r} beside {kind!r}{suggest(key, known)}")
    return kind


def _choice(where: str, declared: Mapping[str, Any], known: Sequence[str], usual: str) -> str:
    """Return the kind of neighbours; the first words are enough."""
    name = declared.get("neighbours", usual)
    start = _ADD if name == "remove a row" else name  # the name for tables elsewhere
    if isinstance(start, str) and start:
        for kind in known:
            if kind.startswith(start) and not start == _ANY != kind:
                return kind
    near = suggest(str(name), known)
    raise ArgumentError(f"{where}.neighbours", f"has no kind {name!r}{near}")


def _columns(rows: Entry) -> Sequence[Entry]:
    return rows.columns if isinstance(rows, Columns) else [rows]


def _width(columns: Sequence[Entry]) -> int:
    sizes = (getattr(c, "size", len(getattr(c, "columns", "1"))) for c in columns)
    return sum(sizes)


def _mapping(where: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        _refuse(where, """a mapping, as {"values": [0, 1]}""", value)
    return value


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _ends(where: str, value: Any, number: Callable[[str, Any], Any]) -> tuple[Any, Any]:
    if not _is_list(value) or len(value) != 2:
        _refuse(where, "two numbers, [lower, upper]", value)
    low, high = (number(where, end) for end in value)
    if low > high:
        _refuse(where, "[lower, upper] with lower < upper", value)
    return low, high


def _whole(where: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral | float) or value != value // 1:
        _refuse(where, "a whole number", value)
    checks.within(where, value, -_FARTHEST, _FARTHEST)
    return int(value)


def _size(where: str, value: Any, *, minimum: int = 0) -> int:
    number = _whole(where, value)
    if not minimum <= number <= _LONGEST:
        _refuse(where, f"from {minimum} to {_LONGEST}", value)
    return number


def _refuse(where: str, wanted: str, value: Any) -> NoReturn:
    raise ArgumentError(where, f"must be {wanted}, got {shown_value(value)}")

"""Declared domains of inputs: up to a hundred pairs of neighbours, the most useful first.

A declaration consists of plain values for JSON or YAML; docs/audit.md has all kinds.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, islice
from numbers import Integral
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from epsilometer import checks
from epsilometer.errors import ArgumentError, suggest
from epsilometer.errors import shown as shown_value
from epsilometer.seeds import generator
from epsilometer_audit.checks.accepted_pairs import Candidates, Pair
from epsilometer_audit.formats import pair_texts
from epsilometer_audit.inputs.entries import NORMS, Choices, Columns, Entry, Number, Vector, columns
from epsilometer_audit.inputs.neighbours import MOST_PAIRS, patterns
from epsilometer_audit.inputs.tables import Counts, Table
from epsilometer_audit.outcomes.words import listed

_ADD, _REPLACE, _FLIP, _ANY = "add or remove a row", "replace a row", "flip one", "any"
_NULL, _ORDER = "null row", "any order"
_MOST = 100  # pairs
_LONGEST = 10_000  # rows, bits, columns
_TRIES = 20  # moves of each of the best pairs
_WIDEST = 1000  # entries of a row
_LARGEST = 100_000_000  # entries of all inputs, which are kept in memory
_FINEST = 1e-15  # step, as a part of an interval
_FARTHEST = 1e100  # whole number: sums and products are finite as floats
_APART = (("step", "whole"), *((key, "distance") for key in ("step", "missing", "neighbours")))
_NEAR = f"goes with neighbours: {_REPLACE!r}; added rows are at no distance"
_NEW = "the name of a further column, beside rows with names"
_BY_ONE = "answers of which each differs by 1 at most; not: by more"
_BIT = Number(0, 1, whole=True)
_A_MAPPING = """a mapping, as {"values": [0, 1]}"""
_FRAMES = {"pandas": ("$frame", 0), "polars": ("$polars", 1)}
_TYPES: tuple[tuple[set[Any], str, str], ...] = (  # values of a column, its types in a frame
    ({int}, "int64", "Int64"),
    ({int, type(None)}, "Int64", "Int64"),
    ({float, int, type(None)}, "float64", "Float64"),
    ({bool}, "bool", "Boolean"),
    ({str, type(None)}, "object", "String"),
    (set(), "object", "Object"),  # all others
)


def domain(declaration: Mapping[str, Any], *, limit: int | None = None) -> Candidates:
    """Return candidate pairs of neighbours of a declared domain, by names that describe them.

    ``declaration`` is a mapping, as ``{"rows": {"values": [0, 5]}, "length": [0, 20]}``;
    docs/audit.md has all kinds and keys. ``limit`` is the largest number of pairs, 100 if neither
    it nor the declaration says; there are fewer if these are all. No two pairs are equal, in any
    order. An audit adds some near its best ones, and leaves out pairs of which a mechanism refuses
    both inputs. Raise `ArgumentError` if the declaration is wrong.

    >>> list(domain({"bits": 3}, limit=2))
    ['[0, 0, 0] against [0, 0, 1]', '[1, 1, 1] against [0, 1, 1]']
    """
    if not isinstance(declaration, Mapping):
        _must("domain", _A_MAPPING, declaration)
    own = {key: value for key, value in declaration.items() if key not in ("limit", "seed")}
    most = declaration.get("limit", _MOST) if limit is None else limit
    most = checks.integer("domain.limit", most, maximum=MOST_PAIRS)
    seed = checks.integer("domain.seed", declaration.get("seed", 0), minimum=0)
    space = _read("domain", own)
    if most * (size := _entries(space)) > _LARGEST:
        message = f"must be at most {_LARGEST // size} for inputs of {size} entries, got {most}"
        raise ArgumentError("domain.limit", message)
    framed = _framed(space, own.pop("frame")) if "frame" in own else None
    pairs = _Pairs(space, framed)
    rng = generator(seed, "domain", json.dumps(own, sort_keys=True))
    chosen, more = pairs.added(space.pairs(rng), most)
    if not chosen:
        raise ArgumentError("domain", "has no two inputs that are neighbours")
    beyond, untried = _untried(space, list(pairs.tried.values()), more)
    near = [pairs] if untried and hasattr(space, "near") else []
    return Candidates(chosen, untried=beyond + untried, relations=[space.relation], near=near)


@dataclass
class _Pairs:
    """The pairs of a domain so far: of each name the neighbours, as ``space`` made them."""

    space: Any
    framed: Callable[[Any], dict[str, Any]] | None
    tried: dict[str, Any] = field(default_factory=dict)
    known: set[frozenset[str]] = field(default_factory=set)

    def copy(self) -> _Pairs:
        """Return the same pairs, to which others may be added."""
        return replace(self, tried=dict(self.tried), known=set(self.known))

    def added(self, some: Iterable[Any], size: int) -> tuple[dict[str, Pair], bool]:
        """Return up to so many new pairs, by names, and whether there are more."""
        new: dict[str, Pair] = {}
        for *about, x, y in some:
            texts = json.dumps(x), json.dumps(y)
            if texts[0] == texts[1] or frozenset(texts) in self.known:
                continue
            if len(new) == size:
                return new, True
            self.known.add(frozenset(texts))
            name = about[0] if about else " against ".join(pair_texts(x, y))
            free = (f"{name} ({i})" if i > 1 else name for i in count(1))
            name = next(each for each in free if each not in self.tried)
            pair: Pair = tuple(map(json.loads, texts))  # without shared rows
            self.tried[name] = *about, *pair
            new[name] = (self.framed(pair[0]), self.framed(pair[1])) if self.framed else pair
        return new, False

    def near(self, names: Sequence[str], size: int, rng: np.random.Generator) -> dict[str, Pair]:
        """Return up to so many new pairs near those of these names, by names."""
        own = [self.tried[name] for name in names if name in self.tried]
        moved = (self.space.near(*each, rng) for _ in range(_TRIES) for each in own)
        return self.added(islice(moved, _TRIES * size), size)[0]


# --- declarations ---------------------------------------------------------------------------------


def _must(where: str, wanted: str, value: Any) -> NoReturn:
    raise ArgumentError(where, f"must be {wanted}, got {shown_value(value)}")


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _whole(where: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral | float) or value != value // 1:
        _must(where, "a whole number", value)
    checks.within(where, value, -_FARTHEST, _FARTHEST)
    return int(value)


_size = partial(checks.integer, maximum=_LONGEST)


def _ends(where: str, value: Any, *, equal: bool = False) -> tuple[Any, Any]:
    if not _is_list(value) or len(value) != 2:
        _must(where, "two numbers, [lower, upper]", value)
    low, high = value
    if checks.real(where, low) > checks.real(where, high) or (low == high and not equal):
        _must(where, "[lower, upper] with lower < upper", value)
    return low, high


def _sizes(where: str, value: Any, *, equal: bool = False) -> tuple[int, int]:
    """Return two numbers; if they may be ``equal``, one stands for both."""
    both = [value] * 2 if equal and not isinstance(value, Sequence) else value
    low, high = _ends(where, both, equal=equal)
    return _size(where, low, minimum=0), _size(where, high, minimum=0)


def _one_of(*known: Any) -> Callable[[str, Any], Any]:
    def checked(where: str, value: Any) -> Any:
        if repr(value) not in map(repr, known):
            _must(where, f"one of {', '.join(map(json.dumps, known))}", value)
        return value

    return checked


def _list(where: str, value: Any, least: int, kind: type, wanted: str) -> list[Any]:
    if not (_is_list(value) and len(value) >= least and all(isinstance(x, kind) for x in value)):
        _must(where, wanted, value)
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        _must(where, "values as JSON has them", value)
    return list(value)


def _rows(where: str, value: Any) -> Entry:
    if isinstance(value, Mapping) and value:
        if not all(isinstance(column, Mapping) for column in value.values()):
            return _entry(where, value)
        return Columns([_entry(f"{where}.{n}", value[n]) for n in value], list(map(str, value)))
    if not _is_list(value) or not value:
        _must(where, "a domain, a list of one for each column, or one by each name", value)
    return Columns([_entry(f"{where}.{i}", column) for i, column in enumerate(value, 1)])


_KEYS: dict[str, dict[str, Callable[[str, Any], Any]]] = {  # of each kind, with what checks them
    "values": {
        "values": _ends,
        **dict.fromkeys(("whole", "clipped"), checks.flag),
        **dict.fromkeys(("distance", "step"), checks.real),
        "missing": _one_of(True, False, "NaN", "None"),
        "length": _size,
        "norm": _one_of(*NORMS),
        "neighbours": _one_of(_ANY),
    },
    "choices": {
        "choices": partial(_list, least=2, kind=object, wanted="a list of two values or more"),
        "neighbours": _one_of(_ANY),
    },
    "bits": {"bits": _size, "neighbours": _one_of(_FLIP, _ANY)},
    "rows": {
        "rows": _rows,
        "length": partial(_sizes, equal=True),
        "neighbours": _one_of(_ADD, _REPLACE, _NULL, _ORDER),
        "null": lambda _, value: value,
        "user": lambda _, value: value,
        "per user": _size,
        "frame": _one_of(*_FRAMES),
    },
    "counts": {
        "counts": _sizes,
        "keys": partial(_list, least=1, kind=str, wanted="a list of words"),
        "changed": _size,
        "frame": _one_of(*_FRAMES),
    },
    "patterns": {"patterns": partial(_size, minimum=2)},
}
DOMAIN_KINDS = tuple(_KEYS)


def _read(where: str, declared: Any, kinds: Sequence[str] = DOMAIN_KINDS) -> Any:
    """Return what is declared: entries, a table, counts or patterns."""
    if not isinstance(declared, Mapping):
        _must(where, _A_MAPPING, declared)
    kind = next((key for key in kinds if key in declared), None)
    if kind is None:
        wrong = next(iter(declared), "")
        near = f", got {wrong!r}{suggest(str(wrong), kinds)}" if wrong else ""
        raise ArgumentError(where, f"must be one of {', '.join(kinds)}{near}")
    known = _KEYS[kind]
    for key in declared:
        if key not in known:
            near = f"beside {kind!r}{suggest(key, known)}"
            raise ArgumentError(where, f"has no key {key!r} {near}")
    given = {key: known[key](f"{where}.{key}", value) for key, value in declared.items()}
    if kind == "choices":
        return Choices(given["choices"])
    if kind == "bits":
        whole, bits = kinds is DOMAIN_KINDS, [_BIT] * given["bits"]
        flip = given.get("neighbours", _FLIP if whole else _ANY) == _FLIP
        return Vector(bits, distance=1, norm="L1") if flip else Columns(bits)
    if kind == "patterns":
        return SimpleNamespace(pairs=lambda _: iter(patterns(given["patterns"])), relation=_BY_ONE)
    return {"values": _values, "rows": _table, "counts": _counts}[kind](where, given)


# single values
_entry: Callable[[str, Any], Entry] = partial(_read, kinds=("values", "choices", "bits"))


def _values(where: str, given: dict[str, Any]) -> Entry:
    """Return numbers, or vectors of them if they have a length."""
    for key, other in _APART:
        if given.get(key) and given.get(other):
            raise ArgumentError(f"{where}.{key}", f"cannot be used with {other}; choose one")
    whole, size, norm = given.get("whole", False), given.get("length", 1), given.get("norm")
    distance, step, missing = given.get("distance"), given.get("step"), given.get("missing", False)
    number = partial(_whole, f"{where}.values") if whole else float
    low, high = map(number, given["values"])
    if whole and distance is not None:
        distance = _whole(f"{where}.distance", distance)
    if bool(norm) != bool(distance and "length" in given):
        message = f"must be one of {', '.join(NORMS)} beside length and distance, and only there"
        raise ArgumentError(f"{where}.norm", message)
    width = high - low
    widest = width * size ** (1 / NORMS[norm or "Linf"])
    for key, (least, most) in {"distance": (0, widest), "step": (_FINEST * width, width)}.items():
        if key in given and not least < given[key] <= most:
            _must(f"{where}.{key}", f"above 0, and {most:g} at most", given[key])
    missing = ("None" if whole else "NaN") if missing is True else missing
    none = {"NaN": (math.nan,), "None": (None,)}.get(missing, ())
    entry = Number(low, high, whole, given.get("clipped", False), distance, step, none)
    if "length" not in given:
        return entry
    return Vector([entry] * size, None, distance, norm) if norm else Columns([entry] * size)


def _table(where: str, given: dict[str, Any]) -> Table:
    rows, user, most = given["rows"], given.get("user"), given.get("per user", 3)
    if "length" not in given:
        raise ArgumentError(f"{where}.length", "is missing; write [0, 20], or one number")
    low, high = given["length"]
    kind = given.get("neighbours", _REPLACE if low == high else _ADD)
    replaced = kind in (_REPLACE, _NULL) or (kind == _ORDER and low == high)
    names = rows.names if isinstance(rows, Columns) else None
    null, width = f"neighbours: {_NULL!r}", len(_leaves(rows))
    null_row = [given.get("null", rows.null)] if kind == _NULL else []
    unit = most if user is not None else 1
    table = Table(rows, low, high, replaced, kind == _ORDER, null_row, user, unit)
    new = isinstance(user, str) and user and names is not None and user not in names
    ends = f"a range where rows are added or removed, as [{low - 1}, {low}], got {low}"
    for key, fault, message in (
        ("length", kind == _ADD and low == high, f"must be {ends}"),
        ("length", high < 1, f"must allow one row at least, got {high}"),
        ("rows.distance", table.at_distance and (not replaced or kind == _NULL), _NEAR),
        ("per user", "per user" in given and user is None, "needs user, the name of a column"),
        ("null", "null" in given and kind != _NULL, f"needs {null}"),
        ("user", user is not None and kind == _NULL, f"cannot be used with {null}"),
        ("user", user is not None and not new, f"must be {_NEW}, got {shown_value(user)}"),
        ("rows", width > _WIDEST, f"must have {_WIDEST} entries at most, got {width}"),
    ):
        if fault:
            raise ArgumentError(f"{where}.{key}", message)
    if user is not None:
        _size(f"{where}.per user", most * high)
    return table


def _counts(where: str, given: dict[str, Any]) -> Counts:
    keys, changed = given.get("keys"), given.get("changed", 1)
    if keys is None:
        raise ArgumentError(f"{where}.keys", "is missing; write a list of words")
    if changed > len(keys):
        _must(f"{where}.changed", f"at most {len(keys)}, the number of keys", changed)
    return Counts(keys, given["counts"], changed)


# --- what follows from it -------------------------------------------------------------------------


def _leaves(entry: Any) -> list[Any]:
    """Return the single entries of a row."""
    return [leaf for leaf, _ in _cells(entry, getattr(entry, "low", None))]


def _cells(entry: Any, row: Any) -> list[tuple[Any, Any]]:
    """Return the single entries of a row with their values."""
    if not isinstance(entry, Columns):
        return [(entry, row)]
    values = row.values() if isinstance(row, dict) else row
    return [cell for each in zip(entry.columns, values, strict=True) for cell in _cells(*each)]


def _untried(space: Any, tried: Sequence[Any], more: bool) -> tuple[list[str], list[str]]:
    """Return notes on numbers beyond ends, and on positions, entries and values of no pair."""
    number = Number(*space.ends, True, distance=1) if isinstance(space, Counts) else None
    rows = number or getattr(space, "rows", space)
    leaves = _leaves(rows) if isinstance(rows, Entry) else []
    sizes = {i: leaf.count for i, leaf in enumerate(leaves) if leaf != _BIT}
    apart = [(n, min(n - 1, int(leaves[i].distance or n))) for i, n in sizes.items()]
    changes: list[Any] = [each[1:-2] or ([], each[:1], each[1:]) for each in tried]
    replaced, user = bool(changes[0][2]), getattr(space, "user", None)
    where = "keys" if number else f"positions of a {'user' if user else 'row'}"
    held: dict[str, set[Any]] = defaultdict(set)
    for at, old, new in changes if leaves else ():
        held[where].update(at)
        for row, other in zip(old, new or old, strict=False):
            cells = [*zip(_cells(rows, row), _cells(rows, other), strict=True)]
            same = (a is b or json.dumps(a) == json.dumps(b) for (_, a), (_, b) in cells)
            differ = [i for i, alike in enumerate(same) if not (alike and replaced)]
            held["single entries"].update(differ if len(differ) == 1 else ())
            for i in {*differ} & {*sizes}:
                texts = frozenset((i, json.dumps(value)) for _, value in cells[i])
                held["values" if sizes[i] else "numbers"] |= texts
                held["changes of value" if sizes[i] else ""].add(texts)
    counted = {
        where: len(getattr(space, "keys", ())) or getattr(space, "longest", 0),
        "single entries": len(leaves) * (replaced and not user and len(leaves) > 1),
        "values": sum(sizes.values()),
        "changes of value": replaced * sum(n * k - k * (k + 1) // 2 for n, k in apart),
    }
    left = {what: n - len(held[what]) for what, n in counted.items()}
    parts = [f"{k:,} of {counted[what]:,} {what}" for what, k in left.items() if k > 0]
    parts += [f"all but {len(held['numbers']):,} numbers"] * bool(held["numbers"])
    parts = parts or ["further pairs"] * more
    notes = [f"{' and '.join(parts)} were not tried{'; a larger limit tries more' * more}"]
    closed = (leaf for leaf in leaves if getattr(leaf, "clipped", True) is False and leaf != _BIT)
    ranges = [*dict.fromkeys(json.dumps([leaf.low, leaf.high]) for leaf in closed if not number)]
    advice = 'if the mechanism clips its inputs, declare "clipped": true'
    beyond = [f"numbers beyond {listed('', ranges)} were not tried; {advice}"] * bool(ranges)
    return beyond, notes * bool(parts)


def _entries(space: Any) -> int:
    """Return the number of entries of the largest input."""
    if isinstance(space, Table):
        return space.longest * space.most * len(_leaves(space.rows))
    return len(space.keys) if isinstance(space, Counts) else len(_leaves(space))


def _framed(space: Any, library: str) -> Callable[[Any], dict[str, Any]]:
    """Return the function that makes a data frame of a table, or of counts."""
    kinds: dict[str, set[Any]] = {"key": {str}, "count": {int}}
    if isinstance(space, Table):
        named = zip(getattr(space.rows, "names", None) or (), columns(space.rows), strict=False)
        rng = generator(0)
        kinds = {name: {type(x) for x in (c.low, c.high, *c.others(rng))} for name, c in named}
        kinds = ({space.user: {int}} if space.user else {}) | kinds
    if not kinds:
        raise ArgumentError("domain.frame", 'needs rows with names, as {"age": {...}}')
    title, which = _FRAMES[library]
    types = {
        name: next(known[which] for held, *known in _TYPES if held >= kind or not held)
        for name, kind in kinds.items()
    }

    def frame(table: Any) -> dict[str, Any]:
        rows = table.items() if isinstance(table, dict) else map(dict.values, table)
        return {"rows": [list(row) for row in rows], title: types}

    return frame

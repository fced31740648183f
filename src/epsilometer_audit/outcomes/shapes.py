"""The parts of outputs of any kind, by form: entries, keys, members, parts of words."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from itertools import chain, compress
from numbers import Number
from typing import Any

import numpy as np

from epsilometer.arrays import Counts
from epsilometer.errors import ArgumentError
from epsilometer_audit.outcomes import reals, words
from epsilometer_audit.outcomes.reals import Array
from epsilometer_audit.outcomes.words import DEPTH, Other, Step, Word
from epsilometer_audit.serving.errors import Broken
from epsilometer_audit.serving.outputs import (
    Failure,
    Own,
    Plain,
    array_of,
    compact,
    of_array,
    rows,
    several_types,
)

COLUMNS = 256
PAIRED = 1024  # entries among which pairs are searched for dependence
WORDS = 4096
TYPE: Step = ("part", "type of number")
_ORDER: Step = ("part", "order of keys")
_LAST = 8  # entries from the end of sequences of varying length
_FREQUENT = 3  # times that one of many words or keys must occur to have a code or column
_RARE = 0.01  # of all values may be other words
_SORTS = {None: "None", "failure": "failures", "object": "objects"}
_WORDS = (str, bytes, type(None), Failure, Other, type, *words.PRINTED)


def raw(outputs: object, *, own: bool = True) -> Any:
    """Return outputs as an array of numbers, or a list of plain values.

    Values of a list have types of their ``own``, or where they differ in it. Raise `ArgumentError`
    if there is only one output, or the type of an output is not supported.
    """
    if isinstance(outputs, Plain | Coded | Records):
        return outputs
    if type(outputs) is np.ndarray and outputs.ndim and reals.are_real(outputs):
        return outputs
    try:
        table, outputs = outputs, rows(outputs, index=False)
        if hasattr(outputs, "__array__") and not isinstance(outputs, np.ma.MaskedArray):
            outputs = np.asarray(outputs)
            if outputs.ndim and outputs.size and outputs.dtype.kind != "O":
                return of_array(outputs)
        single = isinstance(outputs, (str, bytes, Mapping)) or getattr(outputs, "ndim", 1) == 0
        if isinstance(outputs, Iterable) and not single:
            own = own and outputs is table
            return compact(list(outputs), own=own)
    except (Broken, RuntimeError) as error:
        message = str(error).replace("returned", "must be plain, got", 1)
        raise ArgumentError("outputs", message) from None
    raise ArgumentError("outputs", f"must be many, got one {type(outputs).__name__}")


def recorded_pair(x: object, x_prime: object) -> tuple[Any, Any, str]:
    """Return recorded outputs of both sides in raw form, and a note on what they are compared as.

    The types of a list's numbers count if equal numbers in it have several. Reals of two widths are
    compared at the lesser.
    """
    kind, other = (getattr(side, "dtype", None) for side in (x, x_prime))
    note = ""
    if isinstance(kind, np.dtype) and isinstance(other, np.dtype):
        narrow, too = _narrowed(kind, other), _narrowed(other, kind)
        if (narrow, too) != (kind, other):
            less = narrow if narrow != kind else too
            note = f"one side holds {less} only, so both are compared as {less}"
            with np.errstate(over="ignore"):
                x, x_prime = np.asarray(x).astype(narrow), np.asarray(x_prime).astype(too)
    return raw(x, own=False), raw(x_prime, own=False), note


def _narrowed(kind: np.dtype[Any], other: np.dtype[Any]) -> np.dtype[Any]:
    """Return a type of an array, whose reals are no wider than those of another."""
    if kind.names is not None and kind.names == other.names:
        return np.dtype([(name, _narrowed(kind[name], other[name])) for name in kind.names])
    parts = {"f": 1, "c": 2}  # reals of a number
    if kind.kind not in parts or other.kind not in parts:
        return kind
    width, most = (each.itemsize // parts[each.kind] for each in (kind, other))
    least = max(most, 4) if kind.kind == "c" else most
    return np.dtype(f"{kind.kind}{min(width, least) * parts[kind.kind]}")


def joined(batches: Sequence[Any]) -> Any:
    """Return raw outputs of several calls as those of one, in columns if they are of one form."""
    batches = [raw(batch, own=False) for batch in batches]
    values = batches[0] if len(batches) == 1 else together(batches)
    if not isinstance(values, list):
        return values
    own = any(getattr(batch, "own", False) for batch in batches) or several_types(values)
    columns = columns_of(values, own=True)
    if isinstance(columns, list):
        return Own(values) if own else Plain(values)
    if isinstance(columns, Records):
        columns.own = own
    return columns


def together(batches: Sequence[Any]) -> Any:
    """Return the outputs of batches as one array if they are of one shape, in columns or a list."""
    return _together(batches if (arrays := same_shape(batches)) is None else arrays)


def _together(batches: Sequence[Any]) -> Any:
    """Return the same, where numbers of other types are not put into one array."""
    first, kinds = batches[0], set(map(type, batches))
    if kinds == {np.ndarray} and len({(batch.shape[1:], batch.dtype) for batch in batches}) == 1:
        return np.concatenate(batches)
    if kinds == {Coded}:
        return Coded.joined(batches)
    if kinds == {Records} and len({(batch.form, *batch.columns) for batch in batches}) == 1:
        each = {key: _together([batch.columns[key] for batch in batches]) for key in first.columns}
        own = any(batch.own for batch in batches)
        return Records(first.form, each, sum(map(len, batches)), own=own)
    return [value for batch in batches for value in listing(batch)]


def same_shape(batches: Sequence[Any]) -> list[Array] | None:
    """Return arrays of one type, if batches are arrays of numbers of one shape; None otherwise.

    Where their types differ, integers have no -0.0, so others have none either.
    """
    arrays = [batch for batch in batches if isinstance(batch, np.ndarray) and reals.are_real(batch)]
    if len(arrays) < len(batches) or len({array.shape[1:] for array in arrays}) > 1:
        return None
    if len({array.dtype for array in arrays}) == 1:
        return arrays
    numbers = [reals.as_numbers(array)[:2] for array in arrays]
    if all(rest is None and array.dtype == np.int64 for array, rest in numbers):
        return [array for array, _ in numbers]
    if any(reals.remainders_of(*pair) is not None for pair in numbers):
        return None
    whole = any(array.dtype == np.int64 for array, _ in numbers)
    return [reals.floats(array) + 0.0 if whole else reals.floats(array) for array, _ in numbers]


def listing(values: Any) -> list[Any]:
    """Return a list of outputs."""
    return values if isinstance(values, list) else values.tolist()


class Coded:
    """Words as different ``values`` and the number of the value of each, ``codes``."""

    def __init__(self, values: list[Any], codes: Array) -> None:
        self.values, self.codes = values, codes

    @classmethod
    def of(cls, values: Sequence[Any]) -> Coded:
        """Return words by their numbers; each different object is looked at once."""
        keys: Sequence[Any] = values
        if not set(map(type, values)) <= {str, bytes, type(None)}:
            objects = dict(zip(map(id, values), values, strict=True))
            known = {at: words.key_of(value) for at, value in objects.items()}
            keys = [known[at] for at in map(id, values)]
        different = dict(zip(keys, values, strict=True))
        numbers = dict(zip(different, range(len(different)), strict=True))
        codes = np.fromiter(map(numbers.__getitem__, keys), np.int32, len(keys))
        return cls(list(different.values()), codes)

    @classmethod
    def joined(cls, batches: Sequence[Coded]) -> Coded:
        """Return the words of several batches."""
        all_values = cls.of([value for batch in batches for value in batch.values])
        ends = np.cumsum([len(batch.values) for batch in batches])[:-1]
        new = np.split(all_values.codes, ends)
        codes = [numbers[batch.codes] for numbers, batch in zip(new, batches, strict=True)]
        return cls(all_values.values, np.concatenate(codes))

    @cached_property
    def words(self) -> list[Word]:
        """The words of the different values."""
        return list(map(words.word_of, self.values))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, at: Any) -> Coded:
        """Return the words at a slice, or at positions."""
        used, codes = np.unique(self.codes[at], return_inverse=True)
        return Coded([self.values[i] for i in used.tolist()], codes.astype(np.int32))

    def tolist(self) -> list[Any]:
        """Return all values."""
        return list(map(self.values.__getitem__, self.codes.tolist()))


class Records:
    """Mappings with the same keys in one order, or sequences of one length: a column by key.

    ``own`` tells whether numbers have types of their own.

    >>> columns_of([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])[1:].tolist()
    [{'a': 2, 'b': 'y'}]
    """

    def __init__(self, form: str, columns: dict[Any, Any], size: int, *, own: bool = False) -> None:
        self.form, self.columns, self._size, self.own = form, columns, size, own

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, at: Any) -> Records:
        """Return those at a slice, or at positions."""
        columns = {key: _taken(column, at) for key, column in self.columns.items()}
        size = len(range(self._size)[at] if isinstance(at, slice) else at)
        return Records(self.form, columns, size, own=self.own)

    def tolist(self) -> list[Any]:
        """Return all dictionaries or tuples."""
        rows = list(zip(*map(listing, self.columns.values()), strict=True))
        return rows if self.form == "sequence" else [dict(zip(self.columns, row)) for row in rows]  # noqa: B905


def _taken(values: Any, at: Any) -> Any:
    """Return the values at a slice, or at positions."""
    if isinstance(values, list) and not isinstance(at, slice):
        return [values[i] for i in at.tolist()]
    return values[at]


def columns_of(values: list[Any], depth: int = 0, *, own: bool = False) -> Any:
    """Return plain values of one form as an array, `Coded` or `Records`; others as they are.

    Numbers with types of their ``own`` are in no array of several columns, which has one type.
    """
    forms = {_form(kind, depth) for kind in set(map(type, values))}
    if forms == {"word"}:
        return Coded.of(values)
    if forms == {"number"} and depth:
        array = array_of(values)
        return values if array is None else array
    columns: Any = None
    if forms == {"sequence"}:
        array = None if own else array_of(values, DEPTH - depth)
        if array is not None:
            return array
        if len(set(map(len, values))) == 1:
            columns = enumerate(zip(*values, strict=True))
    elif forms == {"mapping"} and all(map(tuple(values[0]).__eq__, map(tuple, values))):
        columns = zip(values[0], zip(*(each.values() for each in values), strict=True), strict=True)
    if columns is None or not values[0]:
        return values
    inner = {key: columns_of(list(column), depth + 1) for key, column in columns}
    return Records(forms.pop(), inner, len(values))


@dataclass
class Part:
    """Outputs of one form, or parts of outputs, and the rows of their outputs (None: all)."""

    form: str
    values: Any
    at: Counts | None
    depth: int

    def __len__(self) -> int:
        return len(self.values)

    @property
    def word(self) -> Other:
        """The word for this form."""
        return Other("form", f"a {self.form}")

    @property
    def sized(self) -> bool:
        """Whether they have lengths."""
        return self.form in _CONTAINERS

    @cached_property
    def numbers(self) -> tuple[Array, Array | None, bool]:
        """The numbers and their remainders; see `as_numbers`."""
        return reals.as_numbers(self.values)

    @cached_property
    def lengths(self) -> Counts:
        """The number of entries, keys or members of each."""
        if not isinstance(self.values, list):
            same = self.values.columns if type(self.values) is Records else self.values[0]
            return np.full(len(self.values), len(same))
        return np.fromiter(map(len, self.values), np.int64, len(self.values))

    def names(self) -> list[str]:
        """Return the names of their sorts, in the plural."""
        if self.form != "word":
            return [f"{self.form}s"]
        sorts = {None if word is None else getattr(word, "sort", "") for word in self.values.words}
        names = {_SORTS.get(sort, "words") for sort in sorts}
        return sorted(names, key=("None", "words", "failures", "objects").index)

    def steps(self, place: str, cut: list[str]) -> list[Step]:
        """Return the parts to look at, except types; add notes on parts left out to ``cut``.

        ``place`` is the name of the values for a reader.
        """
        if self.form == "sequence":
            least, most = int(self.lengths.min()), int(self.lengths.max())
            if most > COLUMNS and not (least == most and self._numeric):
                half = COLUMNS // 2
                note = f"of {most:,} entries of {place} the first and last {half} are looked at"
                cut.append(note)
                return [("entry", i) for i in [*range(half), *range(-half, 0)]]
            last = min(most, _LAST) if least < most else 0
            steps: list[Step] = [("entry", i) for i in [*range(most), *range(-last, 0)]]
            return steps + (self._common("listed", place, []) if last or most > _LAST else [])
        if self.form == "mapping":
            orders = set(map(tuple, self.values)) if isinstance(self.values, list) else set()
            reordered = len(set(map(frozenset, orders))) < len(orders)  # the same keys
            return self._common("key", place, cut) + [_ORDER] * reordered
        if self.form == "set":
            return self._common("member", place, cut)
        if self.form != "word":
            return []
        steps, whole = words.features(self.values.values, self.values.words)
        times = self._times
        coded = sum(times[word] for word in self.frequent)
        if not whole and coded < (1 - _RARE) * len(self.values):
            cut.append(
                f"{len(self.frequent):,} of {len(times):,} different words of {place} are looked "
                "at by themselves, all by their length, ends and numbers"
            )
        objects = [word.name for word in times if isinstance(word, Other) and word.sort == "object"]
        if objects:
            cut.append(f"where {place} is {min(objects)}, only its type is looked at")
        return steps

    def _common(self, kind: str, place: str, cut: list[str]) -> list[Step]:
        """Return the most frequent keys or members, without members that all have."""
        of_records = kind == "key" and type(self.values) is Records
        columns = self.values.columns if of_records else {}
        times = dict.fromkeys(columns, len(self)) or {k: len(at) for k, at in self._members.items()}
        if kind != "key":
            times = {key: n for key, n in times.items() if n < len(self)}
        keys = _frequent(times, COLUMNS, words.label)
        if len(keys) < len(times):
            cut.append(f"{len(keys)} of {len(times):,} {kind}s of {place} are looked at")
        return [(kind, key) for key in keys]

    @cached_property
    def _members(self) -> dict[Any, list[int]]:
        """Where a key or a member is; of sequences, if all are words or all sequences."""
        listed, at = self.form == "sequence", defaultdict[Any, list[int]](list)
        if listed and (self._numeric or self._forms not in ({"word"}, {"sequence"})):
            return at
        try:
            for i, value in enumerate(listing(self.values)):
                for member in set(map(_hashable, value)) if listed else value:
                    at[member].append(i)
        except TypeError:  # of lists within lists
            at.clear()
        return at

    @cached_property
    def _times(self) -> Mapping[Word, int]:
        times = defaultdict[Word, int](int)
        for word, n in zip(self.values.words, np.bincount(self.values.codes).tolist(), strict=True):
            times[word] += n
        return times

    @cached_property
    def frequent(self) -> list[Word]:
        """The words with a code, the most frequent first, ties by text."""
        return _frequent(self._times, WORDS, words.order_of)

    @cached_property
    def _forms(self) -> set[str]:
        """The forms of the entries of sequences."""
        columns = [chain.from_iterable(self.values)] if isinstance(self.values, list) else []
        columns = columns or list(self.values.columns.values())
        known = {_form_of(column) for column in columns if not isinstance(column, list | chain)}
        lists = chain(*(column for column in columns if isinstance(column, list | chain)))
        return known | {_form(kind, 0) for kind in set(map(type, lists))}

    @property
    def _numeric(self) -> bool:
        """Whether all entries of sequences are numbers."""
        return isinstance(self.values, np.ndarray) or self._forms <= {"number"}

    def inner(self, step: Step) -> tuple[Counts | None, Any]:
        """Return the parts that a step reaches, and the rows of their outputs."""
        (kind, key), values = step, self.values
        has: Any = None
        inner: Any = []
        if step == TYPE and self.form == "number":
            one = isinstance(values, np.ndarray)  # type
            kinds = [values.dtype.type] * len(values) if one else map(type, values)
            return self.at, list(map(reals.type_of, kinds))
        if kind in ("text", "character") and self.form == "word":
            some, parts = words.feature(step, values.values, values.words)
            places = np.full(len(values.values), -1)
            places[some] = np.arange(len(some))
            has = np.flatnonzero(places[values.codes] >= 0)
            inner = _taken(columns_of(parts, self.depth + 1), places[values.codes[has]])
        elif kind == "entry" and self.form == "sequence":
            assert isinstance(key, int)
            exists = self.lengths >= (key + 1 if key >= 0 else -key)
            if exists.all() and isinstance(values, np.ndarray):
                return self.at, values[:, key]
            if exists.all() and type(values) is Records:
                return self.at, values.columns[key % len(values.columns)]
            has = None if exists.all() else np.flatnonzero(exists)
            inner = [v[key] for v in (values if has is None else compress(listing(values), exists))]
        elif (kind, self.form) in (("listed", "sequence"), ("member", "set")):
            has = self._members.get(key, ())
            inner = np.ones(len(has), bool)
        elif kind == "key" and self.form == "mapping":
            if type(values) is Records:
                return (self.at, values.columns[key]) if key in values.columns else (self.at, [])
            has = self._members.get(key, ())
            inner = [values[i][key] for i in has]
            has = None if len(has) == len(values) else has
        elif step == _ORDER and self.form == "mapping":
            inner = list(map(tuple, listing(values)))
        if has is None:
            return self.at, inner
        rows = np.asarray(has, np.int64)
        return rows if self.at is None else self.at[rows], inner


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _frequent(times: Mapping[Any, int], most: int, order: Callable[[Any], Any]) -> list[Any]:
    """Return the most frequent keys, ties in an order; of many, only those that repeat."""
    least = _FREQUENT if len(times) > words.MANY else 0
    items = [item for item in times.items() if item[1] >= least]
    first = heapq.nsmallest(most, items, key=lambda item: (-item[1], order(item[0])))
    return [key for key, _ in first]


def parts_of(values: Any, depth: int, at: Counts | None = None) -> list[Part]:
    """Return the values, of outputs in rows ``at``, by their form, numbers first and words last."""
    columns = columns_of(values, depth) if isinstance(values, list) else values
    if not isinstance(columns, list):
        return [Part(_form_of(columns), columns, at, depth)]
    forms = {kind: _form(kind, depth) for kind in set(map(type, values))}
    different = sorted(set(forms.values()), key=lambda f: (f != "number", f == "word", f))
    if len(different) == 1:
        return [Part(different[0], values, at, depth)]
    places = {kind: different.index(form) for kind, form in forms.items()}
    codes = np.fromiter(map(places.__getitem__, map(type, values)), np.int8, len(values))
    parts = []
    for i, form in enumerate(different):
        rows = np.flatnonzero(codes == i)
        some = columns_of([values[j] for j in rows.tolist()], depth)
        parts.append(Part(form, some, rows if at is None else at[rows], depth))
    return parts


def _form_of(columns: Any) -> str:
    """Return the form of values in columns."""
    if isinstance(columns, np.ndarray):
        return "sequence" if columns.ndim > 1 else "number"
    return "word" if type(columns) is Coded else columns.form


@lru_cache(maxsize=512)
def _form(kind: type, depth: int) -> str:
    """Return the form of values of a type."""
    if not issubclass(kind, _WORDS):
        if issubclass(kind, (Number, np.bool_)) and not issubclass(kind, Enum):
            return "number"
        for name, kinds in _CONTAINERS.items() if depth < DEPTH else ():
            if issubclass(kind, kinds):
                return name
    return "word"


_CONTAINERS = {"sequence": (tuple, list), "mapping": (dict,), "set": (frozenset, set)}

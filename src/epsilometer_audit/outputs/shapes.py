"""The parts of outputs of any kind, by form: entries, keys, members, parts of words.

Outputs ``[{"a": 1}, {"a": 2}, "none"]`` are two: a `Part` of form "mapping" in rows 0 and 1, and
one of form "word" in row 2. The step ``("key", "a")`` leads from the first to the numbers 1 and 2,
again of rows 0 and 1. Values that are alike lie in columns: an array, `Coded` words or `Records`.
"""

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

from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Counts
from epsilometer.samples import as_numpy, of_one_width
from epsilometer_audit.outputs import reals, words
from epsilometer_audit.outputs.reals import Array
from epsilometer_audit.outputs.words import DEPTH, Other, Step, Word
from epsilometer_audit.serving.errors import Broken
from epsilometer_audit.serving.outputs import Plain, array_of, compact, of_array, rows

COLUMNS = 256
WORDS = 4096
_ORDER: Step = ("part", "order of keys")
_LAST = 8  # entries from the end of sequences of varying length
_FREQUENT = 3  # times that one of many words or keys must occur to have a code or column
_RARE = 0.01  # of all values may be other words
_SORTS = {None: "None", "value": "words", "failure": "failures", "object": "objects"}


def raw(outputs: Any) -> Any:
    """Return outputs as an array of numbers, or a list of plain values.

    Raise `ArgumentError` if there is only one output, or the type of an output is not supported.
    """
    if isinstance(outputs, Plain | Coded | Records):
        return outputs
    if type(outputs) is np.ndarray and outputs.ndim and outputs.dtype.kind in "biuf":
        return outputs
    try:
        outputs = as_numpy("outputs", rows(outputs, index=False))
        filled = isinstance(outputs, np.ndarray) and outputs.ndim and outputs.size
        if filled and outputs.dtype.kind != "O":
            return of_array(outputs)
        single = isinstance(outputs, (str, bytes, Mapping)) or getattr(outputs, "ndim", 1) == 0
        if isinstance(outputs, Iterable) and not single:
            return compact(list(outputs))
    except (Broken, RuntimeError) as error:
        message = str(error).replace("returned", "must be plain, got", 1)
        raise ArgumentError("outputs", message) from None
    raise ArgumentError("outputs", f"must be many, got one {type(outputs).__name__}")


def recorded_pair(x: object, x_prime: object) -> tuple[Any, Any, str]:
    """Return recorded outputs of both sides in raw form, and a note on what they are compared as.

    Reals of two widths are compared at the lesser.
    """
    sides = [raw(x), raw(x_prime)]
    rounded = of_one_width(sides)
    note = ""
    if rounded[0] is not sides[0]:  # then both are new
        lesser = rounded[0].dtype
        note = f"one side holds {lesser} only, so both are compared as {lesser}"
    return rounded[0], rounded[1], note


def joined(batches: Sequence[Any]) -> Any:
    """Return raw outputs of several calls as those of one, in columns if they are of one form."""
    values = together(list(map(raw, batches)))
    if isinstance(values, list):
        values = columns_of(values)
    return Plain(values) if isinstance(values, list) else values


def together(batches: Sequence[Any]) -> Any:
    """Return the outputs of batches as one array, in columns if they are of one form, or a list."""
    if len(batches) == 1:
        return batches[0]
    arrays = same_shape(batches)
    if arrays is not None:
        dtype = arrays[0].dtype.newbyteorder("=")
        shape = *arrays[0].shape[1:], sum(map(len, arrays))  # columns are contiguous
        return np.concatenate(arrays, out=np.moveaxis(np.empty(shape, dtype), -1, 0))
    kinds = set(map(type, batches))
    if kinds == {Coded}:
        return Coded.joined(batches)
    if kinds == {Records} and len(set(map(Records.labels, batches))) == 1:
        return Records.joined(batches)
    return list(chain.from_iterable(map(listing, batches)))


def typical(batches: Sequence[Any]) -> Any:
    """Return the outputs of batches, or the first if type and shape say which columns all have."""
    arrays = same_shape(batches)
    if arrays is not None and arrays[0].dtype.kind in "bif" and arrays[0].dtype.itemsize <= 8:
        return arrays[0][:1]
    return together(batches)


def same_shape(batches: Sequence[Any]) -> list[Array] | None:
    """Return arrays of one type, if batches are arrays of numbers of one shape; None otherwise."""
    for batch in batches:
        if not isinstance(batch, np.ndarray) or batch.dtype.kind not in "biuf":
            return None
    arrays = list(batches)
    if len({array.shape[1:] for array in arrays}) > 1:
        return None
    if len({array.dtype for array in arrays}) == 1:
        return arrays
    whole = []
    floats = []
    exact = True
    for numbers in map(reals.as_numbers, arrays):
        if numbers.corrections is None and numbers.nearest.dtype == np.int64:
            whole.append(numbers.nearest)
        exact = exact and numbers.remainders is None
        floats.append(numbers.floats)
    if len(whole) == len(arrays):
        return whole
    return floats if exact else None


def listing(values: Any) -> list[Any]:
    """Return a list of outputs, which are tuples if they are sequences."""
    if isinstance(values, np.ndarray) and values.ndim > 1:
        return [tuple(listing(row)) for row in values]
    return values if isinstance(values, list) else values.tolist()


@dataclass(eq=False)
class Coded:
    """Words as different ``values`` and the number of the value of each, ``codes``."""

    values: list[Any]
    codes: Array

    @classmethod
    def of(cls, values: Sequence[Any]) -> Coded:
        """Return words by their numbers; each different object is looked at once."""
        keys: Sequence[Any] = values
        if not set(map(type, values)) <= {str, bytes, type(None)}:
            objects = dict(zip(map(id, values), values, strict=True))
            key_of_object = dict(zip(objects, map(words.key_of, objects.values()), strict=True))
            keys = list(map(key_of_object.__getitem__, map(id, values)))
        different = dict(zip(keys, values, strict=True))
        codes = {key: code for code, key in enumerate(different)}
        codes_of_values = np.fromiter(map(codes.__getitem__, keys), np.int32, len(keys))
        return cls(list(different.values()), codes_of_values)

    @classmethod
    def joined(cls, batches: Sequence[Coded]) -> Coded:
        """Return the words of several batches."""
        values: list[Any] = []
        codes = []
        for batch in batches:
            codes.append(batch.codes + len(values))
            values += batch.values
        different = cls.of(values)
        return cls(different.values, different.codes[np.concatenate(codes)])

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


@dataclass(eq=False)
class Records:
    """Mappings with the same keys in one order, or sequences of one length: a column by key.

    >>> columns_of([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])[1:].tolist()
    [{'a': 2, 'b': 'y'}]
    """

    form: str
    columns: Mapping[Any, Any]

    def labels(self) -> tuple[Any, ...]:
        """Return the form and the keys."""
        return (self.form, *self.columns)

    @classmethod
    def joined(cls, batches: Sequence[Records]) -> Records:
        """Return the records of several batches, which have the same form and keys."""
        columns = {}
        for key in batches[0].columns:
            columns[key] = together([batch.columns[key] for batch in batches])
        return cls(batches[0].form, columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, at: Any) -> Records:
        """Return those at a slice, or at positions."""
        columns = {key: _taken(column, at) for key, column in self.columns.items()}
        return Records(self.form, columns)

    def tolist(self) -> list[Any]:
        """Return all dictionaries or tuples."""
        rows = list(zip(*map(listing, self.columns.values()), strict=True))
        if self.form == "sequence":
            return rows
        return [dict(zip(self.columns, row)) for row in rows]  # noqa: B905


def _taken(values: Any, at: Any) -> Any:
    """Return the values at a slice, or at positions."""
    if isinstance(values, list) and not isinstance(at, slice):
        return [values[i] for i in at.tolist()]
    return values[at]


def columns_of(values: list[Any], depth: int = 0) -> Any:
    """Return plain values of one form as an array, `Coded` or `Records`; others as they are."""
    forms = forms_of(values, depth)
    if forms == {"word"}:
        return Coded.of(values)
    if forms == {"number"}:
        array = array_of(values)
        return values if array is None else array
    if forms == {"sequence"}:
        return _of_sequences(values, depth)
    if forms == {"mapping"} and len(set(map(tuple, values))) == 1:  # the same keys in one order
        return _of_mappings(values, depth)
    return values


def _of_sequences(values: list[Any], depth: int) -> Any:
    """Return sequences as an array, those of one length as `Records`, others as they are."""
    array = array_of(values, DEPTH - depth)
    if array is not None:
        return array
    if not values[0] or len(set(map(len, values))) > 1:
        return values
    columns = {}
    for place, column in enumerate(zip(*values, strict=True)):
        columns[place] = columns_of(list(column), depth + 1)
    return Records("sequence", columns)


def _of_mappings(values: list[Any], depth: int) -> Any:
    """Return mappings with the same keys in one order as `Records`, empty ones as they are."""
    keys = tuple(values[0])
    if not keys:
        return values
    columns = {}
    for key, *column in zip(keys, *map(dict.values, values), strict=True):
        columns[key] = columns_of(column, depth + 1)
    return Records("mapping", columns)


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
    def numbers(self) -> reals.Numbers:
        """The numbers and their remainders."""
        return reals.as_numbers(self.values)

    @cached_property
    def lengths(self) -> Counts:
        """The number of entries, keys or members of each."""
        size = len(self.values)
        if isinstance(self.values, list):
            return np.fromiter(map(len, self.values), np.int64, size)
        if isinstance(self.values, Records):
            return np.full(size, len(self.values.columns))
        return np.full(size, self.values.shape[1])

    def names(self) -> list[str]:
        """Return the names of their sorts, in the plural."""
        if self.form != "word":
            return [f"{self.form}s"]
        sorts: set[str | None] = set()
        for word in self.values.words:
            sorts.add(None if word is None else getattr(word, "sort", "value"))
        return [name for sort, name in _SORTS.items() if sort in sorts]

    def steps(self, place: str, notes: list[str]) -> list[Step]:
        """Return the parts to look at; add to the notes which parts are left out.

        ``place`` is the name of the values for a reader.
        """
        if self.form == "sequence":
            return self._entries(place, notes)
        if self.form == "mapping":
            steps = self._common("key", place, notes)
            if isinstance(self.values, list):
                orders = set(map(tuple, self.values))
                if len(set(map(frozenset, orders))) < len(orders):  # the same keys
                    steps.append(_ORDER)
            return steps
        if self.form == "set":
            return self._common("member", place, notes)
        if self.form == "word":
            return self._parts_of_words(place, notes)
        return []

    def _entries(self, place: str, notes: list[str]) -> list[Step]:
        """Return the entries of sequences; of varying lengths also the last, and members."""
        least = int(self.lengths.min())
        most = int(self.lengths.max())
        if most > COLUMNS and not (least == most and self._numeric):
            half = COLUMNS // 2
            note = f"of {most:,} entries of {place} the first and last {half} are looked at"
            notes.append(note)
            return [("entry", i) for i in chain(range(half), range(-half, 0))]
        steps: list[Step] = [("entry", i) for i in range(most)]
        varies = least < most
        if varies:
            steps += [("entry", i) for i in range(-_LAST, 0)]
        is_of_one_kind = not self._numeric and self._forms in ({"word"}, {"sequence"})
        if is_of_one_kind and (varies or most > _LAST):
            steps += self._common("listed", place, [])
        return steps

    def _parts_of_words(self, place: str, notes: list[str]) -> list[Step]:
        """Return the parts of words, such as their length and the numbers in them."""
        steps, is_whole = words.features(self.values.values, self.values.words)
        times = self._times
        coded = sum(times[word] for word in self.frequent)
        if not is_whole and coded < (1 - _RARE) * len(self.values):
            notes.append(
                f"{len(self.frequent):,} of {len(times):,} different words of {place} are looked "
                "at by themselves, all by their length, ends and numbers"
            )
        objects = [word.name for word in times if isinstance(word, Other) and word.sort == "object"]
        if objects:
            notes.append(f"where {place} is {min(objects)}, only its type is looked at")
        return steps

    def _common(self, kind: str, place: str, notes: list[str]) -> list[Step]:
        """Return the most frequent keys or members, without members that all have."""
        times: dict[Any, int] = {}
        if kind == "key" and isinstance(self.values, Records):
            times = dict.fromkeys(self.values.columns, len(self))
        else:
            for member, rows in self._members.items():
                if kind == "key" or len(rows) < len(self):
                    times[member] = len(rows)
        keys = _frequent(times, COLUMNS, words.label)
        if len(keys) < len(times):
            notes.append(f"{len(keys)} of {len(times):,} {kind}s of {place} are looked at")
        return [(kind, key) for key in keys]

    @cached_property
    def _members(self) -> dict[Any, list[int]]:
        """Where a key or a member is; of sequences, members that are words or sequences."""
        rows = defaultdict[Any, list[int]](list)
        for row, value in enumerate(listing(self.values)):
            try:
                members = set(value) if self.form == "sequence" else value
            except TypeError:  # of lists within lists
                continue
            for member in members:
                rows[member].append(row)
        return rows

    @cached_property
    def _times(self) -> Mapping[Word, int]:
        times = defaultdict[Word, int](int)
        for word, n in zip(self.values.words, np.bincount(self.values.codes).tolist(), strict=True):
            times[word] += n
        return times

    @cached_property
    def frequent(self) -> list[Word]:
        """The words with a code, the most frequent first, ties by text."""
        return _frequent(self._times, WORDS, repr)

    @cached_property
    def _forms(self) -> set[str]:
        """The forms of the entries of sequences."""
        if isinstance(self.values, list):
            return forms_of(chain.from_iterable(self.values), 0)
        forms = set()
        for column in self.values.columns.values():
            forms |= forms_of(column, 0) if isinstance(column, list) else {_form_of(column)}
        return forms

    @property
    def _numeric(self) -> bool:
        """Whether all entries of sequences are numbers."""
        return isinstance(self.values, np.ndarray) or self._forms <= {"number"}

    def inner(self, step: Step) -> tuple[Counts | None, Any]:
        """Return the parts that a step reaches, and the rows of their outputs."""
        kind, key = step
        if self.form == "word" and kind in ("text", "character"):
            return self._part_of_words(step)
        if self.form == "sequence" and kind == "entry":
            assert isinstance(key, int)
            return self._entry(key)
        if self.form == "mapping" and kind == "key":
            return self._value(key)
        if self.form == "mapping" and step == _ORDER:
            return self.at, list(map(tuple, listing(self.values)))
        if (self.form, kind) in (("sequence", "listed"), ("set", "member")):
            rows = self._members.get(key, ())
            return self._rows(rows), np.ones(len(rows), bool)
        return self.at, []

    def _value(self, key: Any) -> tuple[Counts | None, Any]:
        """Return the value of a key of mappings."""
        if isinstance(self.values, Records):
            return self.at, self.values.columns.get(key, [])
        rows = self._members.get(key, ())
        inner = [self.values[row][key] for row in rows]
        if len(rows) == len(self.values):
            return self.at, inner
        return self._rows(rows), inner

    def _rows(self, places: Any) -> Counts:
        """Return the rows of the outputs at some places among these."""
        rows: Counts = np.asarray(places, np.int64)
        return rows if self.at is None else self.at[rows]

    def _part_of_words(self, step: Step) -> tuple[Counts | None, Any]:
        """Return a part of words, which is read once of each different word."""
        values = self.values
        places, parts = words.feature(step, values.values, values.words)
        number_of_part = np.full(len(values.values), -1)
        number_of_part[places] = np.arange(len(places))
        rows = np.flatnonzero(number_of_part[values.codes] >= 0)
        numbers = number_of_part[values.codes[rows]]
        return self._rows(rows), _taken(columns_of(parts, self.depth + 1), numbers)

    def _entry(self, i: int) -> tuple[Counts | None, Any]:
        """Return an entry of sequences, from the end if ``i`` is negative."""
        least = i + 1 if i >= 0 else -i
        exists = self.lengths >= least
        if not exists.all():
            inner = [value[i] for value in compress(listing(self.values), exists)]
            return self._rows(np.flatnonzero(exists)), inner
        if isinstance(self.values, np.ndarray):
            return self.at, self.values[:, i]
        if isinstance(self.values, Records):
            return self.at, self.values.columns[i % len(self.values.columns)]
        return self.at, [value[i] for value in self.values]


def _frequent(times: Mapping[Any, int], most: int, order: Callable[[Any], Any]) -> list[Any]:
    """Return the most frequent keys, ties in an order; of many, only those that repeat."""
    least = _FREQUENT if len(times) > words.MANY else 0
    items = [item for item in times.items() if item[1] >= least]
    first = heapq.nsmallest(most, items, key=lambda item: (-item[1], order(item[0])))
    return [key for key, _ in first]


def parts_of(values: Any, depth: int, at: Counts | None = None) -> list[Part]:
    """Return the values, of outputs in rows ``at``, by their form, numbers first."""
    if isinstance(values, list):
        values = columns_of(values, depth)
    if not isinstance(values, list):
        return [Part(_form_of(values), values, at, depth)]
    rows_of_form = defaultdict[str, list[int]](list)
    for row, kind in enumerate(map(type, values)):
        rows_of_form[_form(kind, depth)].append(row)
    if len(rows_of_form) == 1:
        return [Part(form, values, at, depth) for form in rows_of_form]
    parts = []
    for form in sorted(rows_of_form, key=lambda form: (form != "number", form)):
        rows = np.array(rows_of_form[form])
        of_form = columns_of([values[row] for row in rows_of_form[form]], depth)
        parts.append(Part(form, of_form, rows if at is None else at[rows], depth))
    return parts


def forms_of(values: Iterable[Any], depth: int) -> set[str]:
    """Return the forms of values."""
    return {_form(kind, depth) for kind in set(map(type, values))}


def _form_of(columns: Any) -> str:
    """Return the form of values in columns."""
    if isinstance(columns, np.ndarray):
        return "sequence" if columns.ndim > 1 else "number"
    return "word" if isinstance(columns, Coded) else columns.form


@lru_cache(maxsize=512)
def _form(kind: type, depth: int) -> str:
    """Return the form of values of a type."""
    if issubclass(kind, (Number, np.bool_)) and not issubclass(kind, (Enum, np.timedelta64)):
        return "number"
    if depth < DEPTH:
        for form, containers in _CONTAINERS.items():
            if issubclass(kind, containers):
                return form
    return "word"


_CONTAINERS = {"sequence": (tuple, list), "mapping": (dict,), "set": (frozenset, set)}

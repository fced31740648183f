"""The parts of outputs of any kind, by form: entries, keys, members, parts of words."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import chain, compress
from numbers import Number
from typing import Any

import numpy as np

from epsilometer.arrays import Counts
from epsilometer.errors import ArgumentError
from epsilometer_audit.outcomes import reals, words
from epsilometer_audit.outcomes.reals import Array, Values
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


def raw(outputs: object, *, own: bool = True) -> Values:
    """Return outputs as an array of numbers, or a list of plain values.

    Values of a list have types of their ``own``, or where they differ in it. Raise `ArgumentError`
    if there is only one output, or the type of an output is not supported.
    """
    if isinstance(outputs, Plain):
        return outputs
    if type(outputs) is np.ndarray and outputs.ndim and reals.are_real(outputs):
        return outputs
    try:
        table, outputs = outputs, rows(outputs, index=False)
        if hasattr(outputs, "__array__") and not isinstance(outputs, np.ma.MaskedArray):
            outputs = np.asarray(outputs)
            if outputs.ndim and outputs.size and outputs.dtype.kind != "O":
                return of_array(outputs)  # type: ignore[no-any-return]
        single = isinstance(outputs, (str, bytes, Mapping)) or getattr(outputs, "ndim", 1) == 0
        if isinstance(outputs, Iterable) and not single:
            own = own and outputs is table
            return compact(list(outputs), own=own)  # type: ignore[no-any-return]
    except (Broken, RuntimeError) as error:
        message = str(error).replace("returned", "must be plain, got", 1)
        raise ArgumentError("outputs", message) from None
    raise ArgumentError("outputs", f"must be many, got one {type(outputs).__name__}")


def recorded_pair(x: object, x_prime: object) -> tuple[Values, Values, str]:
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
    """Return raw outputs of several calls as those of one."""
    if len(batches) == 1:
        return batches[0]
    values = together(batches)
    own = any(isinstance(batch, Own) for batch in batches)
    return compact(values, own=own) if isinstance(values, list) else values


def together(batches: Sequence[Any]) -> Values:
    """Return the outputs of batches as one array, if they are of one shape, or in a list."""
    if (arrays := same_shape(batches)) is not None:
        return np.concatenate(arrays)
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


def listing(values: Values) -> list[Any]:
    """Return a list of outputs."""
    return values if isinstance(values, list) else values.tolist()


@dataclass
class Part:
    """Outputs of one form, or parts of outputs, and the rows of their outputs (None: all)."""

    form: str
    values: Values
    at: Counts | None

    @property
    def word(self) -> Other:
        """The word for this form."""
        return Other("form", f"a {self.form}")

    @property
    def sized(self) -> bool:
        """Whether they have lengths."""
        return self.form in _CONTAINERS

    @cached_property
    def keys(self) -> list[Word]:
        """The words of the values."""
        if set(map(type, self.values)) <= {str, bytes, type(None)}:
            return self.values  # type: ignore[return-value]
        return [words.word_of(value) for value in self.values]

    @cached_property
    def numbers(self) -> tuple[Array, Array | None, bool]:
        """The numbers and their remainders; see `as_numbers`."""
        return reals.as_numbers(self.values)

    @cached_property
    def lengths(self) -> Counts:
        """The number of entries, keys or members of each."""
        if isinstance(self.values, np.ndarray):
            return np.full(len(self.values), self.values.shape[1])
        return np.fromiter(map(len, self.values), np.int64, len(self.values))

    def names(self) -> list[str]:
        """Return the names of their sorts, in the plural."""
        if self.form != "word":
            return [f"{self.form}s"]
        sorts = {None if word is None else getattr(word, "sort", "") for word in set(self.keys)}
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
            orders = set(map(tuple, self.values))
            reordered = len(set(map(frozenset, orders))) < len(orders)  # the same keys
            return self._common("key", place, cut) + [_ORDER] * reordered
        if self.form == "set":
            return self._common("member", place, cut)
        if self.form != "word":
            return []
        steps, whole = words.features(self.values, self.keys)
        times = self._words
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
        times = Counter(chain.from_iterable(self._members))
        if kind != "key":
            times = Counter({key: n for key, n in times.items() if n < len(self.values)})
        keys = _frequent(times, COLUMNS, words.label)
        if len(keys) < len(times):
            cut.append(f"{len(keys)} of {len(times):,} {kind}s of {place} are looked at")
        return [(kind, key) for key in keys]

    @cached_property
    def _members(self) -> Sequence[Collection[Any]]:
        """The keys or members of each; of sequences, if all are words or all sequences, or none."""
        if isinstance(self.values, list) and self.form != "sequence":
            return self.values
        if isinstance(self.values, list) and self._forms in ({"word"}, {"sequence"}):
            with suppress(TypeError):  # of lists within lists
                return [frozenset(map(_hashable, value)) for value in self.values]
        return ()

    @cached_property
    def _words(self) -> Counter[Word]:
        return Counter(self.keys)

    @cached_property
    def frequent(self) -> list[Word]:
        """The words with a code, the most frequent first, ties by text."""
        return _frequent(self._words, WORDS, words.order_of)

    @cached_property
    def _in_all(self) -> set[Any]:
        """The keys that all values have."""
        return set(self.values[0]).intersection(*self.values)

    @cached_property
    def _forms(self) -> set[str]:
        """The forms of the entries of sequences in a list."""
        return {_form(kind, 0) for kind in set(map(type, chain.from_iterable(self.values)))}

    @property
    def _numeric(self) -> bool:
        """Whether all entries of sequences are numbers."""
        return isinstance(self.values, np.ndarray) or self._forms <= {"number"}

    def inner(self, step: Step) -> tuple[Counts | None, Values]:
        """Return the parts that a step reaches, and the rows of their outputs."""
        (kind, key), values = step, self.values
        has: Any = None
        inner: Values = []
        if step == TYPE and self.form == "number":
            if isinstance(values, np.ndarray):
                return self.at, [reals.type_of(values.dtype.type)] * len(values)
            return self.at, [reals.type_of(type(value)) for value in values]
        if kind in ("text", "character") and self.form == "word":
            has, inner = words.feature(step, listing(values), self.keys)
        elif kind == "entry" and self.form == "sequence":
            assert isinstance(key, int)
            exists = self.lengths >= (key + 1 if key >= 0 else -key)
            if exists.all() and isinstance(values, np.ndarray):
                return self.at, values[:, key]
            has = None if exists.all() else np.flatnonzero(exists)
            inner = [value[key] for value in (values if has is None else compress(values, exists))]
        elif (kind, self.form) in (("listed", "sequence"), ("member", "set")):
            has = [i for i, members in enumerate(self._members) if key in members]
            inner = np.ones(len(has), bool)
        elif kind == "key" and self.form == "mapping":
            if key not in self._in_all:
                has = [i for i, value in enumerate(values) if key in value]
                values = [values[i] for i in has]
            inner = [value[key] for value in values]
        elif step == _ORDER and self.form == "mapping":
            inner = list(map(tuple, values))
        if has is None:
            return self.at, inner
        rows = np.asarray(has, np.int64)
        return rows if self.at is None else self.at[rows], inner


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _frequent(times: Counter[Any], most: int, order: Callable[[Any], Any]) -> list[Any]:
    """Return the most frequent keys, ties in an order; of many, only those that repeat."""
    items = times.items()
    if len(times) > words.MANY:
        items = [item for item in items if item[1] >= _FREQUENT]  # type: ignore[assignment]
    first = heapq.nsmallest(most, items, key=lambda item: (-item[1], order(item[0])))
    return [key for key, _ in first]


def parts_of(values: Values, depth: int, at: Counts | None = None) -> list[Part]:
    """Return the values, of outputs in rows ``at``, by their form, numbers first and words last."""
    if isinstance(values, np.ndarray):
        return [Part("sequence" if values.ndim > 1 else "number", values, at)]
    forms = {kind: _form(kind, depth) for kind in set(map(type, values))}
    different = sorted(set(forms.values()), key=lambda f: (f != "number", f == "word", f))
    places = {kind: different.index(form) for kind, form in forms.items()}
    several = len(different) > 1
    codes = np.fromiter(map(places.__getitem__, map(type, values)), np.int8) if several else None
    parts = []
    for i, form in enumerate(different):
        some, rows = values, at
        if codes is not None:
            some, rows = list(compress(values, (codes == i).tolist())), np.flatnonzero(codes == i)
            rows = rows if at is None else at[rows]
        array = array_of(some, DEPTH - depth) if form == "sequence" else None
        parts.append(Part(form, some if array is None else array, rows))
    return parts


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

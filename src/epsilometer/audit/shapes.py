"""Outputs of any kind, taken apart: by form, and into entries, keys, fields and members."""

from __future__ import annotations

import dataclasses
import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import chain, compress
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.audit.reals import EXACT, Array, Values, are_real, as_numbers
from epsilometer.audit.words import DEPTH, TOLD, Other, Step, Word, label, sort_of, word_of
from epsilometer.errors import ArgumentError

COLUMNS = 64
_NUMBERS = (int, float, np.bool_, np.integer, np.floating, Decimal, Fraction)
_WORDS = (str, bytes, bytearray, type(None), Other, type, *TOLD)


def raw(outputs: object) -> Values:
    """Return outputs as an array of numbers, or a list of anything."""
    if isinstance(outputs, list):
        return outputs
    if hasattr(outputs, "__array__"):
        array = np.asarray(outputs)
        if array.ndim:
            return array if array.dtype.kind in "biufc" else listing(array)
    elif isinstance(outputs, Iterable) and not isinstance(outputs, (str, bytes, Mapping)):
        return list(outputs)
    raise ArgumentError("outputs", f"must be many, got one {type(outputs).__name__}")


def listing(values: Values) -> list[Any]:
    """Return a list of outputs."""
    if isinstance(values, list):
        return values
    # what `tolist` makes of records and dates is less than they are
    return list(values) if values.dtype.kind in "VMm" else values.tolist()


@dataclass
class Part:
    """The outputs of one form, or parts of outputs, and where they stand among all."""

    form: str
    name: str
    at: NDArray[np.int64] | None  # None: all
    values: Values

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.values)

    @property
    def sized(self) -> bool:
        """Whether they have lengths."""
        return self.form in ("sequence", "mapping", "set")

    @property
    def word(self) -> Other:
        """What a column of words says of it."""
        return Other("form", self.name)

    @cached_property
    def keys(self) -> list[Word]:
        """The words of the values."""
        kinds = set(map(type, self.values))
        if kinds <= {str, bytes, type(None)}:
            return self.values  # type: ignore[return-value]
        return [word_of(value) for value in self.values]

    @cached_property
    def numbers(self) -> tuple[Array, Array | None]:
        """The numbers, and what they leave out; see `as_numbers`."""
        return as_numbers(self.values)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """How many entries, keys or members each has."""
        if isinstance(self.values, np.ndarray):
            return np.full(self.size, self.values.shape[1])
        return np.fromiter(map(len, self.values), np.int64, self.size)

    def names(self) -> list[str]:
        """Say what they are, in the plural."""
        if self.form != "word":
            return [f"{self.name[2:]}s"]
        names = {sort_of(word) for word in set(self.keys)}
        return [name for name in ("None", "words", "failures", "objects") if name in names]

    def steps(self) -> list[Step]:
        """Return the parts of them that are worth a look."""
        if self.form == "sequence":
            if isinstance(self.values, np.ndarray):
                return [("entry", i) for i in range(self.values.shape[1])]
            return [("entry", i) for i in range(min(int(self.lengths.max()), COLUMNS))]
        if self.form == "complex":
            return [("part", "real part"), ("part", "imaginary part")]
        if self.form in ("mapping", "record", "set"):
            times = Counter(chain.from_iterable(self.values))
            if self.form == "set":  # a member of every set says nothing
                times = Counter({key: n for key, n in times.items() if n < self.size})
            most = heapq.nsmallest(COLUMNS, times.items(), key=lambda kv: (-kv[1], label(kv[0])))
            name = {"mapping": "key", "record": "field", "set": "member"}[self.form]
            keys = dict(most)
            order = times if self.form == "record" else keys  # fields as they are written
            return [(name, key) for key in order if key in keys]
        return []

    def inner(self, step: Step) -> tuple[NDArray[np.int64] | None, Values]:
        """Return a part of those values that have it, and where these stand among all."""
        kind, key = step
        has: Any = None
        inner: Values
        if kind == "entry" and self.form == "sequence":
            assert isinstance(key, int)
            if isinstance(self.values, np.ndarray):
                return self.at, self.values[:, key] if key < self.values.shape[1] else []
            if key < self.lengths.min():
                return self.at, [value[key] for value in self.values]
            has = self.lengths > key
            inner = [value[key] for value in compress(self.values, has)]
        elif (kind, self.form) in (("key", "mapping"), ("field", "record")):
            has = np.fromiter((key in value for value in self.values), bool, self.size)
            inner = [value[key] for value in compress(self.values, has)]
        elif kind == "member" and self.form == "set":
            has = np.fromiter((key in value for value in self.values), bool, self.size)
            inner = np.ones(np.count_nonzero(has), bool)
        elif kind == "part" and self.form == "complex":
            numbers = np.asarray(self.values)
            return self.at, numbers.real if key == "real part" else numbers.imag
        else:
            return self.at, []
        at = np.flatnonzero(has)
        return (at if self.at is None else self.at[at]), inner


def parts_of(values: Values, depth: int) -> list[Part]:
    """Return the values by their form, numbers first and words last."""
    if isinstance(values, np.ndarray):
        if values.ndim > 1:
            form, name = "sequence", "a sequence"
        elif values.dtype.kind == "c":
            form, name = "complex", "a complex number"
        else:
            form, name = "number", "a number"
        return [Part(form, name, None, values)]
    forms = {kind: _form(kind, depth) for kind in set(map(type, values))}
    if any(form == "array" for form, _ in forms.values()):
        values = [_unpacked(v) if forms[type(v)][0] == "array" else v for v in values]
        forms = {kind: _form(kind, depth) for kind in set(map(type, values))}
        forms = {k: ("sequence", "a sequence") if f[0] == "array" else f for k, f in forms.items()}
    different = sorted(set(forms.values()), key=lambda f: (f[0] != "number", f[0] == "word", f))
    if len(different) == 1:
        return [_part(*different[0], None, values, depth)]
    places = {kind: different.index(form) for kind, form in forms.items()}
    codes = np.fromiter(map(places.__getitem__, map(type, values)), np.int64, len(values))
    parts = []
    for i, (form, name) in enumerate(different):
        at = np.flatnonzero(codes == i)
        parts.append(_part(form, name, at, [values[j] for j in at.tolist()], depth))
    return parts


def _part(
    form: str, name: str, at: NDArray[np.int64] | None, values: list[Any], depth: int
) -> Part:
    if form == "record":
        return Part(form, name, at, [_fields(value) for value in values])
    if form == "complex":
        return Part(form, name, at, np.array(values, np.complex128))
    if form == "sequence":
        return Part(form, name, at, _stacked(values, depth))
    return Part(form, name, at, values)


def _form(kind: type, depth: int) -> tuple[str, str]:  # noqa: PLR0911
    """Return what values of a type are, and what a reader calls one of them."""
    word = "word", "a word"
    if kind.__name__ == "Failure" or issubclass(kind, _WORDS):
        return word
    if issubclass(kind, _NUMBERS):
        return "number", "a number"
    if issubclass(kind, Enum):
        return word
    if issubclass(kind, (complex, np.complexfloating)):
        return "complex", "a complex number"
    if depth >= DEPTH:
        return word
    if issubclass(kind, np.ndarray) or (
        hasattr(kind, "__array__") and not issubclass(kind, np.generic)
    ):
        return "array", "an array"
    if _recorded(kind):
        return "record", "a record" if kind is np.void else f"a {kind.__name__} record"
    for name, abstract in (("sequence", Sequence), ("mapping", Mapping), ("set", Set)):
        if issubclass(kind, abstract):
            return name, f"a {name}"
    return ("number", "a number") if issubclass(kind, Real) else word


def _recorded(kind: type) -> bool:
    named = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return named or dataclasses.is_dataclass(kind) or issubclass(kind, np.void)


def _unpacked(value: Any) -> Any:
    """Return an array, of what offers one, or the value of an array that has no axis."""
    try:
        array = np.asarray(value)
    except Exception:
        return word_of(value)
    if not array.ndim:
        scalar = array[()]
        return word_of(value) if isinstance(scalar, np.ndarray) or scalar is value else scalar
    return list(array) if array.dtype.kind == "V" else array


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields of a record that has them."""
    if isinstance(value, np.void):
        return {name: value[name] for name in value.dtype.names or ()}
    if isinstance(value, tuple):
        return dict(zip(value._fields, value, strict=False))  # type: ignore[attr-defined]
    names = [each.name for each in dataclasses.fields(value)]
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def _stacked(values: list[Any], depth: int) -> Values:
    """Return an array where all values are sequences of one shape, of numbers that it can hold."""
    kinds = set(map(type, values))
    if not kinds <= {list, tuple, np.ndarray}:
        return values
    arrays = kinds == {np.ndarray}
    if not (_alike(values) if arrays else _nested(values)):
        return values
    try:
        array = np.array(values)
    except (ValueError, TypeError, OverflowError):  # of several shapes
        return values
    if not are_real(array) or not 2 <= array.ndim <= DEPTH - depth + 1:
        return values
    if not arrays and array.dtype.kind == "f" and (np.abs(array) >= EXACT).any():
        return values  # whole numbers among them may have been rounded
    return array


def _alike(values: list[Array]) -> bool:
    return are_real(values[0]) and len({(value.shape, value.dtype) for value in values}) == 1


def _nested(values: list[Any]) -> bool:
    """Tell whether values are sequences of one length that an array is faster for."""
    size = len(values[0])
    if not size or any(len(value) != size for value in values):
        return False
    if size <= COLUMNS and not isinstance(values[0][0], (list, tuple, np.ndarray)):
        return False
    for _ in range(DEPTH):
        values = list(chain.from_iterable(values))
        kinds = set(map(type, values))
        if not kinds <= {list, tuple}:
            break
    return kinds == {np.ndarray} or all(
        kind in (int, float, bool) or issubclass(kind, np.number) for kind in kinds
    )

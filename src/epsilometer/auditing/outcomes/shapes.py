"""Outputs of any kind, taken apart: by form, and into entries, keys, members, parts of words."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import chain, compress
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.auditing.outcomes.reals import EXACT, Array, Values, are_real, as_numbers, type_of
from epsilometer.auditing.outcomes.texts import MANY, as_text, feature, features
from epsilometer.auditing.outcomes.words import (
    DEPTH,
    TOLD,
    Other,
    Step,
    Word,
    label,
    order_of,
    sort_of,
    word_of,
)
from epsilometer.auditing.serving.errors import Broken
from epsilometer.auditing.serving.outputs import Failure, Plain, plain, rows
from epsilometer.errors import ArgumentError

COLUMNS = 256
PAIRED = 1024  # entries among which pairs are searched for dependence
WORDS = 4096
TYPE: Step = ("part", "type of number")
_ORDER: Step = ("part", "order of keys")
_LAST = 8  # entries from the end of sequences of varying length
_FEW = 64  # entries, of which a list is as fast as an array
_OFTEN = 3  # of many words or keys, those are looked at by themselves that are there so often
_RARE = 0.01  # of all values, that others may be
_ATOMS = {float, int, bool, str, bytes, type(None)}
_WORDS = (str, bytes, type(None), Failure, Other, type, *TOLD)


def raw(outputs: object) -> Values:
    """Return outputs as an array of numbers, or a list of plain values.

    Raises
    ------
    ArgumentError
        If they are not many, or one of them is of a type that is not understood.
    """
    if isinstance(outputs, Plain):
        return outputs
    if isinstance(outputs, list) and _ATOMS.issuperset(map(type, outputs)):
        return outputs
    try:
        outputs = rows(outputs, index=False)
        if hasattr(outputs, "__array__") and not isinstance(outputs, np.ma.MaskedArray):
            outputs = np.asarray(outputs)
            if outputs.ndim and are_real(outputs):
                return outputs
        one = isinstance(outputs, (str, bytes, Mapping)) or getattr(outputs, "ndim", 1) == 0
        if isinstance(outputs, Iterable) and not one:
            return Plain(plain(output) for output in outputs)
    except (Broken, RuntimeError) as error:
        message = str(error).replace("returned", "must be plain, got", 1)
        raise ArgumentError("outputs", message) from None
    raise ArgumentError("outputs", f"must be many, got one {type(outputs).__name__}")


def listing(values: Values) -> list[Any]:
    """Return a list of outputs."""
    return values if isinstance(values, list) else values.tolist()


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

    def steps(self, place: str, cut: list[str]) -> list[Step]:
        """Return the parts that are worth a look, but types; add what they do not say to ``cut``.

        ``place`` is what a reader calls the values.
        """
        if self.form == "sequence":
            least, most = int(self.lengths.min()), int(self.lengths.max())
            if most <= COLUMNS or (least == most and self._numeric):
                last = min(most, _LAST) if least < most else 0
                return [("entry", i) for i in [*range(most), *range(-last, 0)]]
            half = COLUMNS // 2
            cut.append(f"of {most:,} entries of {place} the first and last {half} are looked at")
            return [("entry", i) for i in [*range(half), *range(-half, 0)]]
        if self.form in ("mapping", "set"):
            times = Counter(chain.from_iterable(self.values))
            if self.form == "set":  # a member of every set says nothing
                times = Counter({key: n for key, n in times.items() if n < self.size})
            name = "key" if self.form == "mapping" else "member"
            order = lambda item: (-item[1], label(item[0]))  # noqa: E731
            keys = _frequent(times, COLUMNS, order)
            if len(keys) < len(times):
                cut.append(f"{len(keys)} of {len(times):,} {name}s of {place} are looked at")
            return [(name, key) for key in keys] + ([_ORDER] if self._reordered else [])
        if self.form != "word":
            return []
        found, whole = features(self.values, self.keys)
        times = self._words
        looked = sum(times[word] for word in self.frequent)
        if not whole and looked < (1 - _RARE) * self.size:
            cut.append(
                f"{len(self.frequent):,} of {len(times):,} different words of {place} are looked "
                "at by themselves, all by their length, ends and numbers"
            )
        objects = [word.name for word in times if isinstance(word, Other) and word.sort == "object"]
        if objects:
            cut.append(f"where {place} is {min(objects)}, only its type is looked at")
        return found

    @cached_property
    def _texts(self) -> list[str | bytes | None]:
        return list(map(as_text, self.keys))

    @cached_property
    def _words(self) -> Counter[Word]:
        return Counter(self.keys)

    @cached_property
    def frequent(self) -> list[Word]:
        """The words that are looked at by themselves, the most frequent first, ties by text."""
        return _frequent(self._words, WORDS, lambda item: (-item[1], *order_of(item[0])))

    @cached_property
    def _numeric(self) -> bool:
        """Whether all entries of sequences are numbers."""
        if isinstance(self.values, np.ndarray):
            return True
        kinds = set(map(type, chain.from_iterable(self.values)))
        return all(_form(kind, 0)[0] == "number" for kind in kinds)

    @property
    def _reordered(self) -> bool:
        """Whether the same keys stand in different orders."""
        orders = set(map(tuple, self.values)) if self.form == "mapping" else set()
        return len(set(map(frozenset, orders))) < len(orders)

    def inner(  # noqa: PLR0911
        self, step: Step
    ) -> tuple[NDArray[np.int64] | None, Values]:
        """Return a part of those values that have it, and where these stand among all."""
        kind, key = step
        has: Any = None
        inner: Values
        if step == TYPE and self.form == "number":
            if isinstance(self.values, np.ndarray):
                return self.at, [type_of(self.values.dtype.type)] * self.size
            return self.at, [type_of(type(value)) for value in self.values]
        if kind in ("text", "character") and self.form == "word":
            places, inner = feature(step, listing(self.values), self._texts)
            return self._among_all(np.array(places, np.int64)), inner
        if kind == "entry" and self.form == "sequence":
            assert isinstance(key, int)
            needed = key + 1 if key >= 0 else -key
            if isinstance(self.values, np.ndarray):
                return self.at, self.values[:, key] if needed <= self.values.shape[1] else []
            if needed <= self.lengths.min():
                return self.at, [value[key] for value in self.values]
            has = self.lengths >= needed
            inner = [value[key] for value in compress(self.values, has)]
        elif (kind, self.form) in (("key", "mapping"), ("member", "set")):
            has = np.fromiter((key in value for value in self.values), bool, self.size)
            inner = np.ones(np.count_nonzero(has), bool)
            if kind == "key":
                inner = [value[key] for value in compress(self.values, has)]
        elif step == _ORDER and self.form == "mapping":
            return self.at, list(map(tuple, self.values))
        else:
            return self.at, []
        return self._among_all(np.flatnonzero(has)), inner

    def _among_all(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        return at if self.at is None else self.at[at]


def _frequent(times: Counter[Any], most: int, order: Callable[[Any], Any]) -> list[Any]:
    """Return what is there most often, in an order; of many, not what is there but for once."""
    items = times.items()
    if len(times) > MANY:
        items = [item for item in items if item[1] >= _OFTEN]  # type: ignore[assignment]
    return [key for key, _ in heapq.nsmallest(most, items, key=order)]


def parts_of(values: Values, depth: int) -> list[Part]:
    """Return the values by their form, numbers first and words last."""
    if isinstance(values, np.ndarray):
        several = values.ndim > 1
        form, name = ("sequence", "a sequence") if several else ("number", "a number")
        return [Part(form, name, None, values)]
    forms = {kind: _form(kind, depth) for kind in set(map(type, values))}
    different = sorted(set(forms.values()), key=lambda f: (f[0] != "number", f[0] == "word", f))
    if len(different) == 1:
        return [Part(*different[0], None, _stacked(values, depth, different[0][0]))]
    places = {kind: different.index(form) for kind, form in forms.items()}
    codes = np.fromiter(map(places.__getitem__, map(type, values)), np.int64, len(values))
    parts = []
    for i, (form, name) in enumerate(different):
        at = np.flatnonzero(codes == i)
        some = [values[j] for j in at.tolist()]
        parts.append(Part(form, name, at, _stacked(some, depth, form)))
    return parts


def _form(kind: type, depth: int) -> tuple[str, str]:
    """Return what values of a type are, and what a reader calls one of them."""
    if not issubclass(kind, _WORDS):
        if issubclass(kind, (Number, np.bool_)) and not issubclass(kind, Enum):
            return "number", "a number"
        for name, kinds in _CONTAINERS.items() if depth < DEPTH else ():
            if issubclass(kind, kinds):
                return name, f"a {name}"
    return "word", "a word"


_CONTAINERS = {"sequence": (tuple, list), "mapping": (dict,), "set": (frozenset, set)}


def _stacked(values: list[Any], depth: int, form: str) -> Values:
    """Return an array where all values are sequences of one shape, of numbers that it can hold."""
    if form != "sequence" or not {*map(type, values)} <= {list, tuple} or not _nested(values):
        return values
    try:
        array = np.array(values)
    except (ValueError, TypeError, OverflowError):  # of several shapes
        return values
    if not are_real(array) or not 2 <= array.ndim <= DEPTH - depth + 1:
        return values
    if array.dtype.kind == "f" and (np.abs(array) >= EXACT).any():
        return values  # whole numbers among them may have been rounded
    return array


def _nested(values: list[Any]) -> bool:
    """Tell whether values are sequences of one length that an array is faster for."""
    size = len(values[0])
    if not size or any(len(value) != size for value in values):
        return False
    if size <= _FEW and not isinstance(values[0][0], (list, tuple)):
        return False
    for _ in range(DEPTH):
        values = list(chain.from_iterable(values))
        kinds = set(map(type, values))
        if not kinds <= {list, tuple}:
            break
    return all(kind in (int, float, bool) or issubclass(kind, np.number) for kind in kinds) and (
        len(set(map(type_of, kinds))) == 1
    )

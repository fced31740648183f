"""The parts of outputs of any kind, by form: entries, keys, members, parts of words."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import chain, compress
from numbers import Number
from typing import Any

import numpy as np

from epsilometer.arrays import Counts
from epsilometer.errors import ArgumentError
from epsilometer_audit.outcomes.reals import (
    EXACT,
    Array,
    Values,
    are_real,
    as_numbers,
    floats,
    remainders_of,
    type_of,
)
from epsilometer_audit.outcomes.words import (
    DEPTH,
    MANY,
    PRINTED,
    Other,
    Step,
    Word,
    as_text,
    feature,
    features,
    label,
    order_of,
    sort_of,
    word_of,
)
from epsilometer_audit.serving.errors import Broken
from epsilometer_audit.serving.outputs import (
    Failure,
    Own,
    Plain,
    compact,
    of_array,
    plain,
    rows,
    several_types,
)

COLUMNS = 256
PAIRED = 1024  # entries among which pairs are searched for dependence
WORDS = 4096
TYPE: Step = ("part", "type of number")
_ORDER: Step = ("part", "order of keys")
_LAST = 8  # entries from the end of sequences of varying length
_FEW = 64  # entries, of which a list is as fast as an array
_FREQUENT = 3  # times that one of many words or keys must occur to have a code or column
_RARE = 0.01  # of all values may be other words
_ATOMS = {float, int, bool, str, bytes, type(None)}
_WORDS = (str, bytes, type(None), Failure, Other, type, *PRINTED)


def raw(outputs: object) -> Values:
    """Return outputs as an array of numbers, or a list of plain values.

    Raise `ArgumentError` if there is only one output, or the type of an output is not supported.
    """
    if isinstance(outputs, Plain):
        return outputs
    if type(outputs) is np.ndarray and outputs.ndim and are_real(outputs):
        return outputs
    if isinstance(outputs, list) and _ATOMS.issuperset(map(type, outputs)):
        return outputs
    try:
        table, outputs = outputs, rows(outputs, index=False)
        if hasattr(outputs, "__array__") and not isinstance(outputs, np.ma.MaskedArray):
            outputs = np.asarray(outputs)
            if outputs.ndim and outputs.size and outputs.dtype.kind != "O":
                return of_array(outputs)  # type: ignore[no-any-return]
        single = isinstance(outputs, (str, bytes, Mapping)) or getattr(outputs, "ndim", 1) == 0
        if isinstance(outputs, Iterable) and not single:
            kind = Own if outputs is table else Plain
            return kind(plain(output) for output in outputs)
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
    first, second = (
        Plain(side) if isinstance(side, list) and not several_types(side) else side
        for side in map(raw, (x, x_prime))
    )
    return first, second, note


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
    arrays = [batch for batch in batches if isinstance(batch, np.ndarray) and are_real(batch)]
    if len(arrays) < len(batches) or len({array.shape[1:] for array in arrays}) > 1:
        return None
    if len({array.dtype for array in arrays}) == 1:
        return arrays
    numbers = [as_numbers(array) for array in arrays]
    if all(rest is None and array.dtype == np.int64 for array, rest in numbers):
        return [array for array, _ in numbers]
    if any(remainders_of(*pair) is not None for pair in numbers):
        return None
    whole = any(array.dtype == np.int64 for array, _ in numbers)
    return [floats(array) + 0.0 if whole else floats(array) for array, _ in numbers]


def listing(values: Values) -> list[Any]:
    """Return a list of outputs."""
    return values if isinstance(values, list) else values.tolist()


@dataclass
class Part:
    """The outputs of one form, or parts of outputs, and their positions (None: all)."""

    form: str
    name: str
    at: Counts | None
    values: Values

    @property
    def size(self) -> int:
        """Their number."""
        return len(self.values)

    @property
    def sized(self) -> bool:
        """Whether they have lengths."""
        return self.form in ("sequence", "mapping", "set")

    @property
    def word(self) -> Other:
        """The word for this form."""
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
        """The numbers and their remainders; see `as_numbers`."""
        return as_numbers(self.values)

    @cached_property
    def lengths(self) -> Counts:
        """The number of entries, keys or members of each."""
        if isinstance(self.values, np.ndarray):
            return np.full(self.size, self.values.shape[1])
        return np.fromiter(map(len, self.values), np.int64, self.size)

    def names(self) -> list[str]:
        """Return the names of their sorts, in the plural."""
        if self.form != "word":
            return [f"{self.name[2:]}s"]
        names = {sort_of(word) for word in set(self.keys)}
        return [name for name in ("None", "words", "failures", "objects") if name in names]

    def steps(self, place: str, cut: list[str]) -> list[Step]:
        """Return the parts to look at, except types; add notes on parts left out to ``cut``.

        ``place`` is the name of the values for a reader.
        """
        if self.form == "sequence":
            least, most = int(self.lengths.min()), int(self.lengths.max())
            if most <= COLUMNS or (least == most and self._numeric):
                last = min(most, _LAST) if least < most else 0
                steps: list[Step] = [("entry", i) for i in [*range(most), *range(-last, 0)]]
                if self._members is not None and (last or most > _LAST):
                    times = Counter(chain.from_iterable(self._members))
                    times = Counter({key: n for key, n in times.items() if n < self.size})
                    keys = _frequent(times, COLUMNS, lambda item: (-item[1], label(item[0])))
                    steps += [("listed", key) for key in keys]
                return steps
            half = COLUMNS // 2
            cut.append(f"of {most:,} entries of {place} the first and last {half} are looked at")
            return [("entry", i) for i in [*range(half), *range(-half, 0)]]
        if self.form in ("mapping", "set"):
            times = Counter(chain.from_iterable(self.values))
            if self.form == "set":  # without members of every set
                times = Counter({key: n for key, n in times.items() if n < self.size})
            name = "key" if self.form == "mapping" else "member"
            order = lambda item: (-item[1], label(item[0]))  # noqa: E731
            keys = _frequent(times, COLUMNS, order)
            if len(keys) < len(times):
                cut.append(f"{len(keys)} of {len(times):,} {name}s of {place} are looked at")
            orders = set(map(tuple, self.values)) if self.form == "mapping" else set()
            reordered = len(set(map(frozenset, orders))) < len(orders)  # the same keys
            return [(name, key) for key in keys] + [_ORDER] * reordered
        if self.form != "word":
            return []
        steps, whole = features(self.values, self.keys)
        times = self._words
        coded = sum(times[word] for word in self.frequent)
        if not whole and coded < (1 - _RARE) * self.size:
            cut.append(
                f"{len(self.frequent):,} of {len(times):,} different words of {place} are looked "
                "at by themselves, all by their length, ends and numbers"
            )
        objects = [word.name for word in times if isinstance(word, Other) and word.sort == "object"]
        if objects:
            cut.append(f"where {place} is {min(objects)}, only its type is looked at")
        return steps

    @cached_property
    def _members(self) -> list[frozenset[Any]] | None:
        """The members of each sequence, whatever their order, if all are words or all sequences."""
        if isinstance(self.values, np.ndarray):
            return None
        forms = {_form(kind, 0)[0] for kind in set(map(type, chain.from_iterable(self.values)))}
        if len(forms) != 1 or not forms <= {"word", "sequence"}:
            return None
        try:
            return [
                frozenset(tuple(v) if isinstance(v, list) else v for v in value)
                for value in self.values
            ]
        except TypeError:  # of lists within lists
            return None

    @cached_property
    def _texts(self) -> list[str | bytes | None]:
        return list(map(as_text, self.keys))

    @cached_property
    def _words(self) -> Counter[Word]:
        return Counter(self.keys)

    @cached_property
    def frequent(self) -> list[Word]:
        """The words with a code, the most frequent first, ties by text."""
        return _frequent(self._words, WORDS, lambda item: (-item[1], *order_of(item[0])))

    @cached_property
    def _in_all(self) -> set[Any]:
        """The keys, or members, that all values have."""
        return set(self.values[0]).intersection(*self.values)

    @cached_property
    def _numeric(self) -> bool:
        """Whether all entries of sequences are numbers."""
        if isinstance(self.values, np.ndarray):
            return True
        kinds = set(map(type, chain.from_iterable(self.values)))
        return all(_form(kind, 0)[0] == "number" for kind in kinds)

    def inner(  # noqa: PLR0911
        self, step: Step
    ) -> tuple[Counts | None, Values]:
        """Return the positions of the values that have a part, and the parts."""
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
        elif kind == "listed" and self.form == "sequence" and self._members is not None:
            has = np.fromiter((key in members for members in self._members), bool, self.size)
            inner = np.ones(np.count_nonzero(has), bool)
        elif (kind, self.form) in (("key", "mapping"), ("member", "set")):
            if key in self._in_all:
                has, values = np.ones(self.size, bool), self.values
            else:
                has = np.fromiter((key in value for value in self.values), bool, self.size)
                values = list(compress(self.values, has))
            member = kind == "member"
            inner = np.ones(len(values), bool) if member else [value[key] for value in values]
        elif step == _ORDER and self.form == "mapping":
            return self.at, list(map(tuple, self.values))
        else:
            return self.at, []
        return self._among_all(np.flatnonzero(has)), inner

    def _among_all(self, at: Counts) -> Counts:
        return at if self.at is None else self.at[at]


def _frequent(times: Counter[Any], most: int, order: Callable[[Any], Any]) -> list[Any]:
    """Return the most frequent keys, in an order; of many, only those that repeat."""
    items = times.items()
    if len(times) > MANY:
        items = [item for item in items if item[1] >= _FREQUENT]  # type: ignore[assignment]
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
        some = list(compress(values, (codes == i).tolist()))
        parts.append(Part(form, name, at, _stacked(some, depth, form)))
    return parts


def _form(kind: type, depth: int) -> tuple[str, str]:
    """Return the form of values of a type, and the name of one of them for a reader."""
    if not issubclass(kind, _WORDS):
        if issubclass(kind, (Number, np.bool_)) and not issubclass(kind, Enum):
            return "number", "a number"
        for name, kinds in _CONTAINERS.items() if depth < DEPTH else ():
            if issubclass(kind, kinds):
                return name, f"a {name}"
    return "word", "a word"


_CONTAINERS = {"sequence": (tuple, list), "mapping": (dict,), "set": (frozenset, set)}


def _stacked(values: list[Any], depth: int, form: str) -> Values:
    """Return an array if all values are sequences of one shape, of exact numbers."""
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
    """Tell whether values are sequences of one length for which an array is faster."""
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
    numbers = all(kind in (int, float, bool) or issubclass(kind, np.number) for kind in kinds)
    return numbers and len(set(map(type_of, kinds))) == 1

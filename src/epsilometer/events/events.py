"""Events: sets of outputs that a person can check, as plain numbers that can be saved as JSON.

An event looks at outputs through a view, which makes one number of each output: the output itself,
one entry of a vector, one bit of a whole number, the lowest bit of a real as a computer holds it,
a remainder, a difference of entries, a score of several entries, membership in a set of rows, or
whether it lies in several other events.
The event holds the outputs whose number lies in one of its closed ranges; an open end is None. It
may also hold missing reals (NaN). Whole numbers stay exact beyond 2^53.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, Literal

import numpy as np

from epsilometer.events.vectors import Formula, summary
from epsilometer.numerics.arrays import Bools, Counts, Floats, Integers, Sample

Number = float | int

_LOOKED_UP = 8  # times as many whole numbers in a range that is looked up as outputs
PART = 1 << 16  # numbers that are worked on at a time, in less memory and time
_ONE_BY_ONE = 20  # ends with which numbers are compared one by one, in place of a search
_SEARCHED = 5000  # numbers, below which a search is faster
_LARGEST = float(np.finfo(np.float64).max)
LOWEST = -1074
ZERO = 1024
NOT_FINITE = 1025
"""Exponents of lowest bits: the smallest; the codes of 0 and of numbers that are not finite."""
MINUS_ZERO = -5e-324
"""Stands for -0.0, which equals 0.0."""

Kind = Literal[
    "output", "entry", "bit", "score", "row", "low bit", "learned", "remainder", "difference",
    "summary", "all", "equal", "parity",
]  # fmt: skip
Ranges = Sequence[tuple[Number | None, Number | None]]
"""A first and a last number each; None where there is no end."""

_OF_ENTRIES = "entry", "bit", "low bit", "remainder", "difference", "equal"


@dataclass(frozen=True)
class View:
    """The rule that makes one number of an output.

    Kinds are ``output``, numbers as they are; the ``entry`` of this number of a vector; such a
    ``bit`` of a whole number; ``score``, the sum of numbers from ``tables`` of entries or bits,
    of vectors less ``steps`` times the entries before them;
    ``row``, 1 for the given rows, whole numbers of shape ``(k, d)``; ``low bit`` of a real, or of
    an entry, see `lowest_bits`; ``learned``, a score by a formula; ``remainder`` of a number, or of
    an entry, divided by ``modulus``; ``difference`` of an entry and ``factor`` times the ``other``;
    ``summary`` of the entries of ``groups``, see `vectors`; ``all``, 1 for outputs in all
    ``parts``; ``parity``, 1 for outputs in an odd number of them; ``equal``, 1 where an entry is
    the ``other``. A remainder or a bit may be that of the number of an ``inner`` view.
    """

    kind: Kind = "output"
    entry: int = 0
    rows: Sequence[Sequence[int]] = ()
    formula: Formula | None = None
    modulus: Number = 1
    other: int = 0
    factor: Number = 1
    parts: tuple[Event, ...] = ()
    summary: str = ""
    groups: tuple[tuple[int, ...], ...] = ()
    tables: tuple[Table, ...] = ()
    steps: tuple[float, ...] = ()
    inner: View | None = None

    def of(self, sample: Sample) -> Sample:
        """Return one number for each of the outputs, of shape ``(n,)`` or ``(n, d)``."""
        if self.inner is not None:
            sample = self.inner.of(sample)
        return _NUMBERS[self.kind](self, sample)

    def text(self, names: Sequence[str]) -> str:  # noqa: PLR0911
        """Name the number of an output, by the names of the entries."""
        if self.kind in ("score", "learned"):
            return f"score of {len(self.read)} {'entries' if len(names) > 1 else 'bits'}"
        if self.kind == "summary":
            first = [names[group[0]] for group in self.groups]
            if len(first) > 1:
                return f"{self.summary} of the columns of {' and of '.join(first)}"
            return f"{self.summary} of {len(self.groups[0])} entries from {first[0]} on"
        if self.kind == "bit":
            return f"bit {self.entry} of {self.inner.text(names) if self.inner else names[0]}"
        if self.kind == "difference":
            times = "" if abs(self.factor) == 1 else f"{abs(self.factor):g} * "
            return f"{names[self.entry]} {'-+'[self.factor < 0]} {times}{names[self.other]}"
        if self.inner is not None:
            return f"({self.inner.text(names)}) modulo {self.modulus!r}"
        name = names[self.entry]
        if self.kind == "equal":
            return f"whether {name} equals {names[self.other]}"
        if self.kind == "low bit":
            return f"the lowest bit of {name}"
        if self.kind == "remainder":
            return f"{name} modulo {self.modulus!r}"
        return name

    @property
    def read(self) -> Sequence[int]:
        """The numbers of the entries or bits that a score reads."""
        if self.formula is not None:
            return self.formula.entries
        entries: set[int] = set()
        for table in self.tables:
            entries.update(table.entries)
        return sorted(entries)

    def to_plain(self) -> dict[str, Any]:
        """Return the view as plain values for JSON, without fields at their defaults."""
        plain: dict[str, Any] = {}
        if self.kind != "output":
            plain["view"] = self.kind
        if self.kind in _OF_ENTRIES and (self.inner is None or self.kind == "bit"):
            plain["entry"] = self.entry
        more = [each.name for each in fields(self)[2:] if getattr(self, each.name) != each.default]
        return plain | {name: _plain(getattr(self, name)) for name in more}

    def closed(self, ranges: Ranges) -> Ranges:
        """Return ranges of remainders with 0 and the largest remainder in place of open ends."""
        if self.kind != "remainder" or (None, None) in ranges:
            return ranges
        closed = []
        for first, last in ranges:
            if last is None and isinstance(first, int):
                last = self.modulus - 1  # noqa: PLW2901
            closed.append((first or 0, last))
        return closed


@dataclass(frozen=True)
class Table:
    """Numbers that depend on an entry, or on two.

    ``entries`` are their numbers, ``starts`` those of the cells of each but the first, and ``adds``
    the number of each cell of the first entry, then of the second. The last cell of an entry holds
    missing numbers.
    """

    entries: tuple[int, ...]
    starts: tuple[Sequence[Number], ...]
    adds: Sequence[Any]

    def of(self, columns: Sequence[Sample] | Sample) -> Floats:
        """Return one number for each output, ``(n,)``; each entry is a column ``(n,)``."""
        cells = []
        for entry, starts in zip(self.entries, self.starts, strict=True):
            cells.append(_cell_of(np.ascontiguousarray(columns[entry]), starts))
        adds = np.asarray(self.adds, float)
        if len(cells) == 1:
            return adds.take(cells[0])
        return np.asarray(adds[tuple(cells)])


def _cell_of(column: Sample, starts: Sequence[Number]) -> Counts:
    """Return the cell of each number, ``(n,)``, by the starts of all but the first."""
    if column.size < _SEARCHED or len(starts) > _ONE_BY_ONE:
        cells = np.searchsorted(np.asarray(starts), column, side="right")
    else:
        cells = np.zeros(column.size, np.int8)
        for start in starts:
            cells += column >= start
    if column.dtype.kind == "f":
        cells = np.where(np.isnan(column), len(starts) + 1, cells)
    return cells


@dataclass(frozen=True)
class Event:
    """The outputs whose number lies in one of the ranges.

    ``ranges`` are disjoint and rising, each a first and a last number; None where there is no end.
    With ``missing``, outputs without a number (NaN) belong to it.
    """

    ranges: tuple[tuple[Number | None, Number | None], ...]
    missing: bool = False
    view: View = View()

    def holds(self, sample: Sample) -> Bools:
        """Tell which of the outputs, of shape ``(n,)`` or ``(n, d)``, lie in the event."""
        numbers = self.view.of(sample)
        inside = np.zeros(len(numbers), bool)
        if self.ranges:
            firsts = _ends([first for first, _ in self.ranges], -math.inf, numbers.dtype)
            lasts = _ends([last for _, last in self.ranges], math.inf, numbers.dtype)
            if len(firsts) <= _ONE_BY_ONE:
                for first, last in zip(firsts, lasts, strict=True):
                    inside |= (numbers >= first) & (numbers <= last)
            else:
                for part, held in zip(in_parts(numbers), in_parts(inside), strict=True):
                    at = np.searchsorted(firsts, part, side="right") - 1
                    held[:] = (part >= firsts[at]) & (part <= lasts[at])
        if self.missing and np.issubdtype(numbers.dtype, np.floating):
            inside |= np.isnan(numbers)
        return np.asarray(inside, np.bool_)

    def count(self, sample: Sample) -> int:
        """Return how many of the outputs lie in the event."""
        return int(np.count_nonzero(self.holds(sample)))

    def to_plain(self) -> dict[str, Any]:
        """Return the event as plain values for JSON."""
        ranges = [[_plain_end(first), _plain_end(last)] for first, last in self.ranges]
        plain: dict[str, Any] = {"ranges": ranges}
        if self.missing:
            plain["missing"] = True
        return plain | self.view.to_plain()


def _plain_end(end: Number | None) -> Number | str | None:
    """Return an end of a range as JSON has it."""
    return str(end) if isinstance(end, float) and not math.isfinite(end) else end


def _plain(value: Any) -> Any:
    """Return a field of a view as JSON has it."""
    if isinstance(value, Event | View):
        return value.to_plain()
    if isinstance(value, Formula):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Table):
        value = astuple(value)
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    return value


# --- the number of an output, by kind -------------------------------------------------------------


def _entry(view: View, sample: Sample) -> Sample:
    return np.ascontiguousarray(sample[:, view.entry]) if sample.ndim > 1 else sample


@np.errstate(invalid="ignore")  # what is missing has some bits
def _bit(view: View, sample: Sample) -> Sample:
    return (np.asarray(sample, np.int64) >> view.entry) & 1


def _difference(view: View, sample: Sample) -> Sample:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(sample[:, view.entry] - view.factor * sample[:, view.other])


def _score(view: View, sample: Sample) -> Sample:
    size = 1 + max(view.read)
    columns: Any = entries_of(sample, size)
    if sample.ndim == 2:
        columns = stepped(sample, view.steps).T
    elif len(sample) > 1 << size:  # each word once
        of_words = _score(view, np.arange(1 << size))
        return of_words.take(sample & ((1 << size) - 1))
    return np.asarray(sum(table.of(columns) for table in view.tables))


def _in_rows(view: View, sample: Sample) -> Sample:
    chosen = np.asarray(view.rows, sample.dtype)
    codes = codes_of(np.concatenate([chosen, sample]))
    return np.isin(codes[len(chosen) :], codes[: len(chosen)]).astype(np.int64)


def _in_all(view: View, sample: Sample) -> Sample:
    inside = np.array([part.holds(sample) for part in view.parts])
    return np.asarray(inside.all(axis=0), np.int64)


def _parity(view: View, sample: Sample) -> Sample:
    inside = np.array([part.holds(sample) for part in view.parts])
    return np.asarray(inside.sum(axis=0) % 2, np.int64)


def _equal(view: View, sample: Sample) -> Sample:
    return np.asarray(sample[:, view.entry] == sample[:, view.other], np.int64)


def _learned(view: View, sample: Sample) -> Sample:
    assert view.formula is not None
    return view.formula.of(sample)


_NUMBERS: Mapping[Kind, Callable[[View, Sample], Sample]] = {
    "output": lambda _, sample: sample,
    "entry": _entry,
    "bit": _bit,
    "low bit": lambda view, sample: lowest_bits(_entry(view, sample)),
    "remainder": lambda view, sample: remainders(_entry(view, sample), view.modulus),
    "difference": _difference,
    "equal": _equal,
    "summary": lambda view, sample: summary(view.summary, view.groups, sample),
    "score": _score,
    "learned": _learned,
    "row": _in_rows,
    "all": _in_all,
    "parity": _parity,
}


def range_texts(name: str, ranges: Ranges) -> list[str]:
    """Return a text for each range.

    >>> range_texts("x", [(None, -204.2), (0.3, 0.389), (2, None)])
    ['x <= -204.2', '0.3 <= x <= 0.389', 'x >= 2']
    """
    return [_range_text(name, first, last) for first, last in ranges]


def _range_text(name: str, first: Number | None, last: Number | None) -> str:
    if first is None and last is None:
        return f"any {name}"
    if first is None and last == _LARGEST:
        return f"{name} < inf"
    if first is None:
        return f"{name} <= {_end_text(last)}"
    if last is None:
        return f"{name} >= {_end_text(first)}"
    if _end_text(first) == _end_text(last):
        return f"{name} = {_end_text(first)}"
    return f"{_end_text(first)} <= {name} <= {_end_text(last)}"


def _end_text(end: Number | None) -> str:
    return "-0.0" if end == MINUS_ZERO else repr(end)


def parity_text(event: Event, parts: Sequence[str]) -> str:
    """Say how many of its parts, in words, hold where an event of a parity does."""
    return f"{'an odd' if _holds_one(event) else 'an even'} number of: {'; '.join(parts)}"


def equality_text(event: Event, names: Sequence[str]) -> str:
    """Say that two entries are equal, or that they differ."""
    sign = "=" if _holds_one(event) else "!="
    return f"{names[event.view.entry]} {sign} {names[event.view.other]}"


def _holds_one(event: Event) -> bool:
    """Return whether the number 1, of 0 and 1, is in the event."""
    last = event.ranges[-1][1]
    return last is None or last >= 1


def low_bit_texts(name: str, ranges: Ranges) -> list[str]:
    """Return texts that say that the lowest bit of a number lies in one of some ranges."""
    texts = []
    for first, last in ranges:
        low = _exponent(first, LOWEST)
        high = _exponent(last, NOT_FINITE)
        if low < ZERO <= high:
            texts.append(f"{name} is a multiple of 2^{low}")
        elif low == ZERO:
            texts.append(f"{name} = 0")
        elif low < ZERO:
            bits = f"2^{low}"
            if low < high:
                bits = f"2^{high} or below" if low == LOWEST else f"2^{low} to 2^{high}"
            texts.append(f"lowest bit of {name} is {bits}")
        if high == NOT_FINITE:
            texts.append(f"{name} is not finite")
    return texts


def _exponent(end: Number | None, open_end: int) -> int:
    """Return the end of a range of exponents, where it has one."""
    return open_end if end is None or not math.isfinite(end) else int(end)


def lowest_bits(numbers: Sample) -> Counts:
    """Return the exponents of the lowest bits of reals, e of an odd number times 2^e.

    Both are of shape ``(n,)``. Exponents are -1074 to 1023; 1024 stands for 0, which is a multiple
    of every power of two, and 1025 for numbers that are not finite.

    >>> lowest_bits(np.array([1.0, 0.75, -40.0, 0.1, 0.0, np.inf, 5e-324])).tolist()
    [0, -2, 3, -55, 1024, 1025, -1074]
    """
    if len(numbers) > PART:
        return np.concatenate([*map(lowest_bits, in_parts(numbers))])
    bits = np.ascontiguousarray(numbers, np.float64).view(np.int64)
    exponents = (bits >> 52) & 2047
    significands = bits & (2**52 - 1)
    significands |= (exponents > 0).astype(np.int64) << 52
    significands &= -significands  # the lowest bit alone: as a real, its exponent is its position
    lowest = significands.astype(np.float64).view(np.int64) >> 52
    lowest += np.maximum(exponents, 1) - (1023 + 1075)
    lowest[(significands == 0) | (numbers == MINUS_ZERO)] = ZERO
    lowest[exponents == 2047] = NOT_FINITE
    return lowest.astype(np.int16)


def in_parts(numbers: Sample) -> Iterator[Sample]:
    """Yield so many numbers in a row."""
    return (numbers[at : at + PART] for at in range(0, max(len(numbers), 1), PART))


def remainders(numbers: Sample, modulus: Number) -> Sample:
    """Return the remainders of numbers of shape ``(n,)``; NaN for numbers that are not finite.

    >>> remainders(np.array([-7, 61, 60]), 60).tolist()
    [53, 1, 0]
    """
    with np.errstate(invalid="ignore"):
        rest = np.mod(numbers, modulus)
    return np.asarray(np.where(rest == modulus, 0, rest), rest.dtype)  # of tiny numbers below 0


def _ends(ends: Sequence[Number | None], none: float, dtype: np.dtype[Any]) -> Sample:
    """Return ends of ranges in the outputs' own type; an open one is the infinite ``none``."""
    numbers = [none if end is None else end for end in ends]
    if not np.issubdtype(dtype, np.integer):
        return np.array(numbers, float)
    limits = np.iinfo(dtype)
    # they are computed at each access
    least = limits.min
    most = limits.max
    return np.array([min(max(number, least), most) for number in numbers], dtype)


def entries_of(sample: Sample, bits: int) -> list[Sample]:
    """Return the columns of vectors ``(n, d)``, or so many lowest bits of numbers ``(n,)``.

    Each has shape ``(n,)``.
    """
    if sample.ndim == 2:
        return [np.ascontiguousarray(column) for column in sample.T]
    return [(sample >> i) & 1 for i in range(bits)]


@np.errstate(invalid="ignore", over="ignore")
def stepped(sample: Sample, steps: Sequence[float]) -> Sample:
    """Return vectors, ``(n, d)``, less ``steps``, ``(d - 1,)`` if any, times the entry before."""
    if not steps:
        return sample
    return np.column_stack([sample[:, 0], sample[:, 1:] - np.array(steps) * sample[:, :-1]])


def codes_of(outputs: Sample) -> Integers:
    """Return a number from 0 for each output, the same for equal outputs only; NaN equals NaN.

    Outputs have shape ``(n,)`` or ``(n, d)``, the numbers ``(n,)``; they are in the outputs' order.
    """
    columns = np.atleast_2d(outputs.T)
    codes = columns[0]
    number = math.inf
    for column in columns[1:]:
        ranks = codes_of(column)
        values = int(ranks.max()) + 1
        if number * values > sys.maxsize:  # avoid overflow: number the codes that occur from 0
            codes = codes_of(codes).astype(np.int64)
            number = int(codes.max()) + 1
            if number == len(outputs):
                break
        codes = codes * values + ranks
        number = number * values
    if codes.dtype.kind != "i" or not codes.size:
        return np.unique(codes, return_inverse=True)[1].ravel()
    low = int(codes.min())
    high = int(codes.max())
    if high - low >= _LOOKED_UP * codes.size:
        return np.unique(codes, return_inverse=True)[1].ravel()
    seen = np.zeros(high - low + 1, bool)
    for part in in_parts(codes):
        seen[np.subtract(part, low, dtype=np.int64)] = True
    places = seen.cumsum(dtype=np.int32)
    numbers = np.empty(codes.size, np.int32)
    for part, of_part in zip(in_parts(codes), in_parts(numbers), strict=True):
        of_part[:] = places[np.subtract(part, low, dtype=np.int64)] - 1
    return numbers

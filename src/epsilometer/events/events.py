"""Events: sets of outputs that a person can check, as plain numbers that survive a file.

An event looks at outputs through a view that makes one number of each: the output itself, one
entry of a vector or bit of a whole number, a score that adds up over the entries, or its place
among chosen rows; the lowest bit of a real as a computer holds it, or a score that was learned over
several entries. It holds the closed ranges of that number, an open end given as None; of reals
that are missing (NaN), too, where it says so. Whole numbers stay whole, beyond 2^53 as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from epsilometer.densities.frequencies import count_outcomes
from epsilometer.errors import ArgumentError
from epsilometer.events.formula import Formula

Sample = NDArray[Any]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Number = float | int

_FEW = 8  # ranges that outputs are compared with one by one
_LARGEST = float(np.finfo(np.float64).max)
LOWEST, ZERO, NOT_FINITE = -1074, 1024, 1025
"""Of lowest bits: the least there is, and what stands for that of 0, and of what is not finite."""
SPAN = 4096
"""Between the lowest bits of outputs in one range and in the next."""


Kind = Literal[
    "output", "entry", "bit", "score", "row", "low bit", "learned", "remainder", "difference"
]
Ranges = Sequence[tuple[Number | None, Number | None]]
"""A first and a last number each; None where there is no end."""

_NUMBERS: Mapping[str, Sequence[str]] = {  # fields of a view by its kind
    "entry": ("entry",),
    "bit": ("entry",),
    "low bit": ("entry",),
    "remainder": ("entry", "modulus"),
    "difference": ("entry", "other", "factor"),
}


@dataclass(frozen=True)
class View:
    """How one number is made of an output.

    Parameters
    ----------
    kind
        ``output``, numbers as they are; ``entry`` of a vector; ``bit`` of a whole number;
        ``score``, the sum over the entries of what each adds; ``row``, 1 for the given rows;
        ``low bit`` of a real, or of an entry, see `lowest_bits`; ``learned``, a score by a formula;
        ``remainder`` of a number, or of an entry, divided by ``modulus``; ``difference`` of an
        entry and ``factor`` times the ``other``.
    entry
        Which entry or bit.
    scores
        For each entry the starts of its cells, what each cell adds, the first for what lies below
        all starts, and what a missing number adds.
    rows
        Whole numbers of shape ``(k, d)``.
    starts
        Of cells of a real whose lowest bit is looked at, where its size counts, too, but the first:
        4096 is added for each cell.
    formula
        Of a score that was learned.
    """

    kind: Kind = "output"
    entry: int = 0
    scores: tuple[tuple[Sequence[Number], Sequence[float], float], ...] = ()
    rows: Sequence[Sequence[int]] = ()
    starts: Sequence[float] = ()
    formula: Formula | None = None
    modulus: Number = 1
    other: int = 0
    factor: Number = 1

    def of(self, sample: Sample) -> Sample:  # noqa: PLR0911
        """Return one number for each of the outputs, of shape ``(n,)`` or ``(n, d)``."""
        if self.kind in ("entry", "low bit", "remainder") and sample.ndim > 1:
            sample = np.ascontiguousarray(sample[:, self.entry])
        if self.kind == "bit":
            return (sample >> self.entry) & 1
        if self.kind == "score":
            columns = entries_of(sample)
            total = np.zeros(len(sample))
            for i, (starts, adds, missing) in enumerate(self.scores):
                total += added(columns[i], np.asarray(starts), np.asarray(adds), missing)
            return total
        if self.kind == "row":
            chosen = np.asarray(self.rows, sample.dtype).reshape(len(self.rows), -1)
            codes = row_codes(np.concatenate([chosen, sample]))
            return np.isin(codes[len(chosen) :], codes[: len(chosen)]).astype(np.int64)
        if self.kind == "low bit":
            bits = lowest_bits(sample)
            if not self.starts:
                return bits
            return bits + SPAN * np.searchsorted(self.starts, sample, side="right")
        if self.kind == "remainder":
            return remainders(sample, self.modulus)
        if self.kind == "difference":
            with np.errstate(invalid="ignore", over="ignore"):
                return np.asarray(sample[:, self.entry] - self.factor * sample[:, self.other])
        if self.formula is not None:
            return self.formula.of(sample)
        return sample

    def words(self, names: Sequence[str] = ()) -> str:
        """Name the number, by the names of the entries if they have any."""
        name = f"entry {self.entry}" if self.entry or self.kind == "difference" else "output"
        other = f"entry {self.other}"
        if max(self.entry, self.other) < len(names):
            name, other = names[self.entry], names[self.other]
        sign, times = "-+"[self.factor < 0], abs(self.factor)
        return {
            "output": "output",
            "entry": f"entry {self.entry}",
            "bit": f"bit {self.entry}",
            "score": "score",
            "row": "row",
            "low bit": f"entry {self.entry}" if self.entry else "output",
            "learned": self.formula.words() if self.formula else "score",
            "remainder": f"{name} modulo {self.modulus!r}",
            "difference": f"{name} {sign} {'' if times == 1 else f'{times:g} * '}{other}",
        }[self.kind]

    def plainly(self, ranges: Ranges) -> Ranges:
        """Return ranges with the ends that remainders have, instead of none."""
        if self.kind != "remainder" or (None, None) in ranges:
            return ranges
        last = self.modulus - 1
        return [
            (0 if a is None else a, last if b is None and isinstance(a, int) else b)
            for a, b in ranges
        ]

    def low_words(self, name: str, ranges: Ranges) -> list[str]:
        """Say which lowest bits of a real, and where, lie in ranges of this view, each in words."""
        held: dict[int, list[tuple[int, int]]] = {}
        for ends in ranges:
            open_ends = LOWEST, NOT_FINITE
            first, last = (
                int(end) if end is not None and math.isfinite(end) else open_end
                for end, open_end in zip(ends, open_ends, strict=True)
            )
            place = min(max((first + SPAN // 2) // SPAN, 0), len(self.starts))
            held.setdefault(place, []).append((first - SPAN * place, last - SPAN * place))
        words = []
        while held:
            start = end = min(held)
            bits = held.pop(start)
            while held.get(end + 1) == bits:
                end += 1
                del held[end]
            words.append(_low_words(name, bits) + self._where(name, start, end))
        return words

    def _where(self, name: str, first: int, last: int) -> str:
        """Say where the lowest bits are looked at, in six digits if that will do."""
        low = self.starts[first - 1] if first else None
        high = self.starts[last] if last < len(self.starts) else None
        short = [None if end is None else f"{end:.6g}" for end in (low, high)]
        if short[0] == short[1]:
            short = [None if end is None else repr(end) for end in (low, high)]
        left, right = (short[0] and f"{short[0]} <= ") or "", (short[1] and f" < {short[1]}") or ""
        if left and not right:
            return f" where {name} >= {short[0]}"
        return f" where {left}{name}{right}" if right else ""


@dataclass(frozen=True)
class Event:
    """The outputs whose number lies in one of the ranges.

    Parameters
    ----------
    ranges
        Disjoint and rising, each a first and a last number; None where there is no end.
    missing
        Whether outputs with no number (NaN) belong to it.
    view
        Which number of an output is meant.
    """

    ranges: tuple[tuple[Number | None, Number | None], ...]
    missing: bool = False
    view: View = View()

    def holds(self, sample: Sample) -> Bools:
        """Tell which of the outputs, of shape ``(n,)`` or ``(n, d)``, lie in the event."""
        numbers = self.view.of(sample)
        inside = np.zeros(len(numbers), bool)
        if len(self.ranges) <= _FEW:
            ends = (_ends(self.ranges, i, numbers.dtype) for i in (0, 1))
            for first, last in zip(*ends, strict=True):
                inside |= (numbers >= first) & (numbers <= last)
        else:
            firsts, lasts = (_ends(self.ranges, i, numbers.dtype) for i in (0, 1))
            at = np.searchsorted(firsts, numbers, side="right") - 1
            inside = (at >= 0) & (numbers <= lasts[at])
        if self.missing and np.issubdtype(numbers.dtype, np.floating):
            inside |= np.isnan(numbers)
        return np.asarray(inside, np.bool_)

    def count(self, sample: Sample) -> int:
        """Return how many of the outputs lie in the event; whole numbers, of few, are tallied."""
        if sample.ndim == 1 and sample.size and np.issubdtype(sample.dtype, np.integer):
            low, high = int(sample.min()), int(sample.max())
            if self.view.kind == "output" and low >= 0 and high < sample.size:
                every = np.arange(high + 1, dtype=sample.dtype)
                return int(count_outcomes(sample, high + 1)[self.holds(every)].sum())
        return int(np.count_nonzero(self.holds(sample)))

    def to_plain(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        plain: dict[str, Any] = {
            "ranges": [[_plain_end(end) for end in ends] for ends in self.ranges]
        }
        if self.missing:
            plain["missing"] = True
        if self.view.kind != "output":
            plain["view"] = self.view.kind
        plain |= {name: getattr(self.view, name) for name in _NUMBERS.get(self.view.kind, ())}
        if self.view.kind == "score":
            plain["scores"] = [[list(s), list(a), m] for s, a, m in self.view.scores]
        if self.view.kind == "row":
            plain["rows"] = [list(row) for row in self.view.rows]
        if self.view.starts:
            plain["starts"] = list(self.view.starts)
        if self.view.formula is not None:
            plain["formula"] = self.view.formula.to_plain()
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Event:
        """Return what `to_plain` was made of."""
        scores = tuple((tuple(s), tuple(a), m) for s, a, m in plain.get("scores", ()))
        rows = tuple(tuple(row) for row in plain.get("rows", ()))
        kind = plain.get("view", "output")
        formula = Formula.from_plain(plain["formula"]) if "formula" in plain else None
        starts = tuple(plain.get("starts", ()))
        numbers = {name: plain[name] for name in _NUMBERS.get(kind, ()) if name in plain}
        view = View(kind, scores=scores, rows=rows, starts=starts, formula=formula, **numbers)
        ranges = tuple((_end(first), _end(last)) for first, last in plain["ranges"])
        return cls(ranges, plain.get("missing", False), view)

    def words(self) -> str:
        """Say which outputs they are, as far as that fits a line."""
        if self.view.kind == "row":
            return f"output is one of {len(self.view.rows)} rows, {list(self.view.rows[0])} first"
        if self.view.kind == "low bit":
            every = self.view.low_words(self.view.words(), self.ranges)
        else:
            every = ranges_words(self.view.words(), self.view.plainly(self.ranges))
        parts = every[:3]
        if self.missing:
            parts.append(f"{self.view.words()} is missing")
        more = len(every) - 3
        return " or ".join(parts) + (f" or {more} more ranges" if more > 0 else "")


def _plain_end(end: Number | None) -> Number | str | None:
    """Return an end of a range as JSON has it: infinity is no number there."""
    return str(end) if isinstance(end, float) and not math.isfinite(end) else end


def _end(plain: Number | str | None) -> Number | None:
    return float(plain) if isinstance(plain, str) else plain


def ranges_words(name: str, ranges: Ranges) -> list[str]:
    """Say of each range that a number lies in it, its ends in six digits if that will do.

    These are rounded outwards, so that what lies in a range lies in what is said of it.

    >>> ranges_words("x", [(None, -204.24082415904678), (0.3, 0.18899999999999997 + 0.2)])
    ['x <= -204.24', '0.3 <= x <= 0.389']
    """
    told = [
        (first, last) if first == last else (_six(first, ROUND_FLOOR), _six(last, ROUND_CEILING))
        for first, last in ranges
    ]
    ends = [(a, b) for (_, a), (b, _) in pairwise(told) if a is not None and b is not None]
    apart = all(a < b for a, b in ends)
    return [range_words(name, *ends) for ends in (told if apart else ranges)]


def _six(end: Number | None, rounding: str) -> Number | None:
    """Return an end in six digits; one that is whole, or larger than is usual, as it is."""
    if not isinstance(end, float) or not abs(end) < 1e300 or end == round(end):
        return end
    return float(Context(prec=6, rounding=rounding).create_decimal(repr(float(end))))


def range_words(name: str, first: Number | None, last: Number | None) -> str:
    """Say that a number lies in a range, None where there is no end; a scalar each."""
    if first is None and last is None:
        return f"any {name}"
    if first is None:
        return f"{name} < inf" if last == _LARGEST else f"{name} <= {last!r}"
    if last is None:
        return f"{name} >= {first!r}"
    return f"{name} = {first!r}" if first == last else f"{first!r} <= {name} <= {last!r}"


def _low_words(name: str, ranges: Sequence[tuple[int, int]]) -> str:
    """Say that the lowest bit of a number lies in one of some ranges."""
    texts = []
    for first, last in ranges:
        if last == NOT_FINITE and first < last:
            return " or ".join([_low_words(name, [(first, ZERO)]), f"{name} is not finite"])
        if first == NOT_FINITE:
            texts.append(f"{name} is not finite")
        elif first == ZERO:
            texts.append(f"{name} = 0")
        elif last == ZERO:
            texts.append(f"{name} is a multiple of 2^{first}")
        elif first == LOWEST:
            texts.append(f"lowest bit of {name} is 2^{last} or below")
        elif first == last:
            texts.append(f"lowest bit of {name} is 2^{first}")
        else:
            texts.append(f"lowest bit of {name} is 2^{first} to 2^{last}")
    return " or ".join(texts)


def lowest_bits(numbers: Sample) -> NDArray[np.int64]:
    """Return the exponents of the lowest bits of reals, e of an odd number times 2^e.

    Parameters
    ----------
    numbers
        float64, of shape ``(n,)``.

    Returns
    -------
    Whole numbers of shape ``(n,)``, from -1074 to 1023; 1024 for 0, which is a multiple of every
    power of two, and 1025 for what is not finite.

    >>> lowest_bits(np.array([1.0, 0.75, -40.0, 0.1, 0.0, np.inf, 5e-324])).tolist()
    [0, -2, 3, -55, 1024, 1025, -1074]
    """
    bits = np.ascontiguousarray(numbers, np.float64).view(np.int64)
    exponents = (bits >> 52) & 2047
    significands = bits & (2**52 - 1)
    significands |= (exponents > 0).astype(np.int64) << 52
    significands &= -significands  # a power of two: as a real, its exponent says which
    found = significands.astype(np.float64).view(np.int64) >> 52
    found += np.maximum(exponents, 1) - (1023 + 1075)
    found[significands == 0] = ZERO
    found[exponents == 2047] = NOT_FINITE
    return found


def remainders(numbers: Sample, modulus: Number) -> Sample:
    """Return what numbers of shape ``(n,)`` leave when they are divided; NaN where not finite.

    >>> remainders(np.array([-7, 61, 60]), 60).tolist()
    [53, 1, 0]
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(np.mod(numbers, modulus))


def _ends(ranges: Ranges, which: int, dtype: np.dtype[Any]) -> Sample:
    """Return the first or the last numbers of the ranges, in the outputs' own type."""
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        open_end: Number = (limits.min, limits.max)[which]
        ends = [open_end if pair[which] is None else pair[which] for pair in ranges]
        return np.array([min(max(end, limits.min), limits.max) for end in ends], dtype)  # type: ignore[type-var]
    infinite = (-np.inf, np.inf)[which]
    return np.array([infinite if pair[which] is None else pair[which] for pair in ranges], float)


def entries_of(sample: Sample) -> list[Sample]:
    """Return the columns of vectors ``(n, d)``, or the bits of whole numbers ``(n,)`` from 0.

    Each has shape ``(n,)``.
    """
    if sample.ndim == 2:
        return [np.ascontiguousarray(column) for column in sample.T]
    return [(sample >> i) & 1 for i in range(8 * sample.dtype.itemsize - 1)]


def added(column: Sample, starts: Sample, adds: Floats, missing: float) -> Floats:
    """Return what each number of an entry adds to a score, of shape ``(n,)``.

    Parameters
    ----------
    column
        The entry of every output, of shape ``(n,)``.
    starts, adds, missing
        As in `View`: ``(k,)`` starts of cells, ``(k + 1,)`` numbers to add, and one for NaN.
    """
    place = np.searchsorted(starts, column, side="right")
    total: Floats = np.append(adds, missing)[np.where(np.isnan(column), adds.size, place)]
    return total


def row_codes(rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return a number for each row of whole numbers, the same for equal rows only.

    Rows have shape ``(n, d)``, or raise `ArgumentError`; numbers ``(n,)``.
    """
    if rows.ndim != 2:
        raise ArgumentError("rows", f"must have shape (n, d), got {rows.shape}")
    codes, kinds = np.zeros(len(rows), np.int64), 1
    for column in rows.T:
        seen, place = np.unique(column, return_inverse=True)
        if kinds * seen.size >= 2**62:  # numbers too large: those that occur, from 0
            _, codes = np.unique(codes, return_inverse=True)
            kinds = len(rows)
        codes, kinds = codes * seen.size + place, kinds * seen.size
    return codes

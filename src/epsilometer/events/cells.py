"""Cells of the numbers of outputs: between quantiles of both sides, or of single values.

For 1,000 draws a side of whole numbers from 0 to 2,

    cells = Numbers(x, x_prime, 64, View())
    cells.starts                # [1, 2]: the starts of all cells but the first
    cells.coded(np.array([0, 2, 2]))  # [0, 2, 2]
    cells.event(np.array([0]))  # the event "output <= 0"

Both sides are pooled as rising different numbers, and how often each is there: of 3, 3, 5 on x and
5, 9 on x' these are 3, 5, 9 and 2, 2, 1. Whole numbers that lie close together are counted without
a sort.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from epsilometer.events.candidates import Cells, fifths
from epsilometer.events.events import Event, View, codes_of, in_parts
from epsilometer.numerics.arrays import Counts, Floats, Sample

_VALUES = 4096  # most different values that count as categories; at most a fourth of the draws
_ATOMS = 128  # values that get a cell of their own among quantiles
_REPEATS = 8  # draws of a value that gets such a cell; and the smallest share of all draws:
_COMMON = 1 / 2000
_RARE = 1 / 50_000
_FINE_DRAWS = 4  # draws of a fine cell
_MARGIN = 4  # draws whose range fresh draws hardly exceed by as much again
_NEAR = 512  # whole numbers in a row that are counted one by one, of more an eighth of the draws
_FEWER = 5000  # draws of a side whose cells are looked up one by one


@dataclass(frozen=True, eq=False)
class _Tally:
    """Rising whole numbers ``(k,)``, and how often each is in each fifth of x and x', (2, 5, k)."""

    numbers: Sample
    folds: Counts


def _tally(sides: Sequence[Sample]) -> _Tally | None:
    """Return how often each whole number is there; None of reals, and of numbers far apart."""
    if any(side.dtype.kind != "i" or not side.size for side in sides):
        return None
    low = min(int(side.min()) for side in sides)
    high = max(int(side.max()) for side in sides)
    if high - low >= max(sum(side.size for side in sides) // 8, _NEAR):
        return None
    folds = np.array([_of_fifths(side, high - low + 1, low) for side in sides])
    numbers = np.flatnonzero(folds.any(axis=(0, 1)))
    return _Tally((numbers + low).astype(sides[0].dtype), folds[:, :, numbers])


def _of_fifths(codes: Sample, size: int, low: int = 0) -> Counts:
    """Return how often each of ``size`` codes from ``low`` is in each successive fifth."""
    counts = []
    for part in fifths(codes.size):
        from_0 = codes[part] - np.int64(low) if low else codes[part]
        counts.append(np.bincount(from_0, None, size))
    return np.array(counts)


class Numbers(Cells):
    """Cells of one number of each output, NaN where it is missing; both sides are ``(n,)``.

    ``repeats`` tells whether every value has a cell of its own, ``starts`` are the starts of all
    cells but the first, ``(k - 1,)``. Cells at both ends hold few draws; values that repeat have
    their own. ``sides`` are the numbers themselves, ``codes`` their cells.
    """

    def __init__(
        self,
        x: Sample,
        x_prime: Sample,
        cells: int,
        view: View,
        *,
        values: bool = True,
        tails: bool = True,
    ) -> None:
        self.view = view
        self.sides = x, x_prime
        tally = _tally(self.sides)
        if tally is not None:
            distinct = tally.numbers
            times = tally.folds.sum(axis=(0, 1))
        else:
            distinct, times = np.unique(np.concatenate(self.sides), return_counts=True)
            distinct = distinct[: _there(distinct)]  # NaN is the last
            times = times[: distinct.size]
        total = int(times.sum())
        # of few different values, each counts as a category
        self.repeats = values and distinct.size <= min(_VALUES, max(total // 4, 2))
        ends = self._tails(tally, cells) if tails else []
        self.starts = _starts(distinct, times, cells, ends)
        self._missing = bool(total < x.size + x_prime.size)
        self._size = size = self.starts.size + 1
        self.ordered = size > 1
        if tally is not None:
            last = np.append(distinct.searchsorted(self.starts) - 1, -1)  # number of each cell
            folds = tally.folds.cumsum(axis=2)[:, :, last]
            super().__init__(*np.diff(folds, prepend=0))
        elif x.size > _FEWER:
            super().__init__(self._counts(x), self._counts(x_prime))
        else:
            super().__init__(*(_of_fifths(side, size + self._missing) for side in self.codes))
        by_value = self.repeats and distinct.size > size  # else every cell holds one value
        self._by_value = [Values(x, x_prime, view, tally)] if by_value else []

    def _tails(self, tally: _Tally | None, cells: int) -> list[Sample]:
        """Return the starts of cells in both tails of either side, and beyond."""
        ends: list[Sample] = []
        if tally is None:
            for side in self.sides:
                rising = np.sort(side)
                ends += _tail(rising.__getitem__, _there(rising), cells)
            return ends
        times = tally.folds.sum(axis=(0, 1))
        common = times.min() >= max(_REPEATS, times.sum() * _COMMON)
        if tally.numbers.size <= _ATOMS and common:
            return []  # every number has a cell of its own
        for of_side in tally.folds.sum(axis=1):
            pick = partial(_repeated, tally.numbers, of_side)
            ends += _tail(pick, int(of_side.sum()), cells)
        return ends

    def choices(self) -> list[Cells]:
        """Return these cells and, where values repeat, those of single values if they differ."""
        return [self, *self._by_value]

    def coded(self, sample: Sample) -> Counts:
        """Return cells of outputs; see `Cells.coded`."""
        return self._codes(self.view.of(sample))

    def _counts(self, side: Sample) -> Counts:
        counts = []
        for part in fifths(side.size):
            numbers = np.sort(side[part])  # of many, faster than to look up the cell of each
            ends = [*np.searchsorted(numbers, self.starts), _there(numbers), numbers.size]
            counts.append(np.diff(ends[: self._size + self._missing], prepend=0))
        return np.array(counts)

    @cached_property
    def codes(self) -> tuple[Counts, Counts]:
        """The cells of the numbers of both sides."""
        return self._codes(self.sides[0]), self._codes(self.sides[1])

    def _codes(self, side: Sample) -> Counts:
        find = self.starts.searchsorted
        codes = np.concatenate([find(p, "right").astype(np.int16) for p in in_parts(side)])
        if side.dtype.kind == "f":
            codes[np.isnan(side)] = self._size
        return codes

    def log_ratios(self) -> Floats:
        """Return the shrunken log ratio of each cell, then that of NaN, ``(k + 1,)``."""
        shares = (self._all[0] + 1) / (self._n + 1)
        shares_prime = (self._all[1] + 1) / (self._m + 1)
        of_cells = np.log(shares) - np.log(shares_prime)
        return of_cells if self._missing else np.append(of_cells, 0.0)

    def event(self, cells: Counts) -> Event:
        """Return the ranges of some cells; adjacent cells are one range."""
        chosen = np.zeros(self._size + 1, bool)
        chosen[cells] = True
        missing = bool(chosen[self._size])
        chosen[self._size] = False
        turns = np.flatnonzero(np.diff(chosen, prepend=False))
        ranges = []
        for a, b in zip(turns[::2], turns[1::2], strict=True):
            start = None if a == 0 else self.starts[a - 1].item()
            end = None if b == self._size else _next(self.starts[b - 1], -1).item()
            ranges.append((start, end))
        return Event(tuple(ranges), missing, self.view)


def _repeated(numbers: Sample, times: Counts, at: Any) -> Sample:
    """Return some of rising numbers, each of which is there so many times."""
    return np.asarray(numbers[np.cumsum(times).searchsorted(at, "right")])


def _there(ordered: Sample) -> int:
    """Return how many of numbers in increasing order are not missing."""
    real = np.issubdtype(ordered.dtype, np.floating)
    return int(np.searchsorted(ordered, np.nan)) if real else ordered.size


def _starts(distinct: Sample, times: Counts, cells: int, tails: Sequence[Sample]) -> Sample:
    """Return the starts of cells but the first: quantiles, values that repeat, and tails."""
    if not distinct.size:
        return distinct
    total = int(times.sum())
    quantiles = np.linspace(0, total - 1, cells + 1).round().astype(np.int64)
    picked = _repeated(distinct, times, quantiles)
    least = total * (_RARE if tails else _COMMON)
    often = np.flatnonzero(times >= max(_REPEATS, least))
    if often.size > _ATOMS:
        often = often[np.argsort(-times[often], kind="stable")[:_ATOMS]]
    atoms = distinct[often]
    edges = np.unique(np.concatenate([picked[1:-1], *tails, atoms, _next(atoms, 1)]))
    return np.asarray(edges[(edges > picked[0]) & (edges <= picked[-1])])


@np.errstate(over="ignore", invalid="ignore")  # numbers may be infinite
def _tail(pick: Callable[[Any], Sample], size: int, cells: int) -> list[Sample]:
    """Return starts of cells in both tails of rising numbers, and beyond: there may be none."""
    if not size:
        return []
    halvings = int(math.log2(max(2 * size / cells / _FINE_DRAWS, 1)))
    tail = (size / cells / 2.0 ** np.arange(halvings)).astype(np.int64)
    other = min(_MARGIN, size - 1)
    ends = pick([0, size - 1])  # and as far from them as they are from others
    low, high = ends + (ends - pick([other, size - 1 - other]))
    return [pick(tail), pick(size - 1 - tail), low[None], _next(high[None], 1)]


def _next(values: Any, way: int) -> Any:
    """Return the next larger numbers, or the next smaller ones if ``way`` is -1."""
    if np.issubdtype(values.dtype, np.integer):
        limits = np.iinfo(values.dtype)
        end = limits.max if way > 0 else limits.min
        return np.asarray(values + way * (values != end), values.dtype)
    with np.errstate(over="ignore"):  # it may be infinite
        return np.asarray(np.nextafter(values, way * np.inf) + 0.0)  # not -0.0


class Values(Cells):
    """A cell for each number that occurred, ``(n,)``, or each row of whole numbers, ``(n, d)``."""

    def __init__(self, x: Sample, x_prime: Sample, view: View, tally: _Tally | None = None) -> None:
        self.view = view
        if tally is not None:
            self._known = tally.numbers
            super().__init__(*tally.folds)
            return
        together = np.concatenate([x, x_prime])
        codes = codes_of(together)
        place = np.bincount(codes)  # of an output with each code
        place[codes] = np.arange(codes.size)
        self._known = together[place]
        folds = _of_fifths(codes[: len(x)], place.size)
        folds_prime = _of_fifths(codes[len(x) :], place.size)
        super().__init__(folds, folds_prime)

    def coded(self, sample: Sample) -> Counts:
        """Return cells of outputs; see `Cells.coded`."""
        numbers = sample if self.view.kind == "row" else self.view.of(sample)
        codes = codes_of(np.concatenate([self._known, numbers]))
        cells = np.full(codes.max() + 1, self.size)
        cells[codes[: self.size]] = np.arange(self.size)
        return cells[codes[self.size :]]

    def event(self, cells: Counts) -> Event:
        """Return the values or rows of some cells; successive whole numbers are one range."""
        chosen = self._known[np.sort(cells)]
        if self.view.kind == "row":
            rows = tuple(map(tuple, chosen.tolist()))
            return Event(((1, 1),), view=View("row", rows=rows))
        missing = False
        if chosen.dtype.kind == "f":
            missing = bool(np.isnan(chosen).any())
            chosen = chosen[~np.isnan(chosen)]
        ranges: list[tuple[Any, Any]] = []
        for value in chosen.tolist():
            if ranges and isinstance(value, int) and value == ranges[-1][1] + 1:
                ranges[-1] = ranges[-1][0], value
            else:
                ranges.append((value, value))
        return Event(tuple(ranges), missing, self.view)

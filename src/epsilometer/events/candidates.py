"""Candidate events: sets of cells of outputs, with the privacy level that the draws support.

`choosing` chooses among them. For 1,000 draws a side of whole numbers from 0 to 2,

    cells = Numbers(x, x_prime, 64, View())
    cells.starts                # [1, 2]: the starts of all cells but the first
    cells.folds[0]              # counts of x, (5, 3): a row for each fifth of the draws
    cells.event(np.array([0]))  # the event "output <= 0"
    cells.judged(1000, None, 1.5)  # the candidates "output >= 2", with the level it should show
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import Any

import numpy as np

from epsilometer.events.events import Event, View, codes_of, in_parts
from epsilometer.numerics.arrays import Counts, Floats, Sample
from epsilometer.numerics.ratios import ratio

FOLDS = 5  # successive parts of the draws of a side
SHRINKAGES = 2.0, 16.0  # counts that are added to both sides of a cell: of many and of few draws
_LIKELIER = 1e-12  # log ratio, above which a cell is likelier in any rounding
_CAUTION = 4.0  # standard deviations, of a set
_CAUTION_LINE = 2.5  # the same of a half-line, of which there are fewer
_MORE = 0.25  # share of more caution for ten times the draws, as it costs less
_FEW_DRAWS = 1000  # up to which there is no more of it
_FRESH = 1.645  # standard deviations that a bound at 95 % subtracts on the fresh draws
_RANKS = 200  # sizes of sets that are tried
_VALUES = 4096  # most different values that count as categories; at most a fourth of the draws
_ATOMS = 128  # values that get a cell of their own among quantiles
_REPEATS = 8  # draws of a value that gets such a cell; and the smallest share of all draws:
_COMMON = 1 / 2000
_RARE = 1 / 50_000
_FINE_DRAWS = 4  # draws of a fine cell
_TOGETHER = 64  # columns
_MARGIN = 4  # draws whose range fresh draws hardly exceed by as much again
NOTHING = -math.inf
_NEAR = 512  # whole numbers in a row that are counted one by one, of more an eighth of the draws
_FEWER = 5000  # draws of a side whose cells are looked up one by one

Level = Callable[[Floats, Floats], Floats]
"""The smallest privacy level at which an event may have two probabilities; it rises with the first
and falls with the second."""


@dataclass(frozen=True)
class Candidate:
    """An event, and the levels that fresh draws should show: a cautious and an optimistic estimate.

    ``sign`` is 1 if the event is likelier on x, -1 if on x'.
    """

    expected: float
    optimistic: float
    sign: int
    make_event: Callable[[], Event]


@dataclass(frozen=True, eq=False)
class _Family:
    """Sets of cells: the first ones of an ``order``, as many as each of the ``sizes``, ``(k,)``.

    ``hits`` and ``others`` are the draws in each set, ``(k,)``, on x and on x' for the ``sign`` 1,
    on x' and on x for -1. ``caution`` is a number of standard deviations.
    """

    hits: Floats
    others: Floats
    order: Counts
    sizes: Counts
    sign: int
    caution: float


class Cells(ABC):
    """Counts of both sides in cells, by fold; a set of cells is an event.

    ``folds`` are the counts of either side in each successive fifth of its draws, two of shape
    ``(5, size)``.
    """

    ordered = repeats = False
    view: View
    """The number of an output that the cells divide."""

    def __init__(self, x: Counts, x_prime: Counts) -> None:
        self.folds = x, x_prime
        self._all = tuple(folds.sum(axis=0) for folds in self.folds)
        self._n, self._m = (int(of.sum()) for of in self._all)

    @abstractmethod
    def event(self, cells: Counts) -> Event:
        """Return the event of some cells, whose numbers have shape ``(c,)``."""

    @abstractmethod
    def coded(self, sample: Sample) -> Counts:
        """Return the cell of other outputs, of shape ``(n,)``; ``size`` where they have none."""

    @property
    def size(self) -> int:
        """The number of cells."""
        return int(self._all[0].size)

    def judged(self, draws: int, level: Level | None, little: float) -> list[Candidate]:
        """Return the events of the largest cautious and the largest optimistic ``level``, if any.

        It is that expected from so many fresh ``draws`` a side (the log ratio of probabilities if
        no level is given). The cautious estimate subtracts several standard deviations, the
        optimistic one ``little`` of them.
        """
        families = self._likelier_cells()
        if self.ordered:
            families += self._half_lines()
        if not families:
            return []
        times = [of.sizes.size for of in families]
        hits = np.concatenate([of.hits for of in families])
        others = np.concatenate([of.others for of in families])
        n = np.repeat([self._n if of.sign > 0 else self._m for of in families], times)
        m = np.repeat([self._m if of.sign > 0 else self._n for of in families], times)
        many = math.log10(max(self._n, _FEW_DRAWS) / _FEW_DRAWS)
        caution = np.repeat([of.caution * (1 + _MORE * many) for of in families], times)
        cautions = np.stack([caution, np.full(hits.size, little)])
        levels = expected_level(hits[None], n[None], others[None], m[None], draws, cautions, level)
        ends = np.cumsum(times)
        chosen = []
        for best in levels.argmax(axis=1).tolist():
            k = int(np.searchsorted(ends, best, "right"))
            family = families[k]
            size = family.sizes[best - ends[k]]
            event = partial(self.event, family.order[:size])
            expected, optimistic = levels[:, best].tolist()
            if optimistic > NOTHING:
                chosen.append(Candidate(expected, optimistic, family.sign, event))
        return chosen

    def _likelier_cells(self) -> list[_Family]:
        """Return sets of the first cells by shrunken log ratio, of x to x' and of x' to x.

        An order is learned on four fifths of the draws, whose last fifth counts its sets, five
        times in turn.
        """
        if self.ordered and self.size <= 2:
            return []  # they are half-lines
        more = np.array(SHRINKAGES)[:, None] / self._n
        x, x_prime = self.folds
        log, log_prime = (np.log(of / of.sum() + more) for of in self._all)
        learned, learned_prime = (self._log_of_others(of, more[:, None]) for of in self.folds)
        families = []
        for sign in (1, -1):
            ratios = sign * (log - log_prime)
            orders = np.argsort(-ratios, axis=1, kind="stable")
            of_others = np.argsort(-sign * (learned - learned_prime), axis=2, kind="stable")
            ours, theirs = (x, x_prime) if sign > 0 else (x_prime, x)
            hits, others = (self._first_cells(side, of_others) for side in (ours, theirs))
            for i, likelier in enumerate(np.count_nonzero(ratios > _LIKELIER, axis=1).tolist()):
                if likelier:
                    sizes = _ranks(likelier)
                    first = hits[i, sizes - 1], others[i, sizes - 1]
                    families.append(_Family(*first, orders[i], sizes, sign, _CAUTION))
        return families

    def _log_of_others(self, folds: Counts, more: Floats) -> Floats:
        """Return the logs of shares in cells among all fifths but one, by shrinkage and fifth."""
        others = folds.sum(axis=0) - folds
        shares = ratio(others, others.sum(axis=1, keepdims=True))
        return np.asarray(np.log(shares + more))

    def _first_cells(self, folds: Counts, orders: Counts) -> Floats:
        """Return the draws in the first cells of orders, by shrinkage: each fifth has its own."""
        counts = folds[np.arange(FOLDS)[:, None], orders]
        return np.asarray(np.cumsum(counts, axis=2).sum(axis=1), np.float64)

    def _half_lines(self) -> list[_Family]:
        """Return all half-lines from the left, and from the right, for either side."""
        families = []
        left = np.arange(self.size)
        sizes = np.arange(1, self.size)
        for order in (left, left[::-1]):
            sides = [np.cumsum(side[order])[:-1].astype(float) for side in self._all]
            for sign in (1, -1):
                hits, others = sides[::sign]
                families.append(_Family(hits, others, order, sizes, sign, _CAUTION_LINE))
        return families


def fifths(size: int) -> list[slice]:
    """Return the successive fifths of so many draws."""
    ends = [-(-size * i // FOLDS) for i in range(FOLDS + 1)]
    return [slice(a, b) for a, b in pairwise(ends)]


def _of_fifths(codes: Sample, size: int, low: int = 0) -> Counts:
    """Return how often each of ``size`` codes from ``low`` is in each successive fifth."""
    parts = (codes[part] - np.int64(low) if low else codes[part] for part in fifths(codes.size))
    return np.array([np.bincount(part, None, size) for part in parts])


def _tally(sides: Sequence[Sample]) -> tuple[Sample, Counts] | None:
    """Return the rising whole numbers, and the folds of each, ``(2, 5, k)``; None if far apart."""
    if any(side.dtype.kind != "i" or not side.size for side in sides):
        return None
    low = min(int(x.min()) for x in sides)
    high = max(int(x.max()) for x in sides)
    if high - low >= max(sum(side.size for side in sides) // 8, _NEAR):
        return None
    folds = np.array([_of_fifths(side, high - low + 1, low) for side in sides])
    values = np.flatnonzero(folds.any(axis=(0, 1)))
    return (values + low).astype(sides[0].dtype), folds[:, :, values]


def deviations(ours: Counts, theirs: Counts) -> tuple[Floats, Floats, Counts]:
    """Return the terms of Pearson's test of equal distributions, for each row of counts ``(k, c)``.

    These are the excess of ``ours`` over the expected counts, and its variances, both ``(k, c)``;
    and the degrees of freedom of each row, ``(k,)``.
    """
    n, m = (side.sum(axis=1, keepdims=True) for side in (ours, theirs))
    both = (n > 0) & (m > 0)
    times = np.where(both, ours + theirs, 0)
    share = ratio(n, n + m)
    share_prime = ratio(m, n + m)
    excess = np.where(both, ours - times * share, 0.0)
    return excess, times * share * share_prime, (times > 0).sum(axis=1) - both[:, 0]


def _ranks(most: int) -> Counts:
    """Return the sizes of sets that are tried: all, or the small ones close together."""
    if most <= 2 * _RANKS:
        return np.arange(1, most + 1)
    spread = np.concatenate([np.geomspace(1, most, _RANKS), np.linspace(1, most, _RANKS)])
    return np.unique(spread.round().astype(np.int64))


def expected_level(
    hits: Floats,
    n: Any,
    others: Floats,
    m: Any,
    draws: Any,
    caution: Any,
    level: Level | None = None,
) -> Floats:
    """Return the level of two estimated probabilities less the errors of past and fresh draws.

    Both errors are those of Wilson's limits, which also hold for very small counts. ``hits`` of
    ``n`` and ``others`` of ``m`` draws have equally many axes; they and ``caution`` broadcast to
    the shape of the result.
    """
    level = level or (lambda p, q: np.asarray(np.log(p / q)))
    p, q = shares = np.stack([hits / n, (others + 0.5) / (m + 1)])
    up = np.reshape([-1.0, 1.0], (2, *[1] * p.ndim))
    with np.errstate(divide="ignore", invalid="ignore"):
        shown = level(p, q)
        past = _wilson(shares, np.stack([n, m], dtype=float), caution * up)
        low, high = np.minimum(_wilson(past, draws, _FRESH * up), 1.0)
        errors = shown - level(low, q), shown - level(p, high)
        expected = shown - np.sqrt(errors[0] ** 2 + errors[1] ** 2)
        return np.where((hits > 0) & np.isfinite(expected), expected, NOTHING)


def _wilson(share: Floats, n: int | Floats, z: Floats) -> Floats:
    """Return Wilson's limit of a probability, z standard deviations above the observed share."""
    spread = np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.asarray((share + z**2 / (2 * n) + z * spread) / (1 + z**2 / n))


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
        if (tally := _tally(self.sides)) is not None:  # code each different number once
            distinct, folds = tally
            times = folds.sum(axis=(0, 1))
            different = distinct.size
            total = int(folds.sum())
            picked = _repeated(distinct, times, _quantiles(total, cells))
            sides = [(partial(_repeated, distinct, n), int(n.sum())) for n in folds.sum(axis=1)]
            common = different <= _ATOMS and times.min() >= max(_REPEATS, total * _COMMON)
            # where every number has a cell of its own, so have those of the tails
            ends = [_tail(*side, cells) for side in sides if tails and not common]
        else:
            rising = map(np.sort, self.sides if tails else ())
            ends = [_tail(side.__getitem__, _there(side), cells) for side in rising]
            pooled = np.concatenate(self.sides)
            pooled.sort()
            pooled = pooled[: (total := _there(pooled))]
            picked = pooled[_quantiles(total, cells)] if total else pooled
            new = pooled[1:] != pooled[:-1]
            different = int(np.count_nonzero(new)) + (total > 0)
        # of few different values, each counts as a category
        self.repeats = values and different <= min(_VALUES, max(total // 4, 2))
        if tally is None:
            enough = self.repeats or total - different >= _REPEATS - 1
            first = np.flatnonzero(np.append(True, new)[:total]) if enough else np.empty(0, int)
            distinct = pooled[first]
            times = np.diff(first, append=total)
        self.starts = _starts(picked, total, distinct, times, ends)
        self._missing = bool(total < x.size + x_prime.size)
        self._size = size = self.starts.size + 1
        self.ordered = size > 1
        if tally is not None:
            at = [*(distinct.searchsorted(self.starts) - 1), -1]
            super().__init__(*np.diff(folds.cumsum(axis=2)[:, :, at], prepend=0))
        elif x.size > _FEWER:
            super().__init__(*map(self._counts, self.sides))
        else:
            super().__init__(*(_of_fifths(side, size + self._missing) for side in self.codes))
        by_value = self.repeats and distinct.size > size  # else every cell holds one value
        self._by_value = [Values(x, x_prime, view, tally)] if by_value else []

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

    def table(self) -> tuple[tuple[Sequence[Any]], Sequence[float]]:
        """Return the starts of cells, and shrunken log ratios of all, the last for NaN."""
        shares = (self._all[0] + 1) / (self._n + 1), (self._all[1] + 1) / (self._m + 1)
        ratio = np.log(shares[0]) - np.log(shares[1])
        none = () if self._missing else (0.0,)
        return (tuple(self.starts.tolist()),), (*ratio.tolist(), *none)

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


def tables(x: Sequence[Sample], x_prime: Sequence[Sample], cells: int) -> Iterator[Any]:
    """Yield `Numbers.table` of columns; those of reals that hardly repeat are made together."""
    for first in range(0, len(x), _TOGETHER):
        sides = [np.array(side[first : first + _TOGETHER]) for side in (x, x_prime)]
        alone = np.ones(len(sides[0]), bool)
        if sides[0].dtype.kind == "f" and sides[0].size:
            pooled = np.sort(np.concatenate(sides, axis=1))
            picked = pooled[:, _quantiles(pooled.shape[1], cells)]
            repeats = (pooled[:, 1:] == pooled[:, :-1]).sum(axis=1)
            alone = (repeats >= _REPEATS - 1) | np.isnan(pooled[:, -1])
            alone |= (picked[:, 1:-1] <= picked[:, :-2]).any(axis=1)
            logs = []
            for side in sides:
                above = [(side >= start[:, None]).sum(axis=1) for start in picked.T[1:-1]]
                less = np.diff(above, axis=0, prepend=side.shape[1], append=0)
                logs.append(np.log((1 - less) / (side.shape[1] + 1)))
        for i, (ours, theirs) in enumerate(zip(*sides, strict=True)):
            if alone[i]:
                yield Numbers(ours, theirs, cells, View(), values=False, tails=False).table()
            else:
                ratio = logs[0][:, i] - logs[1][:, i]
                yield (tuple(picked[i, 1:-1].tolist()),), (*ratio.tolist(), 0.0)


def _quantiles(total: int, cells: int) -> Counts:
    return np.linspace(0, total - 1, cells + 1).round().astype(np.int64)


def _repeated(numbers: Sample, times: Counts, at: Any) -> Sample:
    """Return some of rising numbers, each of which is there so many times."""
    return np.asarray(numbers[np.cumsum(times).searchsorted(at, "right")])


def _there(ordered: Sample) -> int:
    """Return how many of numbers in increasing order are not missing."""
    real = np.issubdtype(ordered.dtype, np.floating)
    return int(np.searchsorted(ordered, np.nan)) if real else ordered.size


def _starts(
    picked: Sample, total: int, distinct: Sample, times: Counts, tails: Sequence[list[Sample]]
) -> Sample:
    """Return the starts of cells but the first: quantiles, values that repeat, and tails."""
    if not total:
        return distinct
    starts = [picked[1:-1], *chain(*tails)]
    least = total * (_RARE if tails else _COMMON)
    atoms = np.flatnonzero(times >= max(_REPEATS, least))
    if atoms.size > _ATOMS:
        atoms = atoms[np.argsort(-times[atoms], kind="stable")[:_ATOMS]]
    edges = np.unique(np.concatenate([*starts, distinct[atoms], _next(distinct[atoms], 1)]))
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
        end = np.iinfo(values.dtype).max if way > 0 else np.iinfo(values.dtype).min
        return np.asarray(values + way * (values != end), values.dtype)
    with np.errstate(over="ignore"):  # it may be infinite
        return np.asarray(np.nextafter(values, way * np.inf) + 0.0)  # not -0.0


class Values(Cells):
    """A cell for each number that occurred, ``(n,)``, or each row of whole numbers, ``(n, d)``."""

    def __init__(self, x: Sample, x_prime: Sample, view: View, tally: Any = None) -> None:
        self.view = view
        if tally is None:
            codes = codes_of(together := np.concatenate([x, x_prime]))
            place = np.bincount(codes)  # of an output with each code
            place[codes] = np.arange(codes.size)
            sides = codes[: len(x)], codes[len(x) :]
            tally = together[place], [_of_fifths(side, place.size) for side in sides]
        self._known, folds = tally
        super().__init__(*folds)

    def coded(self, sample: Sample) -> Counts:
        """Return cells of outputs; see `Cells.coded`."""
        numbers = sample if self.view.kind == "row" else self.view.of(sample)
        known, others = np.split(codes_of(np.concatenate([self._known, numbers])), [self.size])
        cells = np.full(max(known.max(), others.max(initial=0)) + 1, self.size)
        cells[known] = np.arange(self.size)
        return cells[others]

    def event(self, cells: Counts) -> Event:
        """Return the values or rows of some cells; successive whole numbers are one range."""
        chosen = self._known[np.sort(cells)]
        if self.view.kind == "row":
            rows = tuple(map(tuple, chosen.tolist()))
            return Event(((1, 1),), view=View("row", rows=rows))
        real = chosen.dtype.kind == "f"
        missing = np.isnan(chosen) if real else np.zeros(chosen.size, bool)
        ranges: list[tuple[Any, Any]] = []
        for value in chosen[~missing].tolist():
            if ranges and isinstance(value, int) and value == ranges[-1][1] + 1:
                ranges[-1] = ranges[-1][0], value
            else:
                ranges.append((value, value))
        return Event(tuple(ranges), bool(missing.any()), self.view)

"""Entries: what an input or a column holds, and the neighbours of it that are worth trying.

A kind of entry makes special values and pairs of neighbours: ends, the middle, missing values,
numbers just inside an end, changes in one place. They reveal wrong bounds, positions that are left
out, missing clipping and coarse floats (Casacuberta et al. 2022; Haney et al. 2022). Pairs may be
repeated, or equal. A row asks its columns, and the rows of a user ask the row. Whether two values
really are neighbours is said in `relations`, which shares no code with this module.

``Number(0, 5)`` makes the pairs (0, 5), (0, 2.5), (5, 2.5), ... A `Row` of it and of the `Choices`
"a" and "b" makes ([0, "a"], [5, "b"]), ...: changes of both columns, then of one, then of some.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import chain, combinations, cycle, islice, product, zip_longest
from typing import Any

import numpy as np

from epsilometer.numerics.arrays import evenly_spaced
from epsilometer_audit.question.pairs import Pair

_ALL_PAIRS = 14  # numbers that have at most a hundred pairs, which are all tried
_TRIED = 1000  # changes of a column, at most
_LAPS = 12  # with other counts of each key
_COLUMNS = 8  # columns that are changed alone early
_FAR = (1.0, 1000.0)  # distances beyond the ends, in widths of the interval
_ROUNDED = 1 + 1e-9  # times a distance: the sum of two floats is rounded
_GOLDEN = (math.sqrt(5) - 1) / 2  # its multiples are evenly spread over an interval
_LARGE = (1e3, 1e6, 1e9, 1e12, 1e15)
NORMS = {"L1": 1.0, "L2": 2.0, "Linf": math.inf}


@dataclass(frozen=True)
class Change:
    """Neighbours x and x'; of tables, with the place of the row that differs, and its two values.

    Both values are the same where the row is removed. Other inputs are named by themselves.
    """

    x: Any
    x_prime: Any
    name: str = ""
    place: int = 0
    rows: Pair = (None, None)


def same(x: Any, y: Any) -> bool:
    """Tell whether two values are the same in JSON: 1 is not 1.0, and NaN is NaN."""
    return json.dumps(x) == json.dumps(y)


class Space(ABC):
    """A declared domain, which makes pairs of neighbours.

    Its largest input has ``width`` single entries.
    """

    width: int = 1

    @abstractmethod
    def changes(self, rng: np.random.Generator) -> Iterator[Change]:
        """Yield neighbours, the most useful first; they may be repeated, or equal."""

    @abstractmethod
    def moved(self, change: Change, rng: np.random.Generator) -> Change:
        """Return neighbours near others."""

    def ranges(self) -> list[tuple[float, float]]:
        """Return the ends of numbers beyond which there are no inputs."""
        return []


class Entry(Space):
    """What all kinds of entries have.

    Any two values are neighbours where it is ``free``. A ``missing`` value stands for an entry that
    is not there.
    """

    free: bool = True
    missing: Sequence[Any] = ()

    def changes(self, rng: np.random.Generator) -> Iterator[Change]:
        for x, y in self.pairs(rng):
            yield Change(x, y)

    def moved(self, change: Change, rng: np.random.Generator) -> Change:
        return Change(*self.near_pair(change.x, change.x_prime, rng))

    @property
    def low(self) -> Any:
        """One end."""
        return self.at(0)

    @property
    def high(self) -> Any:
        """The other end."""
        return self.at(1)

    @abstractmethod
    def at(self, share: float) -> Any:
        """Return a value at a share of the way between the ends, from 0 to 1."""

    def drawn(self, rng: np.random.Generator) -> Any:
        """Return a random value."""
        return self.at(float(rng.random()))

    @abstractmethod
    def others(self, rng: np.random.Generator) -> list[Any]:
        """Return further special values, the most useful first."""

    @abstractmethod
    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield neighbours, the most useful first."""

    def near_pair(self, x: Any, y: Any, rng: np.random.Generator) -> Pair:
        """Return neighbours near others, and equal values if those are equal.

        This is for entries whose values are all neighbours.
        """
        new = self.drawn(rng)
        if same(x, y):
            return new, new
        return (x, new) if rng.random() < 0.5 else (new, y)


@dataclass(frozen=True)
class Number(Entry):
    """Numbers from ``lower`` to ``upper``, whole ones or all.

    ``clipped`` tells whether inputs may lie beyond, as the mechanism clips them. Neighbours are at
    most a ``distance`` apart, or any two numbers.
    """

    lower: float
    upper: float
    whole: bool = False
    clipped: bool = False
    distance: float | None = None
    missing: Sequence[Any] = ()

    @property
    def free(self) -> bool:  # type: ignore[override]
        return self.distance is None

    def ranges(self) -> list[tuple[float, float]]:
        is_bit = self.whole and (self.lower, self.upper) == (0, 1)
        if self.clipped or is_bit:
            return []
        return [(self.lower, self.upper)]

    def at(self, share: float) -> float:
        if share == 0:
            return self.lower
        if share == 1:
            return self.upper
        value = (1 - share) * self.lower + share * self.upper
        if not self.whole:
            value = float(f"{value:.4g}")
        return self.inside(value)

    def others(self, rng: np.random.Generator) -> list[Any]:
        values = [self.at(0.5), self.at(0.6), self.inside(0)]
        if self.clipped:
            beyond = self._beyond(rng)
            values = [*beyond[:2], *values, *beyond]
        for step in self._steps:
            values += [self.inside(self.upper - step), self.inside(self.lower + step)]
        special = dict.fromkeys(values)
        special.pop(self.low, None)
        special.pop(self.high, None)
        return [*self.missing, *special]

    def _beyond(self, rng: np.random.Generator) -> list[float]:
        """Return numbers outside both ends, by small steps, by random ones and by large ones."""
        steps = self._steps
        shares = [float(f"{10 ** (size + rng.random()):.3g}") for size in range(-3, 1)]
        for share in (*shares, *_FAR):
            steps.append((self.upper - self.lower) * share)
        beyond: list[float] = []
        for step in steps:
            ends = [self.upper + step, self.lower - step]
            if np.isfinite(ends).all():
                beyond += map(self.number, ends)
        return beyond

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        if self.distance is None:
            yield from self._any_two(rng)
        else:
            yield from self._apart(self.distance, rng)
        if self.whole and not self.clipped and self.upper - self.lower < _ALL_PAIRS:
            numbers = range(int(self.lower), int(self.upper) + 1)
            for x, y in combinations([*numbers, *self.missing], 2):
                if self.distance is None or y - x <= self.distance:
                    yield x, y

    def _any_two(self, rng: np.random.Generator) -> Iterator[Pair]:
        low = self.low
        high = self.high
        yield low, high
        for value in self.others(rng):
            yield low, value
            yield high, value
        if low < 0 < high:
            yield self.inside(-self._steps[0]), self.inside(self._steps[0])
        yield self.drawn(rng), self.drawn(rng)
        for i in range(1, 12, 2):
            yield self.at(i * _GOLDEN % 1), self.at((i + 1) * _GOLDEN % 1)

    def _apart(self, distance: Any, rng: np.random.Generator) -> Iterator[Pair]:
        low = self.lower
        high = self.upper
        middle = self.at(0.5)
        if self.whole:
            half = distance // 2
            part = 1
        else:
            half = distance / 2
            part = distance / 1000
        largest = 2.0 ** math.floor(math.log2(max(abs(low), abs(high))))
        starts = [0, low, high, high - distance, -distance, -half]
        for border in (largest, -largest, 1.0, -1.0):  # where floats become coarser
            starts += [border - half, border - distance, border]
        if not self.whole:
            starts += [0.5, 1 / 3, math.pi]
        starts += [middle, *_LARGE]
        starts += [low + share * (high - low) for share in rng.random(4).tolist()]
        if self.clipped:
            starts += self.others(rng)
        for start in map(self.number, starts):
            end = self.number(start + distance)
            is_near = end - start <= distance * _ROUNDED  # not so where floats are coarse
            if is_near and (self.clipped or (low <= start and end <= high)):
                yield start, end
        for step in (half, part):
            if middle + step <= high:
                yield middle, self.number(middle + step)

    def near_pair(self, x: Any, y: Any, rng: np.random.Generator) -> Pair:
        if _is_missing(x) or _is_missing(y):
            return super().near_pair(x, y, rng)
        step = float((self.upper - self.lower) * rng.normal() * 10 ** (-2 * rng.random()))
        if self.whole:
            step = math.ceil(step)
        may_leave = self.clipped and math.isfinite(x + step) and math.isfinite(y + step)
        kept = self.number if may_leave else self.inside
        moved = kept(x + step)
        moved_prime = kept(y + step)
        if self.distance is not None and abs(moved - moved_prime) > self.distance * _ROUNDED:
            return x, y  # floats are coarse there
        if same(x, y) or self.distance is not None:
            return moved, moved_prime
        return (x, moved_prime) if rng.random() < 0.5 else (moved, y)

    @property
    def _steps(self) -> list[float]:
        """The smallest difference of interest, and one."""
        smallest = 1 if self.whole else (self.upper - self.lower) / 1000
        return [self.number(smallest), 1]

    def number(self, value: float) -> float:
        """Return a number of the kind that inputs have."""
        return round(value) if self.whole else float(value)

    def inside(self, value: float) -> float:
        """Return the number of the range that is nearest."""
        return self.number(min(max(value, self.lower), self.upper))


def _is_missing(value: float | None) -> bool:
    return value is None or math.isnan(value)


@dataclass(frozen=True)
class Choices(Entry):
    """One of several values; any two are neighbours."""

    options: Sequence[Any]

    def at(self, share: float) -> Any:
        return self.options[min(int(share * len(self.options)), len(self.options) - 1)]

    def others(self, rng: np.random.Generator) -> list[Any]:
        return list(self.options[1:-1])

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield all pairs: at first each option has one, then each has one more or two."""
        n = len(self.options)
        for step in range(n // 2, 0, -1):
            for i in range(step if 2 * step == n else n):
                yield self.options[i], self.options[(i + step) % n]


@dataclass(frozen=True)
class Row(Entry):
    """Several columns, as lists, or as mappings where the columns have names.

    Two rows are neighbours if in each column they are equal, or neighbours.
    """

    columns: Sequence[Entry]
    names: Sequence[str] | None = None

    @property
    def free(self) -> bool:  # type: ignore[override]
        return all(column.free for column in self.columns)

    @property
    def width(self) -> int:  # type: ignore[override]
        return sum(column.width for column in self.columns)

    def ranges(self) -> list[tuple[float, float]]:
        return list(chain.from_iterable(column.ranges() for column in self.columns))

    def at(self, share: float) -> Any:
        return self._row([column.at(share) for column in self.columns])

    def drawn(self, rng: np.random.Generator) -> Any:
        return self._row([column.drawn(rng) for column in self.columns])

    @property
    def missing(self) -> Sequence[Any]:  # type: ignore[override]
        """Rows whose entries are missing: all that may be, then one of them."""
        in_one_column = []
        for i in self._early_columns:
            for value in self.columns[i].missing[:1]:
                in_one_column.append(self._low_but(i, value))
        if len(in_one_column) < 2:
            return in_one_column
        values = [column.missing[0] if column.missing else column.low for column in self.columns]
        return [self._row(values), *in_one_column]

    def others(self, rng: np.random.Generator) -> list[Any]:
        """Return rows at the other end in one column, or with missing entries, then other rows."""
        early = self._early_columns
        ends = [self._low_but(i, self.columns[i].high) for i in reversed(early)]
        special = []
        for i in early:
            values = self.columns[i].others(rng)
            special.append([self._low_but(i, value) for value in values])
        return [*in_turn([self.missing, ends]), self.at(0.5), self.at(0.6), *in_turn(special)]

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield rows with the first changes of all columns at once, then of each column alone."""
        changes = [list(islice(column.pairs(rng), _TRIED)) for column in self.columns]
        for k in range(5):
            yield self._pair([pairs[k % len(pairs)] for pairs in changes])
        yield from self._one_column(self._early_columns, changes, 0)
        for k in range(5):
            yield self._some_rise(changes, k, rng)
        for k in range(max(map(len, changes))):
            yield from self._one_column(evenly(len(changes)), changes, k)

    def _some_rise(
        self, changes: Sequence[Sequence[Pair]], k: int, rng: np.random.Generator
    ) -> Pair:
        """Return rows of which some columns rise where others fall: at first every second one."""
        width = 2 ** max(k - 1, 0)  # of successive columns that rise, or fall
        column_pairs = []
        for i, pairs in enumerate(changes):
            number = 0 if k == 0 else int(rng.integers(len(pairs)))
            x, y = pairs[number]
            if i // width % 2 == 1:  # it falls
                x, y = y, x
            column_pairs.append((x, y))
        return self._pair(column_pairs)

    def _one_column(
        self, places: Sequence[int], changes: Sequence[Sequence[Pair]], k: int
    ) -> Iterator[Pair]:
        """Yield rows with change number ``k`` of one of these columns, if it has so many."""
        share = k % 3 / 2  # all other columns are at an end, in the middle, or at the other end
        unchanged = [(value, value) for value in self._values(self.at(share))]
        for i in places:
            if k < len(changes[i]):
                yield self._pair([*unchanged[:i], changes[i][k], *unchanged[i + 1 :]])

    def near_pair(self, x: Any, y: Any, rng: np.random.Generator) -> Pair:
        """Return rows of which one column is moved, or about half of them."""
        column_pairs = list(zip(self._values(x), self._values(y), strict=True))
        chosen = rng.random(len(self.columns)) < 0.5 * rng.integers(2)
        chosen[rng.integers(len(self.columns))] = True
        for i in np.flatnonzero(chosen).tolist():
            column_pairs[i] = self.columns[i].near_pair(*column_pairs[i], rng)
        return self._pair(column_pairs)

    @property
    def _early_columns(self) -> list[int]:
        """The columns that are changed alone early."""
        return evenly_spaced(len(self.columns), _COLUMNS)

    def _low_but(self, i: int, value: Any) -> Any:
        """Return the row of all low ends, but for one value."""
        row = [column.low for column in self.columns]
        row[i] = value
        return self._row(row)

    def _pair(self, column_pairs: Sequence[Pair]) -> Pair:
        """Return the rows x and y of the pairs of all columns."""
        x, y = map(list, zip(*column_pairs, strict=True))
        return self._row(x), self._row(y)

    def _row(self, values: list[Any]) -> Any:
        return values if self.names is None else dict(zip(self.names, values, strict=True))

    def _values(self, row: Any) -> list[Any]:
        return list(row) if self.names is None else list(row.values())


@dataclass(frozen=True)
class Vector(Row):
    """Lists of equal numbers; neighbours are at most ``distance`` apart in a ``norm``."""

    columns: Sequence[Number]
    _: KW_ONLY
    distance: float
    norm: str
    free = False

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield moves of each entry in turn, and moves of all that can move at once."""
        size = len(self.columns)
        number = self.columns[0]
        signs = np.resize([1.0, -1.0], size)
        ends_in_turn = list(islice(cycle([number.low, number.high]), size))
        starts = [self.low, self.high, ends_in_turn, self.drawn(rng)]
        starts += [[value] * size for value in number.others(rng)]
        alone = []
        for lap in range(len(starts)):
            for k, i in enumerate(from_the_end(size)):
                alone.append((starts[(k + lap) % len(starts)], np.arange(size) == i))
        together = []
        if self._moving > 1:
            halves = np.sign(size / 2 - np.arange(size) - 0.5)
            thirds = np.resize([1, -1, 0], size)
            first = np.arange(size) < self._moving
            for x in starts:
                together += [(x, first * move) for move in (1, signs, halves, thirds)]
                together.append((x, rng.normal(size=size)))
        for x, move in in_turn([alone, together]):
            y = self._moved(x, move)
            if self._close(x, y):
                yield x, y

    @property
    def _moving(self) -> int:
        """The number of entries that may move at once, whole numbers by one each."""
        norm = NORMS[self.norm]
        if self.columns[0].whole and norm < math.inf:
            return min(len(self.columns), int(self.distance**norm))
        return len(self.columns)

    def near_pair(self, x: Any, y: Any, rng: np.random.Generator) -> Pair:
        moved, moved_prime = super().near_pair(x, y, rng)
        if self._close(moved, moved_prime):
            return moved, moved_prime
        return x, y

    def _close(self, x: list[float], y: list[float]) -> bool:
        """Tell whether two vectors are near enough; not so where floats are coarse."""
        apart = np.subtract(x, y, dtype=float)
        return bool(np.linalg.norm(apart, NORMS[self.norm]) <= self.distance * _ROUNDED)

    def _moved(self, start: list[float], move: Any) -> list[float]:
        """Return a vector that is moved, into the domain where entries would leave it."""
        number = self.columns[0]
        move = move * (self.distance / np.linalg.norm(move, NORMS[self.norm]))
        moved: list[float] = []
        for x, step in zip(start, move.tolist(), strict=True):
            length = math.trunc(step) if number.whole else step
            if number.clipped:
                moved.append(number.number(x + length))
            elif number.lower <= x + step <= number.upper:
                moved.append(number.inside(x + length))
            else:
                moved.append(number.inside(x - length))
        return moved


@dataclass(frozen=True)
class Counts(Row):
    """Counts by key, as mappings without those that are 0.

    Neighbours differ by one in up to ``changed`` keys, and all of these are larger on one side.
    """

    columns: Sequence[Number]
    names: Sequence[str]
    _: KW_ONLY
    changed: int
    free = False

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield each key in turn with one count and another, beside different other counts."""
        number = self.columns[0]
        counts = number.lower + np.array(evenly(int(number.upper - number.lower)))
        others = [self.high, self.low, self.at(0.5), self.drawn(rng)]
        for lap, size in product(range(_LAPS), dict.fromkeys([self.changed, 1])):
            for k, place in enumerate(from_the_end(len(self.columns)), start=lap):
                values = np.array(self._values(others[k % len(others)]))
                changed = np.arange(place, place + size) % values.size
                values[changed] = counts[k % counts.size]
                more = values.copy()
                more[changed] += 1
                yield self._row(more.tolist()), self._row(values.tolist())

    def near_pair(self, x: Any, y: Any, rng: np.random.Generator) -> Pair:
        """Return the same change beside counts of which one is moved."""
        values = self._values(x)
        values_prime = self._values(y)
        i = int(rng.integers(len(values)))
        values[i], values_prime[i] = self.columns[i].near_pair(values[i], values_prime[i], rng)
        return self._row(values), self._row(values_prime)

    def _row(self, values: list[Any]) -> Any:
        return {key: n for key, n in zip(self.names, values, strict=True) if n}

    def _values(self, row: Any) -> list[Any]:
        return [row.get(key, 0) for key in self.names]

    def ranges(self) -> list[tuple[float, float]]:
        return []


@dataclass(frozen=True)
class Users(Entry):
    """The rows of a user, from one row to ``most``.

    Any two are neighbours if any two rows are; else these are as many rows, each equal or near.
    """

    rows: Entry
    most: int

    @property
    def free(self) -> bool:  # type: ignore[override]
        return self.rows.free

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.most * self.rows.width

    @property
    def missing(self) -> Sequence[Any]:  # type: ignore[override]
        return [[row] for row in self.rows.missing]

    def ranges(self) -> list[tuple[float, float]]:
        return self.rows.ranges()

    def at(self, share: float) -> list[Any]:
        return [self.rows.at(share)] * (1 + round(share * (self.most - 1)))

    def drawn(self, rng: np.random.Generator) -> list[Any]:
        return [self.rows.drawn(rng) for _ in range(int(rng.integers(self.most)) + 1)]

    def others(self, rng: np.random.Generator) -> list[Any]:
        """Return most rows that differ, other numbers of equal rows, and other rows."""
        values = [self._different, [self.rows.high], self.low * self.most]
        for row in self.rows.others(rng):
            values += [[row] * self.most, [row]]
        return values

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield few and many rows, equal and different ones, then as many other rows."""
        if self.free:
            for fewer in (self.low, [self.rows.high], self._different):
                yield fewer, self.high
        last_x = self.rows.low
        last_y = self.rows.low
        for x, y in self.rows.pairs(rng):
            yield [x] * self.most, [y] * self.most
            if not self.free:
                yield [x], [y]
                if self.most > 1:
                    yield [last_y, x], [last_x, y]
            last_x = x
            last_y = y

    def near_pair(self, x: Any, y: Any, rng: np.random.Generator) -> Pair:
        if self.free or same(x, y):
            return super().near_pair(x, y, rng)
        rows = []
        rows_prime = []
        for row, row_prime in zip(x, y, strict=True):
            moved, moved_prime = self.rows.near_pair(row, row_prime, rng)
            rows.append(moved)
            rows_prime.append(moved_prime)
        return rows, rows_prime

    @cached_property
    def _different(self) -> list[Any]:
        return [self.rows.at(i / max(self.most - 1, 1)) for i in range(self.most)]


def evenly(size: int) -> list[int]:
    """Return the numbers below ``size``, so that the first ones are far apart.

    >>> evenly(5)
    [0, 2, 4, 1, 3]
    """
    places: dict[int, None] = {}
    for k in range(size.bit_length()):
        places |= dict.fromkeys(range(0, size, size >> k))
    return list(places)


def from_the_end(size: int) -> list[int]:
    """Return the last place, and then all others as `evenly` has them.

    >>> from_the_end(5)
    [4, 0, 2, 1, 3]
    """
    return list(dict.fromkeys([size - 1, *evenly(size)]))


def in_turn(lists: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the first of each list, then the second of each, and so on.

    >>> in_turn([[1, 2, 3], [4]])
    [1, 4, 2, 3]
    """
    nothing = object()
    turns = chain.from_iterable(zip_longest(*lists, fillvalue=nothing))
    return [value for value in turns if value is not nothing]

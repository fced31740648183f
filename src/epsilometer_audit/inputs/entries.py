"""Entries: what an input or a column holds, and the neighbours of it that are worth trying.

A kind of entry makes special values and pairs of neighbours: ends, the middle, missing values,
numbers just inside an end, changes in one place. They reveal wrong bounds, positions that are left
out, missing clipping and coarse floats (Casacuberta et al. 2022; Haney et al. 2022). Pairs may be
repeated, or equal. A row asks its columns, and the rows of a user ask the row. Whether two values
really are neighbours is said in `relations`, which shares no code with this module.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice, product
from typing import Any

import numpy as np

from epsilometer_audit.checks.accepted_pairs import Pair
from epsilometer_audit.checks.calls import spread

_ALL_PAIRS = 14  # numbers that have at most a hundred pairs, which are all tried
_ENDLESS = 1_000_000  # values; more are not counted
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
    """Neighbours x and x', which have different ``values`` at some ``places``.

    There is one value where a row of x is removed.
    """

    x: Any
    x_prime: Any
    places: Sequence[int]
    values: Sequence[Any]
    name: str = ""


def same(x: Any, y: Any) -> bool:
    """Tell whether two values are the same in JSON: 1 is not 1.0, and NaN is NaN."""
    return json.dumps(x) == json.dumps(y)


class Space(ABC):
    """A declared domain: it makes pairs of neighbours, which are apart in places and in values.

    There are so many ``places``, each ``place`` as a note calls it, ``count`` values, 0 if they are
    endless, and ``width`` single entries in the largest input.
    """

    places: int = 0
    place: str = "entries"
    count: int = 0
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
            yield Change(x, y, self._alone(x, y), (x, y))

    def moved(self, change: Change, rng: np.random.Generator) -> Change:
        x, y = self.near(change.x, change.x_prime, rng)
        return Change(x, y, self._alone(x, y), (x, y))

    def _alone(self, x: Any, y: Any) -> list[int]:
        """Return the place of the only entry that differs."""
        return []

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

    def near(self, x: Any, y: Any, rng: np.random.Generator) -> Pair:
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

    @property
    def count(self) -> int:  # type: ignore[override]
        last = self.upper - self.lower
        if self.clipped or not self.whole or last > _ENDLESS:
            return 0
        return int(last) + 1 + len(self.missing)

    def ranges(self) -> list[tuple[float, float]]:
        is_bit = self.whole and (self.lower, self.upper) == (0, 1)
        return [] if self.clipped or is_bit else [(self.lower, self.upper)]

    def at(self, share: float) -> float:
        low, high = self.lower, self.upper
        if share == 0:
            return low
        if share == 1:
            return high
        value = (1 - share) * low + share * high
        return self.inside(value if self.whole else float(f"{value:.4g}"))

    def others(self, rng: np.random.Generator) -> list[Any]:
        width = self.upper - self.lower
        values = [self.at(0.5), self.at(0.6)]
        if self.lower < 0 < self.upper:
            values.append(self.number(0))
        if self.clipped:
            random = [width * float(f"{10 ** (size + rng.random()):.3g}") for size in range(-3, 1)]
            far = [width * widths for widths in _FAR]
            beyond: list[float] = []
            for step in [*self._steps, *random, *far]:
                beyond += self._ends_by(step)
            values = [*beyond[:2], *values, *beyond]
        for step in self._steps:
            values += [self.inside(self.upper - step), self.inside(self.lower + step)]
        special = dict.fromkeys(value for value in values if value not in (self.low, self.high))
        return [*self.missing, *special]

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        if self.distance is None:
            yield from self._any_two(rng)
        else:
            yield from self._apart(self.distance, rng)
        numbers = self.count - len(self.missing)
        if 1 < numbers <= _ALL_PAIRS:
            values = [self.number(self.lower + i) for i in range(numbers)]
            for x, y in combinations([*values, *self.missing], 2):
                if self.distance is None or y - x <= self.distance:
                    yield x, y

    def _any_two(self, rng: np.random.Generator) -> Iterator[Pair]:
        low, high = self.low, self.high
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
        low, high, middle = self.lower, self.upper, self.at(0.5)
        half = distance // 2 if self.whole else distance / 2
        largest = 2.0 ** math.floor(math.log2(max(abs(low), abs(high))))
        starts = [0, low, high, high - distance, -distance, -half]
        for border in (largest, -largest, 1.0, -1.0):  # where floats become coarser
            starts += [border - half, border - distance, border]
        if not self.whole:
            starts += [0.5, 1 / 3, math.pi]
        starts += [middle, *_LARGE, *(low + float(rng.random()) * (high - low) for _ in range(4))]
        if self.clipped:
            starts += self.others(rng)
        for start in map(self.number, starts):
            end = self.number(start + distance)
            near = end - start <= distance * _ROUNDED  # not so where floats are coarse
            if near and (self.clipped or (low <= start and end <= high)):
                yield start, end
        for part in (half, 1 if self.whole else distance / 1000):
            if middle + part <= high:
                yield middle, self.number(middle + part)

    def near(self, x: Any, y: Any, rng: np.random.Generator) -> Pair:
        if _is_missing(x) or _is_missing(y):
            return super().near(x, y, rng)
        by = float((self.upper - self.lower) * rng.normal() * 10 ** (-2 * rng.random()))
        if self.whole:
            by = math.ceil(by)
        beyond = self.clipped and math.isfinite(x + by) and math.isfinite(y + by)
        place = self.number if beyond else self.inside
        moved, moved_prime = place(x + by), place(y + by)
        if self.distance is not None and abs(moved - moved_prime) > self.distance * _ROUNDED:
            return x, y  # floats are coarse there
        if same(x, y) or self.distance is not None:
            return moved, moved_prime
        return (x, moved_prime) if rng.random() < 0.5 else (moved, y)

    @property
    def _steps(self) -> list[float]:
        """The smallest difference of interest, and one."""
        near = 1 if self.whole else (self.upper - self.lower) / 1000
        return [self.number(near), 1]

    def _ends_by(self, step: float) -> list[float]:
        """Return numbers so far outside the upper and the lower end."""
        ends = self.upper + step, self.lower - step
        return [self.number(end) for end in ends] if all(map(math.isfinite, ends)) else []

    def number(self, value: float) -> float:
        """Return a number of the kind that inputs have."""
        return round(value) if self.whole else float(value) + 0.0  # not -0.0

    def inside(self, value: float) -> float:
        """Return the number of the range that is nearest."""
        return self.number(min(max(value, self.lower), self.upper))


def _is_missing(value: float | None) -> bool:
    return value is None or math.isnan(value)


@dataclass(frozen=True)
class Choices(Entry):
    """One of several values; any two are neighbours."""

    options: Sequence[Any]

    @property
    def count(self) -> int:  # type: ignore[override]
        return len(set(map(json.dumps, self.options)))

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
    def places(self) -> int:  # type: ignore[override]
        return len(self.columns)

    @property
    def free(self) -> bool:  # type: ignore[override]
        return all(column.free for column in self.columns)

    @property
    def width(self) -> int:  # type: ignore[override]
        return sum(column.width for column in self.columns)

    @property
    def count(self) -> int:  # type: ignore[override]
        count = 1
        for column in self.columns:
            count *= column.count
            if count > _ENDLESS:
                return 0
        return count

    def ranges(self) -> list[tuple[float, float]]:
        found: list[tuple[float, float]] = []
        for column in self.columns:
            found += column.ranges()
        return found

    def at(self, share: float) -> Any:
        return self._row([column.at(share) for column in self.columns])

    def drawn(self, rng: np.random.Generator) -> Any:
        return self._row([column.drawn(rng) for column in self.columns])

    @property
    def missing(self) -> Sequence[Any]:  # type: ignore[override]
        """Rows whose entries are missing: all that may be, then one of them."""
        chosen = [i for i in self._some if self.columns[i].missing]
        alone = [self._with(i, self.columns[i].missing[0]) for i in chosen]
        row = [column.missing[0] if column.missing else column.low for column in self.columns]
        return [self._row(row), *alone] if len(chosen) > 1 else alone

    def others(self, rng: np.random.Generator) -> list[Any]:
        """Return rows at the other end in one column, or with missing entries, then other rows."""
        ends = [self._with(i, self.columns[i].high) for i in reversed(self._some)]
        more = [self._all_with(i, self.columns[i].others(rng)) for i in self._some]
        return [*in_turn([self.missing, ends]), self.at(0.5), self.at(0.6), *in_turn(more)]

    def _all_with(self, i: int, values: Sequence[Any]) -> list[Any]:
        return [self._with(i, value) for value in values]

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield rows with the first changes of all columns at once, then of each column alone."""
        changes = [list(islice(column.pairs(rng), _TRIED)) for column in self.columns]
        for k in range(5):
            yield self._pair([pairs[k % len(pairs)] for pairs in changes])
        yield from self._one_column(self._some, changes, 0)
        for k in range(5):  # some columns rise where others fall: at first all, in turn
            mixed = []
            for i, pairs in enumerate(changes):
                change = pairs[0] if k == 0 else pairs[int(rng.integers(len(pairs)))]
                falls = (i >> max(k - 1, 0)) % 2 == 1
                mixed.append((change[1], change[0]) if falls else change)
            yield self._pair(mixed)
        for k in range(max(map(len, changes))):
            yield from self._one_column(evenly(len(changes)), changes, k)

    def _one_column(
        self, places: Sequence[int], changes: Sequence[Sequence[Pair]], k: int
    ) -> Iterator[Pair]:
        """Yield rows with change number ``k`` of one of these columns, if it has so many."""
        rest = self._values(self.at((0, 0.5, 1)[k % 3]))
        for i in places:
            if k < len(changes[i]):
                both = [(value, value) for value in rest]
                both[i] = changes[i][k]
                yield self._pair(both)

    def near(self, x: Any, y: Any, rng: np.random.Generator) -> Pair:
        """Return rows of which one column is moved, or about half of them."""
        both = list(zip(self._values(x), self._values(y), strict=True))
        chosen = rng.random(len(self.columns)) < 0.5 * rng.integers(2)
        chosen[rng.integers(len(self.columns))] = True
        for i in np.flatnonzero(chosen).tolist():
            both[i] = self.columns[i].near(*both[i], rng)
        return self._pair(both)

    def _alone(self, x: Any, y: Any) -> list[int]:
        differ = [not same(a, b) for a, b in zip(self._values(x), self._values(y), strict=True)]
        return [differ.index(True)] if sum(differ) == 1 else []

    @property
    def _some(self) -> list[int]:
        return spread(len(self.columns), _COLUMNS)

    def _with(self, i: int, value: Any) -> Any:
        row = [column.low for column in self.columns]
        row[i] = value
        return self._row(row)

    def _pair(self, both: Sequence[Pair]) -> Pair:
        return self._row([x for x, _ in both]), self._row([y for _, y in both])

    def _row(self, values: list[Any]) -> Any:
        return values if self.names is None else dict(zip(self.names, values, strict=True))

    def _values(self, row: Any) -> list[Any]:
        return list(row) if self.names is None else list(row.values())


@dataclass(frozen=True)
class Vector(Row):
    """Lists of equal numbers; neighbours are at most ``distance`` apart in a ``norm``."""

    columns: Sequence[Number]
    distance: float = 1.0
    norm: str = "L2"
    free = False

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield moves of each entry in turn, and moves of all that can move at once."""
        number, size = self.columns[0], len(self.columns)
        norm = NORMS[self.norm]
        most = size
        if number.whole and norm < math.inf:  # so many entries may move by one
            most = min(size, int(self.distance**norm))
        up, signs = np.arange(size) < most, np.resize([1.0, -1.0], size)
        halves, thirds = np.sign(size / 2 - np.arange(size) - 0.5), np.resize([1, -1, 0], size)
        both_ends = [number.low if sign > 0 else number.high for sign in signs]
        starts = [self.low, self.high, both_ends, self.drawn(rng)]
        starts += [[value] * size for value in number.others(rng)]
        alone, together = [], []
        for lap, x in enumerate(starts):
            for k, i in enumerate(from_the_end(size)):
                alone.append((starts[(k + lap) % len(starts)], np.arange(size) == i))
            if most > 1:
                together += [(x, up * move) for move in (1, signs, halves, thirds)]
                together.append((x, rng.normal(size=size)))
        for x, move in in_turn([alone, together]):
            if self._close(x, y := self._moved(x, move)):
                yield x, y

    def near(self, x: Any, y: Any, rng: np.random.Generator) -> Pair:
        moved, moved_prime = super().near(x, y, rng)
        return (moved, moved_prime) if self._close(moved, moved_prime) else (x, y)

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
            leaves = not number.clipped and not number.lower <= x + step <= number.upper
            by = -step if leaves else step
            y = x + (math.trunc(by) if number.whole else by)
            moved.append(number.number(y) if number.clipped else number.inside(y))
        return moved


@dataclass(frozen=True)
class Counts(Row):
    """Counts by key, as mappings without those that are 0.

    Neighbours differ by one in up to ``changed`` keys, and all of these are larger on one side.
    """

    columns: Sequence[Number]
    names: Sequence[str]
    changed: int = 1
    place = "keys"
    free = False

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield each key in turn with one count and another, beside different other counts."""
        places, number = from_the_end(len(self.columns)), self.columns[0]
        counts = [number.lower + i for i in evenly(int(number.upper - number.lower))]
        others = [self.high, self.low, self.at(0.5), self.drawn(rng)]
        for lap, size in product(range(_LAPS), dict.fromkeys([self.changed, 1])):
            for k in range(len(places)):
                values = self._values(others[(k + lap) % len(others)])
                more = list(values)
                for i in range(places[k], places[k] + size):
                    values[i % len(values)] = counts[(k + lap) % len(counts)]
                    more[i % len(values)] = values[i % len(values)] + 1
                yield self._row(more), self._row(values)

    def near(self, x: Any, y: Any, rng: np.random.Generator) -> Pair:
        """Return the same change beside counts of which one is moved."""
        values, values_prime = self._values(x), self._values(y)
        i = int(rng.integers(len(values)))
        values[i], values_prime[i] = self.columns[i].near(values[i], values_prime[i], rng)
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
            for some in (self.low, [self.rows.high], self._different):
                yield some, self.high
        last_x = last_y = self.rows.low
        for x, y in self.rows.pairs(rng):
            yield [x] * self.most, [y] * self.most
            if not self.free:
                yield [x], [y]
                yield [last_y, x][: self.most], [last_x, y][: self.most]
            last_x, last_y = x, y

    def near(self, x: Any, y: Any, rng: np.random.Generator) -> Pair:
        if self.free or same(x, y):
            return super().near(x, y, rng)
        moved = [self.rows.near(row, other, rng) for row, other in zip(x, y, strict=True)]
        return [row for row, _ in moved], [other for _, other in moved]

    @cached_property
    def _different(self) -> list[Any]:
        return [self.rows.at(i / max(self.most - 1, 1)) for i in range(self.most)]


def evenly(size: int) -> list[int]:
    """Return the numbers below ``size``, so that the first ones are far apart.

    >>> evenly(5)
    [0, 2, 4, 1, 3]
    """
    places: dict[int, None] = {}
    for k in range(size.bit_length() + 1):
        places |= dict.fromkeys(range(0, size, (size >> k) or 1))
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
    longest = max(map(len, lists), default=0)
    return [some[i] for i in range(longest) for some in lists if i < len(some)]

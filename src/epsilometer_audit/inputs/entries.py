"""Entries: the values of an input or of a column: numbers, choices, or several columns.

Special values reveal wrong bounds, positions that are left out, missing clipping and coarse floats
(Casacuberta et al. 2022; Haney et al. 2022). Pairs of neighbours may be repeated, or equal.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Any

import numpy as np

from epsilometer_audit.checks.accepted_pairs import Pair
from epsilometer_audit.checks.calls import spread

_SMALL = 14  # numbers, which have at most a hundred pairs
_MANY = 1_000_000  # values, of which more are like endless ones
_TRIED = 1000  # changes of an entry at most
_COLUMNS = 8  # most columns that are changed alone, evenly spaced
_FAR = (1.0, 1000.0)  # distances beyond the ends, in widths of the interval
_ROUNDED = 1 + 1e-9
_GOLDEN = (math.sqrt(5) - 1) / 2  # its multiples are evenly spread over an interval
_LARGE = (1e3, 1e6, 1e9, 1e12, 1e15)
NORMS = {"L1": 1.0, "L2": 2.0, "Linf": math.inf}


class Entry(ABC):
    """What all kinds of entries have.

    ``missing`` are missing values, ``null`` is that of a null row, ``count`` is 0 if endless.
    Neighbours are a ``distance`` apart, of vectors in a ``norm``, or any two values.
    """

    missing: Sequence[Any] = ()
    null: Any = None
    count: Any = 0
    distance: float | None = None
    norm: str | None = None

    @property
    def low(self) -> Any:
        """One end."""
        return self.at(0)

    @property
    def high(self) -> Any:
        """The other end."""
        return self.at(1)

    @property
    def relation(self) -> str:
        """Which values are neighbours."""
        if self.distance is None:
            return "any two values"
        what = "numbers" if self.norm is None else f"vectors in {self.norm}"
        return f"{what} at most {self.distance:g} apart; not: farther apart"

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
        """Return neighbours near others, and equal values if those are equal."""
        new = self.drawn(rng)
        return (new, new) if x == y else (x, new) if rng.random() < 0.5 else (new, y)


@dataclass(frozen=True)
class Number(Entry):
    """Numbers from ``lower`` to ``upper``, whole ones or all; or each ``step`` from ``lower``.

    ``clipped`` tells whether inputs may lie beyond, as the mechanism clips them.
    """

    lower: float
    upper: float
    whole: bool = False
    clipped: bool = False
    distance: float | None = None
    step: float | None = None
    missing: Sequence[Any] = ()

    def at(self, share: float) -> float:
        low, high = self.lower, self.upper
        if share in (0, 1):
            return (low, high)[int(share)]
        if self.step is not None:
            return self.inside(low + round(share * ((high - low) / self.step)) * self.step)
        value = (1 - share) * low + share * high
        return self.inside(value if self.whole else float(f"{value:.4g}"))

    def others(self, rng: np.random.Generator) -> list[Any]:
        width, sizes = self.upper - self.lower, () if self.step else (-3, -2, -1, 0)
        random = [width * float(f"{10 ** (size + rng.random()):.3g}") for size in sizes]
        steps = [*self._steps, *random] if self.clipped else self._steps
        far = [width * widths for widths in _FAR]
        beyond = [end for by in [*steps, *far] for end in self._ends_by(by) if self.clipped]
        zero = [self.null] if self.lower < 0 < self.upper else []
        inside = [self.inside(end) for by in steps for end in (self.upper - by, self.lower + by)]
        more = [*beyond[:2], self.at(0.5), self.at(0.6), *zero, *beyond, *inside]
        return [*self.missing, *(x for x in dict.fromkeys(more) if x not in (self.low, self.high))]

    @property
    def null(self) -> Any:
        return self.number(0)

    @property
    def count(self) -> int:
        steps = (self.upper - self.lower) / (1 if self.whole else self.step or math.nan)
        return round(steps) + 1 + len(self.missing) if steps <= _MANY and not self.clipped else 0

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        yield from self._any(rng) if self.distance is None else self._apart(self.distance, rng)
        if 0 < (last := self.count - 1 - len(self.missing)) < _SMALL:
            values = [self.at(i / last) for i in range(last + 1)]
            for x, y in combinations([*values, *self.missing], 2):
                if self.distance is None or y - x <= self.distance:
                    yield x, y

    def _any(self, rng: np.random.Generator) -> Iterator[Pair]:
        low, high, others = self.low, self.high, self.others(rng)
        yield low, high
        yield from ((end, x) for x in others for end in (low, high))
        if low < 0 < high:
            yield self.inside(-self._steps[0]), self.inside(self._steps[0])
        yield self.drawn(rng), self.drawn(rng)
        for i in range(1, 12, 2):
            yield self.at(i * _GOLDEN % 1), self.at((i + 1) * _GOLDEN % 1)

    def _apart(self, step: Any, rng: np.random.Generator) -> Iterator[Pair]:
        low, high, middle = self.lower, self.upper, self.at(0.5)
        half = step // 2 if self.whole else step / 2
        largest = 2.0 ** math.floor(math.log2(max(abs(low), abs(high))))
        starts = [0, low, high, high - step, -step, -half]
        for border in (largest, -largest, 1.0, -1.0):  # where floats become coarser
            starts += [border - half, border - step, border]
        starts += [] if self.whole else [0.5, 1 / 3, math.pi]
        starts += [middle, *_LARGE, *(low + float(rng.random()) * (high - low) for _ in range(4))]
        starts += self.others(rng) if self.clipped else []
        for start in map(self.number, starts):
            end = self.number(start + step)
            near = end - start <= step * _ROUNDED  # not so where floats are coarse
            if near and (self.clipped or (low <= start and end <= high)):
                yield start, end
        for part in (half, 1 if self.whole else step / 1000):
            if middle + part <= high:
                yield middle, self.number(middle + part)

    def near(self, x: Any, y: Any, rng: np.random.Generator) -> Pair:
        if x in self.missing or y in self.missing:
            return super().near(x, y, rng)
        step = self.step or (1 if self.whole else 0)
        by = (self.upper - self.lower) * rng.normal() * 10 ** (-2 * rng.random())
        by = step * math.ceil(by / step) if step else float(by)
        outside = self.clipped and math.isfinite(x + by) and math.isfinite(y + by)
        moved = [self.number(z + by) if outside else self.inside(z + by) for z in (x, y)]
        if self.distance is not None and abs(moved[0] - moved[1]) > self.distance * _ROUNDED:
            return x, y  # floats are coarse there
        if x == y or self.distance is not None:
            return moved[0], moved[1]
        return (x, moved[1]) if rng.random() < 0.5 else (moved[0], y)

    @property
    def _steps(self) -> list[float]:
        """The smallest difference of interest, and one."""
        near = self.step or (1 if self.whole else (self.upper - self.lower) / 1000)
        return [self.number(near), *[1] * (not self.step)]

    def _ends_by(self, step: float) -> list[float]:
        """Return numbers so far outside the upper and the lower end."""
        ends = self.upper + step, self.lower - step
        return [self.number(end) for end in ends] if all(map(math.isfinite, ends)) else []

    def number(self, value: float) -> float:
        return round(value) if self.whole else float(value) + 0.0  # not -0.0

    def inside(self, value: float) -> float:
        return self.number(min(max(value, self.lower), self.upper))


@dataclass(frozen=True)
class Choices(Entry):
    """One of several values; any two are neighbours."""

    options: Sequence[Any]

    @property
    def count(self) -> int:
        return len(set(map(json.dumps, self.options)))

    def at(self, share: float) -> Any:
        return self.options[min(int(share * len(self.options)), len(self.options) - 1)]

    def others(self, rng: np.random.Generator) -> list[Any]:
        return list(self.options[1:-1])

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield all pairs in the rounds of a tournament: each option has one pair in a round."""
        n = len(self.options)
        size = n - 1 + n % 2  # an odd number; the last of even options meets what is left over
        for turn, i in product(range(size), range(size)):
            j = (turn - n % 2 - i) % size
            if i < j or (i == j and size < n):
                yield self.options[i], self.options[j if i < j else -1]


@dataclass(frozen=True)
class Columns(Entry):
    """Rows of several columns, as lists, or as mappings where the columns have names."""

    columns: Sequence[Entry]
    names: Sequence[str] | None = None

    def at(self, share: float) -> Any:
        return self._row([column.at(share) for column in self.columns])

    def drawn(self, rng: np.random.Generator) -> Any:
        return self._row([column.drawn(rng) for column in self.columns])

    @property
    def null(self) -> Any:
        return self._row([column.null for column in self.columns])

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
        more = [[self._with(i, x) for x in self.columns[i].others(rng)] for i in self._some]
        return [*in_turn([self.missing, ends]), self.at(0.5), self.at(0.6), *in_turn(more)]

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield rows that differ in all columns, missing entries, a column, some, or a column."""
        each = [list(islice(column.pairs(rng), _TRIED)) for column in self.columns]
        x, y = map(list, zip(*(pairs[0] for pairs in each), strict=True))
        yield self._row(x), self._row(y)
        yield from product([self.high], self.missing[:2])
        yield from ((end, self.at(share)) for share in (0.5, 0.6) for end in (self.low, self.high))

        def alone(columns: Sequence[int], k: int) -> Iterator[Pair]:
            x = [column.at((0, 0.5, 1)[k % 3]) for column in self.columns]
            for i in columns:
                for a, b in each[i][k : k + 1]:
                    yield self._row([*x[:i], a, *x[i + 1 :]]), self._row([*x[:i], b, *x[i + 1 :]])

        yield from alone(self._some, 0)
        for k in range(5):  # some columns rise where others fall: at first all, in turn
            at = (pairs[k and int(rng.integers(len(pairs)))] for pairs in each)
            some = (pair[:: (-1) ** (i >> max(k - 1, 0))] for i, pair in enumerate(at))
            yield tuple(map(self._row, map(list, zip(*some, strict=True))))
        for k in range(max(map(len, each))):
            yield from alone(evenly(len(each)), k)

    def near(self, x: Any, y: Any, rng: np.random.Generator) -> Pair:
        """Return rows of which one column is moved, or about half of them."""
        rows = [[*(z.values() if isinstance(z, dict) else z)] for z in (x, y)]
        chosen = rng.random(len(self.columns)) < 0.5 * rng.integers(2)
        chosen[rng.integers(len(self.columns))] = True
        for i in np.flatnonzero(chosen).tolist():
            rows[0][i], rows[1][i] = self.columns[i].near(rows[0][i], rows[1][i], rng)
        return self._row(rows[0]), self._row(rows[1])

    @property
    def _some(self) -> list[int]:
        return spread(len(self.columns), _COLUMNS)

    def _with(self, i: int, value: Any) -> Any:
        row = [column.low for column in self.columns]
        return self._row([*row[:i], value, *row[i + 1 :]])

    def _row(self, values: list[Any]) -> Any:
        return values if self.names is None else dict(zip(self.names, values, strict=True))


@dataclass(frozen=True)
class Vector(Columns):
    """Lists of equal numbers; neighbours are at most ``distance`` apart in a ``norm``."""

    columns: Sequence[Number]
    distance: float | None = None
    norm: str | None = None

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield moves of each entry in turn, and moves of all, also in a random direction."""
        number, size = self.columns[0], len(self.columns)
        signs = np.resize([1.0, -1.0], size)
        in_turn = [number.low if sign > 0 else number.high for sign in signs]
        starts = [self.low, self.high, in_turn, self.drawn(rng)]
        starts += [[value] * size for value in number.others(rng)]
        places = list(dict.fromkeys([size - 1, *evenly(size)]))
        together = ((x, y) for x in starts for y in (np.ones(size), signs, rng.normal(size=size)))
        for lap, (k, i) in product(range(len(starts)), enumerate(places)):
            start = starts[(k + lap) % len(starts)]
            yield start, self._moved(start, np.arange(size) == i)
            yield from ((x, self._moved(x, move)) for x, move in islice(together, 1))

    def _moved(self, start: list[float], move: Any) -> list[float]:
        """Return a vector that is moved, into the domain where entries would leave it."""
        assert self.distance is not None
        number, moved, inside = self.columns[0], [], not self.columns[0].clipped
        move = move * (self.distance / np.linalg.norm(move, NORMS[self.norm or "L2"]))
        for x, step in zip(start, move.tolist(), strict=True):
            by = -step if inside and not number.lower <= x + step <= number.upper else step
            y = x + (math.trunc(by) if number.whole else by)
            moved.append(number.inside(y) if inside else number.number(y))
        return moved


def columns(rows: Any) -> Sequence[Any]:
    """Return the entries of rows."""
    return rows.columns if isinstance(rows, Columns) else [rows]


@dataclass(frozen=True)
class Users(Entry):
    """The rows of a user, from one row to ``most``."""

    rows: Entry
    most: int

    @property
    def missing(self) -> Sequence[Any]:  # type: ignore[override]
        return [[row] for row in self.rows.missing]

    def at(self, share: float) -> list[Any]:
        return [self.rows.at(share)] * (1 + round(share * (self.most - 1)))

    def drawn(self, rng: np.random.Generator) -> list[Any]:
        return [self.rows.drawn(rng) for _ in range(int(rng.integers(self.most)) + 1)]

    def others(self, rng: np.random.Generator) -> list[Any]:
        """Return most rows that differ, other numbers of equal rows, and other rows."""
        more = [[row] * n for row in self.rows.others(rng) for n in (self.most, 1)]
        return [self._different, [self.rows.high], self.low * self.most, *more]

    def pairs(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield few and many rows, equal and different ones, then as many other rows."""
        yield from product((self.low, [self.rows.high], self._different), [self.high])
        yield from (([x] * self.most, [y] * self.most) for x, y in self.rows.pairs(rng))

    @property
    def _different(self) -> list[Any]:
        return [self.rows.at(i / max(self.most - 1, 1)) for i in range(self.most)]


def evenly(size: int) -> list[int]:
    """Return the numbers below ``size``, so that the first ones are far apart.

    >>> evenly(5)
    [0, 2, 4, 1, 3]
    """
    steps = (size >> k or 1 for k in range(size.bit_length() + 1))
    return list(dict.fromkeys(i for step in steps for i in range(0, size, step)))


def in_turn(lists: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the first of each list, then the second of each, and so on.

    >>> in_turn([[1, 2, 3], [4]])
    [1, 4, 2, 3]
    """
    longest = max(map(len, lists), default=0)
    return [some[i] for i in range(longest) for some in lists if i < len(some)]

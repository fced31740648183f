"""Entries: the values of an input, or of a column of a row.

They are numbers, choices, bits, or several columns. Special values reveal wrong bounds, positions
that are left out, missing clipping and coarse floats (Casacuberta et al. 2022; Haney et al. 2022).
Pairs of neighbours may be repeated, or equal.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from epsilometer_audit.checks.calls import spread

Named = tuple[str, Any, Any]
"""A name, x and x'."""

_SMALL = 14  # 14 whole numbers have at most a hundred pairs
_MOST_CHOICES = 50  # most choices that are used, evenly spaced
_COLUMNS = 8  # most columns that are changed alone, evenly spaced
_FAR = (1.0, 1000.0)  # distances beyond the ends, in widths of the interval
_ROUNDED = 1 + 1e-9
_GOLDEN = (math.sqrt(5) - 1) / 2  # its multiples are evenly spread over an interval
_LARGE = (1e3, 1e6, 1e9, 1e12, 1e15)
_BORDERS = (7, 8, 31, 32, 63, 64)  # bits at which a byte or a word begins or ends


def shown(value: Any, most: int = 32) -> str:
    """Return a short text of a value.

    >>> shown(5.0), shown([0.1, "a"])
    ('5', '[0.1, "a"]')
    """
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else json.dumps(value)
    if isinstance(value, list):
        alike = len(value) > 1 and isinstance(value[0], dict) and value == [value[0]] * len(value)
        parts = f"{len(value)} times {shown(value[0])}" if alike else ", ".join(map(shown, value))
        text = f"[{parts}]"
    elif isinstance(value, dict):
        text = ", ".join(f"{key} {shown(part)}" for key, part in value.items())
    else:
        text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else f"{text[: most - 4]} ..."


class Entry(ABC):
    """What all kinds of entries have; ``missing`` are values of missing entries."""

    missing: Sequence[Any] = ()
    null: Any = None  # what takes the place of a value in a null row

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
        if distance := getattr(self, "distance", None):
            what = f"vectors in {norm}" if (norm := getattr(self, "norm", "")) else "numbers"
            return f"{what} at most {distance:g} apart; not: farther apart"
        flip = getattr(self, "flip_one", False)
        return "lists that differ in one bit; not: in several" if flip else "any two values"

    @abstractmethod
    def at(self, share: float) -> Any:
        """Return a value at a share of the way between the ends, from 0 to 1."""

    def drawn(self, rng: np.random.Generator) -> Any:
        """Return a random value."""
        return self.at(float(rng.random()))

    @abstractmethod
    def others(self) -> list[Any]:
        """Return further special values, the most useful first."""

    @abstractmethod
    def pairs(self, rng: np.random.Generator) -> Iterator[Named]:
        """Yield neighbours, the most useful first."""


@dataclass(frozen=True)
class Number(Entry):
    """Numbers from ``lower`` to ``upper``, whole ones or all; or each ``step`` from ``lower``.

    ``clipped`` tells whether inputs may lie beyond, as the mechanism clips them. Neighbours are
    ``distance`` apart; if it is None, any two numbers are neighbours.
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
            return self._inside(low + round(share * ((high - low) / self.step)) * self.step)
        value = (1 - share) * low + share * high
        return self._inside(value if self.whole else float(f"{value:.4g}"))

    def others(self) -> list[Any]:
        just = [end for step in self._steps for end in self._ends_by(step)]
        beyond = list(dict.fromkeys([*just, *self._beyond()])) if self.clipped else []
        zero = [self._number(0)] if self.lower < 0 < self.upper else []
        return [*self.missing, *beyond, self.at(0.5), self.at(0.6), *zero]

    @property
    def null(self) -> Any:
        return self._number(0)

    def pairs(self, rng: np.random.Generator) -> Iterator[Named]:
        for name, x, y in self._any(rng) if self.distance is None else self._apart(rng):
            yield f"{name}: {shown(x)} against {shown(y)}", x, y

    def _any(self, rng: np.random.Generator) -> Iterator[Named]:
        low, high, middle = self.low, self.high, self.at(0.5)
        yield "both ends", low, high
        for missing in self.missing:
            yield from (("missing", end, missing) for end in (high, low))
        if self.clipped:
            yield from self._across(rng)
        yield "lower end", low, middle
        yield "upper end", middle, high
        if self.whole and high - low < _SMALL:
            yield from (("two", x, y) for x, y in combinations(range(int(low), int(high) + 1), 2))
            return
        near = self._steps[0]
        yield "near the lower end", low, self._inside(low + near)
        yield "near the upper end", self._inside(high - near), high
        if low < 0 < high:
            yield "around 0", self._inside(-near), self._inside(near)
            yield "0 and the lower end", low, self._number(0)
            yield "0 and the upper end", self._number(0), high
        yield "two at random", self.drawn(rng), self.drawn(rng)
        for i in range(1, 12, 2):
            yield "within", self.at(i * _GOLDEN % 1), self.at((i + 1) * _GOLDEN % 1)
        yield "two at random", self.drawn(rng), self.drawn(rng)

    def _across(self, rng: np.random.Generator) -> Iterator[Named]:
        """Yield pairs on both sides of an end: far, at steps of one, and at random widths."""
        low, high, (above, below, *far) = self.low, self.high, self._beyond()
        yield "out of bounds", below, above
        yield "above the upper end", high, above
        yield "below the lower end", low, below
        for step in (*self._steps, *self._widths(rng)):
            insides = self._inside(high - step), self._inside(low + step)
            for end, inside, beyond in zip((high, low), insides, self._ends_by(step), strict=False):
                yield "just out of bounds", end, beyond
                yield "across an end", inside, beyond
        yield from (("far out of bounds", self.at(0.5), x) for x in far)

    def _widths(self, rng: np.random.Generator) -> list[float]:
        """Return random steps, from a thousandth of the width to ten widths; none on a grid."""
        width, number = self.upper - self.lower, 0 if self.step else 2
        return [width * float(f"{10 ** rng.uniform(-3, 1):.3g}") for _ in range(number)]

    def _apart(self, rng: np.random.Generator) -> Iterator[Named]:
        step: Any = self.distance
        half = step // 2 if self.whole else step / 2
        for name, x in self._starts(step, half, rng):
            start = self._number(x)
            end = self._number(start + step)
            near = end - start <= step * _ROUNDED  # not so where floats are coarse
            if self.lower <= start and end <= self.upper and near:
                yield name, start, end
        low, high, middle = self.lower, self.upper, self.at(0.5)
        for part in (half, 1 if self.whole else step / 1000):
            if middle + part <= self.upper:
                yield "nearer", middle, self._number(middle + part)
        if self.clipped:
            above, below, *_ = self._beyond()
            yield "just above the upper end", high, self._number(high + step)
            yield "just below the lower end", self._number(low - step), low
            yield "above the upper end", above, self._number(above + step)
            yield "below the lower end", self._number(below - step), below
            for width in (1, *self._widths(rng)):
                for end, side in zip(self._ends_by(width), (step, -step), strict=False):
                    yield "out of bounds", end, self._number(end + side)

    def _starts(self, step: float, half: float, rng: np.random.Generator) -> Iterator[Any]:
        """Yield the name of a position, and the smaller of two numbers there."""
        low, high = self.lower, self.upper
        yield from (("from 0", 0), ("lower end", low), ("upper end", high - step))
        yield from (("to 0", -step), ("around 0", -half))
        size = max(abs(low), abs(high))
        for power in dict.fromkeys((2.0 ** math.floor(math.log2(size)), 1.0)):
            for border in (power, -power):
                yield f"around {border:g}, where floats become coarser", border - half
                yield f"to {border:g}", border - step
                yield f"from {border:g}", border
        if not self.whole:
            yield from (("halves", 0.5), ("thirds", 1 / 3), ("of seventeen digits", math.pi))
        yield "middle", self.at(0.5)
        yield from (("large", offset) for offset in _LARGE)
        yield from (("at random", low + float(rng.random()) * (high - low)) for _ in range(4))

    def _beyond(self) -> list[float]:
        width = self.upper - self.lower
        return [end for far in _FAR for end in self._ends_by(far * width)] or [self.high, self.low]

    @property
    def _steps(self) -> list[float]:
        """The smallest difference of interest, and one."""
        near = self.step or (1 if self.whole else (self.upper - self.lower) / 1000)
        return [self._number(near), *[1] * (not self.step)]

    def _ends_by(self, step: float) -> list[float]:
        """Return numbers so far outside the upper and the lower end."""
        ends = self.upper + step, self.lower - step
        return [self._number(end) for end in ends] if all(map(math.isfinite, ends)) else []

    def _number(self, value: float) -> float:
        return round(value) if self.whole else float(value) + 0.0  # not -0.0

    def _inside(self, value: float) -> float:
        return self._number(min(max(value, self.lower), self.upper))


NORMS = {"L1": 1.0, "L2": 2.0, "Linf": math.inf}


@dataclass(frozen=True)
class Vector(Entry):
    """Lists of so many numbers; neighbours are at most ``distance`` apart in a norm."""

    number: Number
    size: int
    distance: float
    norm: str

    @property
    def null(self) -> Any:
        return [self.number.null] * self.size

    def at(self, share: float) -> list[float]:
        return [self.number.at(share)] * self.size

    def drawn(self, rng: np.random.Generator) -> list[float]:
        return [self.number.drawn(rng) for _ in range(self.size)]

    def others(self) -> list[Any]:
        return [[value] * self.size for value in self.number.others()]

    def pairs(self, rng: np.random.Generator) -> Iterator[Named]:
        """Yield vectors and moves of one entry, of all, in turn, and in a random direction."""
        first, turn = np.eye(1, self.size)[0], np.resize([1.0, -1.0], self.size)
        starts = [self.low, self.at(0.5), self.high, self.drawn(rng), *self.others()]
        for start in starts:
            direction = rng.normal(size=self.size)
            for move in (first, np.ones(self.size), turn, first[::-1], direction):
                length = float(np.linalg.norm(move, NORMS[self.norm]))
                yield _against(start, self._moved(start, move * (self.distance / length)))

    def _moved(self, start: list[float], move: Any) -> list[float]:
        """Return a vector that is moved, into the domain where entries would leave it."""
        number, inside = self.number, not self.number.clipped
        moved = []
        for x, step in zip(start, move.tolist(), strict=True):
            left = inside and not number.lower <= x + step <= number.upper
            by = -step if left else step
            y = x + (math.trunc(by) if number.whole else by)
            moved.append(number._inside(y) if inside else number._number(y))
        return moved


@dataclass(frozen=True)
class Choices(Entry):
    """One of several values; any two are neighbours."""

    options: Sequence[Any]

    def at(self, share: float) -> Any:
        return self.options[min(int(share * len(self.options)), len(self.options) - 1)]

    def drawn(self, rng: np.random.Generator) -> Any:
        return self.options[int(rng.integers(len(self.options)))]

    def others(self) -> list[Any]:
        return list(self.options[1:-1])

    def pairs(self, rng: np.random.Generator) -> Iterator[Named]:
        """Yield the first and the last, successive options, and all other pairs."""
        some = [self.options[i] for i in spread(len(self.options), _MOST_CHOICES)]
        two = sorted(combinations(range(len(some)), 2), key=lambda ij: ij[1] - ij[0])
        for i, j in [(0, len(some) - 1), *two]:
            yield _against(some[i], some[j])


@dataclass(frozen=True)
class Bits(Entry):
    """Vectors of zeros and ones; neighbours differ in one bit, or are any two vectors."""

    size: int
    flip_one: bool = True

    @property
    def null(self) -> Any:
        return self.low

    def at(self, share: float) -> list[int]:
        ones = round(share * self.size)
        return [1] * ones + [0] * (self.size - ones)

    def drawn(self, rng: np.random.Generator) -> list[int]:
        return [int(bit) for bit in rng.integers(0, 2, self.size)]

    def others(self) -> list[list[int]]:
        return [[*self.low[1:], 1], [1, *self.low[1:]], [i % 2 for i in range(self.size)]]

    def pairs(self, rng: np.random.Generator) -> Iterator[Named]:
        """Yield neighbours: the last bit, the first, then all positions."""
        n, in_turn = self.size, self.others()[-1]
        vectors = [("all zeros", self.low), ("all ones", self.high)]
        vectors += [("zeros and ones in turn", in_turn), ("random bits", self.drawn(rng))]
        if not self.flip_one:
            for (name, x), (other, y) in combinations(vectors, 2):
                yield f"{name} against {other}", x, y
            yield "ones in turn against zeros in turn", in_turn, [1 - bit for bit in in_turn]
            for _ in range(4):
                yield "random bits against others", self.drawn(rng), self.drawn(rng)
        order = dict.fromkeys([n - 1, 0, n // 2, n - 2, 1, *_BORDERS, *range(n)])
        bits = [i for i in order if 0 <= i < n]
        for some, chosen in ((bits[:2], vectors), (bits, vectors[:2]), (bits, vectors[2:])):
            for i in some:
                for name, x in chosen:
                    where = {0: "first bit", n - 1: "last bit"}.get(i, f"bit {i + 1} of {n}")
                    yield f"{where} flipped of {name}", x, [*x[:i], 1 - x[i], *x[i + 1 :]]


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
        chosen = [i for i in spread(len(self.columns), _COLUMNS) if self.columns[i].missing]
        alone = [self._with(i, self.columns[i].missing[0]) for i in chosen]
        row = [column.missing[0] if column.missing else column.low for column in self.columns]
        return [self._row(row), *alone] if len(chosen) > 1 else alone

    def others(self) -> list[Any]:
        """Return rows at the other end in one column, or with missing entries, then other rows."""
        chosen = spread(len(self.columns), _COLUMNS)
        ends = [self._with(i, self.columns[i].high) for i in reversed(chosen)]
        more = [[self._with(i, value) for value in self.columns[i].others()] for i in chosen]
        return [*in_turn([self.missing, ends]), self.at(0.5), *in_turn(more)]

    def pairs(self, rng: np.random.Generator) -> Iterator[Named]:
        """Yield rows that differ in all columns, missing entries, one column, random pairs."""
        each = [list(column.pairs(rng)) for column in self.columns]
        x, y = ([pairs[0][side] for pairs in each] for side in (1, 2))
        yield _against(self._row(x), self._row(y))
        for row in self.missing[:2]:
            yield _against(self.high, row)
        alone = [
            [[[*x[:i], end, *x[i + 1 :]] for end in ends] for _, *ends in each[i]]
            for i in spread(len(self.columns), _COLUMNS)
        ]
        for a, b in in_turn(alone):
            yield _against(self._row(a), self._row(b))
        for _ in range(4):
            some = [pairs[int(rng.integers(len(pairs)))] for pairs in each]
            yield _against(*(self._row([pair[side] for pair in some]) for side in (1, 2)))

    def _with(self, i: int, value: Any) -> Any:
        row = [column.low for column in self.columns]
        return self._row([*row[:i], value, *row[i + 1 :]])

    def _row(self, values: list[Any]) -> Any:
        return values if self.names is None else dict(zip(self.names, values, strict=True))


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

    def others(self) -> list[Any]:
        """Return most rows that differ, other numbers of equal rows, and other rows."""
        more = [[row] * n for row in self.rows.others() for n in (self.most, 1)]
        return [self._different, [self.rows.high], self.low * self.most, *more]

    def pairs(self, rng: np.random.Generator) -> Iterator[Named]:
        """Yield few and many rows, equal and different ones, then as many other rows."""
        for few in (self.low, [self.rows.high], self._different):
            yield _against(few, self.high)
        for _, x, y in self.rows.pairs(rng):
            yield _against([x] * self.most, [y] * self.most)

    @property
    def _different(self) -> list[Any]:
        return [self.rows.at(i / max(self.most - 1, 1)) for i in range(self.most)]


def _against(x: Any, y: Any) -> Named:
    return f"{shown(x)} against {shown(y)}", x, y


def in_turn(lists: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the first of each list, then the second of each, and so on.

    >>> in_turn([[1, 2, 3], [4]])
    [1, 4, 2, 3]
    """
    longest = max(map(len, lists), default=0)
    return [some[i] for i in range(longest) for some in lists if i < len(some)]

"""Tables and counts with their neighbours: combinations of lengths, rows, changes and positions.

Some faults need two conditions at once, such as an odd length and sorted rows. So any two values of
these factors occur together at least once, in few tables: a covering array, made greedily as by
Cohen et al. (1997).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from epsilometer_audit.inputs.entries import Entry, Named, Users, in_turn, shown

_SMALL = 4  # all lengths up to this are tried
_ADDED, _REPLACED = 12, 8  # different rows that are added; pairs of rows that replace each other
_POSITIONS = ("last", "first", "middle")


def covering(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield points of a grid with these numbers of levels: one factor above 0, then others.

    The others are chosen greedily until any two levels of two factors have occurred together: the
    point with the most new combinations, the smallest of equals.

    >>> list(covering([2, 2]))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    grid = sorted(product(*map(range, sizes)), key=sum)
    factors = list(combinations(range(len(sizes)), 2))
    missing = {(i, j, a, b) for i, j in factors for a in range(sizes[i]) for b in range(sizes[j])}

    def combined(point: tuple[int, ...]) -> set[tuple[int, int, int, int]]:
        return {(i, j, point[i], point[j]) for i, j in factors}

    for point in grid:
        if sum(level > 0 for level in point) <= 1:
            missing -= combined(point)
            yield point
    while missing:
        best = max(grid, key=lambda point: len(combined(point) & missing))
        missing -= combined(best)
        yield best


@dataclass(frozen=True)
class Table:
    """Tables of ``shortest`` to ``longest`` rows; neighbours differ by a row added or replaced.

    With a column ``user`` these are numbers of users, each of ``most`` rows at most, and neighbours
    differ by all rows of one user.
    """

    rows: Entry
    shortest: int
    longest: int
    replace: bool
    user: str | None = None
    most: int = 1

    def pairs(self, rng: np.random.Generator) -> Iterator[Named]:
        """Yield neighbours: a long table, then short ones and a covering array in turn."""
        least = max(self.shortest, 1) if self.replace else self.shortest + 1
        beyond = 2 ** int(math.log2(self.longest)) + 1  # where a chunk may begin
        large = [n for n in (self.longest, self.longest - 1, beyond) if least <= n <= self.longest]
        large = [n for n in dict.fromkeys(large) if n > _SMALL] or [self.longest]
        small = [n for n in range(least, min(_SMALL, self.longest) + 1) if n not in large]
        changes = self._changes(rng)
        sizes = [len(large), len(changes), len(self._others), len(_POSITIONS)]
        first, *rest = [
            (large[n], changes[change], others, _POSITIONS[position])
            for n, change, others, position in covering(sizes)
        ]
        few = product(changes[:4], range(2), small)
        tiny = [(n, change, others, "last") for change, others, n in few]
        for n, change, others, position in [first, *in_turn([tiny, rest])]:
            yield self._pair(n, change, others, position, rng)

    def _changes(self, rng: np.random.Generator) -> list[tuple[Any, Any]]:
        """Return rows to remove, or rows and their replacements."""
        rows = self._units
        if self.replace:
            return [(x, y) for _, x, y in rows.pairs(rng) if x != y][:_REPLACED]
        missing = rows.missing[:1]  # early, so that few pairs have one
        others = [row for row in rows.others()[: _ADDED - 3] if row not in missing]
        removed = [rows.high, *missing, rows.low, *others, rows.drawn(rng)]
        return [(row, None) for row in removed]

    @property
    def _units(self) -> Entry | Users:
        return self.rows if self.user is None else Users(self.rows, self.most)

    @property
    def _others(self) -> list[str]:
        rows = self._units
        low, high = shown(rows.low, 20), shown(rows.high, 20)
        fillings = [low, high, f"from {low} to {high}", f"{low} and {high} in turn", "at random"]
        for row in rows.missing[:1]:
            missing = shown(row, 20)
            fillings += [f"{missing} and {high} in turn", f"{missing}, then {high}", missing]
        return fillings

    def _filled(self, others: int, n: int, rng: np.random.Generator) -> list[Any]:
        rows = self._units
        ends = rows.low, rows.high
        if others < 2:
            return [ends[others]] * n
        if others == 2:
            return [rows.at(i / max(n - 1, 1)) for i in range(n)]
        if others > 4:
            every = (2, n, 1)[others - 5]
            return [rows.high if i % every else rows.missing[0] for i in range(n)]
        return [ends[i % 2] if others == 3 else rows.drawn(rng) for i in range(n)]

    def _pair(
        self, n: int, change: tuple[Any, Any], others: int, position: str, rng: np.random.Generator
    ) -> Named:
        row, other = change
        rest = self._filled(others, n - 1, rng)
        i = {"first": 0, "middle": (n - 1) // 2, "last": n - 1}[position]
        x = [*rest[:i], row, *rest[i:]]
        y = [*rest[:i], other, *rest[i:]] if self.replace else rest
        change_text = f"replaced by {shown(other)}" if self.replace else "removed"
        kind = "row" if self.user is None else "user"
        where = f"{position} of {n} {kind}s, others {self._others[others]}"
        name = f"{shown(row)} {change_text}, {where if n > 1 else f'the only {kind}'}"
        if self.user is None:
            return name, x, y
        users = list(range(1, n + 1))
        both = (x, users), (y, users if self.replace else [*users[:i], *users[i + 1 :]])
        x, y = (
            [{self.user: user, **row} for user, own in zip(ids, side, strict=True) for row in own]
            for side, ids in both
        )
        return name, x, y


@dataclass(frozen=True)
class Counts:
    """Counts of each key, from ``low`` to ``high``; a key of count 0 is left out.

    Neighbours differ by one in a key, or in up to ``changed`` keys.
    """

    keys: Sequence[str]
    low: int
    high: int
    changed: int = 1

    def pairs(self, rng: np.random.Generator) -> Iterator[Named]:
        """Yield counts that differ by one in one key, first with a new key."""
        last = len(self.keys) - 1
        keys = [self.keys[i] for i in dict.fromkeys([last, 0, last // 2])]
        starts = dict.fromkeys([self.low, self.high - 1, (self.low + self.high) // 2])
        fewer = [start for start in starts if start < self.high]
        sizes = dict.fromkeys([self.changed, 1])
        for i, j, rest, size in covering([len(keys), len(fewer), 4, len(sizes)]):
            key, count, number = keys[i], fewer[j], list(sizes)[size]
            text, others = self._others(rest, rng)
            start = self.keys.index(key)
            changed = [*self.keys, *self.keys][start : start + number]
            x, y = ({**others, **dict.fromkeys(changed, n)} for n in (count + 1, count))
            before = "without it" if count == 0 else f"against {count}"
            more = f" and of {number - 1} more" if number > 1 else ""
            name = f"{count + 1} of {shown(key)}{more} {before}, others {text}"
            yield name, self._present(x), self._present(y)

    def _others(self, which: int, rng: np.random.Generator) -> tuple[str, dict[str, int]]:
        if which == 3:
            drawn = rng.integers(self.low, self.high + 1, len(self.keys)).tolist()
            return "at random", dict(zip(self.keys, drawn, strict=True))
        each = (self.high, self.low, math.ceil((self.low + self.high) / 2))[which]
        return str(each), dict.fromkeys(self.keys, each)

    @staticmethod
    def _present(counts: dict[str, int]) -> dict[str, int]:
        return {key: count for key, count in counts.items() if count}

"""Tables and counts beside their neighbours: lengths, other rows, changed rows and places together.

A fault needs at times two things at once, as an odd length and rows in an order of their own. So
any two of these are put together at least once, in few tables: a covering array, made greedily as
by Cohen et al. (1997).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from epsilometer.auditing.inputs.entries import Entry, Named, in_turn, shown

_SMALL = 4  # rows of tables that are all tried
_ADDED, _REPLACED = 12, 8  # rows that are added; pairs of rows that replace each other
_PLACES = ("last", "first", "middle")


def covering(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield points of a grid of so many levels: 0, points beside it, then a covering array.

    These differ from 0 in one factor. The others are chosen until any two levels of two factors
    have been together: always the one with most that is new, the smallest of equals.

    >>> list(covering([2, 2]))
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    grid = sorted(product(*map(range, sizes)), key=sum)
    factors = list(combinations(range(len(sizes)), 2))
    missing = {(i, j, a, b) for i, j in factors for a in range(sizes[i]) for b in range(sizes[j])}

    def met(point: tuple[int, ...]) -> set[tuple[int, int, int, int]]:
        return {(i, j, point[i], point[j]) for i, j in factors}

    for point in grid:
        if sum(level > 0 for level in point) <= 1:
            missing -= met(point)
            yield point
    while missing:
        best = max(grid, key=lambda point: len(met(point) & missing))
        missing -= met(best)
        yield best


@dataclass(frozen=True)
class Table:
    """Tables of ``shortest`` to ``longest`` rows; neighbours have a row more, or another one."""

    rows: Entry
    shortest: int
    longest: int
    replace: bool

    def pairs(self, rng: np.random.Generator) -> Iterator[Named]:
        """Yield neighbours: a long table, the shortest, then all combinations of any two things."""
        least = max(self.shortest, 1) if self.replace else self.shortest + 1
        beyond = 2 ** int(math.log2(self.longest)) + 1  # where a chunk may begin
        large = [n for n in (self.longest, self.longest - 1, beyond) if least <= n <= self.longest]
        large = [n for n in dict.fromkeys(large) if n > _SMALL] or [self.longest]
        small = [n for n in range(least, min(_SMALL, self.longest) + 1) if n not in large]
        changes = self._changes(rng)
        first, *rest = [
            (large[n], changes[change], others, _PLACES[place])
            for n, change, others, place in covering(
                [len(large), len(changes), len(self._others), len(_PLACES)]
            )
        ]
        few = product(range(min(len(changes), 4)), range(2), small)
        tiny = [(n, changes[change], others, "last") for change, others, n in few]
        for n, change, others, place in [first, *in_turn([tiny, rest])]:
            yield self._pair(n, change, others, place, rng)

    def _changes(self, rng: np.random.Generator) -> list[tuple[Any, Any]]:
        """Return rows that may be removed, or rows and what replaces them."""
        rows = self.rows
        if self.replace:
            return [(x, y) for _, x, y in rows.pairs(rng) if x != y][:_REPLACED]
        found = [rows.high, rows.low, *rows.others()[: _ADDED - 3], rows.drawn(rng)]
        return [(row, None) for row in found]

    @property
    def _others(self) -> list[str]:
        low, high = shown(self.rows.low, 20), shown(self.rows.high, 20)
        return [low, high, f"from {low} to {high}", f"{low} and {high} in turn", "at random"]

    def _filled(self, others: int, n: int, rng: np.random.Generator) -> list[Any]:
        rows = self.rows
        if others < 2:
            return [(rows.low, rows.high)[others]] * n
        if others == 2:
            return [rows.at(i / max(n - 1, 1)) for i in range(n)]
        if others == 3:
            return [(rows.low, rows.high)[i % 2] for i in range(n)]
        return [rows.drawn(rng) for _ in range(n)]

    def _pair(
        self, n: int, change: tuple[Any, Any], others: int, place: str, rng: np.random.Generator
    ) -> Named:
        row, other = change
        rest = self._filled(others, n - 1, rng)
        i = {"first": 0, "middle": (n - 1) // 2, "last": n - 1}[place]
        x = [*rest[:i], row, *rest[i:]]
        y = [*rest[:i], other, *rest[i:]] if self.replace else rest
        what = (
            f"{shown(row)} replaced by {shown(other)}" if self.replace else f"{shown(row)} removed"
        )
        where = f"{place} of {n} rows, others {self._others[others]}" if n > 1 else "the only row"
        return f"{what}, {where}", x, y


@dataclass(frozen=True)
class Counts:
    """How often each key is there, ``low`` to ``high`` times; a key that is not is left out."""

    keys: Sequence[str]
    low: int
    high: int

    def pairs(self, rng: np.random.Generator) -> Iterator[Named]:
        """Yield counts of which one is larger by one, first such that a key is new."""
        last = len(self.keys) - 1
        places = list(dict.fromkeys([last, 0, last // 2]))
        starts = list(dict.fromkeys([self.low, self.high - 1, (self.low + self.high) // 2]))
        starts = [start for start in starts if start < self.high]
        for place, start, rest in covering([len(places), len(starts), 4]):
            key, fewer = self.keys[places[place]], starts[start]
            words, others = self._others(rest, rng)
            there, more = others | {key: fewer}, others | {key: fewer + 1}
            before = "without it" if fewer == 0 else f"against {fewer}"
            name = f"{fewer + 1} of {shown(key)} {before}, others {words}"
            yield name, self._present(more), self._present(there)

    def _others(self, which: int, rng: np.random.Generator) -> tuple[str, dict[str, int]]:
        if which == 3:
            drawn = rng.integers(self.low, self.high + 1, len(self.keys)).tolist()
            return "at random", dict(zip(self.keys, drawn, strict=True))
        each = (self.high, self.low, math.ceil((self.low + self.high) / 2))[which]
        return str(each), dict.fromkeys(self.keys, each)

    @staticmethod
    def _present(counts: dict[str, int]) -> dict[str, int]:
        return {key: count for key, count in counts.items() if count}

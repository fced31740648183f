"""Tables and counts with their neighbours: combinations of lengths, rows, changes and positions.

Some faults need two conditions at once, such as an odd length and sorted rows. So any two values of
these factors occur together at least once, in few tables: a covering array, made greedily as by
Cohen et al. (1997). It has the first, middle and last position and the first changes of a row. Each
other position and each other change has a pair, too; what has none is noted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, cycle, product
from typing import Any

import numpy as np

from epsilometer_audit.inputs.entries import Entry, Named, Users, columns, in_turn, shown

_SMALL = 4  # all lengths up to this are tried
_ADDED, _REPLACED = 12, 6  # different rows that are added; pairs of rows that replace each other
Filling = tuple[str, Callable[[int, Any, Any], list[Any]]]  # its name, and rows beside a change
_POSITIONS: dict[str, Callable[[int], int]] = {  # in a table of n rows
    "last": lambda n: n - 1,
    "first": lambda _: 0,
    "middle": lambda n: (n - 1) // 2,
}


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
    differ by all rows of one user. With a ``null`` row, in a list, this is what replaces a row.
    """

    rows: Entry
    shortest: int
    longest: int
    replace: bool
    any_order: bool = False
    null: Sequence[Any] = ()
    user: str | None = None
    most: int = 1
    left: dict[str, tuple[set[int], int]] = field(default_factory=dict)
    """Positions and changes that no pair has so far, and the number of all."""

    @property
    def relation(self) -> str:
        """How neighbours differ, and how not."""
        unit = "a row" if self.user is None else "all rows of a user"
        near = any(getattr(column, "distance", None) for column in columns(self.rows))
        replaced = f"{unit} replaced{' by one at most as far as declared' * near}"
        usual = [replaced, f"{unit} added or removed"]
        own = usual[not self.replace]
        if self.null:
            own = f"a row replaced by a null row, {shown(self.null[0])}"
        others = [
            text for text in (*usual, *["another order"] * (not self.any_order)) if text != own
        ]
        order = "any" if self.any_order else "the same"
        return f"tables with {own}, in {order} order; not: {', '.join(others)}"

    def untried(self) -> list[str]:
        """Return a note on the positions and changes that no pair has, if there are any."""
        counts = [f"{len(left)} of {n} {name}" for name, (left, n) in self.left.items() if left]
        text = f"{' and '.join(counts)} of a {self._unit} were not tried; a larger limit tries more"
        return [text] * bool(counts)

    def pairs(self, rng: np.random.Generator) -> Iterator[Named]:
        """Yield neighbours: a long table, then new positions, short tables, and others in turn."""
        n, units = self.longest, Users(self.rows, self.most) if self.user else self.rows
        least = max(self.shortest, 1) if self.replace else self.shortest + 1
        beyond = 2 ** int(math.log2(n)) + 1  # where a chunk may begin
        large = [k for k in dict.fromkeys((n, n - 1, beyond)) if max(least, _SMALL + 1) <= k <= n]
        large = large or [n]
        small = [k for k in range(least, min(_SMALL, n) + 1) if k not in large]
        changes, fillings = self._changes(units, rng), self._fillings(units, rng)
        orders: Iterator[tuple[str, Callable[[list[Any]], list[Any]]]] = cycle(
            [
                ("in reverse order", lambda rows: rows[::-1]),
                ("the last row first", lambda rows: [*rows[-1:], *rows[:-1]]),
                ("in random order", lambda rows: [rows[i] for i in rng.permutation(len(rows))]),
                ("in this order", lambda rows: rows),
            ]
        )
        known = min(len(changes), _REPLACED if self.replace else _ADDED)
        usual = list(_POSITIONS.values())
        first, *rest = [
            (large[k], change, fillings[others], usual[position](large[k]))
            for k, change, others, position in covering([len(large), known, len(fillings), 3])
        ]
        few = product(range(known)[:4], fillings[:2], small)
        tiny = [(k, change, others, k - 1) for change, others, k in few]
        at = dict.fromkeys(i for k in range(n.bit_length() + 1) for i in range(0, n, n >> k or 1))
        self.left["positions"] = set(at), n
        self.left["changes"] = set(range(len(changes))), len(changes)
        others_at = [i for i in at if i not in {position(n) for position in usual}]
        positions = [(n, 0, fillings[0], i) for i in others_at]
        more = [(n, i, fillings[-1], n - 1) for i in range(known, len(changes))]
        new = in_turn([positions, more])
        for size, change, some, i in [first, *in_turn([tiny, rest, new[::2], new[1::2]])]:
            if size == n:
                self.left["positions"][0].discard(i)
            self.left["changes"][0].discard(change)
            name, x, y = self._pair(size, changes[change], some, i)
            if self.any_order:
                title, order = next(orders)
                name, y = f"{name}, {title}", order(y)
            yield name, x, y

    def _changes(self, rows: Entry, rng: np.random.Generator) -> list[tuple[Any, Any]]:
        """Return rows to remove, or rows and their replacements."""
        if self.replace and not self.null:
            changes: dict[Any, tuple[Any, Any]] = {}
            for _, x, y in rows.pairs(rng):
                if x != y:
                    changes.setdefault(frozenset(map(json.dumps, (x, y))), (x, y))
            return list(changes.values())
        missing = rows.missing[:1]  # early, so that few pairs have one
        others = [row for row in rows.others() if row not in missing]
        few = others[: _ADDED - 3 - len(missing)]
        removed = [rows.high, *missing, rows.low, *few, rows.drawn(rng), *others[len(few) :]]
        other = self.null[0] if self.null else None
        return [(row, other) for row in removed if not self.null or row != other]

    @property
    def _unit(self) -> str:
        return "user" if self.user else "row"

    def _fillings(self, rows: Entry, rng: np.random.Generator) -> list[Filling]:
        """Return what the other rows may be."""
        low, high = rows.low, rows.high
        a, b = shown(low, 20), shown(high, 20)
        fillings: list[Filling] = [
            (a, lambda n, *_: [low] * n),
            (b, lambda n, *_: [high] * n),
            (f"from {a} to {b}", lambda n, *_: [rows.at(i / max(n - 1, 1)) for i in range(n)]),
            (f"{a} and {b} in turn", lambda n, *_: [(low, high)[i % 2] for i in range(n)]),
            ("at random", lambda n, *_: [rows.drawn(rng) for _ in range(n)]),
        ]
        if self.any_order:
            half = (f"{a}, then {b}", lambda n, *_: [low] * (n // 2) + [high] * (n - n // 2))
            fillings.insert(0, half)
        if rows.missing:
            gap = rows.missing[0]
            c = shown(gap, 20)
            fillings += [
                (f"{c} and {b} in turn", lambda n, *_: [(gap, high)[i % 2] for i in range(n)]),
                (f"{c}, then {b}", lambda n, *_: [gap, *[high] * (n - 1)][:n]),
                (c, lambda n, *_: [gap] * n),
            ]
        if self.replace and not self.null:
            both: Filling = ("both in turn", lambda n, *own: [own[i % 2] for i in range(n)])
            return [*fillings, ("like the other", lambda n, _, other: [other] * n), both]
        fillings.append(("like it", lambda n, row, _: [row] * n))
        return fillings

    def _pair(self, n: int, change: tuple[Any, Any], others: Filling, i: int) -> Named:
        row, other = change
        rest = others[1](n - 1, row, other)
        names = {place(n): name for name, place in reversed(_POSITIONS.items())}
        x, y = [*rest[:i], row, *rest[i:]], rest
        text = "removed"
        if self.replace:
            y = [*rest[:i], other, *rest[i:]]
            text = f"replaced by {'a null row, ' if self.null else ''}{shown(other)}"
        where = f"{names.get(i, f'number {i + 1}')} of {n} {self._unit}s, others {others[0]}"
        name = f"{shown(row)} {text}, {where if n > 1 else f'the only {self._unit}'}"
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
    """Counts of each key, from a lower to an upper end; a key of count 0 is left out.

    Neighbours differ by one in a key, or in up to ``changed`` keys.
    """

    keys: Sequence[str]
    ends: tuple[int, int]
    changed: int = 1

    @property
    def relation(self) -> str:
        """How neighbours differ, and how not."""
        keys = "one key" if self.changed == 1 else f"up to {self.changed} keys, all on one side"
        return f"counts that are larger by 1 in {keys}; not: in more keys, or by more"

    def pairs(self, rng: np.random.Generator) -> Iterator[Named]:
        """Yield counts that differ by one in one key, first with a new key."""
        keys, n, (low, high) = [*self.keys, *self.keys], len(self.keys), self.ends
        firsts = list(dict.fromkeys([n - 1, 0, (n - 1) // 2]))
        starts = [k for k in dict.fromkeys([low, high - 1, (low + high) // 2]) if k < high]
        sizes = list(dict.fromkeys([self.changed, 1]))
        each = high, low, math.ceil((low + high) / 2)
        for i, j, rest, size in covering([len(firsts), len(starts), 4, len(sizes)]):
            first, count, number = firsts[i], starts[j], sizes[size]
            text, others = ("at random", []) if rest == 3 else (str(each[rest]), [each[rest]] * n)
            others = others or rng.integers(low, high + 1, n).tolist()
            own, changed = dict(zip(keys, others, strict=False)), keys[first : first + number]
            both = (own | dict.fromkeys(changed, count + new) for new in (1, 0))
            x, y = ({key: k for key, k in side.items() if k} for side in both)
            before = "without it" if count == 0 else f"against {count}"
            more = f" and of {number - 1} more" if number > 1 else ""
            yield f"{count + 1} of {shown(keys[first])}{more} {before}, others {text}", x, y

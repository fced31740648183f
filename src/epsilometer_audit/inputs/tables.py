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
from itertools import combinations, cycle, islice, product
from typing import Any

import numpy as np

from epsilometer_audit.checks.accepted_pairs import Pair
from epsilometer_audit.formats import input_text
from epsilometer_audit.inputs.entries import Entry, Users, columns, evenly, in_turn
from epsilometer_audit.inputs.neighbours import Named

_SMALL = 4  # all lengths up to this are tried
_ADDED, _REPLACED = 12, 6  # different rows that are added; pairs of rows that replace each other
_TRIED = 1000  # changes of a row, of which each has a pair if the limit allows it
_LETTERS = 40  # of a row in a name
Filling = tuple[str, Callable[[int, Any, Any], list[Any]]]  # its name, and rows beside a change
_POSITIONS: dict[str, Callable[[int], int]] = {  # in a table of n rows
    "last": lambda n: n - 1,
    "first": lambda _: 0,
    "middle": lambda n: (n - 1) // 2,
}


def covering(*factors: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield combinations of levels of factors: one is not its first level, then others.

    The others are chosen greedily until any two levels of two factors have occurred together: the
    combination with the most new pairs, the first of equals.

    >>> list(covering("ab", [1, 2]))
    [('a', 1), ('a', 2), ('b', 1), ('b', 2)]
    """
    grid = sorted(product(*(range(len(levels)) for levels in factors)), key=sum)

    def pairs(point: tuple[int, ...]) -> set[tuple[tuple[int, int], ...]]:
        return set(combinations(enumerate(point), 2))

    points = [point for point in grid if sum(level > 0 for level in point) <= 1]
    missing = set[tuple[tuple[int, int], ...]]().union(*map(pairs, grid))
    missing = missing.difference(*map(pairs, points))
    while missing:
        points.append(max(grid, key=lambda point: len(pairs(point) & missing)))
        missing -= pairs(points[-1])
    for point in points:
        yield tuple(levels[i] for levels, i in zip(factors, point, strict=True))


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
    def near(self) -> bool:
        """Whether a row is replaced by one at a distance."""
        return any(each.distance is not None for each in (self.rows, *columns(self.rows)))

    @property
    def relation(self) -> str:
        """How neighbours differ, and how not."""
        unit = "all rows of a user" if self.user else "a row"
        near = " by one at most as far as declared" * self.near
        usual = [f"{unit} replaced{near}", f"{unit} added or removed"]
        own, order = usual[not self.replace], "any" if self.any_order else "the same"
        if self.null:
            own = f"a row replaced by a null row, {input_text(self.null[0], _LETTERS)}"
        others = [text for text in usual if text != own] + ["another order"] * (order != "any")
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
        known = range(min(len(changes), _REPLACED if self.replace else _ADDED))
        first, *rest = [
            (k, change, others, position(k))
            for k, change, others, position in covering(
                large, known, fillings, [*_POSITIONS.values()]
            )
        ]
        tiny = [(k, *both, k - 1) for *both, k in product(known[:4], fillings[:2], small)]
        at = evenly(n)
        self.left["positions"] = set(at), n
        self.left["changes"] = set(range(len(changes))), len(changes)
        usual = {position(n) for position in _POSITIONS.values()}
        positions = [(n, 0, fillings[0], i) for i in at if i not in usual]
        more = [(n, i, fillings[-1], n - 1) for i in range(len(known), len(changes))]
        new, orders = in_turn([positions, more]), cycle(("reverse", "random", "this"))
        for size, change, some, i in [first, *in_turn([tiny, rest, new[::2], new[1::2]])]:
            if size == n:
                self.left["positions"][0].discard(i)
            self.left["changes"][0].discard(change)
            name, x, y = self._pair(size, changes[change], some, i)
            if self.any_order:
                order = next(orders)
                places = rng.permutation(len(y)) if order == "random" else range(len(y))
                y = [y[place] for place in places[:: -1 if order == "reverse" else 1]]
                name = f"{name}, in {order} order"
            yield name, x, y

    def _changes(self, rows: Entry, rng: np.random.Generator) -> list[Pair]:
        """Return rows to remove, or rows and their replacements."""
        if self.replace and not self.null:
            changes: dict[Any, Pair] = {}
            for pair in islice(rows.pairs(rng), _TRIED):
                if pair[0] != pair[1]:
                    changes.setdefault(frozenset(map(json.dumps, pair)), pair)
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

        def turns(*values: Any) -> Filling:
            name = " and ".join(input_text(value, 20) for value in values)
            name += " in turn" * (len(values) > 1)
            return name, lambda n, *_: [values[i % len(values)] for i in range(n)]

        fillings: list[Filling] = [
            turns(low),
            turns(high),
            ("rising", lambda n, *_: [rows.at(i / max(n - 1, 1)) for i in range(n)]),
            turns(low, high),
            ("at random", lambda n, *_: [rows.drawn(rng) for _ in range(n)]),
        ]
        if self.any_order:
            half: Filling = ("two halves", lambda n, *_: [low] * (n // 2) + [high] * (n - n // 2))
            fillings.insert(0, half)
        if rows.missing:
            fillings += [turns(rows.missing[0], high), turns(rows.missing[0])]
        if self.replace and not self.null:
            both: Filling = ("both in turn", lambda n, *own: [own[i % 2] for i in range(n)])
            return [*fillings, ("like the other", lambda n, _, other: [other] * n), both]
        return [*fillings, ("like it", lambda n, row, _: [row] * n)]

    def _pair(self, n: int, change: Pair, others: Filling, i: int) -> Named:
        row, other = change
        rest = others[1](n - 1, row, other)
        names = {place(n): name for name, place in reversed(_POSITIONS.items())}
        x, y = [*rest[:i], row, *rest[i:]], rest
        text = "removed"
        if self.replace:
            y = [*rest[:i], other, *rest[i:]]
            null = "a null row, " if self.null else ""
            text = f"replaced by {null}{input_text(other, _LETTERS)}"
        where = f"{names.get(i, f'number {i + 1}')} of {n} {self._unit}s, others {others[0]}"
        where = where if n > 1 else f"the only {self._unit}"
        name = f"{input_text(row, _LETTERS)} {text}, {where}"
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
        n, (low, high) = len(self.keys), self.ends
        firsts = list(dict.fromkeys([n - 1, 0, (n - 1) // 2]))
        starts = [k for k in dict.fromkeys([low, high - 1, (low + high) // 2]) if k < high]
        sizes, rest = list(dict.fromkeys([self.changed, 1])), (high, low, (low + high + 1) // 2)
        for first, count, other, size in covering(firsts, starts, (*rest, None), sizes):
            others = rng.integers(low, high + 1, n).tolist() if other is None else [other] * n
            changed = [*self.keys, *self.keys][first : first + size]
            own = dict(zip(self.keys, others, strict=True))
            both = (own | dict.fromkeys(changed, count + new) for new in (1, 0))
            x, y = ({key: k for key, k in side.items() if k} for side in both)
            text = "at random" if other is None else other
            yield f"{count + 1} of {', '.join(changed)} against {count}, others {text}", x, y

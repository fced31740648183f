"""Tables with their neighbours: combinations of lengths, rows, changes and positions.

Some faults need two conditions at once, such as an odd length and sorted rows. So any two values of
these factors occur together at least once, in few tables: a covering array, made greedily as by
Cohen et al. (1997). It has some positions and the first changes of a row. Before, in the longest
table, each position and each change has a pair.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, cycle, groupby, islice, product
from operator import itemgetter
from typing import Any

import numpy as np

from epsilometer_audit.checks.accepted_pairs import Pair
from epsilometer_audit.formats import input_text
from epsilometer_audit.inputs.entries import (
    Change,
    Entry,
    Space,
    Users,
    from_the_end,
    in_turn,
    same,
)

_SMALL = 4  # all lengths up to this are tried
_COVERED = 7  # changes of a row that have a pair with each length, filling and place
_TRIED = 1000  # changes of a row
_LETTERS = 40  # of a row in a name
_PLACES = (1, 0, 0.5, 0.25, 0.75)  # of a changed row in a table


@dataclass(frozen=True)
class Filling:
    """The other rows of a table: ``rows`` makes so many, beside a row and what replaces it."""

    name: str
    rows: Callable[[int, Any, Any], list[Any]]


def covering(*factors: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield combinations of levels of factors, until any two levels of two have occurred together.

    Each is the combination with the most new pairs, any of equals.

    >>> sorted(covering("ab", [1, 2]))
    [('a', 1), ('a', 2), ('b', 1), ('b', 2)]
    """
    sizes = [len(levels) for levels in factors]
    grid = np.random.default_rng(0).permutation([*product(*map(range, sizes))]).T
    two = combinations(range(len(sizes)), 2)
    missing = {(i, j): np.ones((sizes[i], sizes[j]), int) for i, j in two}
    while any(left.any() for left in missing.values()):
        new = sum(left[grid[i], grid[j]] for (i, j), left in missing.items())
        point = grid[:, np.argmax(new)]
        for (i, j), left in missing.items():
            left[point[i], point[j]] = 0
        yield tuple(levels[i] for levels, i in zip(factors, point, strict=True))


@dataclass(frozen=True)
class Table(Space):
    """Tables of ``shortest`` to ``longest`` rows; neighbours differ by a row added or replaced.

    With a column ``user`` these are numbers of users, each of ``most`` rows at most, and neighbours
    differ by all rows of one user.
    """

    rows: Entry
    shortest: int
    longest: int
    replace: bool
    any_order: bool = False
    user: str | None = None
    most: int = 1

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.longest * self.unit.width

    @property
    def places(self) -> int:  # type: ignore[override]
        return self.longest

    @property
    def place(self) -> str:  # type: ignore[override]
        return f"positions of a {'row' if self.user is None else 'user'}"

    @property
    def count(self) -> int:  # type: ignore[override]
        return self.unit.count

    def ranges(self) -> list[tuple[float, float]]:
        return self.rows.ranges()

    @property
    def unit(self) -> Entry:
        """What neighbours differ by: a row, or the rows of a user."""
        return self.rows if self.user is None else Users(self.rows, self.most)

    def changes(self, rng: np.random.Generator) -> Iterator[Change]:
        """Yield neighbours: each position and change of a long table, beside other tables."""
        n = self.longest
        changes = self._changes(rng)
        if not changes:
            return
        early, fillings = self._fillings(rng)
        positions = from_the_end(n)
        long = []
        for k in range(max(n, len(changes) + self.replace)):
            lap, change = divmod(max(k - self.replace, 0), len(changes))
            end = k if self.replace else change  # the first changes are beside rows at an end
            others = fillings[end] if end < 2 else early[(lap + change) % len(early)]
            long.append((n, changes[change], others, positions[k % n]))
        covered: list[Any] = []
        shorter: list[Any] = []
        for size, row, others, place in covering(
            self._sizes(), changes[:_COVERED], fillings, _PLACES
        ):
            factors = size, row, others, round(place * (size - 1))
            (shorter if size < n else covered).append(factors)
        orders = cycle(("reverse", "random", "this"))
        for size, row, others, place in [*in_turn([long, shorter]), *covered]:
            rest = others.rows(size - 1, *row)
            yield self._changed(row, others.name, rest, place, next(orders), rng)

    def moved(self, change: Change, rng: np.random.Generator) -> Change:
        """Return neighbours near others: of another change, place, row beside it, or equal rows."""
        (i,), row, other = change.places, change.values[0], change.values[-1]
        unit, units = self.unit, self._units(change.x)
        rest = [*units[:i], *units[i + 1 :]]
        move = rng.integers(4)
        if move == 0 or not rest:
            row, other = unit.near(row, other, rng)
            if self.replace and same(row, other):
                return change
        elif move == 1:
            j = int(rng.integers(len(rest)))
            rest[j] = unit.near(rest[j], rest[j], rng)[0]
        elif move == 2:
            moved = unit.near(rest[0], rest[0], rng)[0]
            alike = [row, other, moved][rng.integers(3)]
            rest = [alike] * len(rest)
        else:
            i = int(rng.integers(len(units)))
        return self._changed((row, other), "changed", rest, i, "random", rng)

    def _sizes(self) -> list[int]:
        """Return the lengths that tables with a changed row have: the longest, odd, even, short."""
        n = self.longest
        least = max(self.shortest, 1) if self.replace else self.shortest + 1
        beyond = 2 ** int(math.log2(n)) + 1  # where a chunk may begin
        sizes = dict.fromkeys([n, n - 1, beyond, *range(_SMALL + 1)])
        return [size for size in sizes if least <= size <= n]

    def _changes(self, rng: np.random.Generator) -> list[Pair]:
        """Return rows and their replacements, or rows to remove."""
        unit = self.unit
        if self.replace:
            changes: dict[Any, Pair] = {}
            for pair in islice(unit.pairs(rng), _TRIED):
                if not same(*pair):
                    changes.setdefault(frozenset(map(json.dumps, pair)), pair)
            return list(changes.values())
        missing = unit.missing[:1]  # early, so that few pairs have one
        others = [row for row in unit.others(rng) if row not in missing]
        return [(row, None) for row in [unit.high, unit.low, *missing, *others, unit.drawn(rng)]]

    def _fillings(self, rng: np.random.Generator) -> tuple[list[Filling], list[Filling]]:
        """Return the other rows for all changes and positions, and all that they may be."""
        rows = self.unit
        ends, mixed = [_turns(rows.low), _turns(rows.high)], self._mixed(rng)
        equal = [_turns(rows.at(0.5)), Filling("like it", lambda n, row, _: [row] * n)]
        gaps = []
        for value in rows.missing[:1]:
            gaps = [_turns(value, rows.high), _turns(value)]
        if self.replace:
            return _BESIDE_TWO, [*ends, *_BESIDE_TWO, *equal, *mixed, *gaps]
        return [*ends, *mixed], [*ends, *equal, *mixed, *gaps]

    def _mixed(self, rng: np.random.Generator) -> list[Filling]:
        """Return other rows that differ among themselves."""
        rows = self.unit
        low, high = rows.low, rows.high
        mixed = [
            Filling("rising", lambda n, *_: [rows.at(i / max(n - 1, 1)) for i in range(n)]),
            _turns(low, high),
            Filling("at random", lambda n, *_: [rows.drawn(rng) for _ in range(n)]),
        ]
        if self.any_order:
            halves = Filling("two halves", lambda n, *_: [low] * (n // 2) + [high] * (n - n // 2))
            mixed.insert(0, halves)
        return mixed

    def _units(self, table: Sequence[Any]) -> list[Any]:
        """Return the rows, or those of each user without the number."""
        if self.user is None:
            return list(table)
        units = []
        for _, rows in groupby(table, itemgetter(self.user)):
            units.append([{key: row[key] for key in row if key != self.user} for row in rows])
        return units

    def _changed(
        self, change: Pair, others: str, rest: Any, i: int, order: str, rng: np.random.Generator
    ) -> Change:
        """Return neighbours by a change at a place beside the rest, which ``others`` describes."""
        (old, new), n = change, len(rest) + 1
        place = {0: "first", n - 1: "last"}.get(i, f"number {i + 1}")
        unit = "row" if self.user is None else "user"
        where = f"{place} of {n} {unit}s, others {others}" if n > 1 else f"the only {unit}"
        how = f"replaced by {input_text(new, _LETTERS)}" if self.replace else "removed"
        name = f"{input_text(old, _LETTERS)} {how}, {where}"
        x = self._table([*rest[:i], old, *rest[i:]])
        if self.replace:
            x_prime = self._table([*rest[:i], new, *rest[i:]])
        else:
            x_prime = self._table(rest, left_out=i)
        if self.any_order:
            if order == "random":
                x_prime = [x_prime[k] for k in rng.permutation(len(x_prime))]
            elif order == "reverse":
                x_prime = x_prime[::-1]
            name = f"{name}, in {order} order"
        return Change(x, x_prime, [i], (old, new) if self.replace else (old,), name)

    def _table(self, units: Sequence[Any], left_out: int | None = None) -> list[Any]:
        """Return the table of rows, or of users with their numbers, of which one is left out."""
        if self.user is None:
            return list(units)
        table = []
        for i, rows in enumerate(units):
            number = i + 1 if left_out is None or i < left_out else i + 2
            table += [{self.user: number, **row} for row in rows]
        return table


def _turns(*values: Any) -> Filling:
    """Return rows that are these, in turn."""
    name = " and ".join(input_text(value, 20) for value in values)
    if len(values) > 1:
        name += " in turn"
    return Filling(name, lambda n, *_: [values[i % len(values)] for i in range(n)])


_BESIDE_TWO = [  # the other rows where a row is replaced
    Filling("both in turn", lambda n, *both: [both[i % 2] for i in range(n)]),
    Filling("like the other", lambda n, _, other: [other] * n),
]

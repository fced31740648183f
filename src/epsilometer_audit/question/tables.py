"""Tables with their neighbours: combinations of lengths, rows, changes and positions.

A `Setting` such as ``Setting(3, (5.0, 5.0), rising, 2)`` becomes the pair ``[0.0, 2.5, 5.0]`` and
``[0.0, 2.5]``, where the row at place 2 is removed.

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
from itertools import combinations, cycle, islice, product
from typing import Any

import numpy as np

from epsilometer_audit.outputs.formats import input_text
from epsilometer_audit.question.entries import (
    Change,
    Entry,
    Space,
    Users,
    from_the_end,
    in_turn,
    same,
)
from epsilometer_audit.question.pairs import Pair

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


@dataclass(frozen=True)
class Setting:
    """A table of ``size`` rows, of which the one at ``place`` changes beside others."""

    size: int
    change: Pair
    others: Filling
    place: int


def covering(*factors: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield combinations of levels of factors, until any two levels of two have occurred together.

    Each is the combination with the most new pairs, any of equals.

    >>> sorted(covering("ab", [1, 2]))
    [('a', 1), ('a', 2), ('b', 1), ('b', 2)]
    """
    sizes = [len(levels) for levels in factors]
    grid = np.random.default_rng(0).permutation(list(product(*map(range, sizes))))
    cells = []  # of each combination and two factors, the number of the pair of levels
    number = 0
    for i, j in combinations(range(len(sizes)), 2):
        cells.append(number + grid[:, i] * sizes[j] + grid[:, j])
        number += sizes[i] * sizes[j]
    pairs = np.array(cells).T
    is_missing = np.ones(number, int)
    while is_missing.any():
        best = np.argmax(is_missing[pairs].sum(axis=1))
        is_missing[pairs[best]] = 0
        yield tuple(levels[i] for levels, i in zip(factors, grid[best], strict=True))


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
    most: int = 0  # where there are users

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.longest * self.unit.width

    def ranges(self) -> list[tuple[float, float]]:
        return self.rows.ranges()

    @property
    def unit(self) -> Entry:
        """What neighbours differ by: a row, or the rows of a user."""
        return self.rows if self.user is None else Users(self.rows, self.most)

    def changes(self, rng: np.random.Generator) -> Iterator[Change]:
        """Yield neighbours: each position and change of a long table, beside other tables."""
        changes = self._changes(rng)
        if not changes:
            return
        early, fillings = self._fillings(rng)
        longest = self._longest(changes, early, fillings)
        covered = []
        shorter = []
        levels = self._sizes(), changes[:_COVERED], fillings, _PLACES
        for size, change, others, share in covering(*levels):
            setting = Setting(size, change, others, round(share * (size - 1)))
            if size < self.longest:
                shorter.append(setting)
            else:
                covered.append(setting)
        orders = cycle(("reverse", "random", "this"))
        for table in [*in_turn([longest, shorter]), *covered]:
            others = table.others.rows(table.size - 1, *table.change)
            name = table.others.name
            yield self._changed(table.change, name, others, table.place, next(orders), rng)

    def _longest(
        self, changes: Sequence[Pair], early: Sequence[Filling], fillings: Sequence[Filling]
    ) -> list[Setting]:
        """Return the longest tables: each change and each place, before any a second time.

        The first two are beside rows at an end; of rows to replace, both have the first change.
        """
        positions = from_the_end(self.longest)
        repeated = 1 if self.replace else 0
        settings = []
        for k in range(max(self.longest, len(changes) + repeated)):
            lap, number = divmod(max(k - repeated, 0), len(changes))
            filling = k if self.replace else number
            if filling < 2:  # beside rows at an end
                others = fillings[filling]
            else:
                others = early[(lap + number) % len(early)]
            place = positions[k % self.longest]
            settings.append(Setting(self.longest, changes[number], others, place))
        return settings

    def moved(self, change: Change, rng: np.random.Generator) -> Change:
        """Return neighbours near others: of another change, place, row beside it, or equal rows."""
        place, (row, other) = change.place, change.rows
        unit = self.unit
        units = self._units(change.x)
        others = [*units[:place], *units[place + 1 :]]
        move = rng.integers(4)
        if move == 0 or not others:
            row, other = unit.near_pair(row, other, rng)
            if self.replace and same(row, other):
                return change
        elif move == 1:
            j = int(rng.integers(len(others)))
            others[j] = _near(unit, others[j], rng)
        elif move == 2:
            values = [row, other, _near(unit, others[0], rng)]
            others = [values[rng.integers(3)]] * len(others)
        else:
            place = int(rng.integers(len(units)))
        return self._changed((row, other), "changed", others, place, "random", rng)

    def _sizes(self) -> list[int]:
        """Return the lengths that tables with a changed row have: the longest, odd, even, short."""
        n = self.longest
        least = max(self.shortest, 1) if self.replace else self.shortest + 1
        beyond = 2 ** int(math.log2(n)) + 1  # where a chunk may begin
        sizes = dict.fromkeys([n, n - 1, beyond, *range(_SMALL + 1)])
        return [size for size in sizes if least <= size <= n]

    def _changes(self, rng: np.random.Generator) -> list[Pair]:
        """Return rows and their replacements, or twice each row to remove."""
        unit = self.unit
        if self.replace:
            changes: dict[Any, Pair] = {}
            for pair in islice(unit.pairs(rng), _TRIED):
                if not same(*pair):
                    changes.setdefault(frozenset(map(json.dumps, pair)), pair)
            return list(changes.values())
        missing = unit.missing[:1]  # early, so that few pairs have one
        others = [row for row in unit.others(rng) if row not in missing]
        removed = [unit.high, unit.low, *missing, *others, unit.drawn(rng)]
        return [(row, row) for row in removed]

    def _fillings(self, rng: np.random.Generator) -> tuple[list[Filling], list[Filling]]:
        """Return the other rows for all changes and positions, and all that they may be."""
        rows = self.unit
        ends = [_turns(rows.low), _turns(rows.high)]
        mixed = self._mixed(rng)
        equal = [_turns(rows.at(0.5)), Filling("like it", lambda n, row, _: [row] * n)]
        missing = []
        for value in rows.missing[:1]:
            missing = [_turns(value, rows.high), _turns(value)]
        if self.replace:
            return _BESIDE_TWO, [*ends, *_BESIDE_TWO, *equal, *mixed, *missing]
        return [*ends, *mixed], [*ends, *equal, *mixed, *missing]

    def _mixed(self, rng: np.random.Generator) -> list[Filling]:
        """Return other rows that differ among themselves."""
        rows = self.unit

        def rising(n: int, *_: Any) -> list[Any]:
            return [rows.at(i / max(n - 1, 1)) for i in range(n)]

        def at_random(n: int, *_: Any) -> list[Any]:
            return [rows.drawn(rng) for _ in range(n)]

        def two_halves(n: int, *_: Any) -> list[Any]:
            return [rows.low] * (n // 2) + [rows.high] * (n - n // 2)

        mixed = [
            Filling("rising", rising),
            _turns(rows.low, rows.high),
            Filling("at random", at_random),
        ]
        if self.any_order:
            mixed.insert(0, Filling("two halves", two_halves))
        return mixed

    def _units(self, table: Sequence[Any]) -> list[Any]:
        """Return the rows, or those of each user without the number."""
        if self.user is None:
            return list(table)
        rows_of: dict[int, list[Any]] = {}
        for row in map(dict, table):
            rows_of.setdefault(row.pop(self.user), []).append(row)
        return list(rows_of.values())

    def _changed(
        self,
        change: Pair,
        others: str,
        other_units: list[Any],
        place: int,
        order: str,
        rng: np.random.Generator,
    ) -> Change:
        """Return neighbours by a change at a place beside others, which a text describes."""
        old, new = change
        x = self._table([*other_units[:place], old, *other_units[place:]])
        if self.replace:
            x_prime = self._table([*other_units[:place], new, *other_units[place:]])
        else:
            x_prime = self._table(other_units, left_out=place)
        name = self._name(change, others, place, len(other_units) + 1)
        if self.any_order:
            name = f"{name}, in {order} order"
            if order == "random":
                x_prime = [x_prime[k] for k in rng.permutation(len(x_prime))]
            elif order == "reverse":
                x_prime.reverse()
        return Change(x, x_prime, name, place, change)

    def _name(self, change: Pair, others: str, place: int, size: int) -> str:
        """Return a name, as "5.0 removed, first of 3 rows, others rising"."""
        unit = "row" if self.user is None else "user"
        old, new = (input_text(value, _LETTERS) for value in change)
        what = f"{old} replaced by {new}" if self.replace else f"{old} removed"
        if size == 1:
            return f"{what}, the only {unit}"
        where = {0: "first", size - 1: "last"}.get(place, f"number {place + 1}")
        return f"{what}, {where} of {size} {unit}s, others {others}"

    def _table(self, units: Sequence[Any], left_out: int | None = None) -> list[Any]:
        """Return the table of rows, or of users with their numbers, of which one is left out."""
        if self.user is None:
            return list(units)
        table = []
        for place, rows in enumerate(units):
            number = place + 1
            if left_out is not None and place >= left_out:
                number += 1
            table += [{self.user: number, **row} for row in rows]
        return table


def _near(unit: Entry, row: Any, rng: np.random.Generator) -> Any:
    """Return a row near another."""
    moved, _ = unit.near_pair(row, row, rng)
    return moved


def _turns(*values: Any) -> Filling:
    """Return rows that are these, in turn."""
    name = " and ".join(input_text(value, 20) for value in values)
    if len(values) > 1:
        name += " in turn"
    return Filling(name, lambda n, *_: list(islice(cycle(values), n)))


_BESIDE_TWO = [  # the other rows where a row is replaced
    Filling("both in turn", lambda n, row, other: list(islice(cycle((row, other)), n))),
    Filling("like the other", lambda n, _, other: [other] * n),
]

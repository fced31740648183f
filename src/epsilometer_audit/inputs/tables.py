"""Tables and counts with their neighbours: combinations of lengths, rows, changes and positions.

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
from itertools import chain, combinations, cycle, groupby, islice, product
from operator import itemgetter
from typing import Any

import numpy as np

from epsilometer_audit.checks.accepted_pairs import Pair
from epsilometer_audit.formats import input_text
from epsilometer_audit.inputs.entries import Entry, Users, columns, evenly, in_turn

_SMALL = 4  # all lengths up to this are tried
_KNOWN = 7  # changes of a row that have a pair with each length, filling and place
_TRIED = 1000  # changes of a row
_COUNTS = 12  # that have a pair each
_LETTERS = 40  # of a row in a name
Filling = tuple[str, Callable[[int, Any, Any], list[Any]]]  # its name, and rows beside a change
_PLACES = (1, 0, 0.5, 0.25, 0.75)  # of a changed row in a table
Tried = tuple[str, Sequence[int], Sequence[Any], Sequence[Any], Any, Any]
"""A name, changed positions, rows that they had and what they have instead, x and x'."""


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

    @property
    def swaps(self) -> bool:
        """Whether a row is replaced by another row of the domain."""
        return self.replace and not self.null

    @property
    def at_distance(self) -> bool:
        """Whether a row is replaced by one at a distance."""
        return any(each.distance is not None for each in (self.rows, *columns(self.rows)))

    @property
    def relation(self) -> str:
        """How neighbours differ, and how not."""
        unit = "all rows of a user" if self.user else "a row"
        near = " by one at most as far as declared" * self.at_distance
        usual = [f"{unit} replaced{near}", f"{unit} added or removed"]
        own, order = usual[not self.replace], "any" if self.any_order else "the same"
        if self.null:
            own = f"a row replaced by a null row, {input_text(self.null[0], _LETTERS)}"
        others = [text for text in usual if text != own] + ["another order"] * (order != "any")
        return f"tables with {own}, in {order} order; not: {', '.join(others)}"

    def pairs(self, rng: np.random.Generator) -> Iterator[Tried]:
        """Yield neighbours: each position and change of a long table, beside other tables."""
        n, units = self.longest, self._entry
        least = max(self.shortest, 1) if self.replace else self.shortest + 1
        beyond = 2 ** int(math.log2(n)) + 1  # where a chunk may begin
        sizes = dict.fromkeys(k for k in (n, n - 1, beyond, *range(_SMALL + 1)) if least <= k <= n)
        changes, (some, fillings) = self._changes(units, rng), self._fillings(units, rng)
        known = range(min(len(changes), _KNOWN))
        at, new = list(dict.fromkeys([n - 1, *evenly(n)])), []
        for k in range(max(n, len(changes) + self.swaps)):
            lap, change = divmod(max(k - self.swaps, 0), len(changes))
            end = k if self.swaps else change  # the first changes are beside rows at an end
            others = fillings[end] if end < 2 else some[(lap + change) % len(some)]
            new.append((n, change, others, at[k % n]))
        found = covering([*sizes], known, fillings, _PLACES)
        every = [(k, change, others, round(place * (k - 1))) for k, change, others, place in found]
        shorter, long = ([x for x in every if (x[0] < n) == less] for less in (True, False))
        orders = cycle(("reverse", "random", "this"))
        for size, change, others, i in [*in_turn([new, shorter]), *long]:
            rest = others[1](size - 1, *changes[change])
            yield self._tried(changes[change], others[0], rest, i, next(orders), rng)

    def near(self, *tried: Any) -> Tried:
        """Return neighbours near others: of another change, place, row beside it, or equal rows.

        The arguments are `Tried`, and a random generator.
        """
        _, (i,), _, new, x, _, rng = tried
        units, entry, move = self._units(x), self._entry, rng.integers(4)
        rest, row = [*units[:i], *units[i + 1 :]], units[i]
        other = (new if self.user else new[0]) if self.swaps else row
        if move == 0 or not rest:
            row, other = entry.near(row, other, rng)
        elif move == 1:
            j = int(rng.integers(len(rest)))
            rest[j] = entry.near(rest[j], rest[j], rng)[0]
        elif move == 2:
            one = (row, other, entry.near(rest[0], rest[0], rng)[0])[rng.integers(3)]
            rest = [one] * len(rest)
        else:
            i = int(rng.integers(len(units)))
        change = row, other if self.swaps else self.null[0] if self.null else None
        return self._tried(change, "changed", rest, i, "random", rng)

    def _changes(self, rows: Entry, rng: np.random.Generator) -> list[Pair]:
        """Return rows to remove, or rows and their replacements."""
        if self.swaps:
            changes: dict[Any, Pair] = {}
            for pair in islice(rows.pairs(rng), _TRIED):
                if pair[0] != pair[1]:
                    changes.setdefault(frozenset(map(json.dumps, pair)), pair)
            return list(changes.values())
        missing = rows.missing[:1]  # early, so that few pairs have one
        others = [row for row in rows.others(rng) if row not in missing]
        removed = [rows.high, rows.low, *missing, *others, rows.drawn(rng)]
        other = self.null[0] if self.null else None
        return [(row, other) for row in removed if not self.null or row != other]

    def _fillings(self, rows: Entry, rng: np.random.Generator) -> tuple[list[Filling], ...]:
        """Return what the other rows may be: some for all changes and positions, and all."""
        low, high = rows.low, rows.high

        def turns(*values: Any) -> Filling:
            name = " and ".join(input_text(value, 20) for value in values)
            name += " in turn" * (len(values) > 1)
            return name, lambda n, *_: [values[i % len(values)] for i in range(n)]

        ends, equal = [turns(low), turns(high)], [turns(rows.at(0.5))]
        mixed: list[Filling] = [
            ("rising", lambda n, *_: [rows.at(i / max(n - 1, 1)) for i in range(n)]),
            turns(low, high),
            ("at random", lambda n, *_: [rows.drawn(rng) for _ in range(n)]),
        ]
        if self.any_order:
            mixed.insert(0, ("two halves", lambda n, *_: [low] * (n // 2) + [high] * (n - n // 2)))
        gaps = [turns(x, *more) for x in rows.missing[:1] for more in ([high], [])]
        equal.append(("like it", lambda n, row, _: [row] * n))
        if not self.swaps:
            return [*ends, *mixed], [*ends, *equal, *mixed, *gaps]
        both: list[Filling] = [("both in turn", lambda n, *own: [own[i % 2] for i in range(n)])]
        both.append(("like the other", lambda n, _, other: [other] * n))
        return both, [*ends, *both, *equal, *mixed, *gaps]

    @property
    def _entry(self) -> Entry:
        """What neighbours differ by: a row, or the rows of a user."""
        return Users(self.rows, self.most) if self.user else self.rows

    def _units(self, table: Sequence[Any]) -> Sequence[Any]:
        """Return the rows, or those of each user without the number."""
        if self.user is None:
            return table
        users = groupby(table, itemgetter(self.user))
        return [[{k: row[k] for k in row if k != self.user} for row in rows] for _, rows in users]

    def _tried(self, change: Pair, others: str, rest: Any, i: int, order: str, rng: Any) -> Tried:
        """Return neighbours by a change at a place beside the rest, which ``others`` describes."""
        (row, other), n = change, len(rest) + 1
        place = {0: "first", n - 1: "last"}.get(i, f"number {i + 1}")
        x, y = [*rest[:i], row, *rest[i:]], rest
        text = "removed"
        if self.replace:
            y = [*rest[:i], other, *rest[i:]]
            null = "a null row, " if self.null else ""
            text = f"replaced by {null}{input_text(other, _LETTERS)}"
        unit = "user" if self.user else "row"
        where = f"{place} of {n} {unit}s, others {others}" if n > 1 else f"the only {unit}"
        name = f"{input_text(row, _LETTERS)} {text}, {where}"
        old, new = ([row], [other]) if self.user is None else (row, other)
        if self.user is not None:
            users = [[{self.user: user, **row} for row in own] for user, own in enumerate(x, 1)]
            new_rows = [{self.user: i + 1, **row} for row in (other if self.replace else ())]
            x, y = [*chain(*users)], [*chain(*users[:i], new_rows, *users[i + 1 :])]
        if self.any_order:
            places = rng.permutation(len(y)) if order == "random" else range(len(y))
            y = [y[place] for place in places[:: -1 if order == "reverse" else 1]]
            name = f"{name}, in {order} order"
        return name, [i], old, new if self.swaps else [], x, y


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

    def pairs(self, rng: np.random.Generator) -> Iterator[Tried]:
        """Yield counts that differ by one: each key and some counts, then combinations of them."""
        n, (low, high) = len(self.keys), self.ends
        keys, sizes = dict.fromkeys([n - 1, *evenly(n)]), dict.fromkeys([self.changed, 1])
        starts = dict.fromkeys([low, high - 1, *(low + i for i in evenly(high - low))])
        rests = (high, low, (low + high + 1) // 2, None)
        some: list[Sequence[Any]] = [*map(tuple, (keys, starts, rests, sizes))]
        each = (tuple(x[k % len(x)] for x in some) for k in range(max(n, _COUNTS)))
        every = covering(*(x[:4] for x in some))
        for first, count, other, size in chain([(n - 1, low, high, 1)], each, every):
            others = rng.integers(low, high + 1, n).tolist() if other is None else [other] * n
            changed = [(first + k) % n for k in range(size)]
            own = dict(zip(self.keys, others, strict=True))
            words = [self.keys[i] for i in changed]
            both = (own | dict.fromkeys(words, count + new) for new in (1, 0))
            x, y = ({key: k for key, k in side.items() if k} for side in both)
            text = "at random" if other is None else other
            name = f"{count + 1} of {', '.join(words)} against {count}, others {text}"
            yield name, changed, [count + 1], [count], x, y

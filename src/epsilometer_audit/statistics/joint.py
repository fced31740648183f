"""Joint laws of entries: summaries of all of them, and tables of pairs.

A product of entries, as in `scores`, shows a dependence between numbers whose product has another
mean. Tables show any dependence between two columns, also of words and of what is missing: each
column is cut into cells, and the pairs are taken whose tables of both sides differ by more than
their columns do alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from epsilometer.arrays import Counts, Sample
from epsilometer_audit.events.candidates import Numbers, deviations
from epsilometer_audit.events.choosing import ROWS
from epsilometer_audit.events.events import Table, View
from epsilometer_audit.events.summaries import CORRELATION, SUMMARIES
from epsilometer_audit.outcomes.outcomes import Layout
from epsilometer_audit.statistics.scores import suspects

_CELLS = 16  # of a column
_SCREENED = 4000  # draws of a side that choose pairs
_DIFFERENT = 4.0  # standard deviations, by which one pair in 30,000 differs by chance
_PAIRS = 16  # at most
_GROUPS = 6  # columns of a table, of which all pairs may be correlated


def learn_tables(x: Sample, x_prime: Sample, entries: Sequence[int]) -> View | None:
    """Learn the tables of the pairs of entries that differ most; None if none does.

    Sides have shape ``(n, d)``.
    """
    chosen = list(suspects(x, x_prime, entries))
    sides = x[:ROWS], x_prime[:ROWS]
    cut = [
        Numbers(sides[0][:, i], sides[1][:, i], _CELLS, View(), values=False, tails=False)
        for i in chosen
    ]
    doubts = _doubts([column.codes for column in cut], [column.starts.size + 2 for column in cut])
    pairs = sorted(doubts, key=lambda pair: -doubts[pair])[:_PAIRS]
    tables = []
    for i, j in pairs:
        if doubts[i, j] > _DIFFERENT:
            shape = cut[i].starts.size + 2, cut[j].starts.size + 2
            p, q = (
                (_counts(cut[i].codes[side], cut[j].codes[side], shape) + 1.0) / (len(of) + 1)
                for side, of in enumerate(sides)
            )
            adds = np.round(np.log(p) - np.log(q), 6).reshape(shape)
            starts = tuple(cut[i].starts.tolist()), tuple(cut[j].starts.tolist())
            tables.append(Table((chosen[i], chosen[j]), starts, tuple(map(tuple, adds.tolist()))))
    return View("score", tables=tuple(tables)) if tables else None


def _counts(first: Counts, second: Counts, shape: tuple[int, int]) -> Counts:
    return np.bincount(first * shape[1] + second, None, shape[0] * shape[1])


def _doubts(
    codes: Sequence[tuple[Counts, Counts]], sizes: Sequence[int]
) -> dict[tuple[int, int], float]:
    """Return by how many standard deviations the tables of pairs differ beyond their columns.

    The first draws of both sides have the ``codes``, of so many ``sizes``.
    """
    codes = [(ours[:_SCREENED], theirs[:_SCREENED]) for ours, theirs in codes]

    def excess(tables: Sequence[Counts]) -> tuple[float, int]:
        more, variance, free = deviations(*(table[None] for table in tables))
        return float((more**2 / variance).sum()), int(free[0])

    alone = [
        excess([np.bincount(side, None, size) for side in sides])
        for sides, size in zip(codes, sizes, strict=True)
    ]
    doubts = {}
    for i, j in combinations(range(len(codes)), 2):
        both = [_counts(*of, (sizes[i], sizes[j])) for of in zip(codes[i], codes[j], strict=True)]
        squares, free = excess(both)
        squares -= alone[i][0] + alone[j][0]
        free -= alone[i][1] + alone[j][1]
        doubts[i, j] = (squares - free) / (2 * free) ** 0.5 if free > 0 else 0.0
    return doubts


def summaries(x: Sample, x_prime: Sample, layout: Layout, cells: int) -> Iterator[Numbers]:
    """Yield the cells of summaries of the entries of sequences, arrays and tables.

    Sides have shape ``(n, d)``; quantiles make so many ``cells``.
    """
    views = []
    for group in layout.groups:
        entries = tuple(i for row in group for i in row)
        repeat = np.unique(x[0, list(entries)]).size < len(entries)
        views += [
            View("summary", summary=name, groups=(entries,))
            for name in SUMMARIES
            if repeat or name != "number of different values"
        ]
        columns = list(zip(*group, strict=False))
        if len(group) > 2 and len(columns) <= _GROUPS and len(columns) * len(group) == len(entries):
            pairs = combinations(columns, 2)
            views += [View("summary", summary=CORRELATION, groups=pair) for pair in pairs]
    for view in views:
        yield from Numbers(view.of(x), view.of(x_prime), cells, view).choices()  # type: ignore[misc]

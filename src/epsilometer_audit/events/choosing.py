"""The choice of events on past draws: the views of outputs, and the events that promise most.

An event is chosen before the draws that confirm it. The best is {loss >= c}; its outputs have to be
learned. The event that is best on the draws it was learned from is often noise, and more often if
many fresh draws follow. So

- outputs are put into cells without a unit: between quantiles of both sides together, repeated
  values in cells of their own (atoms among reals are ordinary outputs), or a cell for each value
  where all repeat; vectors are read entry by entry, row by row, and by a score that adds up over
  the entries, integers without repetition bit by bit;
- cells are ordered by a shrunken log ratio of counts on four fifths of the draws, and sets of the
  first r cells are judged on the last fifth, five times in turn; half-lines are judged directly;
- the promise of an event is the log ratio of its probabilities less its possible error on the first
  draws (standard deviations, see `candidates`) and on the fresh ones.

A rare event can be worth far more than its promise, so the event with the largest promise at little
caution is returned, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from epsilometer.arrays import Sample
from epsilometer_audit.events.candidates import Candidate, Cells, Level, Numbers, Values
from epsilometer_audit.events.events import Table, View, entries_of

ROWS = 20_000  # of either side, for learning: standardised weights have an error of about .01


def best(
    views: Iterable[Cells], draws: int, level: Level | None = None, daring: float = 0.5
) -> tuple[Candidate | None, Candidate | None]:
    """Return the events of the largest promise, with full and with little caution."""
    candidates = [each for cells in views for each in cells.judged(draws, level, daring)]
    return (
        max(candidates, key=lambda each: each.expected, default=None),
        max(candidates, key=lambda each: each.optimistic, default=None),
    )


def cells_of_views(x: Sample, x_prime: Sample, cells: int) -> Iterator[Cells]:
    """Yield the cells of every view of the outputs, of shape ``(n,)`` or ``(n, d)``."""
    integers = np.issubdtype(x.dtype, np.integer)
    if x.ndim == 1:
        line = Numbers(x, x_prime, cells, View())
        yield from line.choices()
        if not integers or line.repeats:
            return
        size = int(max(x.max(), x_prime.max())).bit_length() if x.dtype.kind == "i" else 0
        if min(x.min(), x_prime.min()) < 0 or not size:
            return
    else:
        size = x.shape[1]
        if integers:
            yield Values(x, x_prime, View("row"))
    for i in range(size):
        view = View("bit" if x.ndim == 1 else "entry", i)
        yield from Numbers(view.of(x), view.of(x_prime), cells, view).choices()
    if size > 1:
        totals = crossed(partial(learn_sum, size=size, cells=cells), x, x_prime)
        if totals is not None:
            yield from Numbers(*totals[1:], cells, totals[0]).choices()


Learner = Callable[[Sample, Sample], View | None]
"""Learns a view from draws of both sides, of shape ``(n,)`` or ``(n, d)``; None from too few."""


def crossed(
    learn: Learner, x: Sample, x_prime: Sample, *, halves: bool = True
) -> tuple[View, Sample, Sample] | None:
    """Learn a view, and return it with the numbers of the past draws of both sides.

    With ``halves``, each half of the draws is seen as a view of the other half sees it; without,
    all are seen as they are, which is enough where they are many. None if one of the halves does
    not say enough.
    """
    view = first = second = learn(x, x_prime)
    middle, middle_prime = len(x) // 2, len(x_prime) // 2
    if halves:
        first = learn(x[:middle], x_prime[:middle_prime])
        second = learn(x[middle:], x_prime[middle_prime:])
    if view is None or first is None or second is None:
        return None
    totals, totals_prime = (
        np.append(second.of(side[:at]), first.of(side[at:]))
        for side, at in ((x, middle), (x_prime, middle_prime))
    )
    return view, totals, totals_prime


def learn_sum(x: Sample, x_prime: Sample, size: int, cells: int) -> View:
    """Learn the log likelihood ratio of so many independent entries or bits, each in ``cells``."""
    tables = []
    columns, columns_prime = (entries_of(side[:ROWS], size) for side in (x, x_prime))
    for i, sides in enumerate(zip(columns, columns_prime, strict=True)):
        cut = Numbers(*sides, cells, View(), values=False, tails=False)
        tables.append(Table((i,), *cut.table()))
    return View("score", tables=tuple(tables))

"""The choice of events on past draws: the views of outputs, and the events that promise most.

An event is chosen before the draws that confirm it. The best is {loss >= c}; its outputs have to be
learned, and what is best on the draws it was learned from is often noise. So

- outputs are put into cells without a unit (`candidates`); vectors are read entry by entry, row by
  row, and by a score that adds up over the entries, integers without repetition bit by bit;
- cells are ordered by a shrunken log ratio of counts on four fifths of the draws, and sets of the
  first r cells are judged on the last fifth, five times in turn; half-lines are judged directly;
- the promise of an event is the log ratio of its probabilities less its possible error on the first
  draws and on the fresh ones. A rare event can be worth far more than its promise, so the event
  with the largest promise at little caution is returned, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import InitVar, dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from epsilometer.arrays import Sample
from epsilometer.events.candidates import Candidate, Cells, Level, Numbers, Values, tables
from epsilometer.events.events import Table, View, entries_of, stepped
from epsilometer.ratios import ratio

PAIRED = 1024  # columns among which pairs are searched for dependence
ROWS, _MOST = 10_000, 40_000  # of a side that teach a score: weights have an error of .01 to .005
_NUMBERS = 800_000  # of a side that teach a score, in more than the first so many rows
ENTRIES, _TELLING = 64, 2_000_000  # that are looked at, of more; numbers of a side that tell
SUMMED, _STEPPED = 16, 2000  # cells of an entry in a sum; draws that tell its steps


def best(
    views: Iterable[Cells], draws: int, level: Level | None = None, daring: float = 0.5
) -> tuple[Candidate | None, Candidate | None]:
    """Return the events of the largest promise, with full and with little caution."""
    candidates = []
    for cells in views:
        candidates += cells.judged(draws, level, daring)
    surest = max(candidates, key=attrgetter("expected"), default=None)
    return surest, max(candidates, key=attrgetter("optimistic"), default=None)


def looks_of(past: PastDraws, cells: int) -> list[Look]:
    """Return the looks at outputs, or at entries, bits, rows and the sum of entries or bits."""
    (x, x_prime), size = past.sides, 0
    looks = [Look(View("row" if x.ndim == 2 else "output"), past)]
    if x.ndim == 2:
        size = x.shape[1]
        looks = looks if np.issubdtype(x.dtype, np.integer) else []
    elif x.dtype.kind == "i" and not looks[0].cells(cells)[0].repeats:
        least, most = min(x.min(), x_prime.min()), max(x.max(), x_prime.max())
        size = int(most).bit_length() if least >= 0 else 0
    entries = range(size) if size <= ENTRIES else past.once("wide", ROWS, partial(_different, past))
    looks += [Look(View("bit" if x.ndim == 1 else "entry", i), past) for i in entries]
    if size > 1:
        looks += filter(None, (past.score(*each) for each in sums(x, size).items()))
    return looks


def _different(past: PastDraws) -> list[int]:
    """Return the entries whose shares below some quantiles of both sides differ most."""
    rows = max(_TELLING // past.x.shape[1], 1000)
    sides = [side[:rows].astype(np.float64) for side in past.sides]
    pooled = np.sort(np.concatenate(sides), axis=0)
    there = np.count_nonzero(~np.isnan(pooled), axis=0)
    most = np.zeros(pooled.shape[1])
    for share in (0.0, 0.003, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 0.997, 1.0):
        cut = np.take_along_axis(pooled, (share * np.maximum(there - 1, 0)).astype(int)[None], 0)
        for below in (np.less, np.less_equal):
            p, q = (below(side, cut).mean(axis=0) for side in sides)
            both = (p + q) / 2
            most = np.maximum(most, np.abs(p - q) / np.sqrt(both * (1 - both) + 1 / rows))
    return [int(i) for i in np.sort(np.argsort(-most, kind="stable")[:ENTRIES])]


Learner = Callable[[Sample, Sample], View | None]
"""Learns a view from draws of both sides, of shape ``(n,)`` or ``(n, d)``; None from too few."""


@dataclass(eq=False)
class Look:
    """A view of past draws. Of a score, ``seen`` are views and the parts of draws that each saw."""

    view: View
    past: PastDraws
    seen: Sequence[tuple[View, slice]] = ()
    _cells: dict[int | None, list[Cells]] = field(default_factory=dict)

    def sides(self, most: int | None = None) -> tuple[Sample, Sample]:
        """Return the numbers of the draws of both sides, or of the last ``most`` of them."""
        parts = self.seen or [(self.view, slice(0, len(self.past.x)))]
        if most is not None:
            view, part = parts[-1]
            parts = [(view, slice(max(part.start, part.stop - most), part.stop))]
        numbers = []
        for side in self.past.sides:
            seen = [view.of(side[part]) for view, part in parts]
            numbers.append(seen[0] if len(seen) == 1 else np.concatenate(seen))
        return numbers[0], numbers[1]

    def cells(self, number: int, most: int | None = None) -> list[Cells]:
        """Return cells of these draws between so many quantiles, and those of single values."""
        if most not in self._cells:
            if self.view.kind == "row":
                x, x_prime = (side[-(most or 0) :] for side in self.past.sides)
                self._cells[most] = [Values(x, x_prime, self.view)]
            else:
                cut = Numbers(*self.sides(most), number, self.view, values=not self.seen)
                self._cells[most] = cut.choices()
        return self._cells[most]


@dataclass(eq=False)
class PastDraws:
    """Past draws of both sides, ``(n,)`` or ``(n, d)``, and what is learned from them, once.

    Scores that were learned from fewer draws, the ``earlier`` ones, see those that came after.
    """

    x: Sample
    x_prime: Sample
    layout: Any  # of their columns, which has what `columns.Columns` has
    earlier: InitVar[PastDraws | None] = None
    _scores: dict[str, Look | None] = field(default_factory=dict)
    _learned: dict[str, tuple[View, int]] = field(default_factory=dict)
    _kept: dict[Any, list[Any]] = field(default_factory=dict)
    known: dict[Any, list[Any]] = field(default_factory=dict)
    """What the first draws say, which later ones do not change."""

    def __post_init__(self, earlier: PastDraws | None) -> None:
        self.sides = self.x, self.x_prime
        if earlier is not None and earlier.layout == self.layout:
            self._learned, self.known = dict(earlier._learned), earlier.known
            earlier._scores.clear()  # which hold the draws, and each other

    def once(self, of: Any, draws: int, make: Callable[[], list[Any]]) -> list[Any]:
        """Return what so many first draws say of something; of fewer, what these say."""
        kept = self.known if len(self.x) >= draws else self._kept
        if of not in kept:
            kept[of] = make()
        return kept[of]

    def score(self, name: str, learn: Learner) -> Look | None:
        """Learn a score of this name; return it with draws from which it was not learned.

        If it was learned from fewer draws, that one sees the others; if not, each half of the draws
        is seen by a view that the first rows of the other teach. None if they do not say enough.
        """
        if name not in self._scores:
            self._scores[name] = self._score(name, learn)
        return self._scores[name]

    def _score(self, name: str, learn: Learner) -> Look | None:
        size, middle = len(self.x), len(self.x) // 2
        most = min(size, _MOST, max(_NUMBERS // self.x[0].size, ROWS))
        known, rows = self._learned.get(name, (None, 0))
        if known is not None and most < 2 * rows:  # more would hardly change it
            return Look(known, self, [(known, slice(rows, size))])
        view = learn(self.x[:most], self.x_prime[:most])
        if view is None:
            return None
        self._learned[name] = view, most
        if known is not None:
            return Look(view, self, [(known, slice(rows, size))])
        first = view if middle >= most else learn(self.x[:middle], self.x_prime[:middle])
        second = learn(self.x[middle:][:most], self.x_prime[middle:][:most])
        if first is None or second is None:
            return None
        return Look(view, self, [(second, slice(0, middle)), (first, slice(middle, size))])


def learn_sum(x: Sample, x_prime: Sample, size: int, cells: int, steps: Any = ()) -> View:
    """Learn the log ratio of so many independent bits, or `stepped` entries, each in ``cells``."""
    ours, theirs = (entries_of(stepped(side, steps), size) for side in (x, x_prime))
    each = tuple(Table((i,), *of) for i, of in enumerate(tables(ours, theirs, cells)))
    return View("score", tables=each, steps=tuple(steps))


def sums(x: Sample, size: int) -> dict[str, Learner]:
    """Return rules that learn the sum of so many entries or bits, and of their steps, by name."""
    learners: dict[str, Learner] = {"sum": partial(learn_sum, size=size, cells=SUMMED)}
    if x.ndim == 2 and (steps := _steps(x)):
        learners["steps"] = partial(learn_sum, size=size, cells=SUMMED, steps=steps)
    return learners


@np.errstate(over="ignore", invalid="ignore")  # entries may not be finite
def _steps(x: Sample) -> list[float]:
    """Return how many times the entry before is in each entry, as in running sums; [] if in none.

    It is a regression, in one digit; 0 where it explains less than a quarter of the variance.
    """
    rows = x[-max(min(_STEPPED, _TELLING // x.shape[1]), 100) :].astype(np.float64)
    rows -= rows.mean(axis=0)
    products, squares = (rows[:, 1:] * rows[:, :-1]).sum(axis=0), (rows**2).sum(axis=0)
    slopes = np.round(ratio(products, squares[:-1]), 1)
    found = np.where(products**2 > 0.25 * squares[:-1] * squares[1:], slopes, 0.0)
    return found.tolist() if np.isfinite(found).all() and found.any() else []

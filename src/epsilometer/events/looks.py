"""The numbers of outputs at which an audit looks, by family: the columns, and what they hide.

A `Look` is a view (`epsilometer.events.events.View`, which makes one number of each output) of past
draws, whose numbers are put into cells. For outputs of two whole numbers, with 3,000 draws a side,

    past = PastDraws(x, x_prime, columns_of(pair))      # x and x_prime have shape (3000, 2)
    [look.view.kind for look in looks_at(past)]         # ["row", "entry", "entry", "score", ...]
    looks_at(past)[1].cells(64)[0].folds                # counts of x and of x' in cells of entry 0

`FAMILIES` names all families in one place: one more is a function and a line there. A family adds
candidates for events and no bets, so that it adds no false alarms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from epsilometer.events.candidates import Cells
from epsilometer.events.cells import Numbers, Values
from epsilometer.events.events import Event, Table, View, entries_of, stepped
from epsilometer.events.fine_cells import low_bit_views, remainder_views
from epsilometer.events.relations import (
    PAIRED,
    bits_of_columns,
    bits_of_words,
    coincidences,
    parities,
    sums_modulo,
)
from epsilometer.events.scores import (
    ENTRIES,
    ROWS,
    differences,
    learn_tables,
    learned_score,
    summaries,
)
from epsilometer.numerics.arrays import Sample
from epsilometer.numerics.ratios import ratio

CELLS = 64  # between quantiles of both sides
SUMMED = 16  # cells of an entry in a sum
_TAUGHT = 40_000  # rows of a side that teach a score: weights have an error of .01 to .005
_TAUGHT_NUMBERS = 800_000  # numbers of a side that do so, in more than the first `ROWS` rows
_STEP_ROWS = 2000  # rows that tell the steps of a running sum
_COMPARED = 2_000_000  # numbers of a side that tell which of many entries differ
_SCREENED = 2048  # draws of a side that suggest what is hidden, and at least tell looks apart
_EXPLAINED = 0.25  # least share of the variance of an entry that its step explains

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
        return _numbers(self.past.x, parts), _numbers(self.past.x_prime, parts)

    def cells(self, number: int, most: int | None = None) -> list[Cells]:
        """Return cells of these draws between so many quantiles, and those of single values."""
        if most not in self._cells:
            if self.view.kind == "row":
                first = 0 if most is None else -most
                x = self.past.x[first:]
                x_prime = self.past.x_prime[first:]
                self._cells[most] = [Values(x, x_prime, self.view)]
            else:
                cut = Numbers(*self.sides(most), number, self.view, values=not self.seen)
                self._cells[most] = cut.choices()
        return self._cells[most]


def _numbers(side: Sample, parts: Sequence[tuple[View, slice]]) -> Sample:
    """Return the numbers of the draws in some parts of a side, each by its view."""
    numbers = [view.of(side[part]) for view, part in parts]
    return numbers[0] if len(numbers) == 1 else np.concatenate(numbers)


@dataclass(eq=False)
class PastDraws:
    """Past draws of both sides, ``(n,)`` or ``(n, d)``, and what is learned from them, once.

    Of a side that has more draws than the other, the first ones count.
    Scores that were learned from fewer draws, the ``earlier`` ones, see those that came after.
    """

    x: Sample
    x_prime: Sample
    layout: Any  # of their columns, which has what `samples.Columns` has
    earlier: InitVar[PastDraws | None] = None
    _scores: dict[str, Look | None] = field(default_factory=dict)
    _learned: dict[str, tuple[View, int]] = field(default_factory=dict)
    _kept: dict[Any, list[Any]] = field(default_factory=dict)
    known: dict[Any, list[Any]] = field(default_factory=dict)
    """What the first draws say, which later ones do not change."""

    def __post_init__(self, earlier: PastDraws | None) -> None:
        n = min(len(self.x), len(self.x_prime))
        self.x = self.x[:n]
        self.x_prime = self.x_prime[:n]
        self.sides = self.x, self.x_prime
        if earlier is not None and earlier.layout == self.layout:
            self._learned = dict(earlier._learned)
            self.known = earlier.known
            earlier._scores.clear()  # which hold the draws, and each other

    @property
    def screened(self) -> int | None:
        """The draws of a side that tell of vectors which looks see all draws; None if all do."""
        n = len(self.x)
        if self.x.ndim == 1 or n <= 2 * _SCREENED:
            return None
        return min(max(_SCREENED, n // 8), ROWS)

    def once(self, of: Any, draws: int, make: Callable[[], list[Any]]) -> list[Any]:
        """Return what so many first draws say of something; of fewer, what these say."""
        kept = self._kept
        if len(self.x) >= draws:
            kept = self.known
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
        size = len(self.x)
        middle = size // 2
        most = min(size, _TAUGHT, max(_TAUGHT_NUMBERS // self.x[0].size, ROWS))
        known, rows = self._learned.get(name, (None, 0))
        if known is not None and most < 2 * rows:  # more would hardly change it
            return Look(known, self, [(known, slice(rows, size))])
        view = learn(self.x[:most], self.x_prime[:most])
        if view is None:
            return None
        self._learned[name] = view, most
        if known is not None:
            return Look(view, self, [(known, slice(rows, size))])
        first: View | None = view
        if middle < most:
            first = learn(self.x[:middle], self.x_prime[:middle])
        second = learn(self.x[middle:][:most], self.x_prime[middle:][:most])
        if first is None or second is None:
            return None
        return Look(view, self, [(second, slice(0, middle)), (first, slice(middle, size))])


# --- families -------------------------------------------------------------------------------------


def looks_at(past: PastDraws, names: Iterable[str] | None = None) -> list[Look]:
    """Return the looks at past draws, of all families or of some names."""
    columns = _of_columns(past)
    looks: list[Look] = []
    for name in FAMILIES if names is None else names:
        looks += FAMILIES[name](past, columns)
    return looks


def _of_columns(past: PastDraws) -> list[Look]:
    """Return looks at the outputs themselves, or at entries: of many, those that differ most."""
    if past.x.ndim == 1:
        return [Look(View(), past)]
    entries: Iterable[int] = range(past.x.shape[1])
    if past.x.shape[1] > ENTRIES:
        entries = past.once("wide", ROWS, partial(_different, past))
    return [Look(View("entry", entry), past) for entry in entries]


def _different(past: PastDraws) -> list[int]:
    """Return the entries whose shares below some quantiles of both sides differ most."""
    rows = max(_COMPARED // past.x.shape[1], 1000)
    ours = past.x[:rows].astype(np.float64)
    theirs = past.x_prime[:rows].astype(np.float64)
    pooled = np.sort(np.concatenate([ours, theirs]), axis=0)
    there = np.count_nonzero(~np.isnan(pooled), axis=0)
    most = np.zeros(pooled.shape[1])
    for share in (0.0, 0.003, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 0.997, 1.0):
        place = (share * np.maximum(there - 1, 0)).astype(int)
        cut = np.take_along_axis(pooled, place[None], 0)
        for below in (np.less, np.less_equal):
            p = below(ours, cut).mean(axis=0)
            q = below(theirs, cut).mean(axis=0)
            both = (p + q) / 2
            most = np.maximum(most, np.abs(p - q) / np.sqrt(both * (1 - both) + 1 / rows))
    chosen = np.argsort(-most, kind="stable")[:ENTRIES]
    return list(map(int, np.sort(chosen)))


def _of_rows(past: PastDraws, _: Sequence[Look]) -> Iterator[Look]:
    """Yield a look at whole vectors, if they are of whole numbers."""
    if past.x.ndim == 2 and np.issubdtype(past.x.dtype, np.integer):
        yield Look(View("row"), past)


def _bits(past: PastDraws, columns: Sequence[Look]) -> int:
    """Return the number of bits of whole numbers from 0 on that hardly repeat; 0 for others."""
    if past.x.ndim == 2 or past.x.dtype.kind != "i" or columns[0].cells(CELLS)[0].repeats:
        return 0
    if min(past.x.min(), past.x_prime.min()) < 0:
        return 0
    return int(max(past.x.max(), past.x_prime.max())).bit_length()


def _of_bits(past: PastDraws, columns: Sequence[Look]) -> Iterator[Look]:
    """Yield looks at the bits of whole numbers."""
    for bit in range(_bits(past, columns)):
        yield Look(View("bit", bit), past)


def _of_sums(past: PastDraws, columns: Sequence[Look]) -> Iterator[Look]:
    """Yield scores that add up over all entries or bits, or over the steps of running sums."""
    size = past.x.shape[1] if past.x.ndim == 2 else _bits(past, columns)
    if size > 1:
        for name, learner in sums(past.x, size).items():
            yield from _scored(past, name, learner)


def _scored(past: PastDraws, name: str, learner: Learner) -> Iterator[Look]:
    """Yield the score of this name, if the draws say enough."""
    score = past.score(name, learner)
    if score is not None:
        yield score


def _wide_numbers(past: PastDraws, columns: Sequence[Look]) -> Iterator[Numbers]:
    """Yield the cells of columns of numbers, where these hide single values."""
    for look in columns:
        if look.view.entry in past.layout.numbers:
            cells = look.cells(CELLS, past.screened)[0]
            if isinstance(cells, Numbers) and not cells.repeats:
                yield cells


def _of_remainders(past: PastDraws, columns: Sequence[Look]) -> Iterator[Look]:
    """Yield looks at remainders of numbers, modulo what the first draws suggest."""
    for numbers in _wide_numbers(past, columns):
        as_reals = past.layout.as_reals
        suggested = partial(remainder_views, numbers, CELLS, as_reals=as_reals)
        for view in past.once(numbers.view.entry, _SCREENED, suggested):
            yield Look(view, past)


def _of_low_bits(past: PastDraws, columns: Sequence[Look]) -> Iterator[Look]:
    """Yield looks at the lowest bits of reals, where these differ."""
    if not past.layout.as_reals:
        for numbers in _wide_numbers(past, columns):
            if numbers.view.entry in past.layout.reals:
                for view in low_bit_views(numbers):
                    yield Look(view, past)


def _of_differences(past: PastDraws, _: Sequence[Look]) -> Iterator[Look]:
    """Yield looks at differences of two entries that nearly lie on a line."""
    if past.x.ndim == 2:
        apart = partial(differences, *past.sides, past.layout.numbers, CELLS)
        for view in past.once("differences", _SCREENED, apart):
            yield Look(view, past)


def _of_coincidences(past: PastDraws, _: Sequence[Look]) -> Iterator[Look]:
    """Yield looks at whether two entries are equal."""
    if past.x.ndim == 2:
        equal = partial(coincidences, past.sides, past.layout.numbers)
        for view in past.once("coincidences", ROWS, equal):
            yield Look(view, past)


def _of_sums_modulo(past: PastDraws, _: Sequence[Look]) -> Iterator[Look]:
    """Yield looks at remainders of sums and differences of entries."""
    if past.x.ndim == 2:
        layout = past.layout
        of_entries = layout.numbers, layout.groups
        find = partial(sums_modulo, past.sides, *of_entries, CELLS, as_reals=layout.as_reals)
        for view in past.once("sums modulo", _SCREENED, find):
            yield Look(view, past)


def _of_parities(past: PastDraws, columns: Sequence[Look]) -> Iterator[Look]:
    """Yield looks at parities of bits: those of whole numbers, or one of each of many columns."""
    if past.x.ndim == 2:
        find = partial(_parities_of_columns, past, columns)
    else:
        bits = [Event(((1, 1),), view=View("bit", bit)) for bit in range(_bits(past, columns))]
        find = partial(parities, past.sides, bits, 2)
    for view in past.once("parities", _SCREENED, find):
        yield Look(view, past)


def _parities_of_columns(past: PastDraws, columns: Sequence[Look]) -> list[View]:
    """Return parities of bits of columns, at least three as tables show those of two.

    And of the bits of single columns of whole numbers.
    """
    reals = past.layout.reals
    wholes = [entry for entry in range(past.x.shape[1]) if entry not in reals]
    views = parities(past.sides, bits_of_columns(past.sides, wholes), 3)
    words = [of.view.entry for of in _wide_numbers(past, columns) if of.view.entry in wholes]
    for entry in words[:PAIRED]:
        views += parities(past.sides, bits_of_words(past.sides, entry), 2)
    return views


def _of_summaries(past: PastDraws, _: Sequence[Look]) -> Iterator[Look]:
    """Yield looks at summaries of sequences: sums, ends, places, equality of entries."""
    if past.x.ndim == 2:
        alike = partial(summaries, past.sides, past.layout)
        for view in past.once("summaries", ROWS, alike):
            yield Look(view, past)


def _of_regressions(past: PastDraws, _: Sequence[Look]) -> Iterator[Look]:
    """Yield the score of a regression on entries, their squares and products."""
    if past.x.ndim == 2:
        learner = partial(learned_score, entries=past.layout.numbers)
        yield from _scored(past, "learned", learner)


def _of_tables(past: PastDraws, _: Sequence[Look]) -> Iterator[Look]:
    """Yield the score of tables of pairs of columns."""
    if past.x.ndim == 2:
        learner = partial(learn_tables, entries=range(past.x.shape[1]))
        yield from _scored(past, "tables", learner)


Family = Callable[[PastDraws, Sequence[Look]], Iterable[Look]]
"""Makes looks at past draws, of which the looks at single columns are given."""

FAMILIES: Mapping[str, Family] = {
    "rows": _of_rows,
    "columns": lambda _, columns: columns,
    "remainders": _of_remainders,
    "low bits": _of_low_bits,
    "bits": _of_bits,
    "sums": _of_sums,
    "differences": _of_differences,
    "coincidences": _of_coincidences,
    "sums modulo": _of_sums_modulo,
    "parities": _of_parities,
    "summaries": _of_summaries,
    "regressions": _of_regressions,
    "tables": _of_tables,
}
"""All families; of two that show the same, the one that is easier to read comes first."""

PLAIN = "rows", "columns", "bits", "sums"
"""Families that read an output as it is: its columns, one by one, whole, or added up."""


# --- scores that add up ---------------------------------------------------------------------------


def learn_sum(
    x: Sample, x_prime: Sample, size: int, cells: int, steps: Sequence[float] = ()
) -> View:
    """Learn the log ratio of so many independent bits, or `stepped` entries, each in ``cells``."""
    ours = entries_of(stepped(x, steps), size)
    theirs = entries_of(stepped(x_prime, steps), size)
    tables = []
    for i, (column, column_prime) in enumerate(zip(ours, theirs, strict=True)):
        cut = Numbers(column, column_prime, cells, View(), values=False, tails=False)
        starts = tuple(cut.starts.tolist())
        tables.append(Table((i,), (starts,), tuple(cut.log_ratios().tolist())))
    return View("score", tables=tuple(tables), steps=tuple(steps))


def sums(x: Sample, size: int) -> dict[str, Learner]:
    """Return rules that learn the sum of so many entries or bits, and of their steps, by name."""
    learners: dict[str, Learner] = {"sum": partial(learn_sum, size=size, cells=SUMMED)}
    steps = _steps(x) if x.ndim == 2 else []
    if steps:
        learners["steps"] = partial(learn_sum, size=size, cells=SUMMED, steps=steps)
    return learners


@np.errstate(over="ignore", invalid="ignore")  # entries may not be finite
def _steps(x: Sample) -> list[float]:
    """Return how many times the entry before is in each entry, as in running sums; [] if in none.

    It is a regression, in one digit; 0 where it explains less than a quarter of the variance.
    """
    rows = max(min(_STEP_ROWS, _COMPARED // x.shape[1]), 100)
    entries = x[-rows:].astype(np.float64)
    entries -= entries.mean(axis=0)
    before = entries[:, :-1]
    after = entries[:, 1:]
    products = (after * before).sum(axis=0)
    squares = (entries**2).sum(axis=0)
    slopes = np.round(ratio(products, squares[:-1]), 1)
    explained = products**2 > _EXPLAINED * squares[:-1] * squares[1:]
    steps = np.where(explained, slopes, 0.0)
    if not np.isfinite(steps).all() or not steps.any():
        return []
    return list(map(float, steps))

"""The choice of a pair and of events that the first sample supports.

A lower bound for the privacy level needs an event that is likelier on x than on x', chosen before
the draws that confirm it. The best is {loss >= c}; its outputs have to be learned. The event that
is best on the draws it was learned from is often noise, and more often if many fresh draws
follow. So

- outputs are put into cells without a unit: between quantiles of both sides together, repeated
  values in cells of their own (atoms among reals are ordinary outputs), or a cell for each value
  where all repeat; vectors are read entry by entry, row by row, and by a score that adds up over
  the entries, integers without repetition bit by bit;
- cells are ordered by a shrunken log ratio of counts on four fifths of the draws, and sets of the
  first r cells are judged on the last fifth, five times in turn; half-lines are judged directly;
- the promise of an event is the log ratio of its probabilities less its possible error on the first
  draws (standard deviations, see `candidates`) and on the fresh ones.

The event with the largest promise is the witness, and the pair whose witness promises most is
confirmed. A rare event can be worth far more than its promise, so the event with the largest
promise at little caution gets a small share of alpha.

No paper has this: askin2022's Algorithm 4 confirms one output (`local_loss`), and only where a
density or relative frequencies exist.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Sample
from epsilometer.checks import Flag, Several
from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import EventEvidence, Loss, ScreeningMethod, check_pure
from epsilometer_audit.events.candidates import Candidate, Cells, Level, Numbers, Rows
from epsilometer_audit.events.events import Event, View, entries_of

_BOLD_SHARE = 0.15  # of alpha


@dataclass(frozen=True)
class Witness(ScreeningMethod):
    """The events of each pair, and their promise; see the module.

    Parameters
    ----------
    cells
        The number of cells between quantiles of both sides.
    largest
        Return the result of the pair with the largest promise only.

    Laplace noise of scale 1 on two pairs of inputs, .1 and .7 apart, whose levels are these; events
    are chosen on some draws, and fresh ones are counted:

    >>> rng = np.random.default_rng(4)
    >>> def laplace(at): return rng.laplace(at, 1, 20_000)
    >>> pairs = [(laplace(0), laplace(distance)) for distance in (0.1, 0.7)]
    >>> selected, losses = Witness().screen(pairs, draws=20_000)
    >>> selected, round(losses[selected].loss, 1)
    (1, 0.6)
    >>> evidence = Witness().weigh(laplace(0), laplace(0.7), losses[selected].target)
    >>> evidence.in_event[0] > evidence.in_event_prime[0], evidence.sign[0]
    (True, 1)
    """

    evidence: ClassVar[type] = EventEvidence

    cells: Several = 64
    largest: Flag = False

    def check(self, outputs: str, order: float) -> None:
        """Raise `ArgumentError` where the method does not apply."""
        check_pure(order, "an event bounds the pure level")

    def screen(
        self,
        pairs: Iterable[tuple[Sample, Sample]],
        *,
        draws: int,
        region: Sequence[float] | None = None,
    ) -> tuple[int, list[Loss]]:
        """Choose the events of each pair, and the pair that promises most.

        Reals are NaN where there is none. A loss is the promise of a pair, at least 0. ``region``
        has no effect. Raise `ArgumentError` also where a side is empty, or the sides differ in
        kind.
        """
        checks.integer("draws", draws)
        chosen, losses = -1, []
        best: list[Candidate] = []
        for k, (x, x_prime) in enumerate(pairs):
            events = _choose(x, x_prime, draws, self.cells)
            losses.append(Loss(max(events[0].expected, 0.0) if events else 0.0))
            if chosen < 0 or (events and (not best or events[0].expected > best[0].expected)):
                chosen, best = k, events
        if chosen < 0:
            raise ArgumentError("pairs", "must not be empty")
        target = {"events": [candidate.plain for candidate in best]}
        losses[chosen] = replace(losses[chosen], target=target)
        return chosen, losses

    def weigh(self, x: Sample, x_prime: Sample, target: Mapping[str, Any]) -> EventEvidence:
        """Count the fresh draws of either side in the events."""
        if len(x) != len(x_prime):
            raise ArgumentError("x_prime", f"has {len(x_prime)} draws, x has {len(x)}")
        events = [Event.from_plain(plain["event"]) for plain in target["events"]]
        return EventEvidence(
            in_event=[event.count(x) for event in events],
            in_event_prime=[event.count(x_prime) for event in events],
            draws=len(x),
            sign=[plain["sign"] for plain in target["events"]],
            share=[plain["share"] for plain in target["events"]],
        )


def _choose(x: Sample, x_prime: Sample, draws: int, cells: int) -> list[Candidate]:
    """Return the witness of a pair and, where it promises more at little caution, a bold one."""
    if x.ndim != x_prime.ndim or x.shape[1:] != x_prime.shape[1:] or x.ndim not in (1, 2):
        raise ArgumentError("x_prime", f"has shape {x_prime.shape}, x has {x.shape}")
    if x.dtype.kind != x_prime.dtype.kind:
        raise ArgumentError("x_prime", f"holds {x_prime.dtype}, x holds {x.dtype}")
    if not len(x) or not len(x_prime):
        raise ArgumentError("sample", "must not be empty")
    witness, bold = best(cells_of_views(x, x_prime, cells), draws)
    if witness is None or bold is None:
        return []
    if bold.optimistic <= witness.optimistic:
        return [witness]
    return [replace(witness, share=1 - _BOLD_SHARE), replace(bold, share=_BOLD_SHARE)]


def best(
    views: Iterable[Cells], draws: int, level: Level | None = None, daring: float = 0.5
) -> tuple[Candidate | None, Candidate | None]:
    """Return the events of the largest promise, with full and with little caution."""
    witness = bold = None
    for cells in views:
        for candidate in itertools.chain.from_iterable(cells.judged(draws, level, daring)):
            if witness is None or candidate.expected > witness.expected:
                witness = candidate
            if bold is None or candidate.optimistic > bold.optimistic:
                bold = candidate
    return witness, bold


def cells_of_views(
    x: Sample, x_prime: Sample, cells: int, *, fine: bool = False
) -> Iterator[Cells]:
    """Yield the cells of every view of the outputs, of shape ``(n,)`` or ``(n, d)``."""
    integers = np.issubdtype(x.dtype, np.integer)
    if x.ndim == 1:
        line = Numbers(x, x_prime, cells, View(), fine=fine)
        yield from line.choices()
        if not integers or line.repeats:
            return
        size = int(max(x.max(), x_prime.max())).bit_length() if x.dtype.kind == "i" else 0
        if min(x.min(), x_prime.min()) < 0 or not size:
            return
        kind = "bit"
        columns, columns_prime = (entries_of(side)[:size] for side in (x, x_prime))
    else:
        kind = "entry"
        columns, columns_prime = entries_of(x), entries_of(x_prime)
        if integers:
            yield Rows(x, x_prime)
    for i, sides in enumerate(zip(columns, columns_prime, strict=True)):
        yield from Numbers(*sides, cells, View(kind, i), fine=fine).choices()  # type: ignore[arg-type]
    if len(columns) > 1:
        yield from independent_score(columns, columns_prime, cells, fine).choices()


def independent_score(
    columns: list[Sample], columns_prime: list[Sample], cells: int, fine: bool = False
) -> Numbers:
    """Learn a score on half of the draws; return the scores of the others.

    The score is that of `summed`; columns have shape ``(n,)``.
    """
    half, half_prime = len(columns[0]) // 2, len(columns_prime[0]) // 2
    view = summed([c[:half] for c in columns], [c[:half_prime] for c in columns_prime], cells)
    totals = view.of_entries([column[half:] for column in columns])
    totals_prime = view.of_entries([column[half_prime:] for column in columns_prime])
    return Numbers(totals, totals_prime, cells, view, fine=fine)


def summed(columns: list[Sample], columns_prime: list[Sample], cells: int) -> View:
    """Learn a score, the log likelihood ratio where entries are independent.

    Columns are of shape ``(n,)``; each is cut into so many ``cells``.
    """
    scores = []
    for column, column_prime in zip(columns, columns_prime, strict=True):
        entry = Numbers(column, column_prime, cells, View(), values=False)
        starts, adds, missing = entry.log_ratios()
        scores.append((tuple(starts.tolist()), tuple(adds.tolist()), missing))
    return View("score", scores=tuple(scores))

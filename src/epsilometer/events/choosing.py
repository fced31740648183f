"""The events that past draws of a pair suggest, for fresh draws to confirm.

An event is chosen before the draws that confirm it. The best is {loss >= c}; its outputs have to be
learned, and what is best on the draws it was learned from is often noise. So

- outputs are put into cells without a unit (`cells`); vectors are read entry by entry, row by
  row, and by a score that adds up over the entries, integers without repetition bit by bit
  (`looks`);
- cells are ordered by a shrunken log ratio of counts on four fifths of the draws, and sets of the
  first r cells are judged on the last fifth, five times in turn; half-lines are judged directly
  (`candidates`);
- the promise of an event is the log ratio of its probabilities less its possible error on the first
  draws and on the fresh ones. A rare event can be worth far more than its promise, so the event
  with the largest promise at little caution is returned, too.

    past = PastDraws(x, x_prime, columns_of(pair))
    choose_events(past, [Pure(1.0)], ahead=5000)  # the events x <= 0.2 (cautious) and x <= -3.1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from epsilometer.claims import EventClaim
from epsilometer.events.candidates import NOTHING, Candidate, Cells, Level
from epsilometer.events.events import Event
from epsilometer.events.looks import CELLS, Look, PastDraws, looks_at

_LITTLE = 1.5  # standard deviations that an optimistic estimate of an event subtracts
_PROMISING = 8  # looks that see all draws, where some draws tell which
_AS_GOOD = 0.97  # of the largest level, above which an event that is easier to read is chosen
_HARD_TO_READ = "row", "score", "learned", "low bit"
"""Kinds of views whose events are hard to read: they come last."""


@dataclass(frozen=True, eq=False)
class ChosenEvent:
    """An event that past draws suggest.

    P is the distribution on x', and Q that on x, if ``swapped``; the event is likelier under P.
    ``share`` and ``share_prime`` are estimates of P(S) and Q(S). Fresh draws should show the level
    ``expected``, a cautious estimate.
    """

    event: Event
    swapped: bool
    share: float
    share_prime: float
    expected: float


def choose_events(past: PastDraws, claims: Sequence[EventClaim], ahead: int) -> list[ChosenEvent]:
    """Return two events for the first claim, and one for each further; none if nothing differs.

    The more cautious comes first. ``ahead`` draws a side are to come.
    """
    first = claims[0]
    level = None if first.fixed_delta == 0 else first.of
    cells = cells_of(past, ahead, level)
    candidates = list(_best(cells, ahead, level))
    # caution looks too far out for a further level
    candidates += [_best(cells, ahead, further.of)[1] for further in claims[1:]]
    there = [candidate for candidate in candidates if candidate is not None]
    if not there:
        return []
    return [_chosen(candidate or there[0], past) for candidate in candidates]


def _chosen(candidate: Candidate, past: PastDraws) -> ChosenEvent:
    """Return the event of a candidate, with its shares of past draws."""
    event = candidate.make_event()
    swapped = candidate.sign < 0
    likelier, other = (past.x_prime, past.x) if swapped else past.sides
    share = (event.count(likelier) + 0.5) / (len(likelier) + 1)
    share_prime = (event.count(other) + 0.5) / (len(other) + 1)
    return ChosenEvent(event, swapped, share, share_prime, candidate.expected)


def best(
    cells: Iterable[Cells], draws: int, level: Level | None = None
) -> tuple[Candidate | None, Candidate | None]:
    """Return the events of the largest promise, with full and with little caution."""
    candidates: list[Candidate] = []
    for each in cells:
        candidates += each.judged(draws, level, _LITTLE)
    surest = max(candidates, key=attrgetter("expected"), default=None)
    return surest, max(candidates, key=attrgetter("optimistic"), default=None)


def _best(
    cells: tuple[list[Cells], list[Cells]], ahead: int, level: Level | None
) -> tuple[Candidate | None, Candidate | None]:
    """Return the events with the largest expected level, and with the largest optimistic one."""
    easy, hard = cells
    surest, boldest = best(easy, ahead, level)
    surest_hard, boldest_hard = best(hard, ahead, level)
    sure = _easier(surest, surest_hard, "expected")
    return sure, _easier(boldest, boldest_hard, "optimistic")


def _easier(easy: Candidate | None, hard: Candidate | None, estimate: str) -> Candidate | None:
    """Return the event that is easy to read, if it is as good by an estimate as the other."""
    if easy is None or hard is None:
        return easy or hard
    level = getattr(easy, estimate)
    other = getattr(hard, estimate)
    as_good = level >= other or level >= _AS_GOOD * other
    return easy if as_good else hard


def cells_of(past: PastDraws, ahead: int, level: Level | None) -> tuple[list[Cells], list[Cells]]:
    """Return the cells of all looks: first those that are easy to read, then the others."""
    looks = looks_at(past)
    if past.screened is not None:
        looks = _promising(looks, past.screened, ahead, level)
    easy: list[Cells] = []
    hard: list[Cells] = []
    for look in looks:
        cells = hard if look.view.kind in _HARD_TO_READ else easy
        cells += look.cells(CELLS)
    return easy, hard


def _promising(looks: list[Look], most: int, ahead: int, level: Level | None) -> list[Look]:
    """Return the looks that promise most on some of the draws, as much as another is sure of.

    Entries that are equal in one output of a thousand promise nothing on some: they stay.
    """
    sure, promised = np.full((2, len(looks)), NOTHING)
    for i, look in enumerate(looks):
        surest, boldest = best(look.cells(CELLS, most), ahead, level)
        if surest is not None and boldest is not None:
            sure[i], promised[i] = surest.expected, boldest.optimistic
    first = np.argsort(-promised, kind="stable")[:_PROMISING]
    enough = promised[first] >= min(sure.max(), promised.max())
    rare = [i for i, look in enumerate(looks) if look.view.kind == "equal"]
    return [looks[i] for i in np.union1d(first[enough], np.array(rare, np.int64))]

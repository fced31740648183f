"""The events that past draws of a pair suggest, for fresh draws to confirm.

For each level, two events are chosen: that of the largest cautious estimate, and that of the
largest optimistic one, since a rare event can be worth far more than a cautious estimate says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from epsilometer.arrays import Sample
from epsilometer.claims import EventClaim
from epsilometer.events.candidates import Candidate, Cells, Level, Numbers
from epsilometer.events.choosing import ROWS, Look, PastDraws, best, looks_of
from epsilometer.events.columns import Columns
from epsilometer.events.events import Event
from epsilometer.events.fine_cells import low_bit_views, remainder_views
from epsilometer.events.scores import differences, learn_tables, learned_score, summaries

LITTLE = 1.5  # standard deviations of an optimistic estimate
CELLS = 64  # between quantiles of both sides
_SCREENED, _FULL = 2048, 8  # draws of a side that tell so many looks which see all draws
_SAME = 0.97  # of the largest expected level, above which an event that is easier to read is chosen


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
    chosen = list(_best(cells, ahead, level))
    # caution looks too far out for a further level
    chosen += [_best(cells, ahead, further.of)[1] for further in claims[1:]]
    there = [candidate for candidate in chosen if candidate is not None]
    return [_chosen(candidate or there[0], *past.sides) for candidate in chosen] if there else []


def _chosen(candidate: Candidate, x: Sample, x_prime: Sample) -> ChosenEvent:
    event, swapped = candidate.make_event(), candidate.sign < 0
    likelier, other = (x_prime, x) if swapped else (x, x_prime)
    share = (event.count(likelier) + 0.5) / (len(likelier) + 1)
    share_prime = (event.count(other) + 0.5) / (len(other) + 1)
    return ChosenEvent(event, swapped, share, share_prime, candidate.expected)


def _best(
    cells: tuple[list[Cells], ...], ahead: int, level: Level | None
) -> tuple[Candidate | None, Candidate | None]:
    """Return the events with the largest expected level, and the largest optimistic one."""
    events = [best(look, ahead, level, LITTLE) for look in cells]
    chosen: list[Candidate | None] = []  # of earlier cells, which are easier to read, if as good
    for i, kind in enumerate(("expected", "optimistic")):
        levels = [-math.inf if pair[i] is None else getattr(pair[i], kind) for pair in events]
        enough = [each >= min(max(levels), _SAME * max(levels)) for each in levels]
        chosen.append(events[enough.index(True)][i])
    return chosen[0], chosen[1]


def cells_of(past: PastDraws, ahead: int, level: Level | None) -> tuple[list[Cells], ...]:
    """Return the cells of numbers and their remainders, then of scores, rows and low bits."""
    n, wide = len(past.x), past.x.ndim == 2
    most = min(max(_SCREENED, n // 8), ROWS) if wide and n > 2 * _SCREENED else None
    looks = _looks(past, most)
    if most is not None:
        looks = _promising(looks, most, ahead, level)
    several: tuple[list[Cells], list[Cells]] = ([], [])
    for look in looks:
        kind = look.view.kind in ("row", "score", "learned", "low bit")
        several[kind].extend(look.cells(CELLS))
    return several


def _promising(looks: list[Look], most: int, ahead: int, level: Level | None) -> list[Look]:
    """Return the looks that promise most on some of the draws, as much as another is sure of."""
    events = [best(look.cells(CELLS, most), ahead, level, LITTLE) for look in looks]
    sure = np.array([-math.inf if one is None else one.expected for one, _ in events])
    promised = np.array([-math.inf if one is None else one.optimistic for _, one in events])
    first = np.argsort(-promised, kind="stable")[:_FULL]
    enough = promised[first] >= min(sure.max(), promised.max())
    return [looks[i] for i in np.sort(first[enough])]


def _looks(past: PastDraws, most: int | None) -> list[Look]:
    """Return all looks at past draws, of which ``most`` tell which hide what quantiles miss."""
    columns: Columns = past.layout
    looks = []
    for look in looks_of(past, CELLS):
        looks.append(look)
        entry = look.view.entry
        if look.view.kind not in ("output", "entry") or entry not in columns.numbers:
            continue
        numbers = look.cells(CELLS, most)[0]
        if not isinstance(numbers, Numbers) or numbers.repeats:
            continue
        hidden = partial(remainder_views, numbers, CELLS, as_reals=columns.as_reals)
        looks += [Look(view, past) for view in past.once(entry, _SCREENED, hidden)]
        if entry in columns.reals and not columns.as_reals:
            looks += [Look(view, past) for view in low_bit_views(numbers)]
    if past.x.ndim == 2:
        apart = partial(differences, *past.sides, columns.numbers, CELLS)
        alike = partial(summaries, past.sides, columns)
        views = past.once("differences", _SCREENED, apart) + past.once("summaries", ROWS, alike)
        looks += [Look(view, past) for view in views]
        learners = {
            "learned": partial(learned_score, entries=columns.numbers),
            "tables": partial(learn_tables, entries=range(past.x.shape[1])),
        }
        scores = [past.score(name, learner) for name, learner in learners.items()]
        looks += [score for score in scores if score is not None]
    return looks

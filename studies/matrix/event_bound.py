"""The exact bound of the pure level from events: some draws choose, the others confirm."""

from __future__ import annotations

from epsilometer.events.candidates import Cells
from epsilometer.events.choosing import best
from epsilometer.events.exact_test import lower_bound
from epsilometer.events.looks import CELLS, PLAIN, PastDraws, looks_at
from epsilometer.numerics.arrays import Sample
from epsilometer_audit.outputs.outcomes import learn_layout

CHOOSING = 0.3  # share of the draws
_BOLD_SHARE = 0.15  # of alpha, for an event that promises more at little caution

Sides = tuple[Sample, Sample]


def cells_of(x: Sample, x_prime: Sample) -> list[Cells]:
    """Return the cells of outputs of both sides, of shape ``(n,)`` or ``(n, d)``."""
    past = PastDraws(x, x_prime, learn_layout(x, x_prime))
    every: list[Cells] = []
    for look in looks_at(past, PLAIN):
        every += look.cells(CELLS)
    return every


def event_bound(past: Sides, fresh: Sides, alpha: float) -> float:
    """Return the larger bound of the events that promise most (Berger and Boos 1994), in nats.

    Sides have shape ``(n,)`` or ``(n, d)``. It lies above the level in a share ``alpha`` of the
    runs at most, at every n.
    """
    n = len(fresh[0])
    witness, bold = best(cells_of(*past), n)
    if witness is None or bold is None:
        return 0.0
    chosen = [(witness, 1.0)]
    if bold.optimistic > witness.optimistic:
        chosen = [(witness, 1 - _BOLD_SHARE), (bold, _BOLD_SHARE)]
    bounds = []
    for candidate, share in chosen:
        event = candidate.make_event()
        hits, hits_prime = [event.count(side) for side in fresh][:: candidate.sign]
        bounds.append(lower_bound(hits, n, hits_prime, n, alpha=share * alpha))
    return max(bounds)

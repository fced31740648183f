"""The exact test for a fixed number of draws, and its lower bound for a privacy level.

The first fifth of the draws, of outputs of several columns half as many more, chooses events
(`epsilometer.events.learning`), and the rest confirms them. A claim says what the counts of an
event refute (`EventClaim.lower_bound`); several events share alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from epsilometer.arrays import Sample
from epsilometer.claims import EventClaim
from epsilometer.events.learning import ChosenEvent

CHOOSING = 0.2  # share of the draws
_OTHER_EVENT = 0.15  # share of alpha for each event but the first


@dataclass(frozen=True, eq=False)
class Counted:
    """A chosen event, and its ``hits`` among ``draws`` fresh draws of either side.

    ``hits`` are those of the side where it is likelier, and ``hits_prime`` those of the other.
    """

    chosen: ChosenEvent
    hits: int
    hits_prime: int
    draws: int


def count(chosen: Sequence[ChosenEvent], x: Sample, x_prime: Sample) -> list[Counted]:
    """Count fresh draws, of shape ``(n,)`` or ``(n, d)``, in events; equally many a side."""
    n = min(len(x), len(x_prime))
    counted = []
    for each in chosen:
        hits, hits_prime = each.event.count(x[:n]), each.event.count(x_prime[:n])
        if each.swapped:
            hits, hits_prime = hits_prime, hits
        counted.append(Counted(each, hits, hits_prime, n))
    return counted


def largest_bound(
    counted: Sequence[Counted], claim: EventClaim, alpha: float, least: float = 0.0
) -> tuple[float, Counted | None]:
    """Return the largest of the events' bounds above ``least`` and its event, or that and None."""
    largest, best = least, None
    for i, event in enumerate(counted[::-1] if claim.of_last_event else counted):
        share = _OTHER_EVENT if i else 1 - _OTHER_EVENT * (len(counted) - 1)
        counts, share_prime = (event.hits, event.hits_prime, event.draws), event.chosen.share_prime
        bound = claim.lower_bound(*counts, share_prime, alpha=alpha * share, least=largest)
        if bound > largest:
            largest, best = bound, event
    return largest, best

"""What the past says is worth betting on: events, or functions of the outputs.

Whatever is chosen here is confirmed on draws that were not seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.audit.bets import Bet
from epsilometer.audit.claims import Claim, Delta, EventClaim, Pure
from epsilometer.estimators.candidates import Candidate, Cells
from epsilometer.estimators.events import Event
from epsilometer.estimators.witness import best, looks

Floats = NDArray[np.float64]
Sample = NDArray[Any]

_CELLS = 64  # between quantiles of both sides
_SHRINKAGES = (2.0, 16.0, 128.0)  # counts that are added to both sides of a cell
_CLIPS = (1.0, 0.99, 0.9, 0.7, 0.5)  # shares of the largest log ratio
_BOLD = 1.5  # standard deviations
_LEVELS = 48  # at which the promise of a function is looked for


def learn(x: Sample, x_prime: Sample, claim: Claim, ahead: int, alpha: float) -> list[Bet]:
    """Return what to bet on, always equally many: the more cautious first.

    Parameters
    ----------
    x, x_prime
        The past of both sides, of shape ``(n,)`` or ``(n, d)``.
    claim
        What is claimed.
    ahead
        How many draws a side are to come.
    alpha
        The probability of a false alarm.

    An empty list says that the past shows nothing at all that differs.
    """
    seen = list(looks(x, x_prime, _CELLS, fine=True))
    if isinstance(claim, EventClaim):
        return _events(seen, x, x_prime, claim, ahead)
    bets = (
        bet
        for order in claim.orders
        for look in seen
        for bet in _functions(look, claim, order, ahead, alpha)
    )
    found = max(bets, key=lambda bet: bet.promise, default=None)
    return [] if found is None else [found]


def promise(bets: list[Bet]) -> float:
    """Return the level that the most cautious bet promises to show; it may be below 0."""
    return max((bet.promise for bet in bets), default=-math.inf)


def _shown(bet: Bet, claim: Claim) -> float:
    if isinstance(claim, EventClaim):
        return float(claim.of(np.array(bet.mean_phi), np.array(bet.mean_psi)))
    a = bet.order
    if min(bet.mean_phi, bet.mean_psi) <= 0:  # no digits are left
        return -math.inf
    level = a / (a - 1) * math.log(bet.mean_phi) - math.log(bet.mean_psi)
    return level if claim.quantity != "rho" else level / a


def _events(
    seen: list[Cells], x: Sample, x_prime: Sample, claim: EventClaim, ahead: int
) -> list[Bet]:
    plain = isinstance(claim, Pure) and claim.delta == 0
    careful, bold = best(seen, ahead, None if plain else claim.of, _BOLD)
    chosen = [careful, bold]
    if isinstance(claim, Pure) and claim.delta > 0:
        chosen.append(best(seen, ahead, Delta(claim.epsilon, claim.delta).of)[0])
    first = next((candidate for candidate in chosen if candidate is not None), None)
    if first is None:
        return []
    return [_event_bet(candidate or first, x, x_prime) for candidate in chosen]


def _event_bet(candidate: Candidate, x: Sample, x_prime: Sample) -> Bet:
    event = candidate.made()
    swapped = candidate.sign < 0
    sides = (x_prime, x) if swapped else (x, x_prime)
    p, q = ((int(event.holds(side).sum()) + 0.5) / (len(side) + 1) for side in sides)
    inside = np.array([0.0, 1.0])

    def coded(sample: Sample) -> NDArray[np.int64]:
        return event.holds(sample).astype(np.int64)

    return Bet(
        coded,
        inside,
        inside,
        swapped,
        p,
        q,
        p * (1 - p),
        q * (1 - q),
        told=lambda: event,
        promise=candidate.promise,
    )


def _functions(look: Cells, claim: Claim, order: float, ahead: int, alpha: float) -> Iterator[Bet]:
    """Yield what functions of these cells promise, and the bets on them.

    g is a shrunken log ratio of counts, cut off where few draws say much. Its means are those on
    fifths of the draws that it was not learned from.
    """
    for swapped in (False, True):
        ours, theirs = look.folds[::-1] if swapped else look.folds
        n, m = int(ours.sum()), int(theirs.sum())
        rest, rest_prime = (side.sum(axis=0) - side for side in (ours, theirs))
        for shrinkage in _SHRINKAGES:
            whole = _log_ratio(ours.sum(axis=0), theirs.sum(axis=0), shrinkage)
            tops = np.array(_CLIPS) * whole.max()
            g = np.maximum(_log_ratio(rest, rest_prime, shrinkage), 2 * whole.min())
            g = np.minimum(g, tops[:, None, None])  # of shape (clips, folds, cells)
            g -= tops[:, None, None]  # phi and psi are at most 1: only their ratio matters
            phi, psi = np.exp((order - 1) * g), np.exp(order * g)
            means_phi, means_psi = np.sum(ours * phi, (1, 2)) / n, np.sum(theirs * psi, (1, 2)) / m
            spread_phi = np.maximum(np.sum(ours * phi**2, (1, 2)) / n - means_phi**2, 0.0)
            spread_psi = np.maximum(np.sum(theirs * psi**2, (1, 2)) / m - means_psi**2, 0.0)
            for i, top in enumerate(tops):
                likelier = np.append(whole > 0, False)
                final = np.append(np.minimum(whole, top), 0.0) - top  # no cell: as likely as not
                bet = Bet(
                    look.coded,
                    np.exp((order - 1) * final),
                    np.exp(order * final),
                    swapped,
                    float(means_phi[i]),
                    float(means_psi[i]),
                    float(spread_phi[i]),
                    float(spread_psi[i]),
                    order,
                    _told(look, likelier),
                    likelier,
                )
                yield replace(bet, promise=_promised(bet, claim, ahead, min(n, m), alpha))


def _told(look: Cells, inside: NDArray[np.bool_]) -> Callable[[], Event | None]:
    """Return what tells the outputs of some cells."""

    def told() -> Event | None:
        cells = np.flatnonzero(inside[:-1])
        return look.event(cells) if cells.size else None

    return told


def _log_ratio(
    counts: NDArray[np.int64], counts_prime: NDArray[np.int64], shrinkage: float
) -> Floats:
    """Return the log ratio of frequencies in cells, pulled towards 0 where counts are few."""
    n, m = (side.sum(axis=-1, keepdims=True) for side in (counts, counts_prime))
    some = shrinkage / n
    return np.asarray(np.log(counts / n + some) - np.log(counts_prime / m + some))


def _promised(bet: Bet, claim: Claim, ahead: int, past: int, alpha: float) -> float:
    """Return the largest level that is to be refuted within the draws to come.

    A stake l grows the log of the wealth by l (excess - l variance / 2) a draw; the excess is less
    what the past may err by.
    """
    shown = _shown(bet, claim)
    if not shown > 0:
        return shown
    shown = min(shown, float(claim.grid()[-1]))
    levels = shown * np.linspace(0, 1, _LEVELS)
    kappa, b = claim.null(levels, bet.mean_psi, bet.order)
    excess = bet.mean_phi - kappa * bet.mean_psi - b
    variance = bet.variance_phi + kappa**2 * bet.variance_psi
    excess -= np.sqrt(variance / past)
    needed = math.log(1 / alpha)
    stake = np.sqrt(2 * needed / (ahead * np.maximum(variance, 1e-300)))
    stake = np.minimum(stake, 1 / np.maximum(kappa * (bet.psi.max() - bet.mean_psi), 1e-300))
    refuted = ahead * stake * (excess - stake * variance / 2) >= needed
    grown = float((ahead * stake * (excess - stake * variance / 2)).max())
    return float(levels[refuted].max()) if refuted.any() else -1 / (1 + math.exp(grown))

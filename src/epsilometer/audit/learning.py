"""What the past says is worth betting on: events, or functions of the outputs.

Whatever is chosen here is confirmed on draws that were not seen.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.audit.bets import Bet
from epsilometer.audit.claims import Claim, Delta, EventClaim, Pure
from epsilometer.audit.outcomes import Layout
from epsilometer.audit.scores import learned_scores
from epsilometer.estimators.candidates import Candidate, Cells, Level, Numbers
from epsilometer.estimators.events import Event
from epsilometer.estimators.low_bits import low_bits
from epsilometer.estimators.witness import best, looks

Floats = NDArray[np.float64]
Sample = NDArray[Any]

_CELLS = 64  # between quantiles of both sides
_SHRINKAGES = (2.0, 16.0, 128.0)  # counts that are added to both sides of a cell
_CLIPS = (1.0, 0.99, 0.9, 0.7, 0.5)  # shares of the largest log ratio
_BOLD = 1.5  # standard deviations
_LEVELS = 48  # at which the promise of a function is looked for
_PLAIN = (1.0, 0.9, 0.75)  # of what a look promises, for which one that is easier to read is taken,
_AMPLE = 1.2  # if it promises so many times the claim,
_SAME = 0.97  # and of what it promises in any case


def learn(
    x: Sample,
    x_prime: Sample,
    claim: Claim,
    ahead: int,
    alpha: float,
    layout: Layout | None = None,
    *,
    as_reals: bool = False,
) -> list[Bet]:
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
    layout
        What the columns are: without it, neither low bits nor scores of several are looked at.
    as_reals
        Whether outputs are looked at as the reals that they stand for, without their low bits.

    An empty list says that the past shows nothing at all that differs.
    """
    seen = _looks(x, x_prime, layout, as_reals)
    if isinstance(claim, EventClaim):
        return _events(seen, x, x_prime, claim, ahead)
    bets = (
        bet
        for order in claim.orders
        for look in itertools.chain.from_iterable(seen)
        for bet in _functions(look, claim, order, ahead, alpha)
    )
    found = max(bets, key=lambda bet: bet.promise, default=None)
    return [] if found is None else [found]


def _looks(
    x: Sample, x_prime: Sample, layout: Layout | None, as_reals: bool
) -> tuple[list[Cells], ...]:
    """Return the cells of all views: those of single numbers, of several, of low bits in ranges."""
    reals = () if layout is None or as_reals else layout.reals
    single: list[Cells] = []
    several: list[Cells] = []
    placed: list[Cells] = []
    for look in looks(x, x_prime, _CELLS, fine=True):
        kind = look.view.kind
        (several if kind in ("row", "score") else single).append(look)
        if isinstance(look, Numbers) and kind in ("output", "entry") and look.view.entry in reals:
            bits = low_bits(look, look.view.of(x), look.view.of(x_prime))
            several += bits[:1]
            placed += bits[1:]
    if layout is not None and x.ndim == 2:
        several += learned_scores(x, x_prime, layout.numbers, _CELLS)
    return single, several, placed


def promise(bets: list[Bet]) -> float:
    """Return the level that the most cautious bet promises to show; it may be below 0."""
    return max((bet.promise for bet in bets), default=-math.inf)


def hope(bets: list[Bet]) -> float:
    """Return the level that the boldest bet may show, as a rare event may be worth far more."""
    return max((max(bet.hope, bet.promise) for bet in bets), default=-math.inf)


def _shown(bet: Bet, claim: Claim) -> float:
    if isinstance(claim, EventClaim):
        return float(claim.of(np.array(bet.mean_phi), np.array(bet.mean_psi)))
    a = bet.order
    if min(bet.mean_phi, bet.mean_psi) <= 0:  # no digits are left
        return -math.inf
    level = a / (a - 1) * math.log(bet.mean_phi) - math.log(bet.mean_psi)
    return level if claim.quantity != "rho" else level / a


def _events(
    seen: tuple[list[Cells], ...], x: Sample, x_prime: Sample, claim: EventClaim, ahead: int
) -> list[Bet]:
    plain = isinstance(claim, Pure) and claim.delta == 0
    level = None if plain else claim.of
    chosen = list(_best(seen, ahead, level, claim.level))
    if isinstance(claim, Pure) and claim.delta > 0:
        delta = Delta(claim.epsilon, claim.delta)
        chosen.append(_best(seen, ahead, delta.of, claim.delta)[0])
    first = next((candidate for candidate in chosen if candidate is not None), None)
    if first is None:
        return []
    return [_event_bet(candidate or first, x, x_prime) for candidate in chosen]


def _best(
    seen: tuple[list[Cells], ...], ahead: int, level: Level | None, claimed: float
) -> tuple[Candidate | None, Candidate | None]:
    """Return the events that promise most, with caution and with little.

    Those of later looks are harder to read, so that they have to promise more, or far more where
    what is easier to read promises enough to refute the claim.
    """
    found = [best(cells, ahead, level, _BOLD) for cells in seen]
    chosen: list[Candidate | None] = []
    for i, kind in enumerate(("promise", "bold")):
        promised = [-math.inf if pair[i] is None else getattr(pair[i], kind) for pair in found]
        most = max(promised)
        share = _PLAIN[promised.index(most)]
        enough = [
            one >= most or one > _SAME * most or one > max(share * most, _AMPLE * claimed)
            for one in promised
        ]
        chosen.append(found[enough.index(True)][i])
    return chosen[0], chosen[1]


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
        hope=candidate.bold,
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

"""What the past says is worth betting on: events, or functions of the outputs.

Whatever is chosen here is confirmed on draws that were not seen.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.auditing.outcomes.outcomes import Layout
from epsilometer.auditing.statistics.bets import Bet, aimed_stake
from epsilometer.auditing.statistics.claims import Claim, Delta, EventClaim, Pure
from epsilometer.auditing.statistics.scores import differences, learned_scores
from epsilometer.estimators.witness import best, cells_of_views
from epsilometer.events.candidates import Candidate, Cells, Level, Numbers
from epsilometer.events.closer_looks import narrow_cells, remainder_cells
from epsilometer.events.events import Event
from epsilometer.events.low_bits import low_bits

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
    """Return the cells of all views, those that are hardest to read last.

    They are of single numbers and their remainders; of several, and low bits alone; of low bits in
    ranges, and narrow ones.
    """
    reals = () if layout is None or as_reals else layout.reals
    single: list[Cells] = []
    several: list[Cells] = []
    placed: list[Cells] = []
    for look in cells_of_views(x, x_prime, _CELLS, fine=True):
        kind = look.view.kind
        (several if kind in ("row", "score") else single).append(look)
        if layout is None or not isinstance(look, Numbers) or kind not in ("output", "entry"):
            continue
        if look.view.entry in layout.numbers and not look.repeats:
            number, number_prime = look.view.of(x), look.view.of(x_prime)
            single += remainder_cells(look, number, number_prime, _CELLS, as_reals=as_reals)
            placed += narrow_cells(look, number, number_prime)
            if look.view.entry in reals:
                bits = low_bits(look, number, number_prime)
                several += bits[:1]
                placed += bits[1:]
    if layout is not None and x.ndim == 2:
        single += differences(x, x_prime, layout.numbers, _CELLS)
        several += learned_scores(x, x_prime, layout.numbers, _CELLS)
    return single, several, placed


def promise(bets: list[Bet]) -> float:
    """Return the level that the most cautious bet promises to show; it may be below 0."""
    return max((bet.promise for bet in bets), default=-math.inf)


def hope(bets: list[Bet]) -> float:
    """Return the level that the boldest bet may show, as a rare event may be worth far more."""
    return max((max(bet.hope, bet.promise) for bet in bets), default=-math.inf)


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

    moments = p, q, p * (1 - p), q * (1 - q)
    bet = Bet(coded, inside, inside, swapped, *moments, event=lambda: event)
    return replace(bet, promise=candidate.promise, hope=candidate.bold)


def _functions(look: Cells, claim: Claim, order: float, ahead: int, alpha: float) -> Iterator[Bet]:
    """Yield the best bet on functions of these cells, for each direction and shrinkage.

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
            means_phi = np.sum(ours * phi, (1, 2)) / n
            spread_phi = np.maximum(np.sum(ours * phi**2, (1, 2)) / n - means_phi**2, 0.0)
            # Half a count at the top: an E_Q psi that looks like 0 would leave no stake.
            means_psi = (np.sum(theirs * psi, (1, 2)) + 0.5) / (m + 1)
            spread_psi = (np.sum(theirs * psi**2, (1, 2)) + 0.5) / (m + 1) - means_psi**2
            means, spreads = (means_phi, means_psi), (spread_phi, spread_psi)
            promises = _promised(means, spreads, claim, order, ahead, min(n, m), alpha)
            i = int(promises.argmax())
            likelier = np.append(whole > 0, False)
            final = np.append(np.minimum(whole, tops[i]), 0.0) - tops[i]  # no cell: ratio 1
            yield Bet(
                look.coded,
                np.exp((order - 1) * final),
                np.exp(order * final),
                swapped,
                float(means_phi[i]),
                float(means_psi[i]),
                float(spread_phi[i]),
                float(spread_psi[i]),
                order,
                partial(_event_of, look, likelier),
                likelier,
                promise=float(promises[i]),
            )


def _event_of(look: Cells, inside: NDArray[np.bool_]) -> Event | None:
    """Return the event of some cells; None if there are none."""
    cells = np.flatnonzero(inside[:-1])
    return look.event(cells) if cells.size else None


def _log_ratio(
    counts: NDArray[np.int64], counts_prime: NDArray[np.int64], shrinkage: float
) -> Floats:
    """Return the log ratio of frequencies in cells, pulled towards 0 where counts are few."""
    n, m = (side.sum(axis=-1, keepdims=True) for side in (counts, counts_prime))
    some = shrinkage / n
    return np.asarray(np.log(counts / n + some) - np.log(counts_prime / m + some))


def _promised(
    means: tuple[Floats, Floats],
    spreads: tuple[Floats, Floats],
    claim: Claim,
    order: float,
    ahead: int,
    past: int,
    alpha: float,
) -> Floats:
    """Return the largest levels that are to be refuted within the draws to come, of shape ``(k,)``.

    A stake l grows the log of the wealth by l (excess - l variance / 2) a draw; the excess is less
    what the past may err by. Means and variances are those of phi and of psi, each ``(k,)``.
    """
    with np.errstate(divide="ignore"):  # no digits may be left of a mean
        shown = order / (order - 1) * np.log(means[0]) - np.log(means[1])
    shown = np.minimum(shown / (order if claim.quantity == "rho" else 1), claim.grid()[-1])
    (mean, v), (variance, spread) = (np.expand_dims(each, -1) for each in (means, spreads))
    levels = np.maximum(shown, 0.0)[:, None] * np.linspace(0, 1, _LEVELS)
    kappa, b = claim.null(levels, v, order)
    variance = variance + kappa**2 * spread
    excess = mean - kappa * v - b - np.sqrt(variance / past)
    needed = math.log(1 / alpha)
    stake = aimed_stake(variance, ahead, alpha)
    stake = np.minimum(stake, 1 / np.maximum(kappa * (1 - v), 1e-300))
    grown = ahead * stake * (excess - stake * variance / 2)
    reached = np.where(grown >= needed, levels, -1.0).max(axis=1)
    short = -1 / (1 + np.exp(np.minimum(grown.max(axis=1), 700.0)))
    return np.asarray(np.where(shown > 0, np.where(reached < 0, short, reached), shown))

"""The choice of bets on past draws: events, or functions of the outputs.

Fresh draws confirm them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from epsilometer.arrays import Bools, Counts, Floats
from epsilometer.claims import Claim, EventClaim, Gaussian
from epsilometer.events.candidates import SHRINKAGES, Cells
from epsilometer.events.choosing import ChosenEvent, cells_of, choose_events
from epsilometer.events.events import Event
from epsilometer.events.looks import PastDraws
from epsilometer.events.scores import CELLS, ENTRIES
from epsilometer.ratios import log_share
from epsilometer_audit.outcomes.outcomes import Layout
from epsilometer_audit.statistics.claims import DivergenceClaim
from epsilometer_audit.statistics.wealth import Bet, aimed_stake

_CLIPS = (1.0, 0.99, 0.9, 0.7, 0.5)  # shares of the largest log ratio


def learn(past: PastDraws, claim: Claim, ahead: int, alpha: float) -> list[Bet]:
    """Return the bets, always equally many: the more cautious first; none if nothing differs.

    ``ahead`` draws a side are to come.
    """
    if isinstance(claim, EventClaim):
        return [_event_bet(chosen) for chosen in choose_events(past, claim.levels, ahead)]
    assert isinstance(claim, DivergenceClaim)
    cells = cells_of(past, ahead, Gaussian(1.0).of)
    bets = [
        bet
        for order in claim.orders
        for look in itertools.chain.from_iterable(cells)
        for bet in _function_bets(look, claim, order, ahead, alpha)
    ]
    return [max(bets, key=lambda bet: bet.expected)] if bets else []


def looked_at(layout: Layout) -> str:
    """Say which functions of the columns of an output an audit looks at, and which not."""
    size = len(layout.columns)
    if size == 1 and layout.columns[0].kind == "word":
        return "each word, and sets of words"
    if size == 1:
        bits = ", bits and sums of bits" if layout.whole else ", low bits" * (not layout.as_reals)
        return f"values, ranges, remainders{bits}; not: other functions of digits or bits"
    looks, cells = f"columns one by one, all pairs of {size}", f"in {CELLS} x {CELLS} cells"
    if size > ENTRIES:
        looks = f"the {ENTRIES} of {size} columns that differ most, one by one and in pairs"
    sums = ", sums, ends, places and equality of entries" if layout.groups else ""
    rows = ", rows" if layout.whole else ""
    return f"{looks} {cells}{rows}{sums}; not: finer laws of two, other functions of three or more"


def expected(bets: list[Bet]) -> float:
    """Return the largest expected level of the bets; it may be below 0."""
    return max((bet.expected for bet in bets), default=-math.inf)


def _event_bet(chosen: ChosenEvent) -> Bet:
    event, indicator = chosen.event, np.array([0.0, 1.0])
    p, q = chosen.share, chosen.share_prime
    return Bet(
        lambda sample: event.holds(sample).view(np.int8),
        indicator,
        indicator,
        chosen.swapped,
        *(p, q, p * (1 - p), q * (1 - q)),
        event=lambda: event,
        expected=chosen.expected,
    )


def _function_bets(
    look: Cells, claim: DivergenceClaim, order: float, ahead: int, alpha: float
) -> Iterator[Bet]:
    """Yield the best bet on functions of these cells, for each direction and shrinkage."""
    for swapped in (False, True):
        ours, theirs = look.folds[::-1] if swapped else look.folds
        n, m = int(ours.sum()), int(theirs.sum())
        rest, rest_prime = (side.sum(axis=0) - side for side in (ours, theirs))
        for shrinkage in SHRINKAGES:
            # means are those on each fifth of the draws, of functions learned on the others
            whole = _log_ratio(ours.sum(axis=0), theirs.sum(axis=0), shrinkage)
            tops = np.array(_CLIPS) * whole.max()
            g = np.maximum(_log_ratio(rest, rest_prime, shrinkage), 2 * whole.min())
            g = np.minimum(g, tops[:, None, None])  # of shape (clips, folds, cells)
            g -= tops[:, None, None]  # phi and psi are at most 1: only their ratio matters
            phi, psi = np.exp((order - 1) * g), np.exp(order * g)
            means_phi = np.sum(ours * phi, (1, 2)) / n
            spread_phi = np.maximum(np.sum(ours * phi**2, (1, 2)) / n - means_phi**2, 0.0)
            # half a count at the top: if the estimate of E_Q psi were 0, there would be no stake
            means_psi = (np.sum(theirs * psi, (1, 2)) + 0.5) / (m + 1)
            spread_psi = (np.sum(theirs * psi**2, (1, 2)) + 0.5) / (m + 1) - means_psi**2
            means, spreads = (means_phi, means_psi), (spread_phi, spread_psi)
            expected = _expected_levels(means, spreads, claim, order, ahead, min(n, m), alpha)
            i = int(expected.argmax())
            likelier = np.append(whole > 0, False)
            final = np.append(np.minimum(whole, tops[i]), 0.0) - tops[i]  # outside all cells: 1
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
                expected=float(expected[i]),
            )


def _event_of(look: Cells, inside: Bools) -> Event | None:
    cells = np.flatnonzero(inside[:-1])
    return look.event(cells) if cells.size else None


def _log_ratio(counts: Counts, counts_prime: Counts, shrinkage: float) -> Floats:
    """Return the log ratio of frequencies in cells, shrunken towards 0 where counts are small."""
    n, m = (side.sum(axis=-1, keepdims=True) for side in (counts, counts_prime))
    some = shrinkage / n
    return np.asarray(np.log(counts / n + some) - np.log(counts_prime / m + some))


def _expected_levels(
    means: tuple[Floats, Floats],
    spreads: tuple[Floats, Floats],
    claim: DivergenceClaim,
    order: float,
    ahead: int,
    past: int,
    alpha: float,
) -> Floats:
    """Return the largest levels that the draws to come should refute, of shape ``(k,)``."""
    shown = order / (order - 1) * log_share(means[0]) - log_share(means[1])
    shown = np.minimum(shown / claim.divergence(1.0, order), claim.grid[-1])
    (mean, v), (variance, spread) = (np.expand_dims(each, -1) for each in (means, spreads))
    levels = np.maximum(shown, 0.0)[:, None] * np.linspace(0, 1, 48)
    kappa, b = claim.null(levels, v, order)
    variance = variance + kappa**2 * spread
    excess = mean - kappa * v - b - np.sqrt(variance / past)
    needed = math.log(1 / alpha)
    stake = aimed_stake(variance, ahead, alpha)
    stake = np.minimum(stake, 1 / np.maximum(kappa * (1 - v), 1e-300))
    # a draw adds l (excess - l variance / 2) to the log of the wealth
    grown = ahead * stake * (excess - stake * variance / 2)
    reached = np.where(grown >= needed, levels, -1.0).max(axis=1)
    short = -1 / (1 + np.exp(np.minimum(grown.max(axis=1), 700.0)))
    return np.asarray(np.where(shown > 0, np.where(reached < 0, short, reached), shown))

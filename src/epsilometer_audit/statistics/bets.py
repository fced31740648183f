"""Bets on chosen events, or on functions of the outputs: their choice, their stake, their growth.

A null hypothesis E_P[phi] <= kappa E_Q[psi] + b (see `claims`) is bet against with a stake l >= 0:
a fresh draw X of P and Y of Q multiply the wealth by

    (1 + l (phi(X) - u)) (1 - l kappa (psi(Y) - v)),        u = kappa v + b,

where both factors are at least 0. Their means A and B satisfy A + B - 2 = l (E phi - kappa E psi -
b), which is at most 0 under the null, so that A B <= 1. So the wealth is a test martingale: from 1
it reaches 1/alpha with probability alpha at most, at whatever time one looks, if phi, psi, v and l
were chosen before the draws. v is the estimate of E_Q psi on past draws. The stake is the one that
reaches 1/alpha within the draws to come at the smallest excess; it is 0 where the past shows none.

phi and psi take one value in each of k cells, so that a block of draws is k counts of either side.
Past draws choose them, fresh draws confirm them. A bet on the event "x <= 0.2" is

    bet.coded([0.1, 0.7, 0.2])        # [1, 0, 1]: the cell of each output; 1 is inside
    bet.phi, bet.psi                  # [0.0, 1.0], [0.0, 1.0]
    bet.mean_phi, bet.mean_psi        # 0.31 and 0.12: its shares of past draws of P and of Q
    placed = bet.on((x, y), [100], ahead=100)
    placed.counts, placed.counts_prime  # [[66, 34]] and [[91, 9]]: one block of a hundred draws
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from epsilometer.claims import Claim, Gaussian
from epsilometer.events.candidates import SHRINKAGES, Cells
from epsilometer.events.choosing import ChosenEvent, cells_of, choose_events
from epsilometer.events.events import Event
from epsilometer.events.exact_test import Counted
from epsilometer.events.looks import PastDraws
from epsilometer.numerics.arrays import Bools, Counts, Floats, Sample
from epsilometer.numerics.ratios import log_share
from epsilometer_audit.outputs.outcomes import Layout

_LARGEST = 0.95  # of the stake at which a factor may be 0
_CLIPS = (1.0, 0.99, 0.9, 0.7, 0.5)  # shares of the largest log ratio
_LEVELS = 48  # up to the level that past draws show, of which the draws to come may refute some
_TINY = 1e-300  # in place of 0, by which is divided
_TOP_DRAWS = 0.5  # more of the other side at the top: if E_Q psi were 0, there would be no stake


@dataclass(frozen=True, eq=False)
class Bet:
    """Functions phi and psi of the outputs, chosen on past draws.

    ``coded`` returns the cell of each output, ``(n,)``; ``phi`` and ``psi`` are values in cells,
    ``(k,)``, with estimated means and variances. P is the distribution on x', and Q that on x, if
    ``swapped``. ``order`` is that of the Rényi divergence, NaN for events. ``event`` returns the
    event of the outputs where phi is large, for a reader, or None. The draws to come should show
    the level ``expected``, a cautious estimate.
    """

    coded: Callable[[Sample], Counts]
    phi: Floats
    psi: Floats
    swapped: bool
    mean_phi: float
    mean_psi: float
    variance_phi: float
    variance_psi: float
    event: Callable[[], Event | None]
    expected: float
    order: float = math.nan

    def on(
        self,
        new: Sequence[Sample],
        sizes: Sequence[int],
        ahead: int,
        layout: Layout | None = None,
        past: int = 0,
    ) -> PlacedBet:
        """Return the bet with its counts of fresh draws, x first, in blocks of these sizes."""
        counts = self._counts(new[0], sizes)
        counts_prime = self._counts(new[1], sizes)
        if self.swapped:
            counts, counts_prime = counts_prime, counts
        return PlacedBet(self, counts, counts_prime, ahead, layout, past)

    def _counts(self, side: Sample, sizes: Sequence[int]) -> Counts:
        """Return how many draws of a side lie in each cell, by block, ``(blocks, k)``."""
        cells = self.coded(side)
        ends = [0, *np.cumsum(sizes).tolist()]
        blocks = [cells[start:end] for start, end in pairwise(ends)]
        return np.array([np.bincount(block, None, self.phi.size) for block in blocks])


@dataclass(frozen=True, eq=False)
class PlacedBet:
    """A bet and the counts of its fresh draws, equally many of P and of Q.

    ``counts`` and ``counts_prime`` are of shape ``(blocks, k)``; ``ahead`` is the largest number of
    draws a side to come when the bet was chosen, ``layout`` the layout of its outputs, and ``past``
    the number of draws a side before them.
    """

    bet: Bet
    counts: Counts
    counts_prime: Counts
    ahead: int
    layout: Layout | None = None
    past: int = 0

    def growth(self, claim: Claim, levels: Floats, alpha: float, by_block: bool = True) -> Floats:
        """Return the logs of factors of the wealth, of blocks or of all, ``(blocks, m)``."""
        bet = self.bet
        v = bet.mean_psi
        kappa, b = claim.null(levels, v, bet.order)
        u = kappa * v + b
        variance = bet.variance_phi + kappa**2 * bet.variance_psi
        most = u - bet.phi.min(), kappa * (bet.psi.max() - v)
        at = stake(bet.mean_phi, u, most, variance, self.ahead, alpha)
        gain = np.log1p(at * (bet.phi[:, None] - u))
        loss = np.log1p(-at * kappa * (bet.psi[:, None] - v))
        counts = self.counts
        counts_prime = self.counts_prime
        if not by_block:
            counts = counts.sum(axis=0, keepdims=True)
            counts_prime = counts_prime.sum(axis=0, keepdims=True)
        return np.asarray(counts @ gain + counts_prime @ loss)

    def counted(self) -> Counted:
        """Return the counts in the event of a bet on one."""
        bet = self.bet
        event = bet.event()
        assert event is not None
        chosen = ChosenEvent(event, bet.swapped, bet.mean_phi, bet.mean_psi, bet.expected)
        others, hits = self.counts.sum(axis=0).tolist()
        hits_prime = int(self.counts_prime[:, 1].sum())
        return Counted(chosen, hits, hits_prime, others + hits)


def aimed_stake(variance: Floats, draws: float, alpha: float) -> Floats:
    """Return the stake that reaches 1/alpha within so many draws at the smallest excess."""
    return np.sqrt(2 * math.log(1 / alpha) / (draws * np.maximum(variance, _TINY)))


def stake(
    mean: float | Floats,
    u: Floats,
    most: tuple[Floats, Floats],
    variance: float | Floats,
    ahead: float,
    alpha: float,
) -> Floats:
    """Return l, for ``ahead`` draws to come; all shapes broadcast.

    ``mean`` is that of phi, ``variance`` that of phi - kappa psi, and ``most`` the largest u - phi
    and kappa (psi - v).
    """
    largest = _LARGEST / np.maximum(np.maximum(most[0], most[1]), _TINY)
    aimed = np.minimum(aimed_stake(np.asarray(variance), ahead, alpha), largest)
    return np.where((mean > u) & np.isfinite(aimed), aimed, 0.0)


# --- the choice on past draws ---------------------------------------------------------------------


def learn_bets(past: PastDraws, claim: Claim, ahead: int, alpha: float) -> list[Bet]:
    """Return the bets, always equally many: the more cautious first; none if nothing differs.

    ``ahead`` draws a side are to come.
    """
    if claim.events:
        return [_event_bet(chosen) for chosen in choose_events(past, claim.events, ahead)]
    easy, hard = cells_of(past, ahead, Gaussian(1.0).of)
    bets: list[Bet] = []
    for order in claim.orders:
        goal = Goal(claim, order, ahead, alpha)
        for look in [*easy, *hard]:
            bets += _function_bets(look, goal)
    if not bets:
        return []
    return [max(bets, key=lambda bet: bet.expected)]


def _event_bet(chosen: ChosenEvent) -> Bet:
    """Return the bet on an event: phi and psi are 1 inside, 0 outside."""
    event = chosen.event
    p = chosen.share
    q = chosen.share_prime
    return Bet(
        coded=lambda sample: event.holds(sample).view(np.int8),
        phi=np.array([0.0, 1.0]),
        psi=np.array([0.0, 1.0]),
        swapped=chosen.swapped,
        mean_phi=p,
        mean_psi=q,
        variance_phi=p * (1 - p),
        variance_psi=q * (1 - q),
        event=lambda: event,
        expected=chosen.expected,
    )


@dataclass(frozen=True)
class Goal:
    """What a bet on a function aims at: to refute a claim at an order in the draws ahead."""

    claim: Claim
    order: float
    ahead: int
    alpha: float


@dataclass(frozen=True, eq=False)
class Moments:
    """Means and variances of several functions of outputs, ``(k,)`` each."""

    mean: Floats
    variance: Floats


def _function_bets(look: Cells, goal: Goal) -> Iterator[Bet]:
    """Yield the best bet on functions of these cells, for each direction and shrinkage."""
    for swapped in (False, True):
        for shrinkage in SHRINKAGES:
            yield _function_bet(look, goal, swapped, shrinkage)


def _function_bet(look: Cells, goal: Goal, swapped: bool, shrinkage: float) -> Bet:
    """Return the best bet on functions r^(a-1) and r^a of a log ratio r of cells, clipped at a top.

    Each fifth of the draws evaluates functions that the other fifths teach.
    """
    ours, theirs = look.folds
    if swapped:
        theirs, ours = look.folds
    whole = ours.sum(axis=0)
    whole_prime = theirs.sum(axis=0)
    log_ratio = _log_ratio(whole, whole_prime, shrinkage)
    learned = _log_ratio(whole - ours, whole_prime - theirs, shrinkage)
    learned = np.maximum(learned, 2 * log_ratio.min())
    tops = np.array(_CLIPS) * log_ratio.max()
    clips = tops[:, None, None]  # of shape (clips, folds, cells)
    phi, psi = _functions(np.minimum(learned, clips) - clips, goal.order)
    of_phi = moments(ours, phi)
    of_psi = moments(theirs, psi, _TOP_DRAWS)
    past = int(min(ours.sum(), theirs.sum()))
    expected = expected_levels(of_phi, of_psi, goal, past)
    i = int(expected.argmax())
    clipped = np.append(np.minimum(log_ratio, tops[i]), 0.0)  # the ratio is 1 outside all cells
    phi, psi = _functions(clipped - tops[i], goal.order)
    return Bet(
        coded=look.coded,
        phi=phi,
        psi=psi,
        swapped=swapped,
        mean_phi=float(of_phi.mean[i]),
        mean_psi=float(of_psi.mean[i]),
        variance_phi=float(of_phi.variance[i]),
        variance_psi=float(of_psi.variance[i]),
        order=goal.order,
        event=partial(_event_of, look, log_ratio > 0),
        expected=float(expected[i]),
    )


def _log_ratio(counts: Counts, counts_prime: Counts, shrinkage: float) -> Floats:
    """Return the log ratio of frequencies in cells, shrunken towards 0 where counts are small."""
    n = counts.sum(axis=-1, keepdims=True)
    m = counts_prime.sum(axis=-1, keepdims=True)
    more = shrinkage / n
    return np.asarray(np.log(counts / n + more) - np.log(counts_prime / m + more))


def _functions(log_ratio: Floats, order: float) -> tuple[Floats, Floats]:
    """Return phi and psi, which are at most 1 where the log ratio is at most 0."""
    return np.exp((order - 1) * log_ratio), np.exp(order * log_ratio)


def moments(folds: Counts, values: Floats, top_draws: float = 0.0) -> Moments:
    """Return the moments of functions, ``(k, 5, cells)``, with so many draws more at 1 and at 0."""
    draws = folds.sum() + 2 * top_draws
    mean = (np.sum(folds * values, axis=(1, 2)) + top_draws) / draws
    square = (np.sum(folds * values**2, axis=(1, 2)) + top_draws) / draws
    return Moments(mean, np.maximum(square - mean**2, 0.0))


def expected_levels(of_phi: Moments, of_psi: Moments, goal: Goal, past: int) -> Floats:
    """Return the largest levels that the draws to come should refute, of shape ``(k,)``.

    ``past`` draws a side taught the moments. Where no level should be refuted, it is below 0, the
    nearer to 0 the more the wealth should grow; where not even the mean shows one, it is this mean.
    """
    claim = goal.claim
    order = goal.order
    ahead = goal.ahead
    shown = order / (order - 1) * log_share(of_phi.mean) - log_share(of_psi.mean)
    shown = np.minimum(shown / claim.divergence(1.0, order), claim.grid[-1])
    levels = np.maximum(shown, 0.0)[:, None] * np.linspace(0, 1, _LEVELS)
    mean = of_phi.mean[:, None]
    v = of_psi.mean[:, None]
    kappa, b = claim.null(levels, v, order)
    variance = of_phi.variance[:, None] + kappa**2 * of_psi.variance[:, None]
    excess = mean - kappa * v - b - np.sqrt(variance / past)
    most = 1 / np.maximum(kappa * (1 - v), _TINY)
    at = np.minimum(aimed_stake(variance, ahead, goal.alpha), most)
    # a draw adds l (excess - l variance / 2) to the log of the wealth
    grown = ahead * at * (excess - at * variance / 2)
    refuted = grown >= math.log(1 / goal.alpha)
    reached = np.where(refuted, levels, 0.0).max(axis=1)
    short = -1 / (1 + np.exp(np.minimum(grown.max(axis=1), 700.0)))
    likely = np.where(refuted.any(axis=1), reached, short)
    return np.asarray(np.where(shown > 0, likely, shown))


def _event_of(look: Cells, inside: Bools) -> Event | None:
    cells = np.flatnonzero(inside)
    return look.event(cells) if cells.size else None

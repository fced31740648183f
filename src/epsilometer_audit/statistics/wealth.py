"""Bets on chosen events against a claim, and the wealth of all bets: a test martingale.

A null hypothesis E_P[phi] <= kappa E_Q[psi] + b (see `claims`) is bet against with a stake l >= 0:
a fresh draw X of P and Y of Q multiply the wealth by

    (1 + l (phi(X) - u)) (1 - l kappa (psi(Y) - v)),        u = kappa v + b,

where both factors are at least 0. Their means A and B satisfy A + B - 2 = l (E phi - kappa E psi -
b), which is at most 0 under the null, so that A B <= 1. So the wealth is a test martingale: from 1
it reaches 1/alpha with probability alpha at most, at whatever time one looks, if phi, psi, v and l
were chosen before the draws. v is the estimate of E_Q psi on past draws. The stake is the one that
reaches 1/alpha within the draws to come at the smallest excess; it is 0 where the past shows none.
phi and psi take one value in each of k cells, so that a block of draws is k counts of either side.

All pairs of inputs start with equal shares, which the purses of a pair divide: that of `portfolio`
first, then those of chosen bets. A pair that is dropped leaves its wealth to the others, also to
those that join then. This is allowed at any time, because the choice depends on the past only: a
hundred pairs cost no more than their first draws.

Neither kind of bets does for both. Without `portfolio`, NonDPGaussian1 at .01 takes 621 draws in
place of 34; without chosen events, an epsilon of 6.8 by parity in wide noise has the bound 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from epsilometer.arrays import Counts, Floats, Sample
from epsilometer.claims import Claim
from epsilometer.events.choosing import ChosenEvent
from epsilometer.events.events import Event
from epsilometer.exact_test import Counted
from epsilometer_audit.outcomes.outcomes import Layout
from epsilometer_audit.statistics.portfolio import Growth

_EARLY, _LATER = 0.95, 0.5  # portfolios' part of the wealth: until events are chosen, and then
_GIVEN = 0.1  # part of the wealth that goes to pairs that join where none is dropped
_LARGEST = 0.95  # of the stake at which a factor may be 0
_LOOKS = (512, False), (32, True)  # levels of a grid that are tested together, and by block or not


def bet_shares(claim: Claim) -> Floats:
    """Return the shares of the bets that are chosen at a time: cautious, optimistic, a third."""
    if claim.orders:
        return np.ones(1)
    return np.array([0.3, 0.4, 0.3] if claim.notion == "approximate" else [0.4, 0.6])


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
    order: float = math.nan
    event: Callable[[], Event | None] = lambda: None
    expected: float = -math.inf

    def on(self, new: Sequence[Sample], sizes: Sequence[int], ahead: int, **more: Any) -> PlacedBet:
        """Return the bet with its counts of fresh draws, in blocks of these sizes a side."""
        cuts = [0, *np.cumsum(sizes).tolist()]
        counts, counts_prime = (
            np.array([np.bincount(codes[a:b], None, self.phi.size) for a, b in pairwise(cuts)])
            for codes in map(self.coded, new[::-1] if self.swapped else new)
        )
        return PlacedBet(self, counts, counts_prime, ahead, **more)


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

    def counted(self) -> Counted:
        """Return the counts in the event of a bet on one."""
        bet, event = self.bet, self.bet.event()
        assert event is not None
        chosen = ChosenEvent(event, bet.swapped, bet.mean_phi, bet.mean_psi, bet.expected)
        others, hits = self.counts.sum(axis=0).tolist()
        hits_prime = int(self.counts_prime[:, 1].sum())
        return Counted(chosen, hits, hits_prime, others + hits)


def growths(
    placed: Sequence[PlacedBet], claim: Claim, levels: Floats, alpha: float, by_block: bool = True
) -> Floats:
    """Return the logs of factors of bets of a round, in blocks or all: ``(blocks, bets, m)``."""
    if not placed:
        return np.zeros((1, 0, levels.size))
    bets = [each.bet for each in placed]
    counts = np.array([[each.counts for each in placed], [each.counts_prime for each in placed]])
    counts = counts if by_block else counts.sum(axis=2, keepdims=True)
    names = "mean_phi", "mean_psi", "variance_phi", "variance_psi"
    mean, v, *variances = (np.array([[getattr(bet, name)] for bet in bets]) for name in names)
    phi, psi = np.array([bet.phi for bet in bets]), np.array([bet.psi for bet in bets])
    kappa, b = claim.null(levels, v, bets[0].order)
    u, variance = kappa * v + b, variances[0] + kappa**2 * variances[1]
    low, high = phi.min(axis=1, keepdims=True), psi.max(axis=1, keepdims=True)
    l = stake(mean, u, (u - low, kappa * (high - v)), variance, placed[0].ahead, alpha)  # noqa: E741
    gain = np.log1p(l[:, None] * (phi[:, :, None] - u[:, None]))
    loss = np.log1p((-l * kappa)[:, None] * (psi - v)[:, :, None])
    return np.swapaxes(counts[0] @ gain + counts[1] @ loss, 0, 1)


def aimed_stake(variance: Floats, draws: float, alpha: float) -> Floats:
    """Return the stake that reaches 1/alpha within so many draws at the smallest excess."""
    return np.sqrt(2 * math.log(1 / alpha) / (draws * np.maximum(variance, 1e-300)))


def stake(
    mean: Floats,
    u: Floats,
    most: tuple[Floats, Floats],
    variance: Floats,
    ahead: float,
    alpha: float,
) -> Floats:
    """Return l, for ``ahead`` draws to come; all shapes broadcast.

    ``mean`` is that of phi, ``variance`` that of phi - kappa psi, and ``most`` the largest u - phi
    and kappa (psi - v).
    """
    with np.errstate(divide="ignore"):
        largest = np.minimum(*(1 / np.maximum(each, 0.0) for each in most))
    aimed = np.minimum(aimed_stake(variance, ahead, alpha), _LARGEST * largest)
    return np.where((mean > u) & np.isfinite(aimed), aimed, 0.0)


@dataclass(frozen=True, eq=False)
class PairBets:
    """The bets on fresh draws of a pair: on chosen events or functions, and a portfolio's."""

    placed: Sequence[PlacedBet] = ()
    growth: Growth | None = None

    def logs(self, claim: Claim, levels: Floats, alpha: float, by_block: bool = True) -> Floats:
        """Return the log factors of each block, or of all, by purse: ``(blocks, t, m)``."""
        portfolio = np.zeros((1, 1, levels.size))
        if self.growth is not None:
            portfolio = self.growth.at(claim, levels, by_block)[:, None]
        placed = growths(self.placed, claim, levels, alpha, by_block)
        blocks = max(len(portfolio), len(placed))
        logs = np.zeros((blocks, 1 + bet_shares(claim).size, levels.size))
        logs[:, :1], logs[:, 1 : 1 + placed.shape[1]] = portfolio, placed
        return logs


@dataclass
class _Course:
    """The wealth at some levels, by pair and purse."""

    claim: Claim
    levels: Floats
    pairs: int
    alpha: float

    def __post_init__(self) -> None:
        bets = bet_shares(self.claim)
        parts = (np.append(part, (1 - part) * bets) for part in (_EARLY, _LATER))
        self._shares, self._later = (np.log(part)[:, None] for part in parts)
        self._first = True
        start = np.tile(self._shares - math.log(self.pairs), self.levels.size)
        self.wealth = dict.fromkeys(range(self.pairs), start)

    def advance(self, step: Mapping[int, PairBets], by_block: bool = True) -> Floats:
        """Return the log of the wealth after each block of a step, or its last, ``(blocks, m)``."""
        wealth = self.wealth
        pool = [wealth[pair] for pair in wealth if pair not in step]
        if not (pool or step.keys() <= wealth.keys()):  # pairs join, and none is dropped
            pool = [logs + math.log(_GIVEN) for logs in wealth.values()]
            wealth = {pair: logs + math.log1p(-_GIVEN) for pair, logs in wealth.items()}
        if pool:
            inherited = _log_sum(np.concatenate(pool), 0) - math.log(len(step)) + self._shares
            nothing = np.full_like(inherited, -np.inf)
            wealth = {pair: np.logaddexp(wealth.get(pair, nothing), inherited) for pair in step}
        if self._first and any(bets.placed for bets in step.values()):
            self._first, self._shares = False, self._later
            wealth = {pair: _log_sum(logs, 0) + self._later for pair, logs in wealth.items()}
        of = self.claim, self.levels, self.alpha, by_block
        logs = {pair: np.cumsum(bets.logs(*of), axis=0) for pair, bets in step.items()}
        courses = {pair: wealth[pair] + each for pair, each in logs.items()}
        self.wealth = {pair: course[-1] for pair, course in courses.items()}
        return _log_sum(np.concatenate(list(courses.values()), axis=1), 1)


def _log_sum(logs: Floats, axis: int) -> Floats:
    top = logs.max(axis=axis, keepdims=True)
    return np.asarray(np.log(np.exp(logs - top).sum(axis=axis)) + top.squeeze(axis))


@dataclass
class Wealth:
    """The wealth won against one kind of claim, at any level of it.

    ``pairs`` is the number of pairs of inputs, ``alpha`` the probability of a false alarm, and
    ``share`` the part of alpha for this claim. ``steps`` has the bets of each pair that is left,
    all in equally many blocks.
    """

    claim: Claim
    pairs: int
    alpha: float
    share: float = 1.0
    steps: list[Mapping[int, PairBets]] = field(default_factory=list)
    history: list[float] = field(default_factory=list)
    """The log of the wealth at the claimed level, after each block."""

    def __post_init__(self) -> None:
        self._largest: dict[Any, Floats] = {}  # log wealth at levels from one on
        levels = np.array([self.claim.level])
        self._claimed = _Course(self.claim, levels, self.pairs, self.alpha)

    def record(self, step: Mapping[int, PairBets]) -> None:
        """Add the bets on the fresh draws of each pair that is left."""
        self.steps.append(step)
        self.history += self._claimed.advance(step)[:, 0].tolist()

    def log_wealth(self, claim: Claim, levels: Floats, by_block: bool = True) -> Floats:
        """Return the log of the wealth after each block, or round, of shape ``(times, m)``."""
        course = _Course(claim, levels, self.pairs, self.alpha)
        return np.concatenate([course.advance(step, by_block) for step in self.steps])

    @property
    def needed(self) -> float:
        """The log of the wealth that refutes a level: 1 over its share of alpha."""
        return -math.log(self.alpha * self.share)

    @property
    def refuted(self) -> bool:
        """Whether the claimed level is refuted."""
        return self.largest >= self.needed

    @property
    def largest(self) -> float:
        """The log of the largest wealth at the claimed level so far."""
        return max([0.0, *self.history])

    def p_value(self) -> float:
        """Return one over the largest wealth at the claimed level, at most 1."""
        return min(math.exp(-self.largest) / self.share, 1.0)

    def lower_bound(self, claim: Claim, share: float = 1.0) -> float:
        """Return the last level before the first that is not refuted by this ``share`` of alpha.

        Levels are those of the claim's grid, and the claimed one.
        """
        grid = np.union1d(claim.grid, [claim.level])
        needed, first = self.needed - math.log(share), 0
        while first < grid.size:
            for many, by_block in _LOOKS:  # the ends of rounds refute most levels
                levels = grid[first : first + many]
                of = claim, first, by_block, len(self.steps)
                if of not in self._largest:
                    self._largest[of] = self.log_wealth(claim, levels, by_block).max(axis=0)
                refuted = self._largest[of] >= needed
                first += levels.size if refuted.all() else int(np.argmin(refuted))
                if refuted.all():
                    break
            else:
                break
        return float(grid[max(first - 1, 0)])

    @property
    def of_pairs(self) -> dict[int, float]:
        """The log of the wealth of the pairs that are left, at the claimed level."""
        return {pair: float(_log_sum(logs, 0)[0]) for pair, logs in self._claimed.wealth.items()}

    def witness(self, pair: int, level: float) -> tuple[PlacedBet | None, bool]:
        """Return the bet on a pair that won most against a level, the latest of equals.

        And whether the portfolio of the pair won more than all these bets.
        """
        levels, course = np.array([level]), self._claimed
        if level != self.claim.level:
            course = _Course(self.claim.at(level), levels, self.pairs, self.alpha)
            for step in self.steps:
                course.advance(step, by_block=False)
        bets, gains = dict[int, list[PlacedBet]](), dict[int, float]()
        for step in reversed(self.steps):
            placed = step[pair].placed if pair in step else ()
            won = growths(placed, self.claim, levels, self.alpha, by_block=False)
            for each, gain in zip(placed, won[0, :, 0].tolist(), strict=True):
                bets.setdefault(id(each.bet), []).insert(0, each)  # those on blocks of a round
                gains[id(each.bet)] = gains.get(id(each.bet), 0.0) + gain
        purses, best = course.wealth[pair][:, 0], None
        if gains:
            blocks = bets[max(gains, key=gains.__getitem__)]
            sides = zip(*((each.counts, each.counts_prime) for each in blocks), strict=True)
            counts, counts_prime = map(np.concatenate, sides)
            best = replace(blocks[0], counts=counts, counts_prime=counts_prime)
        return best, bool(purses[0] > np.logaddexp.reduce(purses[1:]))

"""The wealth of all bets of an audit against a claim: a test martingale over pairs of inputs.

All pairs of inputs start with equal shares, which the purses of a pair divide: that of `portfolio`
first, then those of chosen bets (`bets`). A pair that is dropped leaves its wealth to the others,
also to those that join then. This is allowed at any time, because the choice depends on the past
only: a hundred pairs cost no more than their first draws.

    wealth = Wealth(pure(1.0), pairs=2, alpha=0.05)
    wealth.record({0: PairBets(bets, growth), 1: PairBets(bets, growth)})  # a round of both
    wealth.record({1: PairBets(bets, growth)})    # pair 0 is dropped: pair 1 has all the wealth
    wealth.refuted                                # whether it ever exceeded 1/alpha
    wealth.lower_bound(pure(1.0))                 # the first level at which it did not

**The last look.** Let W be the wealth at the planned end, or at the first time before at which it
is 1/alpha. Where the claim holds, its mean is at most 1, so that W is U/alpha or more with
probability E min(alpha W, 1) <= alpha, for a uniform number U that does not depend on the draws
(Ramdas and Manole, arXiv 2304.02611). Where less than half of the nats of 1/alpha are won, U
decides nothing: an audit that wins nothing would else refute with probability alpha.

Neither kind of bets does for both. Without `portfolio`, NonDPGaussian1 at .01 takes 621 draws in
place of 34; without chosen events, an epsilon of 6.8 by parity in wide noise has the bound 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from epsilometer.claims import Claim
from epsilometer.numerics.arrays import Floats
from epsilometer_audit.statistics.bets import Bet, PlacedBet
from epsilometer_audit.statistics.portfolio import Growth

_EARLY = 0.95  # portfolios' part of the wealth until events are chosen
_LATER = 0.5  # their part from then on
_GIVEN = 0.1  # part of the wealth that goes to pairs that join where none is dropped
_LEVELS_BY_ROUND = 512  # of a grid that are tested together at the ends of rounds
_LEVELS_BY_BLOCK = 32  # of those that no end of a round refutes, after each block


@dataclass(frozen=True, eq=False)
class PairBets:
    """The bets on fresh draws of a pair: on chosen events or functions, and a portfolio's."""

    bets: Sequence[PlacedBet] = ()
    growth: Growth | None = None

    def logs(self, claim: Claim, levels: Floats, alpha: float, by_block: bool = True) -> Floats:
        """Return the log factors of each block, or of all, by purse: ``(blocks, t, m)``."""
        nothing = np.zeros((1, levels.size))
        purses = [nothing] * (1 + len(claim.bet_shares))
        if self.growth is not None:
            purses[0] = self.growth.at(claim, levels, by_block)
        for i, bet in enumerate(self.bets, start=1):
            purses[i] = bet.growth(claim, levels, alpha, by_block)
        return np.stack(np.broadcast_arrays(*purses), axis=1)


@dataclass
class _Course:
    """The wealth at some levels, by pair and purse."""

    claim: Claim
    levels: Floats
    pairs: int
    alpha: float

    def __post_init__(self) -> None:
        self.shares = self._purses(_EARLY)
        self.events_chosen = False
        start = np.tile(self.shares - math.log(self.pairs), self.levels.size)
        self.wealth = dict.fromkeys(range(self.pairs), start)

    def _purses(self, portfolio: float) -> Floats:
        """Return the logs of the shares of the purses, ``(t, 1)``, from that of the portfolio."""
        bets = (1 - portfolio) * np.array(self.claim.bet_shares)
        return np.asarray(np.log(np.append(portfolio, bets))[:, None])

    def advance(self, step: Mapping[int, PairBets], by_block: bool = True) -> Floats:
        """Return the log of the wealth after each block of a step, or its last, ``(blocks, m)``."""
        self._pass_on(step.keys())
        if not self.events_chosen and any(pair.bets for pair in step.values()):
            self.events_chosen = True
            self.shares = self._purses(_LATER)
            for pair, logs in self.wealth.items():
                self.wealth[pair] = _log_sum(logs, 0) + self.shares
        courses = []
        for pair, bets in step.items():
            logs = bets.logs(self.claim, self.levels, self.alpha, by_block)
            course = self.wealth[pair] + np.cumsum(logs, axis=0)
            self.wealth[pair] = course[-1]
            courses.append(course)
        return _log_sum(np.concatenate(courses, axis=1), 1)

    def _pass_on(self, pairs: Set[int]) -> None:
        """Spread the wealth of dropped pairs over these, some of which may join."""
        dropped = self.wealth.keys() - pairs
        joining = pairs - self.wealth.keys()
        if not dropped and not joining:
            return
        spread = []
        for pair, logs in self.wealth.items():
            if pair in dropped:
                spread.append(logs)
            elif not dropped:
                spread.append(logs + math.log(_GIVEN))
                self.wealth[pair] = logs + math.log1p(-_GIVEN)
        inherited = _log_sum(np.concatenate(spread), 0) - math.log(len(pairs)) + self.shares
        wealth = {}
        for pair in pairs:
            wealth[pair] = inherited
            if pair in self.wealth:
                wealth[pair] = np.logaddexp(self.wealth[pair], inherited)
        self.wealth = wealth


def _log_sum(logs: Floats, axis: int) -> Floats:
    """Return the log of the sum of exponentials over an axis."""
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
    uniform: float = 1.0
    """The number U of the last look, after all steps; 1 without one."""

    def __post_init__(self) -> None:
        self._largest: dict[Any, Floats] = {}  # log wealth at levels from one on
        levels = np.array([self.claim.level])
        self._claimed = _Course(self.claim, levels, self.pairs, self.alpha)

    def record(self, step: Mapping[int, PairBets]) -> None:
        """Add the bets on the fresh draws of each pair that is left."""
        self.steps.append(step)
        self.history += self._claimed.advance(step)[:, 0].tolist()

    @property
    def _gain(self) -> float:
        """What the last look adds to the log of the last wealth."""
        return min(-math.log(self.uniform), self.needed / 2)

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
    def highest(self) -> float:
        """The log of the largest wealth at the claimed level, before the last look."""
        return max([0.0, *self.history])

    @property
    def largest(self) -> float:
        """The log of the largest wealth at the claimed level, or what the last look makes of it."""
        last = self.history[-1] + self._gain if self.history else 0.0
        return max(self.highest, last)

    def p_value(self) -> float:
        """Return one over the largest wealth at the claimed level, at most 1; see `largest`."""
        return min(math.exp(-self.largest) / self.share, 1.0)

    def lower_bound(self, claim: Claim, share: float = 1.0) -> float:
        """Return the last level before the first that is not refuted by this ``share`` of alpha.

        Levels are those of the claim's grid, and the claimed one.
        """
        grid = np.union1d(claim.grid, [claim.level])
        needed = self.needed - math.log(share)
        first = 0
        while first < grid.size:  # the ends of rounds refute most levels
            end = min(first + _LEVELS_BY_ROUND, grid.size)
            first = self._first_left(claim, grid, first, needed, by_block=False)
            if first == end:
                continue
            end = min(first + _LEVELS_BY_BLOCK, grid.size)
            first = self._first_left(claim, grid, first, needed, by_block=True)
            if first < end:
                break
        return float(grid[max(first - 1, 0)])

    def _first_left(
        self, claim: Claim, grid: Floats, first: int, needed: float, *, by_block: bool
    ) -> int:
        """Return the first level from this one on that is not refuted, or the end of those tested.

        Wealth is looked at after each block, or at the ends of rounds only.
        """
        most = _LEVELS_BY_BLOCK if by_block else _LEVELS_BY_ROUND
        levels = grid[first : first + most]
        tested = claim, first, by_block, len(self.steps), self.uniform
        if tested not in self._largest:
            logs = self.log_wealth(claim, levels, by_block)
            self._largest[tested] = np.maximum(logs.max(axis=0), logs[-1] + self._gain)
        is_left = np.append(self._largest[tested] < needed, True)
        return first + int(is_left.argmax())

    def lacking(self, pair: int) -> float:
        """Return the nats that the portfolio of the last pair lacks to refute the claimed level.

        The others leave it their wealth. Where no events are chosen so far, it counts what the
        portfolio will have after they are.
        """
        course = self._claimed
        own = course.wealth[pair][0, 0]
        for other, purses in course.wealth.items():
            if other != pair:
                own = np.logaddexp(own, _log_sum(purses, 0)[0] + course.shares[0, 0])
        if not course.events_chosen:
            own += math.log(_LATER / _EARLY)
        return self.needed - float(own)

    @property
    def of_pairs(self) -> dict[int, float]:
        """The log of the wealth of the pairs that are left, at the claimed level."""
        return {pair: float(_log_sum(logs, 0)[0]) for pair, logs in self._claimed.wealth.items()}

    def witness(self, pair: int, level: float) -> tuple[PlacedBet | None, bool]:
        """Return the bet on a pair that won most against a level, the latest of equals.

        And whether the portfolio of the pair won more than all these bets.
        """
        levels = np.array([level])
        course = self._claimed
        if level != self.claim.level:
            course = _Course(self.claim.at(level), levels, self.pairs, self.alpha)
            for step in self.steps:
                course.advance(step, by_block=False)
        bets: list[PlacedBet] = []
        for step in self.steps:
            if pair in step:
                bets += step[pair].bets
        purses = course.wealth[pair][:, 0]
        portfolio_won = bool(purses[0] > np.logaddexp.reduce(purses[1:]))
        gains: dict[Bet, float] = {}  # a bet may be placed on the blocks of a round, one by one
        for placed_bet in reversed(bets):
            gain = placed_bet.growth(self.claim, levels, self.alpha, by_block=False)[0, 0]
            gains[placed_bet.bet] = gains.get(placed_bet.bet, 0.0) + float(gain)
        if not gains:
            return None, portfolio_won
        best = max(gains, key=gains.__getitem__)
        blocks = [placed_bet for placed_bet in bets if placed_bet.bet is best]
        counts = np.concatenate([block.counts for block in blocks])
        counts_prime = np.concatenate([block.counts_prime for block in blocks])
        return replace(blocks[0], counts=counts, counts_prime=counts_prime), portfolio_won

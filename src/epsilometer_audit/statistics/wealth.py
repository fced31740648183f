"""The wealth of all bets together: a test martingale, and its lower confidence bound.

All pairs of inputs start with equal shares, which their portfolios, bets and horizons divide. A
pair that is dropped leaves its wealth to the others. This is allowed at any time, because the
choice depends on the past only: a hundred pairs cost no more than their first draws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from epsilometer.arrays import Floats
from epsilometer_audit.statistics.bets import Round, growth, initial_wealth
from epsilometer_audit.statistics.claims import Claim
from epsilometer_audit.statistics.portfolio import Growth

EARLY, LATER = 0.95, 0.5  # of the wealth: for portfolios, in the first round and from then on
_CHUNK = 128  # levels of the grid that are tested together


@dataclass(frozen=True, eq=False)
class Looks:
    """The bets on fresh draws of a pair: chosen events or functions, and those of a portfolio."""

    rounds: Sequence[Round] = ()
    growth: Growth | None = None

    @property
    def together(self) -> Looks:
        """The same with all blocks in one."""
        growth = None if self.growth is None else replace(self.growth, together=True)
        return Looks([bet.together for bet in self.rounds], growth)


@dataclass
class _Course:
    """The wealth at some levels, by pair and purse: first the portfolio, then bets by horizons.

    The purses get their shares at the start, and again when the first events are chosen.
    """

    claim: Claim
    levels: Floats
    pairs: int
    alpha: float
    early: float

    def __post_init__(self) -> None:
        bets = initial_wealth(self.claim).ravel()
        with np.errstate(divide="ignore"):
            self._shares, self._later = (
                np.log(np.append(part, (1 - part) * bets))[:, None]
                for part in (self.early, min(self.early, LATER))
            )
        self._first = True
        start = np.tile(self._shares - math.log(self.pairs), self.levels.size)
        self._wealth = dict.fromkeys(range(self.pairs), start)

    @property
    def total(self) -> Floats:
        """The log of the wealth of all pairs now, ``(m,)``."""
        return _log_sum(np.concatenate(list(self._wealth.values())), 0)

    @property
    def of_pairs(self) -> dict[int, float]:
        """The log of the largest wealth of each pair now."""
        return {pair: float(_log_sum(logs, 0).max()) for pair, logs in self._wealth.items()}

    def of_purses(self, pair: int) -> Floats:
        """Return the log of the wealth of a pair now at the first level, by purse, ``(t,)``."""
        return self._wealth[pair][:, 0]

    def advance(self, step: Mapping[int, Looks]) -> Floats:
        """Return the log of the wealth after each block of a step, ``(blocks, m)``."""
        wealth, levels = self._wealth, self.levels
        dropped = [wealth[pair] for pair in wealth if pair not in step]
        if dropped:
            total = _log_sum(np.concatenate(dropped), 0)
            inherited = total - math.log(len(step)) + self._shares
            wealth = {pair: np.logaddexp(wealth[pair], inherited) for pair in step}
        if self._first and any(looks.rounds for looks in step.values()):
            self._first, self._shares = False, self._later
            wealth = {pair: _log_sum(logs, 0) + self._later for pair, logs in wealth.items()}
        courses = []
        for pair, looks in step.items():
            growths = [growth(bet, self.claim, levels, self.alpha) for bet in looks.rounds]
            early = None if looks.growth is None else looks.growth.at(self.claim, levels)
            if not growths:
                parts = np.stack([wealth[pair][0], _log_sum(wealth[pair][1:], 0)])
                logs = np.zeros((1 if early is None else len(early), 2, levels.size))
            else:
                parts = wealth[pair]
                logs = np.zeros((len(growths[0]), *parts.shape))
                bets = np.concatenate(growths, axis=1)
                logs[:, 1 : 1 + bets.shape[1]] = bets
            if early is not None:
                logs[:, 0] = early
            course = parts + np.cumsum(logs, axis=0)
            wealth[pair] = np.concatenate([course[-1, :1], wealth[pair][1:] + logs[:, 1:].sum(0)])
            courses.append(course)
        self._wealth = wealth
        blocks = max(map(len, courses))
        courses = [np.broadcast_to(each, (blocks, *each.shape[1:])) for each in courses]
        return _log_sum(np.concatenate(courses, axis=1), 1)


def _log_sum(logs: Floats, axis: int) -> Floats:
    top = logs.max(axis=axis, keepdims=True)
    return np.asarray(np.log(np.exp(logs - top).sum(axis=axis)) + top.squeeze(axis))


@dataclass
class Wealth:
    """The wealth won against one kind of claim, at any level of it.

    ``pairs`` is the number of pairs of inputs, ``alpha`` the probability of a false alarm, and
    ``share`` the part of alpha for this claim; ``early`` is the portfolios' part of the initial
    wealth. ``steps`` has the bets of each pair that is left, all in equally many blocks.
    """

    claim: Claim
    pairs: int
    alpha: float
    share: float = 1.0
    early: float = EARLY
    steps: list[Mapping[int, Looks]] = field(default_factory=list)
    history: list[float] = field(default_factory=list)
    """The log of the wealth at the claimed level, after each block."""

    def __post_init__(self) -> None:
        self._claimed = self._course(self.claim, np.array([self.claim.level]))

    def _course(self, claim: Claim, levels: Floats) -> _Course:
        return _Course(claim, levels, self.pairs, self.alpha, self.early)

    def record(self, step: Mapping[int, Looks]) -> None:
        """Add the bets on the fresh draws of each pair that is left."""
        self.steps.append(step)
        self.history += self._claimed.advance(step)[:, 0].tolist()

    def log_wealth(self, claim: Claim, levels: Floats) -> Floats:
        """Return the log of the wealth after each block, of shape ``(times, m)``."""
        course = self._course(claim, levels)
        return np.concatenate([course.total[None], *map(course.advance, self.steps)])

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

    def lower_bound(self, claim: Claim) -> float:
        """Return the last level before the first that is not refuted.

        Levels are those of the claim's grid, and the claimed one.
        """
        grid = np.union1d(claim.grid(), [claim.level])
        bound = 0.0
        steps = [{pair: looks.together for pair, looks in step.items()} for step in self.steps]
        many = _CHUNK if claim.orders else 4 * _CHUNK  # functions have many cells, events two
        for levels in np.split(grid, range(many, grid.size, many)):
            course = self._course(claim, levels)
            for step in steps:
                course.advance(step)
            refuted = course.total >= self.needed
            rest = np.flatnonzero(~refuted)  # the wealth may have been larger before the end
            for some in np.split(rest, range(_CHUNK, rest.size, _CHUNK)):
                refuted[some] = self.log_wealth(claim, levels[some]).max(axis=0) >= self.needed
                if not refuted[some].all():
                    break
            if not refuted.all():
                first = int(np.argmin(refuted))
                return float(levels[first - 1]) if first else bound
            bound = float(levels[-1])
        return bound

    @property
    def of_pairs(self) -> dict[int, float]:
        """The log of the wealth of the pairs that are left, at the claimed level."""
        return self._claimed.of_pairs

    def witness(self, pair: int, level: float) -> tuple[Round | None, bool]:
        """Return the bet on a pair that won most against a level, the latest of equals.

        And whether the portfolio of the pair won more than all these bets.
        """
        levels = np.array([level])
        bets: dict[int, Round] = {}  # those on blocks of one round together
        course = self._course(self.claim.at(level), levels)
        for step in self.steps:
            course.advance({each: looks.together for each, looks in step.items()})
        for step in reversed(self.steps):
            for each in step[pair].rounds if pair in step else ():
                later = bets.get(id(each.bet))
                bets[id(each.bet)] = each if later is None else each.with_later(later)

        def gain(bet: Round) -> float:
            return float(growth(bet, self.claim, levels, self.alpha).sum(axis=0).max())

        purses = course.of_purses(pair)
        early = bool(purses[0] > np.logaddexp.reduce(purses[1:]))
        return max(bets.values(), key=gain, default=None), early

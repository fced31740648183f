"""The wealth of all bets together: a test martingale, and its lower confidence bound.

All pairs of inputs start with equal shares, which their kinds of bets and horizons divide. A pair
that is dropped leaves its wealth to the others. This is allowed at any time, because the choice
depends on the past only: a hundred pairs cost no more than their first draws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from epsilometer.arrays import Bools, Floats
from epsilometer.auditing.statistics.bets import Round, growth, initial_wealth
from epsilometer.auditing.statistics.claims import Claim

_CHUNK = 128  # levels of the grid that are tested together


@dataclass
class Wealth:
    """The wealth won against one kind of claim, at any level of it.

    ``pairs`` is the number of pairs of inputs, ``alpha`` the probability of a false alarm, and
    ``share`` the part of alpha for this claim. ``rounds`` has the bets of each pair that is left,
    all in equally many blocks.
    """

    claim: Claim
    pairs: int
    alpha: float
    share: float = 1.0
    rounds: list[Mapping[int, Sequence[Round]]] = field(default_factory=list)

    def log_wealth(self, claim: Claim, levels: Floats) -> Floats:
        """Return the log of the wealth after each block, of shape ``(times, m)``."""
        kinds = max((len(bets) for pairs in self.rounds for bets in pairs.values()), default=0)
        if not kinds:
            return np.zeros((1, levels.size))
        shares = np.log(initial_wealth(kinds))[:, :, None]
        shape = (*shares.shape[:2], levels.size)
        start = np.broadcast_to(shares - math.log(self.pairs), shape)
        wealth = dict.fromkeys(range(self.pairs), start)
        history = []
        for pairs in self.rounds:
            dropped = [wealth[pair] for pair in wealth if pair not in pairs]
            if dropped:
                left = np.concatenate(dropped).reshape(-1, levels.size)
                total = np.logaddexp.reduce(left, axis=0)
                inherited = total - math.log(len(pairs)) + shares
                wealth = {pair: np.logaddexp(wealth[pair], inherited) for pair in pairs}
            courses = []
            for pair, bets in pairs.items():
                if not bets:
                    courses.append(wealth[pair][None])
                    continue
                logs = [growth(bet, claim, levels, self.alpha) for bet in bets]
                logs += [np.zeros_like(logs[0])] * (kinds - len(logs))
                courses.append(wealth[pair] + np.cumsum(np.stack(logs, axis=1), axis=0))
                wealth[pair] = courses[-1][-1]
            times = max(len(course) for course in courses)
            courses = [np.broadcast_to(course, (times, *shape)) for course in courses]
            together = np.stack(courses, axis=1).reshape(times, -1, levels.size)
            history.append(np.logaddexp.reduce(together, axis=1))
        return np.concatenate(history)

    def refuted(self, claim: Claim, levels: Floats) -> Bools:
        """Tell for each level whether the wealth has reached 1 over its share of alpha."""
        largest = self.log_wealth(claim, levels).max(axis=0)
        return np.asarray(largest >= -math.log(self.alpha * self.share), np.bool_)

    def p_value(self) -> float:
        """Return one over the largest wealth at the claimed level, at most 1."""
        largest = float(self.log_wealth(self.claim, np.array([self.claim.level])).max())
        return min(math.exp(-largest) / self.share, 1.0)

    def lower_bound(self, claim: Claim) -> float:
        """Return the last level before the first that is not refuted.

        Levels are those of the claim's grid, and the claimed one.
        """
        grid = np.union1d(claim.grid(), [claim.level])
        bound = 0.0
        for start in range(0, grid.size, _CHUNK):
            levels = grid[start : start + _CHUNK]
            refuted = self.refuted(claim, levels)
            if not refuted.all():
                first = int(np.argmin(refuted))
                return float(levels[first - 1]) if first else bound
            bound = float(levels[-1])
        return bound

    def witness(self, pair: int) -> Round | None:
        """Return the bet on a pair that won most against the claim, the latest of equals."""
        level = np.array([self.claim.level])

        def gain(bet: Round) -> float:
            return float(growth(bet, self.claim, level, self.alpha).sum(axis=0).max())

        bets = [bet for pairs in reversed(self.rounds) for bet in pairs.get(pair, ())]
        return max(bets, key=gain, default=None)

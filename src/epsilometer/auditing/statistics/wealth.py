"""The wealth of all bets together: a test martingale, and the lower bound that it gives.

Each pair of inputs starts with an equal part, and in it each kind of bet and each horizon. Whoever
is dropped leaves what it has to those that go on, which is allowed at any time, as what is dropped
depends on the past only: a hundred pairs cost no more than their first draws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from epsilometer.auditing.statistics.bets import Round, growth, purses
from epsilometer.auditing.statistics.claims import Claim

Floats = NDArray[np.float64]

_CHUNK = 128  # levels of the grid that are looked at together


@dataclass
class Wealth:
    """What was won so far against one kind of claim, at any level of it.

    Parameters
    ----------
    claim
        What is claimed.
    pairs
        How many pairs of inputs there are.
    alpha
        The probability of a false alarm.
    share
        The part of alpha that is for this claim, where several must hold.
    """

    claim: Claim
    pairs: int
    alpha: float
    share: float = 1.0
    rounds: list[Mapping[int, Sequence[Round]]] = field(default_factory=list)

    def record(self, bets: Mapping[int, Sequence[Round]]) -> None:
        """Add a round: what each pair that goes on has bet, all in equally many blocks."""
        self.rounds.append(bets)

    def log_wealth(self, claim: Claim, levels: Floats) -> Floats:
        """Return the log of the wealth after each block, of shape ``(times, m)``."""
        kinds = max((len(bets) for made in self.rounds for bets in made.values()), default=0)
        if not kinds:
            return np.zeros((1, levels.size))
        shares = np.log(purses(kinds))[:, :, None]
        each = (*shares.shape[:2], levels.size)
        purse = np.broadcast_to(shares - math.log(self.pairs), each)
        owned = dict.fromkeys(range(self.pairs), purse)
        history = []
        for made in self.rounds:
            left = [purse for pair, purse in owned.items() if pair not in made]
            if left:
                lost = np.logaddexp.reduce(np.concatenate(left).reshape(-1, levels.size), axis=0)
                part = lost - math.log(len(made)) + shares
                owned = {pair: np.logaddexp(owned[pair], part) for pair in made}
            grown = []
            for pair, bets in made.items():
                steps = [growth(bet, claim, levels, self.alpha) for bet in bets]
                if not steps:
                    grown.append(owned[pair][None])
                    continue
                steps += [np.zeros_like(steps[0])] * (kinds - len(steps))
                grown.append(owned[pair] + np.cumsum(np.stack(steps, axis=1), axis=0))
                owned[pair] = grown[-1][-1]
            times = max(len(steps) for steps in grown)
            grown = [np.broadcast_to(steps, (times, *each)) for steps in grown]
            together = np.stack(grown, axis=1).reshape(times, -1, levels.size)
            history.append(np.logaddexp.reduce(together, axis=1))
        return np.concatenate(history)

    def refuted(self, claim: Claim, levels: Floats) -> NDArray[np.bool_]:
        """Tell for each level whether the wealth has reached 1 over its share of alpha."""
        most = self.log_wealth(claim, levels).max(axis=0)
        return np.asarray(most >= -math.log(self.alpha * self.share), np.bool_)

    def p_value(self) -> float:
        """Return one over the largest wealth at the level that is claimed, at most 1."""
        most = float(self.log_wealth(self.claim, np.array([self.claim.level])).max())
        return min(math.exp(-most) / self.share, 1.0)

    def lower_bound(self, claim: Claim) -> float:
        """Return the last level of the claim's grid before the first that is not refuted.

        The level that is claimed is one of the grid.
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
        """Return the bet on a pair that won most against the claim, late ones of equals."""
        level = np.array([self.claim.level])

        def won(bet: Round) -> float:
            return float(growth(bet, self.claim, level, self.alpha).sum(axis=0).max())

        bets = [bet for made in reversed(self.rounds) for bet in made.get(pair, ())]
        return max(bets, key=won, default=None)

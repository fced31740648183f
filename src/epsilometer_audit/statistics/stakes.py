"""How much to stake with a planned number of draws: what reaches 1/alpha by the end most often.

The bet of the largest growth, (f, g), lets wealth grow as fast as possible on the mean. An audit of
n draws does not ask for that: it refutes if the wealth reaches a goal by the end. With l > 1, the
bet 1 + l (f - 1), 1 + l (g - 1) stakes more, with l < 1 less; it is valid, too, as E[f] + E[g] <= 2
gives the same sum here, and no factor may be below 0.

Let w be the wealth over its goal, k the pairs of draws left and r the predicted growth of a pair.
In the limit of small steps the log of the wealth has a variance of 2 r a pair, and no strategy
reaches the goal with a larger probability than Phi(Phi^-1(w) + sqrt(2 r k)) under the predicted
laws; with w = alpha and no learning, that is the power of the most powerful test. What reaches it
is

    l = phi(d) / (w sqrt(2 r k)),    d = Phi^-1(w)

(Browne, "Reaching goals by a deadline", 1999). Who is ahead of the plan stakes less, and does not
lose what was won; who is behind stakes more. Here l is between .5 and 3, because predictions are
not the laws, and small steps are not small.

Of seven false claims, with 1.5 times the least mean number of draws, between .19 and .48 of the
audits refute with bets for growth, and between .39 and .68 with these stakes
(`tests.benchmarks.planned_end`). Who may stop at any time has no planned end, and bets for growth,
as do pairs of inputs of which few go on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from epsilometer.numerics.arrays import Floats

_LEAST = 0.5  # l
_MOST = 3.0
_STAKED = 0.98  # most that a cell may lose with l > 1
_TRUSTED = 0.7  # part of the predicted growth: predictions fit the past
_REACHED = -1e-9  # log of w, at most


@dataclass(frozen=True, eq=False)
class Plan:
    """Draws of a side that are left, and the log wealth to reach: one, or one a claim, ``(m,)``."""

    left: int
    goal: Floats

    def after(self, draws: int) -> Plan:
        """Return the plan after more draws."""
        return replace(self, left=self.left - draws)

    def stakes(self, wealth: Floats, growth: Floats) -> Floats:
        """Return l from the log wealth and the predicted growth of a pair, all ``(m,)``."""
        from scipy.special import ndtri

        log_w = np.minimum(wealth - self.goal, _REACHED)
        d = ndtri(np.exp(log_w))
        log_phi = -(d**2) / 2 - math.log(math.tau) / 2
        spread = np.sqrt(2 * _TRUSTED * self.left * np.maximum(growth, 0.0))
        stakes = np.ones(growth.shape)
        np.divide(np.exp(log_phi - log_w), spread, out=stakes, where=spread > 0)
        return np.clip(stakes, _LEAST, _MOST)


def staked(f: Floats, g: Floats, stakes: Floats) -> tuple[Floats, Floats]:
    """Return ln f and ln g, ``(k, m)``, with so many times their stakes, ``(m,)``, or the most."""
    least = np.minimum(f.min(axis=0), g.min(axis=0))
    loss = np.maximum(-np.expm1(least), _STAKED / _MOST)
    stakes = np.minimum(stakes, np.maximum(_STAKED / loss, 1.0))
    return np.log1p(stakes * np.expm1(f)), np.log1p(stakes * np.expm1(g))

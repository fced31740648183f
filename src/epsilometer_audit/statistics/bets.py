"""Bets against a claim: the factor by which fresh draws multiply the wealth (an e-variable).

A null hypothesis E_P[phi] <= kappa E_Q[psi] + b (see `claims`) is bet against with a stake l >= 0:
a fresh draw X of P and Y of Q multiply the wealth by

    (1 + l (phi(X) - u)) (1 - l kappa (psi(Y) - v)),        u = kappa v + b,

where both factors are at least 0. Their means A and B satisfy A + B - 2 = l (E phi - kappa E psi -
b), which is at most 0 under the null, so that A B <= 1. So the wealth is a test martingale: from 1
it reaches 1/alpha with probability alpha at most, at whatever time one looks, if phi, psi, v and l
were chosen before the draws. v is the estimate of E_Q psi on past draws. The stake that reaches
1/alpha within H draws at the smallest excess is sqrt(2 ln(1/alpha) / (H variance)); several
horizons H share the wealth. The stake is 0 where the past shows no excess.

phi and psi take one value in each of k cells, so that a block of draws is k counts of either side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from epsilometer.arrays import Bools, Counts, Floats, Sample
from epsilometer_audit.events.events import Event
from epsilometer_audit.outcomes.outcomes import Layout
from epsilometer_audit.statistics.claims import Claim

HORIZONS = (1 / 8, 1.0)  # parts of the draws to come
_HORIZON_SHARES = (0.1, 0.9)  # of the initial wealth; the short horizon is for early stops
_BET_SHARES = {1: (1.0,), 2: (0.4, 0.6), 3: (0.3, 0.4, 0.3)}  # cautious, optimistic, a third bet
_LARGEST = 0.95  # of the stake at which a factor may be 0


@dataclass(frozen=True, eq=False)
class Bet:
    """Functions phi and psi of the outputs, chosen on past draws.

    Parameters
    ----------
    coded
        The cell of each output, of shape ``(n,)``.
    phi, psi
        Their values in the cells, of shape ``(k,)``.
    swapped
        Whether P is the distribution on x' and Q that on x.
    mean_phi, mean_psi, variance_phi, variance_psi
        Estimates on past draws, of phi under P and of psi under Q.
    order
        Of the Rényi divergence; NaN for events.
    event
        Returns the event of the outputs where phi is large, for a reader; None if there are none.
    inside
        The cells of this event; by default those where phi is above 0.
    expected, optimistic
        The levels that the draws to come should show, by a cautious and by an optimistic estimate.
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
    inside: Bools | None = None
    expected: float = -math.inf
    optimistic: float = -math.inf

    def on(
        self,
        fresh: tuple[Sample, Sample],
        sizes: Sequence[int],
        ahead: int,
        layout: Layout | None = None,
    ) -> Round:
        """Return the bet with its counts of fresh draws, in blocks of these sizes a side."""
        k, blocks = self.phi.size, len(sizes)
        block = np.repeat(np.arange(blocks), sizes) * k
        counts, counts_prime = (
            np.bincount(block + self.coded(side), None, blocks * k).reshape(blocks, k)
            for side in (fresh[::-1] if self.swapped else fresh)
        )
        return Round(self, counts, counts_prime, ahead, layout)


@dataclass(frozen=True, eq=False)
class Round:
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

    @property
    def together(self) -> Round:
        """The bet with its counts of all blocks together."""
        counts, counts_prime = (side.sum(axis=0)[None] for side in (self.counts, self.counts_prime))
        return replace(self, counts=counts, counts_prime=counts_prime)

    def with_later(self, other: Round) -> Round:
        """Return the bet with its counts of these draws and of later ones."""
        counts = np.concatenate([self.counts, other.counts])
        counts_prime = np.concatenate([self.counts_prime, other.counts_prime])
        return replace(self, counts=counts, counts_prime=counts_prime)


def number_of_bets(claim: Claim) -> int:
    """Return how many bets are chosen at a time."""
    if claim.orders:
        return 1
    return 3 if claim.notion == "approximate" else 2


def initial_wealth(claim: Claim) -> Floats:
    """Return the shares of the initial wealth, ``(bets, horizons)``."""
    return np.outer(_BET_SHARES[number_of_bets(claim)], _HORIZON_SHARES)


def growth(round_: Round, claim: Claim, levels: Floats, alpha: float) -> Floats:
    """Return the log of the factor of each block, of shape ``(blocks, horizons, m)``.

    ``levels`` of the claim have shape ``(m,)``. Stakes aim at a wealth of 1 / ``alpha``.
    """
    bet = round_.bet
    kappa, b = claim.null(levels, bet.mean_psi, bet.order)
    u = kappa * bet.mean_psi + b
    means = np.array(bet.mean_phi), np.array(bet.mean_psi)
    variance = bet.variance_phi + kappa**2 * bet.variance_psi
    ends = bet.phi.min(), bet.psi.max()
    stake = stakes(means, variance, ends, kappa, u, round_.ahead, alpha)
    gain = np.log1p(stake * (bet.phi[:, None, None] - u))
    loss = np.log1p(-stake * kappa * (bet.psi[:, None, None] - bet.mean_psi))
    logs: Floats = np.tensordot(round_.counts, gain, 1) + np.tensordot(round_.counts_prime, loss, 1)
    return logs


def aimed_stake(variance: Floats, draws: float | Floats, alpha: float) -> Floats:
    """Return the stake that reaches 1/alpha within so many draws at the smallest excess."""
    return np.sqrt(2 * math.log(1 / alpha) / (draws * np.maximum(variance, 1e-300)))


def stakes(
    means: tuple[Floats, Floats],
    variance: Floats,
    ends: tuple[Floats, Floats],
    kappa: Floats,
    u: Floats,
    ahead: float,
    alpha: float,
) -> Floats:
    """Return l for each horizon, of shape ``(horizons, ...)``.

    ``means`` are those of phi and psi, ``variance`` that of phi - kappa psi, ``ends`` the least phi
    and the largest psi. Their shapes broadcast with those of ``kappa`` and ``u``.
    """
    horizons = np.reshape(HORIZONS, (-1, *[1] * np.ndim(kappa)))
    stake = aimed_stake(variance, np.maximum(horizons * ahead, 1.0), alpha)
    with np.errstate(divide="ignore"):
        largest = np.minimum(
            1 / np.maximum(u - ends[0], 0.0), 1 / np.maximum(kappa * (ends[1] - means[1]), 0.0)
        )
    stake = np.minimum(stake, _LARGEST * largest)
    return np.where((means[0] > u) & np.isfinite(stake), stake, 0.0)

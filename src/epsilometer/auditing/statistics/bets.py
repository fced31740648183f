"""What is bet on fresh draws, and what it wins: the e-variable.

A null hypothesis E_P[phi] <= kappa E_Q[psi] + b (see `claims`) is bet against with a stake l >= 0:
a fresh draw X of P and Y of Q multiply the wealth by

    (1 + l (phi(X) - u)) (1 - l kappa (psi(Y) - v)),        u = kappa v + b,

where both factors are at least 0. Their means A and B satisfy A + B - 2 = l (E phi - kappa E psi -
b), which is at most 0 under the null, so that A B <= 1: the wealth is a test martingale, and who
started with 1 reaches 1/alpha with probability alpha at most, at whatever time one looks, as long
as phi, psi, v and l were chosen before the draws. v is what the past says of E_Q psi. The stake
that reaches 1/alpha within H draws at the smallest excess is sqrt(2 ln(1/alpha) / (H variance));
several horizons H share the wealth. Nothing is bet where the past shows no excess.

phi and psi take one value in each of k cells, so that a block of draws is k counts of either side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.auditing.outcomes.outcomes import Layout
from epsilometer.auditing.statistics.claims import Claim
from epsilometer.events.events import Event

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

HORIZONS = (1 / 8, 1.0)  # of the draws that are to come
_PURSES = (0.1, 0.9)  # what each starts with: the short one is for those who stop early
_KINDS = {1: (1.0,), 2: (0.4, 0.6), 3: (0.3, 0.4, 0.3)}  # the cautious bet, the bold, another
_MOST = 0.95  # of the stake at which a factor may be 0


def _nothing() -> None:
    return None


@dataclass(frozen=True, eq=False)
class Bet:
    """Functions phi and psi of the outputs that were chosen on the past.

    Parameters
    ----------
    coded
        The cell of each output, of shape ``(n,)``.
    phi, psi
        Their values in the cells, of shape ``(k,)``.
    swapped
        Whether P is the law on x' and Q that on x.
    mean_phi, mean_psi, variance_phi, variance_psi
        What the past says of them under P and under Q.
    order
        Of the Rényi divergence that is meant; NaN for events.
    event
        Returns the event of the outputs where phi is large, for a reader; None if there are none.
    inside
        Which cells these outputs are; where phi is above 0, if not given.
    promise, hope
        The level that it should show on the draws to come, with caution; and with little.
    """

    coded: Callable[[NDArray[Any]], Counts]
    phi: Floats
    psi: Floats
    swapped: bool
    mean_phi: float
    mean_psi: float
    variance_phi: float
    variance_psi: float
    order: float = math.nan
    event: Callable[[], Event | None] = _nothing
    inside: NDArray[np.bool_] | None = None
    promise: float = -math.inf
    hope: float = -math.inf

    def counted(self, sample: NDArray[Any], blocks: Sequence[int]) -> Counts:
        """Return how many outputs lie in each cell, block by block, of shape ``(blocks, k)``."""
        codes, k = self.coded(sample), self.phi.size
        place = np.repeat(np.arange(len(blocks)), blocks) * k + codes
        return np.bincount(place, None, len(blocks) * k).reshape(len(blocks), k)


@dataclass(frozen=True, eq=False)
class Round:
    """A bet, and the fresh draws that it was made on, equally many of P and of Q.

    ``counts`` and ``counts_prime`` are of shape ``(blocks, k)``; ``ahead`` is how many draws a
    side were to come at most when the bet was made, and ``layout`` what its cells are cells of.
    """

    bet: Bet
    counts: Counts
    counts_prime: Counts
    ahead: int
    layout: Layout | None = None


def purses(kinds: int) -> Floats:
    """Return the parts of the wealth that each kind of bet and horizon starts with."""
    return np.outer(_KINDS[kinds], _PURSES)


def growth(made: Round, claim: Claim, levels: Floats, alpha: float) -> Floats:
    """Return the log of what each block multiplies the wealth by.

    Parameters
    ----------
    made
        The bet and its draws.
    claim
        The kind of claim.
    levels
        Levels of the claim, of shape ``(m,)``.
    alpha
        The probability of a false alarm that stakes aim at.

    Returns
    -------
    An array of shape ``(blocks, horizons, m)``.
    """
    bet = made.bet
    kappa, b = claim.null(levels, bet.mean_psi, bet.order)
    u = kappa * bet.mean_psi + b
    means = np.array(bet.mean_phi), np.array(bet.mean_psi)
    variance = bet.variance_phi + kappa**2 * bet.variance_psi
    ends = bet.phi.min(), bet.psi.max()
    stake = stakes(means, variance, ends, kappa, u, made.ahead, alpha)
    won = np.log1p(stake * (bet.phi[:, None, None] - u))
    lost = np.log1p(-stake * kappa * (bet.psi[:, None, None] - bet.mean_psi))
    grown: Floats = np.tensordot(made.counts, won, 1) + np.tensordot(made.counts_prime, lost, 1)
    return grown


def aimed_stake(variance: Floats, draws: float | Floats, alpha: float) -> Floats:
    """Return the stake that wins 1/alpha within so many draws at the smallest excess."""
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
    and the largest psi: of shapes that broadcast, as those of the claim's ``kappa`` and ``u`` do.
    """
    each = (-1, *[1] * np.ndim(kappa))
    horizons = np.maximum(np.reshape(HORIZONS, each) * ahead, 1.0)
    stake = aimed_stake(variance, horizons, alpha)
    with np.errstate(divide="ignore"):
        most = np.minimum(
            1 / np.maximum(u - ends[0], 0.0), 1 / np.maximum(kappa * (ends[1] - means[1]), 0.0)
        )
    stake = np.minimum(stake, _MOST * most)
    return np.where((means[0] > u) & np.isfinite(stake), stake, 0.0)

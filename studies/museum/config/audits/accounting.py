"""The Gaussian mechanism, with a claim by the accountants of dp-accounting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from dp_accounting import GaussianDpEvent, NeighboringRelation
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from numpy.typing import NDArray


def clipped_sum(
    values: Sequence[float], size: int, rng: np.random.Generator, noise_multiplier: float = 1
) -> NDArray[np.float64]:
    """Draw the sum of values, each cut to [-1, 1], with noise; it is told to six digits.

    The noise is what `GaussianDpEvent` means by its multiplier: that many times the bound.
    """
    total = np.clip(np.asarray(values, float), -1, 1).sum()
    return np.round(total + rng.normal(0, noise_multiplier, size), 6)


def renyi(noise_multiplier: float = 1, delta: float = 1e-5) -> float:
    """Return the epsilon that the accountant of Rényi privacy claims where a value is replaced."""
    accountant = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
    return accountant.compose(GaussianDpEvent(noise_multiplier)).get_epsilon(delta)


def losses(noise_multiplier: float = 1, delta: float = 1e-5) -> float:
    """Return the epsilon that the accountant of loss distributions claims for the same."""
    accountant = PLDAccountant(NeighboringRelation.REPLACE_ONE)
    return accountant.compose(GaussianDpEvent(noise_multiplier)).get_epsilon(delta)

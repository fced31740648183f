"""The claimed epsilon of DP-SGD, by dp-accounting."""

from __future__ import annotations

import dp_accounting
from dp_accounting.pld import PLDAccountant


def epsilon(
    delta: float, rate: float = 0.05, steps: int = 80, noise_multiplier: float = 1.5
) -> float:
    """Return epsilon of so many steps, each with a batch that is sampled at a rate."""
    step = dp_accounting.PoissonSampledDpEvent(
        rate, dp_accounting.GaussianDpEvent(noise_multiplier)
    )
    accountant = PLDAccountant(dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE)
    accountant.compose(dp_accounting.SelfComposedDpEvent(step, steps))
    return float(accountant.get_epsilon(delta))

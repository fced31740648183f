"""riskcal: what its accountant, its conversions and its calibrations say of Gaussian mechanisms.

A trade-off function is a claim, too: an error of the second kind, beta, at one of the first, alpha,
says that delta is at least 1 - beta - e^epsilon alpha. The alpha is that of the likelihood ratio
test at this epsilon, where it says most.
"""

from __future__ import annotations

import math
from functools import cache

import accounted
from riskcal import analysis
from riskcal.accountants import CTDAccountant
from riskcal.calibration import dpsgd
from scipy.special import ndtr

EPSILON = 1.0


def counted(noise: float, rate: float, steps: int) -> CTDAccountant:
    """Return an accountant that has seen the steps."""
    accountant = CTDAccountant()
    for _ in range(steps):
        accountant.step(noise_multiplier=noise, sample_rate=rate)
    return accountant


def level(noise: float, rate: float, steps: int, delta: float) -> float:
    """Return the epsilon that the accountant claims."""
    return float(counted(noise, rate, steps).get_epsilon(delta=delta))


def exact_delta(mu: float, epsilon: float = EPSILON) -> float:
    """Return the delta of a Gaussian mechanism."""
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def from_beta(mu: float, by: str) -> float:
    """Return the delta that a trade-off function of a Gaussian mechanism claims."""
    alpha = float(ndtr(-mu / 2 - EPSILON / mu))
    beta = {
        "gdp": lambda: analysis.get_beta_from_gdp(mu, alpha),
        "pld": lambda: counted(1 / mu, 1, 1).get_beta(alpha=alpha),
        "zcdp": lambda: analysis.get_beta_from_zcdp(mu**2 / 2, alpha),
        "rdp": lambda: analysis.get_beta_from_rdp(mu**2 / 2 * 4, alpha, 4),
    }[by]()
    return float(1 - beta - math.exp(EPSILON) * alpha)


def least_delta(mu: float) -> float:
    """Return the delta of a Gaussian mechanism, less the rounding of numbers."""
    return exact_delta(mu) - 1e-6


@cache
def noise_for_advantage(advantage: float, rate: float, steps: int) -> float:
    """Return the noise that is found for an advantage."""
    return float(
        dpsgd.find_noise_multiplier_for_advantage(advantage, sample_rate=rate, num_steps=steps)
    )


def target(advantage: float) -> float:
    """Return the advantage for which noise is calibrated."""
    return advantage


def least_advantage(advantage: float, rate: float, steps: int) -> float:
    """Return the advantage that the noise gives, less the rounding of numbers; for rate 1."""
    noise = noise_for_advantage(advantage, rate, steps)
    return exact_delta(math.sqrt(steps) / noise, 1e-9) - 1e-7


told_level = accounted.told(level, accounted.least)
told_trade_off = accounted.told(from_beta, least_delta)
told_advantage = accounted.told(target, least_advantage)

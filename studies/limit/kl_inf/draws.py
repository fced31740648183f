"""How few draws can be enough to refute a claim, from KL_inf alone.

A test of level alpha that stops when it refutes a claim, and does so with probability 1, needs on
average at least

    ln(1/alpha) / KL_inf                                                                    (floor)

draws of each side, whatever it knows: Wald's identity and the data-processing inequality, for any
convex null (Agrawal and Ramdas, arXiv 2504.19952). To refute with probability ``power`` within n
draws of each side takes n KL_inf >= kl(power, alpha), the divergence of two coins.
"""

from __future__ import annotations

import math

from epsilometer import checks


def floor(kl_inf: float, alpha: float) -> float:
    """Return the least mean number of draws of each side; infinity where the claim holds.

    ``kl_inf`` is in nats; ``alpha`` is the probability of a false alarm.
    """
    checks.between_0_and_1("alpha", alpha)
    return -math.log(alpha) / kl_inf if kl_inf > 0 else math.inf


def least_draws(kl_inf: float, alpha: float, power: float) -> float:
    """Return the least number of draws of each side that refute with probability ``power``."""
    needed = coins(power, alpha)
    return needed / kl_inf if kl_inf > 0 else math.inf


def coins(power: float, alpha: float) -> float:
    """Return kl(power, alpha), the divergence of two coins, in nats; 0 unless power is larger.

    >>> round(coins(0.5, 0.05), 4)
    0.8304
    """
    checks.between_0_and_1("alpha", alpha)
    checks.between_0_and_1("power", power)
    if power <= alpha:
        return 0.0
    rest = (1 - power) * math.log((1 - power) / (1 - alpha))
    return power * math.log(power / alpha) + rest

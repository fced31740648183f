"""Lower confidence bounds for the Rényi divergence of a pair of inputs (kutta2022).

D(p, q) = log int p^order q^(1 - order) / (order - 1) is estimated with the second density floored
from above at tau, which can only lower it; the floor is the smooth maximum (13), so that the delta
method gives a variance (18) and the bound (16). Densities are weights on common atoms, or values on
a common even grid times its spacing.

Everything is computed from logarithms: with tau = 1e-5 and order 7 the terms span 70 decades.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from epsilometer import checks
from epsilometer.errors import ArgumentError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Divergence:
    """An estimated divergence, and the variance of sqrt(n) times its error."""

    value: float
    variance: float

    def bound(self, n: int, alpha: float = 0.05) -> float:
        """Return (16), below the truth with confidence 1 - alpha for large n."""
        checks.integer("n", n)
        quantile = float(ndtri(checks.between_0_and_1("alpha", alpha)))
        return self.value + quantile * math.sqrt(self.variance / n)


def soft_floor(values: Floats, tau: float, beta: float) -> tuple[Floats, Floats]:
    """Return the smooth maximum of values and tau (13), and its derivative (17).

    As beta grows it tends to the maximum, from above: by at most log(2)/beta.
    """
    checks.positive("tau", tau)
    checks.positive("beta", beta)
    floored: Floats = np.logaddexp(beta * values, beta * tau) / beta
    return floored, np.asarray(expit(beta * (values - tau)), np.float64)


def divergence(
    p: Floats, q: Floats, *, order: float, tau: float, beta: float, spacing: float = 1.0
) -> Divergence:
    """Estimate D(p, q) of one order from estimated densities of both sides.

    Parameters
    ----------
    p, q
        Relative frequencies of the same k atoms, or densities at the same even grid of k points, of
        shape ``(k,)``; what is below 0 by rounding counts as 0.
    order
        Any real above 1.
    tau, beta
        Floor of q, and how sharply it sets in.
    spacing
        The grid's spacing; 1 for atoms.
    """
    a = checks.order("order", order, finite=True)
    if p.shape != q.shape or p.ndim != 1 or p.size == 0:
        raise ArgumentError("q", f"has shape {q.shape}, p has {p.shape}")
    p, q = np.maximum(p, 0.0), np.maximum(q, 0.0)
    floored, slope = soft_floor(q, tau, checks.positive("beta", beta))
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(p), np.log(q)
    log_floored, log_slope = np.log(floored), np.log(np.maximum(slope, 1e-300))

    def integral(terms: Floats) -> float:
        """Return the logarithm of a sum of exponentials on the grid."""
        return float(np.logaddexp.reduce(terms)) + math.log(spacing)

    ratio = log_p - log_floored
    log_main = integral(a * ratio + log_floored)
    if not math.isfinite(log_main):
        raise ArgumentError("p", "is 0 everywhere")
    first = integral((2 * a - 2) * ratio + log_p) - 2 * log_main
    second = integral(2 * (log_slope + a * ratio) + log_q) - 2 * log_main
    mean = integral(log_slope + a * ratio + log_q) - log_main
    variance = a**2 * math.expm1(first) + (1 - a) ** 2 * (math.exp(second) - math.exp(2 * mean))
    return Divergence(log_main / (a - 1), max(variance, 0.0) / (a - 1) ** 2)


def maximum_confidence(pairs: int, alpha: float = 0.05) -> float:
    """Return the confidence (1 - alpha)^N of the largest of N independent pairs' bounds (8)."""
    level = checks.between_0_and_1("alpha", alpha)
    return float((1 - level) ** checks.integer("pairs", pairs))


def bonferroni(pairs: int, alpha: float = 0.05) -> float:
    """Return the alpha of each of N bounds at which their largest holds with confidence 1 - alpha.

    Unlike (8) it needs no independence between the pairs' samples.
    """
    return checks.between_0_and_1("alpha", alpha) / checks.integer("pairs", pairs)

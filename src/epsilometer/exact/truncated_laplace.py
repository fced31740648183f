"""Exact law of the truncated Laplace mechanism (gorla2022, Definition II.5 and Table I)."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from epsilometer import checks
from epsilometer.exact.base import Floats
from epsilometer.exact.interval import OnIntervalLaw
from epsilometer.mechanisms.truncated_laplace import TruncatedLaplace


class TruncatedLaplaceLaw(OnIntervalLaw):
    """Density, levels and Lipschitz constants, with B the scale and W the width."""

    def __init__(self, mechanism: TruncatedLaplace) -> None:
        super().__init__(mechanism)
        self._scale = mechanism.scale

    @property
    def lipschitz_output(self) -> float:
        """C = 1 / (B^2 (1 - e^(-W/B))): the slope at the mode when x is an end."""
        width = self._upper - self._lower
        return 1 / (self._scale**2 * -math.expm1(-width / self._scale))

    @property
    def lipschitz_input(self) -> float:
        """D = 2 C: at an end the normalisation moves as fast as the peak does."""
        return 2 * self.lipschitz_output

    def _mass(self, x: float) -> float:
        left = -math.expm1(-(x - self._lower) / self._scale)
        return self._scale * (left - math.expm1(-(self._upper - x) / self._scale))

    def pdf(self, z: ArrayLike, x: float) -> Floats:
        """Return the density at ``z`` (0 outside the interval)."""
        at = np.asarray(z, np.float64)
        inside = (at >= self._lower) & (at <= self._upper)
        return np.where(inside, np.exp(-np.abs(at - x) / self._scale) / self._mass(x), 0.0)

    def cdf(self, z: ArrayLike, x: float) -> Floats:
        """Return the distribution function at ``z``."""
        at = np.clip(np.asarray(z, np.float64), self._lower, self._upper)
        left = -math.expm1(-(x - self._lower) / self._scale)
        step = np.expm1(-np.abs(at - x) / self._scale)  # minus the mass between x and z
        return self._scale * np.where(at <= x, left + step, left - step) / self._mass(x)

    def privacy_loss(self, x: float, x_prime: float) -> float:
        """Return the loss, reached on the far side of x: log K/K' + |x - x'| / B."""
        return math.log(self._mass(x_prime) / self._mass(x)) + abs(x - x_prime) / self._scale

    def renyi(self, order: float, x: float, x_prime: float) -> float:
        """Return the divergence, summed over the three pieces that x and x' cut.

        On each piece the integrand p^order q^(1 - order) is an exponential in z.
        """
        order = checks.order("order", order, finite=True)
        log_scale = order * math.log(self._mass(x)) + (1 - order) * math.log(self._mass(x_prime))
        cuts = sorted({self._lower, self._upper, x, x_prime})
        pieces = []
        for start, end in pairwise(cuts):
            middle = (start + end) / 2
            sign, sign_prime = np.sign(middle - x), np.sign(middle - x_prime)
            rate = -(order * sign + (1 - order) * sign_prime) / self._scale
            at_start = -(order * abs(start - x) + (1 - order) * abs(start - x_prime)) / self._scale
            pieces.append(at_start + _log_integral(rate, end - start))
        return (float(logsumexp(pieces)) - log_scale) / (order - 1)


def _log_integral(rate: float, width: float) -> float:
    """Return the logarithm of the integral of exp(rate u) over [0, width]."""
    if rate == 0:
        return math.log(width)
    steepest = max(rate, 0.0) * width  # taken out, so that nothing overflows at high orders
    return steepest + math.log(-math.expm1(-abs(rate) * width) / abs(rate))

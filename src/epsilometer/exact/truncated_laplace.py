"""Exact law of the truncated Laplace mechanism (gorla2022, Definition II.5 and Table I)."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from epsilometer import checks
from epsilometer.arrays import Floats
from epsilometer.exact import real_line
from epsilometer.exact.interval import OnIntervalLaw
from epsilometer.exact.levels import Compared
from epsilometer.mechanisms.truncated_laplace import TruncatedLaplace


class TruncatedLaplaceLaw(OnIntervalLaw):
    """Density, levels and Lipschitz constants, with B the scale and W the width."""

    def __init__(self, mechanism: TruncatedLaplace) -> None:
        super().__init__(mechanism, mechanism.scale)
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

    def log_pdf(self, z: Floats, x: float) -> Floats:
        """Return the log density at ``z``."""
        return self._inside(z, -np.abs(z - x) / self._scale - math.log(self._mass(x)))

    def compare(self, z: Floats, x: float, x_prime: float) -> Compared:
        """Return both log densities, and the loss without their common terms."""
        further = real_line.further(z, x, x_prime) / self._scale
        loss = further + self._log_mass_ratio(x, x_prime)
        return Compared(self.log_pdf(z, x), self.log_pdf(z, x_prime), loss)

    def _log_mass_ratio(self, x: float, x_prime: float) -> float:
        """Return log of mass at x' / mass at x.

        The mass is 2 B (1 - e^(-W/2B) cosh((x - middle)/B)), and a difference of two cosh is twice
        a product of sinh.
        """
        middle = self._lower + (self._upper - self._lower) / 2
        half_sum = (x - middle + x_prime - middle) / (2 * self._scale)
        half_gap = (x - x_prime) / (2 * self._scale)
        if abs(half_sum) + abs(half_gap) < 1:
            shrunk = math.exp(-(self._upper - self._lower) / (2 * self._scale))
            rise = 4 * self._scale * shrunk * math.sinh(half_sum) * math.sinh(half_gap)
            return math.log1p(rise / self._mass(x))
        return math.log(self._mass(x_prime) / self._mass(x))

    def cdf(self, z: ArrayLike, x: float) -> Floats:
        """Return the distribution function at ``z``."""
        at = np.clip(np.asarray(z, np.float64), self._lower, self._upper)
        left = -math.expm1(-(x - self._lower) / self._scale)
        step = np.expm1(-np.abs(at - x) / self._scale)  # minus the mass between x and z
        return self._scale * np.where(at <= x, left + step, left - step) / self._mass(x)

    def privacy_loss(self, x: float, x_prime: float) -> float:
        """Return the loss, reached on the far side of x: log K/K' + |x - x'| / B."""
        return self._log_mass_ratio(x, x_prime) + abs(x - x_prime) / self._scale

    def renyi(self, order: float, x: float, x_prime: float) -> float:
        """Return the divergence, summed over the three pieces that x and x' cut.

        On each piece the integrand p^order q^(1 - order) is an exponential in z. Where the sum is
        nearly 1, quadrature adds up what it exceeds 1 by.
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
        level = float(logsumexp(pieces)) - log_scale
        return level / (order - 1) if level > 0.1 else super().renyi(order, x, x_prime)


def _log_integral(rate: float, width: float) -> float:
    """Return the logarithm of the integral of exp(rate u) over [0, width]."""
    if rate == 0:
        return math.log(width)
    steepest = max(rate, 0.0) * width  # taken out, so that nothing overflows at high orders
    return steepest + math.log(-math.expm1(-abs(rate) * width) / abs(rate))

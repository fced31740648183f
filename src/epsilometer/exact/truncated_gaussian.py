"""Exact law of the truncated Gaussian mechanism (gorla2022, Section III-E and Table I)."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr

from epsilometer import checks
from epsilometer.arrays import Floats
from epsilometer.exact import levels, quadrature
from epsilometer.exact.interval import OnIntervalLaw
from epsilometer.exact.levels import Compared
from epsilometer.mechanisms.truncated_gaussian import TruncatedGaussian


class TruncatedGaussianLaw(OnIntervalLaw):
    """Density, levels and Lipschitz constants."""

    def __init__(self, mechanism: TruncatedGaussian) -> None:
        super().__init__(mechanism, mechanism.sigma)
        self._sigma = mechanism.sigma

    def _phi(self, u: ArrayLike) -> Floats:
        """Return the density of the noise before truncation."""
        u = np.asarray(u, float)
        density: Floats = np.exp(-0.5 * (u / self._sigma) ** 2)
        return density / (self._sigma * math.sqrt(2 * math.pi))

    def _mass(self, x: float) -> float:
        return _normal_mass((self._lower - x) / self._sigma, (self._upper - x) / self._sigma)

    @property
    def lipschitz_output(self) -> float:
        """C: the steepest point is one sigma from an end (or the far end, if that is nearer).

        The mass, by which the density is divided, is smallest when x is an end.
        """
        u = min(self._sigma, self._upper - self._lower)
        return float(self._phi(u)) * u / self._sigma**2 / self._mass(self._lower)

    @cached_property
    def lipschitz_input(self) -> float:
        """D: the largest |df/dx|, in closed form over z and by a bounded search over x.

        With u = z - x and r = M'(x)/M(x), df/dx = phi(u) (u/sigma^2 - r) / M(x); over u it is
        extreme at an end of the interval or where u^2/sigma^2 - r u - 1 = 0.
        """

        def steepest(x: float) -> float:
            mass = self._mass(x)
            r = float(self._phi(x - self._lower) - self._phi(self._upper - x)) / mass
            root = math.sqrt(r * r + 4 / self._sigma**2)
            inner = [x + self._sigma**2 * (r + s * root) / 2 for s in (-1, 1)]
            z = np.clip([self._lower, self._upper, *inner], self._lower, self._upper)
            slopes = self._phi(z - x) * ((z - x) / self._sigma**2 - r) / mass
            return float(np.abs(slopes).max())

        from scipy.optimize import minimize_scalar  # slow to import, and rarely needed

        grid = np.linspace(self._lower, self._upper, 257)
        best = int(np.argmax([steepest(x) for x in grid]))
        bounds = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
        refined = minimize_scalar(lambda x: -steepest(x), bounds=bounds, method="bounded")
        return max(steepest(float(grid[best])), -float(refined.fun))

    def pdf(self, z: ArrayLike, x: float) -> Floats:
        """Return the density at ``z`` (0 outside the interval)."""
        at = np.asarray(z, np.float64)
        inside = (at >= self._lower) & (at <= self._upper)
        return np.where(inside, self._phi(at - x) / self._mass(x), 0.0)

    def log_pdf(self, z: Floats, x: float) -> Floats:
        """Return the log density at ``z``."""
        density = self._log_noise(z, x) - math.log(self._sigma * math.sqrt(2 * math.pi))
        return self._inside(z, density - math.log(self._mass(x)))

    def _log_noise(self, z: Floats, x: float) -> Floats:
        return np.asarray(-0.5 * ((z - x) / self._sigma) ** 2)

    def compare(self, z: Floats, x: float, x_prime: float) -> Compared:
        """Return both log densities, and the loss without their common terms."""
        loss = self._log_mass_ratio(x, x_prime) + self._noise_loss(z, x, x_prime)
        return Compared(self.log_pdf(z, x), self.log_pdf(z, x_prime), loss)

    def _noise_loss(self, z: Floats, x: float, x_prime: float) -> Floats:
        """Return the loss before truncation."""
        return np.asarray((x - x_prime) * ((z - x) + (z - x_prime)) / (2 * self._sigma**2))

    def _log_mass_ratio(self, x: float, x_prime: float) -> float:
        """Return log of mass at x' / mass at x: by quadrature where they are close."""
        if abs(x - x_prime) * (self._upper - self._lower) > self._sigma**2:
            return math.log(self._mass(x_prime) / self._mass(x))
        z, weights = quadrature.nodes(*self.pieces(x, x_prime))
        log_q, log_p = (
            self._inside(z, self._log_noise(z, y)) + np.log(weights) for y in (x, x_prime)
        )
        return float(levels.total(log_p, log_q, self._noise_loss(z, x_prime, x)).loss)

    def cdf(self, z: ArrayLike, x: float) -> Floats:
        """Return the distribution function at ``z``."""
        at = np.clip(np.asarray(z, np.float64), self._lower, self._upper)
        values: Floats = ndtr((at - x) / self._sigma) - ndtr((self._lower - x) / self._sigma)
        return values / self._mass(x)

    def privacy_loss(self, x: float, x_prime: float) -> float:
        """Return the loss: linear in z, so reached at an end of the interval."""
        ends = np.array(self.support)
        largest = float(self._noise_loss(ends, x, x_prime).max())
        return self._log_mass_ratio(x, x_prime) + largest

    def renyi(self, order: float, x: float, x_prime: float) -> float:
        """Return the divergence: the integrand is again a Gaussian, about order x + (1-order) x'.

        Its square is completed, as for the untruncated Gaussian; log-masses keep far means exact.
        Where the integral is nearly 1, quadrature adds up what it exceeds 1 by.
        """
        order = checks.order("order", order, finite=True)
        mean = order * x + (1 - order) * x_prime
        free = order * (order - 1) * (x - x_prime) ** 2 / (2 * self._sigma**2)
        ends = (self._lower - mean) / self._sigma, (self._upper - mean) / self._sigma
        masses = order * math.log(self._mass(x)) + (1 - order) * math.log(self._mass(x_prime))
        level = free + _log_normal_mass(*ends) - masses
        return level / (order - 1) if level > 0.1 else super().renyi(order, x, x_prime)


def _log_normal_mass(low: float, high: float) -> float:
    """Return log(Phi(high) - Phi(low)), exact in both tails."""
    if low > 0:  # by symmetry into the lower tail, where log_ndtr is accurate
        low, high = -high, -low
    top, bottom = float(log_ndtr(high)), float(log_ndtr(low))
    return top + math.log1p(-math.exp(bottom - top))


def _normal_mass(low: float, high: float) -> float:
    return math.exp(_log_normal_mass(low, high))

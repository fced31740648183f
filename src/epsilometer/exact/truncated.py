"""Exact distributions of noise on an interval (gorla2022, Table I) and on a half line."""

import math
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, logsumexp, ndtr

from epsilometer import checks
from epsilometer.exact import levels, quadrature, real_line
from epsilometer.exact.levels import Comparison
from epsilometer.exact.quadrature import LineDistribution
from epsilometer.mechanisms.truncated import (
    ExponentialHalfLine,
    OnInterval,
    TruncatedGaussian,
    TruncatedLaplace,
)
from epsilometer.numerics.arrays import Floats


class IntervalNoise(LineDistribution):
    """The base of noise that is truncated to ``[lower, upper]``."""

    def __init__(self, mechanism: OnInterval, scale: float) -> None:
        """Take the mechanism, and the scale of its noise."""
        self._scale = scale
        self._lower = float(mechanism.lower)
        self._upper = float(mechanism.upper)

    @property
    def support(self) -> tuple[float, float]:
        """The ends of the interval."""
        return self._lower, self._upper

    def pieces(self, x: float, x_prime: float) -> tuple[Floats, float]:
        return np.array([self._lower, x, x_prime, self._upper]), self._scale

    def _inside(self, z: Floats, logs: Floats) -> Floats:
        """Return log densities, minus infinity outside of the interval."""
        return np.where((z >= self._lower) & (z <= self._upper), logs, -np.inf)


class ExactTruncatedGaussian(IntervalNoise):
    """Density, levels and Lipschitz constants."""

    def __init__(self, mechanism: TruncatedGaussian) -> None:
        super().__init__(mechanism, mechanism.sigma)

    def _phi(self, u: ArrayLike) -> Floats:
        """Return the density of the noise before truncation."""
        u = np.asarray(u, float)
        density: Floats = np.exp(-0.5 * (u / self._scale) ** 2)
        return density / (self._scale * math.sqrt(2 * math.pi))

    def _mass(self, x: float) -> float:
        ends = (self._lower - x) / self._scale, (self._upper - x) / self._scale
        return math.exp(_log_normal_mass(*ends))

    @property
    def lipschitz_output(self) -> float:
        """C: the steepest point is one sigma from an end (or the far end, if that is nearer).

        The mass, by which the density is divided, is smallest when x is an end.
        """
        u = min(self._scale, self._upper - self._lower)
        return float(self._phi(u)) * u / self._scale**2 / self._mass(self._lower)

    @property
    def lipschitz_input(self) -> float:
        """D: the steepest point is an end z of the interval, and x the same end.

        With the mean m(x) of the output, |df/dx| = f |z - m(x)| / sigma^2. At a z between x and
        m(x) it is larger at x. Without the outputs beyond z, f and |z - m(x)| are larger, so z may
        be an end. Then it falls with the distance of x from z, as the mean square of |output - z|
        is at most twice the square of its mean (densities are log-concave), and it rises with the
        width, as the mean is in the half beside z.
        """
        width = self._upper - self._lower
        fall = -math.expm1(-0.5 * (width / self._scale) ** 2)  # of phi from one end to the other
        return fall * float(self._phi(0) / self._mass(self._lower)) ** 2

    def log_pdf(self, z: Floats, x: float) -> Floats:
        density = self._log_noise(z, x) - math.log(self._scale * math.sqrt(2 * math.pi))
        return self._inside(z, density - math.log(self._mass(x)))

    def _log_noise(self, z: Floats, x: float) -> Floats:
        return np.asarray(-0.5 * ((z - x) / self._scale) ** 2)

    def compare(self, z: Floats, x: float, x_prime: float) -> Comparison:
        loss = self._log_mass_ratio(x, x_prime) + self._noise_loss(z, x, x_prime)
        return Comparison(self.log_pdf(z, x), self.log_pdf(z, x_prime), loss)

    def _noise_loss(self, z: Floats, x: float, x_prime: float) -> Floats:
        """Return the loss before truncation."""
        return np.asarray((x - x_prime) * ((z - x) + (z - x_prime)) / (2 * self._scale**2))

    def _log_mass_ratio(self, x: float, x_prime: float) -> float:
        """Return log of mass at x' / mass at x: by quadrature where they are close."""
        if abs(x - x_prime) * (self._upper - self._lower) > self._scale**2:
            return math.log(self._mass(x_prime) / self._mass(x))
        z, weights = quadrature.nodes(*self.pieces(x, x_prime))
        log_masses = self._inside(z, self._log_noise(z, x)) + np.log(weights)
        loss = self._noise_loss(z, x_prime, x)
        return float(levels.total(log_masses + loss, log_masses, loss).loss)

    def cdf(self, z: ArrayLike, x: float) -> Floats:
        z = np.clip(np.asarray(z, np.float64), self._lower, self._upper)
        values: Floats = ndtr((z - x) / self._scale) - ndtr((self._lower - x) / self._scale)
        return values / self._mass(x)

    def privacy_loss(self, x: float, x_prime: float) -> float:
        """Return the loss: linear in z, so reached at an end of the interval."""
        largest = float(self._noise_loss(np.array(self.support), x, x_prime).max())
        return self._log_mass_ratio(x, x_prime) + largest

    def renyi(self, order: float, x: float, x_prime: float) -> float:
        """Return the divergence: the integrand is again a Gaussian, about order x + (1-order) x'.

        Its square is completed, as for the untruncated Gaussian; log-masses keep far means exact.
        Where the integral is nearly 1, quadrature adds up what it exceeds 1 by.
        """
        order = checks.order("order", order, finite=True)
        mean = order * x + (1 - order) * x_prime
        free = order * (order - 1) * (x - x_prime) ** 2 / (2 * self._scale**2)
        ends = (self._lower - mean) / self._scale, (self._upper - mean) / self._scale
        masses = order * math.log(self._mass(x)) + (1 - order) * math.log(self._mass(x_prime))
        level = free + _log_normal_mass(*ends) - masses
        if level > levels.CLEAR:
            return level / (order - 1)
        return super().renyi(order, x, x_prime)


def _log_normal_mass(low: float, high: float) -> float:
    """Return log(Phi(high) - Phi(low)), exact in both tails."""
    if low > 0:  # by symmetry into the lower tail, where log_ndtr is accurate
        low, high = -high, -low
    top = float(log_ndtr(high))
    bottom = float(log_ndtr(low))
    return top + math.log1p(-math.exp(bottom - top))


class ExactTruncatedLaplace(IntervalNoise):
    """Density, levels and Lipschitz constants, with B the scale and W the width."""

    def __init__(self, mechanism: TruncatedLaplace) -> None:
        super().__init__(mechanism, mechanism.scale)

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

    def log_pdf(self, z: Floats, x: float) -> Floats:
        return self._inside(z, -np.abs(z - x) / self._scale - math.log(self._mass(x)))

    def compare(self, z: Floats, x: float, x_prime: float) -> Comparison:
        gain = real_line.distance_gain(z, x, x_prime) / self._scale
        loss = gain + self._log_mass_ratio(x, x_prime)
        return Comparison(self.log_pdf(z, x), self.log_pdf(z, x_prime), loss)

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
        z = np.clip(np.asarray(z, np.float64), self._lower, self._upper)
        left = -math.expm1(-(x - self._lower) / self._scale)
        step = np.expm1(-np.abs(z - x) / self._scale)  # minus the mass between x and z
        return self._scale * np.where(z <= x, left + step, left - step) / self._mass(x)

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
            sign = np.sign(middle - x)
            sign_prime = np.sign(middle - x_prime)
            rate = -(order * sign + (1 - order) * sign_prime) / self._scale
            at_start = -(order * abs(start - x) + (1 - order) * abs(start - x_prime)) / self._scale
            pieces.append(at_start + _log_integral(rate, end - start))
        level = float(logsumexp(pieces)) - log_scale
        if level > levels.CLEAR:
            return level / (order - 1)
        return super().renyi(order, x, x_prime)


def _log_integral(rate: float, width: float) -> float:
    """Return the logarithm of the integral of exp(rate u) over [0, width]; the rate is not 0."""
    steepest = max(rate, 0.0) * width  # taken out, so that nothing overflows at high orders
    return steepest + math.log(-math.expm1(-abs(rate) * width) / abs(rate))


class ExactExponentialHalfLine(LineDistribution):
    """Density rate exp(-rate |t - x|) / (2 - exp(-rate x)) on t >= 0."""

    def __init__(self, mechanism: ExponentialHalfLine) -> None:
        self._rate = mechanism.rate

    def _mass(self, x: float) -> float:
        return 2 - math.exp(-self._rate * x)

    def _tail_loss(self, x: float, x_prime: float) -> float:
        """Return the loss above both inputs, log (1 - s'^2) / (1 - s^2) with s = 1 - exp(-rate x).

        To first order in the rate the masses make up for the distance; this has the second order.
        """
        s = -math.expm1(-self._rate * x)
        s_prime = -math.expm1(-self._rate * x_prime)
        gap = math.exp(-self._rate * min(x, x_prime)) * math.expm1(-self._rate * abs(x - x_prime))
        rise = math.copysign(gap, x - x_prime) * (s + s_prime)
        left = math.exp(-self._rate * x) * (1 + s)  # 1 - s^2
        if abs(rise) < 0.5 * left:
            return math.log1p(rise / left)
        return self._rate * (x - x_prime) + math.log((1 + s_prime) / (1 + s))

    def log_pdf(self, z: Floats, x: float) -> Floats:
        density = math.log(self._rate / self._mass(x)) - self._rate * np.abs(z - x)
        return np.where(z >= 0, density, -np.inf)

    def pieces(self, x: float, x_prime: float) -> tuple[Floats, float]:
        return np.array([0.0, x, x_prime]), 1 / self._rate

    def compare(self, z: Floats, x: float, x_prime: float) -> Comparison:
        """Return both log densities, and the loss by its difference from that above both."""
        gain = real_line.distance_gain(z, x, x_prime) - (x - x_prime)
        loss = self._rate * gain + self._tail_loss(x, x_prime)
        return Comparison(self.log_pdf(z, x), self.log_pdf(z, x_prime), loss)

    def cdf(self, z: ArrayLike, x: float) -> Floats:
        t = np.maximum(np.asarray(z, float), 0.0)
        below = np.exp(-self._rate * np.maximum(x - t, 0)) - math.exp(-self._rate * x)
        values: Floats = below - np.expm1(-self._rate * np.maximum(t - x, 0))
        return values / self._mass(x)

    def privacy_loss(self, x: float, x_prime: float) -> float:
        """Return the loss, reached on the far side of x."""
        return 2 * self._rate * max(x_prime - x, 0.0) + self._tail_loss(x, x_prime)

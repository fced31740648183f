"""Laplace and exponential noise in logarithms, and their differences between two answers.

Everything is in units of the noise's scale: u = (z - x) / scale for an answer x. A gain is the
difference of a logarithm at u and at v = u + shift, such as log_pdf(u) - log_pdf(v); ``shift`` is a
parameter, since it is accurate where u and v are large and nearly the same.
"""

import math

import numpy as np

from epsilometer.exact import levels
from epsilometer.exact.levels import Comparison
from epsilometer.numerics.arrays import Bools, Floats

_LOG_2 = math.log(2)
_CLOSE = 0.5


class LaplaceNoise:
    """Density exp(-|u|) / 2."""

    def log_pdf(self, u: Floats) -> Floats:
        """Return -|u| - log 2."""
        return np.asarray(-np.abs(u) - _LOG_2)

    def log_cdf(self, u: Floats) -> Floats:
        """Return u - log 2 below 0, and log(1 - exp(-u)/2) above."""
        return np.where(u < 0, u - _LOG_2, np.log1p(-0.5 * np.exp(-np.abs(u))))

    def pdf_gain(self, u: Floats, v: Floats, shift: Floats) -> Floats:
        """Return |v| - |u|."""
        same = np.where((u > 0) & (v > 0), shift, -shift)
        return np.where(u * v > 0, same, np.abs(v) - np.abs(u))

    def cdf_gain(self, u: Floats, v: Floats, shift: Floats) -> Floats:
        """Return the gain: F = exp(min(u, 0)) (1 - exp(-max(u, 0)) / 2)."""
        above = np.where((u > 0) & (v > 0), -shift, np.maximum(u, 0) - np.maximum(v, 0))
        below = np.where((u < 0) & (v < 0), -shift, np.minimum(u, 0) - np.minimum(v, 0))
        tail = np.exp(-np.maximum(v, 0))
        small = np.abs(above) < 1
        accurate = below + np.log1p(-tail * np.expm1(-np.where(small, above, 0.0)) / (2 - tail))
        return np.where(small, accurate, self.log_cdf(u) - self.log_cdf(v))


class ExponentialNoise:
    """Density exp(-u) for u >= 0."""

    def log_pdf(self, u: Floats) -> Floats:
        """Return -u, or minus infinity below 0."""
        return np.where(u >= 0, -u, -np.inf)

    def log_cdf(self, u: Floats) -> Floats:
        """Return log(1 - exp(-u)), or minus infinity below 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(-np.expm1(-np.maximum(u, 0.0))))

    def pdf_gain(self, u: Floats, v: Floats, shift: Floats) -> Floats:
        """Return v - u, where both have a density."""
        return _where_possible(np.broadcast_to(shift, u.shape), u >= 0, v >= 0)

    def cdf_gain(self, u: Floats, v: Floats, shift: Floats) -> Floats:
        """Return the gain: F(u) / F(v) = 1 - expm1(v - u) / expm1(v)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            rise = -np.expm1(shift) / np.expm1(v)
            coarse = self.log_cdf(u) - self.log_cdf(v)
            small = (np.abs(rise) < _CLOSE) & (v > 0)
            gain = np.where(small, np.log1p(np.where(small, rise, 0.0)), coarse)
        return _where_possible(gain, u > 0, v > 0)


Noise = LaplaceNoise | ExponentialNoise


def _where_possible(gain: Floats, at_u: Bools, at_v: Bools) -> Floats:
    return np.where(at_u & at_v, gain, np.where(at_u, np.inf, -np.inf))


class Largest:
    """For each answer, its density at ``z`` together with being the largest noisy answer.

    Answers that are equal at both inputs share a row of ``each``; ``group`` has each answer's row.
    """

    def __init__(self, noise: Noise, z: Floats, x: Floats, x_prime: Floats, scale: float) -> None:
        both = np.stack([np.asarray(x, float), np.asarray(x_prime, float)], axis=1)
        rows, self.group, counts = np.unique(both, axis=0, return_inverse=True, return_counts=True)
        self.group = self.group.ravel()
        self.counts = counts[:, None]
        shift = (rows[:, :1] - rows[:, 1:]) / scale  # v - u
        u = (np.ravel(z) - rows[:, :1]) / scale
        v = (np.ravel(z) - rows[:, 1:]) / scale
        log_p = self._each(noise, u, scale)
        log_q = self._each(noise, v, scale)
        with np.errstate(invalid="ignore"):
            cdf = noise.cdf_gain(u, v, shift)
            gains = noise.pdf_gain(u, v, shift) - cdf + (self.counts * cdf).sum(axis=0)
        impossible = np.where(log_p == -np.inf, -np.inf, np.inf)
        finite = (log_p > -np.inf) & (log_q > -np.inf)
        self.each = Comparison(log_p, log_q, np.where(finite, gains, impossible))

    def _each(self, noise: Noise, u: Floats, scale: float) -> Floats:
        """Return log f of each row plus log F of all other answers."""
        cdf = noise.log_cdf(u)
        with np.errstate(invalid="ignore"):
            others = (self.counts * cdf).sum(axis=0) - cdf
            density = noise.log_pdf(u) + others - math.log(scale)
        return np.where((cdf > -np.inf).all(axis=0), density, -np.inf)

    def value(self) -> Comparison:
        """Return the density of the largest noisy answer."""
        return levels.total(*self.each.times(self.counts), axis=0)

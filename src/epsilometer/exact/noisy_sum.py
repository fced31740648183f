"""Exact distribution of a noisy sum: a mixture over the sums of all subsets.

kutta2022 prints the enhanced parameter of Poisson subsampling with eps_0(lambda) inside the sum;
Zhu and Wang (2019) have eps_0(j), with which it equals the divergence of the mixture, as here.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, logsumexp

from epsilometer import checks
from epsilometer.exact import levels, real_line
from epsilometer.exact.levels import Comparison
from epsilometer.exact.quadrature import LineDistribution
from epsilometer.mechanisms.noisy_sum import NoisySum
from epsilometer.numerics.arrays import Floats

_POINTS = 8001  # of a grid on which the largest loss is searched
_FAR = np.geomspace(1e-3, 1e3, 2001)  # z / scale^2 of points far out
_HELD = 2**20  # distances from sums in memory


class ExactNoisySum(LineDistribution):
    """The sum over a random subset, plus Laplace or Gaussian noise."""

    def __init__(self, mechanism: NoisySum) -> None:
        self._mechanism = mechanism

    def _sums(self, x: Sequence[float]) -> tuple[Floats, Floats]:
        """Return the subsets' sums, rising, and the logarithms of their probabilities."""
        included = self._mechanism.included
        chances = {0.0: 1.0}
        for person in x:
            following: dict[float, float] = {}
            for total, chance in chances.items():
                for new, share in ((total, 1 - included), (total + person, included)):
                    if share:
                        key = round(new, 12)
                        following[key] = following.get(key, 0.0) + chance * share
            chances = following
        totals = sorted(chances)
        return np.array(totals), np.log([chances[total] for total in totals])

    def log_pdf(self, z: Floats, x: Sequence[float]) -> Floats:
        sums, log_chances = self._sums(x)
        scale = self._mechanism.scale
        u = (z[..., None] - sums) / scale
        if self._mechanism.noise == "gaussian":
            log_noise = -0.5 * u**2 - math.log(scale * math.sqrt(2 * math.pi))
        else:
            log_noise = -np.abs(u) - math.log(2 * scale)
        return np.asarray(logsumexp(log_noise + log_chances, axis=-1))

    def window(self, x: Sequence[float]) -> tuple[float, float]:
        sums, _ = self._sums(x)
        reach = (7.5 if self._mechanism.noise == "gaussian" else 30) * self._mechanism.scale
        return float(sums[0]) - reach, float(sums[-1]) + reach

    def compare(self, z: Floats, x: Sequence[float], x_prime: Sequence[float]) -> Comparison:
        """Return both log densities and the loss.

        Where it is small it is that of two mixtures of the same noise: p - q starts where the
        chances of a sum differ, and counts what that sum adds to the noise about another one.
        """
        (sums, chances), (others, other_chances) = self._sums(x), self._sums(x_prime)
        all_sums = np.union1d(sums, others)
        p = np.zeros(all_sums.size)
        q = np.zeros(all_sums.size)
        p[np.searchsorted(all_sums, sums)] = np.exp(chances)
        q[np.searchsorted(all_sums, others)] = np.exp(other_chances)
        scale = self._mechanism.scale
        first = all_sums[0]
        if self._mechanism.noise == "gaussian":
            gain = (all_sums - first) * ((z[..., None] - first) + (z[..., None] - all_sums))
            gain /= 2 * scale**2
        else:
            gain = real_line.distance_gain(z[..., None], all_sums, first) / scale
        small = np.abs(gain).max(axis=-1) < 1
        safe = np.where(small[..., None], gain, 0.0)
        rise = ((p - q) * np.expm1(safe)).sum(axis=-1) / (q * np.exp(safe)).sum(axis=-1)
        small &= np.abs(rise) < 0.5
        accurate = np.log1p(np.where(small, rise, 0.0))
        loss = logsumexp(gain, axis=-1, b=p) - logsumexp(gain, axis=-1, b=q)
        log_p, log_q = self.log_pdf(z, x), self.log_pdf(z, x_prime)
        return Comparison(log_p, log_q, np.where(small, accurate, loss))

    def pieces(self, x: Sequence[float], x_prime: Sequence[float]) -> tuple[Floats, float]:
        return np.concatenate([self._sums(x)[0], self._sums(x_prime)[0]]), self._mechanism.scale

    def cdf(self, z: ArrayLike, x: Sequence[float]) -> Floats:
        sums, log_chances = self._sums(x)
        u = (np.asarray(z, float)[..., None] - sums) / self._mechanism.scale
        if self._mechanism.noise == "gaussian":
            return np.asarray(np.exp(logsumexp(log_ndtr(u) + log_chances, axis=-1)))
        tail = 0.5 * np.exp(-np.abs(u))
        below: Floats = (np.where(u < 0, tail, 1 - tail) * np.exp(log_chances)).sum(axis=-1)
        return below

    def privacy_loss(self, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return the largest log ratio; in the tails of Gaussian noise the extreme sums decide.

        There the loss is a function of z / scale^2.
        """
        (sums, chances), (others, other_chances) = self._sums(x), self._sums(x_prime)
        ends = []
        if self._mechanism.noise == "gaussian":
            for end, shift in ((-1, sums[-1] - others[-1]), (0, others[0] - sums[0])):
                if shift > 0:
                    return math.inf
                ends.append(float(chances[end] - other_chances[end]) if shift == 0 else -math.inf)
        reach = 40 * self._mechanism.scale
        kinks = np.concatenate([sums, others])
        z = np.append(np.linspace(kinks.min() - reach, kinks.max() + reach, _POINTS), kinks)
        if self._mechanism.noise == "gaussian":
            far = self._mechanism.scale**2 * _FAR
            z = np.concatenate([z, kinks.min() - far, kinks.max() + far])
        step = max(_HELD // kinks.size, 1)
        for start in range(0, z.size, step):
            ends.append(float(self.compare(z[start : start + step], x, x_prime).loss.max()))
        return max(ends)

    def renyi(self, order: float, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return the divergence by quadrature, pieces ending at all sums.

        With normal noise the integrand may lie far out: two of the noise's densities, at the sums s
        and s', give one with its centre at order s - (order - 1) s'.
        """
        a = checks.order("order", order, finite=True)
        sums = self._sums(x)[0]
        others = self._sums(x_prime)[0]
        kinks = np.concatenate([sums, others])
        if self._mechanism.noise == "gaussian":
            kinks = np.append(kinks, (a * sums[:, None] - (a - 1) * others).ravel())
        return levels.renyi(a, self._nodes(kinks, self._mechanism.scale, x, x_prime))

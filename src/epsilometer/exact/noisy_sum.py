"""Exact law of a noisy sum: a mixture over the sums of all subsets.

kutta2022 prints the enhanced parameter of Poisson subsampling with eps_0(lambda) inside the sum;
Zhu and Wang (2019) have eps_0(j), with which it equals the divergence of the mixture, as here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, logsumexp

from epsilometer import checks
from epsilometer.exact import quadrature
from epsilometer.exact.base import Floats
from epsilometer.mechanisms.noisy_sum import NoisySum


class NoisySumLaw:
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
                for reached, share in ((total, 1 - included), (total + person, included)):
                    if share:
                        key = round(reached, 12)
                        following[key] = following.get(key, 0.0) + chance * share
            chances = following
        totals = sorted(chances)
        return np.array(totals), np.log([chances[total] for total in totals])

    def _mixed(self, log_noise: Floats, log_chances: Floats) -> Floats:
        mixed: Floats = logsumexp(log_noise + log_chances, axis=-1)
        return mixed

    def _log_pdf(self, z: Floats, x: Sequence[float]) -> Floats:
        sums, log_chances = self._sums(x)
        scale = self._mechanism.scale
        u = (z[..., None] - sums) / scale
        if self._mechanism.noise == "gaussian":
            return self._mixed(-0.5 * u**2 - math.log(scale * math.sqrt(2 * math.pi)), log_chances)
        return self._mixed(-np.abs(u) - math.log(2 * scale), log_chances)

    def window(self, x: Sequence[float]) -> tuple[float, float]:
        """Return an interval outside of which there is less than 1e-12 of the mass."""
        sums, _ = self._sums(x)
        reach = (7.5 if self._mechanism.noise == "gaussian" else 30) * self._mechanism.scale
        return float(sums[0]) - reach, float(sums[-1]) + reach

    def pdf(self, z: ArrayLike, x: Sequence[float]) -> Floats:
        """Return the density at ``z``."""
        return np.asarray(np.exp(self._log_pdf(np.asarray(z, float), x)))

    def cdf(self, z: ArrayLike, x: Sequence[float]) -> Floats:
        """Return the distribution function at ``z``."""
        sums, log_chances = self._sums(x)
        u = (np.asarray(z, float)[..., None] - sums) / self._mechanism.scale
        if self._mechanism.noise == "gaussian":
            return np.asarray(np.exp(self._mixed(log_ndtr(u), log_chances)))
        tail = 0.5 * np.exp(-np.abs(u))
        below: Floats = np.where(u < 0, tail, 1 - tail) @ np.exp(log_chances)
        return below

    def privacy_loss(self, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return the largest log ratio; in the tails of Gaussian noise the extreme sums decide."""
        (sums, chances), (others, other_chances) = self._sums(x), self._sums(x_prime)
        ends = []
        if self._mechanism.noise == "gaussian":
            for end, further in ((-1, sums[-1] - others[-1]), (0, others[0] - sums[0])):
                if further > 0:
                    return math.inf
                ends.append(float(chances[end] - other_chances[end]) if further == 0 else -math.inf)
        reach = 40 * self._mechanism.scale
        kinks = np.concatenate([sums, others])
        z = np.unique(np.append(np.linspace(kinks.min() - reach, kinks.max() + reach, 8001), kinks))
        return max(float((self._log_pdf(z, x) - self._log_pdf(z, x_prime)).max()), *ends, -math.inf)

    def renyi(self, order: float, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return the divergence by quadrature, pieces ending at all sums.

        With normal noise the integrand may lie far out: two of the noise's densities, at the sums s
        and s', give one with its centre at order s - (order - 1) s'.
        """
        a = checks.order("order", order, finite=True)
        sums, others = self._sums(x)[0], self._sums(x_prime)[0]
        if self._mechanism.noise == "gaussian" and sums.size == others.size == 1:
            return a * float(sums[0] - others[0]) ** 2 / (2 * self._mechanism.scale**2)
        kinks = np.concatenate([sums, others])
        if self._mechanism.noise == "gaussian":
            kinks = np.append(kinks, (a * sums[:, None] - (a - 1) * others).ravel())
        z, weights = quadrature.nodes(kinks, self._mechanism.scale)
        return quadrature.renyi(a, self._log_pdf(z, x), self._log_pdf(z, x_prime), weights)

"""Exact laws of Noisy Max (askin2022, mechanisms b and c; lu2022, NM1 to NM4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from epsilometer.exact import quadrature
from epsilometer.exact.base import Floats
from epsilometer.exact.finite import Enumerated
from epsilometer.mechanisms.noisy_max import (
    ContinuousNoisyMax,
    NoisyMaxIndex,
    NoisyMaxValue,
    ReportNoisyMax,
)


class ReportNoisyMaxLaw(Enumerated):
    """P(i) is the integral of the density of answer i times the CDFs of all others."""

    def __init__(self, mechanism: ReportNoisyMax) -> None:
        self._scale = mechanism.scale

    def probabilities(self, x: Sequence[float]) -> Floats:
        """Return the probability of each index."""
        answers = np.asarray(x, float)
        z, weights = quadrature.nodes(answers, self._scale)
        pdf, cdf = _laplace(z[:, None] - answers, self._scale)
        others = np.array([np.delete(cdf, i, axis=1).prod(axis=1) for i in range(answers.size)])
        return (others * pdf.T) @ weights


class ContinuousNoisyMaxLaw:
    """The law of the largest noisy answer: its CDF is the product of the answers' CDFs."""

    def __init__(self, mechanism: ContinuousNoisyMax) -> None:
        self._scale = mechanism.scale

    def window(self, x: Sequence[float]) -> tuple[float, float]:
        """Return an interval outside of which there is less than 1e-12 of the mass."""
        return min(x) - 30 * self._scale, max(x) + 30 * self._scale

    def pdf(self, z: ArrayLike, x: Sequence[float]) -> Floats:
        """Return the density at ``z``."""
        return np.exp(self._log_pdf(np.asarray(z, float), np.asarray(x, float)))

    def cdf(self, z: ArrayLike, x: Sequence[float]) -> Floats:
        """Return the distribution function at ``z``."""
        product: Floats = _laplace(np.asarray(z, float)[..., None] - np.asarray(x), self._scale)[
            1
        ].prod(axis=-1)
        return product

    def _log_pdf(self, z: Floats, answers: Floats) -> Floats:
        """Return the log density: log sum f_i / F_i + sum log F_i, which keeps the lower tail."""
        u = (z[..., None] - answers) / self._scale
        log_cdf = np.where(u < 0, u - np.log(2), np.log1p(-0.5 * np.exp(-np.abs(u))))
        log_pdf = -np.abs(u) - np.log(2 * self._scale)
        total: Floats = np.logaddexp.reduce(log_pdf - log_cdf, axis=-1) + log_cdf.sum(axis=-1)
        return total

    def privacy_loss(self, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return the largest log ratio: over both tails, where it is constant, and between."""
        p, q = np.asarray(x, float), np.asarray(x_prime, float)
        low = min(p.min(), q.min())  # below every answer the log ratio no longer changes
        high = max(p.max(), q.max()) + 45 * self._scale
        z = np.unique(np.concatenate([np.linspace(low, high, 20_001), p, q]))
        return float((self._log_pdf(z, p) - self._log_pdf(z, q)).max())

    def renyi(self, order: float, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return the divergence by quadrature between the answers and in both tails."""
        p, q = np.asarray(x, float), np.asarray(x_prime, float)
        z, weights = quadrature.nodes(np.concatenate([p, q]), self._scale)
        return quadrature.renyi(order, self._log_pdf(z, p), self._log_pdf(z, q), weights)


class NoisyMaxIndexLaw(Enumerated):
    """As `ReportNoisyMaxLaw`, for either noise of scale 1 / epsilon."""

    def __init__(self, mechanism: NoisyMaxIndex) -> None:
        self._scale = 1 / mechanism.epsilon
        self._noise = _laplace if mechanism.noise == "laplace" else _exponential

    def probabilities(self, x: Sequence[float]) -> Floats:
        """Return the probability of each index."""
        answers = np.asarray(x, float)
        z, weights = quadrature.nodes(answers, self._scale)
        pdf, cdf = self._noise(z[:, None] - answers, self._scale)
        others = np.array([np.delete(cdf, i, axis=1).prod(axis=1) for i in range(answers.size)])
        return (others * pdf.T) @ weights


class NoisyMaxValueLaw:
    """The largest of noisy answers: its CDF is the product of theirs."""

    def __init__(self, mechanism: NoisyMaxValue) -> None:
        self._scale = 1 / mechanism.epsilon
        self._one_sided = mechanism.noise == "exponential"
        self._noise = _exponential if self._one_sided else _laplace

    def window(self, x: Sequence[float]) -> tuple[float, float]:
        """Return an interval outside of which there is less than 1e-12 of the mass."""
        low = max(x) if self._one_sided else min(x) - 30 * self._scale
        return low, max(x) + 32 * self._scale

    def pdf(self, z: ArrayLike, x: Sequence[float]) -> Floats:
        """Return the density at ``z``."""
        pdf, cdf = self._noise(np.asarray(z, float)[..., None] - np.asarray(x), self._scale)
        total: Floats = sum(
            pdf[..., i] * np.delete(cdf, i, axis=-1).prod(axis=-1) for i in range(len(x))
        )
        return total

    def cdf(self, z: ArrayLike, x: Sequence[float]) -> Floats:
        """Return the distribution function at ``z``."""
        noise = self._noise(np.asarray(z, float)[..., None] - np.asarray(x), self._scale)
        product: Floats = noise[1].prod(axis=-1)
        return product

    def _log_densities(
        self, x: Sequence[float], x_prime: Sequence[float]
    ) -> tuple[Floats, Floats, Floats]:
        """Return both log densities at quadrature nodes where x has any, and the weights."""
        z, weights = quadrature.nodes(np.concatenate([x, x_prime]), self._scale)
        with np.errstate(divide="ignore"):
            log_p, log_q = np.log(self.pdf(z, x)), np.log(self.pdf(z, x_prime))
        seen = log_p > -np.inf
        return log_p[seen], log_q[seen], weights[seen]

    def privacy_loss(self, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return the largest log ratio; infinity where x alone has a density."""
        log_p, log_q, _ = self._log_densities(x, x_prime)
        return float((log_p - log_q).max())

    def renyi(self, order: float, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return the divergence by quadrature."""
        log_p, log_q, weights = self._log_densities(x, x_prime)
        return quadrature.renyi(order, log_p, log_q, weights)


def _laplace(u: Floats, scale: float) -> tuple[Floats, Floats]:
    """Return density and distribution function of Laplace noise."""
    tail = 0.5 * np.exp(-np.abs(u) / scale)
    return tail / scale, np.where(u < 0, tail, 1 - tail)


def _exponential(u: Floats, scale: float) -> tuple[Floats, Floats]:
    """Return density and distribution function of exponential noise."""
    tail = np.where(u >= 0, np.exp(-np.maximum(u, 0) / scale), 0.0)
    return tail / scale, np.where(u >= 0, -np.expm1(-np.maximum(u, 0) / scale), 0.0)

"""Exact distributions of Noisy Max (askin2022, mechanisms b and c; lu2022, NM1 to NM4)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from epsilometer.exact import levels, quadrature
from epsilometer.exact.finite import Enumerated
from epsilometer.exact.levels import Comparison
from epsilometer.exact.noise import ExponentialNoise, LaplaceNoise, Largest, Noise
from epsilometer.exact.quadrature import LineDistribution
from epsilometer.mechanisms.noisy_max import (
    ContinuousNoisyMax,
    NoisyMaxIndex,
    NoisyMaxValue,
    ReportNoisyMax,
)
from epsilometer.numerics.arrays import Floats


class ExactNoisyMaxIndex(Enumerated):
    """P(i) is the integral of the density of answer i times the CDFs of all others."""

    def __init__(self, mechanism: ReportNoisyMax | NoisyMaxIndex) -> None:
        self._noise = _noise(mechanism)
        self._scale = mechanism.scale

    def compare(self, x: Sequence[float], x_prime: Sequence[float]) -> Comparison:
        p = np.asarray(x, float)
        q = np.asarray(x_prime, float)
        z, weights = quadrature.nodes(np.concatenate([p, q]), self._scale)
        largest = Largest(self._noise, z, p, q, self._scale)
        totals = levels.total(*largest.each.times(weights))
        return Comparison(*(values[largest.group] for values in totals))


class ExactNoisyMaxValue(LineDistribution):
    """The largest noisy answer: its CDF is the product of the answers' CDFs."""

    def __init__(self, mechanism: ContinuousNoisyMax | NoisyMaxValue) -> None:
        self._noise = _noise(mechanism)
        self._scale = mechanism.scale

    def log_pdf(self, z: Floats, x: Sequence[float]) -> Floats:
        return self.compare(z, x, x).log_p

    def compare(self, z: Floats, x: Sequence[float], x_prime: Sequence[float]) -> Comparison:
        p = np.asarray(x, float)
        q = np.asarray(x_prime, float)
        pair = Largest(self._noise, z, p, q, self._scale).value()
        return Comparison(*(values.reshape(np.shape(z)) for values in pair))

    def cdf(self, z: ArrayLike, x: Sequence[float]) -> Floats:
        u = (np.asarray(z, float)[..., None] - np.asarray(x, float)) / self._scale
        return np.asarray(np.exp(self._noise.log_cdf(u).sum(axis=-1)))

    def pieces(self, x: Sequence[float], x_prime: Sequence[float]) -> tuple[Floats, float]:
        return np.concatenate([np.asarray(x, float), np.asarray(x_prime, float)]), self._scale

    def privacy_loss(self, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return the largest log ratio: in either tail or between; infinite where only x has mass.

        45 scales above all answers the densities' ratio is that of sum exp(x / B) and of
        sum exp(x' / B), to the last digit. Below all that of Laplace noise no longer changes.
        """
        kinks, scale = self.pieces(x, x_prime)
        z = np.linspace(kinks.min() - scale, kinks.max() + 45 * scale, 20_001)
        z = np.unique(np.concatenate([z, kinks, quadrature.nodes(kinks, scale)[0]]))
        largest = -math.inf
        for part in np.array_split(z, max(1, z.size * len(x) // 10**6)):
            pair = self.compare(part, x, x_prime)
            if pair.log_p.max() > -np.inf:
                largest = max(largest, levels.privacy_loss(pair))
        return largest


def _noise(mechanism: Any) -> Noise:
    """Return the noise of a mechanism, Laplace noise unless it has another."""
    exponential = getattr(mechanism, "noise", "laplace") == "exponential"
    return ExponentialNoise() if exponential else LaplaceNoise()

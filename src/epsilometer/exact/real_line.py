"""Exact laws of Laplace and Gaussian noise and of the exponential mechanism on the half line."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from epsilometer import checks
from epsilometer.exact import quadrature
from epsilometer.exact.base import Floats
from epsilometer.mechanisms.exponential import ExponentialHalfLine
from epsilometer.mechanisms.gaussian import Gaussian
from epsilometer.mechanisms.gradient_descent import NoisyGradientDescent
from epsilometer.mechanisms.laplace import Laplace


class LaplaceLaw:
    """The answer plus Laplace noise of scale B."""

    def __init__(self, mechanism: Laplace) -> None:
        self._scale = mechanism.scale

    def window(self, x: float) -> tuple[float, float]:
        """Return an interval outside of which there is less than 1e-12 of the mass."""
        return x - 30 * self._scale, x + 30 * self._scale

    def pdf(self, z: ArrayLike, x: float) -> Floats:
        """Return the density at ``z``."""
        density: Floats = np.exp(-np.abs(np.asarray(z, float) - x) / self._scale)
        return density / (2 * self._scale)

    def cdf(self, z: ArrayLike, x: float) -> Floats:
        """Return the distribution function at ``z``."""
        u = (np.asarray(z, float) - x) / self._scale
        tail = 0.5 * np.exp(-np.abs(u))
        return np.where(u < 0, tail, 1 - tail)

    def privacy_loss(self, x: float, x_prime: float) -> float:
        """Return |x - x'| / B."""
        return abs(x - x_prime) / self._scale

    def renyi(self, order: float, x: float, x_prime: float) -> float:
        """Return Mironov's closed form (2017, Table II), with the larger exponential taken out."""
        a = checks.order("order", order, finite=True)
        distance = abs(x - x_prime) / self._scale
        rest = (a - 1) / (2 * a - 1) * math.exp((1 - 2 * a) * distance)
        return distance + math.log(a / (2 * a - 1) + rest) / (a - 1)


class _Normal(ABC):
    """Normal outputs of one standard deviation, with a mean that depends on the input."""

    def __init__(self, sigma: float) -> None:
        self._sigma = sigma

    @abstractmethod
    def mean(self, x: Any) -> float:
        """Return the mean of the outputs on input ``x``."""

    def window(self, x: Any) -> tuple[float, float]:
        """Return an interval outside of which there is less than 1e-12 of the mass."""
        return self.mean(x) - 7.5 * self._sigma, self.mean(x) + 7.5 * self._sigma

    def pdf(self, z: ArrayLike, x: Any) -> Floats:
        """Return the density at ``z``."""
        u = (np.asarray(z, float) - self.mean(x)) / self._sigma
        density: Floats = np.exp(-0.5 * u**2)
        return density / (self._sigma * math.sqrt(2 * math.pi))

    def cdf(self, z: ArrayLike, x: Any) -> Floats:
        """Return the distribution function at ``z``."""
        values: Floats = ndtr((np.asarray(z, float) - self.mean(x)) / self._sigma)
        return values

    def privacy_loss(self, x: Any, x_prime: Any) -> float:
        """Return infinity, unless the means are the same: the loss is linear in the output."""
        return 0.0 if self.mean(x) == self.mean(x_prime) else math.inf

    def renyi(self, order: float, x: Any, x_prime: Any) -> float:
        """Return order (difference of means)^2 / (2 sigma^2)."""
        a = checks.order("order", order, finite=True)
        return a * (self.mean(x) - self.mean(x_prime)) ** 2 / (2 * self._sigma**2)


class GaussianLaw(_Normal):
    """The answer plus Gaussian noise."""

    def __init__(self, mechanism: Gaussian) -> None:
        super().__init__(mechanism.sigma)

    def mean(self, x: float) -> float:
        """Return the answer itself."""
        return x


class NoisyGradientDescentLaw(_Normal):
    """A linear recursion with normal noise: theta_K is normal.

    kutta2022's closed form of the divergence follows from these moments.
    """

    def __init__(self, mechanism: NoisyGradientDescent) -> None:
        keep = 1 - mechanism.rate
        self._reached = 1 - keep**mechanism.steps
        powers = sum(keep ** (2 * k) for k in range(mechanism.steps))
        super().__init__(mechanism.step_noise * math.sqrt(powers))

    def mean(self, x: Sequence[float]) -> float:
        """Return how far the descent comes towards the people's mean."""
        return math.fsum(x) / len(x) * self._reached


class ExponentialHalfLineLaw:
    """Density rate exp(-rate |t - x|) / (2 - exp(-rate x)) on t >= 0."""

    def __init__(self, mechanism: ExponentialHalfLine) -> None:
        self._rate = mechanism.rate

    def window(self, x: float) -> tuple[float, float]:
        """Return an interval outside of which there is less than 1e-12 of the mass."""
        return 0.0, x + 30 / self._rate

    def _mass(self, x: float) -> float:
        return 2 - math.exp(-self._rate * x)

    def pdf(self, z: ArrayLike, x: float) -> Floats:
        """Return the density at ``z``."""
        at = np.asarray(z, float)
        density = self._rate * np.exp(-self._rate * np.abs(at - x)) / self._mass(x)
        return np.where(at >= 0, density, 0.0)

    def cdf(self, z: ArrayLike, x: float) -> Floats:
        """Return the distribution function at ``z``."""
        at = np.maximum(np.asarray(z, float), 0.0)
        below = np.exp(-self._rate * np.maximum(x - at, 0)) - math.exp(-self._rate * x)
        values: Floats = below - np.expm1(-self._rate * np.maximum(at - x, 0))
        return values / self._mass(x)

    def privacy_loss(self, x: float, x_prime: float) -> float:
        """Return the loss, reached on the far side of x."""
        return self._rate * abs(x - x_prime) + math.log(self._mass(x_prime) / self._mass(x))

    def renyi(self, order: float, x: float, x_prime: float) -> float:
        """Return the divergence by quadrature, pieces ending at both inputs."""
        z, weights = quadrature.nodes([0.0, x, x_prime], 1 / self._rate)
        z, weights = z[z >= 0], weights[z >= 0]
        log_p, log_q = (
            math.log(self._rate / self._mass(y)) - self._rate * np.abs(z - y) for y in (x, x_prime)
        )
        return quadrature.renyi(order, log_p, log_q, weights)

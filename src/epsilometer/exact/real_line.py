"""Exact distributions of Laplace and Gaussian noise on a number or on a vector."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, ndtr

from epsilometer import checks
from epsilometer.exact import quadrature
from epsilometer.mechanisms.real_line import (
    Gaussian,
    GaussianVector,
    Laplace,
    LaplaceVector,
    NoisyGradientDescent,
)
from epsilometer.numerics.arrays import Floats, complex_product

_CELLS = 1 << 18  # of the lattice on which losses are added


def distance_gain(z: Floats, x: Floats | float, x_prime: Floats | float) -> Floats:
    """Return |z - x'| - |z - x|, accurate for large z as well."""
    gap = np.abs(np.subtract(x, x_prime))
    side = (z - x) + (z - x_prime)
    return np.asarray(np.sign(np.subtract(x, x_prime)) * np.clip(side, -gap, gap))


def laplace_deltas(claims: Floats, distance: float) -> Floats:
    """Return the spectrum of Laplace noise for answers ``distance`` scales apart.

    It is 1 - exp((e - distance)/2) (lu2022, Lemma 2), or 1 - exp(e) where all losses exceed e.
    """
    return np.asarray(-np.expm1(np.minimum(np.minimum((claims - distance) / 2, claims), 0.0)))


def gaussian_deltas(claims: Floats, distance: float) -> Floats:
    """Return the spectrum of Gaussian noise for answers ``distance`` standard deviations apart.

    Lemma 3 of lu2022 is Phi(-t) - exp(e) Phi(-t - d) with t = e/d - d/2. Where both are nearly the
    same, or too small for a number, it is phi(t) times the integral of exp(-s^2/2 - t s) (1 -
    exp(-d s)) over s > 0. Below 0 it is 1 - exp(e) and exp(e) times that of -e.
    """
    below = np.minimum(claims, 0.0)
    if distance == 0:
        return np.asarray(-np.expm1(below))
    deltas = np.array([_gaussian_delta(abs(float(e)), distance) for e in claims])
    return np.asarray(np.exp(below) * deltas - np.expm1(below))


def _gaussian_delta(claim: float, d: float) -> float:
    t = claim / d - d / 2
    if t < -1:  # so that d > 2 and the second term is less than half of the first
        kept = math.sqrt(math.pi / 2) * float(erfcx((t + d) / math.sqrt(2)))
        return float(ndtr(-t)) - math.exp(-t * t / 2) / math.sqrt(2 * math.pi) * kept
    s, weights = quadrature.nodes([0.0], 1 / max(t, 1.0))
    above = s > 0
    s = s[above]
    weights = weights[above]
    area = float((weights * np.exp(-s * s / 2 - t * s) * -np.expm1(-d * s)).sum())
    return math.exp(-t * t / 2) * area / math.sqrt(2 * math.pi)


class ExactLaplace:
    """The answer plus Laplace noise of scale B."""

    def __init__(self, mechanism: Laplace) -> None:
        self._scale = mechanism.scale

    def pdf(self, z: ArrayLike, x: float) -> Floats:
        density: Floats = np.exp(-np.abs(np.asarray(z, float) - x) / self._scale)
        return density / (2 * self._scale)

    def cdf(self, z: ArrayLike, x: float) -> Floats:
        u = (np.asarray(z, float) - x) / self._scale
        tail = 0.5 * np.exp(-np.abs(u))
        return np.where(u < 0, tail, 1 - tail)

    def privacy_loss(self, x: float, x_prime: float) -> float:
        """Return |x - x'| / B."""
        return abs(x - x_prime) / self._scale

    def renyi(self, order: float, x: float, x_prime: float) -> float:
        """Return Mironov's closed form (2017, Table II)."""
        a = checks.order("order", order, finite=True)
        return laplace_renyi(a, self.privacy_loss(x, x_prime))

    def spectrum(self, claims: Floats, x: float, x_prime: float) -> Floats:
        return laplace_deltas(claims, self.privacy_loss(x, x_prime))


def laplace_renyi(a: float, distance: float) -> float:
    """Return the divergence log((a e^((a-1) d) + (a-1) e^(-a d)) / (2a-1)) / (a-1).

    The sum is 1 + a (a-1) / (2a-1) times sum (u^k - (-v)^k) d^(k+1) / (k+1)! over k >= 1, with
    u = a - 1 and v = a. At high levels the larger exponential is taken out.
    """
    if (a - 1) * distance > 1:
        smaller = (a - 1) / (2 * a - 1) * math.exp((1 - 2 * a) * distance)
        return distance + math.log(a / (2 * a - 1) + smaller) / (a - 1)
    if a * distance > 0.5:
        excess = a * math.expm1((a - 1) * distance) + (a - 1) * math.expm1(-a * distance)
        return math.log1p(excess / (2 * a - 1)) / (a - 1)
    u = (a - 1) * distance
    v = -a * distance
    series = sum((u**k - v**k) / math.factorial(k + 1) for k in range(14, 0, -1))
    return math.log1p(a * (a - 1) / (2 * a - 1) * distance * series) / (a - 1)


class NormalShift(ABC):
    """Levels of normal outputs; inputs only shift their mean."""

    @abstractmethod
    def _distance(self, x: Any, x_prime: Any) -> float:
        """Return the shift between two inputs, in standard deviations."""

    def privacy_loss(self, x: Any, x_prime: Any) -> float:
        """Return infinity, unless there is no shift: the loss is linear in the output."""
        return math.inf if self._distance(x, x_prime) else 0.0

    def renyi(self, order: float, x: Any, x_prime: Any) -> float:
        """Return order (difference of means)^2 / (2 sigma^2)."""
        return checks.order("order", order, finite=True) * self._distance(x, x_prime) ** 2 / 2

    def spectrum(self, claims: Floats, x: Any, x_prime: Any) -> Floats:
        return gaussian_deltas(claims, self._distance(x, x_prime))


class _Normal(NormalShift):
    """Normal outputs of one standard deviation, with a mean that depends on the input."""

    def __init__(self, sigma: float) -> None:
        self.sigma = sigma

    @abstractmethod
    def mean(self, x: Any) -> float:
        """Return the mean of the outputs on input ``x``."""

    def window(self, x: Any) -> tuple[float, float]:
        return self.mean(x) - 7.5 * self.sigma, self.mean(x) + 7.5 * self.sigma

    def pdf(self, z: ArrayLike, x: Any) -> Floats:
        u = (np.asarray(z, float) - self.mean(x)) / self.sigma
        density: Floats = np.exp(-0.5 * u**2)
        return density / (self.sigma * math.sqrt(2 * math.pi))

    def cdf(self, z: ArrayLike, x: Any) -> Floats:
        values: Floats = ndtr((np.asarray(z, float) - self.mean(x)) / self.sigma)
        return values

    def _distance(self, x: Any, x_prime: Any) -> float:
        return abs(self.mean(x) - self.mean(x_prime)) / self.sigma


class ExactGaussian(_Normal):
    """The answer plus Gaussian noise."""

    def __init__(self, mechanism: Gaussian) -> None:
        super().__init__(mechanism.sigma)

    def mean(self, x: float) -> float:
        return x


class ExactNoisyGradientDescent(_Normal):
    """A linear recursion with normal noise: theta_K is normal.

    kutta2022's closed form of the divergence follows from these moments.
    """

    def __init__(self, mechanism: NoisyGradientDescent) -> None:
        keep = 1 - mechanism.rate
        self._progress = 1 - keep**mechanism.steps
        powers = sum(keep ** (2 * k) for k in range(mechanism.steps))
        super().__init__(mechanism.step_noise * math.sqrt(powers))

    def mean(self, x: Sequence[float]) -> float:
        """Return the expected iterate: a share of the people's mean."""
        return math.fsum(x) / len(x) * self._progress


class ExactGaussianVector(NormalShift):
    """By rotation it is one-dimensional, along the difference of the answers."""

    def __init__(self, mechanism: GaussianVector) -> None:
        self.sigma = mechanism.sigma
        self.entry = ExactGaussian(Gaussian(mechanism.epsilon, mechanism.delta))

    def _distance(self, x: Sequence[float], x_prime: Sequence[float]) -> float:
        return math.dist(x, x_prime) / self.sigma


class ExactLaplaceVector:
    """The loss is the sum of the entries' losses, which are independent."""

    def __init__(self, mechanism: LaplaceVector) -> None:
        self._scale = mechanism.scale
        self.entry = ExactLaplace(Laplace(mechanism.epsilon))

    def privacy_loss(self, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return |x - x'|_1 / B."""
        return float(np.abs(np.subtract(x, x_prime)).sum()) / self._scale

    def renyi(self, order: float, x: Sequence[float], x_prime: Sequence[float]) -> float:
        """Return the sum of the entries' divergences."""
        return math.fsum(self.entry.renyi(order, a, b) for a, b in zip(x, x_prime, strict=True))

    def spectrum(self, claims: Floats, x: Sequence[float], x_prime: Sequence[float]) -> Floats:
        """Return the mean of (1 - exp(e - loss))+, exactly where a single entry differs.

        Otherwise the losses of the entries are added on a lattice by FFT. A loss between two
        lattice points is split so that its mean is kept; the error is of second order in the
        spacing, some 1e-10.
        """
        shifts = np.abs(np.subtract(x, x_prime)) / self._scale
        shifts = shifts[shifts > 0]
        if shifts.size <= 1:
            return laplace_deltas(claims, float(shifts.sum()))
        from scipy import fft  # slow to import, and rarely needed

        spacing = 2 * shifts.sum() / _CELLS
        size = fft.next_fast_len(_CELLS + 2 * shifts.size + 1, real=True)
        product = np.ones(size // 2 + 1, complex)
        lowest = 0
        for level, count in zip(*np.unique(shifts, return_counts=True), strict=True):
            start, masses = _entry_loss(float(level), spacing)
            transform = fft.rfft(masses, size)
            for _ in range(count):
                product = complex_product(product, transform)
            lowest += start * int(count)
        masses = np.maximum(fft.irfft(product, size), 0.0)
        losses = spacing * (lowest + np.arange(size))
        return np.array(
            [(masses * np.maximum(-np.expm1(claim - losses), 0.0)).sum() for claim in claims]
        )


def _entry_loss(level: float, spacing: float) -> tuple[int, Floats]:
    """Return the first lattice point of one entry's loss, in spacings, and the lattice masses.

    Half of the outputs lie beyond x, with loss ``level``; half exp(-level) beyond x', with loss
    -level; between them the loss l has density exp((l - level)/2)/4.
    """
    low = math.floor(-level / spacing)
    high = math.ceil(level / spacing)
    ends = (spacing * np.arange(low, high + 1)).clip(-level, level)
    grow = np.exp((ends - level) / 2)
    mass = np.diff(grow) / 2
    first = np.diff((ends - 2) * grow) / 2  # the integral of l times the density
    share = np.where(mass > 0, first / np.where(mass > 0, mass, 1) / spacing, 0.0)
    share = (share - np.arange(low, high)).clip(0, 1)
    masses = np.zeros(high - low + 1)
    masses[:-1] += mass * (1 - share)
    masses[1:] += mass * share
    for atom, weight in ((level, 0.5), (-level, 0.5 * math.exp(-level))):
        place = atom / spacing - low
        i = min(math.floor(place), masses.size - 2)
        masses[i] += weight * (i + 1 - place)
        masses[i + 1] += weight * (place - i)
    return low, masses

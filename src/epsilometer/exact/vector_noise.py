"""Exact distributions of noise on vectors (lu2022, Figures 5b and 5c)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import fft

from epsilometer.arrays import Floats
from epsilometer.exact.real_line import ExactGaussian, ExactLaplace, NormalShift, laplace_deltas
from epsilometer.mechanisms.real_line import Gaussian, GaussianVector, Laplace, LaplaceVector

_CELLS = 1 << 18  # of the lattice on which losses are added


class ExactGaussianVector(NormalShift):
    """By rotation it is one-dimensional, along the difference of the answers."""

    def __init__(self, mechanism: GaussianVector) -> None:
        self._sigma = mechanism.sigma
        self.entry = ExactGaussian(Gaussian(mechanism.epsilon, mechanism.delta))

    def _distance(self, x: Sequence[float], x_prime: Sequence[float]) -> float:
        return math.dist(x, x_prime) / self._sigma


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
        entries = zip(x, x_prime, strict=True)
        return math.fsum(self.entry.renyi(order, a, b) for a, b in entries)

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
        spacing = 2 * shifts.sum() / _CELLS
        size = _CELLS + 2 * shifts.size + 1
        product = np.ones(size // 2 + 1, complex)
        lowest = 0
        for level, count in zip(*np.unique(shifts, return_counts=True), strict=True):
            start, masses = _entry_loss(float(level), spacing)
            product *= fft.rfft(masses, size) ** count
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
    low, high = math.floor(-level / spacing), math.ceil(level / spacing)
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

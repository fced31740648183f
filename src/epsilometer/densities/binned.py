"""Binned kernel estimates as R's KernSmooth computes them: the bandwidth `dpik`, the curve `bkde`.

kutta2022 uses both. Draws are spread linearly over an even grid; the rest is computed there by FFT.
A draw at or beyond the grid's last point, or before its first, is dropped (R's default), even the
sample's own maximum. Where R differs from textbooks, this follows R: n counts the dropped draws,
kernels are cut at 4 bandwidths and rescaled to mass 1 on the grid, and estimates may be negative.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.hermite_e import hermeval
from numpy.typing import ArrayLike

from epsilometer import checks
from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Floats, complex_product
from epsilometer.numerics.compiled import compiled

_BLOCK = 2**13  # draws that stay in the processor's cache
_POINTS = 401  # of the grid, as in R
_REACH = 4  # bandwidths at which kernels are cut


@dataclass(frozen=True)
class RealSample:
    """A sample of shape ``(n,)``, its ends and its mean, in the unit of the draws."""

    draws: Floats
    low: float
    high: float
    mean: float

    @classmethod
    def of(cls, sample: ArrayLike) -> RealSample:
        """Read the draws; raise `ArgumentError` unless there are 2 or more, all finite."""
        x = np.asarray(sample, np.float64)
        if x.ndim != 1 or x.size < 2:
            message = f"must be a vector of 2 draws or more, got shape {x.shape}"
            raise ArgumentError("sample", message)
        blocks = [x[start : start + _BLOCK] for start in range(0, x.size, _BLOCK)]
        lows, highs, sums = np.array([(b.min(), b.max(), b.sum()) for b in blocks]).T
        low = float(lows.min())
        high = float(highs.max())
        if not math.isfinite(high - low):
            raise ArgumentError("sample", "must be finite")
        return cls(x, low, high, float(sums.sum() / x.size))

    @property
    def deviation(self) -> float:
        """The standard deviation, with n - 1."""
        total = 0.0
        room = np.empty(_BLOCK)
        for start in range(0, self.draws.size, _BLOCK):
            block = self.draws[start : start + _BLOCK]
            off = np.subtract(block, self.mean, out=room[: block.size])
            total += float(np.square(off, out=off).sum())
        return math.sqrt(total / (self.draws.size - 1))


def linear_counts(sample: Floats, lower: float, upper: float, points: int) -> Floats:
    """Spread each draw of a sample of shape ``(n,)`` over its two neighbouring grid points.

    The even grid has 2 ``points`` or more between its ends, which are in the unit of the draws. The
    counts have shape ``(points,)``. Draws beyond the ends are dropped.
    """
    counts = np.zeros(points)
    _spread_over(
        counts, np.ascontiguousarray(sample), lower, (upper - lower) / (points - 1), 0.0, 1.0
    )
    return counts


@compiled
def _spread_over(counts, sample, lower, spacing, mean, spread):  # type: ignore[no-untyped-def]
    """Add the draws, standardised by ``mean`` and ``spread``, within the grid to its counts."""
    for x in sample:
        x = (x - mean) / spread  # noqa: PLW2901
        position = (x - lower) / spacing + 1.0  # R's operations, in their order
        if 1.0 <= position < counts.size:
            left = int(position)
            share = position - left
            counts[left - 1] += 1.0 - share
            counts[left] += share


def dpik(sample: ArrayLike | RealSample) -> float:
    """Return the direct plug-in bandwidth for a Gaussian kernel (Wand and Jones; R's ``dpik``).

    It is in the unit of the draws, of shape ``(n,)``: 2 or more, all finite. Raise `ArgumentError`
    where their scale is 0: the smaller of the standard deviation and the interquartile range over
    1.349.
    """
    x = sample if isinstance(sample, RealSample) else RealSample.of(sample)
    n = x.draws.size
    mean = x.mean
    spread = _scale(x)
    a = (x.low - mean) / spread
    b = (x.high - mean) / spread
    counts = np.zeros(_POINTS)
    spacing = (b - a) / (_POINTS - 1)
    _spread_over(counts, np.ascontiguousarray(x.draws), a, spacing, mean, spread)
    psi = _functional(counts, spacing, 6, math.sqrt(2) * (2 / (7 * n)) ** (1 / 9))
    peak = 3 / math.sqrt(2 * math.pi)  # of the fourth derivative of the normal density
    psi = _functional(counts, spacing, 4, (-2 * peak / (psi * n)) ** (1 / 7))
    return float(spread * (4 * math.pi) ** -0.1 * (psi * n) ** -0.2)


def bkde(
    sample: ArrayLike | RealSample,
    bandwidth: float,
    *,
    points: int = _POINTS,
    ends: tuple[float, float] | None = None,
) -> tuple[Floats, Floats]:
    """Return an even grid and the binned kernel estimate on it (R's ``bkde``, Gaussian kernel).

    The sample has shape ``(n,)``: 2 draws or more, all finite. Both results have shape
    ``(points,)``, in the unit of the draws and in one over it. Where the density is 0, values may
    be -1e-17. On a grid coarser than 4 bandwidths the curve is a histogram of the spread draws.
    Without ends, the grid reaches 4 bandwidths beyond the sample; the curve lacks the mass of draws
    beyond them. Raise `ArgumentError` for a bandwidth that is not above 0.
    """
    x = sample if isinstance(sample, RealSample) else RealSample.of(sample)
    n = x.draws.size
    h = checks.positive("bandwidth", bandwidth)
    checks.integer("points", points, minimum=2)
    low, high = ends or (x.low - _REACH * h, x.high + _REACH * h)
    low, high = checks.interval("ends", low, high)
    counts = linear_counts(x.draws, low, high, points)
    spacing = (high - low) / (points - 1)
    reach = min(math.floor(_REACH * h / spacing), points)
    kernel = _normal(np.arange(reach + 1, dtype=float) * spacing / h) / (n * h)
    kernel /= spacing * (kernel[0] + 2 * kernel[1:].sum()) * n
    return np.linspace(low, high, points), _smoothed(counts, kernel)


def _functional(counts: Floats, spacing: float, order: int, g: float) -> float:
    """Return psi_r(g), the mean of the r-th derivative of a kernel over all pairs of draws."""
    reach = min(math.floor((_REACH + order) * g / spacing), counts.size)
    u = np.arange(reach + 1, dtype=float) * spacing / g
    kernel = hermeval(u, [0] * order + [1]) * _normal(u) / g ** (order + 1)
    return float((counts * _smoothed(counts, kernel)).sum() / counts.sum() ** 2)


def _smoothed(counts: Floats, kernel: Floats) -> Floats:
    """Convolve with a symmetric kernel; ``kernel`` is its half from the centre on."""
    size = 2 ** math.ceil(math.log2(counts.size + kernel.size))
    both = np.zeros(size)
    both[: kernel.size] = kernel
    both[size - kernel.size + 1 :] = kernel[:0:-1]
    product = complex_product(np.fft.rfft(counts, size), np.fft.rfft(both))
    smooth: Floats = np.fft.irfft(product, size)[: counts.size]
    return smooth


def _normal(u: Floats) -> Floats:
    density: Floats = np.exp(-0.5 * u**2) / math.sqrt(2 * math.pi)
    return density


def _scale(x: RealSample) -> float:
    low, high = quantiles(x.draws, [0.25, 0.75])
    scale = min(x.deviation, (high - low) / 1.349)
    if not scale > 0:
        raise ArgumentError("sample", "has scale 0 by minim: half of its draws or more are ties")
    return scale


def quantiles(x: Floats, shares: Sequence[float]) -> list[float]:
    """Return the quantiles of draws of shape ``(n,)``, in their unit."""
    return [float(value) for value in np.quantile(x, shares)]

"""Gaussian kernel density estimates: exact at a point, and fast on an even grid.

askin2022, Algorithm 1: f(t) = 1/(n h^d) sum_i K((t - X_i)/h), with K the product of d standard
normal densities; callers floor it at tau. On a grid, each draw is spread over its two neighbouring
points (linear binning) and convolved with the kernel by FFT: O(n + m log m) instead of O(n m), with
a relative error of the order of (grid spacing / h)^2 / 12.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from epsilometer import checks
from epsilometer.densities.binned import linear_counts, quantiles
from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Floats, complex_product

_REACH = 8.5  # bandwidths beyond which a Gaussian kernel is below 1e-16 of its peak
_MOST_POINTS = 2**22  # of the convolved grid
_FINEST = 12.0  # grid points a bandwidth that linear binning needs for four digits


def nrd0(sample: ArrayLike) -> float:
    """Return Silverman's bandwidth as R's ``bw.nrd0``: 0.9 min(sd, IQR/1.34) n^(-1/5).

    Where the spread is 0, R takes the standard deviation, then |x_1|, then 1. For a sample of shape
    ``(n, d)`` it is the geometric mean over the columns, with n^(-1/(d + 4)). It is in the unit of
    the draws. Raise `ArgumentError` where there are fewer than 2.
    """
    x = _matrix("sample", sample)
    n, d = x.shape
    if n < 2:
        raise ArgumentError("sample", "must hold at least 2 draws for a bandwidth")
    spreads = [_spread(column) for column in x.T]
    return float(0.9 * np.exp(np.mean(np.log(spreads))) * n ** (-1 / (d + 4)))


def _spread(x: Floats) -> float:
    low, high = quantiles(x, [0.25, 0.75])
    with np.errstate(over="ignore", invalid="ignore"):
        sd = float(np.nan_to_num(x.std(ddof=1), nan=np.inf))  # of numbers beyond 1e150
    return min(sd, (high - low) / 1.34) or sd or abs(float(x[0])) or 1.0


def density_at(sample: ArrayLike, points: ArrayLike, bandwidth: float) -> Floats:
    """Return the exact estimate at points (askin2022, Algorithm 1).

    The sample has shape ``(n,)`` or ``(n, d)``, points ``(k,)`` or ``(k, d)``, densities ``(k,)``.
    The bandwidth h > 0 is in the unit of outputs, the same in every dimension; densities are in one
    over that unit to the power d. Raise `ArgumentError` where there are no draws, or points have
    another dimension.
    """
    h = checks.positive("bandwidth", bandwidth)
    x = _matrix("sample", sample)
    t = _matrix("points", points)
    if x.shape[1] != t.shape[1]:
        raise ArgumentError("points", f"have {t.shape[1]} dimensions, the sample {x.shape[1]}")
    scale = x.shape[0] * (h * math.sqrt(2 * math.pi)) ** x.shape[1]
    sums: Floats = np.empty(len(t))
    with np.errstate(over="ignore"):  # far outliers have density 0
        for i, point in enumerate(t):
            squares = (((x - point) / h) ** 2).sum(axis=1)
            sums[i] = np.exp(-0.5 * squares).sum()
    return np.asarray(sums / scale)


def density_on_grid(
    sample: ArrayLike, lower: float, upper: float, points: int, bandwidth: float
) -> Floats:
    """Return the estimate at ``points`` even points from ``lower`` to ``upper``.

    The sample has shape ``(n,)``, densities ``(points,)``; the grid's ends and the bandwidth h > 0
    are in the unit of outputs, densities in one over it. The kernels of draws outside the interval
    count inside it. The convolution runs on a grid that is fine enough for the bandwidth; where
    that would be of over 2^22 points, for a kernel far narrower or wider than the interval, the sum
    is exact.
    Raise `ArgumentError` where there are no draws, or the interval has no width.
    """
    low, high = checks.interval("grid", lower, upper)
    checks.integer("points", points, minimum=2)
    h = checks.positive("bandwidth", bandwidth)
    x = np.asarray(sample, np.float64)
    if x.ndim != 1 or x.size == 0:
        raise ArgumentError("sample", f"must be a non-empty vector, got shape {x.shape}")
    spacing = (high - low) / (points - 1)
    parts = max(1, math.ceil(spacing * _FINEST / h))
    step = spacing / parts
    if parts * points + 2 * _REACH * h / step > _MOST_POINTS:
        return density_at(x, np.linspace(low, high, points), h)
    margin = math.ceil(_REACH * h / step)
    start = low - margin * step
    size = (points - 1) * parts + 1 + 2 * margin
    mass = linear_counts(x, start, start + (size - 1) * step, size)
    offsets = np.arange(-margin, margin + 1) * (step / h)
    kernel = np.exp(-0.5 * offsets**2) / (x.size * h * math.sqrt(2 * math.pi))
    density = _convolved(mass, kernel)[::parts]
    return np.maximum(density, 0.0)  # the FFT leaves -1e-17 where the density is 0


def _convolved(mass: Floats, kernel: Floats) -> Floats:
    """Return the part of a convolution in which the kernel lies entirely within the mass."""
    from scipy.fft import next_fast_len  # imported where draws are reals

    size = next_fast_len(mass.size, real=True)  # wrapped values lie outside that part
    product = complex_product(np.fft.rfft(mass, size), np.fft.rfft(kernel, size))
    whole: Floats = np.fft.irfft(product, size)
    return whole[kernel.size - 1 : mass.size]


def _matrix(name: str, values: ArrayLike) -> Floats:
    x = np.asarray(values, np.float64)
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2 or x.size == 0:
        raise ArgumentError(name, f"must have shape (n,) or (n, d), got {x.shape}")
    return x

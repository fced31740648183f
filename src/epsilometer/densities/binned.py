"""Binned kernel estimates as R's KernSmooth computes them: the bandwidth `dpik`, the curve `bkde`.

kutta2022 uses both. Draws are spread linearly over an even grid and everything else happens there,
by FFT; a draw at or beyond the grid's last point, or before its first, is dropped (R's default),
also where that is the sample's own maximum. Where R's choices differ from a textbook's, R is
followed: n counts the dropped draws, kernels are cut at 4 bandwidths and rescaled to mass 1 on the
grid, and estimates are not clipped at 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.polynomial.hermite_e import hermeval
from numpy.typing import ArrayLike

from epsilometer import checks
from epsilometer.arrays import Floats
from epsilometer.compiled import compiled
from epsilometer.errors import ArgumentError

_BLOCK = 2**13  # draws that stay in the processor's cache from one step to the next
_REACH = 4  # bandwidths at which kernels are cut
_BINS = 2**12  # among which the ranks of quantiles are looked for


@dataclass(frozen=True)
class Looked:
    """A sample of shape ``(n,)``, its ends and its mean, in the unit of the draws."""

    draws: Floats
    low: float
    high: float
    mean: float

    @classmethod
    def at(cls, sample: ArrayLike) -> Looked:
        """Look once; raise `ArgumentError` unless there are 2 draws or more, all finite."""
        x = np.asarray(sample, np.float64)
        if x.ndim != 1 or x.size < 2:
            message = f"must be a vector of 2 draws or more, got shape {x.shape}"
            raise ArgumentError("sample", message)
        blocks = [x[start : start + _BLOCK] for start in range(0, x.size, _BLOCK)]
        seen = np.array([(b.min(), b.max(), b.sum()) for b in blocks])
        low, high = float(seen[:, 0].min()), float(seen[:, 1].max())
        if not math.isfinite(high - low):
            raise ArgumentError("sample", "must be finite")
        return cls(x, low, high, float(seen[:, 2].sum() / x.size))

    @property
    def deviation(self) -> float:
        """The standard deviation, with n - 1."""
        total, room = 0.0, np.empty(_BLOCK)
        for start in range(0, self.draws.size, _BLOCK):
            block = self.draws[start : start + _BLOCK]
            off = np.subtract(block, self.mean, out=room[: block.size])
            total += float(np.square(off, out=off).sum())
        return math.sqrt(total / (self.draws.size - 1))


def linear_counts(
    sample: Floats, lower: float, upper: float, points: int, *, truncate: bool = True
) -> Floats:
    """Spread each draw over its two neighbouring points of an even grid.

    Parameters
    ----------
    sample
        Shape ``(n,)``.
    lower, upper
        The grid's ends, in the unit of the draws.
    points
        Grid points, 2 or more.
    truncate
        Whether draws beyond the ends are dropped; if not, they count fully for the last point on
        their side.

    Returns
    -------
    How many draws each point holds, of shape ``(points,)``.
    """
    counts = np.zeros(points)
    spacing = (upper - lower) / (points - 1)
    below, above = _spread_over(counts, np.ascontiguousarray(sample), lower, spacing)
    if not truncate:
        counts[0] += below
        counts[-1] += above
    return counts


@compiled
def _spread_over(counts, sample, lower, spacing, mean=0.0, spread=1.0):  # type: ignore[no-untyped-def]
    """Add the draws within the grid to its counts, and return how many lie below and above.

    A grid of standardised draws is in units of their ``spread``, from their ``mean``.
    """
    below = above = 0
    for x in sample:
        if mean != 0.0 or spread != 1.0:
            x = (x - mean) / spread  # noqa: PLW2901
        position = (x - lower) / spacing + 1.0  # R's operations, in their order
        if 1.0 <= position < counts.size:
            left = int(position)
            share = position - left
            counts[left - 1] += 1.0 - share
            counts[left] += share
        elif position < 1.0:
            below += 1
        else:  # what is no number, too
            above += 1
    return below, above


def dpik(
    sample: ArrayLike | Looked,
    *,
    scale: Literal["minim", "stdev", "iqr"] = "minim",
    level: int = 2,
    points: int = 401,
    ends: tuple[float, float] | None = None,
    truncate: bool = True,
    canonical: bool = False,
) -> float:
    """Return the direct plug-in bandwidth for a Gaussian kernel (Wand and Jones; R's ``dpik``).

    It is in the unit of the draws. Raise `ArgumentError` where their scale is 0, or where the grid
    holds none of them.

    Parameters
    ----------
    sample
        Shape ``(n,)``: 2 draws or more, all finite.
    scale
        The standard deviation, the interquartile range / 1.349, or the smaller of both.
    level
        Stages of functional estimation, 0 to 5.
    points
        Grid points.
    ends
        The grid's ends; the sample's, if not given.
    truncate
        Whether draws beyond the ends are dropped.
    canonical
        Whether the bandwidth is for the kernel of unit roughness, not for the normal density.
    """
    x = sample if isinstance(sample, Looked) else Looked.at(sample)
    checks.integer("points", points, minimum=2)
    n, mean, spread = x.draws.size, x.mean, _scale(x, scale)
    if checks.integer("level", level, minimum=0) > 5:
        raise ArgumentError("level", f"must be at most 5, got {level}")
    low, high = checks.interval("ends", *(ends or (x.low, x.high)))
    a, b = (low - mean) / spread, (high - mean) / spread
    counts, spacing = np.zeros(points), (b - a) / (points - 1)
    outside = _spread_over(counts, np.ascontiguousarray(x.draws), a, spacing, mean, spread)
    if not truncate:
        counts[[0, -1]] += outside
    if not counts.sum() > 0:
        raise ArgumentError("ends", f"must hold some draws, got [{low!r}, {high!r}]")
    if level == 0:
        psi = 3 / (8 * math.sqrt(math.pi))
    else:
        order = 2 * level + 2
        g = math.sqrt(2) * (2 / ((order + 1) * n)) ** (1 / (order + 3))
        psi = _functional(counts, spacing, order, g)
        for r in range(order - 2, 2, -2):
            peak = (-1) ** (r // 2) * math.prod(range(1, r, 2)) / math.sqrt(2 * math.pi)
            psi = _functional(counts, spacing, r, (-2 * peak / (psi * n)) ** (1 / (r + 3)))
    kernel = 1.0 if canonical else (4 * math.pi) ** -0.1
    return float(spread * kernel * (psi * n) ** -0.2)


def bkde(
    sample: ArrayLike | Looked,
    bandwidth: float | None = None,
    *,
    points: int = 401,
    ends: tuple[float, float] | None = None,
    truncate: bool = True,
) -> tuple[Floats, Floats]:
    """Return an even grid and the binned kernel estimate on it (R's ``bkde``, Gaussian kernel).

    Where there is nothing, values may be -1e-17. Where the grid is coarser than 4 bandwidths, the
    curve is a histogram of the draws as they are spread over it. Raise `ArgumentError` for a
    bandwidth that is not above 0.

    Parameters
    ----------
    sample
        Shape ``(n,)``: 2 draws or more, all finite.
    bandwidth
        In the unit of the draws; the oversmoothed one of normal draws, if not given.
    points
        Grid points.
    ends
        The grid's ends; 4 bandwidths beyond the sample, if not given.
    truncate
        Whether draws beyond the ends are dropped, so that the curve lacks their mass.

    Returns
    -------
    Both of shape ``(points,)``: in the unit of the draws, and in one over it.
    """
    x = sample if isinstance(sample, Looked) else Looked.at(sample)
    n = x.draws.size
    if bandwidth is None:
        oversmoothed = (243 / (35 * n)) ** 0.2 * (4 * math.pi) ** -0.1
        bandwidth = oversmoothed * x.deviation
    h = checks.positive("bandwidth", bandwidth)
    checks.integer("points", points, minimum=2)
    low, high = ends or (x.low - _REACH * h, x.high + _REACH * h)
    low, high = checks.interval("ends", low, high)
    counts = linear_counts(x.draws, low, high, points, truncate=truncate)
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
    """Convolve with a symmetric kernel, of which the half from its centre on is given."""
    size = 2 ** math.ceil(math.log2(counts.size + kernel.size))
    both = np.zeros(size)
    both[: kernel.size] = kernel
    both[size - kernel.size + 1 :] = kernel[:0:-1]
    product = np.fft.rfft(counts, size) * np.fft.rfft(both)
    smooth: Floats = np.fft.irfft(product, size)[: counts.size]
    return smooth


def _normal(u: Floats) -> Floats:
    density: Floats = np.exp(-0.5 * u**2) / math.sqrt(2 * math.pi)
    return density


def _scale(x: Looked, which: str) -> float:
    low, high = quantiles(x.draws, [0.25, 0.75], (x.low, x.high))
    scales = {"stdev": x.deviation, "iqr": (high - low) / 1.349}
    scales["minim"] = min(scales.values())
    if which not in scales:
        raise ArgumentError("scale", f"must be one of {', '.join(scales)}, got {which!r}")
    if not scales[which] > 0:
        raise ArgumentError("sample", f"has scale 0 by {which}: half of its draws or more are ties")
    return scales[which]


def quantiles(
    x: Floats, shares: Sequence[float], ends: tuple[float, float] | None = None
) -> list[float]:
    """Return ``np.quantile(x, shares)`` to the last digit, without sorting or partitioning x.

    Draws, of shape ``(n,)``, are counted in bins that rise with them, so that only the bins of the
    ranks asked for need sorting: the time of two passes. ``ends`` are those of the draws.
    """
    low, high = ends or (float(x.min()), float(x.max()))
    scale = (_BINS - 1) / (high - low) if high > low else math.inf
    if x.size < _BINS or not (math.isfinite(scale) and math.isfinite(high - low)):
        return [float(value) for value in np.quantile(x, shares)]
    x = np.ascontiguousarray(x)
    reached = np.cumsum(_bin_counts(x, low, scale, _BINS))
    wanted, ranks = np.zeros(_BINS, bool), []
    for share in shares:
        rank = min(math.floor(share * (x.size - 1)), x.size - 2)
        first, last = np.searchsorted(reached, [rank, rank + 1], side="right")
        wanted[[first, last]] = True  # what lies between them is empty
        ranks.append((rank, first))
    counts = np.diff(reached, prepend=0)
    inside = np.sort(_members(x, low, scale, wanted, counts[wanted].sum()))
    skipped = np.cumsum(np.where(wanted, 0, counts))  # draws up to a bin that were left out
    found = []
    for share, (rank, first) in zip(shares, ranks, strict=True):
        at = rank - skipped[first]
        a, b = inside[at], inside[at + 1]
        t = share * (x.size - 1) - rank  # as NumPy interpolates: from the nearer end
        found.append(float(b - (b - a) * (1 - t) if t >= 0.5 else a + (b - a) * t))
    return found


@compiled
def _bin_counts(x, low, scale, bins):  # type: ignore[no-untyped-def]
    counts = np.zeros(bins, np.int64)
    for value in x:
        counts[int((value - low) * scale)] += 1
    return counts


@compiled
def _members(x, low, scale, wanted, size):  # type: ignore[no-untyped-def]
    """Return the draws in the wanted bins, which are so many."""
    found = np.empty(size)
    count = 0
    for value in x:
        if wanted[int((value - low) * scale)]:
            found[count] = value
            count += 1
    return found

"""Histograms of an ordered sample, at every prefix length of interest, in one pass.

gorla2022, Algorithm 1, lines 8 to 10: cell j is [z_j, z_j+1), the last one closed. A prefix of a
sample of independent draws is such a sample, so one pass serves a search over n.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epsilometer import checks
from epsilometer.arrays import Counts, Floats, Indices, Sample
from epsilometer.compiled import compiled
from epsilometer.densities.frequencies import count_outcomes
from epsilometer.errors import ArgumentError


def histogram(
    sample: Sample,
    cells: int,
    support: Sequence[float] | None,
    checkpoints: ArrayLike | None = None,
) -> Counts:
    """Count a sample of shape ``(n,)`` in cells of ``support``, or by outcome without one.

    See `interval_histogram` and `finite_histogram`; counts have shape ``(checkpoints, cells)``.
    """
    if support is None:
        return finite_histogram(sample, cells, checkpoints)
    return interval_histogram(sample, (support[0], support[1]), cells, checkpoints)


def interval_histogram(
    sample: Floats, support: tuple[float, float], cells: int, checkpoints: ArrayLike | None = None
) -> Counts:
    """Count a real sample of shape ``(n,)`` in ``cells`` equal cells of the closed ``support``.

    Row i of the counts, of shape ``(len(checkpoints), cells)``, counts the first ``checkpoints[i]``
    draws; without checkpoints there is one row, for all n. Raise `ArgumentError` for draws outside
    the support, and for checkpoints that do not increase within 1, ..., n.
    """
    lower, upper = checks.interval("support", *support)
    checks.integer("cells", cells)
    stops = _stops(sample, checkpoints)
    used = sample[: stops[-1]]
    if not (used.min() >= lower and used.max() <= upper):  # or NaN
        outside = used.size - np.count_nonzero((used >= lower) & (used <= upper))
        raise ArgumentError(
            "sample", f"has {outside} outputs outside the claimed support [{lower:g}, {upper:g}]"
        )
    counts = np.zeros((stops.size, cells), np.int64)
    edges = np.linspace(lower, upper, cells + 1)
    for row, piece in zip(counts, np.split(np.ascontiguousarray(used), stops[:-1]), strict=True):
        _count(row, piece, edges)
    return np.cumsum(counts, axis=0, dtype=np.int64)


@compiled
def _count(counts, sample, edges):  # type: ignore[no-untyped-def]
    """Count draws as ``np.histogram`` does: guess the cell, and correct it by the edges."""
    last, width = counts.size - 1, edges[-1] - edges[0]
    for x in sample:
        cell = min(int((x - edges[0]) / width * counts.size), last)
        if x < edges[cell]:
            cell -= 1
        elif x >= edges[cell + 1] and cell != last:
            cell += 1
        counts[cell] += 1


def finite_histogram(
    sample: Indices, outcomes: int, checkpoints: ArrayLike | None = None
) -> Counts:
    """Count a sample of the integers 0, ..., ``outcomes`` - 1 (gorla2022, Remark 2).

    Counts have shape ``(len(checkpoints), outcomes)``; otherwise as `interval_histogram`.
    """
    checks.integer("outcomes", outcomes)
    stops = _stops(sample, checkpoints)
    used = sample[: stops[-1]]
    outside = int(np.count_nonzero((used < 0) | (used >= outcomes)))
    if outside:
        raise ArgumentError(
            "sample", f"has {outside} outputs outside the claimed outcomes 0, ..., {outcomes - 1}"
        )
    counts = [count_outcomes(piece, outcomes) for piece in np.split(used, stops[:-1])]
    return np.cumsum(counts, axis=0, dtype=np.int64)


def ladder(largest: int) -> list[int]:
    """Return the prefix lengths of a search over n: half octaves 1, 2, 3, 4, 6, 8, 11, ..., n.

    Raise `ArgumentError` where n is below 1.
    """
    checks.integer("n", largest)
    rungs = {round(2 ** (i / 2)) for i in range(2 * largest.bit_length())}
    return sorted({rung for rung in rungs if rung < largest} | {largest})


def _stops(sample: NDArray[np.generic], checkpoints: ArrayLike | None) -> Counts:
    if sample.ndim != 1 or sample.size == 0:
        raise ArgumentError("sample", f"must be a non-empty vector, got shape {sample.shape}")
    stops = np.asarray([sample.size] if checkpoints is None else checkpoints, np.int64)
    if stops.size == 0 or stops[0] < 1 or stops[-1] > sample.size or (np.diff(stops) < 1).any():
        raise ArgumentError("checkpoints", f"must increase within 1, ..., {sample.size}")
    return stops

"""Histograms of an ordered sample, at every prefix length of interest, in one pass.

gorla2022, Algorithm 1, lines 8 to 10: cell j is [z_j, z_j+1), the last one closed. A prefix of a
sample of independent draws is such a sample, so one pass serves a search over n.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epsilometer import checks
from epsilometer.densities.frequencies import count_outcomes
from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Counts, Sample
from epsilometer.numerics.compiled import compiled


def histogram(
    sample: Sample,
    cells: int,
    support: Sequence[float] | None,
    checkpoints: ArrayLike | None = None,
) -> Counts:
    """Count a sample of shape ``(n,)`` in equal cells of the closed ``support``.

    Without a support, outputs are the integers 0, ..., ``cells`` - 1, counted by outcome
    (gorla2022, Remark 2). Row i of the counts, of shape ``(len(checkpoints), cells)``, counts the
    first ``checkpoints[i]`` draws; without checkpoints there is one row, for all n. Raise
    `ArgumentError` for draws outside the support or outcomes, and for checkpoints that do not
    increase within 1, ..., n.
    """
    checks.integer("cells", cells)
    lower, upper = (0, cells - 1) if support is None else checks.interval("support", *support)
    stops = _stops(sample, checkpoints)
    used = sample[: stops[-1]]
    if not (used.min() >= lower and used.max() <= upper):  # or NaN
        outside = used.size - np.count_nonzero((used >= lower) & (used <= upper))
        place = f"support [{lower:g}, {upper:g}]" if support else f"outcomes 0, ..., {upper}"
        raise ArgumentError("sample", f"has {outside} outputs outside the claimed {place}")
    pieces = np.split(np.ascontiguousarray(used), stops[:-1])
    if support is None:
        counts = np.stack([count_outcomes(piece, cells) for piece in pieces])
    else:
        counts = np.zeros((stops.size, cells), np.int64)
        edges = np.linspace(lower, upper, cells + 1)
        for row, piece in zip(counts, pieces, strict=True):
            _count(row, piece, edges)
    return np.cumsum(counts, axis=0, dtype=np.int64)


@compiled
def _count(counts, sample, edges):  # type: ignore[no-untyped-def]
    """Count draws as ``np.histogram`` does: guess the cell, and correct it by the edges."""
    last = counts.size - 1
    width = edges[-1] - edges[0]
    for x in sample:
        cell = min(int((x - edges[0]) / width * counts.size), last)
        if x < edges[cell]:
            cell -= 1
        elif x >= edges[cell + 1] and cell != last:
            cell += 1
        counts[cell] += 1


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

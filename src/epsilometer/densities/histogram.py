"""Histograms of an ordered sample, at every prefix length of interest, in one pass.

gorla2022, Algorithm 1, lines 8 to 10: cell j is [z_j, z_j+1), the last one closed. A prefix of a
sample of independent draws is itself such a sample, so that one pass serves a whole search over n.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from epsilometer import checks
from epsilometer.errors import ArgumentError


def interval_histogram(
    sample: NDArray[np.float64],
    support: tuple[float, float],
    cells: int,
    checkpoints: ArrayLike | None = None,
) -> NDArray[np.int64]:
    """Count a real sample in ``cells`` equal cells of ``support``.

    Parameters
    ----------
    sample
        Shape ``(n,)``; every value must lie in ``support``.
    support
        The closed interval [a, b].
    cells
        m, the number of cells.
    checkpoints
        Increasing prefix lengths, each at most n; ``[n]`` if not given.

    Returns
    -------
    Counts of shape ``(len(checkpoints), cells)``; row i counts the first ``checkpoints[i]`` draws.
    """
    lower, upper = checks.interval("support", *support)
    checks.integer("cells", cells)
    stops = _stops(sample, checkpoints)
    edges = lower + (upper - lower) * np.arange(cells + 1) / cells
    edges[-1] = upper
    counts = np.zeros((stops.size, cells), np.int64)
    outside = _count_interval(np.ascontiguousarray(sample, np.float64), edges, stops, counts)
    if outside:
        raise ArgumentError(
            "sample", f"has {outside} outputs outside the claimed support [{lower:g}, {upper:g}]"
        )
    return counts.cumsum(axis=0)


def finite_histogram(
    sample: NDArray[np.int32], outcomes: int, checkpoints: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Count a sample of the integers 0, ..., ``outcomes`` - 1; otherwise as above."""
    checks.integer("outcomes", outcomes)
    stops = _stops(sample, checkpoints)
    used = sample[: stops[-1]]
    outside = int(np.count_nonzero((used < 0) | (used >= outcomes)))
    if outside:
        raise ArgumentError(
            "sample", f"has {outside} outputs outside the claimed outcomes 0, ..., {outcomes - 1}"
        )
    pieces = np.split(used, stops[:-1])
    counts = np.array([np.bincount(piece, minlength=outcomes) for piece in pieces], np.int64)
    return counts.cumsum(axis=0)


def _stops(sample: NDArray[np.generic], checkpoints: ArrayLike | None) -> NDArray[np.int64]:
    if sample.ndim != 1 or sample.size == 0:
        raise ArgumentError("sample", f"must be a non-empty vector, got shape {sample.shape}")
    stops = np.asarray([sample.size] if checkpoints is None else checkpoints, np.int64)
    if stops.size == 0 or stops[0] < 1 or stops[-1] > sample.size or (np.diff(stops) < 1).any():
        raise ArgumentError("checkpoints", f"must increase within 1, ..., {sample.size}")
    return stops


@numba.njit(cache=True)
def _count_interval(sample, edges, stops, counts):  # type: ignore[no-untyped-def]
    """Add each draw to the row of the first checkpoint that includes it; return the strays.

    The product finds the cell but for rounding at an edge; the edges themselves then decide.
    """
    cells = edges.size - 1
    lower, upper = edges[0], edges[cells]
    per_unit = cells / (upper - lower)
    outside = 0
    start = 0
    for row in range(stops.size):
        for i in range(start, stops[row]):
            z = sample[i]
            if not lower <= z <= upper:
                outside += 1
                continue
            j = min(int((z - lower) * per_unit), cells - 1)
            if z < edges[j]:
                j -= 1
            elif j < cells - 1 and z >= edges[j + 1]:
                j += 1
            counts[row, j] += 1
        start = stops[row]
    return outside

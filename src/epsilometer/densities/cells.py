"""Real outputs counted in cells between quantiles of both sides together.

Cells follow the ranks of the draws, so units, tails and outliers do not matter, and atoms need no
special case. For any cells, the divergence of the cells is at most that of the outputs (data
processing).
"""

from __future__ import annotations

import math

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Floats
from epsilometer.errors import ArgumentError

_LEAST = 200  # draws a side that a cell holds at least, so that floors of 50 hardly touch it


def cell_frequencies(x: Floats, x_prime: Floats, cells: int) -> tuple[Floats, Floats]:
    """Return each side's relative frequencies of the same cells.

    Draws have shape ``(n,)``, frequencies ``(k,)`` for the k cells that hold a draw. n draws a side
    make sqrt(n)/4 cells of equal shares, at most ``cells``, each with 200 draws a side or more. The
    two end cells are halved repeatedly down to 200 draws, as the tails decide at high orders. A
    value with a cell's share or more is a cell of its own. Raise `ArgumentError` where a side has
    no draws, or NaN.
    """
    checks.integer("cells", cells, minimum=2)
    sides = [np.sort(side) for side in (x, x_prime)]
    if not all(side.size and not np.isnan(side[-1]) for side in sides):  # NaN is sorted last
        raise ArgumentError("outputs", "must be numbers, at least one a side")
    edges = _edges(np.sort(np.concatenate(sides), kind="stable"), cells)
    counts = [np.diff(np.searchsorted(s, edges), prepend=0, append=s.size) for s in sides]
    occupied = counts[0] + counts[1] > 0
    p, q = (count[occupied] / side.size for count, side in zip(counts, sides, strict=True))
    return p, q


def _edges(pooled: Floats, cells: int) -> Floats:
    """Return the lower ends of all cells but the first, in order; a cell excludes its upper end."""
    n = pooled.size / 2
    equal = max(2, min(cells, math.floor(n / max(4 * math.sqrt(n), _LEAST))))
    shares = [i / equal for i in range(1, equal)]
    tail = 0.5 / equal
    while tail * n >= _LEAST:
        shares += [tail, 1 - tail]
        tail /= 2
    starts = pooled[np.floor(np.sort(shares) * pooled.size).astype(int)]
    repeated = starts[1:][starts[1:] == starts[:-1]]
    return np.unique(np.concatenate([starts, np.nextafter(repeated, np.inf)]))

"""Counts and relative frequencies of outcomes of either side, and of cells of real outputs.

Cells lie between quantiles of both sides together. They follow the ranks of the draws, so units,
tails and outliers do not matter, and atoms need no special case. For any cells, the divergence of
the cells is at most that of the outputs (data processing).
"""

import math

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Counts, Floats, Integers
from epsilometer.compiled import compiled
from epsilometer.errors import ArgumentError

_LEAST = 200  # draws a side that a cell holds at least, so that floors of 50 hardly touch it


def frequencies(x: Integers, x_prime: Integers) -> tuple[Integers, Floats, Floats]:
    """Return the sorted outcomes of both samples, and each side's relative frequencies of them.

    Samples have shape ``(n,)`` or, for tuples of d integers, ``(n, d)``; outcomes ``(k,)`` or
    ``(k, d)``, frequencies ``(k,)``. Raise `ArgumentError` where a side is empty, or the sides'
    outputs differ in shape.
    """
    if x.ndim != x_prime.ndim or x.ndim not in (1, 2) or x.shape[1:] != x_prime.shape[1:]:
        raise ArgumentError("x_prime", f"has shape {x_prime.shape}, x has {x.shape}")
    if not len(x) or not len(x_prime):
        raise ArgumentError("sample", "must not be empty")
    outcomes, counts, counts_prime = joint_counts(x, x_prime)
    return outcomes, counts / len(x), counts_prime / len(x_prime)


def joint_counts(x: Integers, x_prime: Integers) -> tuple[Integers, Counts, Counts]:
    """Return the sorted outcomes of both samples, and each side's counts of them, ``(k,)``.

    Other shapes are as in `frequencies`. One side may be empty; raise `ArgumentError` for both.
    """
    if not len(x) and not len(x_prime):
        raise ArgumentError("x", "has no draws to train on")
    filled = [side for side in (x, x_prime) if side.size]
    whole = all(np.issubdtype(side.dtype, np.integer) for side in filled)
    if x.ndim == 1 and whole and min(side.min() for side in filled) >= 0:
        size = int(max(side.max() for side in filled)) + 1
        if size <= 4 * (x.size + x_prime.size):
            counts, counts_prime = (count_outcomes(side, size) for side in (x, x_prime))
            outcomes = np.flatnonzero(counts + counts_prime)
            return outcomes, counts[outcomes], counts_prime[outcomes]
    outcomes, index = np.unique(np.concatenate([x, x_prime]), axis=0, return_inverse=True)
    sides = np.split(index.ravel(), [len(x)])
    counts, counts_prime = (np.bincount(side, None, len(outcomes)) for side in sides)
    return outcomes, counts, counts_prime


def count_outcomes(sample: Integers, size: int) -> Counts:
    """Return ``np.bincount(sample, None, size)`` of integers 0, ..., ``size`` - 1.

    It makes no copy in eight bytes. The sample has shape ``(n,)``, counts ``(size,)``.
    """
    counts = np.zeros(size, np.int64)
    _count(counts, np.ascontiguousarray(sample))
    return counts


@compiled
def _count(counts, sample):  # type: ignore[no-untyped-def]
    for outcome in sample:
        counts[outcome] += 1


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
    edges = _edges(sides, cells)
    counts = [np.diff(np.searchsorted(s, edges), prepend=0, append=s.size) for s in sides]
    occupied = counts[0] + counts[1] > 0
    p, q = (count[occupied] / side.size for count, side in zip(counts, sides, strict=True))
    return p, q


def _edges(sides: list[Floats], cells: int) -> Floats:
    """Return the lower ends, in order, of the cells of two sorted sides but the first."""
    size = sides[0].size + sides[1].size
    n = size / 2
    equal = max(2, min(cells, math.floor(n / max(4 * math.sqrt(n), _LEAST))))
    shares = [i / equal for i in range(1, equal)]
    tail = 0.5 / equal
    while tail * n >= _LEAST:
        shares += [tail, 1 - tail]
        tail /= 2
    starts = _of_ranks(sides[0], sides[1], np.floor(np.sort(shares) * size).astype(int))
    repeated = starts[1:][starts[1:] == starts[:-1]]
    return np.unique(np.concatenate([starts, np.nextafter(repeated, np.inf)]))


def _of_ranks(first: Floats, second: Floats, ranks: Integers) -> Floats:
    """Return the values of ranks, from 0, in both sorted arrays together, without merging them.

    Bisection finds how many of the ``rank + 1`` smallest are in the first array: the least number
    such that the next of the first is not below the last of the second.
    """
    low, high = np.maximum(ranks + 1 - second.size, 0), np.minimum(ranks + 1, first.size)
    while np.any(low < high):
        middle = (low + high) // 2  # below `high`, so that both arrays have the entries
        enough = first[np.minimum(middle, first.size - 1)] >= second[ranks - middle]
        open_ = low < high
        high = np.where(open_ & enough, middle, high)
        low = np.where(open_ & ~enough, middle + 1, low)
    of_first = np.where(low > 0, first[low - 1], -np.inf)
    of_second = np.where(low <= ranks, second[ranks - low], -np.inf)
    return np.maximum(of_first, of_second)

"""Counts and relative frequencies of outcomes of either side, and of cells of real outputs.

Cells lie between quantiles of both sides together. They follow the ranks of the draws, so units,
tails and outliers do not matter, and atoms need no special case. For any cells, the divergence of
the cells is at most that of the outputs (data processing).
"""

import math

import numpy as np

from epsilometer import checks
from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Counts, Floats, Integers
from epsilometer.numerics.compiled import compiled

_SLICES = 2**14  # of the outputs: only those with the lower end of a cell are sorted
_PLACING_DRAWS = 5000  # draws of a side, which show where most outputs are
_DRAWS_OF_A_CELL = (
    200  # draws a side that a cell holds at least, so that floors of 50 hardly touch it
)


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
    sides = [np.ascontiguousarray(side, np.float64) for side in (x, x_prime)]
    if not all(side.size and not np.isnan(side).any() for side in sides):
        raise ArgumentError("outputs", "must be numbers, at least one a side")
    # where most outputs are, to slice them evenly: a sort of all would take four times as long
    few = np.sort(np.concatenate([side[:: -(-side.size // _PLACING_DRAWS)] for side in sides]))
    low = few[few.size // 100].item()
    high = few[-1 - few.size // 100].item()
    place = low, _SLICES / (high - low) if high > low else 0.0
    slices = [_sliced(side, *place) for side in sides]
    held = np.array([np.bincount(s, minlength=_SLICES) for s in slices])
    ranks = _ranks(x.size + x_prime.size, cells)
    at = np.searchsorted(held.sum(axis=0).cumsum(), ranks, side="right")
    sorts = np.isin(np.arange(_SLICES), at)
    kept = [np.sort(side[sorts[s]]) for side, s in zip(sides, slices, strict=True)]
    merged = np.sort(np.concatenate(kept))
    passed = np.cumsum(held * ~sorts, axis=1) - held * ~sorts  # draws in slices before, not kept
    starts = merged[ranks - passed.sum(axis=0)[at]]
    repeated = starts[1:][starts[1:] == starts[:-1]]
    edges = np.unique(np.concatenate([starts, np.nextafter(repeated, np.inf)]))
    of = _sliced(edges, *place)
    below = [np.searchsorted(k, edges) + before[of] for k, before in zip(kept, passed, strict=True)]
    counts = [np.diff(b, prepend=0, append=s.size) for b, s in zip(below, sides, strict=True)]
    occupied = counts[0] + counts[1] > 0
    p, q = (count[occupied] / side.size for count, side in zip(counts, sides, strict=True))
    return p, q


def _ranks(size: int, cells: int) -> Integers:
    """Return the ranks, from 0, of the lowest draws of all cells but the first."""
    n = size / 2
    equal = max(2, min(cells, math.floor(n / max(4 * math.sqrt(n), _DRAWS_OF_A_CELL))))
    shares = [i / equal for i in range(1, equal)]
    tail = 0.5 / equal
    while tail * n >= _DRAWS_OF_A_CELL:
        shares += [tail, 1 - tail]
        tail /= 2
    ranks: Integers = np.floor(np.sort(shares) * size).astype(int)
    return ranks


def _sliced(draws: Floats, low: float, scale: float) -> Integers:
    """Return the slice of each draw, which never falls as draws rise."""
    slices = np.empty(draws.size, np.uint16)
    _slice(slices, draws, low, scale)
    return slices


@compiled
def _slice(slices, draws, low, scale):  # type: ignore[no-untyped-def]
    for i in range(draws.size):
        place = (draws[i] - low) * scale
        slices[i] = min(place, _SLICES - 1) if place > 0 else 0

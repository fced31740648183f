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
_DRAWS_OF_A_CELL = 200  # draws a side that a cell holds at least: floors of 50 hardly touch it


def frequencies(x: Integers, x_prime: Integers) -> tuple[Integers, Floats, Floats]:
    """Return the sorted outcomes of both samples, and each side's relative frequencies of them.

    Samples have shape ``(n,)`` or, for tuples of d integers, ``(n, d)``; outcomes ``(k,)`` or
    ``(k, d)``, frequencies ``(k,)``. Raise `ArgumentError` where a side is empty, or the sides'
    outputs differ in shape.
    """
    if x.ndim not in (1, 2) or x.shape[1:] != x_prime.shape[1:]:
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
            counts = count_outcomes(x, size)
            counts_prime = count_outcomes(x_prime, size)
            outcomes = np.flatnonzero(counts + counts_prime)
            return outcomes, counts[outcomes], counts_prime[outcomes]
    outcomes, index = np.unique(np.concatenate([x, x_prime]), axis=0, return_inverse=True)
    codes = index.ravel()
    counts = np.bincount(codes[: len(x)], None, len(outcomes))
    counts_prime = np.bincount(codes[len(x) :], None, len(outcomes))
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
    x = np.ascontiguousarray(x, np.float64)
    x_prime = np.ascontiguousarray(x_prime, np.float64)
    if not (x.size and x_prime.size) or np.isnan(x).any() or np.isnan(x_prime).any():
        raise ArgumentError("outputs", "must be numbers, at least one a side")
    place = _even_slices(x, x_prime)
    slices = _sliced(x, *place)
    slices_prime = _sliced(x_prime, *place)
    held = np.bincount(slices, minlength=_SLICES)
    held_prime = np.bincount(slices_prime, minlength=_SLICES)
    ranks = _ranks(x.size + x_prime.size, cells)
    at = np.searchsorted((held + held_prime).cumsum(), ranks, side="right")
    sorts = np.isin(np.arange(_SLICES), at)  # slices with the lower end of a cell
    kept = np.sort(x[sorts[slices]])
    kept_prime = np.sort(x_prime[sorts[slices_prime]])
    merged = np.sort(np.concatenate([kept, kept_prime]))
    passed = _before(held * ~sorts)
    passed_prime = _before(held_prime * ~sorts)
    starts = merged[ranks - (passed + passed_prime)[at]]
    repeated = starts[1:][starts[1:] == starts[:-1]]
    edges = np.unique(np.concatenate([starts, np.nextafter(repeated, np.inf)]))
    of_edges = _sliced(edges, *place)
    below = np.searchsorted(kept, edges) + passed[of_edges]
    below_prime = np.searchsorted(kept_prime, edges) + passed_prime[of_edges]
    counts = np.diff(below, prepend=0, append=x.size)
    counts_prime = np.diff(below_prime, prepend=0, append=x_prime.size)
    occupied = counts + counts_prime > 0
    return counts[occupied] / x.size, counts_prime[occupied] / x_prime.size


def _even_slices(x: Floats, x_prime: Floats) -> tuple[float, float]:
    """Return the lower end of even slices where most outputs are, and slices a unit.

    Few slices are sorted: a sort of all draws would take four times as long.
    """
    sample = x[:: -(-x.size // _PLACING_DRAWS)]
    sample_prime = x_prime[:: -(-x_prime.size // _PLACING_DRAWS)]
    few = np.sort(np.concatenate([sample, sample_prime]))
    low = few[few.size // 100].item()
    high = few[-1 - few.size // 100].item()
    if high > low:
        return low, _SLICES / (high - low)
    return low, 0.0


def _before(counts: Counts) -> Counts:
    """Return the sum of the counts before each."""
    return np.cumsum(counts) - counts


def _ranks(size: int, cells: int) -> Integers:
    """Return the ranks, from 0, of the lowest draws of all cells but the first."""
    n = size / 2
    equal = max(2, min(cells, math.floor(n / max(4 * math.sqrt(n), _DRAWS_OF_A_CELL))))
    shares = [i / equal for i in range(1, equal)]
    tail = 0.5 / equal
    while tail * n >= _DRAWS_OF_A_CELL:
        shares += [tail, 1 - tail]
        tail /= 2
    ranks: Integers = (np.sort(shares) * size).astype(int)
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

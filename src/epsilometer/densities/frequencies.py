"""Counts and relative frequencies of discrete outputs, over all outcomes of either side."""

from __future__ import annotations

import numpy as np

from epsilometer.arrays import Counts, Floats, Integers
from epsilometer.compiled import compiled
from epsilometer.errors import ArgumentError


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

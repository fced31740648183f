"""Relative frequencies of discrete outputs, over all outcomes of either side."""

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
    if x.ndim == 1 and min(x.min(), x_prime.min()) >= 0:
        size = int(max(x.max(), x_prime.max())) + 1
        if size <= 4 * (x.size + x_prime.size):
            counts = [count_outcomes(side, size) for side in (x, x_prime)]
            outcomes = np.flatnonzero(counts[0] + counts[1])
            return outcomes, counts[0][outcomes] / x.size, counts[1][outcomes] / x_prime.size
    outcomes, index = np.unique(np.concatenate([x, x_prime]), axis=0, return_inverse=True)
    index = index.ravel()
    p = np.bincount(index[: len(x)], minlength=len(outcomes)) / len(x)
    q = np.bincount(index[len(x) :], minlength=len(outcomes)) / len(x_prime)
    return outcomes, p, q


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

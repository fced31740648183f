"""Relative frequencies of discrete outputs, over everything that either side has shown."""

from __future__ import annotations

import numpy as np

from epsilometer.arrays import Counts, Floats, Integers
from epsilometer.compiled import compiled
from epsilometer.errors import ArgumentError


def frequencies(x: Integers, x_prime: Integers) -> tuple[Integers, Floats, Floats]:
    """Return the outcomes of either sample, in order, and how often each side shows them.

    Raise `ArgumentError` where a side is empty, or an output of one has another shape.

    Parameters
    ----------
    x, x_prime
        Integers of shape ``(n,)``, or ``(n, d)`` where an output is a tuple of d integers.

    Returns
    -------
    Outcomes of shape ``(k,)`` or ``(k, d)``, sorted, and two vectors of k relative frequencies. An
    outcome that one side alone has shown has frequency 0 on the other.
    """
    if x.ndim != x_prime.ndim or x.ndim not in (1, 2) or x.shape[1:] != x_prime.shape[1:]:
        raise ArgumentError("x_prime", f"has shape {x_prime.shape}, x has {x.shape}")
    if not len(x) or not len(x_prime):
        raise ArgumentError("sample", "must not be empty")
    if x.ndim == 1 and min(x.min(), x_prime.min()) >= 0:
        size = int(max(x.max(), x_prime.max())) + 1
        if size <= 4 * (x.size + x_prime.size):
            counts = [counted(side, size) for side in (x, x_prime)]
            outcomes = np.flatnonzero(counts[0] + counts[1])
            return outcomes, counts[0][outcomes] / x.size, counts[1][outcomes] / x_prime.size
    together = np.concatenate([x, x_prime])
    outcomes, which = np.unique(together, axis=0, return_inverse=True)
    which = which.ravel()
    p = np.bincount(which[: len(x)], minlength=len(outcomes)) / len(x)
    q = np.bincount(which[len(x) :], minlength=len(outcomes)) / len(x_prime)
    return outcomes, p, q


def counted(sample: Integers, size: int) -> Counts:
    """Return ``np.bincount(sample, None, size)`` of integers 0, ..., ``size`` - 1, as they are.

    NumPy would make a copy in eight bytes first. The sample has shape ``(n,)``, counts ``(size,)``.
    """
    counts = np.zeros(size, np.int64)
    _count(counts, np.ascontiguousarray(sample))
    return counts


@compiled
def _count(counts, sample):  # type: ignore[no-untyped-def]
    for outcome in sample:
        counts[outcome] += 1

"""Reductions of both sides of a pair for a Rényi bound (kutta2022)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from epsilometer.densities.atoms import refuse_atoms
from epsilometer.densities.base import Densities
from epsilometer.densities.binned import RealSample, bkde, dpik
from epsilometer.densities.frequencies import cell_frequencies, frequencies
from epsilometer.numerics.arrays import Sample


def reduce_pair(x: Sample, x_prime: Sample, reduction: Mapping[str, Any]) -> Densities:
    """Reduce a pair by an estimator's ``reduction``: to ``cells``, or by ``points`` and ``power``.

    Samples have shape ``(n,)``; integers may have ``(n, d)`` and are counted by outcome. Without
    cells, floats are smoothed as in kutta2022: binned Gaussian kernels at even points over the
    range of both samples, at each side's plug-in bandwidth to the power. The effect of the power
    depends on the unit of outputs; it narrows bandwidths below 1. Raise `ArgumentError` for floats
    with atoms that would be smoothed.
    """
    if np.issubdtype(x.dtype, np.integer):
        return Densities(*frequencies(x, x_prime)[1:])
    if "cells" in reduction:
        return Densities(*cell_frequencies(x, x_prime, reduction["cells"]))
    refuse_atoms(x, x_prime)
    ours = RealSample.of(x)
    theirs = RealSample.of(x_prime)
    ends = min(ours.low, theirs.low), max(ours.high, theirs.high)
    h = dpik(ours) ** reduction["power"]
    h_prime = dpik(theirs) ** reduction["power"]
    grid, p = bkde(ours, h, points=reduction["points"], ends=ends)
    _, q = bkde(theirs, h_prime, points=reduction["points"], ends=ends)
    return Densities(p, q, float(grid[1] - grid[0]), (h, h_prime))

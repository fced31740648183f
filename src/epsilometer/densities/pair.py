"""What both sides of a pair are reduced to for a Rényi bound (kutta2022)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from epsilometer.arrays import Sample
from epsilometer.densities.atoms import refuse_atoms
from epsilometer.densities.base import Densities
from epsilometer.densities.binned import Looked, bkde, dpik
from epsilometer.densities.cells import cell_frequencies
from epsilometer.densities.frequencies import frequencies


def reduced(x: Sample, x_prime: Sample, how: Mapping[str, Any]) -> Densities:
    """Reduce a pair as an estimator's ``reduction`` says: to ``cells``, or to `densities_of`.

    Samples have shape ``(n,)``, of integers ``(n, d)`` as well. These are counted outcome by
    outcome in either case.
    """
    if "cells" not in how:
        return densities_of(x, x_prime, points=how["points"], power=how["power"])
    if np.issubdtype(x.dtype, np.integer):
        return Densities(*frequencies(x, x_prime)[1:])
    return Densities(*cell_frequencies(x, x_prime, how["cells"]))


def densities_of(x: Sample, x_prime: Sample, *, points: int, power: float) -> Densities:
    """Estimate the densities of a pair of samples of shape ``(n,)``; integers also ``(n, d)``.

    Floats are smoothed as kutta2022 does: binned Gaussian kernels on an even grid over the range of
    both samples, at the plug-in bandwidth of each side raised to ``power``. The power depends on
    the unit of the outputs; it narrows bandwidths below 1. Raise `ArgumentError` for floats with
    atoms.
    """
    if np.issubdtype(x.dtype, np.integer):
        return Densities(*frequencies(x, x_prime)[1:])
    refuse_atoms(x, x_prime)
    side, other = Looked.at(x), Looked.at(x_prime)
    ends = min(side.low, other.low), max(side.high, other.high)
    h, h_prime = dpik(side) ** power, dpik(other) ** power
    grid, p = bkde(side, h, points=points, ends=ends)
    _, q = bkde(other, h_prime, points=points, ends=ends)
    return Densities(p, q, float(grid[1] - grid[0]), (h, h_prime))

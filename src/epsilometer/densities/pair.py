"""The densities of both sides of a pair, on common atoms or a common grid (kutta2022)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.densities.atoms import refuse_atoms
from epsilometer.densities.binned import bkde, dpik
from epsilometer.densities.frequencies import frequencies
from epsilometer.estimators.base import Densities


def densities_of(x: NDArray[Any], x_prime: NDArray[Any], *, points: int, power: float) -> Densities:
    """Estimate the densities of a pair of samples of shape ``(n,)``, integers or floats.

    Floats are smoothed as kutta2022 does: binned Gaussian kernels on an even grid over the range of
    both samples, at the plug-in bandwidth of each side raised to ``power``. The power depends on
    the unit of the outputs; it narrows bandwidths below 1.
    """
    if np.issubdtype(x.dtype, np.integer):
        return Densities(*frequencies(x, x_prime)[1:])
    for side in (x, x_prime):
        refuse_atoms(side)
    ends = float(min(x.min(), x_prime.min())), float(max(x.max(), x_prime.max()))
    h, h_prime = (dpik(side) ** power for side in (x, x_prime))
    grid, p = bkde(x, h, points=points, ends=ends)
    _, q = bkde(x_prime, h_prime, points=points, ends=ends)
    return Densities(p, q, float(grid[1] - grid[0]), (h, h_prime))

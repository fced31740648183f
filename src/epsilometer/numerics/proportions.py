"""Exact confidence intervals for binomial proportions."""

import numpy as np
from numpy.typing import ArrayLike

from epsilometer.numerics.arrays import Floats


def clopper_pearson(
    hits: ArrayLike, trials: ArrayLike, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return the ends of the exact two-sided interval for a binomial proportion.

    Both have the shape that ``hits`` and ``trials`` are broadcast to; ``level`` is its confidence.
    """
    from scipy.special import betaincinv

    k = np.asarray(hits, float)
    n = np.asarray(trials, float)
    tail = (1 - level) / 2
    with np.errstate(invalid="ignore"):
        low = np.where(k == 0, 0.0, betaincinv(k, n - k + 1, tail))
        high = np.where(k == n, 1.0, betaincinv(k + 1, n - k, 1 - tail))
    return low, high

"""Ratios of what draws show, where there may be nothing to divide by: one rule of all statistics.

Checks and choices of events divide a statistic by an estimated spread, a count or a difference of
quantiles, and take the logarithm of a share. A constant has no spread, a cell may have no draws,
and what never occurred has the share 0. **A statistic that has no spread is no evidence**: it is 0,
which is what chance expects.

Bets and exact tests hold at any stake and score, so that their own limits may be infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from epsilometer.numerics.arrays import Bools, Floats

_ROUNDING = 1e-9  # of the size of numbers: they differ by less where only their rounding differs
_RAREST = 1e-300  # share, for its logarithm


def has_spread(spread: Any, size: Any = 0.0) -> Bools:
    """Tell where there is a spread, of numbers of this ``size``: more than their rounding."""
    return np.asarray(np.greater(spread, np.multiply(size, _ROUNDING)))


def ratio(statistic: Any, spread: Any, size: Any = 0.0) -> Floats:
    """Return a statistic in units of its spread, 0 where it has none; see `has_spread`.

    >>> ratio([1.0, 1.0, 0.0], [2.0, 0.0, 0.0]).tolist()
    [0.5, 0.0, 0.0]
    """
    there = has_spread(spread, size)
    nothing = np.zeros(np.broadcast(statistic, there).shape)
    return np.asarray(np.divide(statistic, spread, out=nothing, where=there))


def log_share(share: Any) -> Floats:
    """Return the logarithm of a share, of what never occurred a finite one."""
    return np.asarray(np.log(np.maximum(share, _RAREST)))

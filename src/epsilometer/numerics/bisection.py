"""Bisection: where a condition on a rising number ends to hold."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from epsilometer.numerics.arrays import Floats

Number = TypeVar("Number", int, float)
Apart = float | Callable[[Number, Number], float]
"""How far apart two numbers may be."""


def bisected(
    holds: Callable[[Number], bool],
    low: Number,
    high: Number,
    apart: Apart[Number],
) -> tuple[Number, Number]:
    """Return two numbers at most ``apart``: the condition holds for the first, not the second."""
    while high - low > (apart(low, high) if callable(apart) else apart):
        middle = (low + high) // 2 if isinstance(high, int) else (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def reached(rising: Callable[[Floats], Floats], goals: Floats, most: Floats) -> Floats:
    """Return the arguments from 0 to ``most`` at which a rising function reaches ``goals``."""
    low = np.full(goals.shape, 1e-12)
    high = np.array(most, float)
    for _ in range(50):
        middle = (low + high) / 2
        above = rising(middle) >= goals
        low = np.where(above, low, middle)
        high = np.where(above, middle, high)
    return high

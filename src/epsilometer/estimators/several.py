"""Levels of the bounds of several pairs whose largest is the result (kutta2022, (8))."""

from __future__ import annotations

import math

from epsilometer import checks


def maximum_confidence(pairs: int, alpha: float = 0.05) -> float:
    """Return the confidence (1 - alpha)^N of the largest of N independent pairs' bounds (8)."""
    alpha = checks.between_0_and_1("alpha", alpha)
    return float((1 - alpha) ** checks.integer("pairs", pairs))


def independent(pairs: int, alpha: float = 0.05) -> float:
    """Return the level 1 - (1 - alpha)^(1/N) of each of N independent bounds, by (8)."""
    alpha = checks.between_0_and_1("alpha", alpha)
    return -math.expm1(math.log1p(-alpha) / checks.integer("pairs", pairs))


def bonferroni(pairs: int, alpha: float = 0.05) -> float:
    """Return the level alpha / N of each of N bounds, at which their largest holds as a whole.

    Unlike (8) it needs no independence between the pairs' samples.
    """
    return checks.between_0_and_1("alpha", alpha) / checks.integer("pairs", pairs)

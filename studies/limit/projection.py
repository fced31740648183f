"""The limit of an audit: how few draws can be enough, for laws that are known exactly.

`floor` and `least_draws` bound the draws that refute a claim, `ceiling` the median of a lower
confidence bound: it exceeds a level l with probability 1/2 only if n KL_inf >= kl(1/2, alpha), with
KL_inf of the claim at l.

KL_inf is that of `project`, rounded up by its gap, so that a floor is never
too high and a ceiling never too low on the cells that are used. Laws with a density are put on the
nodes of a quadrature, refined until KL_inf is stable.
"""

from __future__ import annotations

import math
from typing import Any, Protocol, Self

import numpy as np

from epsilometer import checks
from epsilometer.errors import ArgumentError
from epsilometer.exact import levels, quadrature
from epsilometer.exact.base import Distribution
from epsilometer.exact.finite import Enumerated
from epsilometer.exact.levels import Comparison
from epsilometer.exact.quadrature import LineDistribution
from epsilometer.exact.real_line import ExactLaplace, ExactLaplaceVector, NormalShift
from epsilometer.numerics.arrays import Floats
from epsilometer.numerics.bisection import bisected
from limit.kl_inf.draws import coins, floor, least_draws
from limit.kl_inf.project import Projectable, Projection, project

__all__ = ["ceiling", "cells", "coins", "floor", "least_draws", "limit"]

STABLE = 1e-6  # of KL_inf, between refinements
_FINEST = 4
_REACH = 8.0  # scales around the kinks that are refined
_LEVEL = 1e-5  # of a ceiling
_MERGED, _WIDEST = 4096, 14.0  # cells for a ceiling, and their largest log p/q


class Levelled(Projectable, Protocol):
    """A claim of one number."""

    @property
    def level(self) -> float:
        """The claimed number."""

    def at(self, level: float) -> Self:
        """Return the same claim of another level."""


def cells(law: Distribution, x: Any, x_prime: Any, fineness: int = 1) -> tuple[Floats, Floats]:
    """Return the masses of cells on x and on x', each of shape ``(k,)``.

    Cells are the outputs of a finite law. For a density they are nodes of a quadrature, of pieces
    that are 1/2^fineness of its scale long.

    Raises
    ------
    ArgumentError
        If the law has no cells: Laplace noise on vectors that differ in several entries.
    """
    pair = _compared(law, x, x_prime, fineness)
    p, q = np.exp(pair.log_p), np.exp(pair.log_q)
    kept = (p > 0) | (q > 0)
    return p[kept] / p.sum(), q[kept] / q.sum()


def _compared(law: Distribution, x: Any, x_prime: Any, fineness: int) -> Comparison:
    if isinstance(law, Enumerated):
        return law.compare(x, x_prime)
    if isinstance(law, LineDistribution):
        z, weights = _nodes(*law.pieces(x, x_prime), fineness)
        return law.compare(z, x, x_prime).times(weights)
    if isinstance(law, ExactLaplaceVector) and np.count_nonzero(np.subtract(x, x_prime)) > 1:
        raise ArgumentError("law", "has no cells: its vectors differ in several entries")
    if not isinstance(law, ExactLaplace | ExactLaplaceVector | NormalShift):
        raise ArgumentError("law", f"{type(law).__name__} has no cells")
    # noise of scale 1 on answers at 0 and at a distance
    normal = isinstance(law, NormalShift)
    distance = math.sqrt(law.renyi(2.0, x, x_prime)) if normal else law.privacy_loss(x, x_prime)
    z, weights = _nodes(np.array([0.0, distance]), 1.0, fineness)
    half = math.log(2 * math.pi) / 2
    log_p, log_q = (
        -(u**2) / 2 - half if normal else -np.abs(u) - math.log(2) for u in (z, z - distance)
    )
    return levels.compared(log_p, log_q).times(weights)


def _nodes(kinks: Floats, scale: float, fineness: int) -> tuple[Floats, Floats]:
    low, high = kinks.min() - _REACH * scale, kinks.max() + _REACH * scale
    parts = np.linspace(low, high, math.ceil((high - low) / scale * 2**fineness) + 1)
    return quadrature.nodes(np.concatenate([kinks, parts]), scale)


def limit(
    law: Distribution, x: Any, x_prime: Any, claim: Projectable, stable: float = STABLE
) -> Projection:
    """Return the projection of the laws at two inputs onto a claim; ``kl_inf`` is its minimum.

    Cells are refined until KL_inf changes by less than ``stable`` of itself, four times at most.

    Examples
    --------
    >>> from epsilometer_audit.question.claims import pure
    >>> from epsilometer.mechanisms.real_line import Laplace
    >>> law = ExactLaplace(Laplace(1.0))
    >>> round(floor(limit(law, 0.0, 1.0, pure(0.5)).kl_inf, alpha=0.05), 1)
    76.7
    """
    p, q = cells(law, x, x_prime)
    result = project(p, q, claim)
    for fineness in range(2, _FINEST + 1):
        if isinstance(law, Enumerated):
            break
        before = result.kl_inf
        result = project(*cells(law, x, x_prime, fineness), claim)
        if abs(result.kl_inf - before) <= stable * result.kl_inf:
            break
    return result


def ceiling(
    law: Distribution, x: Any, x_prime: Any, claim: Levelled, draws: int, alpha: float = 0.05
) -> float:
    """Return the ceiling of the median lower bound at 1 - alpha of any audit.

    Parameters
    ----------
    law, x, x_prime
        The exact law and the two inputs.
    claim
        A claim of the quantity that is bounded; its level does not matter.
    draws
        Draws of each side.
    alpha
        The probability that a bound lies above the truth.

    Raises
    ------
    ArgumentError
        If a number is out of its range, or the law has no cells.
    """
    checks.integer("draws", draws)
    needed = coins(0.5, alpha) / draws
    p, q = _merged(*cells(law, x, x_prime, 2))

    def enough(level: float) -> bool:
        at = claim.at(level)
        rough = project(p, q, at, needed / 10)
        if rough.growth >= needed or rough.kl_inf < needed:
            return rough.growth >= needed
        return project(p, q, at, needed / 1000).kl_inf >= needed

    low, high = 0.0, 1.0
    while enough(high):
        low, high = high, 2 * high
    return bisected(enough, low, high, lambda _, high: _LEVEL * high)[1]


def _merged(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return cells of similar p/q together; KL_inf falls in second order of their width."""
    with np.errstate(divide="ignore"):
        loss = np.clip(np.log(p) - np.log(q), -_WIDEST, _WIDEST)
    low, high = float(loss.min()), float(loss.max())
    if p.size <= _MERGED or high == low:
        return p, q
    cell = np.rint((loss - low) / (high - low) * (_MERGED - 1)).astype(np.int64)
    sums = [np.bincount(cell, part, _MERGED).astype(np.float64) for part in (p, q)]
    kept = sums[0] + sums[1] > 0
    return sums[0][kept], sums[1][kept]

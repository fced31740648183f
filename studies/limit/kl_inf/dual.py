"""The dual of a projection: weights of the constraints of a claim, by an interior-point method.

Let p and q be the masses of two distributions in cells, and N the pairs (P', Q') with E phi_i <=
c_i for some functions phi_i(P', Q') that are convex, homogeneous of degree 1 and not negative,
summed over the cells. Weights lambda >= 0 make one of them, L = sum lambda_i phi_i. In each cell

    (x, y) = argmin L(x, y) - p log x - q log y,    f = dL/dx, g = dL/dy, so that f x = p, g y = q.

L is convex and homogeneous, so that f X + g Y <= L(X, Y) for all X and Y, wherever the derivatives
are taken. Summed over the cells, every pair in N has

    E_P'[f] + E_Q'[g] <= S = sum lambda_i c_i.                                          (1)

Hence (f/(S/2)) (g/(S/2)) is an e-variable for *any* weights and *any* point (x, y): no rounding
matters. Its growth, E_P log f + E_Q log g - 2 log(S/2), is at most

    KL_inf = min over N of KL(P || P') + KL(Q || Q'),

and reaches it at the best weights, where p* = x and q* = y (Agrawal and Ramdas, arXiv 2504.19952;
Lardy, Grünwald and Harremoës, arXiv 2306.16646). In units theta_i = lambda_i c_i with sum 2, the
growth V(theta) is concave with derivatives m_i = E phi_i(x, y) / c_i, and sum theta_i m_i = 2, so

    KL_inf <= V(theta) + 2 (max_i m_i - 1).                                             (2)

The maximum in (2) may be over more constraints than have weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from epsilometer.numerics.arrays import Floats

_STEPS, _HALVINGS = 200, 30
_STALLED, _POLISHING = 30, 3  # steps without progress, and steps after the tolerance is reached
_INSIDE = 0.95  # of the way to where a weight is 0
_CENTRING = (0.02, 0.5)  # share of the gap to aim at, after long steps and after short steps
_SMALLEST = 1e-200
_ROUNDING = 1e-14


class Growth(NamedTuple):
    """V at some weights, with its derivatives and minus its second derivatives.

    Shapes are ``(m,)``, ``(m, d)`` and ``(m, d, d)``, for m claims with d constraints.
    """

    value: Floats
    means: Floats
    curvature: Floats


def maximise(
    growth: Callable[[Floats], Growth], claims: int, constraints: int, tolerance: float
) -> tuple[Floats, Floats]:
    """Return the best weights theta, of shape ``(m, d)``, and the gap of (2), ``(m,)``.

    ``growth`` takes weights of shape ``(m, d)``. The steps of a claim end where its gap is at most
    ``tolerance``, in nats, or no step gains anything. Weights of a claim have sum 2.
    """
    theta = np.full((claims, constraints), 2.0 / constraints)
    at = growth(theta)
    slack = np.maximum(1 - at.means, 0.1)
    best, gaps = theta.copy(), np.full(claims, np.inf)
    step = np.zeros(claims)
    diagonal = np.arange(constraints)
    left = np.full(claims, _STALLED)
    for _ in range(_STEPS):
        gap = np.maximum(at.means.max(axis=1) * theta.sum(axis=1) - 2, 0.0)
        better = gap < gaps
        left = np.where(gap < gaps / 2, _STALLED, left - 1)
        left = np.where(gap <= tolerance, np.minimum(left, _POLISHING), left)
        best[better], gaps[better] = theta[better], gap[better]
        if (left <= 0).all():
            break
        share = np.where(step > 0.5, *_CENTRING)
        aim = (share * (theta * slack).sum(axis=1) / constraints)[:, None]
        system = at.curvature.copy()
        system[:, diagonal, diagonal] += slack / theta
        goal = at.means - 1 + aim / theta
        # in units of the weights, where the system is well scaled
        system *= theta[:, :, None] * theta[:, None, :]
        system[:, diagonal, diagonal] *= 1 + _ROUNDING
        move = theta * np.linalg.solve(system, (theta * goal)[..., None])[..., 0]
        slack_move = aim / theta - slack - slack / theta * move
        step = _inside(theta, move)
        merit = at.value - theta.sum(axis=1) + aim[:, 0] * np.log(theta).sum(axis=1)
        slope = (goal * move).sum(axis=1)
        for _ in range(_HALVINGS):
            new = np.maximum(theta + step[:, None] * move, _SMALLEST)
            there = growth(new)
            new_merit = there.value - new.sum(axis=1) + aim[:, 0] * np.log(new).sum(axis=1)
            short = new_merit < merit + 1e-4 * step * slope - 1e-13
            if not short.any():
                break
            step = np.where(short, step / 2, step)
        slack = np.maximum(slack + _inside(slack, slack_move)[:, None] * slack_move, _SMALLEST)
        theta, at = new, there
    return best * (2 / best.sum(axis=1, keepdims=True)), gaps


def completed(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return masses of shape ``(..., k)`` with sum 1 from masses with smaller sums.

    The missing mass has weight 0 where a distribution has no mass: the minimum leaves it open. It
    goes first to where the other one has more, then to both alike: no f-divergence rises.
    """
    total, other = x.sum(axis=-1, keepdims=True), y.sum(axis=-1, keepdims=True)
    more, less = np.maximum(y - x, 0.0), np.maximum(x - y, 0.0)
    x = x + more * _ratio(np.maximum(other - total, 0.0), more.sum(axis=-1, keepdims=True))
    y = y + less * _ratio(np.maximum(total - other, 0.0), less.sum(axis=-1, keepdims=True))
    both = (x + y) / (x + y).sum(axis=-1, keepdims=True)
    rest = np.maximum(1 - np.maximum(total, other), 0.0)
    x, y = x + rest * both, y + rest * both
    return x / x.sum(axis=-1, keepdims=True), y / y.sum(axis=-1, keepdims=True)


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _inside(values: Floats, moves: Floats) -> Floats:
    """Return the largest step, at most 1, that keeps positive values positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.where(moves < 0, -values / moves, np.inf)
    return np.asarray(np.minimum(_INSIDE * ends.min(axis=1), 1.0))

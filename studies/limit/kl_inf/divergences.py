"""Projections onto Rényi claims: of one order, or of several orders that must all hold.

D_a(P' || Q') <= rho says E phi <= c with c = e^((a-1) rho) - 1 and

    phi(x, y) = x^a y^(1-a) - a x + (a - 1) y >= 0,

which is convex, homogeneous, and 0 where x = y; the other direction has x and y exchanged. With
L = A x + B y + sum mu_i phi_i and z = log x/y, the derivatives f and g of `dual` are functions of z
alone, f rises and g falls. The minimum in a cell is where

    log f(z) + z - log g(z) = log p/q,

whose left side rises by at least 1 for each unit of z. It is tabulated; two Newton steps
between neighbours of the table are left with an error of some 1e-12. By (1) of `dual` this
error costs growth, in second order, and never validity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from epsilometer.numerics.arrays import Floats
from limit.kl_inf.dual import Growth

_TABLE = 1024
_ENDS = 36.0  # logits of the table's points, within the interval where f and g are positive
_WIDEST = 45.0  # of log p/q
_NEWTON = 2
_GRID, _ROUNDS = 65, 10  # for the ends of that interval


class _Slopes(NamedTuple):
    """f and g at points z, and the derivative of f in z, each of shape ``(k,)``."""

    f: Floats
    g: Floats
    rise: Floats


class Orders:
    """The dual of Rényi claims.

    Parameters
    ----------
    p, q
        Masses of the cells, of shape ``(k,)``.
    orders, bounds
        a and rho in nats, of shape ``(j,)``; both directions are bounded.
    """

    def __init__(self, p: Floats, q: Floats, orders: Floats, bounds: Floats) -> None:
        self.p, self.q = p, q
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.log(p) - np.log(q)
        self.ratios = np.clip(np.where(p + q > 0, ratios, 0.0), -_WIDEST, _WIDEST)
        self.share = 1 / (1 + np.exp(-self.ratios))
        self.orders = orders
        self.widest = min(2 * _WIDEST, 600 / float(orders.max()))
        excess = np.expm1((orders - 1) * bounds)
        self.costs = np.concatenate([[1.0, 1.0], excess, excess])

    def _powers(self, z: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return r^(a-1), r^a, r^(1-a) and r^-a at r = e^z, less 1, each of shape ``(j, k)``."""
        size = np.abs(z)
        ratio, up = np.expm1(size), np.expm1((self.orders - 1)[:, None] * size)
        over = up + ratio + up * ratio
        down, under = -up / (1 + up), -over / (1 + over)
        left = z < 0
        return (
            np.where(left, down, up),
            np.where(left, under, over),
            np.where(left, up, down),
            np.where(left, over, under),
        )

    def _derivatives(self, z: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of every phi in x and in y, each of shape ``(d, k)``."""
        up, over, down, under = self._powers(z)
        a = self.orders[:, None]
        ends = np.eye(2)[:, :, None] * np.ones(z.size)
        return (
            np.concatenate([ends[0], a * up, (1 - a) * under]),
            np.concatenate([ends[1], (1 - a) * over, a * down]),
        )

    def _slopes(self, weights: Floats, z: Floats) -> _Slopes:
        """Return f, g and f' at points of shape ``(k,)``, for weights in nats, ``(d,)``."""
        up, over, down, under = self._powers(z)
        mu, nu = weights[2:].reshape(2, -1)
        a, less = self.orders, self.orders - 1
        f = weights[0] + (mu * a) @ up - (nu * less) @ under
        g = weights[1] + (nu * a) @ down - (mu * less) @ over
        rise = (mu * a * less) @ (1 + up) + (nu * a * less) @ (1 + under)
        return _Slopes(f, g, rise)

    def points(self, weights: Floats) -> Floats:
        """Return z in every cell, of shape ``(k,)``."""
        low, high = self._ends(weights)
        logits = np.linspace(-_ENDS, _ENDS, _TABLE)
        # towards each end by its distance, which has all of its digits
        near = (high - low) / (1 + np.exp(np.abs(logits)))
        table = np.where(logits < 0, low + near, high - near)
        f, g, _ = self._slopes(weights, table)
        with np.errstate(divide="ignore", invalid="ignore"):
            rising = np.log(np.maximum(f, 0.0)) + table - np.log(np.maximum(g, 0.0))
        good = np.isfinite(rising)
        table, rising = table[good], np.maximum.accumulate(rising[good])
        after = np.clip(np.searchsorted(rising, self.ratios), 1, table.size - 1)
        first, last = table[after - 1], table[after]
        z = np.interp(self.ratios, rising, table)
        for _ in range(_NEWTON):
            f, g, rise = self._slopes(weights, z)
            with np.errstate(divide="ignore", invalid="ignore"):
                excess = np.log(f) + z - np.log(g) - self.ratios
                step = excess / (rise / f + 1 + rise * np.exp(z) / g)
            z = np.where(np.isfinite(step), np.clip(z - step, first, last), z)
        return np.asarray(z)

    def _ends(self, weights: Floats) -> tuple[float, float]:
        """Return the lowest point where f is positive, and the highest where g is."""
        low, high = (0.0, self.widest), (0.0, self.widest)
        for _ in range(_ROUNDS):
            grids = np.linspace(*low, _GRID), np.linspace(*high, _GRID)
            f = self._slopes(weights, -grids[0]).f > 0
            g = self._slopes(weights, grids[1]).g > 0
            low, high = (
                (float(grid[last]), float(grid[min(last + 1, _GRID - 1)]))
                for grid, positive in zip(grids, (f, g), strict=True)
                for last in (int(np.argmin(positive)) - 1 if not positive.all() else _GRID - 1,)
            )
        return -low[0], high[0]

    def growth(self, theta: Floats) -> Growth:
        """Return the growth at weights of shape ``(1, d)``."""
        weights = theta[0] / self.costs
        z = self.points(weights)
        f, g, x, y, rise = self._at(weights, z)
        value = float(_sum_log(self.p, f) + _sum_log(self.q, g))
        # x and y times the derivatives of each phi
        by_x, by_y = self._derivatives(z)
        u, w = by_x * x / self.costs[:, None], by_y * y / self.costs[:, None]
        means = (u + w).sum(axis=1)
        s, t, bend = x * f, y * g, x * rise
        area = np.maximum(s * t + bend * (s + t), 1e-300)
        crossed = (u * (bend / area)) @ w.T
        curvature = (u * ((t + bend) / area)) @ u.T + (w * ((s + bend) / area)) @ w.T
        curvature += crossed + crossed.T
        return Growth(np.array([value]), means[None], curvature[None])

    def payoffs(self, theta: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return f, g, x and y, each of shape ``(k,)``, at weights of shape ``(d,)``."""
        weights = theta / self.costs
        f, g, x, y, _ = self._at(weights, self.points(weights))
        return f, g, x, y

    def _at(self, weights: Floats, z: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        f, g, rise = self._slopes(weights, z)
        f, g = np.maximum(f, 0.0), np.maximum(g, 0.0)
        ratio = np.exp(z)
        y = (self.p + self.q) / (ratio * f + g)
        return f, g, ratio * y, y, rise


def _sum_log(masses: Floats, values: Floats) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(masses > 0, masses * np.log(values), 0.0).sum())

"""Projections onto hockey-stick claims: of epsilon, of epsilon and delta, or of many such pairs.

A pair (epsilon, delta) claims H(P' || Q') <= delta and H(Q' || P') <= delta, with the hockey-stick
divergence H(P' || Q') = sum (P' - e^epsilon Q')+. With slopes s = e^epsilon and e^-epsilon both say
E max(P', s Q') <= s + d with d = delta and 1 - s + s delta. The function L of `dual` is then linear
between rays: with the slopes in rising order, L = A_k x + B_k y for s_k <= x/y <= s_(k+1), where
A_k rises and B_k falls. A cell with masses p and q has

    x = p/A_k, y = q/B_k                       where that lies between the rays, and
    y = (p + q)/L_k, x = s_k y                 on a ray, with L_k = s_k A_k + B_k,

so that the cells of each piece are neighbours in the order of p/q: sums over them are differences
of running sums, and one evaluation takes time O(constraints x log cells).
"""

from __future__ import annotations

import math

import numpy as np

from epsilometer.numerics.arrays import Floats, Integers
from limit.kl_inf.dual import Growth, completed, maximise


class Fan:
    """The dual of hockey-stick claims on the same two distributions.

    Parameters
    ----------
    p, q
        Masses of the cells, of shape ``(k,)``.
    slopes
        Of the rays, rising, of shape ``(m, j)`` for m claims.
    excess
        d of each ray, of the same shape; for claims of epsilon alone, where d is 0 above slope 1,
        the cells lie between the first and the last ray.
    """

    def __init__(self, p: Floats, q: Floats, slopes: Floats, excess: Floats) -> None:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.log(p) - np.log(q)
        self.order = np.argsort(np.where(p + q > 0, ratios, 0.0), kind="stable")
        self.p, self.q = p[self.order], q[self.order]
        self.ratios = np.where(p + q > 0, ratios, 0.0)[self.order]
        both = self.p + self.q
        self.share = np.divide(self.p, both, out=np.full_like(both, 0.5), where=both > 0)
        rest = np.divide(self.q, both, out=np.full_like(both, 0.5), where=both > 0)
        self.rest = rest
        entropy = _times_log(self.p, self.share) + _times_log(self.q, rest)
        self.sums = np.zeros((3, p.size + 1))
        np.cumsum([self.p, self.q, entropy], axis=1, out=self.sums[:, 1:])
        self.slopes = slopes
        self.log_slopes = np.log(slopes)
        m, j = slopes.shape
        between = bool((excess[:, -1] == 0).all())
        ends = np.zeros((m, 0 if between else 2)) + 1.0
        self.costs = np.concatenate([ends, slopes + excess], axis=1)
        # rows: A_0 .. A_j, B_0 .. B_j, L_1 .. L_j; columns: weights, of x, y and max(x, s_i y)
        below = (np.arange(j) < np.arange(j + 1)[:, None]).astype(float)  # ray i at or below k
        a = np.broadcast_to(below, (m, j + 1, j))
        b = (1 - below) * slopes[:, None, :]
        if not between:
            first, second = np.eye(2)
            a = np.concatenate([np.broadcast_to(first, (m, j + 1, 2)), a], axis=2)
            b = np.concatenate([np.broadcast_to(second, (m, j + 1, 2)), b], axis=2)
        on = slopes[:, :, None] * a[:, 1:] + b[:, 1:]
        self.rows = np.concatenate([a, b, on], axis=1) / self.costs[:, None, :]

    def pieces(self, theta: Floats) -> tuple[Floats, Integers]:
        """Return A, B and L, of shape ``(m, 3 j + 2)``, and where pieces of sorted cells start.

        The latter has shape ``(m, 2 j + 2)``, with 0 and the number of cells at its ends.
        """
        m, j = self.slopes.shape
        values = (self.rows @ theta[:, :, None])[..., 0]
        with np.errstate(divide="ignore"):
            logs = np.log(values[:, : j + 1]) - np.log(values[:, j + 1 : 2 * j + 2])
        starts = np.zeros((m, 2 * j + 2), np.int64)
        starts[:, 1:-1:2] = np.searchsorted(self.ratios, self.log_slopes + logs[:, :-1], "left")
        starts[:, 2:-1:2] = np.searchsorted(self.ratios, self.log_slopes + logs[:, 1:], "right")
        starts[:, -1] = self.ratios.size
        np.maximum.accumulate(starts, axis=1, out=starts)
        return values, starts

    def growth(self, theta: Floats) -> Growth:
        """Return the growth at weights of shape ``(m, d)``."""
        values, starts = self.pieces(theta)
        p, q, entropy = np.diff(self.sums[:, starts], axis=2)
        on = slice(1, None, 2)
        weights = np.concatenate([p[:, ::2], q[:, ::2], (p + q)[:, on]], axis=1)
        weights = np.maximum(weights, 0.0)
        used = weights > 0
        safe = np.where(used, values, 1.0)
        value = (weights * np.log(safe)).sum(axis=1)
        value += (entropy[:, on] - p[:, on] * self.log_slopes).sum(axis=1)
        scaled = self.rows / safe[:, :, None]
        weighted = weights[:, :, None] * scaled
        return Growth(value, weighted.sum(axis=1), weighted.transpose(0, 2, 1) @ scaled)

    def payoffs(self, theta: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return f, g, x and y at weights of shape ``(m, d)``, each of shape ``(m, k)``."""
        m, j = self.slopes.shape
        values, starts = self.pieces(theta)
        piece = np.zeros((m, self.ratios.size + 1), np.int64)
        for column in range(1, 2 * j + 1):
            np.add.at(piece, (np.arange(m), starts[:, column]), 1)
        piece = np.cumsum(piece[:, :-1], axis=1)
        on, k = piece % 2 == 1, piece // 2
        a, b = (np.take_along_axis(values, k + i * (j + 1), axis=1) for i in (0, 1))
        k = np.minimum(k, j - 1)
        ray = np.take_along_axis(values, k + 2 * (j + 1), axis=1)
        slope = np.take_along_axis(self.slopes, k, axis=1)
        f = np.where(on, self.share * ray / slope, a)
        g = np.where(on, self.rest * ray, b)
        y_on = (self.p + self.q) / ray
        with np.errstate(divide="ignore", invalid="ignore"):
            x = np.where(on, slope * y_on, np.where(self.p > 0, self.p / a, 0.0))
            y = np.where(on, y_on, np.where(self.q > 0, self.q / b, 0.0))
        # missing mass costs nothing in cells where that distribution has none, in the outer pieces
        x = x + _spread(1 - x.sum(axis=1), np.where((self.p == 0) & (x == 0), y, 0.0))
        y = y + _spread(1 - y.sum(axis=1), np.where((self.q == 0) & (y == 0), x, 0.0))
        results = np.empty((4, m, self.ratios.size))
        results[:, :, self.order] = f, g, *completed(x, y)
        return results[0], results[1], results[2], results[3]


def rays(epsilons: Floats, deltas: Floats) -> tuple[Floats, Floats]:
    """Return slopes and excess of both directions, ``(m, 2 j)``, from pairs of shape ``(m, j)``.

    Epsilons rise and are at least 0; those of 0 give two equal rays.
    """
    up = np.exp(epsilons)
    down = np.exp(-epsilons[:, ::-1])
    # 1 - s + s delta without the rounding of small epsilons
    low = -np.expm1(-epsilons[:, ::-1]) + down * deltas[:, ::-1]
    return np.concatenate([down, up], axis=1), np.concatenate([low, deltas], axis=1)


def solved(
    p: Floats, q: Floats, epsilons: Floats, deltas: Floats, tolerance: float
) -> tuple[tuple[Floats, Floats, Floats, Floats], Floats]:
    """Return f, g, x and y, each ``(m, k)``, and the gaps, ``(m,)``, for S = 2.

    Masses have shape ``(k,)``; epsilons and deltas have shape ``(m, j)``.
    """
    fan = Fan(p, q, *rays(epsilons, deltas))
    claims, constraints = fan.costs.shape
    theta, gaps = maximise(fan.growth, claims, constraints, tolerance)
    return fan.payoffs(theta), gaps


def largest_sum(f: Floats, g: Floats, epsilon: float, delta: float) -> float:
    """Return the largest E_P'[f] + E_Q'[g] among pairs that satisfy (epsilon, delta).

    ``f`` and ``g``, of shape ``(k,)``, may be any functions that are not negative. The dual of this
    linear programme has numbers a, b, mu and nu: minimise a + b + delta (mu + nu) such that in
    every cell f X + g Y is at most a X + b Y + mu (X - s Y)+ + nu (Y - s X)+, which need only be
    so on the rays of the four pieces. So with s = e^epsilon

        mu >= max f - a,    a s + b >= max (s f + g),
        nu >= max g - b,    a + b s >= max (f + s g),

    and a and b are at a corner of these. For delta = 0 mu and nu are free, and the sum is
    (max (s f + g) + max (f + s g)) / (1 + s).
    """
    shrink = math.exp(-epsilon)  # both sides of the last two are divided by s
    first, second = float((f + shrink * g).max()), float((shrink * f + g).max())
    if delta == 0:
        return (first + second) / (1 + shrink)
    top, top_prime = float(f.max()), float(g.max())
    corners = [
        (top, second - shrink * top),
        (top, (first - top) / shrink if shrink > 0 else np.inf),
        (first - shrink * top_prime, top_prime),
        ((second - top_prime) / shrink if shrink > 0 else np.inf, top_prime),
        (top, top_prime),
    ]
    if shrink < 1:
        below = 1 - shrink**2
        corners.append(((first - shrink * second) / below, (second - shrink * first) / below))
    sums = [np.inf]
    for a, b in corners:
        raised = max(first - a - shrink * b, second - shrink * a - b, 0.0) / (1 + shrink)
        # of a corner outside, or of its rounding
        free = max(top - a - raised, 0.0) + max(top_prime - b - raised, 0.0)
        sums.append(a + b + 2 * raised + delta * free)
    return float(np.nanmin(sums))


def _times_log(weights: Floats, values: Floats) -> Floats:
    return np.asarray(weights * np.log(np.where(weights > 0, values, 1.0)))


def _spread(missing: Floats, room: Floats) -> Floats:
    """Return the missing masses, of shape ``(m,)``, in proportion to the room, ``(m, k)``."""
    total = room.sum(axis=1)
    share = np.divide(missing, total, out=np.zeros_like(total), where=(total > 0) & (missing > 0))
    return np.asarray(share[:, None] * room)

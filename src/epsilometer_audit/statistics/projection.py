"""Bets on predicted cells, against claims (epsilon, delta) and Rényi claims.

With predicted probabilities p and q of the cells, and the pair (p*, q*) of the claim's set that is
nearest to them (`epsilometer_audit.statistics.predictors`), the best bet is f = p/p* and g = q/q*.
It is found here in a hundredth of the time of a solver that bounds its error.

**Validity** holds whatever f and g are, as they are divided by S/2, where

    S = (1 - delta) (A + B)/(1 + e) + delta (F + G),    F = max f,  G = max g,
    A = max(e f + g),  B = max(f + e g),  e = exp(epsilon),

is at least E_P'[f] + E_Q'[g] for all (P', Q') in the claim's set. Proof for e > 1: let (a, b) solve
e a + b = A, a + e b = B, so that a + b = (A + B)/(1 + e). Where f > a, g - b <= -e (f - a), so that
P' (f - a) + Q' (g - b) <= (f - a) (P' - e Q'); alike where g > b; elsewhere it is at most 0. The
sum over the cells is at most (F - a) delta + (G - b) delta: F >= a, as f + e g <= B where e f + g =
A, and G >= b alike. For e = 1, take any a + b = A with a <= F, b <= G. So neither rounding nor a
poor minimum matters.

**The shape of a bet** against (epsilon, delta). Let a + b = 2, and let the cells be in the order of
p/q. In the middle f = a and g = b. Behind it p/q is large and e f + g = e a + b, so that f rises
with p/q, up to F; before it f + e g = a + e b, so that g rises up to G. The growth of the wealth is
concave in each of a, F and G.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilometer.numerics.arrays import Floats
from epsilometer_audit.statistics.predictors import Prediction

_LARGEST = 2.0  # factor, as f = a + b/e at most, and a + b = 2
_LEAST = 1e-100  # factor
_SMALL_DELTA = 1e-4  # for which the largest f and g hardly change the bet
_ROUNDS = 2  # in which a and the largest f and g are found in turn
_MIDDLE = 1e-3  # least a and b
_FLAT = 1e-12  # slope, which may be of rounding
_NOTHING = 1e-12  # probability, in place of 0
_PARTS = (1 - np.cos(np.linspace(0, math.pi, 21)))[:, None] / 2  # from 0 to 1
_HALVINGS = 6  # of the stake of a Rényi bet
_CLIPS = np.array([0.5, 1.0, 2.0, 4.0])  # of the log of p/q, in Rényi bets
_TRUSTED = 0.85  # part of the predicted log of p/q, which is overfitted, in Rényi bets
_MOST = 1e300  # stake
_STAKED = 0.98  # most that a cell may lose of its factor


def factors(prediction: Prediction, epsilons: Floats, deltas: Floats) -> tuple[Floats, Floats]:
    """Return ln f and ln g of the cells, of shape ``(k, m)``, for m claims (epsilon, delta).

    The growth may lack .001 nats, as the best a, F and G are found between 21 points each; and for
    a delta above .01 up to .04 nats, as they are found in turn.
    """
    p, q = _mixed(prediction)
    bets = _best_bets(p, q, np.exp(epsilons), deltas)
    f, g = bets.of((p / (p + q))[:, None], (q / (p + q))[:, None])
    most = (bets.e * f + g).max(axis=0)  # A
    most_prime = (f + bets.e * g).max(axis=0)  # B
    total = (1 - deltas) * (most + most_prime) / (1 + bets.e)
    total += deltas * (f.max(axis=0) + g.max(axis=0))
    scale = np.log(2 / total)
    return np.log(f) + scale, np.log(g) + scale


def _mixed(prediction: Prediction) -> tuple[Floats, Floats]:
    """Return p and q after each took a part of the other, so that none is 0."""
    part = prediction.floor / 2
    p = (1 - part) * prediction.p + part * prediction.q + _NOTHING
    q = (1 - part) * prediction.q + part * prediction.p + _NOTHING
    return p, q


@dataclass(frozen=True, eq=False)
class _Cells:
    """Probabilities of cells in the order of p/q: ``ratios`` are p/q, of shape ``(k,)``.

    ``before`` are the sums of p and of q over the cells before each, of shape ``(2, k + 1)``.
    """

    ratios: Floats
    before: Floats

    @classmethod
    def of(cls, p: Floats, q: Floats) -> _Cells:
        """Return cells whose p and q have shape ``(k,)``."""
        ratios = p / q
        order = ratios.argsort(kind="stable")
        before = np.zeros((2, p.size + 1))
        np.stack([p, q])[:, order].cumsum(axis=1, out=before[:, 1:])
        return cls(ratios[order], before)

    def behind(self, ratio: Floats) -> Floats:
        """Return p and q, ``(2, t, m)``, of the cells whose ratio is not below, ``(t, m)``."""
        return self.before[:, -1:, None] - self.before[:, self.ratios.searchsorted(ratio)]


@dataclass(eq=False)
class _Bets:
    """Bets against m claims; all have shape ``(m,)``. ``largest`` is F, ``largest_prime`` is G."""

    e: Floats
    a: Floats
    largest: Floats
    largest_prime: Floats

    def of(self, p: Floats, q: Floats) -> tuple[Floats, Floats]:
        """Return f and g, ``(k, m)``, of cells whose p and q, ``(k, 1)``, have sum 1."""
        e = self.e
        a = self.a
        b = 2 - a
        f, g = _outer(p, q, e, e * a + b, self.largest)
        g_before, f_before = _outer(q, p, e, a + e * b, self.largest_prime)
        behind = p * b > e * q * a
        before = q * a > e * p * b
        f = np.where(behind, f, np.where(before, f_before, a))
        g = np.where(behind, g, np.where(before, g_before, b))
        return f, g


def _outer(p: Floats, q: Floats, e: Floats, top: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Return f up to ``most`` in proportion to p, and g, of cells where e f + g = ``top``."""
    f = p * top / e
    return np.minimum(f, most), np.where(f > most, top - e * most, q * top)


def _best_bets(p: Floats, q: Floats, e: Floats, deltas: Floats) -> _Bets:
    """Return the bets of the largest growth against claims; e and deltas have shape ``(m,)``."""
    cells = _Cells.of(p, q)
    cells_prime = _Cells.of(q, p)
    most = np.full(e.size, _LARGEST)
    bets = _Bets(e, _best_middle(cells, cells_prime, e, most, most), most, most.copy())
    limited = (deltas > _SMALL_DELTA).nonzero()[0]
    if limited.size == 0:
        return bets
    e = e[limited]
    deltas = deltas[limited]
    a = bets.a[limited]
    g = bets.largest_prime[limited]
    for _ in range(_ROUNDS):
        f = _best_largest(cells, e, deltas, a, g)
        g = _best_largest(cells_prime, e, deltas, 2 - a, f)
        a = _best_middle(cells, cells_prime, e, f, g)
    bets.a[limited] = a
    bets.largest[limited] = f
    bets.largest_prime[limited] = g
    return bets


def _best_middle(
    cells: _Cells, cells_prime: _Cells, e: Floats, largest: Floats, largest_prime: Floats
) -> Floats:
    """Return the best a, ``(m,)``, for the largest f and g."""
    a = _points(np.maximum(2 - largest_prime, _MIDDLE), np.minimum(largest, 2 - _MIDDLE))
    b = 2 - a
    behind, rise = _behind(cells, e, a, largest)
    before, rise_prime = _behind(cells_prime, e, b, largest_prime)
    p = 1 - behind[0] - before[1]  # of the cells in the middle
    q = 1 - behind[1] - before[0]
    return _root(a, (rise - rise_prime) * (e - 1) + p / a - q / b)


def _behind(cells: _Cells, e: Floats, a: Floats, largest: Floats) -> tuple[Floats, Floats]:
    """Return p and q, ``(2, t, m)``, of the cells behind the middle, and how they grow with a.

    The growth is the derivative of the predicted one, over e - 1.
    """
    top = e * a + 2 - a
    least = np.maximum(top - e * largest, _LEAST)
    behind = cells.behind(e * a / (2 - a))
    last = cells.behind(e * largest / least)  # where f is the largest
    return behind, (behind - last).sum(axis=0) / top + last[1] / least


def _best_largest(cells: _Cells, e: Floats, deltas: Floats, a: Floats, other: Floats) -> Floats:
    """Return the best largest f, ``(m,)``, where g has the largest value ``other``."""
    top = e * a + 2 - a
    largest = _points(a, top / e)
    least = np.maximum(top - e * largest, _LEAST)
    p, q = cells.behind(e * largest / least)
    lost = 2 * deltas / (2 * (1 - deltas) + deltas * (largest + other))
    return _root(largest, p / largest - e * q / least - lost)


def _points(low: Floats, high: Floats) -> Floats:
    """Return points from low to high, ``(t, m)``, more of them near the ends: slopes are steep."""
    return low + (high - low) * _PARTS


def _root(points: Floats, slopes: Floats) -> Floats:
    """Return where falling slopes at some points are 0, ``(m,)``, on the line from > 0 to < 0.

    Where none is above 0, or none below, it is an end, or the middle of the two points there if
    their slopes are the same; where all are 0, the middle.
    """
    last = len(points) - 1
    before = np.count_nonzero(slopes > _FLAT, axis=0) - 1
    before = np.clip(before, 0, last - 1)
    behind = last + 1 - np.count_nonzero(slopes < -_FLAT, axis=0)
    behind = np.clip(behind, before + 1, last)
    claims = np.arange(before.size)
    start = points[before, claims]
    slope = slopes[before, claims]
    fall = slope - slopes[behind, claims]
    share = np.divide(slope, fall, out=np.full(fall.shape, 0.5), where=fall > 0)
    return np.asarray(start + np.clip(share, 0, 1) * (points[behind, claims] - start))


def renyi_factors(prediction: Prediction, orders: Floats, rhos: Floats) -> tuple[Floats, Floats]:
    """Return ln f and ln g of the cells, ``(k, m)``, for m claims D_a <= rho, either way round.

    For a clipped power r of p/q, phi = r^(a-1) and psi = r^a, f = 1 + l (phi - u) and g = 1 - l
    kappa (psi - v) are those of `epsilometer_audit.statistics.wealth`, where v is the mean of psi
    under q. So E_P'[f] + E_Q'[g] <= 2. A bet on D_a(Q' || P') is added to both, which the sum
    allows. With r = p*/q* and the best l, this is the projection; here a few clips are tried.
    """
    p, q = _mixed(prediction)
    logs = np.clip(_TRUSTED * np.log(p / q), -_CLIPS[:, None], _CLIPS[:, None])[:, None]
    up, down = _renyi_bet(q, logs, orders, rhos)  # (clips, m, k)
    up_prime, down_prime = _renyi_bet(p, -logs, orders, rhos)
    f = np.ones_like(up)
    g = np.ones_like(up)
    for _ in range(2):
        stake = _best_stake(p, q, f, g, up, down)
        f = f + stake * up
        g = g - stake * down
        stake = _best_stake(q, p, g, f, up_prime, down_prime)
        g = g + stake * up_prime
        f = f - stake * down_prime
    ln_f = np.log(f)
    ln_g = np.log(g)
    growth = ln_f @ p + ln_g @ q
    best = growth.argmax(axis=0)
    claims = np.arange(orders.size)
    grows = growth[best, claims] > 0
    ln_f = np.where(grows[:, None], ln_f[best, claims], 0.0)
    ln_g = np.where(grows[:, None], ln_g[best, claims], 0.0)
    return ln_f.T, ln_g.T


def _renyi_bet(q: Floats, logs: Floats, orders: Floats, rhos: Floats) -> tuple[Floats, Floats]:
    """Return phi - u and kappa (psi - v) for D_a <= rho, up to a factor, ``(clips, m, k)``.

    ``logs`` of the ratio, of shape ``(clips, 1, k)``, are clipped; q is below the ratio.
    """
    a = orders[:, None]
    logs = logs - logs.max(axis=-1, keepdims=True)
    phi = np.exp((a - 1) * logs)
    psi = np.exp(a * logs)
    v = (psi @ q)[..., None]
    s = np.exp(rhos[:, None] * (a - 1) / a)
    u = s * v ** ((a - 1) / a)
    kappa = s * (a - 1) / a * v ** (-1 / a)
    return phi - u, kappa * (psi - v)


@np.errstate(divide="ignore", over="ignore")  # a bet of which no cell loses has any stake
def _best_stake(p: Floats, q: Floats, f: Floats, g: Floats, up: Floats, down: Floats) -> Floats:
    """Return l >= 0, ``(clips, m, 1)``, of the largest growth of f + l up and g - l down."""
    most = np.where(up < 0, -f / up, math.inf).min(axis=-1)
    most_prime = np.where(down > 0, g / down, math.inf).min(axis=-1)
    low = np.zeros((*most.shape, 1))
    high = np.minimum(_STAKED * np.minimum(most, most_prime), _MOST)[..., None]
    for _ in range(_HALVINGS):
        stake = 0.5 * (low + high)
        slope = (up / (f + stake * up)) @ p - (down / (g - stake * down)) @ q
        rises = slope[..., None] > 0
        low = np.where(rises, stake, low)
        high = np.where(rises, high, stake)
    return low

"""Levels of two distributions from the logarithms of their masses and of the masses' ratio.

The loss l = log p/q is given beside log p and log q: most mechanisms have an accurate form of it
where p and q are nearly the same or underflow. All terms of a sum have one sign, so none cancels.

Of a bit that is kept with probability 3/4, on the inputs 0 and 1,

    bit = compared(np.log([0.75, 0.25]), np.log([0.25, 0.75]))
    bit.loss  # [1.10, -1.10]: log 3 at the output 0, and the opposite at 1
    privacy_loss(bit), renyi(2.0, bit)  # log 3, and log(7/3)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from epsilometer import checks
from epsilometer.numerics.arrays import Floats

_TERMS = 16  # of the series below
_SERIES_UP_TO = 0.5  # there the first term left out is 1e-17 of the first
_SMALL = 1.0  # loss below which a difference is computed from it
CLEAR = 0.1  # logarithm of a sum above which terms are added that do not say what it exceeds 1 by


class Comparison(NamedTuple):
    """log p, log q and l = log p/q of the same outputs, or of the nodes of a quadrature.

    All are in nats and of one shape: ``(k,)``, unless stated otherwise. Of an output that x cannot
    have the loss is minus infinity.
    """

    log_p: Floats
    log_q: Floats
    loss: Floats

    def row(self, i: int) -> Comparison:
        """Return a row of arrays of two dimensions."""
        return Comparison(self.log_p[i], self.log_q[i], self.loss[i])

    def reversed(self) -> Comparison:
        """Return the comparison of x' with x."""
        return Comparison(self.log_q, self.log_p, -self.loss)

    def times(self, weights: ArrayLike) -> Comparison:
        """Return the masses of densities at nodes with these weights."""
        log_weights = np.log(weights)
        return Comparison(self.log_p + log_weights, self.log_q + log_weights, self.loss)


def compared(log_p: Floats, log_q: Floats) -> Comparison:
    """Return a comparison whose loss is the difference of the logarithms."""
    with np.errstate(invalid="ignore"):
        loss = np.where(log_p == -np.inf, -np.inf, log_p - log_q)
    return Comparison(log_p, log_q, loss)


def log_sum(logs: Floats, axis: int = -1) -> Floats:
    """Return log sum exp(logs) along an axis; minus infinity for an empty or impossible sum.

    The result has the shape of ``logs`` without that axis.
    """
    top = np.max(logs, axis=axis, keepdims=True, initial=-np.inf)
    base = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total: Floats = np.log(np.exp(logs - base).sum(axis=axis)) + np.squeeze(base, axis)
    return total


def total(log_p: Floats, log_q: Floats, loss: Floats, axis: int = -1) -> Comparison:
    """Return P = sum p and Q = sum q along an axis, and an accurate log P/Q.

    P/Q is the mean of exp(l) under q; near 1 it is 1 plus the mean of exp(l) - 1. The result has
    the three arrays' shape without that axis.
    """
    p = log_sum(log_p, axis)
    q = log_sum(log_q, axis)
    base = np.expand_dims(np.where(np.isfinite(q), q, 0.0), axis)
    with np.errstate(over="ignore", invalid="ignore"):
        log_ratio = np.where(np.isfinite(loss), log_q - base + loss, log_p - base)
        rise = _difference(np.exp(log_ratio), np.exp(log_q - base), loss).sum(axis=axis)
    close = np.abs(rise) < _SERIES_UP_TO
    ratio = np.where(close, np.log1p(np.where(close, rise, 0.0)), log_sum(log_ratio, axis))
    ratio = np.where(q > -np.inf, ratio, np.inf)
    return Comparison(p, q, np.where(p > -np.inf, ratio, -np.inf))


def completed(pair: Comparison) -> Comparison:
    """Return the comparison with the likeliest output's loss computed from all others.

    p - q sums to 0. Of an output that is all but certain p/q - 1 is far below the rounding of p.
    """
    i = int(np.argmax(pair.log_q))
    if not pair.log_q[i] > math.log(0.5):
        return pair
    log_p, log_q, loss = (np.delete(values, i) for values in pair)
    shift = _difference(np.exp(log_p), np.exp(log_q), loss)
    rise = -math.fsum(shift.tolist()) / math.exp(pair.log_q[i])
    if not abs(rise) < _SERIES_UP_TO:
        return pair
    losses = pair.loss.astype(float)
    losses[i] = math.log1p(rise)
    return pair._replace(loss=losses)


def _difference(p: Floats, q: Floats, loss: Floats) -> Floats:
    """Return p - q, accurate where the loss log p/q is small."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(loss < _SMALL, q * np.expm1(loss), p - q)


def privacy_loss(pair: Comparison) -> float:
    """Return the largest loss among the outputs that x can have."""
    return float(pair.loss[pair.log_p > -np.inf].max())


def renyi(order: float, pair: Comparison) -> float:
    """Return log sum p^order q^(1 - order) / (order - 1), for masses that sum to 1.

    With a the order, the sum is 1 + sum q (exp(a l) - 1 - a (exp(l) - 1)), whose terms are all
    positive and, for small l, a (a - 1) q l^2 / 2. Raise `ArgumentError` unless a is finite and
    above 1.
    """
    a = checks.order("order", order, finite=True)
    log_p, log_q, loss = (values[np.maximum(pair.log_p, pair.log_q) > -np.inf] for values in pair)
    if (loss == np.inf).any():
        return math.inf
    log_terms = log_p + (a - 1) * loss
    level = float(log_sum(log_terms))
    if level > CLEAR:
        return level / (a - 1)
    p = np.exp(log_p)
    q = np.exp(log_q)
    with np.errstate(over="ignore", invalid="ignore"):
        terms = _difference(np.exp(log_terms), p, (a - 1) * loss)
        terms -= (a - 1) * _difference(p, q, loss)
        terms = np.where(a * np.abs(loss) < _SERIES_UP_TO, q * _convexity(a, loss), terms)
    return math.log1p(max(math.fsum(terms.tolist()), 0.0)) / (a - 1)


def _convexity(a: float, loss: Floats) -> Floats:
    """Return exp(a l) - 1 - a (exp(l) - 1) by its series, for small a l.

    With u = a l, term k is a^k - a = a^k (1 - a^(1 - k)) times l^k / k!.
    """
    u = a * loss
    value = np.zeros_like(u)
    for k in range(_TERMS, 1, -1):
        value += -math.expm1((1 - k) * math.log(a)) / math.factorial(k) * u**k
    return value


def deltas(claims: Floats, pair: Comparison) -> Floats:
    """Return sum p (1 - exp(e - l))+ at each claim e, the hockey-stick divergence.

    Claims, in nats, and deltas have shape ``(m,)``.
    """
    order = np.argsort(pair.loss, kind="stable")
    loss = pair.loss[order]
    p = np.exp(pair.log_p[order])
    values = np.zeros(claims.size)
    for i, claim in enumerate(claims):
        above = np.searchsorted(loss, claim, side="right")
        values[i] = (p[above:] * -np.expm1(claim - loss[above:])).sum()
    return values

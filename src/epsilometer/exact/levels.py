"""Levels of two laws from the logarithms of their masses and of the masses' ratio.

The loss l = log p/q comes in beside log p and log q, as most mechanisms have it in a form that
keeps its digits where p and q are nearly the same or not numbers any more. No sum of levels or
deltas cancels: all its terms have one sign.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Floats

_TERMS = 16  # of the series below
_SMALL = 0.5  # up to where the series is used: the first term left out is 1e-17 of the first


class Compared(NamedTuple):
    """log p, log q and l = log p/q of the same outputs, or of the nodes of a quadrature.

    All are in nats and of one shape: ``(k,)``, unless something else is said.
    """

    log_p: Floats
    log_q: Floats
    loss: Floats

    def reversed(self) -> Compared:
        """Return what it is from x' to x."""
        return Compared(self.log_q, self.log_p, -self.loss)


def compared(log_p: Floats, log_q: Floats) -> Compared:
    """Compare where the loss has no better form than the difference; logs have one shape."""
    with np.errstate(invalid="ignore"):
        loss = np.where(log_p == -np.inf, -np.inf, log_p - log_q)
    return Compared(log_p, log_q, loss)


def log_sum(logs: Floats, axis: int = -1) -> Floats:
    """Return log sum exp(logs) along an axis; minus infinity for an empty or impossible sum.

    What is returned has the shape of ``logs`` without that axis.
    """
    top = np.max(logs, axis=axis, keepdims=True, initial=-np.inf)
    base = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total: Floats = np.log(np.exp(logs - base).sum(axis=axis)) + np.squeeze(base, axis)
    return total


def total(log_p: Floats, log_q: Floats, loss: Floats, axis: int = -1) -> Compared:
    """Add masses up along an axis: P = sum p, Q = sum q, and log P/Q with its digits.

    P/Q is the mean of exp(l) under q, and where it is close to 1 that of exp(l) - 1 more than 1.
    What is returned has the three arrays' shape without that axis.
    """
    p, q = log_sum(log_p, axis), log_sum(log_q, axis)
    base = np.expand_dims(np.where(np.isfinite(q), q, 0.0), axis)
    with np.errstate(over="ignore", invalid="ignore"):
        log_ratio = np.where(np.isfinite(loss), log_q - base + loss, log_p - base)
        share = np.exp(log_q - base)
        rises = np.where(np.abs(loss) < 1, share * np.expm1(loss), np.exp(log_ratio) - share)
        rise = rises.sum(axis=axis)
    close = np.abs(rise) < _SMALL
    ratio = np.where(close, np.log1p(np.where(close, rise, 0.0)), log_sum(log_ratio, axis))
    ratio = np.where(q > -np.inf, ratio, np.inf)
    return Compared(p, q, np.where(p > -np.inf, ratio, -np.inf))


def completed(pair: Compared) -> Compared:
    """Return all outputs' comparison with the likeliest one's loss from those of all others.

    p - q sums to 0. Of an output that is all but certain p/q - 1 is far below the rounding of p.
    """
    i = int(np.argmax(pair.log_q))
    if not pair.log_q[i] > math.log(0.5):
        return pair
    log_p, log_q, loss = (np.delete(values, i) for values in pair)
    with np.errstate(over="ignore", invalid="ignore"):
        moved = np.where(loss < 1, np.exp(log_q) * np.expm1(loss), np.exp(log_p) - np.exp(log_q))
    rise = -math.fsum(moved.tolist()) / math.exp(pair.log_q[i])
    if not abs(rise) < _SMALL:
        return pair
    losses = pair.loss.astype(float)
    losses[i] = math.log1p(rise)
    return pair._replace(loss=losses)


def privacy_loss(pair: Compared) -> float:
    """Return the largest loss among the outputs that x can have."""
    return float(pair.loss[pair.log_p > -np.inf].max())


def renyi(order: float, pair: Compared) -> float:
    """Return log sum p^order q^(1 - order) / (order - 1), for masses that sum to 1.

    With a the order, the sum is 1 + sum q (exp(a l) - 1 - a (exp(l) - 1)), whose terms are all
    positive and, for small l, a (a - 1) q l^2 / 2. Raise `ArgumentError` unless a is finite and
    above 1.
    """
    a = checks.order("order", order, finite=True)
    log_p, log_q, loss = (values[np.maximum(pair.log_p, pair.log_q) > -np.inf] for values in pair)
    possible = log_p > -np.inf
    if (loss[possible] == np.inf).any():
        return math.inf
    log_terms = np.where(possible, log_p + (a - 1) * np.where(possible, loss, 0.0), -np.inf)
    level = float(log_sum(log_terms))
    if level > 0.1:
        return level / (a - 1)
    p, q = np.exp(log_p), np.exp(log_q)
    with np.errstate(over="ignore", invalid="ignore"):
        grown = np.where((a - 1) * loss < 1, p * np.expm1((a - 1) * loss), np.exp(log_terms) - p)
        grown = np.where(possible, grown, 0.0)
        moved = np.where(loss < 1, q * np.expm1(loss), p - q)
        terms = np.where(
            a * np.abs(loss) < _SMALL, q * _convexity(a, loss), grown - (a - 1) * moved
        )
    return math.log1p(max(math.fsum(terms.tolist()), 0.0)) / (a - 1)


def _convexity(a: float, loss: Floats) -> Floats:
    """Return exp(a l) - 1 - a (exp(l) - 1) by its series, for small a l.

    With u = a l, term k is a^k - a = a^k (1 - a^(1 - k)) times l^k / k!.
    """
    u = np.where(a * np.abs(loss) < _SMALL, a * loss, 0.0)
    value = np.zeros_like(u)
    for k in range(_TERMS, 1, -1):
        value += -math.expm1((1 - k) * math.log(a)) / math.factorial(k) * u**k
    return value


def deltas(claims: Floats, pair: Compared) -> Floats:
    """Return sum p (1 - exp(e - l))+ at each claim e, the hockey-stick divergence.

    Claims, in nats, and deltas have shape ``(m,)``.
    """
    order = np.argsort(pair.loss)
    loss, p = pair.loss[order], np.exp(pair.log_p[order])
    found = np.zeros(claims.size)
    for i, claim in enumerate(claims):
        above = np.searchsorted(loss, claim, side="right")
        found[i] = (p[above:] * -np.expm1(claim - loss[above:])).sum()
    return found

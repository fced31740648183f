"""Statements of kutta2022's assumptions, lemmas and proofs, tried at some points."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import scipy

from epsilometer.estimators.renyi_bound import soft_floor
from epsilometer_workflow.reports.points import Points, at, table_of

_MAXIMA = np.array([0.0, 1e-7, 1e-6, 5e-6, 9e-6, 1e-5, 1.1e-5, 2e-5, 1e-4, 1e-2, 0.2])


def proofs() -> pd.DataFrame:
    """Work out every check: a row a point, its value beside what bounds it."""
    checks: dict[str, Points] = {
        "floor-reached": (
            (at(t=float(value), tau=tau), floored, max(value, tau))
            for tau in (1e-5, 1e-3)
            for value, floored in zip(_MAXIMA, soft_floor(_MAXIMA, tau, 1 / tau)[0], strict=True)
        ),
        "soft-gap": (  # the soft floor less the maximum, beside 2/beta
            (at(tau=tau, beta=beta), _above_maximum(tau, beta), 2 / beta)
            for tau in (1e-5, 1e-3)
            for beta in (1.0 / tau, 10.0 / tau, 100.0 / tau)
        ),
        "soft-slope": _soft_slope(),
        "kernel-dimensions": (  # the integral of (10) over R^d, with 1/(n h) and with 1/(n h^d)
            (at(d=d, h=h), mass / h, mass / h**d)
            for d, h in product((2, 3), (0.1, 0.5))
            for mass in [(math.sqrt(2 * math.pi) * h) ** d / (2 * math.pi) ** (d / 2)]
        ),
        # the kernel as printed, and with exp(-|t|/sqrt 2)
        "silverman": [("integral", _silverman(0.5), _silverman(math.sqrt(0.5)))],
        "gaussian": [  # what (K) asks of a kernel of order 1
            ("integral", _area(_normal, -np.inf, np.inf), 1.0),
            ("mean", _area(lambda t: t * _normal(t), -np.inf, np.inf), 0.0),
        ],
        "printed-bandwidths": _assumed(1),
        "corrected-bandwidths": _assumed(-1),
        "floor-above-bandwidth": (  # v of floors n^-v, beside the smallest u of bandwidths n^-u
            (at(order=o, v=v), v, max(v * (2 * o + 1), 1 / 4 + o * v / 2))
            for o, v in product((2.0, 5.0, 7.0), (0.005, 0.02, 0.05))
        ),
        "laplace-class": (  # the norm, beside sqrt(2)/b^2 t^(1/2), which smoothness 1.5 asks for
            (at(b=b, t=t), _shifted(t, b), math.sqrt(2) / b**2 * math.sqrt(t))
            for b, t in product((1.0, 5.0), (0.001, 0.01, 0.1, 0.5, 1.0))
        ),
        "laplace-rougher": (  # over t^0.6, which smoothness 1.6 would bound; at t and a tenth of it
            (at(t=t), _shifted(t, 1.0) / t**0.6, _shifted(t / 10, 1.0) / (t / 10) ** 0.6)
            for t in (0.1, 0.01, 0.001)
        ),
        # the squared L2 norms of the normal density's derivatives, all of them finite
        "gaussian-class": (
            (at(s=s), _norm(s), math.gamma(s + 0.5) / (2 * math.pi)) for s in range(1, 9)
        ),
        "laplace-slope": ((at(b=b), _steepest(b), 1 / (2 * b**2)) for b in (1.0, 5.0)),
        "laplace-norm": _laplace_norm(),
        "variance-in-bandwidth": (  # of the KDE, its slope in log h: printed h^d, Lemma 2 i) h^-d
            (at(n=n), math.log(_variance(0.02, n) / _variance(0.01, n)) / math.log(2), 1.0)
            for n in (10_000, 1_000_000)
        ),
        "printed-exponent": _vanishing(1),
        "corrected-exponent": _vanishing(-1),
        "printed-r4": _slopes("p"),
        "corrected-r4": _slopes("q"),
    }
    return table_of(checks)


def _area(function: Callable[[float], float], low: float, high: float) -> float:
    return float(scipy.integrate.quad(function, low, high, limit=500)[0])


def _above_maximum(tau: float, beta: float) -> float:
    return float((soft_floor(_MAXIMA, tau, beta)[0] - np.maximum(_MAXIMA, tau)).max())


def _silverman(rate: float) -> float:
    def kernel(t: float) -> float:
        return math.exp(-t * rate) / 2 * math.sin(t / math.sqrt(2) + math.pi / 4)

    return 2 * _area(kernel, 0, 200)


def _normal(t: float) -> float:
    return math.exp(-t * t / 2) / math.sqrt(2 * math.pi)


def _soft_slope() -> Points:
    """Compare differences of the soft floor with those of its argument."""
    for tau in (1e-5, 1e-3):
        t = np.linspace(0, 20 * tau, 2001)
        steps = np.diff(soft_floor(t, tau, 1 / tau)[0]) / np.diff(t)
        yield at(tau=tau), steps.max(), 1.0


def _assumed(sign: int) -> Points:
    """Take bandwidths n^-u and floors n^-v of Assumption 1 (2), its upper end with this sign.

    The proof needs tau^-(l+1)/(n h^d) to be of smaller order than n^(-1/2): the exponent of n, here
    the value, must be below 0.
    """
    d, s = 1, 2.0
    for order, v in product((2.0, 5.0), (0.0, 0.005, 0.02, 0.05)):
        low = max(v * (2 * order + 1), 1 / (2 * s) + order * v / s)
        high = 1 / (2 * d) + sign * v * (order + 1) / d
        for share in (0.1, 0.5, 0.99):
            u = low + share * (high - low)
            if low < high:
                yield at(order=order, v=v, u=u), v * (order + 1) + u * d - 0.5, 0.0


def _shifted(t: float, b: float) -> float:
    """Return the L2 norm of f'(. + t) - f'(.) for the Laplace density of scale b."""

    def slope(z: float) -> float:
        return -math.copysign(1, z) / (2 * b**2) * math.exp(-abs(z) / b)

    def squared(z: float) -> float:
        return (slope(z + t) - slope(z)) ** 2

    ends = [(-60 * b, -t), (-t, 0.0), (0.0, 60 * b)]
    return math.sqrt(sum(_area(squared, *e) for e in ends))


def _norm(s: int) -> float:
    return 2 * _area(lambda w: w ** (2 * s) * math.exp(-w * w) / (2 * math.pi), 0, np.inf)


def _steepest(b: float) -> float:
    z = np.linspace(-3 * b, 3 * b, 100_001)
    return float(np.abs(np.diff(np.exp(-np.abs(z) / b) / (2 * b)) / np.diff(z)).max())


def _laplace_norm() -> Points:
    for b, t in product((1.0, 5.0), (0.1, 0.5, 1.0)):
        printed = math.sqrt(2) / (2 * b**2) * math.exp(-t / (2 * b))
        yield at(b=b, t=t), printed * math.sqrt(t - b + b * math.exp(t / b)), _shifted(t, b)


def _variance(h: float, n: int) -> float:
    smoothed = 1 / (2 * math.sqrt(math.pi * (1 + h * h)))  # of a normal density
    return (1 / (2 * math.sqrt(math.pi) * h) - smoothed) / n


def _vanishing(sign: int) -> Points:
    """Compare (h/tau)^(sign (1 - order)) at a sample size with that at a hundred times as many."""
    for order, n in product((1.2, 1.8), (1e4, 1e6)):
        ratios = [(m**-0.3 / m**-0.1) ** (sign * (1 - order)) for m in (n, 100 * n)]
        yield at(order=order, n=n), ratios[1], ratios[0]


def _slopes(which: str) -> Points:
    """Compare the change of the soft floor's slope with beta times that of p, or of q, in R4."""
    tau, beta = 1e-3, 1e3
    for p, moved_p, q, moved_q in ((0.01, 0.01, 1e-3, 2e-3), (0.02, 0.021, 5e-4, 4e-3)):
        slopes = soft_floor(np.array([q, moved_q]), tau, beta)[1]
        moved = abs(moved_p - p) if which == "p" else abs(moved_q - q)
        yield at(p=p, q=q), abs(slopes[1] - slopes[0]), moved * beta

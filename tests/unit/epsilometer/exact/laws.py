"""Exact laws against the probabilities of their outputs as `Decimal`, in 120 digits."""

import math
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest

from epsilometer.exact import EXACT
from epsilometer.exact.base import spectrum
from epsilometer.mechanisms import MECHANISMS

EPSILONS = [1e-8, 1e-4, 1.0, 40.0, 700.0]
ORDERS = [1.01, 2.0, 10.0, 100.0]
RARE = Decimal("1e-300")  # doubles below have few digits


def law(name, *arguments, **parameters):
    return EXACT.load(name)(MECHANISMS.load(name)(*arguments, **parameters))


def close(value, expected, rel=1e-10):
    """Whether a double is a Decimal to that relative precision, also far below 1e-308's digits."""
    if not math.isfinite(value):
        return False
    return abs(Decimal(float(value)) - expected) <= Decimal(rel) * abs(expected)


def check_both_ways(exact, x, y, p, q):
    """Compare levels in both directions with those of the probabilities of the same outputs."""
    check_law(exact, x, y, p, q)
    check_law(exact, y, x, q, p)


def check_law(exact, x, y, p, q):
    """Compare probabilities at x, and the levels of x from y, with those of all outputs."""
    drawn = exact.probabilities(x)
    likely = sorted(float(a) for a in p if a > RARE)
    assert np.sort(drawn[drawn > float(RARE)]) == pytest.approx(likely, rel=1e-10)
    possible = [(a, b) for a, b in zip(p, q, strict=True) if a > 0]
    losses = [(a / b).ln() if b > 0 else Decimal("inf") for a, b in possible]
    if max(losses).is_infinite():
        assert exact.privacy_loss(x, y) == exact.renyi(2.0, x, y) == math.inf
    else:
        level = float(max(losses))
        assert close(exact.privacy_loss(x, y), max(losses))
        assert not spectrum(exact, [level, level * 1.01], x, y).any()
        for order in ORDERS:
            a = Decimal(order)
            terms = [
                u * ((a - 1) * loss).exp() for (u, _), loss in zip(possible, losses, strict=True)
            ]
            assert close(exact.renyi(order, x, y), sum(terms).ln() / (a - 1))
    finite = sorted({abs(loss) for loss in losses if loss.is_finite()} | {Decimal(0)})
    for low, high in pairwise([*finite, 2 * finite[-1] + 1]):  # a claim between any two losses
        if high - low < high / 100:
            continue  # a loss's own rounding would show
        claim = float((low + high) / 2)
        factor = Decimal(claim).exp()
        delta = sum(max(a - factor * b, Decimal(0)) for a, b in zip(p, q, strict=True))
        assert close(spectrum(exact, [claim], x, y)[0], delta, 1e-9) or delta < RARE

"""The tester of dp-auditorium by maximum mean discrepancy: Kong and others 2023."""

from __future__ import annotations

import math

import numpy as np

name = "MMD tester"
needs = {"claims": ["pure", "approximate"], "outputs": ["scalar", "index", "bits", "vector"]}


def lower_bound(x, y, claim, alpha, rng):
    """Bound the squared discrepancy of both sides from below by means over quadruples of draws.

    A kernel of at most 1 has a discrepancy of at most the sum of |P - Q|, which is at most
    exp(epsilon) - 1 + 2 delta. A Gaussian kernel has a width of one deviation of each entry in the
    first tenth of the draws; the others are used once each. The margins are Hoeffding's and
    Maurer and Pontil's, each at half of alpha.
    """
    if claim.bits:
        x, y = (side[:, None] >> np.arange(claim.bits) & 1 for side in (x, y))
    x, y = (side.reshape(len(side), -1).astype(float) for side in (x, y))
    first = max(len(x) // 10, 2)
    scale = np.concatenate([x[:first], y[:first]]).std(0) * math.sqrt(2 * x.shape[1]) + 1e-300
    n = (len(x) - first) // 2
    (xa, xb), (ya, yb) = ((s[first:][:n] / scale, s[first + n :][:n] / scale) for s in (x, y))

    def kernel(a, b):
        return np.exp(-((a - b) ** 2).sum(1))

    each = kernel(xa, xb) + kernel(ya, yb) - kernel(xa, yb) - kernel(xb, ya)
    worst = math.sqrt(8 * math.log(2 / alpha) / n)  # numbers lie in [-2, 2]
    log = math.log(4 / alpha)
    margin = math.sqrt(2 * each.var(ddof=1) * log / n) + 28 * log / (3 * (n - 1))
    discrepancy = math.sqrt(max(each.mean() - min(worst, margin), 0.0))
    return math.log(max(1 + discrepancy - 2 * claim.delta, 1.0))

"""The histogram tester of dp-auditorium, by Gilbert and McMillan 2018 (arXiv 1806.06427)."""

from __future__ import annotations

import math

import numpy as np

name = "histogram tester"
needs = {"claims": ["pure", "approximate"], "outputs": ["scalar", "index", "bits"]}
CELLS, LEVELS = 20, np.arange(20_001) / 1000


def lower_bound(x, y, claim, alpha, rng):
    """Find the largest level of a grid at which a histogram's delta is above the claimed one.

    Whole numbers are cells; of others a tenth of the draws cuts the range in equal parts. The error
    of the frequencies is bounded by its mean and by McDiarmid's margin, at half of alpha for each
    direction.
    """
    if x.dtype.kind == "f":
        first = max(len(x) // 10, 2)
        low, high = (f([f(x[:first]), f(y[:first])]) for f in (np.min, np.max))
        x, y = (np.clip(s[first:], low, high) for s in (x, y))
        x, y = (((s - low) / (high - low + 1e-300) * (CELLS - 1)).astype(int) for s in (x, y))
    n, (_, codes) = len(x), np.unique(np.concatenate([x, y]), return_inverse=True)
    p, q = (np.bincount(side, minlength=codes.max() + 1) / n for side in (codes[:n], codes[n:]))
    scales, best = np.exp(LEVELS), 0.0
    for a, b in ((p, q), (q, p)):
        delta = np.maximum(a - scales[:, None] * b, 0.0).sum(1)
        error = (np.sqrt(a).sum() + scales * np.sqrt(b).sum()) * 2 / math.sqrt(n)
        error += 6 * (1 + scales) * math.sqrt(math.log(8 / alpha) / 2 / n)
        above = delta - error > claim.delta
        best = max(best, LEVELS[(~above).argmax() - 1] if above[0] else 0.0)
    return best

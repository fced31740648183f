"""MPL of askin2022 (Algorithms 3 and 4) in plain NumPy and SciPy: what a reader would write."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

name = "textbook MPL"
needs = {"claims": ["pure"], "outputs": ["scalar", "index", "bits"]}
promises = "asymptotic"


def lower_bound(x, y, claim, alpha, rng):
    """Bound the maximum privacy loss at an output that two sevenths of the draws choose."""
    n = 2 * x.size // 7
    if x.dtype.kind == "f":
        return _of_densities(x, y, n, alpha)
    return _of_frequencies(x, y, n, alpha)


def _of_densities(x: Any, y: Any, n: int, alpha: float, floor: float = 1e-3) -> float:
    from scipy.stats import gaussian_kde, norm

    both = np.concatenate([x[:n], y[:n]])
    points = np.linspace(*np.quantile(both, [0.01, 0.99]), 1001)
    f, g = (np.maximum(gaussian_kde(values[:n])(points), floor) for values in (x, y))
    t = points[np.argmax(np.abs(np.log(f / g)))]
    fresh, h = x.size - n, min(x.std(), y.std()) * (x.size - n) ** -0.3
    f, g = (max(np.mean(norm.pdf((values[n:] - t) / h)) / h, floor) for values in (x, y))
    sigma = math.sqrt((1 / f + 1 / g) / (2 * math.sqrt(math.pi)))
    return max(abs(math.log(f / g)) + norm.ppf(alpha) * sigma / math.sqrt(fresh * h), 0.0)


def _of_frequencies(x: Any, y: Any, n: int, alpha: float, floor: float = 1e-3) -> float:
    from scipy.stats import norm

    values, which = np.unique(np.concatenate([x[:n], y[:n]]), return_inverse=True)
    shares = (np.bincount(side, minlength=values.size) / n for side in (which[:n], which[n:]))
    f, g = (np.maximum(share, floor) for share in shares)
    t = values[np.argmax(np.abs(np.log(f / g)))]
    f, g = (max(np.mean(values[n:] == t), floor) for values in (x, y))
    sigma = math.sqrt(max(1 / f + 1 / g - 2, 0.0))
    return max(abs(math.log(f / g)) + norm.ppf(alpha) * sigma / math.sqrt(x.size - n), 0.0)

"""Samplers in plain NumPy: what a reader would write."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

Data = Mapping[str, Any]


def truncated_laplace(data: Data) -> Any:
    """Laplace noise of scale 1 around .3 within [0, 1], by inverting its distribution function."""
    x, rng = 0.3, np.random.default_rng([data["seed"], 1])
    p = rng.random(data["n"])
    mass = 2 - math.exp(-x) - math.exp(-(1 - x))
    at_x = (1 - math.exp(-x)) / mass
    sign = np.sign(p - at_x)
    return x - sign * np.log(1 + sign * (1 - math.exp(-x) - p * mass))


def noisy_max(data: Data) -> Any:
    """All noise of all queries at once; the index of the largest."""
    rng = np.random.default_rng([data["seed"], 1])
    return np.argmax(1 + rng.laplace(0, 2 / 0.7, (data["n"], 6)), axis=1)


def sparse_vector(data: Data) -> Any:
    """SVT1, query after query, of all draws at once, stopping at the first positive."""
    rng, n, queries, scale = np.random.default_rng([data["seed"], 1]), data["n"], 10, 2 / 0.7
    bar = 1 + rng.laplace(0, scale, n)
    outputs, running = np.zeros(n, np.int64), np.ones(n, bool)
    for i in range(queries):
        above = running & (1 + rng.laplace(0, 2 * scale, n) >= bar)
        outputs |= above.astype(np.int64) << i
        running &= ~above
    return outputs

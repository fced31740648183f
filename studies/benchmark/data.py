"""The data of implementations: arrays of both sides, and the options of the task."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from epsilometer.densities.histogram import ladder
from epsilometer.mechanisms.noisy_max import ReportNoisyMax
from epsilometer.mechanisms.sparse_vector import SparseVector
from epsilometer.mechanisms.truncated import TruncatedLaplace

Arrays = dict[str, Any]
Rng = np.random.Generator
QUERIES = 10


def laplace(n: int, rng: Rng, distance: float = 1.0, unit: float = 1.0, **_: Any) -> Arrays:
    """Laplace noise of scale 1 around 0 and around the distance."""
    return {"x": unit * rng.laplace(0, 1, n), "y": unit * rng.laplace(distance, 1, n)}


def smooth(n: int, rng: Rng, **_: Any) -> Arrays:
    """Laplace noise, with a bandwidth and the ends of a grid."""
    sides = laplace(n, rng)
    x = sides["x"]
    ends = {"low": x.min(), "high": x.max()}
    return {**sides, **ends, "bandwidth": 0.9 * x.std() * n**-0.2}


def geometric(n: int, rng: Rng, distance: float, **_: Any) -> Arrays:
    """Two-sided geometric noise around 0 and 1."""
    stop = -math.expm1(-distance)
    return {
        name: (rng.geometric(stop, n) - rng.geometric(stop, n) + side).astype(np.int32)
        for side, name in enumerate("xy")
    }


def noisy_max(n: int, rng: Rng, distance: float, **_: Any) -> Arrays:
    """The index of the largest of six noisy counts."""
    sides = [[1] * 6, [0, *[2] * 5]]
    mechanism = ReportNoisyMax(distance)
    return {name: mechanism.sample(x, n, rng) for name, x in zip("xy", sides, strict=True)}


def sparse_vector(n: int, rng: Rng, distance: float, **_: Any) -> Arrays:
    """Answers of SVT6, which is not private, as bits of an integer."""
    sides = [[1] * QUERIES, [0] * (QUERIES // 2) + [2] * (QUERIES // 2)]
    mechanism = SparseVector(distance, 6, queries=QUERIES)
    drawn = {name: mechanism.sample(x, n, rng) for name, x in zip("xy", sides, strict=True)}
    return {"bits": QUERIES, **drawn}


def in_unit_interval(n: int, rng: Rng, **_: Any) -> Arrays:
    """Truncated Laplace noise, to be counted at every prefix that a search looks at."""
    return {"x": TruncatedLaplace(1.0).sample(0.3, n, rng), "prefixes": ladder(n)}


def nothing(n: int, rng: Rng, **_: Any) -> Arrays:
    """How many draws are wanted."""
    return {"n": n}

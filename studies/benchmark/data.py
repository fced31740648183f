"""The data of implementations: arrays of both sides, and the options of the task."""

from __future__ import annotations

from typing import Any

import numpy as np
from mechanisms import MECHANISMS

from epsilometer.densities.histogram import ladder
from epsilometer.mechanisms.truncated import TruncatedLaplace

Arrays = dict[str, Any]
Rng = np.random.Generator


def laplace(n: int, rng: Rng, distance: float = 1.0, unit: float = 1.0, **_: Any) -> Arrays:
    """Laplace noise of scale 1 around 0 and around the distance."""
    return {"x": unit * rng.laplace(0, 1, n), "y": unit * rng.laplace(distance, 1, n)}


def smooth(n: int, rng: Rng, **_: Any) -> Arrays:
    """Laplace noise, with a bandwidth and the ends of a grid."""
    sides = laplace(n, rng)
    x = sides["x"]
    ends = {"low": x.min(), "high": x.max()}
    return {**sides, **ends, "bandwidth": 0.9 * x.std() * n**-0.2}


def in_unit_interval(n: int, rng: Rng, **_: Any) -> Arrays:
    """Truncated Laplace noise, to be counted at every prefix that a search looks at."""
    return {"x": TruncatedLaplace(1.0).sample(0.3, n, rng), "prefixes": ladder(n)}


def nothing(n: int, rng: Rng, **_: Any) -> Arrays:
    """How many draws are wanted."""
    return {"n": n}


def published(n: int, rng: Rng, mechanism: str, **_: Any) -> Arrays:
    """A mechanism of mechanisms.py."""
    draw, pair, bits = MECHANISMS[mechanism]
    drawn = {name: draw(x, n, rng) for name, x in zip("xy", pair, strict=True)}
    return drawn | ({"bits": bits} if bits else {})

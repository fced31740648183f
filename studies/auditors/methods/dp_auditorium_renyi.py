"""The Rényi tester of dp-auditorium: Kong, Munoz Medina, Ribero and Syed 2023, Algorithm 2."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

name = "Rényi tester"
needs = {"claims": ["pure", "renyi"], "outputs": ["scalar", "index", "bits", "vector"]}
BOUND, RATE, BATCH = 1.0, 0.001, 100


def lower_bound(x, y, claim, alpha, rng):
    """Bound the divergence by its variational form, at half of alpha in each direction.

    Half of the draws train a function g of values in [-1, 1], a network of two layers of 100; the
    others bound order / (order - 1) log E exp((order - 1) g(x)) - log E exp(order g(y)). A pure
    level is tested by order 2: it is at least the divergence, and the root of a fourth of it.
    """
    if claim.bits:
        x, y = (side[:, None] >> np.arange(claim.bits) & 1 for side in (x, y))
    x, y = (side.reshape(len(side), -1).astype(float) for side in (x, y))
    n, left = len(x) // 2, len(x) - len(x) // 2
    centre, scale = np.mean(x[:n], 0), np.std(x[:n], 0) + 1e-300
    x, y = (((side - centre) / scale).astype(np.float32) for side in (x, y))
    order = 2.0 if claim.notion == "pure" else claim.order
    gamma = math.sqrt(2 * math.log(4 / alpha) * math.exp(2 * order * BOUND) / left)
    if gamma >= 1:
        return 0.0
    margin = math.log((1 + gamma) / (1 - gamma))
    best = 0.0
    for a, b in ((x, y), (y, x)):
        g = _trained(a[:n], b[:n], order, rng)
        best = max(best, _divergence(g(a[n:]), g(b[n:]), order)[0] - margin)
    return max(best, math.sqrt(best / (2 * order))) if claim.notion == "pure" else best


def _divergence(of_a: Any, of_b: Any, order: float) -> tuple[float, Any, Any]:
    """Return the variational form for these values of g, and its slopes in them."""
    more, less = np.exp((order - 1) * of_a), np.exp(order * of_b)
    value = order / (order - 1) * math.log(more.mean()) - math.log(less.mean())
    return value, order * more / more.sum(), -order * less / less.sum()


def _trained(a: Any, b: Any, order: float, rng: Any) -> Any:
    """Climb the variational form by Adam."""
    sizes = [a.shape[1], 100, 100, 1]
    widths = list(pairwise(sizes))
    ends = [math.sqrt(6 / sum(width)) for width in widths]
    weights = [rng.uniform(-e, e, width) for e, width in zip(ends, widths, strict=True)]
    weights = [w for pair in zip(weights, map(np.zeros, sizes[1:]), strict=True) for w in pair]
    weights = [w.astype(np.float32) for w in weights]
    means, squares = ([np.zeros_like(w) for w in weights] for _ in range(2))

    def layers(z: Any) -> list[Any]:
        values = [z]
        for w, shift in zip(weights[::2], weights[1::2], strict=True):
            values.append(np.tanh(values[-1] @ w + shift))
        return values

    steps = [slice(i, i + BATCH) for i in range(0, len(a) - BATCH + 1, BATCH)]
    for step, batch in enumerate(steps, 1):
        values = layers(np.concatenate([a[batch], b[batch]]))
        g = BOUND * values[-1][:, 0]
        slope = BOUND * np.concatenate(_divergence(g[:BATCH], g[BATCH:], order)[1:])[:, None]
        for i in (2, 1, 0):
            slope = slope * (1 - values[i + 1] ** 2)
            slopes = {2 * i: values[i].T @ slope, 2 * i + 1: slope.sum(0)}
            slope = slope @ weights[2 * i].T
            for j, rise in slopes.items():
                means[j] = 0.9 * means[j] + 0.1 * rise
                squares[j] = 0.999 * squares[j] + 0.001 * rise**2
                root = np.sqrt(squares[j] / (1 - 0.999**step)) + 1e-7
                weights[j] = weights[j] + RATE * means[j] / (1 - 0.9**step) / root
    return lambda z: BOUND * layers(z)[-1][:, 0]

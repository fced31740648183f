"""Samplers in plain NumPy: what a reader would write."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace
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
    """Report Noisy Max of six answers 1, at epsilon .7."""
    rng = np.random.default_rng([data["seed"], 1])
    return report_noisy_max(SimpleNamespace(scale=2 / 0.7), [1] * 6, data["n"], rng)


def sparse_vector(data: Data) -> Any:
    """SVT1 on ten answers 1, which stops at the first positive, at epsilon .7."""
    rng, scale = np.random.default_rng([data["seed"], 1]), 2 / 0.7
    svt1 = SimpleNamespace(noise_scales=(scale, 2 * scale), threshold=1, stops=True)
    return sparse_vector_bits(svt1, [1] * 10, data["n"], rng)


# --- of the papers' mechanisms m: n outputs on the input x ----------------------------------------


def laplace(m: Any, x: Any, n: int, rng: Any) -> Any:
    """Add Laplace noise to each number."""
    return np.asarray(x) + rng.laplace(0, m.scale, (n, *np.shape(x)))


def gaussian(m: Any, x: Any, n: int, rng: Any) -> Any:
    """Add Gaussian noise to each number."""
    return np.asarray(x) + rng.normal(0, m.sigma, (n, *np.shape(x)))


def report_noisy_max(m: Any, x: Any, n: int, rng: Any) -> Any:
    """Choose the index of the largest noisy answer."""
    return np.argmax(laplace(m, x, n, rng), axis=1)


def continuous_noisy_max(m: Any, x: Any, n: int, rng: Any) -> Any:
    """Choose the largest noisy answer."""
    return laplace(m, x, n, rng).max(axis=1)


def sparse_vector_bits(m: Any, x: Any, n: int, rng: Any) -> Any:
    """Answer query after query, of all draws at once."""
    rho_scale, nu_scale = m.noise_scales
    bar = m.threshold + rng.laplace(0, rho_scale, n)
    bits, running = np.zeros(n, np.int64), np.ones(n, bool)
    for i, answer in enumerate(x):
        above = running & (answer + (rng.laplace(0, nu_scale, n) if nu_scale else 0.0) >= bar)
        bits |= above.astype(np.int64) << i
        if m.stops:
            running &= ~above
    return bits


def first_above(m: Any, x: Any, n: int, rng: Any) -> Any:
    """Return the number of the first query above, or that of all queries."""
    bits = sparse_vector_bits(m, x, n, rng)
    return np.where(bits > 0, np.log2(np.maximum(bits, 1)).astype(int), m.queries)


def noisy_sum(m: Any, x: Any, n: int, rng: Any) -> Any:
    """Add noise to the sum of the people that a draw includes."""
    people = np.asarray(x, float)
    if m.included < 1:
        sums = (rng.random((n, people.size)) < m.included) @ people
    else:
        sums = np.full(n, people.sum())
    return sums + getattr(rng, {"gaussian": "normal"}.get(m.noise, m.noise))(0, 1 / m.epsilon, n)


def randomized_bits(m: Any, x: Any, n: int, rng: Any) -> Any:
    """Flip bits, and permute them where they are shuffled."""
    bits = np.asarray(x) ^ (rng.random((n, len(x))) >= m.truthful)
    return (rng.permuted(bits, axis=1) if m.shuffled else bits) @ (1 << np.arange(len(x)))


def gradient_descent(m: Any, x: Any, n: int, rng: Any) -> Any:
    """Go down step after step, of all draws at once."""
    theta, mean = np.zeros(n), np.mean(x)
    for _ in range(m.steps):
        theta += m.rate * (mean - theta) + rng.normal(0, m.step_noise, n)
    return theta


Sampler = Callable[[Any, Any, int, Any], Any]
SAMPLERS: dict[str, Sampler] = {  # those of other mechanisms are NumPy alone
    **dict.fromkeys(("laplace", "laplace_vector", "noisy_histogram"), laplace),
    **dict.fromkeys(("gaussian", "gaussian_vector"), gaussian),
    "report_noisy_max": report_noisy_max,
    "continuous_noisy_max": continuous_noisy_max,
    **dict.fromkeys(("sparse_vector", "sparse_vector_bits"), sparse_vector_bits),
    "sparse_vector_first": first_above,
    "noisy_sum": noisy_sum,
    "randomized_bits": randomized_bits,
    "noisy_gradient_descent": gradient_descent,
}

"""The mechanisms of audits, each with a pair of inputs; most are those of other tools' papers.

DP-Sniper's suite (Bichsel et al. 2021), which holds StatDP's (Ding et al. 2018), at epsilon .1 but
where an entry says another, on the input pattern that shows most; the mean of dp-auditorium (Kong
et al. 2023); and the scores of canaries that jax-privacy takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from epsilometer.mechanisms.finite import RandomizedBits
from epsilometer.mechanisms.noisy_max import NoisyMaxIndex, NoisyMaxValue, ReportNoisyMax
from epsilometer.mechanisms.real_line import Laplace, LaplaceVector
from epsilometer.mechanisms.sparse_vector import SparseVector

Rng = np.random.Generator
Draw = Callable[[Any, int, Rng], Any]
BELOW, ABORTED = -1000.0, -2000.0  # for a query without a number, as DP-Sniper has it


def geometric(x: int, n: int, rng: Rng, level: float = 0.7) -> Any:
    """Add two-sided geometric noise."""
    stop = -math.expm1(-level)
    return (rng.geometric(stop, n) - rng.geometric(stop, n) + x).astype(np.int32)


def truncated_geometric(x: int, n: int, rng: Rng) -> Any:
    """Count five people with geometric noise of base 1 + 1/8, clipped (Balcer and Vadhan 2018)."""
    return np.clip(geometric(x, n, rng, math.log(9 / 8)), 0, 5)


def prefix_sums(x: Sequence[int], n: int, rng: Rng) -> Any:
    """Return all sums of the first answers, each with noise (Wang et al. 2019)."""
    return np.cumsum(x + rng.laplace(0, 10, (n, len(x))), axis=1)


def numbers_above(rho: float, nu: float, fresh: float, count: int, below: float) -> Draw:
    """Release the numbers that are above a noisy threshold of 1, until there are ``count``.

    ``rho`` and ``nu`` are the scales of the noise of the threshold and of the answers; numbers have
    noise of scale ``fresh``, or where that is 0 the noise of their comparison.
    """

    def draw(x: Sequence[int], n: int, rng: Rng) -> Any:
        compared = x + rng.laplace(0, nu, (n, len(x)))
        released = x + rng.laplace(0, fresh, compared.shape) if fresh else compared
        above = compared >= 1 + rng.laplace(0, rho, (n, 1))
        stopped = np.cumsum(above, axis=1) - above >= count
        return np.where(stopped, ABORTED, np.where(above, released, below))

    return draw


def mean(x: Sequence[float], n: int, rng: Rng) -> Any:
    """Release a mean with noise of its number of rows, which is not private (Kong et al. 2023)."""
    return np.mean(x) + rng.laplace(0, 1 / len(x), n)


def gaussian(x: Any, n: int, rng: Rng) -> Any:
    """Add noise of standard deviation 1 to a score or on each entry of a gradient."""
    return x + rng.normal(size=(n, *np.shape(x)))


def kept(chance: float) -> Draw:
    """Keep each of 20 bits with a chance."""
    return RandomizedBits(math.log(chance / (1 - chance)), people=20).sample


COUNTS = [1] * 5, [0, 1, 1, 1, 1]
LARGEST = [1] * 5, [0, 2, 2, 2, 2]
ALL = [1] * 5, [2] * 5
HALVES = [1] * 10, [2] * 5 + [0] * 5
WORDS = [1] * 4 + [0] * 16, [0] * 4 + [1] * 4 + [0] * 12  # Bloom filters of four hashes
MECHANISMS: dict[str, tuple[Draw, tuple[Any, Any], int]] = {  # a pair, the bits of an output
    "geometric": (geometric, (0, 1), 0),
    "noisy-max": (ReportNoisyMax(0.7).sample, ([1] * 6, [0, *[2] * 5]), 0),
    "sparse-vector": (SparseVector(0.7, 6).sample, ([1] * 10, [0] * 5 + [2] * 5), 10),
    "laplace": (Laplace(0.1).sample, (0, 1), 0),
    "truncated-geometric": (truncated_geometric, (2, 1), 0),
    "histogram-1": (LaplaceVector(0.1, 5).sample, COUNTS, 0),
    "histogram-2": (LaplaceVector(10.0, 5).sample, COUNTS, 0),
    "noisy-max-1": (ReportNoisyMax(0.1, 5).sample, LARGEST, 0),
    "noisy-max-2": (NoisyMaxIndex(0.05, "exponential", 5).sample, LARGEST, 0),
    "noisy-max-3": (NoisyMaxValue(0.05, queries=5).sample, ALL, 0),
    "noisy-max-4": (NoisyMaxValue(0.05, "exponential", 5).sample, ALL, 0),
    "svt-1": (SparseVector(0.1, 1, threshold=0.5).sample, HALVES, 10),
    "svt-2": (SparseVector(0.1, 2).sample, HALVES, 10),
    "svt-3": (numbers_above(20, 20, 0, 1, BELOW), HALVES, 0),
    "svt-4": (SparseVector(0.1, 4).sample, HALVES, 10),
    "svt-5": (SparseVector(0.1, 5).sample, HALVES, 10),
    "svt-6": (SparseVector(0.1, 6).sample, HALVES, 10),
    "rappor": (kept(0.5125), WORDS, 20),
    "one-time-rappor": (kept(0.525), WORDS, 20),
    "laplace-parallel": (LaplaceVector(0.005, 20).sample, ([0] * 20, [1] * 20), 0),
    "prefix-sum": (prefix_sums, ([1] * 10, [2] * 10), 0),
    "numerical-svt": (numbers_above(30, 120, 60, 2, 0.0), HALVES, 0),
    "mean": (mean, ([1.0], [1.0, 0.0]), 0),
    "scores": (gaussian, (0.0, 1.0), 0),
    "gradient": (gaussian, ([0.0] * 10, [1.0] + [0.0] * 9), 0),
}

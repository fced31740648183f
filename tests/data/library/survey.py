"""A small library of private statistics: a dozen functions, of which five have a planted fault."""

import math
from collections import Counter

import numpy as np

GRID = 2.0**20


def _noise(rng, scale):
    """Two-sided geometric noise on whole numbers."""
    stop = -math.expm1(-1 / scale)
    return int(rng.geometric(stop) - rng.geometric(stop))


def _grid(real):
    return float(np.round(real * GRID) / GRID)


def count(rows, rng):
    """How many rows there are; epsilon = 1."""
    return len(rows) + _noise(rng, 1)


def total(rows, rng):
    """The sum of ages from 0 to 100; epsilon = 1. Fault: the noise is for 60."""
    return sum(min(max(row, 0), 100) for row in rows) + _noise(rng, 60)


def answer(bit, rng):
    """Randomised response; epsilon = 1."""
    return bit if rng.random() < math.e / (1 + math.e) else 1 - bit


def histogram(rows, rng):
    """A noisy count of each group; epsilon = 1. Fault: only groups that are there have one."""
    return {group: times + _noise(rng, 1) for group, times in Counter(rows).items()}


def full_histogram(rows, rng):
    """A noisy count of each group that there may be; epsilon = 1."""
    times = Counter(rows)
    return {group: times[group] + _noise(rng, 1) for group in ("a", "b", "c")}


class Meter:
    """A noisy count; epsilon = 1. Fault: each meter has the same noise."""

    def __init__(self, seed=42):
        self._rng = np.random.default_rng(seed)

    def __call__(self, rows):
        return len(rows) + _noise(self._rng, 1)


def level(x, rng):
    """A real between 0 and 1; epsilon = 1. Fault: low bits of the noise tell the number."""
    return float(x + rng.laplace(0, 1))


def rounded_level(x, rng):
    """The same, on a grid that does not depend on the number."""
    return _grid(x + rng.laplace(0, 1))


def mean(rows, rng):
    """The mean of four numbers from 0 to 1; epsilon = 1. Fault: it is clamped after division."""
    return _grid(min(max(sum(rows) / 4, 0), 1) + rng.laplace(0, 1 / 4))


def clamped_mean(rows, rng):
    """The mean of four numbers that are clamped to 0 and 1 before; epsilon = 1."""
    return _grid(sum(min(max(row, 0), 1) for row in rows) / 4 + rng.laplace(0, 1 / 4))


def favourite(scores, rng):
    """The name of the largest score, by the exponential mechanism; epsilon = 1."""
    weights = np.exp((np.array(scores) - max(scores)) / 2)
    return "abcdef"[rng.choice(len(scores), p=weights / weights.sum())]


def group_size(rows, rng):
    """The noisy size of a group above 4, or None; (epsilon, delta) = (1, e^-4)."""
    if not rows:
        return None
    noisy = len(rows) + _noise(rng, 1)
    return noisy if noisy > 4 else None

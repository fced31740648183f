"""Mechanisms of one's own, for tests."""

import numpy as np
from shared import clipped


def laplace(x, size, rng, epsilon, clip):
    return clipped(x, clip) + rng.laplace(0, clip / epsilon, size)


def vector(x, size, rng):
    return len(x) + np.sum(x) + rng.normal(0, 3, (size, 2))

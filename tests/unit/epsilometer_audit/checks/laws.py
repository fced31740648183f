"""Laws of outputs that tests of the checks draw from; all are honest."""

from collections.abc import Callable
from typing import Any

import numpy as np

Law = Callable[[Any, int, int], Any]  # of input, number of draws and seed


def rng(seed):
    return np.random.default_rng(seed)


def words(x, size, seed):
    return rng(seed).choice(["a", "b", "cc"], size, p=[0.7, 0.29, 0.01]).tolist()


def mixed(x, size, seed):
    values = rng(seed).random(size).tolist()
    for i, share in enumerate(values):
        if share < 0.1:
            values[i] = None
        elif share < 0.2:
            values[i] = float("nan")
        elif share < 0.3:
            values[i] = "w"
    return values


HONEST: dict[str, Law] = {
    "laplace": lambda x, n, s: rng(s).laplace(x, 1, n),
    "coin": lambda x, n, s: rng(s).random(n) < 0.5 + 0.2 * x,
    "one in a thousand": lambda x, n, s: (rng(s).random(n) < 1e-3 * (1 + x)).astype(int),
    "atom and rare reals": lambda x, n, s: rng(s).random(n) * (rng(s + 1).random(n) < 0.02),
    "no noise": lambda x, n, s: np.full(n, float(x)),
    "words": words,
    "geometric": lambda x, n, s: rng(s).geometric(0.03, n),
    "mixed": mixed,
    "vectors": lambda x, n, s: rng(s).normal(x, 1, (n, 8)),
    "records": lambda x, n, s: [{"a": a, "b": a > 1} for a in rng(s).normal(x, 1, n).tolist()],
}


def entropic(x, size, seed):
    """Laplace noise that does not follow the seed."""
    return np.random.default_rng().laplace(x, 1, size)


def chain(r):
    """Return a law of normal noise with an autocorrelation r."""

    def draw(x, size, seed):
        noise = rng(seed).normal(0, 1, size)
        for i in range(1, size):
            noise[i] = r * noise[i - 1] + np.sqrt(1 - r * r) * noise[i]
        return x + noise

    return draw


class Drifting:
    """A counter that moves or stretches the noise, by so much in 2000 draws."""

    def __init__(self, shift=0.0, stretch=0.0):
        self.shift = shift
        self.stretch = stretch
        self.drawn = 0

    def __call__(self, x, size, seed):
        passed = (self.drawn + np.arange(size)) / 2000
        self.drawn += size
        return x + self.shift * passed + (1 + self.stretch * passed) * rng(seed).laplace(0, 1, size)

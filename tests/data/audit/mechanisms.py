"""Mechanisms to audit: some keep their promise of epsilon = 1, some do not, some are none."""

import numpy as np

kept = 0.0


def noisy_sum(x, size, rng):
    """Right: a sum of answers of 0 or 1, with noise for epsilon = 1; its low bits tell nothing."""
    return np.round((sum(x) + rng.laplace(0, 1, size)) * 2**20) / 2**20


def noisy_mean(x, size, rng):
    """Wrong: the noise is that of a mean, but half of what is needed."""
    return np.round((sum(x) + rng.laplace(0, 0.5, size)) / len(x) * 2**20) / 2**20


def answer(x, rng):
    """Right: one draw a call, a yes or no that is true with probability e / (1 + e)."""
    return x if rng.random() < 0.7310 else 1 - x


def word(x, rng):
    """Wrong: says a word, and the truth too often."""
    return ["no", "yes"][x if rng.random() < 0.9 else 1 - x]


def hostile(x, rng):
    """Answers with what a page or a terminal might believe in."""
    return "<script>alert(1)</script>$\\frac\x1b[2J" if rng.random() < 0.3 + x / 2 else "]]>&amp;\0"


# --- none -----------------------------------------------------------------------------------------


def stuck(x, size, rng):
    """A constant seed."""
    return x + np.random.default_rng(1).laplace(size=size)


def drifting(x, size, rng):
    """What it says depends on how often it was asked before."""
    global kept  # noqa: PLW0603
    kept += 5
    return x + kept + rng.laplace(size=size)


def broken(x, size, rng):
    raise KeyError(x)


def later(x, size, rng):
    """Fails when many draws are asked for."""
    if size > 200:
        raise MemoryError("too many")
    return x + rng.laplace(size=size)

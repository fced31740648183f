"""Mechanisms that accountants count: their draws, and a lower bound of their level.

A mechanism is some steps of noise on a sum of rows of at most 1 in absolute value, each row in a
step with probability ``rate``. It tells the log-likelihood ratio of all its steps, in cells.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
BUCKETS = 4  # of randomised response
STEP, SIZE = 1e-4, 2**21  # of losses, and their number
NOISE = 1e-15  # of a Fourier transform
CDFS: dict[str, Callable[[Floats, float], Floats]] = {
    "gaussian": lambda y, noise: stats.norm.cdf(y, 0, noise),
    "laplace": lambda y, noise: stats.laplace.cdf(y, 0, noise),
    "geometric": lambda y, noise: stats.dlaplace.cdf(np.floor(y), 1 / noise),
}


@cache
def edges(law: str, noise: float) -> Floats:
    """Return the edges of the cells of noise: between whole numbers, or fine."""
    if law == "geometric":
        return np.arange(-40.5, 40)
    return np.linspace(-1 - 30 * noise, 1 + 30 * noise, 20001)


@cache
def masses(law: str, noise: float, rate: float, value: float) -> Floats:
    """Return the probability of each cell where the sum is ``value``, if it is sampled."""
    if law == "response":
        return noise / BUCKETS + (1 - noise) * np.eye(BUCKETS)[int(value > 0)]
    inner, result = edges(law, noise), np.zeros(1)
    for share, shift in ((rate, value), (1 - rate, 0.0)):  # noise is symmetric
        below, above = (CDFS[law](sign * (inner - shift), noise) for sign in (1, -1))
        left, right = np.diff(below, prepend=0, append=1), -np.diff(above, prepend=1, append=0)
        result = result + share * np.where(np.append(inner, np.inf) <= shift, left, right)
    return result


def ends(relation: str) -> tuple[float, float]:
    """Return the two sums of neighbours that differ most."""
    return (1, -1) if relation == "REPLACE_ONE" else (1, 0)


def losses(law: str, noise: float, rate: float, relation: str) -> Floats:
    """Return the log-likelihood ratio in each cell, 0 where neither has any mass."""
    p, q = (np.maximum(masses(law, noise, rate, end), 1e-300) for end in ends(relation))
    return np.log(p) - np.log(q)


def draws(
    rows: list[float],
    size: int,
    rng: np.random.Generator,
    law: str = "gaussian",
    noise: float = 1,
    rate: float = 1,
    steps: int = 1,
    relation: str = "ADD_OR_REMOVE_ONE",
    **_: object,
) -> Floats:
    """Draw the log-likelihood ratio of the steps; other parameters are of the claim."""
    values = np.clip(np.asarray(rows, float), -1, 1)
    total = np.zeros(size)
    for kind in law.split("+"):
        sums = (rng.random((size, steps, len(values))) < rate) @ values
        if kind == "response":
            other = rng.integers(0, BUCKETS, sums.shape)
            cells = np.where(rng.random(sums.shape) < noise, other, sums > 0)
        else:
            cells = np.searchsorted(edges(kind, noise), sums + drawn(kind, noise, sums.shape, rng))
        total += losses(kind, noise, rate, relation)[cells].sum(axis=1)
    return np.round(total, 6)


def one() -> float:
    """Return the epsilon for which noise is calibrated."""
    return 1.0


def drawn(law: str, noise: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Draw noise."""
    if law == "geometric":
        p = -np.expm1(-1 / noise)
        return rng.geometric(p, shape) - rng.geometric(p, shape)
    return {"gaussian": rng.normal, "laplace": rng.laplace}[law](0, noise, shape)


def least(
    delta: float,
    law: str = "gaussian",
    noise: float = 1,
    rate: float = 1,
    steps: int = 1,
    relation: str = "ADD_OR_REMOVE_ONE",
) -> float:
    """Return a lower bound of epsilon: each loss is rounded down, and cells tell less than noise.

    It is the exact level but for the rounding, by ``STEP`` for a step.
    """
    return max(_least(delta, law, noise, rate, steps, relation, side) for side in (0, 1))


def deltas(
    law: str, noise: float, rate: float, steps: int, relation: str, side: int
) -> tuple[Floats, Floats]:
    """Return the losses above 0 of all steps, ascending, and their probabilities."""
    product = np.ones(SIZE // 2 + 1, complex)
    for kind in law.split("+"):
        loss = losses(kind, noise, rate, relation) * (1, -1)[side]
        place = np.clip(np.floor(loss / STEP), -SIZE // 4, SIZE // 4).astype(int)
        mass = masses(kind, noise, rate, ends(relation)[side])
        product *= np.fft.rfft(np.bincount(place % SIZE, mass, SIZE)) ** steps
    probabilities = np.fft.irfft(product)[: SIZE // 2]
    probabilities[probabilities < NOISE] = 0
    return STEP * np.arange(SIZE // 2), probabilities


def _least(delta: float, *parts: object) -> float:
    values, probabilities = deltas(*parts)  # type: ignore[arg-type]
    above = np.cumsum(probabilities[::-1])[::-1]
    weighted = np.cumsum((probabilities * np.exp(-values))[::-1])[::-1]
    return float(values[(above - np.exp(values) * weighted > delta).sum()]) - 2 * STEP

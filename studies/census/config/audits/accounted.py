"""Mechanisms that accountants count: a lower bound of their level, and what depends on it.

A mechanism is some steps of noise on a sum of rows of at most 1 in absolute value, each row in a
step with probability ``rate``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
BUCKETS = 4  # of randomised response
STEP, SIZE = 1e-4, 2**21  # of losses, and their number
NOISE = 1e-15  # of a Fourier transform
DELTA = 1e-5  # at which accountants are asked for epsilon
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


def told(level: Callable[..., float], right: Callable[..., float]) -> Callable[..., NDArray[Any]]:
    """Return a mechanism that tells its input where a level is below the right one, else nothing.

    So a claim about it is violated by an accountant's mistake, and by nothing else. Both functions
    get those of the mechanism's parameters that they name, and ``delta``.
    """

    @cache
    def is_low(**parameters: Any) -> bool:
        return ask(level, parameters) < ask(right, parameters)

    def mechanism(
        rows: list[float], size: int, rng: np.random.Generator, **parameters: Any
    ) -> NDArray[Any]:
        """Draw a coin, and the sum of the rows where the level is too low."""
        total = round(sum(rows), 6) if is_low(**parameters) else 0
        return rng.integers(0, 2, size) + 2 * total

    return mechanism


def ask(function: Callable[..., float], parameters: dict[str, Any]) -> float:
    """Return what a function returns for those of the parameters that it names."""
    known = {"delta": DELTA, **parameters}
    return function(
        **{name: known[name] for name in inspect.signature(function).parameters if name in known}
    )


def one() -> float:
    """Return the epsilon for which noise is calibrated."""
    return 1.0


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

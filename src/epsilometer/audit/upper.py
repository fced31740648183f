"""Upper confidence bounds, where the provider's claims about the outputs allow any.

No number of draws of a black box bounds its level from above (gorla2022, Section III): a level may
lie in outputs that are rarer than all that was drawn. Two claims exclude that:

- there are k outcomes, all of which occur: each probability has an exact interval;
- outputs are reals in an interval, with densities that are C-Lipschitz: the density in a cell of
  width w is its probability over w, give or take C w / 2, for a mean and any point of a cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.audit.claims import Claim, Concentrated, Delta, Pure, Renyi
from epsilometer.errors import ArgumentError
from epsilometer.estimators.events import row_codes
from epsilometer.proportions import clopper_pearson

Sample = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Outcomes:
    """Outputs are one of ``number`` values."""

    number: int

    def __post_init__(self) -> None:
        checks.integer("outcomes", self.number, minimum=2)


@dataclass(frozen=True)
class Smooth:
    """Outputs are reals in an interval, and their densities there ``lipschitz``-continuous."""

    support: tuple[float, float]
    lipschitz: float

    def __post_init__(self) -> None:
        checks.interval("support", *self.support)
        checks.positive("lipschitz", self.lipschitz)


def upper_bound(
    samples: Sequence[tuple[Sample, Sample]], claim: Claim, known: Outcomes | Smooth, alpha: float
) -> float | None:
    """Return a number that the level of all pairs exceeds with probability ``alpha`` at most.

    Parameters
    ----------
    samples
        Independent draws of both sides of each pair, of shape ``(n,)`` or ``(n, d)``.
    claim
        The kind of claim; there is no bound for mu-GDP.
    known
        What the provider says of the outputs.
    alpha
        The probability of a bound that is too low.

    Infinity says that the draws are too few; None, that the kind of claim has no such bound.
    """
    found = [_of_pair(x, y, claim, known, alpha / len(samples)) for x, y in samples]
    return None if None in found else max(bound for bound in found if bound is not None)


def _of_pair(
    x: Sample, x_prime: Sample, claim: Claim, known: Outcomes | Smooth, alpha: float
) -> float | None:
    low, high = _limits(x, x_prime, known, alpha)
    if isinstance(claim, Delta) or (isinstance(claim, Pure) and claim.delta > 0):
        if isinstance(known, Smooth):
            return None
        return _with_delta(low, high, claim)
    with np.errstate(divide="ignore"):
        pure = max(float((np.log(high[i]) - np.log(low[1 - i])).max()) for i in (0, 1))
    if isinstance(claim, Pure):
        return max(pure, 0.0)
    if isinstance(claim, Renyi):  # Bun and Steinke 2016, Proposition 3.3
        return max(min(pure, claim.order * pure**2 / 2), 0.0)
    return pure**2 / 2 if isinstance(claim, Concentrated) else None


def _with_delta(low: Floats, high: Floats, claim: Pure | Delta) -> float:
    def deltas(epsilon: float) -> float:
        return max(
            float(np.maximum(high[i] - math.exp(epsilon) * low[1 - i], 0.0).sum()) for i in (0, 1)
        )

    if isinstance(claim, Delta):
        return min(deltas(claim.epsilon), 1.0)
    below, above = 0.0, 1.0
    while deltas(above) > claim.delta:
        above *= 2
        if above > 500:
            return math.inf
    while above - below > 1e-6:
        middle = (below + above) / 2
        below, above = (middle, above) if deltas(middle) > claim.delta else (below, middle)
    return above


def _limits(
    x: Sample, x_prime: Sample, known: Outcomes | Smooth, alpha: float
) -> tuple[Floats, Floats]:
    """Return lower and upper limits of probabilities or densities, of shape ``(2, k)`` each."""
    if isinstance(known, Outcomes):
        codes = _codes(np.concatenate([x, x_prime]))
        seen = int(codes.max()) + 1
        if seen > known.number:
            raise ArgumentError("outcomes", f"must be at least {seen}: so many were seen")
        sides = (codes[: len(x)], codes[len(x) :])
        counts = np.stack([np.bincount(side, None, known.number) for side in sides])
        return _intervals(counts, alpha)
    low_end, high_end = known.support
    for side in (x, x_prime):
        if side.dtype.kind != "f":
            raise ArgumentError("support", "is for outputs with densities; these are no reals")
        if side.ndim != 1 or not ((side >= low_end) & (side <= high_end)).all():
            raise ArgumentError("support", f"[{low_end:g}, {high_end:g}] must hold every output")
    n = min(len(x), len(x_prime))
    # the error of a frequency over w, sqrt(1 / (n w)), and C w / 2 are alike here
    width = (4 / (known.lipschitz**2 * n * (high_end - low_end))) ** (1 / 3)
    cells = max(2, min(math.ceil((high_end - low_end) / width), 10_000))
    edges = np.linspace(low_end, high_end, cells + 1)
    counts = np.stack([np.histogram(side, edges)[0] for side in (x, x_prime)])
    low, high = _intervals(counts, alpha)
    w = (high_end - low_end) / cells
    slack = known.lipschitz * w / 2
    return np.maximum(low / w - slack, 0.0), high / w + slack


def _codes(outputs: Sample) -> NDArray[np.int64]:
    """Return a number from 0 for each output, the same for equal ones, NaN among them."""
    columns = outputs[:, None] if outputs.ndim == 1 else outputs
    codes = [np.unique(column, return_inverse=True)[1] for column in columns.T]
    return np.unique(row_codes(np.stack(codes, axis=1)), return_inverse=True)[1].reshape(-1)


def _intervals(counts: NDArray[np.int64], alpha: float) -> tuple[Floats, Floats]:
    """Return exact intervals that hold all at once."""
    n = counts.sum(axis=1, keepdims=True)
    ends = clopper_pearson(counts, np.broadcast_to(n, counts.shape), 1 - alpha / counts.size)
    return np.asarray(ends[0], float), np.asarray(ends[1], float)

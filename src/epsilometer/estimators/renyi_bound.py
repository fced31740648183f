"""Lower confidence bounds for the Rényi divergence of a pair of inputs (kutta2022).

D(p, q) = log int p^order q^(1 - order) / (order - 1) is estimated with the second density floored
from above at tau, which can only lower it; the floor is the smooth maximum (13), so that the delta
method gives a variance (18) and the bound (16). Densities are weights on common atoms, or values on
a common even grid times its spacing.

Everything is computed from logarithms: with tau = 1e-5 and order 7 the terms span 70 decades.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from epsilometer import checks
from epsilometer.densities.binned import bkde, dpik
from epsilometer.densities.frequencies import frequencies
from epsilometer.errors import ArgumentError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RenyiBound:
    """The lower bound (16) of a finite order, for each pair and direction.

    Parameters
    ----------
    tau
        Floor of the second density.
    draws_at_floor
        Instead of ``tau``: how many of the n draws fall on an atom as likely as the floor, so that
        tau is so many / n; 50 at the paper's n. What stands at the floor is then seen equally often
        at every n. The theorem lets tau fall more slowly (Assumptions 1 and 2): where n is much
        larger than the paper's, give ``tau``.
    beta
        How sharply the floor sets in; 1/tau unless given, as the paper advises.
    alpha
        The share of runs in which the bound may lie above the truth, asymptotically.
    points
        Points of the grid that both densities of a pair share, from the pair's lowest draw to its
        highest.
    power
        What the plug-in bandwidth is raised to, so that the estimates undersmooth.
    """

    reads: ClassVar[Literal["densities"]] = "densities"
    symmetric: ClassVar[bool] = False
    precision: ClassVar[None] = None
    largest: ClassVar[bool] = False

    tau: float | None = None
    draws_at_floor: float | None = None
    beta: float | None = None
    alpha: float = 0.05
    points: int = 1000
    power: float = 1.1

    def __post_init__(self) -> None:
        if (self.tau is None) == (self.draws_at_floor is None):
            raise ArgumentError("tau", "or draws_at_floor must be given, and not both")
        for name in ("tau", "draws_at_floor", "beta"):
            if getattr(self, name) is not None:
                checks.positive(name, getattr(self, name))
        checks.between_0_and_1("alpha", self.alpha)
        checks.integer("points", self.points, minimum=2)
        checks.positive("power", self.power)

    def check(self, outputs: str, order: float) -> None:
        """Raise `ArgumentError` where the method does not apply."""
        if outputs not in ("scalar", "index", "tuple"):
            raise ArgumentError("outputs", f"must be scalar, index or tuple, not {outputs}")
        if math.isinf(order):
            raise ArgumentError("lambda", "must be finite: the pure level has the local loss")

    def check_pairs(self, pairs: int, *, own_samples: bool) -> None:
        """Raise `ArgumentError` where the method does not apply to pairs that share samples."""

    def floor(self, n: int) -> tuple[float, float]:
        """Return tau and beta at ``n`` draws a side."""
        tau = self.tau if self.draws_at_floor is None else self.draws_at_floor / n
        assert tau is not None  # checked at construction
        return tau, self.beta or 1 / tau

    def bounds(
        self, p: Floats, q: Floats, *, order: float, spacing: float, n: int, pairs: int
    ) -> tuple[float, float]:
        """Return (16) in both directions for one of ``pairs``, from ``n`` draws a side."""
        tau, beta = self.floor(n)
        found = (
            divergence(*sides, order=order, spacing=spacing, tau=tau, beta=beta)
            for sides in ((p, q), (q, p))
        )
        forward, reverse = (d.bound(n, self.level(pairs)) for d in found)
        return forward, reverse

    def level(self, pairs: int) -> float:
        """Return the alpha of each bound."""
        return self.alpha


@dataclass(frozen=True)
class LargestRenyiBound(RenyiBound):
    """The largest of all pairs' bounds, in both directions, with confidence 1 - alpha as a whole.

    Each bound is made at a level of its own for that. Both directions of a pair come from the same
    samples and always share that pair's level half and half.

    Parameters
    ----------
    correction
        ``independent``: 1 - (1 - alpha)^(1/N) for each of N pairs, for which (8) gives 1 - alpha;
        pairs must have samples of their own. ``bonferroni``: alpha / N, for any pairs.
    """

    symmetric: ClassVar[bool] = True
    largest: ClassVar[bool] = True

    correction: Literal["independent", "bonferroni"] = "bonferroni"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.correction not in ("independent", "bonferroni"):
            message = f"must be independent or bonferroni, got {self.correction!r}"
            raise ArgumentError("correction", message)

    def check_pairs(self, pairs: int, *, own_samples: bool) -> None:
        """Raise `ArgumentError` where the correction needs what the pairs' samples are not."""
        if self.correction == "independent" and pairs > 1 and not own_samples:
            message = "must be bonferroni: these pairs share samples, so (8) does not hold"
            raise ArgumentError("correction", message)

    def level(self, pairs: int) -> float:
        """Return the alpha of each bound."""
        each = independent if self.correction == "independent" else bonferroni
        return each(pairs, self.alpha) / 2


@dataclass(frozen=True)
class Densities:
    """Both sides of a pair on common atoms (``spacing`` 1) or a common grid.

    ``bandwidths`` are 0 where outputs have atoms.
    """

    p: Floats
    q: Floats
    spacing: float = 1.0
    bandwidths: Sequence[float] = (0.0, 0.0)


def densities_of(x: NDArray[Any], x_prime: NDArray[Any], *, points: int, power: float) -> Densities:
    """Estimate the densities of a pair of samples of shape ``(n,)``, integers or floats.

    Floats are smoothed as kutta2022 does: binned Gaussian kernels on an even grid over the range of
    both samples, at the plug-in bandwidth of each side raised to ``power``.
    """
    if np.issubdtype(x.dtype, np.integer):
        return Densities(*frequencies(x, x_prime)[1:])
    ends = float(min(x.min(), x_prime.min())), float(max(x.max(), x_prime.max()))
    widths = [dpik(side) ** power for side in (x, x_prime)]
    (grid, p), (_, q) = (
        bkde(side, width, points=points, ends=ends)
        for side, width in zip((x, x_prime), widths, strict=True)
    )
    return Densities(p, q, float(grid[1] - grid[0]), widths)


@dataclass(frozen=True)
class Divergence:
    """An estimated divergence, and the variance of sqrt(n) times its error."""

    value: float
    variance: float

    def bound(self, n: int, alpha: float = 0.05) -> float:
        """Return (16), below the truth with confidence 1 - alpha for large n."""
        checks.integer("n", n)
        quantile = float(ndtri(checks.between_0_and_1("alpha", alpha)))
        return self.value + quantile * math.sqrt(self.variance / n)


def soft_floor(values: Floats, tau: float, beta: float) -> tuple[Floats, Floats]:
    """Return the smooth maximum of values and tau (13), and its derivative (17).

    As beta grows it tends to the maximum, from above: by at most log(2)/beta.
    """
    checks.positive("tau", tau)
    checks.positive("beta", beta)
    floored: Floats = np.logaddexp(beta * values, beta * tau) / beta
    return floored, np.asarray(expit(beta * (values - tau)), np.float64)


def divergence(
    p: Floats, q: Floats, *, order: float, tau: float, beta: float, spacing: float = 1.0
) -> Divergence:
    """Estimate D(p, q) of one order from estimated densities of both sides.

    Parameters
    ----------
    p, q
        Relative frequencies of the same k atoms, or densities at the same even grid of k points, of
        shape ``(k,)``; what is below 0 by rounding counts as 0.
    order
        Any real above 1.
    tau, beta
        Floor of q, and how sharply it sets in.
    spacing
        The grid's spacing; 1 for atoms.
    """
    a = checks.order("order", order, finite=True)
    if p.shape != q.shape or p.ndim != 1 or p.size == 0:
        raise ArgumentError("q", f"has shape {q.shape}, p has {p.shape}")
    p, q = np.maximum(p, 0.0), np.maximum(q, 0.0)
    floored, slope = soft_floor(q, tau, checks.positive("beta", beta))
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(p), np.log(q)
    log_floored, log_slope = np.log(floored), np.log(np.maximum(slope, 1e-300))

    def integral(terms: Floats) -> float:
        """Return the logarithm of a sum of exponentials on the grid."""
        return float(np.logaddexp.reduce(terms)) + math.log(spacing)

    ratio = log_p - log_floored
    log_main = integral(a * ratio + log_floored)
    if not math.isfinite(log_main):
        raise ArgumentError("p", "is 0 everywhere")
    first = integral((2 * a - 2) * ratio + log_p) - 2 * log_main
    second = integral(2 * (log_slope + a * ratio) + log_q) - 2 * log_main
    mean = integral(log_slope + a * ratio + log_q) - log_main
    variance = a**2 * math.expm1(first) + (1 - a) ** 2 * (math.exp(second) - math.exp(2 * mean))
    return Divergence(log_main / (a - 1), max(variance, 0.0) / (a - 1) ** 2)


def maximum_confidence(pairs: int, alpha: float = 0.05) -> float:
    """Return the confidence (1 - alpha)^N of the largest of N independent pairs' bounds (8)."""
    level = checks.between_0_and_1("alpha", alpha)
    return float((1 - level) ** checks.integer("pairs", pairs))


def independent(pairs: int, alpha: float = 0.05) -> float:
    """Return the alpha of each of N independent bounds at which (8) gives 1 - alpha."""
    level = checks.between_0_and_1("alpha", alpha)
    return -math.expm1(math.log1p(-level) / checks.integer("pairs", pairs))


def bonferroni(pairs: int, alpha: float = 0.05) -> float:
    """Return the alpha of each of N bounds at which their largest holds with confidence 1 - alpha.

    Unlike (8) it needs no independence between the pairs' samples.
    """
    return checks.between_0_and_1("alpha", alpha) / checks.integer("pairs", pairs)

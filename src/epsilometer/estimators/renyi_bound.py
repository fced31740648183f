"""Lower confidence bounds for the Rényi divergence of a pair of inputs (kutta2022).

D(p, q) = log int p^order q^(1 - order) / (order - 1) is estimated with the second density raised to
at least tau, which can only lower it; the floor is the smooth maximum (13), so that the delta
method gives a variance (18) and the bound (16). Densities are weights on common atoms, or values on
a common even grid times its spacing; tau is in their unit, 1 / (unit of the outputs) for real ones.

The theorem is about n to infinity, with tau falling more slowly than a small power of n. At any n
the estimate has a bias of second order, upwards, which (16) does not know: each term is convex in p
and in q. It is harmless where it is small beside the estimate's own spread, as in most of the
paper's experiments. Where both sides have the same law, or at high orders with many atoms, the
bound lies above the truth far more often than alpha (identical inputs with 1024 atoms, n = 500,000
and order 7: always). ``debias`` subtracts it.

Everything is computed from logarithms: with tau = 1e-5 and order 7 the terms span 70 decades.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, ndtri

from epsilometer import checks
from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import Densities

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
        tau is so many / n; 50 at the paper's n. An atom at the floor is then seen equally often at
        every n. The theorem wants tau to fall more slowly: smaller n are on the safe side, but
        where n is much larger than the paper's, give ``tau``.
    beta
        How sharply the floor sets in; 1/tau unless given, as the paper advises.
    alpha
        The share of runs in which the bound may lie above the truth, asymptotically.
    points
        Points of the grid that both densities of a pair share, from the pair's lowest draw to its
        highest.
    power
        What the plug-in bandwidth is raised to, so that the estimates undersmooth.
    debias
        Whether the estimate's bias of second order is subtracted (not in the paper).
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
    debias: bool = False

    def __post_init__(self) -> None:
        if (self.tau is None) == (self.draws_at_floor is None):
            raise ArgumentError("tau", "or draws_at_floor must be given, and not both")
        for name in ("tau", "draws_at_floor", "beta"):
            if getattr(self, name) is not None:
                checks.positive(name, getattr(self, name))
        checks.between_0_and_1("alpha", self.alpha)
        checks.integer("points", self.points, minimum=2)
        checks.positive("power", self.power)
        if not isinstance(self.debias, bool):
            raise ArgumentError("debias", f"must be true or false, got {self.debias!r}")

    def check(self, outputs: str, order: float) -> None:
        """Raise `ArgumentError` where the method does not apply."""
        if outputs not in ("scalar", "index", "bits", "tuple"):
            raise ArgumentError("outputs", f"must be scalar, index, bits or tuple, not {outputs}")
        if math.isinf(order):
            raise ArgumentError("lambda", "must be finite: the pure level has the local loss")

    def check_pairs(self, pairs: int, *, own_samples: bool) -> None:
        """Raise `ArgumentError` where the method does not apply to pairs that share samples."""

    def floor(self, n: int) -> tuple[float, float]:
        """Return tau and beta at ``n`` draws a side."""
        if self.draws_at_floor is not None and self.draws_at_floor >= n:
            raise ArgumentError("n", f"must be above draws_at_floor={self.draws_at_floor}, got {n}")
        tau = self.tau if self.draws_at_floor is None else self.draws_at_floor / n
        assert tau is not None  # checked at construction
        return tau, self.beta or 1 / tau

    def bounds(
        self, densities: Densities, *, order: float, n: int, pairs: int
    ) -> tuple[float, float]:
        """Return (16) in both directions for one of ``pairs``, from ``n`` draws a side."""
        tau, beta = self.floor(n)
        d, level = densities, self.level(pairs)
        settings = {"order": order, "tau": tau, "beta": beta, "spacing": d.spacing}

        def bound(p: Floats, q: Floats, bandwidths: tuple[float, float]) -> float:
            found = divergence(p, q, **settings).bound(n, level)
            if self.debias:
                found -= bias(p, q, n=n, bandwidths=bandwidths, **settings)
            return found

        return bound(d.p, d.q, d.bandwidths), bound(d.q, d.p, d.bandwidths[::-1])

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
    terms = _Terms(p, q, order, tau, beta, spacing)
    a = terms.order
    first = terms.integral((2 * a - 2) * terms.ratio + terms.log_p) - 2 * terms.log_main
    pull = terms.log_slope + a * terms.ratio  # of the derivative with respect to q
    second = terms.integral(2 * pull + terms.log_q) - 2 * terms.log_main
    mean = terms.integral(pull + terms.log_q) - terms.log_main
    variance = a**2 * math.expm1(first) + (1 - a) ** 2 * (math.exp(second) - math.exp(2 * mean))
    return Divergence(terms.log_main / (a - 1), max(variance, 0.0) / (a - 1) ** 2)


def bias(
    p: Floats,
    q: Floats,
    *,
    order: float,
    tau: float,
    beta: float,
    n: int,
    spacing: float = 1.0,
    bandwidths: tuple[float, float] = (0.0, 0.0),
) -> float:
    """Estimate the bias of `divergence` to second order, from its second derivatives.

    A frequency p has variance p/n, a Gaussian kernel estimate p/(2 sqrt(pi) h n). The curvature of
    the floor itself is left out: it lowers the estimate's bias further.
    """
    terms = _Terms(p, q, order, tau, beta, spacing)
    a = terms.order
    noise = [1 / n if h == 0 else 1 / (2 * math.sqrt(math.pi) * h * n) for h in bandwidths]
    of_p = terms.integral((a - 1) * terms.ratio) - terms.log_main
    pull = 2 * terms.log_slope + a * terms.ratio - terms.log_floored + terms.log_q
    of_q = terms.integral(pull) - terms.log_main
    return a / 2 * (noise[0] * math.exp(of_p) + noise[1] * math.exp(of_q))


class _Terms:
    """What the integrals of one direction share, as logarithms at each atom or grid point."""

    def __init__(
        self, p: Floats, q: Floats, order: float, tau: float, beta: float, spacing: float
    ) -> None:
        self.order = checks.order("order", order, finite=True)
        if p.shape != q.shape or p.ndim != 1 or p.size == 0:
            raise ArgumentError("q", f"has shape {q.shape}, p has {p.shape}")
        if not (np.isfinite(p).all() and np.isfinite(q).all()):
            raise ArgumentError("p", "and q must be finite")
        self._log_spacing = math.log(checks.positive("spacing", spacing))
        floored, _ = soft_floor(np.maximum(q, 0.0), tau, beta)
        with np.errstate(divide="ignore"):
            self.log_p, self.log_q = np.log(np.maximum(p, 0.0)), np.log(np.maximum(q, 0.0))
        self.log_floored = np.log(floored)
        self.log_slope = np.asarray(log_expit(beta * (np.maximum(q, 0.0) - tau)), np.float64)
        self.ratio = self.log_p - self.log_floored
        self.log_main = self.integral(self.order * self.ratio + self.log_floored)
        if not math.isfinite(self.log_main):
            raise ArgumentError("p", "is 0 everywhere")

    def integral(self, terms: Floats) -> float:
        """Return the logarithm of a sum of exponentials on the grid."""
        return float(np.logaddexp.reduce(terms)) + self._log_spacing


def maximum_confidence(pairs: int, alpha: float = 0.05) -> float:
    """Return the confidence (1 - alpha)^N of the largest of N independent pairs' bounds (8)."""
    level = checks.between_0_and_1("alpha", alpha)
    return float((1 - level) ** checks.integer("pairs", pairs))


def independent(pairs: int, alpha: float = 0.05) -> float:
    """Return the level 1 - (1 - alpha)^(1/N) of each of N independent bounds, by (8)."""
    level = checks.between_0_and_1("alpha", alpha)
    return -math.expm1(math.log1p(-level) / checks.integer("pairs", pairs))


def bonferroni(pairs: int, alpha: float = 0.05) -> float:
    """Return the level alpha / N of each of N bounds, at which their largest holds as a whole.

    Unlike (8) it needs no independence between the pairs' samples.
    """
    return checks.between_0_and_1("alpha", alpha) / checks.integer("pairs", pairs)

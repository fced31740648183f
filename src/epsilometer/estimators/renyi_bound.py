"""Lower confidence bounds for the Rényi divergence of a pair of inputs (kutta2022).

D(p, q) = log int p^order q^(1 - order) / (order - 1) is estimated with the second density raised to
at least tau, which can only lower it; the floor is the smooth maximum (13), so that the delta
method gives a variance (18) and the bound (16).

The theorem is about n to infinity. At any n the paper's plug-in is biased upwards, as each term is
convex in p and in q, and (16) ignores it. Where the bias is not small against the spread (similar
sides, high orders, many outcomes) the bound lies above the truth far more often than alpha: always,
for identical inputs with 100 atoms, n = 100,000 and order 2 or 7. And its tau and its bandwidth to
the power 1.1 depend on the unit of outputs.

So there are two kinds. `RenyiBoundAsPublished` is the paper's, from kernel densities. `RenyiBound`
reads the frequencies of outcomes, or of cells between the outputs' quantiles. These have no unit,
and kinks, atoms and far tails do not matter: joining outputs into cells can only lower the
divergence. From counts the integral is estimated without bias (`unbiased`), so on average it is
never too high.

Sums are computed from logarithms: with tau = 1e-5 and order 7 the terms span 70 decades.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from scipy.special import gammaln, log_expit, ndtri

from epsilometer import checks
from epsilometer.checks import Flag, Fractional, Positive, Several
from epsilometer.densities.base import Densities
from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import DensityMethod, Guarantee
from epsilometer.numerics.arrays import Floats

# limits beyond which a bound is not trusted:
_LEAST_DRAWS = 10  # draws of a side, over the order's square
_CORRECTION = 0.5  # bias of second order, over the integral
_VARIANCE = 0.25  # relative variance of the integral, for the delta method
_HIDDEN = 0.5  # share of the draws on outcomes below the floor
_BIAS = 0.5  # bias of a published bound, over the quantile's margin


@dataclass(frozen=True)
class _Bound(DensityMethod):
    """The base of both kinds.

    Parameters
    ----------
    draws_at_floor
        The expected draws on an outcome at the floor tau of the second density, which is this
        number / n; 50 at the paper's n. The sharpness of the floor is 1/tau, as the paper advises.
    alpha
        The share of runs in which the bound may lie above the truth, asymptotically.
    largest
        Return the largest bound of all pairs, in both directions, with confidence 1 - alpha as a
        whole: each has a corrected level, and both directions of a pair, which come from the same
        samples, share the pair's level half and half.
    correction
        ``independent``: 1 - (1 - alpha)^(1/N) for each of N pairs, for which (8) gives 1 - alpha;
        pairs must have samples of their own. ``bonferroni``: alpha / N, for any pairs.
    """

    guarantee: ClassVar[Guarantee] = "asymptotic"

    draws_at_floor: Positive
    alpha: Fractional = 0.05
    largest: Flag = False
    correction: Literal["independent", "bonferroni"] = "bonferroni"

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether it answers for both directions at once."""
        return self.largest

    def check(self, outputs: str, order: float) -> None:
        if outputs not in ("scalar", "index", "bits", "tuple"):
            raise ArgumentError("outputs", f"must be scalar, index, bits or tuple, not {outputs}")
        if math.isinf(order):
            raise ArgumentError("lambda", "must be finite: the pure level has the local loss")

    def floor(self, n: int) -> tuple[float, float]:
        """Return tau and beta at ``n`` draws a side, more than ``draws_at_floor``."""
        if self.draws_at_floor >= n:
            raise ArgumentError("n", f"must be above draws_at_floor={self.draws_at_floor}, got {n}")
        tau = self.draws_at_floor / n
        return tau, 1 / tau

    def check_pairs(self, pairs: int, *, own_samples: bool) -> None:
        """Raise `ArgumentError` where the correction needs pairs with samples of their own."""
        if self.largest and self.correction == "independent" and pairs > 1 and not own_samples:
            message = "must be bonferroni: these pairs share samples, so (8) does not hold"
            raise ArgumentError("correction", message)

    def bounds(
        self, densities: Densities, *, order: float, n: int, pairs: int
    ) -> tuple[float, float]:
        """Return (16) in both directions and nats for one of ``pairs``, from ``n`` draws a side."""
        sides = (densities, densities.swapped())
        alpha = self.level(pairs)
        forward, reverse = (self._estimate(d, order, n).bound(n, alpha) for d in sides)
        return forward, reverse

    def trusted(self, densities: Densities, *, order: float, n: int) -> bool:
        """Return whether ``n`` draws are enough for (16), in both directions."""
        return all(self._trusted(d, order, n) for d in (densities, densities.swapped()))

    def level(self, pairs: int) -> float:
        """Return the alpha of each bound.

        Of a hundred pairs, the bound of each direction is at 5 % over 200:

        >>> RenyiBound(draws_at_floor=50, largest=True).level(100)
        0.00025
        """
        if not self.largest:
            return self.alpha
        if self.correction == "independent":
            return -math.expm1(math.log1p(-self.alpha) / pairs) / 2
        return self.alpha / pairs / 2

    def _estimate(self, d: Densities, order: float, n: int) -> Divergence:
        """Return the divergence from p to q and its variance."""
        tau, beta = self.floor(n)
        return divergence(d.p, d.q, order=order, tau=tau, beta=beta, spacing=d.spacing)

    def _trusted(self, d: Densities, order: float, n: int) -> bool:
        """Return whether the integral's relative variance is small enough for the delta method."""
        return self._estimate(d, order, n).variance * (order - 1) ** 2 / n <= _VARIANCE


@dataclass(frozen=True)
class RenyiBound(_Bound):
    """The lower bound (16) of a finite order without the paper's bias, for each pair and direction.

    Real outputs are counted in cells between quantiles of both sides together; tau is the
    probability of a cell or outcome.

    Parameters
    ----------
    cells
        Cells between quantiles, at most; see `epsilometer.densities.frequencies`.

    A bit that is kept with probability 3/4, from frequencies of 10,000 draws of each side; the
    divergence of order 2 is log(7/3), .847:

    >>> bits = Densities(np.array([0.2466, 0.7534]), np.array([0.7512, 0.2488]))
    >>> bounds = RenyiBound(draws_at_floor=50).bounds(bits, order=2.0, n=10_000, pairs=1)
    >>> [round(bound, 2) for bound in bounds]
    [0.83, 0.83]
    """

    cells: Several = 1000

    @property
    def reduction(self) -> dict[str, float]:
        return {"cells": self.cells}

    def _estimate(self, d: Densities, order: float, n: int) -> Divergence:
        if any(d.bandwidths):
            raise ArgumentError("densities", "must be relative frequencies, not kernel estimates")
        tau, beta = self.floor(n)
        value = unbiased(d.p, d.q, order=order, tau=tau, beta=beta, n=n)
        if value == -math.inf:  # no outcome has enough draws: only D >= 0 is known
            return Divergence(0.0, 0.0)
        return replace(super()._estimate(d, order, n), value=value)

    def _trusted(self, d: Densities, order: float, n: int) -> bool:
        """Refuse also where most draws are below the floor, or where few draws decide."""
        tau, beta = self.floor(n)
        hidden = float(d.p[np.maximum(d.p, d.q) < tau].sum())
        correction = bias(d.p, d.q, order=order, tau=tau, beta=beta, n=n) * (order - 1)
        value = unbiased(d.p, d.q, order=order, tau=tau, beta=beta, n=n)
        return (
            n >= _LEAST_DRAWS * order**2
            and hidden <= _HIDDEN
            and correction <= _CORRECTION
            and value > -math.inf
            and super()._trusted(d, order, n)
        )


@dataclass(frozen=True)
class RenyiBoundAsPublished(_Bound):
    """The lower bound (16) as the paper has it: biased upwards, in units of the output.

    Parameters
    ----------
    points
        Grid points of both densities, from the pair's lowest draw to its highest.
    power
        The power of the plug-in bandwidth, so that the estimates undersmooth.

    The exact densities of Laplace noise on a grid, at n = 1e6; the divergence of order 2 is .354:

    >>> grid = np.linspace(-12.0, 12.7, 1000)
    >>> p, q = (np.exp(-abs(grid - at)) / 2 for at in (0.0, 0.7))
    >>> densities = Densities(p, q, float(grid[1] - grid[0]), (0.1, 0.1))
    >>> bound = RenyiBoundAsPublished(draws_at_floor=50)
    >>> [round(b, 3) for b in bound.bounds(densities, order=2.0, n=10**6, pairs=1)]
    [0.351, 0.351]
    """

    points: Several = 1000
    power: Positive = 1.1

    @property
    def reduction(self) -> dict[str, float]:
        return {"points": self.points, "power": self.power}

    def _trusted(self, d: Densities, order: float, n: int) -> bool:
        """Refuse also where the bias is half of the quantile's margin or more."""
        tau, beta = self.floor(n)
        settings = {"order": order, "tau": tau, "beta": beta, "spacing": d.spacing}
        estimate = self._estimate(d, order, n)
        margin = estimate.value - estimate.bound(n, self.alpha)
        excess = bias(d.p, d.q, n=n, bandwidths=d.bandwidths, **settings)
        return excess <= _BIAS * margin and super()._trusted(d, order, n)


@dataclass(frozen=True)
class Divergence:
    """An estimated divergence, in nats, and the variance of sqrt(n) times its error (18)."""

    value: float
    variance: float

    def bound(self, n: int, alpha: float = 0.05) -> float:
        """Return (16), below the truth with confidence 1 - alpha for large n."""
        checks.integer("n", n)
        quantile = float(ndtri(checks.between_0_and_1("alpha", alpha)))
        return self.value + quantile * math.sqrt(self.variance / n)


def soft_floor(values: Floats, tau: float, beta: float) -> Floats:
    """Return the smooth maximum of values and tau (13), of the values' shape.

    tau is in their unit, beta in one over it. As beta grows it tends to the maximum, from above: by
    at most log(2)/beta. Raise `ArgumentError` unless tau and beta are above 0.
    """
    checks.positive("tau", tau)
    checks.positive("beta", beta)
    return np.asarray(np.logaddexp(beta * values, beta * tau) / beta)


def divergence(
    p: Floats, q: Floats, *, order: float, tau: float, beta: float, spacing: float = 1.0
) -> Divergence:
    """Estimate D(p, q) of one order from estimated densities of both sides, and (18).

    p and q, of shape ``(k,)``, are relative frequencies of the same atoms, or densities on the same
    even grid with ``spacing`` in the unit of outputs (1 for atoms); negative values count as 0. tau
    is the floor of q, in its unit, and beta its sharpness, in one over that. Raise `ArgumentError`
    where p and q differ in shape, are not finite, or p is 0 everywhere.
    """
    terms = _Terms(p, q, order, tau, beta, spacing)
    a = terms.order
    first = terms.integral((2 * a - 2) * terms.ratio + terms.log_p) - 2 * terms.log_main
    pull = terms.log_slope + a * terms.ratio  # of the derivative with respect to q
    second = terms.integral(2 * pull + terms.log_q) - 2 * terms.log_main
    mean = terms.integral(pull + terms.log_q) - terms.log_main
    variance = a**2 * math.expm1(first) + (1 - a) ** 2 * (math.exp(second) - math.exp(2 * mean))
    return Divergence(terms.log_main / (a - 1), max(variance, 0.0) / (a - 1) ** 2)


def unbiased(p: Floats, q: Floats, *, order: float, tau: float, beta: float, n: int) -> float:
    """Estimate D(p, q) from counts, never too high on average; -inf where the integral is 0.

    Of binomial counts N = n p and M = n q, N! / (N - a)! (n - a)! / n! has mean p^a, and
    M! / (M + s)! (n + s)! / n! has mean q^-s times the chance that a count of n + s is at least s:
    at most q^-s, however rare the outcome. With s = a - 1 their product has mean p^a q^(1 - a) or
    less, the integral's logarithm less still, and the floor under M lowers it again. D is in nats.
    p and q are relative frequencies of the same k outcomes among ``n`` draws of each side, of shape
    ``(k,)``; tau and beta are as for `divergence`.
    """
    a = order
    s = order - 1
    if n <= a:
        return -math.inf
    counts = np.rint(n * p)
    floored = n * np.maximum(soft_floor(q, tau, beta), q)
    enough = counts > a - 1e-9
    if not enough.any():
        return -math.inf
    counts = counts[enough]
    floored = floored[enough]
    terms = (
        (gammaln(counts + 1) - gammaln(n + 1))  # exactly 0 where all draws are equal
        - (gammaln(counts + 1 - a) - gammaln(n + 1 - a))
        + (gammaln(floored + 1) - gammaln(n + 1))
        - (gammaln(floored + 1 + s) - gammaln(n + 1 + s))
    )
    return float(np.logaddexp.reduce(terms)) / s


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
    """Estimate the bias of `divergence` to second order, from its second derivatives, in nats.

    A frequency p has variance p/n, a Gaussian kernel estimate p/(2 sqrt(pi) h n), or 2 p/(3 n)
    over the spacing where the grid is coarser than the kernel. The curvature of the floor, which
    lowers the bias, is left out. ``n`` are the draws of each side; ``bandwidths`` h of p and of q
    are in the unit of outputs, 0 where draws were counted. The rest, shapes ``(k,)`` and errors are
    as for `divergence`.
    """
    terms = _Terms(p, q, order, tau, beta, spacing)
    a = terms.order
    largest = 2 / (3 * spacing)
    noise = [
        (1 if h == 0 else min(1 / (2 * math.sqrt(math.pi) * h), largest)) / n for h in bandwidths
    ]
    curvature_p = terms.integral((a - 1) * terms.ratio) - terms.log_main
    pull = 2 * terms.log_slope + a * terms.ratio - terms.log_floored + terms.log_q
    curvature_q = terms.integral(pull) - terms.log_main
    return a / 2 * (noise[0] * math.exp(curvature_p) + noise[1] * math.exp(curvature_q))


class _Terms:
    """The terms of one direction's integrals, as logarithms at each atom or grid point."""

    def __init__(
        self, p: Floats, q: Floats, order: float, tau: float, beta: float, spacing: float
    ) -> None:
        self.order = checks.order("order", order, finite=True)
        if p.shape != q.shape or p.ndim != 1 or p.size == 0:
            raise ArgumentError("q", f"has shape {q.shape}, p has {p.shape}")
        if not (np.isfinite(p).all() and np.isfinite(q).all()):
            raise ArgumentError("p", "and q must be finite")
        self._log_spacing = math.log(checks.positive("spacing", spacing))
        with np.errstate(divide="ignore"):
            self.log_p = np.log(np.maximum(p, 0.0))
            self.log_q = np.log(np.maximum(q, 0.0))
        self.log_floored = np.log(soft_floor(np.maximum(q, 0.0), tau, beta))
        self.log_slope = np.asarray(log_expit(beta * (np.maximum(q, 0.0) - tau)), np.float64)
        self.ratio = self.log_p - self.log_floored
        self.log_main = self.integral(self.order * self.ratio + self.log_floored)
        if not math.isfinite(self.log_main):
            raise ArgumentError("p", "is 0 everywhere")

    def integral(self, terms: Floats) -> float:
        """Return the logarithm of a sum of exponentials on the grid."""
        return float(np.logaddexp.reduce(terms)) + self._log_spacing

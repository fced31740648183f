"""The reverse information projection of two distributions onto a claim of any kind.

P and Q are the distributions on x and on x'. N is the set of all pairs of distributions that
satisfy a claim. The projection is the pair (p*, q*) in N that minimises KL(P || p*) + KL(Q || q*);
the minimum is KL_inf. It limits every audit, and E = (p/p*)(x) (q/q*)(y) is the e-variable whose
growth reaches it (Agrawal and Ramdas, arXiv 2504.19952). `dual` has the method and the proofs.

A claim holds on both orders of the inputs. KL_inf is at most 2 log 2, since the mean of P and Q
taken twice satisfies every claim.

mu-GDP and rho-zCDP are infinite families: (epsilon, delta) with every epsilon, D_a <= rho a with
every order a. Constraints of a few of them allow more pairs, so their KL_inf is too small.
The constraints that the projection violates most are added until equation (2) of `dual`, over the
whole family, leaves a gap below the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from epsilometer.claims import gaussian_deltas
from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Floats
from limit.kl_inf import fans
from limit.kl_inf.divergences import Orders
from limit.kl_inf.dual import completed, maximise

TOLERANCE = 1e-10  # nats
_GUARD, _UNIT = 1e-12, 1e-15  # of S, for rounding, and for that of a term of a sum
_SUM = 1e-6  # error of the sum of masses
_TINY = 1e-16  # mass of a cell on both sides: below this it counts as empty
_EXCHANGES, _MOST = 12, 128  # rounds, and tangents of a curve of mu
_WORTH = 1 / 16  # of the largest excess, for another tangent
_STARTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)  # of tangents, in standard deviations
_ORDERS = 120
_LOWEST, _HIGHEST = 1e-3, 300.0  # order less 1, and exponent (a - 1) D_a


class Projectable(Protocol):
    """A claim: ``to_plain`` has its ``notion`` and its numbers, as in `epsilometer_audit.pure`."""

    def to_plain(self) -> dict[str, Any]:
        """Return the claim as plain values."""


@dataclass(frozen=True)
class Projection:
    """The projection of two distributions onto a claim, and its e-variable.

    Parameters
    ----------
    payoff, payoff_prime
        f = p/p* and g = q/q* in every cell, of shape ``(k,)``; where p or q is 0, what an output
        there may pay.
    p_star, q_star
        The nearest pair of distributions that satisfies the claim, of shape ``(k,)``.
    largest_sum
        S: every pair that satisfies the claim has E_P'[f] + E_Q'[g] <= S, so that the mean
        of f(x) g(y) / (S/2)^2 is at most 1. It is 2 up to rounding, and holds for the numbers f and
        g as they are.
    growth
        The mean of the logarithm of that e-variable under p and q, in nats: at most KL_inf.
    gap
        KL_inf is at most ``growth + gap``, in nats.
    """

    payoff: Floats
    payoff_prime: Floats
    p_star: Floats
    q_star: Floats
    largest_sum: float
    growth: float
    gap: float

    @property
    def kl_inf(self) -> float:
        """KL_inf, rounded up by the gap, in nats: what a floor or a ceiling may use."""
        return self.growth + self.gap

    @property
    def e_values(self) -> tuple[Floats, Floats]:
        """The two factors 2 f/S and 2 g/S of the e-variable, each of shape ``(k,)``."""
        return 2 * self.payoff / self.largest_sum, 2 * self.payoff_prime / self.largest_sum


def project(p: Floats, q: Floats, claim: Projectable, tolerance: float = TOLERANCE) -> Projection:
    """Return the projection of two distributions onto a claim.

    Parameters
    ----------
    p, q
        Masses of the same cells on x and on x', of shape ``(k,)``; each has sum 1.
    claim
        A claim of epsilon, of epsilon and delta, of mu, of rho, or of Rényi divergences.
    tolerance
        The largest gap, in nats, where rounding allows it.

    Raises
    ------
    ArgumentError
        If the masses are not two distributions on the same cells, or the notion is unknown.

    Examples
    --------
    >>> from epsilometer_audit.question.claims import pure
    >>> result = project(np.array([0.9, 0.1]), np.array([0.1, 0.9]), pure(1.0))
    >>> result.p_star.round(4), result.q_star.round(4)  # e times as likely
    (array([0.7311, 0.2689]), array([0.2689, 0.7311]))
    >>> round(result.kl_inf, 6)
    0.176357
    """
    p, q = _law("p", p), _law("q", q)
    if p.shape != q.shape:
        raise ArgumentError("q", f"must have the {p.size} cells of p, got {q.size}")
    kept = p + q >= _TINY
    p, q = p * kept, q * kept
    plain = claim.to_plain()
    notion = plain["notion"]
    if notion in ("pure", "approximate"):
        return _hockey_stick(p, q, plain["epsilon"], plain["delta"], tolerance)
    if notion == "gdp":
        return _gaussian(p, q, plain["mu"], tolerance)
    if notion == "zcdp":
        return _concentrated(p, q, plain["rho"], tolerance)
    if notion == "renyi":
        return _renyi(p, q, *_orders(plain), tolerance)
    raise ArgumentError("claim", f"has no projection: {notion!r}")


def _orders(plain: Mapping[str, Any]) -> tuple[Floats, Floats]:
    bounds = plain.get("orders") or {plain["order"]: plain["epsilon"]}
    orders, rhos = (np.array(list(part), float) for part in (bounds, bounds.values()))
    if ((orders - 1) * rhos > 2 * _HIGHEST).any():
        raise ArgumentError("claim", f"must have (order - 1) epsilon at most {2 * _HIGHEST:g}")
    return orders, rhos


def _law(name: str, masses: Floats) -> Floats:
    masses = np.asarray(masses, np.float64)
    if masses.ndim != 1 or not masses.size:
        raise ArgumentError(name, f"must have one dimension, got the shape {masses.shape}")
    if not np.isfinite(masses).all() or (masses < 0).any():
        raise ArgumentError(name, "must be finite and not negative")
    total = math.fsum(masses.tolist())
    if abs(total - 1) > _SUM:
        raise ArgumentError(name, f"must have sum 1, got {total!r}")
    return np.asarray(masses / total)


def _result(
    laws: tuple[Floats, Floats],
    payoffs: tuple[Floats, Floats],
    nearest: tuple[Floats, Floats],
    gap: float,
    largest: float = math.inf,
    guard: float = _GUARD,
) -> Projection:
    """Return a projection; S is at most 2 by the weights' construction."""
    largest = min(largest, 2.0) * (1 + guard)
    growth = sum(float(_logs(m, f) @ m) for m, f in zip(laws, payoffs, strict=True))
    growth -= 2 * math.log(largest / 2)
    return Projection(*payoffs, *nearest, largest, max(growth, 0.0), max(gap, 0.0) + 3 * guard)


def _logs(masses: Floats, payoffs: Floats) -> Floats:
    return np.asarray(np.log(np.where(masses > 0, payoffs, 1.0)))


def _unchanged(p: Floats, q: Floats) -> Projection:
    """Return the projection of a pair that satisfies the claim: the pair itself."""
    ones = np.ones_like(p)
    return Projection(ones, ones, p, q, 2.0, 0.0, 0.0)


def _equal(p: Floats, q: Floats) -> Projection:
    """Return the projection onto equal distributions, which is their mean."""
    mean = (p + q) / 2
    f, g = (np.divide(m, mean, out=np.ones_like(m), where=mean > 0) for m in (p, q))
    return _result((p, q), (f, g), (mean, mean), 0.0)


def _divergences(p: Floats, q: Floats, epsilons: Floats) -> Floats:
    """Return the hockey-stick divergence of p from q at each epsilon, of shape ``(j,)``."""
    return np.array([np.maximum(p - math.exp(e) * q, 0.0).sum() for e in epsilons])


def _hockey_stick(
    p: Floats, q: Floats, epsilon: float, delta: float, tolerance: float
) -> Projection:
    if max(_divergences(a, b, np.array([epsilon]))[0] for a, b in ((p, q), (q, p))) <= delta:
        return _unchanged(p, q)
    if epsilon == delta == 0:
        return _equal(p, q)
    (f, g, x, y), gaps = fans.solved(p, q, np.array([[epsilon]]), np.array([[delta]]), tolerance)
    largest = fans.largest_sum(f[0], g[0], epsilon, delta)
    return _result((p, q), (f[0], g[0]), (x[0], y[0]), float(gaps[0]), largest)


def _gaussian(p: Floats, q: Floats, mu: float, tolerance: float) -> Projection:
    if _gaussian_excess(p, q, mu)[0].max() <= 0:
        return _unchanged(p, q)
    epsilons = np.unique([mu * t for t in _STARTS])
    best = None
    for _ in range(_EXCHANGES):
        deltas = gaussian_deltas(epsilons, mu)
        (f, g, x, y), gaps = fans.solved(p, q, epsilons[None], deltas[None], tolerance / 4)
        x, y = completed(x[0], y[0])
        excess, slopes = _gaussian_excess(x, y, mu)
        gap = max(float(gaps[0]), 2 * float(excess.max()))
        result = _result((p, q), (f[0], g[0]), (x, y), gap)
        best = _better(best, result)
        if gap <= tolerance or epsilons.size > _MOST:
            break
        epsilons = np.union1d(epsilons, _worst(excess, slopes, epsilons))
    assert best is not None
    return best


def _better(old: Projection | None, new: Projection) -> Projection:
    return new if old is None or new.gap <= old.gap else old


def _gaussian_excess(x: Floats, y: Floats, mu: float) -> tuple[Floats, Floats]:
    """Return bounds of E max(x, s y) / (s + d(s)) - 1 at the worst slopes s, and their |log s|.

    The largest of the former, which are at least 0, bounds it for all slopes.

    Events of the k cells with the highest x/y have masses X and Y; G(Y) = Phi(Phi^-1(Y) + mu) is
    the largest X that is allowed. Over all slopes the largest X - s Y - d(s) is X - G(Y), and
    the largest (X - s Y - d(s))/s is 1 - Y - G(1 - X), which is used above slope 1.
    """
    from scipy.special import ndtr, ndtri

    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(x + y > 0, np.log(x) - np.log(y), -np.inf), kind="stable")
    x, y = x[order], y[order]
    # masses of the events and of their complements, each with all of its digits
    inside = [np.minimum(np.cumsum(part)[:-1], 1.0) for part in (x, y)]
    outside = [np.minimum(np.cumsum(part[::-1])[-2::-1], 1.0) for part in (x, y)]
    z, z_prime = ndtri(inside[1]), ndtri(outside[0])
    low, high = -mu * z - mu**2 / 2, mu * z_prime + mu**2 / 2  # logs of the worst slopes
    middle = np.maximum(x - y, 0.0).sum() - gaussian_deltas(np.zeros(1), mu)[0]
    excess = np.concatenate(
        [
            np.where(low <= 0, inside[0] - ndtr(z + mu), -np.inf),
            np.where(high >= 0, outside[1] - ndtr(z_prime + mu), -np.inf),
            [middle],
        ]
    )
    slopes = np.concatenate([low, high, [0.0]])
    return np.maximum(excess, 0.0), np.abs(slopes)


def _worst(excess: Floats, slopes: Floats, epsilons: Floats) -> list[float]:
    """Return the slope of the largest excess between any two neighbours among the epsilons."""
    between = np.searchsorted(epsilons, slopes)
    chosen = []
    for i in range(1, epsilons.size + 1):
        here = np.where((between == i) & np.isfinite(slopes), excess, 0.0)
        worst = int(np.argmax(here))
        if here[worst] > _WORTH * excess.max():
            chosen.append(float(slopes[worst]))
    return chosen


def _renyi(p: Floats, q: Floats, orders: Floats, rhos: Floats, tolerance: float) -> Projection:
    if (_renyi_excess(p, q, orders, rhos) <= 0).all():
        return _unchanged(p, q)
    if (rhos == 0).any():
        return _equal(p, q)
    return _renyi_projected(p, q, orders, rhos, tolerance)


def _renyi_projected(
    p: Floats, q: Floats, orders: Floats, rhos: Floats, tolerance: float
) -> Projection:
    dual = Orders(p, q, orders, rhos)
    theta, gaps = maximise(dual.growth, 1, dual.costs.size, tolerance / 4)
    f, g, x, y = dual.payoffs(theta[0])
    # f and g are sums of terms of both signs, each no larger than its weight times the order
    weights = theta[0, 2:] / dual.costs[2:]
    guard = _GUARD + _UNIT * float(orders.max() * weights.sum())
    return _result((p, q), (f, g), completed(x, y), float(gaps[0]), guard=guard)


def _renyi_excess(x: Floats, y: Floats, orders: Floats, rhos: Floats) -> Floats:
    """Return E phi_a / c_a - 1 of both directions, the larger, for each order, ``(j,)``."""
    worst = np.full(orders.size, -1.0)
    for first, second in ((x, y), (y, x)):
        kept = first > 0
        with np.errstate(divide="ignore"):
            loss = np.log(first[kept]) - np.log(second[kept])
        if np.isinf(loss).any():
            return np.full(orders.size, math.inf)
        for i, (a, rho) in enumerate(zip(orders.tolist(), rhos.tolist(), strict=True)):
            exponents = (a - 1) * loss
            top = max(float(exponents.max()) - _HIGHEST, 0.0)
            # the sum of x (e^((a-1) l) - 1), of which the largest is divided by e^top
            rises = np.expm1(exponents) if top == 0 else np.exp(exponents - top)
            rise = float(first[kept] @ rises)
            if top > 0:
                rise = math.exp(min(top + math.log(rise), 2 * _HIGHEST))
            bound = math.expm1((a - 1) * rho)
            ratio = rise / bound - 1 if bound > 0 else math.copysign(math.inf, rise)
            worst[i] = max(worst[i], ratio)
    return worst


def _concentrated(p: Floats, q: Floats, rho: float, tolerance: float) -> Projection:
    if rho == 0:
        return _unchanged(p, q) if (p == q).all() else _equal(p, q)
    # (a - 1) rho a is at most the highest exponent
    top = (math.sqrt(1 + 4 * _HIGHEST / rho) - 1) / 2
    grid = 1 + np.geomspace(min(_LOWEST, top / 2), top, _ORDERS)
    excess = _renyi_excess(p, q, grid, rho * grid)
    if (excess <= 0).all():
        return _unchanged(p, q)
    orders = np.array([min(2.0, 1 + top / 2)])
    best = None
    for _ in range(_EXCHANGES):
        result = _renyi_projected(p, q, orders, rho * orders, tolerance / 4)
        excess = _renyi_excess(result.p_star, result.q_star, grid, rho * grid)
        worst = int(np.argmax(excess))
        gap = max(result.gap, 2 * float(excess[worst]))
        best = _better(best, replace(result, gap=gap))
        if gap <= tolerance or grid[worst] in orders:
            break
        orders = np.union1d(orders, grid[worst])
    assert best is not None
    return best

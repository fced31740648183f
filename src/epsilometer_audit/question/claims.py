"""Claims of a provider about a mechanism, and the registry of all of them.

    CLAIMS.load("gdp").claimed(1.0)  # Gaussian(mu=1.0), of the option --gdp 1

The claims of one level about events are those of `epsilometer.claims`.

A Rényi claim of order a, D_a(P || Q) <= rho, says by Hölder's inequality, for every function g,

    E_P e^((a-1) g) <= s (E_Q e^(a g))^((a-1)/a)        with s = e^(rho (a-1)/a),

and by Young's, for any m > 0, the right side is at most kappa E_Q e^(a g) + b with
kappa = s (a-1)/a m^(-1/a) and b = s m^((a-1)/a) / a, as close as m is to E_Q e^(a g).
zCDP claims D_a <= rho a for every order a.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from epsilometer import checks
from epsilometer.claims import (
    LARGEST,
    AnyClaim,
    Claim,
    ClaimOption,
    Gaussian,
    Noise,
    Pure,
    check_range,
)
from epsilometer.errors import ArgumentError, ConfigError
from epsilometer.numerics.arrays import Floats
from epsilometer.numerics.bisection import bisected, reached
from epsilometer.settings.registry import Registry, load

CLAIMS = Registry(
    "claim",
    {
        "epsilon": "epsilometer.claims:Pure",
        "renyi": "epsilometer_audit.question.claims:Renyi",
        "gdp": "epsilometer.claims:Gaussian",
        "zcdp": "epsilometer_audit.question.claims:Concentrated",
        "profile": "epsilometer_audit.question.claims:Profile",
        "tradeoff": "epsilometer_audit.question.claims:TradeOff",
    },
    "epsilometer.claims",
)
"""The classes of claims, by the name of their first option."""

_PROFILE = (0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-5)  # deltas of the tested points of a function
_MOST_POINTS = 20  # of a profile, each with a share of alpha
_MOST_LINES = 10  # of a trade-off curve
_READ = 300  # points of a function
_ROUNDED = 1e-9  # a margin for rounding
_GAUSSIAN = 4.5  # standard deviations: draws of Gaussian noise show divergences this far out
ZCDP_ORDERS = (1.25, 1.5, 2.0, 3.0, 5.0, 9.0, 17.0)
_MOST_RHO = math.floor(LARGEST / (ZCDP_ORDERS[-1] - 1))  # at the highest order


class DivergenceClaim(Claim):
    """A claim about Rényi divergences of one or of several orders."""

    bet_shares = (1.0,)

    @property
    @abstractmethod
    def orders(self) -> tuple[float, ...]:
        """The orders of the divergences."""

    def divergence(self, levels: Any, order: Any) -> Any:
        return levels

    def null(self, levels: Floats, mean: float | Floats, order: float) -> tuple[Floats, Floats]:
        """Return kappa and b of Young's inequality with m = ``mean``; see the module."""
        s = np.exp(self.divergence(np.asarray(levels), order) * (order - 1) / order)
        return s * (order - 1) / order * mean ** (-1 / order), s * mean ** (1 - 1 / order) / order

    def of(self, p: Floats, q: Floats) -> Floats:
        # of the event, and of all else
        log_p = np.log([p, 1 - p])
        log_q = np.log([q, 1 - q])
        levels = []
        for a in self.orders:
            divergence = np.logaddexp(*(a * log_p + (1 - a) * log_q)) / (a - 1)
            levels.append(divergence / self.divergence(1.0, a))
        return np.asarray(np.max(levels, axis=0))

    def likelier(self, q: Floats, level: float | Floats) -> Floats:
        q, level = np.broadcast_arrays(q, level)
        return q + reached(lambda more: self.of(q + more, q), level, 1 - 1e-15 - q)

    def unsuspicious(self, q: Floats) -> Floats:
        return q


@dataclass(frozen=True)
class Renyi(DivergenceClaim):
    """D_a <= rho for one order a; levels are rhos, in nats."""

    options = (
        ClaimOption(
            "renyi",
            "ORDER=EPS",
            {2.0: 0.5, 4.0: 1.0},
            "Renyi differential privacy, in nats (repeatable)",
        ),
    )
    quantity = "renyi epsilon"
    field = "rho"
    order: float
    rho: float

    @classmethod
    def claimed(cls, bounds: Mapping[float, float] | Iterable[tuple[float, float]]) -> AnyClaim:
        """Claim Rényi differential privacy: an epsilon, in nats, for one order or for several.

        >>> renyi({2: 0.5}).text()
        'a Rényi divergence of order 2 of 0.5'
        """
        pairs = bounds.items() if isinstance(bounds, Mapping) else bounds
        claims = tuple(Renyi(order, epsilon) for order, epsilon in pairs)
        return claims[0] if len(claims) == 1 else RenyiCurve(claims)

    def __post_init__(self) -> None:
        checks.order("order", self.order, finite=True)
        check_range("epsilon", self.rho)

    @property
    def orders(self) -> tuple[float, ...]:
        return (self.order,)

    def noise(self, levels: Floats) -> Noise:
        a = self.order
        if math.sqrt(2 * a * self.rho) <= _GAUSSIAN:
            return Noise(gaussian=True, distances=np.sqrt(2 * levels / a))

        # Of Laplace noise that shows more than the claim, it is d - log(2 - 1 / a) / (a - 1).
        distances = levels + math.log(2 - 1 / a) / (a - 1)
        return Noise(gaussian=False, distances=distances)

    def place_of(self, part: Claim) -> Mapping[str, float]:
        return {"order": self.order}

    def text(self) -> str:
        return f"a Rényi divergence of order {self.order:g} of {self.rho:g}"

    def to_plain(self) -> dict[str, Any]:
        return {"notion": self.notion, "order": self.order, "epsilon": self.rho}


@dataclass(frozen=True)
class Concentrated(DivergenceClaim):
    """rho-zCDP: D_a <= rho a at every order a (Bun and Steinke 2016)."""

    options = (
        ClaimOption("zcdp", "RHO", 0.5, "zero-concentrated differential privacy with this rho"),
    )
    quantity = "rho"
    grid = np.append(0.0, np.geomspace(1e-4, _MOST_RHO, 6000))
    orders = ZCDP_ORDERS
    rho: float

    def __post_init__(self) -> None:
        check_range("rho", self.rho, _MOST_RHO)

    def divergence(self, levels: Any, order: Any) -> Any:
        return levels * order

    def noise(self, levels: Floats) -> Noise:
        return Noise(gaussian=True, distances=np.sqrt(2 * levels))

    def text(self) -> str:
        return f"rho = {self.rho:g} (zero-concentrated differential privacy)"


def _exceeds(curve: Callable[[float], float], delta: float, epsilon: float) -> bool:
    return curve(epsilon) > delta


def _key(number: float) -> str:
    """Return a number as a key of JSON, with all of its digits: close ones stay apart."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


class SeveralClaims(AnyClaim):
    """Claims all of which must hold."""

    claims: tuple[Claim, ...]

    @property
    def parts(self) -> tuple[Claim, ...]:
        return self.claims

    def place_of(self, part: Claim) -> Mapping[str, float]:
        return part.place_of(part)


@dataclass(frozen=True)
class RenyiCurve(SeveralClaims):
    """Rényi claims of several orders."""

    claims: tuple[Renyi, ...]

    def __post_init__(self) -> None:
        if not self.claims:
            raise ArgumentError("renyi", "must name at least one order")
        if len({claim.order for claim in self.claims}) < len(self.claims):
            raise ArgumentError("renyi", "must name each order once")

    def text(self) -> str:
        orders = [f"{claim.rho:g} at order {claim.order:g}" for claim in self.claims]
        return f"a curve of Rényi divergences, {' and '.join(orders)}"

    def to_plain(self) -> dict[str, Any]:
        orders = {_key(claim.order): claim.rho for claim in self.claims}
        return {"notion": "renyi", "orders": orders}


@dataclass(frozen=True)
class Profile(SeveralClaims):
    """A privacy profile: claims (epsilon, delta)."""

    options = (
        ClaimOption(
            "profile",
            "CURVE",
            {0.0: 0.45, 1.0: 0.095},
            "delta by epsilon",
            ("epsilon", "delta"),
        ),
    )
    claims: tuple[Pure, ...]

    @classmethod
    def claimed(cls, curve: Points | Callable[[float], float]) -> Profile:
        """Claim a privacy profile: delta at each epsilon, from a table or a function of epsilon.

        The function may be that of an accountant. It is tested where delta is .3, .1, ..., 1e-5,
        and at epsilon 0.

        >>> profile({1: 1e-3, 2: 1e-5}).text()
        'a privacy profile, delta at epsilon: 0.001 at 1, 1e-05 at 2'
        """
        if not callable(curve):
            points = _table("profile", curve, "epsilon", ("delta", "get_delta_for_epsilon"))
        else:
            epsilons = [0.0]
            for delta in _PROFILE:
                if curve(0.0) > delta >= curve(LARGEST):
                    exceeds = partial(_exceeds, curve, delta)
                    epsilons.append(bisected(exceeds, 0.0, LARGEST, _ROUNDED)[1])
            points = {}
            for epsilon in epsilons:
                delta = float(curve(epsilon))
                if delta < 1:
                    points[epsilon] = max(delta, 0.0)
        return Profile(tuple(Pure(epsilon, delta) for epsilon, delta in sorted(points.items())))

    def __post_init__(self) -> None:
        if not 1 <= len(self.claims) <= _MOST_POINTS:
            points = f"1 to {_MOST_POINTS} points with delta below 1, got {len(self.claims)}"
            raise ArgumentError("profile", f"must have {points}")

    def place_of(self, part: Claim) -> Mapping[str, float]:
        at = self.parts.index(part)
        return {"delta": self.claims[at].delta}

    def text(self) -> str:
        points = [f"{claim.delta:g} at {claim.epsilon:g}" for claim in self.claims]
        return f"a privacy profile, delta at epsilon: {', '.join(points)}"

    def to_plain(self) -> dict[str, Any]:
        deltas = {_key(claim.epsilon): claim.delta for claim in self.claims}
        return {"notion": "profile", "deltas": deltas}


@dataclass(frozen=True)
class TradeOff(Profile):
    """A trade-off curve: claimed ``errors`` of types I and II, of many those nearest to each line.

    ``claims`` are its lines, and ``alphas`` the claimed errors of type I nearest to each.
    """

    options = (
        ClaimOption(
            "tradeoff",
            "CURVE",
            {0.1: 0.8},
            "beta by alpha (trade-off)",
            ("alpha", "beta"),
        ),
    )
    errors: tuple[tuple[float, float], ...]
    alphas: tuple[float, ...]

    @classmethod
    def claimed(cls, curve: Points | Callable[[float], float]) -> TradeOff:
        """Claim a trade-off curve: the least type II error of a test, at each type I error.

        Between the points of a table only what follows from them is claimed, as true curves are
        convex and go from (0, 1) to (1, 0) or lower. That is tested by lines, 10 at most; of more,
        some are kept. A function is read at 300 points.

        >>> tradeoff({0.1: 0.8}).text()
        'a trade-off curve, beta at alpha: 0.8 at 0.1'
        """
        if callable(curve):
            logits = np.linspace(-16, 16, _READ)
            alphas = (1 / (1 + np.exp(logits))).tolist()
            curve = {alpha: float(curve(alpha)) for alpha in alphas}
        table = _table("tradeoff", curve, "alpha", ("beta", "get_beta_for_alpha"))
        errors = np.array(sorted(table.items()), float).reshape(len(table), 2)
        if not errors.size or errors.min() < 0 or not (errors.sum(axis=1) <= 1 + _ROUNDED).all():
            text = "must map errors of type I to errors of type II, in [0, 1] and together "
            raise ArgumentError("tradeoff", f"{text}at most 1")
        stated = errors[errors.max(axis=1) < 1]
        points = np.concatenate([stated, stated[:, ::-1]])  # what holds of x and x', of x' and x
        slopes, deltas = _lines(points)
        if not slopes.size:
            raise ArgumentError("tradeoff", "must have a point with both errors above 0")
        above = slopes[:, None] * points[:, 0] + deltas[:, None] - (1 - points[:, 1])
        above[:, len(stated) :] += 0.01  # rather a point that is claimed itself
        nearest = np.where(above < -_ROUNDED, np.inf, above).argmin(axis=1)  # not a weak one
        nearest = stated[nearest % len(stated)]
        shown = errors
        if len(errors) > _MOST_POINTS:
            shown = np.unique(nearest, axis=0)
        claims = tuple(map(Pure, np.log(slopes).tolist(), deltas.tolist()))
        return TradeOff(claims, tuple(map(tuple, shown.tolist())), tuple(nearest[:, 0].tolist()))

    def place_of(self, part: Claim) -> Mapping[str, float]:
        at = self.parts.index(part)
        return {"delta": self.claims[at].delta, "alpha": self.alphas[at]}

    def text(self) -> str:
        points = [f"{beta:g} at {alpha:g}" for alpha, beta in self.errors]
        return f"a trade-off curve, beta at alpha: {', '.join(points)}"

    def to_plain(self) -> dict[str, Any]:
        betas = {_key(alpha): beta for alpha, beta in self.errors}
        return {**super().to_plain(), "notion": "tradeoff", "betas": betas}


Points = Mapping[float, float] | Iterable[tuple[float, float]]


def kinds() -> dict[str, type[AnyClaim]]:
    """Return the registered classes of claims by name."""
    return {name: _checked(name, target) for name, target in CLAIMS.items()}


@cache
def _checked(name: str, target: str) -> type[AnyClaim]:
    """Return a registered class; raise `ConfigError` if it does not answer for itself."""
    kind: type[AnyClaim] = load(target)
    missing = sorted(kind.__abstractmethods__)
    if not kind.options or kind.options[0].name != name:
        missing.append(f"options, the first of which is {name!r}")
    if missing:
        raise ConfigError(f"claim {name}", target, f"does not have {' and '.join(missing)}")
    return kind


def options() -> dict[str, ClaimOption]:
    """Return the options of all registered claims by name."""
    by_name: dict[str, ClaimOption] = {}
    for kind in kinds().values():
        by_name |= {option.name: option for option in kind.options}
    return by_name


def pure(epsilon: float) -> Pure:
    """Claim epsilon-differential privacy."""
    return Pure(epsilon)


def approximate(epsilon: float, delta: float) -> Pure:
    """Claim (epsilon, delta)-differential privacy."""
    return Pure(epsilon, delta)


def gdp(mu: float) -> Gaussian:
    """Claim mu-Gaussian differential privacy."""
    return Gaussian(mu)


def zcdp(rho: float) -> Concentrated:
    """Claim rho-zero-concentrated differential privacy."""
    return Concentrated(rho)


def _lines(errors: Floats) -> tuple[Floats, Floats]:
    """Return slopes from 1 on, and values at 0, of lines above the power that errors allow.

    A trade-off curve T with T(a) >= b is convex, at most 1 at 0, and 0 at 1. So at q before a it is
    at least b (1 - q) / (1 - a), and after a at least 1 - q (1 - b) / a. The power 1 - T is at most
    the least of all these, whose concave hull has its corners where those of neighbours cross.
    """
    first, second = errors[np.argsort(errors[:, 0])].T
    with np.errstate(divide="ignore"):
        slope_after = np.minimum.accumulate((1 - second) / first)
    slope_before = np.maximum.accumulate((second / (1 - first))[::-1])[::-1]
    after = np.append(np.inf, slope_after)
    before = np.append(slope_before, 0.0)
    at = np.divide(1 - before, after - before, np.zeros(after.size), where=after > before)
    power = 1 - before * (1 - at)
    i = 0
    lines = []
    while i < at.size - 1:  # from a corner of the hull to the next
        rises = (power[i + 1 :] - power[i]) / np.maximum(at[i + 1 :] - at[i], np.finfo(float).tiny)
        slope = rises.max()
        value = power[i] - slope * at[i]
        if 1 - _ROUNDED <= slope < math.exp(LARGEST):
            lines.append((slope, value))
        i += 1 + int(np.flatnonzero(rises >= slope * (1 - _ROUNDED))[-1])
    slopes, deltas = np.array(lines).reshape(len(lines), 2).T
    if slopes.size > _MOST_LINES:  # spaced evenly by epsilon and delta
        order = np.sqrt(deltas) - np.log(slopes) / np.log(slopes[0])
        few = np.searchsorted(order, np.linspace(order[0], order[-1], _MOST_LINES))
        few = np.unique(few)
        slopes = slopes[few]
        deltas = deltas[few]
    return np.maximum(slopes, 1.0), np.maximum(deltas, 0.0)


def _table(name: str, curve: Any, of: str, methods: tuple[str, ...]) -> dict[float, float]:
    """Return the points of a table; refuse other objects, and name their method, if any."""
    try:
        return dict(curve)
    except (TypeError, ValueError):
        text = f"must be a mapping, pairs, or a function of {of}, got {type(curve).__name__}"
        for method in methods:
            if callable(getattr(curve, method, None)):
                text += f"; pass its method {method}"
                break
        raise ArgumentError(name, text) from None


renyi = Renyi.claimed
profile = Profile.claimed
tradeoff = TradeOff.claimed


def checked_detect(detect: object, claim: AnyClaim) -> float:
    """Return a level to be detected, which must exceed the claim of one number."""
    part, *others = claim.parts
    if others:
        raise ArgumentError("detect", "needs a claim of one order or point")
    level = checks.real("detect", detect)
    if level <= part.level:
        raise ArgumentError("detect", f"must be above the claim, {part.level:g}, got {level:g}")
    check_range("detect", level)
    return level

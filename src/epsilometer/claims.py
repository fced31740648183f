"""Claims about a pair of distributions: one number, the level, for each notion of privacy.

Let P and Q be the distributions of the outputs on neighbouring inputs. Every claim is a family of
linear null hypotheses

    E_P[phi] <= kappa E_Q[psi] + b        for bounded phi and psi,

one for each event or function of the outputs (`Claim.null`); evidence against one of them refutes
the claim. For events phi = psi is the indicator of the event, and

- pure epsilon: kappa = e^epsilon, b = 0;
- (epsilon, delta): kappa = e^epsilon, b = delta;
- mu-GDP: P(S) <= G(Q(S)) with G(q) = Phi(Phi^-1(q) + mu), which is concave: kappa and b are of
  a tangent, wherever it touches.

Each level of a claim about events also implies claims (epsilon, delta), one or several
(`EventClaim.implied`), against which the first draws bet.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Floats
from epsilometer.errors import ArgumentError

LARGEST = 300.0
"""The largest level, and exponent: the square of its exponential is finite."""
_RAREST = 1e-12  # probability of an event, of which mu-GDP has a finite level
_MOST_MU = 30.0  # no event of a probability above 1e-50 tells it from more
RISING = np.concatenate(
    [np.arange(0, 400) / 400, 1.0025 ** np.arange(math.ceil(math.log(LARGEST) / math.log(1.0025)))]
)
"""Levels from 0 to the largest, which are tested for a lower bound."""


@dataclass(frozen=True)
class Claim(ABC):
    """One number, the level, that the mechanism claims not to exceed on neighbouring inputs."""

    quantity: ClassVar[str]
    field: ClassVar[str]
    """The name of the level among the fields."""
    notion: ClassVar[str]
    words: ClassVar[str]
    """A format of the claim in words."""
    grid: ClassVar[Floats] = RISING
    """The levels that are tested for a lower bound, rising from 0."""
    orders: ClassVar[tuple[float, ...]] = ()
    """Orders of Rényi divergences; none for claims about events."""

    @property
    def level(self) -> float:
        """The claimed number."""
        number: float = getattr(self, self.field)
        return number

    def at(self, level: float) -> Self:
        """Return the same claim of another level."""
        return replace(self, **{self.field: level})

    @abstractmethod
    def null(self, levels: Floats, mean: float | Floats, order: float) -> tuple[Floats, Floats]:
        """Return kappa and b at each level, as close as possible where E_Q psi is ``mean``."""

    def text(self) -> str:
        """Return the claim in words."""
        return self.words.format(self)

    def to_plain(self) -> dict[str, Any]:
        """Return the claim as plain values for JSON."""
        return {"notion": self.notion, **asdict(self)}


class EventClaim(Claim):
    """A claim about the probabilities of events."""

    of_last_event: ClassVar[bool] = False
    """Whether the last of several chosen events was chosen for this level, not the first."""

    @abstractmethod
    def of(self, p: Floats, q: Floats) -> Floats:
        """Return the smallest level at which an event may have probabilities ``p`` and ``q``."""

    @abstractmethod
    def implied(self, levels: Floats) -> tuple[Floats, Floats]:
        """Return epsilons and deltas, ``(m, t)``, of t claims that each of m levels implies."""

    @property
    def levels(self) -> tuple[EventClaim, ...]:
        """The claim, and the same with another of its numbers as the level, if it has one."""
        return (self,)

    def likelier(self, q: Floats, level: float | Floats) -> Floats:
        """Return the largest P(S) that the level allows where Q(S) is ``q``."""
        kappa, b = self.null(np.asarray(level), q, math.nan)
        return np.minimum(kappa * np.asarray(q) + b, 1.0)


@dataclass(frozen=True)
class Pure(EventClaim):
    """(epsilon, delta)-differential privacy; pure where delta is 0. Levels are epsilons."""

    quantity = field = "epsilon"
    epsilon: float
    delta: float = 0.0

    @property
    def notion(self) -> str:  # type: ignore[override]
        return "approximate" if self.delta else "pure"

    @property
    def levels(self) -> tuple[EventClaim, ...]:
        return (self, Delta(self.epsilon, self.delta)) if self.delta else (self,)

    def __post_init__(self) -> None:
        check_range("epsilon", self.epsilon)
        if not 0 <= checks.real("delta", self.delta) < 1:
            raise ArgumentError("delta", f"must lie in [0, 1), got {self.delta!r}")

    def null(self, levels: Floats, mean: float | Floats, order: float) -> tuple[Floats, Floats]:
        return np.exp(levels), np.full(np.shape(levels), self.delta)

    def implied(self, levels: Floats) -> tuple[Floats, Floats]:
        return levels[:, None], np.full((levels.size, 1), self.delta)

    def of(self, p: Floats, q: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = np.subtract(p, self.delta)
            loss = np.log(np.maximum(excess, 0.0)) - np.log(q)
        return np.asarray(np.where(excess > 0, loss, -np.inf))

    def text(self) -> str:
        if self.delta:
            return f"(epsilon, delta) = ({self.epsilon:g}, {self.delta:g})"
        return f"epsilon = {self.epsilon:g}"


@dataclass(frozen=True)
class Delta(EventClaim):
    """The same claim with the roles exchanged: levels are deltas, epsilon is fixed."""

    quantity = field = "delta"
    notion = "approximate"
    words = "delta = {0.delta:g} at epsilon = {0.epsilon:g}"
    of_last_event = True
    grid = np.append(0.0, 1e-9 * 1.005 ** np.arange(math.ceil(math.log(1e9, 1.005))))
    epsilon: float
    delta: float

    def null(self, levels: Floats, mean: float | Floats, order: float) -> tuple[Floats, Floats]:
        return np.full(np.shape(levels), math.exp(self.epsilon)), np.asarray(levels, float)

    def implied(self, levels: Floats) -> tuple[Floats, Floats]:
        return np.full((levels.size, 1), self.epsilon), levels[:, None]

    def of(self, p: Floats, q: Floats) -> Floats:
        return np.subtract(p, math.exp(self.epsilon) * np.asarray(q))


@dataclass(frozen=True)
class Gaussian(EventClaim):
    """mu-GDP: no easier to distinguish than N(0, 1) and N(mu, 1) (Dong, Roth and Su 2022)."""

    quantity = field = "mu"
    notion = "gdp"
    words = "mu = {0.mu:g} (Gaussian differential privacy)"
    grid = RISING[RISING <= _MOST_MU]
    mu: float

    def __post_init__(self) -> None:
        checks.positive("mu", self.mu)
        if self.mu > _MOST_MU:
            raise ArgumentError("mu", f"must be at most {_MOST_MU:g}, got {self.mu!r}")

    def null(self, levels: Floats, mean: float | Floats, order: float) -> tuple[Floats, Floats]:
        from scipy.special import ndtr, ndtri  # of the tangent of G where Q(S) is the mean

        z = ndtri(mean)
        slope = np.exp(np.minimum(-levels * z - levels**2 / 2, LARGEST))
        return slope, np.maximum(ndtr(z + levels) - slope * mean, 0.0)

    def implied(self, levels: Floats) -> tuple[Floats, Floats]:
        mu = np.maximum(levels, 1e-12)[:, None]
        epsilons = mu * np.array([0.0, 0.5, 1.2])  # where G has slope e^epsilon
        return epsilons, np.maximum(gaussian_deltas(epsilons, mu), 0.0)

    def of(self, p: Floats, q: Floats) -> Floats:
        from scipy.special import ndtri

        p, q = (np.clip(share, _RAREST, 1 - _RAREST) for share in (p, q))  # finite levels
        return np.asarray(ndtri(p) - ndtri(q), float)


def gaussian_deltas(epsilons: Floats, mu: float | Floats) -> Floats:
    """Return delta(epsilon) of mu-GDP (Dong, Roth and Su 2022, Corollary 2.13)."""
    from scipy.special import log_ndtr, ndtr

    t = epsilons / mu - mu / 2
    return np.asarray(ndtr(-t) - np.exp(epsilons + log_ndtr(-t - mu)))


def check_range(name: str, value: object, most: float = LARGEST) -> None:
    """Raise `ArgumentError` unless a level is a number from 0 to the largest that is allowed."""
    if not 0 <= checks.real(name, value) <= most:
        raise ArgumentError(name, f"must lie in [0, {most:g}], got {value!r}")

"""Claims about a pair of distributions: one number, the level, for each notion of privacy.

    Gaussian(mu=1.0).text()  # "mu = 1 (Gaussian differential privacy)"

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

A claim answers for itself: what others need to know of it is a method or an attribute here, and
what has no default is abstract. To add one: docs/extending.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from epsilometer import checks
from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Floats

LARGEST = 300.0
"""The largest level, and exponent: the square of its exponential is finite."""
_RAREST = 1e-12  # probability of an event, of which mu-GDP has a finite level
_MOST_MU = 30.0  # no event of a probability above 1e-50 tells it from more
RISING = np.concatenate(
    [np.arange(0, 400) / 400, 1.0025 ** np.arange(math.ceil(math.log(LARGEST) / math.log(1.0025)))]
)
"""Levels from 0 to the largest, which are tested for a lower bound."""
_OF_TWO_LEVELS = (0.3, 0.4, 0.3)  # shares of bets: cautious and optimistic on the first, the other


@dataclass(frozen=True)
class ClaimOption:
    """How users state a claim: an option of the command, a key of a file, a name in Python.

    ``placeholder`` and ``about`` are for the help of the command. The ``example`` is a number, or
    maps some numbers to others; the command reads those of two ``columns`` from a file.
    """

    name: str
    placeholder: str
    example: float | Mapping[float, float]
    about: str
    columns: tuple[str, ...] = ()

    @property
    def takes_points(self) -> bool:
        """Whether its values are numbers at others."""
        return isinstance(self.example, Mapping)


@dataclass(frozen=True)
class Noise:
    """Gaussian noise of standard deviation 1, or Laplace noise of scale 1.

    ``distances`` of x and x' attain levels of a claim, of shape ``(m,)``.
    """

    gaussian: bool
    distances: Floats


class AnyClaim(ABC):
    """What a mechanism claims on neighbouring inputs: one level, or several that must all hold."""

    options: ClassVar[tuple[ClaimOption, ...]] = ()
    """How users state it, if it is registered; all but the first may be left out.

    Their values are arguments of `claimed`, the others by name."""
    one_run: ClassVar[bool] = False
    """Whether guesses about canaries of one run can test it."""

    @classmethod
    def claimed(cls, *args: Any, **kwargs: Any) -> AnyClaim:
        """Return the claim of the values of its options."""
        return cls(*args, **kwargs)

    @property
    @abstractmethod
    def parts(self) -> tuple[Claim, ...]:
        """The single claims, each with its level."""

    @property
    def levels(self) -> tuple[Claim, ...]:
        """The single claims of which a verdict has bounds: the parts, and perhaps others."""
        return self.events or self.parts

    @property
    def events(self) -> tuple[EventClaim, ...]:
        """The levels which the exact test bounds, if it tests the claim."""
        return ()

    def place_of(self, part: Claim) -> Mapping[str, float]:
        """Return where a part is: its order, or its point of a curve, for its bound."""
        return {}

    @abstractmethod
    def text(self) -> str:
        """Return the claim in words."""

    @abstractmethod
    def to_plain(self) -> dict[str, Any]:
        """Return the claim as plain values for JSON."""


@dataclass(frozen=True)
class Claim(AnyClaim):
    """One number, the level, that the mechanism claims not to exceed on neighbouring inputs."""

    grid: ClassVar[Floats] = RISING
    """The levels that are tested for a lower bound, rising from 0."""

    @property
    def orders(self) -> tuple[float, ...]:
        """Orders of Rényi divergences; none for claims about events."""
        return ()

    @property
    @abstractmethod
    def bet_shares(self) -> tuple[float, ...]:
        """The shares of the bets that are chosen at a time."""

    @property
    @abstractmethod
    def quantity(self) -> str:
        """The name of the level."""

    @property
    def field(self) -> str:
        """The name of the level among the fields."""
        return self.quantity

    @property
    def notion(self) -> str:
        """The name of the notion of privacy in JSON."""
        return self.options[0].name

    @property
    def level(self) -> float:
        """The claimed number."""
        number: float = getattr(self, self.field)
        return number

    @property
    def parts(self) -> tuple[Claim, ...]:
        return (self,)

    def at(self, level: float) -> Self:
        """Return the same claim of another level."""
        return replace(self, **{self.field: level})

    @abstractmethod
    def null(self, levels: Floats, mean: float | Floats, order: float) -> tuple[Floats, Floats]:
        """Return kappa and b at each level, as close as possible where E_Q psi is ``mean``."""

    @abstractmethod
    def of(self, p: Floats, q: Floats) -> Floats:
        """Return the smallest level at which an event may have probabilities ``p`` and ``q``."""

    @abstractmethod
    def likelier(self, q: Floats, level: float | Floats) -> Floats:
        """Return the largest P(S) that the level allows where Q(S) is ``q``."""

    def unsuspicious(self, q: Floats) -> Floats:
        """Return the probabilities of events on the other side that a witness exceeds."""
        return self.likelier(q, self.level)

    def divergence(self, levels: Any, order: Any) -> Any:
        """Return the largest divergence of an order that each level allows, in nats."""
        return np.full(np.shape(levels), math.inf)

    @abstractmethod
    def noise(self, levels: Floats) -> Noise:
        """Return noise that attains each level, for forecasts."""

    def to_plain(self) -> dict[str, Any]:
        return {"notion": self.notion, **asdict(self)}


class EventClaim(Claim):
    """A claim about the probabilities of events."""

    of_last_event: ClassVar[bool] = False
    """Whether the last of several chosen events was chosen for this level, not the first."""

    @property
    def bet_shares(self) -> tuple[float, ...]:
        return (0.4, 0.6)  # a cautious and an optimistic one

    @property
    def events(self) -> tuple[EventClaim, ...]:
        """The claim, and the same with another of its numbers as the level, if it has one."""
        return (self,)

    @property
    def fixed_delta(self) -> float | None:
        """The delta of a claim (epsilon, delta) whose levels are epsilons; None of others."""
        return None

    @abstractmethod
    def implied(self, levels: Floats) -> tuple[Floats, Floats]:
        """Return epsilons and deltas, ``(m, t)``, of t claims that each of m levels implies."""

    def likelier(self, q: Floats, level: float | Floats) -> Floats:
        kappa, b = self.null(np.asarray(level), q, math.nan)
        return np.minimum(kappa * np.asarray(q) + b, 1.0)


@dataclass(frozen=True)
class Pure(EventClaim):
    """(epsilon, delta)-differential privacy; pure where delta is 0. Levels are epsilons."""

    options = (
        ClaimOption("epsilon", "E", 1.0, "pure differential privacy with this epsilon"),
        ClaimOption("delta", "D", 0.01, "with --epsilon: approximate differential privacy"),
    )
    quantity = "epsilon"
    one_run = True
    epsilon: float
    delta: float = 0.0

    @property
    def notion(self) -> str:
        return "approximate" if self.delta else "pure"

    @property
    def bet_shares(self) -> tuple[float, ...]:
        return _OF_TWO_LEVELS if self.delta else super().bet_shares

    @property
    def events(self) -> tuple[EventClaim, ...]:
        return (self, Delta(self.epsilon, self.delta)) if self.delta else (self,)

    @property
    def fixed_delta(self) -> float | None:
        return self.delta

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

    def noise(self, levels: Floats) -> Noise:
        return Noise(gaussian=False, distances=levels - 2 * math.log1p(-self.delta))

    def text(self) -> str:
        if self.delta:
            return f"(epsilon, delta) = ({self.epsilon:g}, {self.delta:g})"
        return f"epsilon = {self.epsilon:g}"


@dataclass(frozen=True)
class Delta(EventClaim):
    """The same claim with the roles exchanged: levels are deltas, epsilon is fixed."""

    quantity = "delta"
    notion = "approximate"
    bet_shares = _OF_TWO_LEVELS
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

    def noise(self, levels: Floats) -> Noise:
        return Noise(gaussian=False, distances=self.epsilon - 2 * np.log1p(-levels))

    def text(self) -> str:
        return f"delta = {self.delta:g} at epsilon = {self.epsilon:g}"


@dataclass(frozen=True)
class Gaussian(EventClaim):
    """mu-GDP: no easier to distinguish than N(0, 1) and N(mu, 1) (Dong, Roth and Su 2022)."""

    options = (ClaimOption("gdp", "MU", 1.0, "Gaussian differential privacy with this mu"),)
    quantity = "mu"
    one_run = True
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

    def noise(self, levels: Floats) -> Noise:
        return Noise(gaussian=True, distances=levels)

    def text(self) -> str:
        return f"mu = {self.mu:g} (Gaussian differential privacy)"


def gaussian_deltas(epsilons: Floats, mu: float | Floats) -> Floats:
    """Return delta(epsilon) of mu-GDP (Dong, Roth and Su 2022, Corollary 2.13)."""
    from scipy.special import log_ndtr, ndtr

    t = epsilons / mu - mu / 2
    return np.asarray(ndtr(-t) - np.exp(epsilons + log_ndtr(-t - mu)))


def check_range(name: str, value: object, most: float = LARGEST) -> None:
    """Raise `ArgumentError` unless a level is a number from 0 to the largest that is allowed."""
    if not 0 <= checks.real(name, value) <= most:
        raise ArgumentError(name, f"must lie in [0, {most:g}], got {value!r}")

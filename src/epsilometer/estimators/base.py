"""Bases of estimators, their claims and their results."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from epsilometer import checks
from epsilometer.checks import Checked, Fractional, Positive, Several
from epsilometer.densities.base import Densities
from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Bools, Counts, Floats, Sample


@dataclass(frozen=True)
class Claims(Checked):
    """The provider's claims about the outputs; an estimator has no other prior knowledge.

    Either ``support`` (outputs are reals in that interval, with ``lipschitz`` the constant C of
    their densities, in one over the square of the outputs' unit), or ``outcomes`` (outputs are the
    integers below it, none rarer than ``smallest_probability``), or nothing. Raise `ArgumentError`
    for both, and for numbers out of range.
    """

    support: tuple[float, float] | None = None
    lipschitz: Positive | None = None
    outcomes: Several | None = None
    smallest_probability: Fractional | None = None

    def __post_init__(self) -> None:
        if self.support is not None and self.outcomes is not None:
            raise ArgumentError("claims", "must not name both a support and a number of outcomes")
        if self.support is not None:
            checks.interval("support", *self.support)
        super().__post_init__()

    @property
    def width(self) -> float:
        """W, the width of the support; raise `ArgumentError` where none is claimed."""
        if self.support is None:
            raise ArgumentError("support", "must be claimed for outputs on an interval")
        return self.support[1] - self.support[0]


@dataclass(frozen=True)
class PairEstimates:
    """Levels of one pair of inputs, in nats; arrays share one shape, and failed levels are NaN."""

    forward: Floats
    reverse: Floats
    failed: Bools

    @property
    def both(self) -> Floats:
        """The larger of the two directions, of the same shape."""
        return np.maximum(self.forward, self.reverse)


@dataclass(frozen=True)
class OutputEvidence:
    """The evidence of fresh samples of a pair about one output t_hat; scalars, or ``(runs,)``.

    For x and for x', ``density`` at t_hat (floored; a relative frequency where outputs have atoms,
    else in one over the unit of outputs) and the variance of its logarithm. ``sign`` is 1 where x
    was likelier in the first samples, -1 where x' was.
    """

    density: ArrayLike
    density_prime: ArrayLike
    log_variance: ArrayLike
    log_variance_prime: ArrayLike
    sign: ArrayLike


@dataclass(frozen=True)
class Loss:
    """The result of a first stage for one pair.

    ``loss`` is in nats. ``target``, of the selected pair only, is the output to be confirmed by
    fresh samples, as plain data for JSON.
    """

    loss: float
    target: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class LevelEstimate:
    """A level in nats, NaN where the method fails, and the ends of its interval, if it has one."""

    level: float
    low: float = math.nan
    high: float = math.nan


Guarantee = Literal["finite-sample", "asymptotic", "none"]


class Estimator(Checked, ABC):
    """The base of all methods; implementations are frozen dataclasses.

    They raise `ArgumentError` for parameters out of range. Levels and bounds are in nats.

    ``reads`` is ``histograms`` (`HistogramMethod`), ``densities`` (`DensityMethod`), ``losses`` of
    every pair (`ScreeningMethod`), ``evidence`` of fresh samples of the pair that ``after``
    selects, ``verdicts`` of a classifier, or the ``samples`` themselves (`SampleMethod`).
    """

    reads: ClassVar[Literal["histograms", "densities", "losses", "evidence", "verdicts", "samples"]]
    symmetric: ClassVar[bool] = False
    """Whether it answers for both directions at once, by the larger of their levels."""

    guarantee: ClassVar[Guarantee] = "none"
    """Whether the result, or its lower end, lies above the truth in a share alpha of the runs at
    most: at every n, for large n, or without a promise."""

    @property
    def precision(self) -> float | None:
        """The error that counts as a success; None for bounds and results that are not levels."""
        return None

    @abstractmethod
    def check(self, outputs: str, order: float) -> None:
        """Raise `ArgumentError` unless it applies to outputs of this kind, at this order."""


class ScreeningMethod(Estimator):
    """A first stage: the loss of every pair, and the pair to draw fresh samples of."""

    reads = "losses"
    symmetric = True
    largest: bool
    """Whether its result is that of the selected pair only."""

    @abstractmethod
    def screen(
        self, pairs: Iterable[tuple[Sample, Sample]], region: Sequence[float] | None = None
    ) -> tuple[int, list[Loss]]:
        """Return the position of the selected pair, the first of ties, and the `Loss` of each.

        Samples have shape ``(n,)`` or ``(n, d)``, of integers or floats; pairs are read once, in
        order. ``region`` has the ends of the search, in the unit of outputs. Raise `ArgumentError`
        where there is no pair.
        """

    @abstractmethod
    def weigh(self, x: Sample, x_prime: Sample, target: Mapping[str, Any]) -> OutputEvidence:
        """Return the evidence of one run's fresh samples of the selected pair.

        They have shape ``(N,)`` or ``(N, d)``; raise `ArgumentError` unless both sides have N.
        """


class HistogramMethod(Estimator):
    """A method that reads histograms; it raises `ArgumentError` where a claim is missing."""

    reads = "histograms"

    @abstractmethod
    def cells(self, claims: Claims, order: float) -> int:
        """Return m, the number of histogram cells."""

    @abstractmethod
    def planned_samples(
        self, claims: Claims, order: float, delta: float, *, as_published: bool = False
    ) -> int:
        """Return n, the samples of each side that the theorem needs at confidence delta.

        ``as_published`` gives the paper's number, also where it does not keep the promise.
        """

    @abstractmethod
    def estimate(self, x: Counts, x_prime: Counts, claims: Claims, order: float) -> PairEstimates:
        """Estimate from histograms of both sides, of shape ``(..., cells)``."""


class DensityMethod(Estimator):
    """A method that reads the densities of both sides of every pair."""

    reads = "densities"
    largest: bool
    """Whether a run has one result, the largest of its pairs."""

    @property
    @abstractmethod
    def reduction(self) -> Mapping[str, float]:
        """The reduction of draws: ``cells``, or the ``points`` and ``power`` of kernels."""

    def check_pairs(self, pairs: int, *, own_samples: bool) -> None:
        """Raise `ArgumentError` unless it applies to that many pairs, with own samples or not."""

    @abstractmethod
    def bounds(
        self, densities: Densities, *, order: float, n: int, pairs: int
    ) -> tuple[float, float]:
        """Return both directions' bounds for one of ``pairs``, from ``n`` draws of each side."""

    @abstractmethod
    def trusted(self, densities: Densities, *, order: float, n: int) -> bool:
        """Return whether ``n`` draws of each side are enough for the bounds' approximations."""


class SampleMethod(Estimator):
    """A method that reads the draws of a pair themselves."""

    reads = "samples"

    @abstractmethod
    def estimate(
        self, x: Sample, x_prime: Sample, claims: Claims, order: float, rng: np.random.Generator
    ) -> LevelEstimate:
        """Estimate the level from x to x', of shape ``(n,)`` or ``(n, d)``, or refuse them."""


def both_ways(method: SampleMethod, x: Sample, x_prime: Sample, *given: Any) -> list[LevelEstimate]:
    """Return answers on sides ``(n,)`` or ``(n, d)``, both ways, or raise `ArgumentError`."""
    forward = method.estimate(x, x_prime, *given)
    reverse = forward
    if not method.symmetric:
        reverse = method.estimate(x_prime, x, *given)
    for answer in (forward, reverse):
        if not isinstance(answer, LevelEstimate):
            raise ArgumentError("estimate()", f"must return a LevelEstimate, not {answer!r:.60}")
    return [forward, reverse]


def check_pure(order: float, why: str) -> None:
    """Raise `ArgumentError` unless the order is infinite."""
    if not math.isinf(order):
        raise ArgumentError("lambda", f"must be inf: {why}")


def check_countable(outputs: str) -> None:
    """Raise `ArgumentError` unless outputs can be counted in a histogram of one dimension."""
    if outputs not in ("scalar", "index"):
        raise ArgumentError("outputs", f"must be scalar or index for a histogram, not {outputs}")


def pairs_of(sides: int, pairing: Literal["all", "consecutive"]) -> list[tuple[int, int]]:
    """Return the pairs of sides.

    With ``all``, one sample of each input serves all its pairs; with ``consecutive``, sides 0 and 1
    are a pair of their own, 2 and 3 the next.
    """
    if pairing == "all":
        return list(combinations(range(sides), 2))
    return list(zip(range(0, sides, 2), range(1, sides, 2), strict=True))


def over_pairs(
    estimator: HistogramMethod,
    counts: Counts,
    claims: Claims,
    order: float,
    pairing: Literal["all", "consecutive"] = "all",
) -> dict[tuple[int, int], PairEstimates]:
    """Run an estimator on pairs of sides (gorla2022, Algorithms 2 and 4).

    ``counts`` has shape ``(..., sides, cells)``; see `pairs_of` for the pairing.
    """
    levels = {}
    for i, j in pairs_of(counts.shape[-2], pairing):
        ours = counts[..., i, :]
        theirs = counts[..., j, :]
        levels[i, j] = estimator.estimate(ours, theirs, claims, order)
    return levels

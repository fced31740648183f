"""What every estimator is told, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from epsilometer import checks
from epsilometer.errors import ArgumentError

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Claims:
    """What the provider states about the outputs; an estimator has no other prior knowledge.

    Either ``support`` (outputs are reals in that interval, with ``lipschitz`` the constant C of
    their densities), or ``outcomes`` (outputs are the integers below it, none rarer than
    ``smallest_probability``), or nothing.
    """

    support: tuple[float, float] | None = None
    lipschitz: float | None = None
    outcomes: int | None = None
    smallest_probability: float | None = None

    def __post_init__(self) -> None:
        if self.support is not None and self.outcomes is not None:
            raise ArgumentError("claims", "must not name both a support and a number of outcomes")
        if self.support is not None:
            checks.interval("support", *self.support)
        if self.outcomes is not None:
            checks.integer("outcomes", self.outcomes, minimum=2)
        if self.lipschitz is not None:
            checks.positive("lipschitz", self.lipschitz)
        if self.smallest_probability is not None:
            checks.between_0_and_1("smallest_probability", self.smallest_probability)

    @property
    def width(self) -> float:
        """W, the width of the support."""
        if self.support is None:
            raise ArgumentError("support", "must be claimed for outputs on an interval")
        return self.support[1] - self.support[0]


@dataclass(frozen=True)
class PairEstimates:
    """Answers for one pair of inputs; arrays share one shape, a failed answer is NaN."""

    forward: Floats
    reverse: Floats
    failed: NDArray[np.bool_]

    @property
    def both(self) -> Floats:
        """The larger of the two directions."""
        return np.maximum(self.forward, self.reverse)


@dataclass(frozen=True)
class Evidence:
    """What the fresh samples of a pair say; a number, or one a run of shape ``(runs,)``.

    ``density`` at the output t_hat (floored; a relative frequency where outputs have atoms) with
    the variance of its logarithm, and how many of ``draws`` lie in the event: for x and for x'.
    ``sign`` is 1 where x is the side that was likelier in the first samples.
    """

    density: ArrayLike
    density_prime: ArrayLike
    log_variance: ArrayLike
    log_variance_prime: ArrayLike
    in_event: ArrayLike
    in_event_prime: ArrayLike
    draws: ArrayLike
    sign: ArrayLike


@dataclass(frozen=True)
class Densities:
    """Relative frequencies of k atoms on both sides (``spacing`` 1), or values on an even grid.

    ``bandwidths`` are 0 where outputs have atoms.
    """

    p: Floats
    q: Floats
    spacing: float = 1.0
    bandwidths: tuple[float, float] = (0.0, 0.0)


class Estimator(Protocol):
    """What all methods share; implementations are frozen dataclasses.

    ``reads`` names what samples are reduced to for the method: ``histograms`` (`HistogramMethod`),
    ``densities`` (of each pair, on ``points`` points), ``losses`` (the local loss of every pair),
    ``evidence`` (of fresh samples of one pair, with ``after`` the entry that chose it) or
    ``verdicts`` (of a classifier on test draws of every pair).
    """

    reads: ClassVar[Literal["histograms", "densities", "losses", "evidence", "verdicts"]]
    symmetric: ClassVar[bool]
    """Whether it answers for both directions at once, by the larger of their levels."""

    @property
    def precision(self) -> float | None:
        """The error that counts as a success; None where the answer is a bound or no level."""

    def check(self, outputs: str, order: float) -> None:
        """Raise `ArgumentError` unless it applies to outputs of this kind, at this order."""


class HistogramMethod(Estimator, Protocol):
    """A method that reads histograms."""

    def cells(self, claims: Claims, order: float) -> int:
        """Return m, the number of histogram cells that the method wants."""

    def planned_samples(self, claims: Claims, order: float, delta: float) -> int:
        """Return n, the samples a side that the method's theorem asks for at confidence delta."""

    def estimate(self, x: Counts, x_prime: Counts, claims: Claims, order: float) -> PairEstimates:
        """Answer for histograms of shape ``(..., cells)`` of the two sides."""


class DensityMethod(Estimator, Protocol):
    """A method that reads the densities of both sides of every pair."""

    points: int
    power: float
    largest: ClassVar[bool]
    """Whether a run's answer is the largest of its pairs', not one for each."""

    def check_pairs(self, pairs: int, *, own_samples: bool) -> None:
        """Raise `ArgumentError` unless it applies to so many pairs, sharing samples or not."""

    def bounds(
        self, densities: Densities, *, order: float, n: int, pairs: int
    ) -> tuple[float, float]:
        """Answer in both directions for one of ``pairs``."""


def check_countable(outputs: str) -> None:
    """Raise `ArgumentError` unless outputs can be counted in a histogram of one dimension."""
    if outputs not in ("scalar", "index"):
        raise ArgumentError("outputs", f"must be scalar or index for a histogram, not {outputs}")


def pairs_of(sides: int, pairing: Literal["all", "consecutive"]) -> list[tuple[int, int]]:
    """Return the pairs that so many sides make.

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
    return {
        (i, j): estimator.estimate(counts[..., i, :], counts[..., j, :], claims, order)
        for i, j in pairs_of(counts.shape[-2], pairing)
    }


def maximum(answers: dict[tuple[int, int], PairEstimates]) -> PairEstimates:
    """Return the largest answer among the pairs that succeed; failed only if none does."""
    forward = np.stack([answer.forward for answer in answers.values()])
    reverse = np.stack([answer.reverse for answer in answers.values()])
    failed = np.stack([answer.failed for answer in answers.values()])

    def largest(values: Floats) -> Floats:
        top = np.where(failed, -np.inf, values).max(axis=0)
        return np.where(none, np.nan, top)

    none = np.asarray(failed.all(axis=0))
    return PairEstimates(largest(forward), largest(reverse), none)

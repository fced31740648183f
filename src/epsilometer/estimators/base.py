"""What every estimator is told, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from epsilometer import checks
from epsilometer.arrays import Bools, Counts, Floats, Sample
from epsilometer.densities.base import Densities
from epsilometer.errors import ArgumentError


@dataclass(frozen=True)
class Claims:
    """What the provider states about the outputs; an estimator has no other prior knowledge.

    Either ``support`` (outputs are reals in that interval, with ``lipschitz`` the constant C of
    their densities, in one over the square of the outputs' unit), or ``outcomes`` (outputs are the
    integers below it, none rarer than ``smallest_probability``), or nothing. Raise `ArgumentError`
    for both, and for numbers out of range.
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
        """W, the width of the support; raise `ArgumentError` where none is claimed."""
        if self.support is None:
            raise ArgumentError("support", "must be claimed for outputs on an interval")
        return self.support[1] - self.support[0]


@dataclass(frozen=True)
class PairEstimates:
    """Answers for one pair of inputs; arrays share one shape, a failed answer is NaN.

    Levels are in nats.
    """

    forward: Floats
    reverse: Floats
    failed: Bools

    @property
    def both(self) -> Floats:
        """The larger of the two directions, of the same shape."""
        return np.maximum(self.forward, self.reverse)


@dataclass(frozen=True)
class OutputEvidence:
    """What the fresh samples of a pair say about one output; a number, or one a run ``(runs,)``.

    ``density`` at the output t_hat (floored; a relative frequency where outputs have atoms, else in
    one over the unit of outputs) with the variance of its logarithm: for x and for x'. ``sign`` is
    1 where x is the side that was likelier in the first samples, -1 where x' was.
    """

    density: ArrayLike
    density_prime: ArrayLike
    log_variance: ArrayLike
    log_variance_prime: ArrayLike
    sign: ArrayLike


@dataclass(frozen=True)
class EventEvidence:
    """What the fresh samples say about the events that were chosen, of one run or of several.

    A run has ``draws`` of each side and lists with, for each of its events, how many of the draws
    of x and of x' lie in it, its ``sign`` as above, and its ``share`` of alpha; shares add up to 1.
    """

    in_event: Sequence[Any]
    in_event_prime: Sequence[Any]
    draws: Any
    sign: Sequence[Any]
    share: Sequence[Any]


@dataclass(frozen=True)
class Loss:
    """What a first stage found out about one pair.

    ``loss`` is the answer, in nats; ``found`` says what fresh samples are to be asked, as JSON can
    hold it: of many pairs, for the selected one only.
    """

    loss: float
    found: Mapping[str, Any] | None = None


class Estimator(Protocol):
    """What all methods share; implementations are frozen dataclasses.

    They raise `ArgumentError` for parameters out of range. Levels and bounds are in nats.

    ``reads`` names what samples are reduced to for the method: ``histograms`` (`HistogramMethod`),
    ``densities`` (of each pair, by their ``reduction``), ``losses`` (the local loss of every pair),
    ``evidence`` (of fresh samples of one pair, with ``after`` the entry that chose it) or
    ``verdicts`` (of a classifier on test draws of every pair).
    """

    reads: ClassVar[Literal["histograms", "densities", "losses", "evidence", "verdicts"]]
    symmetric: ClassVar[bool]
    """Whether it answers for both directions at once, by the larger of their levels."""

    guarantee: ClassVar[Literal["finite-sample", "asymptotic", "none"]]
    """What the answer, or its lower end, promises: that it lies above the truth in a share alpha of
    the runs at most, at every n or for large n; or nothing."""

    @property
    def precision(self) -> float | None:
        """The error that counts as a success; None where the answer is a bound or no level."""

    def check(self, outputs: str, order: float) -> None:
        """Raise `ArgumentError` unless it applies to outputs of this kind, at this order."""


class ScreeningMethod(Estimator, Protocol):
    """A first stage: the loss of every pair, and the pair that fresh samples are drawn of."""

    evidence: ClassVar[type]
    """What it makes of the fresh samples: `OutputEvidence` or `EventEvidence`."""

    largest: bool
    """Whether, as an estimator, it answers for the selected pair only."""

    def screen(
        self,
        pairs: Iterable[tuple[Sample, Sample]],
        *,
        draws: int,
        region: Sequence[float] | None = None,
    ) -> tuple[int, list[Loss]]:
        """Return the position of the selected pair, and the `Loss` of each; see `local_loss`.

        Raise `ArgumentError` where there is no pair.

        Parameters
        ----------
        pairs
            Samples of both sides, of shape ``(n,)`` or ``(n, d)``.
        draws
            N, how many fresh draws a side are to come.
        region
            The ends of where to look, in the unit of outputs.
        """

    def weigh(
        self, x: Sample, x_prime: Sample, found: Mapping[str, Any]
    ) -> OutputEvidence | EventEvidence:
        """Return what fresh samples of the selected pair say, for one run.

        They have shape ``(N,)`` or ``(N, d)``; raise `ArgumentError` unless both sides have N.
        """


class HistogramMethod(Estimator, Protocol):
    """A method that reads histograms; it raises `ArgumentError` where it misses a claim."""

    def cells(self, claims: Claims, order: float) -> int:
        """Return m, the number of histogram cells that the method wants."""

    def planned_samples(
        self, claims: Claims, order: float, delta: float, *, as_published: bool = False
    ) -> int:
        """Return n, the samples a side that the method's theorem asks for at confidence delta.

        ``as_published`` asks for what a paper prints where that does not keep the promise.
        """

    def estimate(self, x: Counts, x_prime: Counts, claims: Claims, order: float) -> PairEstimates:
        """Answer for histograms of shape ``(..., cells)`` of the two sides."""


class DensityMethod(Estimator, Protocol):
    """A method that reads the densities of both sides of every pair."""

    largest: ClassVar[bool]
    """Whether a run's answer is the largest of its pairs', not one for each."""

    @property
    def reduction(self) -> Mapping[str, float]:
        """What draws are reduced to: ``cells``, or the ``points`` and ``power`` of kernels."""

    def check_pairs(self, pairs: int, *, own_samples: bool) -> None:
        """Raise `ArgumentError` unless it applies to so many pairs, sharing samples or not."""

    def bounds(
        self, densities: Densities, *, order: float, n: int, pairs: int
    ) -> tuple[float, float]:
        """Answer in both directions for one of ``pairs``, from ``n`` draws a side."""

    def trusted(self, densities: Densities, *, order: float, n: int) -> bool:
        """Tell whether ``n`` draws a side are enough for what these bounds rest on."""


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
    """Return the largest answer among the pairs that succeed; failed only if none does.

    The pairs' arrays, and the result's, are of one shape (gorla2022, Algorithms 2 and 4).
    """
    forward = np.stack([answer.forward for answer in answers.values()])
    reverse = np.stack([answer.reverse for answer in answers.values()])
    failed = np.stack([answer.failed for answer in answers.values()])

    def largest(values: Floats) -> Floats:
        top = np.where(failed, -np.inf, values).max(axis=0)
        return np.where(none, np.nan, top)

    none = np.asarray(failed.all(axis=0))
    return PairEstimates(largest(forward), largest(reverse), none)

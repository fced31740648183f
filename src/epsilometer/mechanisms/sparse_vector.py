"""The Sparse Vector Technique: for each query, whether its answer is above a noisy threshold.

Numbered as in Lyu, Su and Li (PVLDB 2017, Algorithms 1 to 6), sensitivity 1, at most c positives:

====  ==============================  =====================  ==========================
 no.  threshold noise rho             query noise nu          otherwise
====  ==============================  =====================  ==========================
  1   Lap(1/e1), e1 = e2 = eps/2      Lap(2c/e2)              stops after c positives
  2   Lap(c/e1), e1 = eps/2           Lap(2c/e1)              rho anew after each positive
  4   Lap(1/e1), e1 = eps/4           Lap(1/(eps - e1))       stops; (1+6c)/4 eps-private
  5   Lap(1/e1), e1 = eps/2           none                    never stops; not private
  6   Lap(1/e1), e1 = e2 = eps/2      Lap(1/e2)               never stops; not private
====  ==============================  =====================  ==========================

Variant 3, `SparseVectorMixed`, releases a noisy number with each positive.

An output is an integer: bit i is 1 if query i was answered "above". Queries after the stop have
bit 0. This loses nothing, because the stop follows from the positives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Floats, Indices, Sample
from epsilometer.checks import Count, Flag, Positive, Real
from epsilometer.compiled import compiled
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs, QueryAnswers
from epsilometer.mechanisms.noise import Noise, blocks


@dataclass(frozen=True)
class SparseVector(QueryAnswers):
    """One of the variants with outputs in bits.

    ``corrected`` runs variant 4 at 4/(1 + 6c) of epsilon, so that it keeps its promise.
    """

    outputs: ClassVar[Outputs] = "index"
    most_queries: ClassVar[int] = 30  # bits of an output
    epsilon: Positive
    variant: Literal[1, 2, 4, 5, 6]
    queries: Count = 10
    threshold: Real = 1.0
    positives: Count = 1
    corrected: Flag = False

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.integer("queries", self.queries, maximum=self.most_queries)
        if self.corrected and self.variant != 4:
            raise ArgumentError("corrected", "applies to variant 4 only")

    @property
    def noise_scales(self) -> tuple[float, float]:
        """Scales of rho and of nu (0 where there is no noise)."""
        eps, c = self.epsilon, self.positives
        if self.variant == 4:
            eps *= 4 / (1 + 6 * c) if self.corrected else 1
            return 4 / eps, 4 / (3 * eps)
        half = eps / 2
        query = {1: 2 * c / half, 2: 2 * c / half, 5: 0.0, 6: 1 / half}[self.variant]
        return (c if self.variant == 2 else 1) / half, query

    @property
    def most_positives(self) -> int:
        """The number of positives after which it stops."""
        return self.queries if self.variant in (5, 6) else min(self.positives, self.queries)

    @property
    def redraws(self) -> bool:
        """Whether the threshold noise is drawn anew after each positive."""
        return self.variant == 2

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Indices:
        """Draw ``size`` outputs."""
        return self._bits(np.zeros(size, np.int32), x, rng)

    def _bits(self, outputs: Sample, x: Sequence[float], rng: np.random.Generator) -> Sample:
        """Draw the answers "above" as bits of outputs that are 0."""
        gaps = np.asarray(x, np.float64) - self.threshold
        stops = self.most_positives == 1
        if stops or (self.most_positives == self.queries and not self.redraws):
            _answer_all(outputs, gaps, *self.noise_scales, stops, rng)
        else:
            _run(outputs, gaps, *self.noise_scales, self.most_positives, self.redraws, rng)
        return outputs


@dataclass(frozen=True)
class SparseVectorBits(SparseVector):
    """The same with up to 62 queries, and bit vectors as outputs."""

    outputs: ClassVar[Outputs] = "bits"
    most_queries: ClassVar[int] = 62

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Sample:
        """Draw ``size`` outputs."""
        return self._bits(np.zeros(size, np.int64), x, rng)


@dataclass(frozen=True)
class SparseVectorFirst(SparseVector):
    """A variant that stops at its first positive; the output is that query's index.

    It is the number of queries where none was positive.
    """

    most_queries: ClassVar[int] = 62

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.most_positives != 1:
            raise ArgumentError("variant", "must be 1, 2 or 4 with one positive, to stop at it")

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Indices:
        """Draw ``size`` indices."""
        bits = self._bits(np.zeros(size, np.int64), x, rng)
        _, exponents = np.frexp(bits.astype(np.float64))  # a single bit is a power of two
        return np.where(bits > 0, exponents - 1, self.queries).astype(np.int32)


@dataclass(frozen=True)
class SparseVectorMixed(QueryAnswers):
    """Variant 3: each positive releases its noisy answer, Lap(c/e2) with e1 = e2 = epsilon/2.

    An output has an entry a query: the number released, or NaN where the answer was "below" or the
    query came after the stop. It is neither discrete nor continuous, and not private.
    """

    outputs: ClassVar[Outputs] = "mixed"
    epsilon: Positive
    queries: Count = 10
    threshold: Real = 1.0
    positives: Count = 1

    @property
    def dimension(self) -> int:
        """Entries of an output."""
        return self.queries

    @property
    def noise_scales(self) -> tuple[float, float]:
        """Scales of rho and of nu."""
        return 2 / self.epsilon, 2 * self.positives / self.epsilon

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Floats:
        """Draw ``size`` outputs of shape ``(size, queries)``."""
        rho_scale, nu_scale = self.noise_scales
        bar = self.threshold + rng.laplace(0, rho_scale, (size, 1))
        noisy = np.asarray(x, np.float64) + rng.laplace(0, nu_scale, (size, self.queries))
        positive = noisy >= bar
        running = np.cumsum(positive, axis=1) - positive < self.positives  # not yet stopped
        return np.where(positive & running, noisy, np.nan)


def _answer_all(
    outputs: Sample,
    gaps: Floats,
    rho_scale: float,
    nu_scale: float,
    stops: bool,
    rng: np.random.Generator,
) -> None:
    """Answer all queries; where the mechanism ``stops``, drop those after the first positive.

    A word at or above P(nu < c) is a query noise nu >= c, without a logarithm.
    """
    noise = Noise(rng)
    ends = [0, *(np.flatnonzero(np.diff(gaps)) + 1).tolist(), gaps.size]  # of equal answers
    for block in blocks(outputs.size, gaps.size + 1):
        bits = outputs[block]
        rho = noise.laplaces(bits.size, rho_scale)
        for first, last in itertools.pairwise(ends):
            if nu_scale == 0:
                _compare(bits, rho, gaps[first], first, last)
                continue
            tails = np.empty(bits.size)
            _exponents(tails, rho, gaps[first], nu_scale)
            np.exp(tails, out=tails)
            _answer(bits, rho, gaps[first], tails, first, noise.words(last - first, bits.size))
        if stops:
            bits &= -bits  # the lowest bit that is set


@compiled
def _compare(bits, rho, gap, first, last):  # type: ignore[no-untyped-def]
    for j in range(first, last):
        for i in range(bits.size):
            bits[i] |= (gap >= rho[i]) << j


@compiled
def _exponents(exponents, rho, gap, nu_scale):  # type: ignore[no-untyped-def]
    for i in range(exponents.size):
        exponents[i] = -abs(rho[i] - gap) / nu_scale


@compiled
def _answer(bits, rho, gap, tails, first, words):  # type: ignore[no-untyped-def]
    """Answer queries with equal answers, by arithmetic, as branches are slow here."""
    for j in range(words.shape[0]):
        for i in range(bits.size):
            tail = 0.5 * tails[i]
            below = 1.0 - tail if rho[i] > gap else tail
            uniform = np.float64(words[j, i] >> np.uint64(11)) * 2.0**-53
            bits[i] |= (uniform >= below) << (first + j)


@compiled
def _laplace(scale, rng):  # type: ignore[no-untyped-def]
    """Draw Laplace noise: a uniform in (-1, 1) gives the sign and, by inversion, the size."""
    u = 2.0 * rng.random() - 1.0
    return math.copysign(scale * math.log(1.0 - abs(u)), u)


@compiled
def _below(c, scale):  # type: ignore[no-untyped-def]
    """Return P(nu < c): a uniform at or above it is a query noise nu >= c, without a logarithm."""
    if scale == 0:
        return 1.0 if c > 0 else 0.0
    tail = 0.5 * math.exp(-abs(c) / scale)
    return 1.0 - tail if c > 0 else tail


@compiled
def _run(outputs, gaps, rho_scale, nu_scale, most, redraws, rng):  # type: ignore[no-untyped-def]
    for i in range(outputs.size):
        rho = _laplace(rho_scale, rng)
        chance = _below(rho - gaps[0], nu_scale)
        positives = bits = 0
        for j in range(gaps.size):
            if j > 0 and gaps[j] != gaps[j - 1]:
                chance = _below(rho - gaps[j], nu_scale)
            if (rng.random() if nu_scale > 0 else 0.5) >= chance:
                bits |= 1 << j
                positives += 1
                if positives == most:
                    break
                if redraws:
                    rho = _laplace(rho_scale, rng)
                    chance = _below(rho - gaps[j], nu_scale)
        outputs[i] = bits

"""The Sparse Vector Technique: for each query, whether its answer is above a noisy threshold.

Numbered as in Lyu, Su and Li (PVLDB 2017, Algorithms 1 to 6), sensitivity 1, at most one positive
(variant 3 releases numbers, and is not here):

====  ==============================  =====================  ==========================
 no.  threshold noise rho             query noise nu          otherwise
====  ==============================  =====================  ==========================
  1   Lap(1/e1), e1 = e2 = eps/2      Lap(2/e2)               stops at the positive
  2   Lap(1/e1), e1 = eps/2           Lap(2/e1)               stops at the positive
  4   Lap(1/e1), e1 = eps/4           Lap(1/(eps - e1))       stops; 7/4 eps-private
  5   Lap(1/e1), e1 = eps/2           none                    never stops; not private
  6   Lap(1/e1), e1 = e2 = eps/2      Lap(1/e2)               never stops; not private
====  ==============================  =====================  ==========================

An output is an integer: bit i is 1 if query i was answered "above". Queries after the stop have
bit 0. This loses nothing, because the stop follows from the positives.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from epsilometer import checks
from epsilometer.checks import Count, Flag, Positive, Real
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs, QueryAnswers
from epsilometer.mechanisms.noise import Noise, blocks
from epsilometer.numerics.arrays import Indices, Sample
from epsilometer.numerics.compiled import compiled


@dataclass(frozen=True)
class SparseVector(QueryAnswers):
    """One of the variants with outputs in bits.

    ``corrected`` runs variant 4 at 4/7 of epsilon, so that it keeps its promise.
    """

    outputs: ClassVar[Outputs] = "index"
    most_queries: ClassVar[int] = 30  # bits of an output
    epsilon: Positive
    variant: Literal[1, 2, 4, 5, 6]
    queries: Count = 10
    threshold: Real = 1.0
    corrected: Flag = False

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.integer("queries", self.queries, maximum=self.most_queries)
        if self.corrected and self.variant != 4:
            raise ArgumentError("corrected", "applies to variant 4 only")

    @property
    def noise_scales(self) -> tuple[float, float]:
        """Scales of rho and of nu (0 where there is no noise)."""
        if self.variant == 4:
            eps = self.epsilon * (4 / 7 if self.corrected else 1)
            return 4 / eps, 4 / (3 * eps)
        half = self.epsilon / 2
        return 1 / half, {1: 2 / half, 2: 2 / half, 5: 0.0, 6: 1 / half}[self.variant]

    @property
    def stops(self) -> bool:
        """Whether it stops at the first positive."""
        return self.variant in (1, 2, 4)

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Indices:
        return self._bits(np.zeros(size, np.int32), x, rng)

    def _bits(self, outputs: Sample, x: Sequence[float], rng: np.random.Generator) -> Sample:
        """Draw the answers "above" as bits: a word at or above P(nu < c) is a noise nu >= c."""
        gaps = np.asarray(x, np.float64) - self.threshold
        rho_scale, nu_scale = self.noise_scales
        noise = Noise(rng)
        ends = [0, *(np.flatnonzero(np.diff(gaps)) + 1).tolist(), gaps.size]  # of equal answers
        for block in blocks(outputs.size, gaps.size + 1):
            bits = outputs[block]
            rho = noise.laplaces(bits.size, rho_scale)
            for first, last in itertools.pairwise(ends):
                if nu_scale == 0:
                    above = (gaps[first] >= rho).astype(bits.dtype)
                    above *= (1 << last) - (1 << first)
                    bits |= above
                    continue
                tails = np.abs(rho - gaps[first])
                tails /= -nu_scale
                np.exp(tails, out=tails)
                _answer(bits, rho, gaps[first], tails, first, noise.words(last - first, bits.size))
            if self.stops:
                bits &= -bits  # the lowest bit that is set
        return outputs


@dataclass(frozen=True)
class SparseVectorBits(SparseVector):
    """The same with up to 62 queries, and bit vectors as outputs."""

    outputs: ClassVar[Outputs] = "bits"
    most_queries: ClassVar[int] = 62

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Sample:
        return self._bits(np.zeros(size, np.int64), x, rng)


@dataclass(frozen=True)
class SparseVectorFirst(SparseVector):
    """A variant that stops at its first positive; the output is that query's index.

    It is the number of queries where none was positive.
    """

    most_queries: ClassVar[int] = 62

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.stops:
            raise ArgumentError("variant", "must be 1, 2 or 4, to stop at the first positive")

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Indices:
        bits = self._bits(np.zeros(size, np.int64), x, rng)
        _, exponents = np.frexp(bits.astype(np.float64))  # a single bit is a power of two
        return np.where(bits > 0, exponents - 1, self.queries).astype(np.int32)


@compiled
def _answer(bits, rho, gap, tails, first, words):  # type: ignore[no-untyped-def]
    """Answer queries with equal answers, by arithmetic, as branches are slow here."""
    for j in range(words.shape[0]):
        for i in range(bits.size):
            tail = 0.5 * tails[i]
            below = 1.0 - tail if rho[i] > gap else tail
            uniform = np.float64(words[j, i] >> np.uint64(11)) * 2.0**-53
            bits[i] |= (uniform >= below) << (first + j)

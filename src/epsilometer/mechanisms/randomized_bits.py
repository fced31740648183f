"""Randomised response of everybody in a database, shuffled or not (kutta2022, rows vi and vii)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.compiled import compiled
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs
from epsilometer.mechanisms.databases import check_bits

_MOST_PEOPLE = 30  # bits of an output


@dataclass(frozen=True)
class RandomizedBits:
    """Everybody's bit, kept with probability e^epsilon / (1 + e^epsilon): bit i for person i.

    ``shuffled`` permutes the answers at random before they are seen.
    """

    outputs: ClassVar[Outputs] = "index"
    epsilon: float
    people: int = 10
    shuffled: bool = False

    def __post_init__(self) -> None:
        checks.positive("epsilon", self.epsilon)
        if checks.integer("people", self.people) > _MOST_PEOPLE:
            raise ArgumentError("people", f"must be at most {_MOST_PEOPLE}, got {self.people}")
        if not isinstance(self.shuffled, bool):
            raise ArgumentError("shuffled", f"must be true or false, got {self.shuffled!r}")

    @property
    def truthful(self) -> float:
        """The probability that an answer is kept."""
        return 1 / (1 + math.exp(-self.epsilon))

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` holds a bit a person."""
        check_bits(x, self.people)

    def sample(self, x: Sequence[int], size: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """Draw ``size`` vectors of answers, packed into integers."""
        outputs = np.empty(size, np.int32)
        _respond(outputs, np.asarray(x, np.int32), self.truthful, self.shuffled, rng)
        return outputs


@compiled
def _respond(outputs, bits, truthful, shuffled, rng):  # type: ignore[no-untyped-def]
    """Flip bits of the whole answer, and swap them, without a branch to be guessed wrong."""
    kept = 0
    for j in range(bits.size):
        kept |= bits[j] << j
    for i in range(outputs.size):
        answers = kept
        for j in range(bits.size):
            answers ^= (rng.random() >= truthful) << j
        if shuffled:
            for j in range(bits.size - 1, 0, -1):
                k = int(rng.random() * (j + 1))
                differ = ((answers >> j) ^ (answers >> k)) & 1
                answers ^= (differ << j) | (differ << k)
        outputs[i] = answers

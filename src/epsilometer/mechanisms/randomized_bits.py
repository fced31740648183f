"""Randomised response of all people, shuffled or not (kutta2022, rows vi and vii)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilometer.arrays import Indices
from epsilometer.checks import Checked, Count, Flag, Positive
from epsilometer.compiled import compiled
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs
from epsilometer.mechanisms.databases import check_bits
from epsilometer.mechanisms.noise import Noise, blocks

_MOST_PEOPLE = 30  # bits of an output


@dataclass(frozen=True)
class RandomizedBits(Checked):
    """Each person's bit, kept with probability e^epsilon / (1 + e^epsilon): bit i for person i.

    ``shuffled`` permutes the answers at random.
    """

    outputs: ClassVar[Outputs] = "index"
    epsilon: Positive
    people: Count = 10
    shuffled: Flag = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.people > _MOST_PEOPLE:
            raise ArgumentError("people", f"must be at most {_MOST_PEOPLE}, got {self.people}")

    @property
    def truthful(self) -> float:
        """The probability that an answer is kept."""
        return 1 / (1 + math.exp(-self.epsilon))

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` holds a bit for each person."""
        check_bits(x, self.people)

    def sample(self, x: Sequence[int], size: int, rng: np.random.Generator) -> Indices:
        """Draw ``size`` vectors of answers, packed into integers."""
        noise, bits = Noise(rng), np.asarray(x, np.int32)
        swaps = self.people // 2 if self.shuffled else 0  # each word serves two swaps
        outputs = np.zeros(size, np.int32)
        for block in blocks(size, self.people + swaps):
            answers = outputs[block]
            _respond(answers, bits, self.truthful, noise.words(self.people, answers.size))
            if swaps:
                halves = noise.words(swaps, answers.size).view(np.uint32)
                _shuffle(answers, halves.reshape(2 * swaps, answers.size), self.people)
        return outputs


@compiled
def _respond(answers, bits, truthful, words):  # type: ignore[no-untyped-def]
    """Flip bits by arithmetic, as branches are slow here."""
    for j in range(bits.size):
        for i in range(answers.size):
            uniform = np.float64(words[j, i] >> np.uint64(11)) * 2.0**-53
            answers[i] |= (bits[j] ^ (uniform >= truthful)) << j


@compiled
def _shuffle(answers, halves, people):  # type: ignore[no-untyped-def]
    """Swap each bit, from the last, with a random bit up to it, chosen by a share of 2^32."""
    for j in range(people - 1, 0, -1):
        for i in range(answers.size):
            k = (np.int64(halves[j - 1, i]) * (j + 1)) >> 32
            bits = np.int64(answers[i])
            differ = ((bits >> j) ^ (bits >> k)) & 1
            answers[i] = bits ^ ((differ << j) | (differ << k))

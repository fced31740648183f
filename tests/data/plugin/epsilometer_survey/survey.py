"""The mechanism, and its exact distribution."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.checks import Checked, Positive
from epsilometer.exact.finite import Enumerated
from epsilometer.exact.levels import Comparison


@dataclass(frozen=True)
class Survey(Checked):
    """A yes or no, told truthfully most of the time. It claims epsilon, and has twice as much."""

    outputs: ClassVar[str] = "index"
    epsilon: Positive

    @property
    def truthful(self):
        return 1 / (1 + math.exp(-2 * self.epsilon))

    def check_input(self, x):
        checks.choice("input", x, (0, 1))

    def sample(self, x, size, rng):
        return np.where(rng.random(size) < self.truthful, x, 1 - x).astype(np.int32)


class ExactSurvey(Enumerated):
    """Of two outputs: levels follow from their probabilities."""

    def __init__(self, mechanism):
        self._truthful = mechanism.truthful

    def compare(self, x, x_prime):
        p, q = (
            np.log([1 - self._truthful, self._truthful])[:: 1 if y else -1] for y in (x, x_prime)
        )
        return Comparison(p, q, p - q)

"""The exponential mechanism for the most frequent value of a database (lu2022, Figure 5a)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Floats, Indices
from epsilometer.checks import Checked, Positive, Several
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs


@dataclass(frozen=True)
class CountingExponential(Checked):
    """Value v with probability proportional to exp(epsilon * count of v / 2).

    A database is a list of values 0, ..., ``values`` - 1; its length may be any.
    """

    outputs: ClassVar[Outputs] = "index"
    epsilon: Positive
    values: Several = 3

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` is a list of values."""
        if not isinstance(x, Sequence) or isinstance(x, str):
            raise ArgumentError("input", f"must be a list of values, got {x!r}")
        for value in x:
            if checks.integer("input", value, minimum=0) >= self.values:
                raise ArgumentError("input", f"must hold values below {self.values}, got {value!r}")

    def weights(self, x: Sequence[int]) -> Floats:
        """Return the probabilities of the values."""
        scores = self.epsilon / 2 * np.bincount(np.asarray(x, int), minlength=self.values)
        weights: Floats = np.exp(scores - scores.max())
        return np.asarray(weights / weights.sum(), np.float64)

    def sample(self, x: Sequence[int], size: int, rng: np.random.Generator) -> Indices:
        """Draw ``size`` values by inverting the CDF."""
        steps = np.cumsum(self.weights(x))[:-1]
        return np.searchsorted(steps, rng.random(size), side="right").astype(np.int32)

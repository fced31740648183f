"""A pair of coins that no estimator with a finite sample budget can distinguish from a constant.

gorla2022, Theorems 1 and 5. For pure privacy (order infinity) input 0 answers 1 with probability d
and input 1 with probability d/h; for Rényi order a with d^(1/a) and d^(1/(a-1))/h. For any h,
the true level is at least log h, and an estimator that sees only zeros cannot know h.

Erratum: the proof of Theorem 5 bounds d^(1/a) by d^(1/(a-1)), which holds the other way round for
d < 1, and its d = ((1 - rho)/n0)^(a-1) lets ones appear (for a = 2 the coin shows about sqrt(n0)
of them). Here d = ((1 - rho)/n0)^a, so that the likelier coin answers 1 with probability
(1 - rho)/n0 at every order, as the argument needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Indices
from epsilometer.checks import Checked, Count, Fractional, Order, Positive
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs


@dataclass(frozen=True)
class BernoulliPair(Checked):
    """Defeats every estimator that draws at most ``budget`` samples, both inputs together.

    ``epsilon`` is log h; ``delta`` is the confidence that the estimator claims; ``order`` the
    Rényi order it estimates.
    """

    outputs: ClassVar[Outputs] = "index"
    epsilon: Positive
    budget: Count
    delta: Fractional
    order: Order = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.chances) == 0:
            raise ArgumentError("epsilon", "and order make an output too rare for a number")

    @classmethod
    def against(
        cls, answer: float, *, gamma: float, budget: int, delta: float, order: float = math.inf
    ) -> BernoulliPair:
        """Build the pair for an estimator whose answer to zeros only is ``answer``.

        Its error is then 2 ``gamma`` with probability above 1 - ``delta``.
        """
        level = max(checks.real("answer", answer), 0.0) + 2 * checks.positive("gamma", gamma)
        return cls(level, budget, delta, order)

    @property
    def chances(self) -> tuple[float, float]:
        """Probability of the output 1 at input 0 and at input 1."""
        rho = (1 - self.delta) ** (1 / 3)
        likely = (1 - rho) / self.budget
        if math.isinf(self.order):
            return likely, likely * math.exp(-self.epsilon)
        d = likely**self.order
        return likely, d ** (1 / (self.order - 1)) * math.exp(-self.epsilon)

    def check_input(self, x: object) -> None:
        """Raise `ArgumentError` unless ``x`` is 0 or 1."""
        if checks.integer("input", x, minimum=0) > 1:
            raise ArgumentError("input", f"must be 0 or 1, got {x!r}")

    def sample(self, x: int, size: int, rng: np.random.Generator) -> Indices:
        """Draw ``size`` outputs of the coin that belongs to input ``x``."""
        return (rng.random(size) < self.chances[x]).astype(np.int32)

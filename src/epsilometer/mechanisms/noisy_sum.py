"""A noisy sum over all of a database or over a random subset (kutta2022, rows ii to v).

Poisson subsampling includes each person with a probability of its own draw, before the noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from epsilometer import checks
from epsilometer.checks import Checked, Count, Positive
from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.base import Outputs, check_people
from epsilometer.mechanisms.noise import Noise, blocks
from epsilometer.numerics.arrays import Floats
from epsilometer.numerics.compiled import compiled


@dataclass(frozen=True)
class NoisySum(Checked):
    """The sum of the people's numbers plus noise of scale b = 1/epsilon.

    With Laplace noise epsilon is the pure level of the whole sum; with Gaussian noise b is the
    standard deviation, and order lambda has the Rényi level lambda epsilon^2 / 2.
    """

    outputs: ClassVar[Outputs] = "scalar"
    epsilon: Positive
    noise: Literal["laplace", "gaussian"] = "laplace"
    included: float = 1.0
    people: Count = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < checks.real("included", self.included) <= 1:
            raise ArgumentError("included", f"must lie in (0, 1], got {self.included!r}")

    @property
    def scale(self) -> float:
        """b, the scale of the noise."""
        return 1 / self.epsilon

    def check_input(self, x: object) -> None:
        check_people(x, self.people)

    def sample(self, x: Sequence[float], size: int, rng: np.random.Generator) -> Floats:
        noise = Noise(rng)
        people = np.asarray(x, np.float64)
        draws = noise.normals if self.noise == "gaussian" else noise.laplaces
        outputs = np.empty(size)
        for block in blocks(size, 1 if self.included == 1 else self.people + 1):
            sums = outputs[block]
            sums[:] = draws(sums.size)
            sums *= self.scale
            if self.included == 1:
                sums += people.sum()
            else:
                _include(sums, people, self.included, noise.words(self.people, sums.size))
        return outputs


@compiled
def _include(sums, people, included, words):  # type: ignore[no-untyped-def]
    """Add the numbers of the included people: by products, as branches are slow here."""
    for j in range(people.size):
        for i in range(sums.size):
            uniform = np.float64(words[j, i] >> np.uint64(11)) * 2.0**-53
            sums[i] += people[j] * (uniform < included)

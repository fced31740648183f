"""The cost of a job: seconds of CPU, memory, bytes on the disk, from measured rates.

A job has a fixed part (it starts, imports and writes) and a part for each number that is drawn or
read. `config/rates.yaml` holds both for every rule, and for every mechanism, classifier and
screening estimator where these differ; one that was never measured counts as slow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from epsilometer_workflow.configuration.config import Rate


@dataclass(frozen=True)
class Load:
    """The work of a job: how many numbers it draws or reads, and by which code.

    ``numbers`` counts all entries of all outputs of a batch, ``side`` those of one side of one run,
    which a job holds in memory at once; ``bytes`` is what the batch takes as a file.
    """

    name: str = "default"
    numbers: int = 0
    side: int = 0
    bytes: int = 0

    @classmethod
    def together(cls, loads: Sequence[Load], name: str = "default") -> Load:
        """Return the load of a job that does all of these, one after the other."""
        numbers, side = sum(load.numbers for load in loads), max(load.side for load in loads)
        return cls(name=name, numbers=numbers, side=side)


@dataclass(frozen=True)
class Cost:
    """The cost of a job: seconds on one core, and megabytes at its largest."""

    seconds: float
    megabytes: float

    @property
    def minutes_requested(self) -> int:
        """Whole minutes to request: three, and ten times the expected time."""
        return math.ceil(3 + 10 * self.seconds / 60)

    @property
    def megabytes_requested(self) -> int:
        """Memory to request, in whole hundreds: 500 MB, and half more than expected.

        The 500 are for Snakemake and for the server of forks, where these run beside it and a
        cluster counts what they share once for each.
        """
        return 100 * math.ceil((500 + 1.5 * self.megabytes) / 100)


def cost(rates: Mapping[str, Rate], rule: str, load: Load) -> Cost:
    """Return the cost of one job of a rule."""
    rate = rates[rule]
    return Cost(
        seconds=rate.seconds + 1e-9 * _of(rate.nanoseconds, load.name) * load.numbers,
        megabytes=rate.megabytes + 1e-6 * _of(rate.bytes, load.name) * load.side,
    )


def _of(by_name: Mapping[str, float], name: str) -> float:
    return by_name.get(name, by_name.get("default", 0.0))

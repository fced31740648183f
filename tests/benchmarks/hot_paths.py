"""Times of hot paths beside a plain baseline, in one process: `make measurements`.

`make benchmark` has the others: other samplers, counts, sorting, densities. Each line is
nanoseconds of CPU a draw, best of five that take turns, and the ratio. A timing is never an
assertion.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import plain

from epsilometer.densities.binned import quantiles
from epsilometer.mechanisms.finite import RandomizedBits
from epsilometer.mechanisms.noisy_sum import NoisySum
from epsilometer.mechanisms.real_line import NoisyGradientDescent
from epsilometer_audit.events.events import Event
from epsilometer_audit.events.tallies import Tally
from epsilometer_workflow.files.storage import SampleWriter, read_samples

N = 1 << 22
FEW = 1 << 18  # draws of mechanisms that are slow one at a time


def best(
    ours: Callable[[], object], plain: Callable[[], object], n: int = N
) -> tuple[float, float]:
    """Return the nanoseconds of CPU a draw of the fastest of five calls each, after a first."""
    times: tuple[list[int], list[int]] = [], []
    for _ in range(6):
        for taken, call in zip(times, (ours, plain), strict=True):
            start = time.process_time_ns()
            call()
            taken.append(time.process_time_ns() - start)
    return min(times[0][1:]) / n, min(times[1][1:]) / n


def samplers(rng: np.random.Generator) -> list[tuple[str, float, float]]:
    """Time the samplers beside loops that ask for one random number at a time."""
    person, bits = np.eye(10)[0], np.eye(10, dtype=np.int32)[0]
    of_sums, descent = NoisySum(1.0, included=0.5), NoisyGradientDescent(1.0)
    respond, noise = RandomizedBits(1.0, shuffled=True), descent.step_noise
    pairs: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        (
            "sample sums of subsets",
            lambda: of_sums.sample(person.tolist(), FEW, rng),
            lambda: plain.noisy_sums(FEW, person, 0.5, 1.0, rng),
        ),
        (
            "sample descents of 10 steps",
            lambda: descent.sample(person.tolist(), FEW, rng),
            lambda: plain.descents(FEW, person, 10, 0.2, noise, rng),
        ),
        (
            "sample shuffled bits",
            lambda: respond.sample(bits.tolist(), FEW, rng),
            lambda: plain.shuffled_bits(FEW, bits, respond.truthful, rng),
        ),
    ]
    return [(name, *best(ours, theirs, FEW)) for name, ours, theirs in pairs]


def counts(rng: np.random.Generator) -> list[tuple[str, float, float]]:
    """Time the counting of samples, beside sorting and searching them."""
    whole, reals = rng.integers(0, 1024, FEW, np.int32), rng.normal(size=FEW)
    at = np.arange(0, 1024, 4)
    event = Event(tuple((first, first + 1) for first in at.tolist()))
    return [
        (
            "tally whole numbers",
            *best(
                lambda: Tally.of(whole, whole),
                lambda: [np.unique(whole, return_counts=True) for _ in range(2)],
                2 * FEW,
            ),
        ),
        (
            "count draws in an event",
            *best(lambda: event.count(whole), lambda: plain.in_event(at, at + 1, whole), FEW),
        ),
        (
            "quartiles",
            *best(
                lambda: quantiles(reals, [0.25, 0.75]),
                lambda: np.quantile(reals, [0.25, 0.75]),
                FEW,
            ),
        ),
    ]


def main() -> None:
    """Print the comparison."""
    rng = np.random.default_rng(0)
    sample = rng.random(N)
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder, "ours.parquet"), Path(folder, "theirs.parquet")
        identity = {"runs": [0, 0], "sides": 1, "n": N}

        def write() -> None:
            with SampleWriter(ours, "scalar", None, identity) as writer:
                writer.write(sample)

        frame = pd.DataFrame({"output": sample})
        rows = [
            ("write Parquet", *best(write, lambda: frame.to_parquet(theirs))),
            (
                "read Parquet, checked",
                *best(
                    lambda: list(read_samples(str(ours), identity)), lambda: pd.read_parquet(theirs)
                ),
            ),
        ]
    print(f"{'ns a draw':28}{'ours':>8}{'plain':>8}{'ratio':>8}")
    for name, mine, theirs_took in [*rows, *samplers(rng), *counts(rng)]:
        print(f"{name:28}{mine:8.2f}{theirs_took:8.2f}{theirs_took / mine:8.2f}")


if __name__ == "__main__":
    main()

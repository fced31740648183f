"""From files of samples to the densities of every pair, which serve all Rényi orders."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Mapping
from typing import Any

import numpy as np

from epsilometer.densities.pair import reduce_pair
from epsilometer.errors import ArgumentError, DataError
from epsilometer.estimators.base import pairs_of
from epsilometer_workflow.files.storage import by_run, read_samples, write_columns

Spec = Mapping[str, Any]


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `density`."""
    run(snakemake.input.samples, snakemake.output[0], snakemake.params.spec, progress)


def run(samples: str, output: str, spec: Spec, progress: Progress) -> None:
    """Estimate the densities of every pair in one batch of samples."""
    write_columns(densities_of(samples, spec, progress), output, "densities", spec)


def densities_of(path: str, spec: Spec, progress: Progress) -> dict[str, Any]:
    """Return columns with a row for every run and pair; in ``p`` and ``q`` an array each."""
    keys: list[tuple[int, int, int]] = []
    densities = []
    for run, sides in by_run(read_samples(path, spec["samples"])):
        for i, j in pairs_of(len(sides), spec["pairing"]):
            keys.append((run, i, j))
            try:
                densities.append(reduce_pair(sides[i], sides[j], spec))
            except ArgumentError as error:
                raise DataError(path, f"run {run}, sides {i} and {j}: {error}") from None
        progress(f"run {run} of runs {spec['samples']['runs']}")
    runs, side_x, side_x_prime = np.array(keys, np.int32).T
    bandwidth, bandwidth_prime = np.array([pair.bandwidths for pair in densities], np.float64).T
    return {
        "run": runs,
        "n": np.full(runs.size, spec["samples"]["n"], np.int64),
        "side_x": side_x,
        "side_x_prime": side_x_prime,
        "spacing": np.array([pair.spacing for pair in densities], np.float64),
        "bandwidth": bandwidth,
        "bandwidth_prime": bandwidth_prime,
        "p": [pair.p for pair in densities],
        "q": [pair.q for pair in densities],
    }

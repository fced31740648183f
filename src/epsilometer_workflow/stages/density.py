"""From files of samples to the densities of every pair, which serve all Rényi orders."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Mapping
from typing import Any

import numpy as np

from epsilometer.densities.base import Densities
from epsilometer.densities.pair import reduce_pair
from epsilometer_workflow.files.pairs import Pair, key_columns, over_pairs
from epsilometer_workflow.files.storage import write_columns


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `density`."""
    spec = snakemake.params.spec
    columns = densities_of(snakemake.input.samples, spec, progress)
    write_columns(columns, snakemake.output[0], "densities", spec)


def densities_of(path: str, spec: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Return columns with a row for every run and pair; in ``p`` and ``q`` an array each."""

    def reduced(_pair: Pair, x: Any, x_prime: Any) -> Densities:
        return reduce_pair(x, x_prime, spec)

    pairs, densities = zip(*over_pairs(path, spec, reduced, progress), strict=True)
    columns = key_columns(pairs, spec["samples"]["n"])
    bandwidths = np.array([both.bandwidths for both in densities], np.float64)
    columns["bandwidth"], columns["bandwidth_prime"] = bandwidths.T
    columns["spacing"] = np.array([both.spacing for both in densities], np.float64)
    columns["p"] = [both.p for both in densities]
    columns["q"] = [both.q for both in densities]
    return columns

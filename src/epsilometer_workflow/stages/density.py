"""From files of samples to the densities of every pair, which serve all Rényi orders."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from typing import Any

import numpy as np

from epsilometer.densities.base import Densities
from epsilometer.densities.pair import reduce_pair
from epsilometer_workflow.files.identities import DensitiesIdentity, job_of
from epsilometer_workflow.files.pairs import Pair, key_columns, over_pairs
from epsilometer_workflow.files.storage import write_columns


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `density`."""
    job = job_of(snakemake, DensitiesIdentity)
    columns = densities_of(snakemake.input.samples, job, progress)
    write_columns(columns, snakemake.output[0], "densities", job)


def densities_of(path: str, job: DensitiesIdentity, progress: Progress) -> dict[str, Any]:
    """Return columns with a row for every run and pair; in ``p`` and ``q`` an array each."""

    def reduced(_pair: Pair, x: Any, x_prime: Any) -> Densities:
        return reduce_pair(x, x_prime, job.reduction)

    pairs = []
    scales = []
    p = []
    q = []
    for pair, densities in over_pairs(path, job, reduced, progress):
        pairs.append(pair)
        scales.append((*densities.bandwidths, densities.spacing))
        p.append(densities.p)
        q.append(densities.q)
    h, h_prime, spacing = np.array(scales, np.float64).T
    numbers = {"bandwidth": h, "bandwidth_prime": h_prime, "spacing": spacing}
    return {**key_columns(pairs, job.samples.n), **numbers, "p": p, "q": q}

"""Verdicts of classifiers that are trained on half of the draws and tested on the others."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from typing import Any

import numpy as np

from epsilometer import seeds
from epsilometer_workflow.files.identities import VerdictsIdentity, job_of
from epsilometer_workflow.files.pairs import Pair, key_columns, over_pairs
from epsilometer_workflow.files.storage import concatenated, write_columns


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `classify`."""
    job = job_of(snakemake, VerdictsIdentity)
    columns = verdicts_of(snakemake.input.samples, job, progress)
    write_columns(columns, snakemake.output[0], "verdicts", job)


def verdicts_of(path: str, job: VerdictsIdentity, progress: Progress) -> dict[str, Any]:
    """Return columns with a row for every run, pair, direction and claim.

    The answers of a classifier are in `epsilometer.estimators.spectrum.Tested`.
    """
    method = job.load()
    samples = job.samples

    def tested(pair: Pair, x: Any, x_prime: Any) -> Any:
        sides = f"pair={pair.side_x},{pair.side_x_prime}"
        stream = samples.inputs.id, sides, f"run={pair.run}"
        rng = seeds.generator(job.seed, "classify", *samples.seed_names, *stream)
        return method.test(x, x_prime, rng)

    parts = []
    for pair, directions in over_pairs(path, job, tested, progress):
        for reverse, verdicts in enumerate(directions):
            rows = verdicts.claims.size
            part = key_columns([pair] * rows, samples.n)
            part["reverse"] = np.full(rows, bool(reverse))
            for name, values in vars(verdicts).items():
                part[name] = np.broadcast_to(values, rows)
            parts.append(part)
    return concatenated(parts)

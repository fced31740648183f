"""The answers of an estimator that reads the draws of a pair themselves."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from typing import Any

import numpy as np

from epsilometer import seeds
from epsilometer.estimators.base import LevelEstimate, both_ways
from epsilometer_workflow.files.identities import AnswersIdentity, job_of
from epsilometer_workflow.files.pairs import Pair, key_columns, over_pairs
from epsilometer_workflow.files.storage import write_columns

_NUMBERS = ("estimate", "low", "high", "estimate_reverse", "low_reverse", "high_reverse")


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `answer`."""
    job = job_of(snakemake, AnswersIdentity)
    columns = answers_of(snakemake.input.samples, job, progress)
    write_columns(columns, snakemake.output[0], "answers", job)


def answers_of(path: str, job: AnswersIdentity, progress: Progress) -> dict[str, Any]:
    """Return columns with a row for every run and pair, in both directions."""
    method = job.load()
    order = float(job.order)
    samples = job.samples

    def answer(pair: Pair, x: Any, x_prime: Any) -> list[LevelEstimate]:
        sides = f"pair={pair.side_x},{pair.side_x_prime}"
        stream = samples.inputs.id, sides, f"run={pair.run}"
        rng = seeds.generator(job.seed, "answer", *samples.seed_names, *stream)
        return both_ways(method, x, x_prime, job.claims, order, rng)

    pairs = []
    rows = []
    for pair, (one, other) in over_pairs(path, job, answer, progress):
        pairs.append(pair)
        rows.append((one.level, one.low, one.high, other.level, other.low, other.high))
    numbers = np.array(rows, np.float64).T
    return key_columns(pairs, samples.n) | dict(zip(_NUMBERS, numbers, strict=True))

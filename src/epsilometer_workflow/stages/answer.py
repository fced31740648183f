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

    pairs, answers = zip(*over_pairs(path, job, answer, progress), strict=True)
    columns = key_columns(pairs, samples.n)
    for way, estimates in zip(("", "_reverse"), zip(*answers, strict=True), strict=True):
        columns[f"estimate{way}"] = np.array([one.level for one in estimates], np.float64)
        columns[f"low{way}"] = np.array([one.low for one in estimates], np.float64)
        columns[f"high{way}"] = np.array([one.high for one in estimates], np.float64)
    return columns

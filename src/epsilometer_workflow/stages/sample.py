"""Draws batches of samples from a mechanism under audit."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Callable, Iterable
from typing import Any

from epsilometer import seeds
from epsilometer.mechanisms.base import dimension_of
from epsilometer.mechanisms.drawing import draw
from epsilometer_workflow.files.identities import SamplesIdentity, job_of
from epsilometer_workflow.files.storage import SampleWriter, atomic


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `sample`."""
    job = job_of(snakemake, SamplesIdentity)
    write_sides(snakemake.output[0], job, lambda _: range(job.sides), progress)


def write_sides(
    path: str,
    job: SamplesIdentity,
    sides_of: Callable[[int], Iterable[int]],
    progress: Progress,
) -> None:
    """Write samples of the sides that ``sides_of`` names for each run, in that order."""
    mechanism = job.load()
    first, last = job.runs
    dimension = dimension_of(mechanism)
    with (
        atomic(path, durable=False) as part,
        SampleWriter(part, mechanism.outputs, dimension, job) as writer,
    ):
        for run in range(first, last + 1):
            for side in sides_of(run):
                stream = job.inputs.id, f"side={side}", f"run={run}", job.stage
                rng = seeds.generator(job.seed, *job.seed_names, *stream)
                x = job.inputs.sides[side]
                outputs = draw(mechanism, x, job.n, rng, name=job.mechanism)
                writer.write(outputs)
            progress(f"run {run - first + 1} of {last - first + 1}")

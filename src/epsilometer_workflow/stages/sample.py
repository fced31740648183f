"""Draws batches of samples from a mechanism under audit."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from epsilometer import seeds
from epsilometer.mechanisms.base import dimension_of
from epsilometer.mechanisms.drawing import draw
from epsilometer.settings.registry import load
from epsilometer_workflow.files.storage import SampleWriter, atomic


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `sample`."""
    spec = snakemake.params.spec
    write_sides(snakemake.output[0], spec, lambda _: range(spec["sides"]), progress)


def write_sides(
    path: str, spec: Mapping[str, Any], sides_of: Callable[[int], Iterable[int]], progress: Progress
) -> None:
    """Write samples of the sides that ``sides_of`` names for each run, in that order."""
    mechanism = load(spec["registered"])(epsilon=spec["epsilon"], **spec["parameters"])
    first, last = spec["runs"]
    inputs = spec["inputs"]
    names = spec["mechanism"], f"epsilon={spec['epsilon']!r}", inputs["id"]
    dimension = dimension_of(mechanism)
    with (
        atomic(path, durable=False) as part,
        SampleWriter(part, mechanism.outputs, dimension, spec) as writer,
    ):
        for run in range(first, last + 1):
            for side in sides_of(run):
                stream = f"side={side}", f"run={run}", spec["stage"]
                rng = seeds.generator(spec["seed"], *names, *stream)
                outputs = draw(mechanism, inputs["values"][side], spec["n"], rng, name=names[0])
                writer.write(outputs)
            progress(f"run {run - first + 1} of {last - first + 1}")

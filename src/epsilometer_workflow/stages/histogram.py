"""From a file of samples to histograms of all wanted prefixes."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Iterator, Mapping
from typing import Any

from epsilometer.densities.histogram import histogram, ladder
from epsilometer.errors import ArgumentError, DataError
from epsilometer_workflow.files.parsing import Draws
from epsilometer_workflow.files.storage import read_samples, write_counts

Spec = Mapping[str, Any]


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `histogram`."""
    run(snakemake.input.samples, snakemake.output[0], snakemake.params.spec, progress)


def run(samples: str, output: str, spec: Spec, progress: Progress) -> None:
    """Count one batch of samples."""
    write_counts(counted(samples, spec, progress), output, spec["cells"], spec)


def counted(path: str, spec: Spec, progress: Progress) -> Iterator[dict[str, Any]]:
    """Yield run, side, the prefix lengths n and their counts, in the order of the samples."""
    n = Draws.parse(spec["n"])
    stops = ladder(n.first) if n.searched else [n.first]
    for run, side, outputs in read_samples(path, spec["samples"]):
        try:
            counts = histogram(outputs, spec["cells"], spec["support"], stops)
        except ArgumentError as error:
            raise DataError(path, f"run {run}, side {side}: {error}") from None
        progress(f"run {run}, side {side} of runs {spec['samples']['runs']}")
        yield {"run": run, "side": side, "n": stops, "counts": counts}

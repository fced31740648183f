"""From a file of samples to histograms of all wanted prefixes."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Mapping
from typing import Any

import numpy as np

from epsilometer.densities.histogram import histogram, ladder
from epsilometer.errors import ArgumentError, DataError
from epsilometer_workflow.files.parsing import Draws
from epsilometer_workflow.files.storage import read_samples, write_columns


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `histogram`."""
    spec = snakemake.params.spec
    columns = counted(snakemake.input.samples, spec, progress)
    write_columns(columns, snakemake.output[0], "histograms", spec)


def counted(path: str, spec: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Return columns with a row for every run, side and prefix of n draws, with its counts."""
    n = Draws.parse(spec["n"])
    stops = ladder(n.first) if n.searched else [n.first]
    keys = []
    counts = []
    for run, side, outputs in read_samples(path, spec["samples"]):
        try:
            counts += list(histogram(outputs, spec["cells"], spec["support"], stops))
        except ArgumentError as error:
            raise DataError(path, f"run {run}, side {side}: {error}") from None
        keys += [(run, side, stop) for stop in stops]
        progress(f"run {run}, side {side} of runs {spec['samples']['runs']}")
    runs, sides, sizes = np.array(keys, np.int64).T
    return {"run": runs, "side": sides, "n": sizes, "counts": counts}

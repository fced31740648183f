"""From a file of samples to histograms of all wanted prefixes."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from typing import Any

import numpy as np

from epsilometer.densities.histogram import histogram, ladder
from epsilometer.errors import ArgumentError, DataError
from epsilometer_workflow.files.identities import HistogramsIdentity, job_of
from epsilometer_workflow.files.parsing import Draws
from epsilometer_workflow.files.storage import read_samples, write_columns


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `histogram`."""
    job = job_of(snakemake, HistogramsIdentity)
    columns = counted(snakemake.input.samples, job, progress)
    write_columns(columns, snakemake.output[0], "histograms", job)


def counted(path: str, job: HistogramsIdentity, progress: Progress) -> dict[str, Any]:
    """Return columns with a row for every run, side and prefix of n draws, with its counts."""
    n = Draws.parse(job.n)
    stops = ladder(n.first) if n.searched else [n.first]
    keys = []
    counts = []
    for run, side, outputs in read_samples(path, job.samples):
        try:
            counts += list(histogram(outputs, job.cells, job.support, stops))
        except ArgumentError as error:
            raise DataError(path, f"run {run}, side {side}: {error}") from None
        keys += [(run, side, stop) for stop in stops]
        progress(f"run {run}, side {side} of runs {job.samples.runs}")
    runs, sides, sizes = np.array(keys, np.int64).T
    return {"run": runs, "side": sides, "n": sizes, "counts": counts}

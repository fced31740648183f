"""Evidence about the selected pairs, from files of fresh samples."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from typing import Any

import numpy as np

from epsilometer_workflow.files.identities import ConfirmationIdentity, EvidenceIdentity, job_of
from epsilometer_workflow.files.pairs import Pair, key_columns
from epsilometer_workflow.files.storage import by_run, read_samples, write_columns
from epsilometer_workflow.stages.screen import selected


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `weigh`."""
    files = snakemake.input
    job = job_of(snakemake, EvidenceIdentity)
    columns = evidence_of(files.samples, files.losses, job.fresh)
    write_columns(columns, snakemake.output[0], "evidence", job)


def evidence_of(path: str, losses_path: str, fresh: ConfirmationIdentity) -> dict[str, Any]:
    """Return columns of evidence, with a row for every run of a file of fresh samples."""
    losses = fresh.selected_by
    chosen = selected(losses_path, losses)
    method = losses.load()
    pairs = []
    results = []
    for run, (x, x_prime) in by_run(read_samples(path, fresh)):
        pairs.append(Pair(run, *chosen[run].sides))
        results.append(vars(method.weigh(x, x_prime, chosen[run].target)))
    columns = key_columns(pairs, losses.samples.n)
    columns["fresh"] = np.full(len(pairs), fresh.n, np.int64)
    for name in results[0]:
        columns[name] = np.array([result[name] for result in results])
    return columns

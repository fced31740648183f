"""Fresh samples of the pair that each run selected."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from typing import Any

from epsilometer_workflow.files.identities import ConfirmationIdentity, job_of
from epsilometer_workflow.stages.sample import write_sides
from epsilometer_workflow.stages.screen import selected


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `confirm`."""
    job = job_of(snakemake, ConfirmationIdentity)
    chosen = selected(snakemake.input.losses, job.selected_by)
    write_sides(snakemake.output[0], job, lambda run: chosen[run].sides, progress)

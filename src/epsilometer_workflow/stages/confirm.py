"""Fresh samples of the pair that each run selected."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from typing import Any

from epsilometer_workflow.stages.sample import write_sides
from epsilometer_workflow.stages.screen import selected


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `confirm`."""
    spec = snakemake.params.spec
    chosen = selected(snakemake.input.losses, spec["selected_by"])
    write_sides(snakemake.output[0], spec, lambda run: chosen[run].sides, progress)

"""Fresh samples of the pair that each run selected."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Mapping
from typing import Any

from epsilometer_workflow.stages.sample import write_sides
from epsilometer_workflow.stages.screen import selected


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `confirm`."""
    run(snakemake.input.losses, snakemake.output[0], snakemake.params.spec, progress)


def run(losses: str, output: str, spec: Mapping[str, Any], progress: Progress) -> None:
    """Draw fresh samples of the selected pair of every run of one batch."""
    chosen = selected(losses, spec["selected_by"])
    write_sides(output, spec, lambda run: chosen[run][0], progress)

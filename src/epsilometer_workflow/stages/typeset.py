"""From the table of an artifact to LaTeX, in the paper's own layout."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from typing import Any

from epsilometer_workflow.files.identities import job_of
from epsilometer_workflow.files.printed import TypesetJob
from epsilometer_workflow.files.storage import atomic, read_table
from epsilometer_workflow.reports import layouts


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `typeset`."""
    job = job_of(snakemake, TypesetJob)
    table = job.identity
    name = f"{table.report}/{table.artifact}"
    origin = f"% {name}, scale {table.scale}, seed {table.seed}; needs booktabs\n"
    text = layouts.latex(read_table(snakemake.input.table, "table", table), job.layout)
    with atomic(snakemake.output[0]) as part:
        part.write_text(origin + text, encoding="utf-8")

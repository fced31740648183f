"""From the table of an artifact to LaTeX, in the paper's own layout."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from typing import Any

from epsilometer_workflow.files.storage import atomic, read_table
from epsilometer_workflow.reports import layouts


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `typeset`."""
    about = snakemake.params.spec["identity"]
    layout = snakemake.params.spec["layout"]
    origin = "% {report}/{artifact}, scale {scale}, seed {seed}; needs booktabs\n".format(**about)
    text = layouts.latex(read_table(snakemake.input.table, "table", about), layout)
    with atomic(snakemake.output[0]) as part:
        part.write_text(origin + text, encoding="utf-8")

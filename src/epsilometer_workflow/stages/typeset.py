"""From the table of an artifact to LaTeX, in the paper's own layout."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Mapping
from typing import Any

from epsilometer.errors import ArgumentError, ConfigError
from epsilometer_workflow.files.storage import atomic, read_table
from epsilometer_workflow.reports import layouts


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `typeset`."""
    run(snakemake.input.table, snakemake.output[0], snakemake.params.spec)


def run(table: str, output: str, spec: Mapping[str, Any]) -> None:
    """Write one table as a tabular."""
    identity = spec["identity"]
    name = f"{identity['report']}/{identity['artifact']}"
    try:
        text = layouts.latex(read_table(table, "table", identity), spec["layout"])
    except ArgumentError as error:
        file, key = f"config/reports/{identity['report']}.yaml", f"artifacts.{identity['artifact']}"
        raise ConfigError(file, key, str(error)) from None
    origin = f"% {name}, scale {identity['scale']}, seed {identity['seed']}; needs booktabs\n"
    with atomic(output) as part:
        part.write_text(origin + text, encoding="utf-8")

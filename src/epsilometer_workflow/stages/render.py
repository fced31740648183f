"""From the table of an artifact to its figure."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Mapping
from typing import Any

import pandas as pd

from epsilometer.registry import load
from epsilometer_workflow.files.storage import read_table
from epsilometer_workflow.reports import style


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `render`."""
    run(snakemake.input.table, snakemake.output.pdf, snakemake.params.spec)


def run(table: str, pdf: str, spec: Mapping[str, Any]) -> None:
    """Draw one figure from its table, as PDF and, beside it, as PNG."""
    rows: pd.DataFrame = read_table(table, "table", spec["identity"])
    style.save(load(spec["renderer"])(rows), pdf, spec["caption"])

"""All measurements of the benchmark, as a table and a figure."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from benchmark import figures
from epsilometer_workflow.files.storage import read_columns, write_table
from epsilometer_workflow.reports import style

_WHOLE = ("n", "times")
_CAPTION = "The benchmark: seconds, bounds of audits, and how seconds grow with the draws."


def run(measured: Sequence[str], outputs: Any, spec: Mapping[str, Any]) -> None:
    """Write the table, as CSV and Parquet, and the figure, as PDF and PNG."""
    rows = table(
        [
            (member["title"], read_columns(path, "measured", member))
            for path, member in zip(measured, spec["members"], strict=True)
        ]
    )
    write_table(rows, outputs.parquet, "table", spec["identity"], outputs.csv)
    style.save(figures.benchmark(rows), outputs.pdf, _CAPTION)


def table(measured: Sequence[tuple[str, Mapping[str, Any]]]) -> pd.DataFrame:
    """Return the rows of all tasks, each with its title."""
    parts = []
    for title, columns in measured:
        part = pd.DataFrame(dict(columns))
        part.insert(1, "title", title)
        parts.append(part)
    rows = pd.concat(parts, ignore_index=True)
    return rows.astype(dict.fromkeys(_WHOLE, "Int64"))


if job := globals().get("snakemake"):
    run(job.input.measured, job.output, job.params.spec)

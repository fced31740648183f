"""From the table of an artifact to its figure."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from epsilometer.errors import ConfigError
from epsilometer.registry import load
from epsilometer_workflow.files.storage import read_table
from epsilometer_workflow.reports import style


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `render`."""
    run(snakemake.input.table, snakemake.input.curve, snakemake.output.pdf, snakemake.params.spec)


def run(table: str, curve: str, pdf: str, spec: Mapping[str, Any]) -> None:
    """Draw one figure from its table, as PDF and, beside it, as PNG.

    If its curve has rows, the renderer gets it as a second argument.
    """
    dense: pd.DataFrame = read_table(curve, "curve", spec["identity"])
    rows: pd.DataFrame = read_table(table, "table", spec["identity"])
    renderer = load(spec["renderer"])
    if wrong := two_rows_of_a_point(rows, renderer.points):
        identity = spec["identity"]
        file, key = f"config/reports/{identity['report']}.yaml", f"artifacts.{identity['artifact']}"
        raise ConfigError(file, f"{key}.figure", wrong)
    figure = renderer(rows) if dense.empty else renderer(rows, dense)
    style.save(figure, pdf, spec["caption"])


def two_rows_of_a_point(rows: pd.DataFrame, points: Sequence[str]) -> str | None:
    """Return a message if the table has two rows for one point, by the columns that tell these."""
    known = [column for column in points if column in rows]
    twice = rows[rows.duplicated(known, keep=False)]
    if twice.empty:
        return None
    same = twice[(twice[known] == twice[known].iloc[0]).all(axis=1)]
    other = [str(name) for name in rows if len(same[name].drop_duplicates()) > 1]
    at = ", ".join(f"{name}={value}" for name, value in same[known].iloc[0].items())
    return (
        f"the table has {len(same)} rows for one point ({at}), which differ in "
        f"{', '.join(other[:3]) or 'nothing'}; keep one, or make a table and a figure of each"
    )

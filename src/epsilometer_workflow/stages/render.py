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

    A renderer that takes a second argument gets the curve, if that has rows.
    """
    dense: pd.DataFrame = read_table(curve, "curve", spec["identity"])
    rows: pd.DataFrame = read_table(table, "table", spec["identity"])
    renderer = load(spec["renderer"])
    if wrong := two_rows_of_a_point(rows, renderer.points):
        identity = spec["identity"]
        file, key = f"config/reports/{identity['report']}.yaml", f"artifacts.{identity['artifact']}"
        raise ConfigError(file, f"{key}.figure", wrong)
    takes_curve = renderer.__code__.co_argcount > 1 and not dense.empty
    figure = renderer(rows, dense) if takes_curve else renderer(rows)
    style.save(figure, pdf, spec["caption"])


def two_rows_of_a_point(rows: pd.DataFrame, points: Sequence[str]) -> str | None:
    """Return a message if the table has two rows for one point, by the columns that tell these."""
    known = [column for column in points if column in rows]
    twice = rows[rows.duplicated(known, keep=False)]
    if twice.empty:
        return None
    _, same = next(iter(twice.groupby(known, sort=False, dropna=False)))
    values = {str(name): [*same[name].unique()[:3]] for name in rows}
    other = [f"{name} ({', '.join(map(str, v))})" for name, v in values.items() if len(v) > 1]
    at = ", ".join(f"{name}={value}" for name, value in same[known].iloc[0].items())
    return (
        f"the table has {len(same)} rows for one point ({at}), which differ in "
        f"{', '.join(other[:3]) or 'nothing'}; keep one, or tell them apart by a colour, a panel "
        "or a figure of their own"
    )

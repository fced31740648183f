"""From the table of an artifact to its figure."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from epsilometer.errors import ArgumentError
from epsilometer.settings.registry import load
from epsilometer_workflow.files.identities import RenderJob, job_of
from epsilometer_workflow.files.place import Place
from epsilometer_workflow.files.storage import read_table
from epsilometer_workflow.reports import style
from epsilometer_workflow.reports.grouping import IDENTITY, told

_MOST_ROWS = 6  # of panels


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `render`."""
    job = job_of(snakemake, RenderJob)
    run(snakemake.input.table, snakemake.input.curve, snakemake.output.pdf, job)


def run(table: str, curve: str, pdf: str, job: RenderJob) -> None:
    """Draw one figure from its table, as PDF and, beside it, as PNG."""
    dense: pd.DataFrame = read_table(curve, "curve", job.identity)
    rows: pd.DataFrame = read_table(table, "table", job.identity)
    renderer = load(job.renderer)
    try:
        figure = drawn(rows, dense, renderer)
    except ArgumentError as error:
        raise Place.of_artifact(job.identity).at("figure").error(error) from None
    style.save(figure, pdf, job.caption)


def drawn(rows: pd.DataFrame, dense: pd.DataFrame, renderer: Any) -> "style.Figure":
    """Draw one figure of a table; axes that it does not know become rows of panels.

    A renderer that takes a second argument gets the curve, or the table again if that has no rows.
    """
    tables = [rows]
    if renderer.__code__.co_argcount > 1:
        tables.append(rows if dense.empty else dense)
    draw: dict[str, Callable[[], style.Figure]] = {}
    for part in figures_of(rows, renderer):
        draw[part.title] = partial(_with_legend, renderer, *map(part.of, tables))
    if len(draw) > 1:
        return style.stacked(draw)
    (draw_alone,) = draw.values()
    return draw_alone()


def _with_legend(renderer: Any, *tables: pd.DataFrame) -> "style.Figure":
    """Draw a figure, with a legend of its labels if it has none of its own."""
    figure: style.Figure = renderer(*tables)
    if not figure.legends:
        style.legend(figure)
    return figure


@dataclass(frozen=True)
class Part:
    """The rows of a table with one value of some axes, which a figure shows by itself."""

    values: Mapping[Any, Any]

    @property
    def title(self) -> str:
        """The values, in words."""
        said = []
        for axis, value in self.values.items():
            text = f"{value:g}" if isinstance(value, float) else value
            said += [f"{axis} = {text}"]
        return ", ".join(said)

    def of(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return its rows of a table."""
        for axis, value in self.values.items():
            if axis in rows:
                same = rows[axis].isna() if pd.isna(value) else rows[axis] == value
                rows = rows[same]
        return rows


def figures_of(rows: pd.DataFrame, renderer: Any) -> list[Part]:
    """Return the parts of a table that a figure shows by itself, one under the other.

    Raise `ArgumentError` where the figure cannot show all: too many parts or names, or two rows
    for one point.
    """
    shows = renderer.shows
    own = (*shows.columns, *shows.x)
    axes = []
    for axis in IDENTITY:
        if axis in rows and axis not in own:
            tellers = [column for column in shows.tellers(axis) if column in rows]
            if not told(rows[axis], rows[tellers]):
                axes.append(axis)
    parts = [Part({})]
    if axes:
        parts = [Part(values) for values in rows[axes].drop_duplicates().to_dict("records")]
    if len(parts) > 1 and not shows.rows:
        raise ArgumentError("the figure", f"shows one at most of {_values(rows, axes)}")
    if len(parts) > _MOST_ROWS:
        most_rows = f"{_MOST_ROWS}, as rows of panels, at most"
        raise ArgumentError("the figure", f"shows {most_rows} of {_values(rows, axes)}")
    for part in parts:
        shown = part.of(rows)
        for column, most in shows.most.items():
            if column in shown and shown[column].nunique() > most:
                wrong = f"has {most} looks for {_values(shown, [column])}"
                raise ArgumentError("the figure", wrong)
        if twice := two_rows_of_a_point(shown, own):
            raise ArgumentError("the table", twice)
    return parts


def _values(rows: pd.DataFrame, axes: Sequence[str]) -> str:
    """Return the values of axes, for a message."""
    said = []
    for axis in axes:
        values = list(map(str, rows[axis].unique()))
        few = ", ".join(values[:4])
        if len(values) > 4:
            few += ", ..."
        said.append(f"the {len(values)} values of {axis} ({few})")
    return " and ".join(said)


def two_rows_of_a_point(rows: pd.DataFrame, points: Sequence[str]) -> str | None:
    """Return a message if the table has two rows for one point, by the columns that tell these."""
    known = [column for column in points if column in rows]
    twice = rows[rows.duplicated(known, keep=False)]
    if twice.empty:
        return None
    _, same = next(iter(twice.groupby(known, sort=False, dropna=False)))
    other = []
    for name in rows:
        values = same[name].unique()
        if len(values) > 1:
            other += [f"{name} ({', '.join(map(str, values[:3]))})"]
    at = ", ".join(f"{name}={value}" for name, value in same[known].iloc[0].items())
    return (
        f"has {len(same)} rows for one point ({at}), which differ in "
        f"{', '.join(other[:3]) or 'nothing'}; keep one, or tell them apart by a colour, a panel "
        "or a figure of their own"
    )

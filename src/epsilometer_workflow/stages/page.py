"""A report on one page: its figures and tables, with the paper's numbers beside ours.

The page is one file, with its figures inside; it requests no other file. After a run that failed, a
page of what there is has another name, and says first what is missing.
"""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

import base64
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
import numpy as np
import pandas as pd

from epsilometer.errors import DataError
from epsilometer_workflow.files.identities import job_of
from epsilometer_workflow.files.printed import PageJob, ShownArtifact
from epsilometer_workflow.files.storage import atomic, read_table
from epsilometer_workflow.reports import layouts

_TEMPLATE = str(Path(__file__).parents[3] / "workflow/report/page.html.j2")
_LONG_CELL = 14  # characters; a longer cell may break into lines
_ROWS_SAID_ONCE = 3  # rows, from which on what is alike in all of them is said once


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `page`."""
    run(snakemake.input, snakemake.output[0], _TEMPLATE, job_of(snakemake, PageJob))
    _incomplete(snakemake.output[0]).unlink(missing_ok=True)


def of_what_there_is(
    inputs: Mapping[str, Sequence[str | None]],
    output: str,
    job: PageJob,
    causes: Sequence[str],
) -> str:
    """Write a page without the files that could not be made (None); return its path.

    The page of an earlier run is deleted: it shows other numbers, and the next run makes it again.
    """
    path = _incomplete(output)
    run(SimpleNamespace(**inputs), str(path), _TEMPLATE, job, causes)
    Path(output).unlink(missing_ok=True)
    return str(path)


def _incomplete(output: str) -> Path:
    return Path(output).with_suffix(".incomplete.html")


def run(inputs: Any, output: str, template: str, job: PageJob, causes: Sequence[str] = ()) -> None:
    """Write the page of a report.

    ``inputs`` has files of ``tables`` (Parquet) and ``figures`` (PNG), in the order of ``job``;
    None stands for one that is missing, and the page then shows the ``causes``.
    """
    figures = iter(inputs.figures)
    folder = Path(output).parent
    artifacts = []
    missing = []
    opening = None
    for about, table in zip(job.artifacts, inputs.tables, strict=True):
        shown = vars(about) | {"table": None, "image": None}
        if table:
            shown |= _rows(about, Path(table), folder)
        else:
            missing.append(about.id)
        figure = next(figures) if about.figure else None
        if figure:
            shown["image"] = _image(figure)
        elif table and about.figure:
            missing.append(f"{about.id} (its figure)")
        artifacts.append(shown)
        if table and about.id == job.opens:
            opening = read_table(table, "table", about.identity).to_dict("records")
    page = _environment(Path(template)).get_template(Path(template).name)
    found = {"artifacts": artifacts, "missing": missing, "causes": causes, "opening": opening}
    with atomic(output) as part:
        part.write_text(page.render(vars(job) | found), encoding="utf-8")


def _environment(template: Path) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _rows(about: ShownArtifact, path: Path, folder: Path) -> dict[str, Any]:
    """Return what a page shows of a table."""
    frame = read_table(str(path), "table", about.identity)
    csv = path.with_suffix(".csv").relative_to(folder).as_posix()
    printed = None
    if about.layout is not None:
        printed = layouts.hypertext(frame, about.layout)
    shown = _table(frame, about.rows_shown)
    return {"rows": len(frame), "printed": printed, "csv": csv, **shown}


def _image(path: str) -> dict[str, Any]:
    """Return a PNG as a URI of its own bytes, and its size on the page: 100 points an inch."""
    png = Path(path).read_bytes()
    if not png.startswith(b"\x89PNG"):
        raise DataError(path, "is not a PNG; delete it and run again")
    width, height = struct.unpack(">II", png[16:24])
    data = base64.b64encode(png).decode()
    return {"uri": f"data:image/png;base64,{data}", "width": width // 2, "height": height // 2}


def _table(frame: pd.DataFrame, shown: int) -> dict[str, Any]:
    """Return column names, whether they are of numbers, rows, and what all rows share."""
    differs = {}
    for name in frame:
        if name.startswith("paper_"):
            differs[name] = _differs(frame, name)
    alike = []
    for name in frame:
        beside_another = name in differs or f"paper_{name}" in differs
        if not beside_another and len(frame[name].drop_duplicates()) == 1:
            alike.append(name)
    if len(frame) < _ROWS_SAID_ONCE or len(alike) == len(frame.columns):
        alike = []
    numbers = set(frame.select_dtypes("number"))
    heads = []
    columns = []
    first = frame.drop(columns=alike).head(shown)
    for name in first:
        heads.append((str(name), name in numbers))
        columns.append(_cells(first[name], name in numbers, differs.get(name)))
    return {
        "alike": [(str(name), cell(frame[name].iloc[0])) for name in alike],
        "table": {"columns": heads, "rows": list(zip(*columns, strict=True))},
        "own": len(frame.columns) - len(differs),
    }


def _differs(frame: pd.DataFrame, name: str) -> list[bool]:
    """Return where ours is another than the paper's number, in a digit that its column prints."""
    theirs = pd.to_numeric(frame[name], errors="coerce").astype(float)
    ours = pd.to_numeric(frame.get(name.removeprefix("paper_"), theirs), errors="coerce")
    decimals = max((len(f"{x:.12g}".partition(".")[2]) for x in theirs.dropna()), default=0)
    return list((ours.astype(float) - theirs).abs() > 0.5 * 10.0**-decimals * (1 + 1e-9))


def cell(value: object) -> str:
    """Return a cell as text: whole numbers grouped, others to four digits."""
    if pd.isna(value):
        return ""
    if isinstance(value, str | bool | np.bool_):
        return str(value)
    number = float(value)  # type: ignore[arg-type]
    if number.is_integer() and abs(number) < 1e13:
        return f"{int(number):,}"
    return f"{number:.4g}"


def _cells(values: pd.Series, number: bool, differ: list[bool] | None) -> list[tuple[str, str]]:
    """Return cells as text with their classes; those of the paper's numbers where they differ."""
    cells = []
    for i, text in enumerate(map(cell, values)):
        kind = ""
        if number:
            kind = "n"
        elif len(text) > _LONG_CELL:
            kind = "l"
        if differ is not None:
            kind += " theirs"
            if differ[i]:
                kind += " differs"
        cells.append((text, kind))
    return cells

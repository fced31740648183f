"""A report on one page, or all of them: figures and tables.

The page is one file, with its figures inside; it requests no other file. Numbers in its text are
counted from the tables. It also shows audits, the museum and the benchmark, if they were made. Time
and memory of the jobs are read from their logs.
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd

from epsilometer.errors import DataError
from epsilometer_workflow.files.storage import atomic, read_table

_LONG = 28  # characters; a longer cell may break into lines
_STARTED = re.compile(r"^(\S+ \S+) start (\w+)", re.MULTILINE)
_TOOK = re.compile(r"^(\S+ \S+) took ([\d.]+) s, ([\d.]+) s of CPU, (\d+) MB", re.MULTILINE)
_AUDITS = (  # the columns of a table of verdicts that the page shows, if they exist
    *("package", "version", "relation", "feature", "fault", "audit", "parameters", "pairs"),
    *("claim", "verdict"),
    *("expected", "quantity", "claimed_level", "bound", "upper", "detectable", "witness"),
    *("draws_a_side", "seconds", "error"),
)
_WORDS = {  # verdicts and their style, the most urgent first
    "violated": "bad",
    "failed": "bad",
    "missing": "none",
    "invalid": "bad",
    "undecided": "open",
    "not refuted": "good",
    "holds": "good",
}


def run(inputs: Any, output: str, template: str, spec: Mapping[str, Any]) -> None:
    """Write the page of some reports; ``beside`` is for the page of all only.

    ``inputs`` has files of ``tables`` (Parquet) and ``figures`` (PNG), in the order of ``spec``.
    """
    folder = Path(output).parent
    artifacts = list(_artifacts(inputs.tables, inputs.figures, spec["reports"], folder))
    frames = {artifact["place"]: artifact.pop("frame") for artifact in artifacts}
    for artifact in artifacts:
        artifact["table"] = _table(frames[artifact["place"]].head(artifact["rows_shown"]))
    reports = [
        {**about, "artifacts": [a for a in artifacts if a["report"] == about["id"]]}
        for about in spec["reports"]
    ]
    common = {key: spec[key] for key in ("seed", "scale", "version")}
    jobs = took(folder / "logs") if spec["beside"] else []
    beside = {kind: _beside(kind, entry, common, folder) for kind, entry in spec["beside"].items()}
    page = _environment(Path(template)).get_template(Path(template).name)
    text = page.render(
        **common,
        reports=reports,
        words=_WORDS,
        beside=beside,
        jobs=jobs,
        total=total(jobs),
        when=_when(folder / "logs") if jobs else None,
    )
    with atomic(output) as part:
        part.write_text(text, encoding="utf-8")


def _environment(template: Path) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["duration"] = duration
    return environment


# --- the reports ----------------------------------------------------------------------------------


def _artifacts(
    tables: Sequence[str],
    figures: Sequence[str],
    reports: Iterable[Mapping[str, Any]],
    folder: Path,
) -> Iterator[dict[str, Any]]:
    """Yield the content of the page for each artifact, with its table as ``frame``."""
    paths, drawn = iter(tables), iter(figures)
    for report in reports:
        for about in report["artifacts"]:
            path = Path(next(paths))
            frame = read_table(str(path), "table", about["identity"])
            yield {
                **about,
                "report": report["id"],
                "place": f"{report['id']}/{about['id']}",
                "frame": frame,
                "rows": len(frame),
                "csv": path.with_suffix(".csv").relative_to(folder).as_posix(),
                "image": _image(next(drawn)) if about["figure"] else None,
            }


def _image(path: str) -> dict[str, Any]:
    """Return a PNG as a URI of its own bytes, and its size on the page: 100 points an inch."""
    png = Path(path).read_bytes()
    if not png.startswith(b"\x89PNG"):
        raise DataError(path, "is not a PNG; delete it and run again")
    width, height = struct.unpack(">II", png[16:24])
    data = base64.b64encode(png).decode()
    return {"uri": f"data:image/png;base64,{data}", "width": width // 2, "height": height // 2}


def _table(frame: pd.DataFrame) -> dict[str, Any]:
    """Return column names, which of them are a paper's, and rows of (text, class)."""
    numbers = set(frame.select_dtypes("number"))
    rows = [
        [_cell(value, number=name in numbers) for name, value in row.items()]
        for row in frame.to_dict("records")
    ]
    return {"columns": [(str(name), name in numbers) for name in frame], "rows": rows}


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


def _cell(value: object, *, number: bool) -> tuple[str, str]:
    text = cell(value)
    return text, "n" if number else "l" if len(text) > _LONG else ""


# --- audits, collections and benchmark ------------------------------------------------------------


def _beside(
    kind: str, content: Mapping[str, Any], common: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    """Return the files of a kind as tables, or the error of reading them."""
    parts = []
    for file in (listed for listed in content["files"] if listed.endswith(".csv")):
        path = Path(file)
        part: dict[str, Any] = {"name": path.stem, "csv": path.relative_to(folder).as_posix()}
        figure = str(path.with_suffix(".png"))
        part["image"] = _image(figure) if figure in content["files"] else None
        page = path.with_suffix(".html")
        part["page"] = page.relative_to(folder).as_posix() if page.is_file() else None
        try:
            frame = read_table(str(path.with_suffix(".parquet")), "table", common)
        except DataError as error:
            parts.append({**part, "error": str(error), "rows": 0, "counts": [], "unlike": 0})
            continue
        counts, unlike = [], 0
        if "verdict" in frame:
            outcomes = list(frame["verdict"])
            counts = [(word, outcomes.count(word)) for word in _WORDS if word in outcomes]
            unlike = int((frame["as_expected"] == "no").sum())
            frame = frame[[name for name in _AUDITS if name in frame]]
            frame = frame.dropna(axis="columns", how="all")
        part |= {"error": None, "rows": len(frame), "counts": counts, "unlike": unlike}
        parts.append({**part, "table": _table(frame), "verdict": _place(frame, "verdict")})
    return {"kind": kind, "command": content["command"], "parts": parts}


def _place(frame: pd.DataFrame, column: str) -> int:
    return list(frame).index(column) if column in frame else -1


# --- what jobs took -------------------------------------------------------------------------------


def took(logs: Path) -> list[dict[str, Any]]:
    """Return the usage of the jobs of each rule, from their logs; the longest rule first.

    Seconds on the clock and of CPU of all its jobs, the median and the longest of one, and the
    largest memory.
    """
    searched = ((_STARTED.search(text), _TOOK.search(text)) for text in _logs(logs))
    jobs = [(start[2], *map(float, end.group(2, 3, 4))) for start, end in searched if start and end]
    frame = pd.DataFrame(jobs, columns=["rule", "seconds", "cpu", "megabytes"])
    table = frame.groupby("rule", as_index=False).agg(
        jobs=("seconds", "size"),
        seconds=("seconds", "sum"),
        cpu=("cpu", "sum"),
        median=("seconds", "median"),
        longest=("seconds", "max"),
        megabytes=("megabytes", "max"),
    )
    rows = table.sort_values(["cpu", "rule"], ascending=[False, True]).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in rows]


def total(jobs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the total usage of all rules."""
    sums = {key: sum(row[key] for row in jobs) for key in ("jobs", "seconds", "cpu")}
    return sums | {
        key: max((row[key] for row in jobs), default=0) for key in ("longest", "megabytes")
    }


def _when(logs: Path) -> tuple[str, str] | None:
    """Return when the first of these jobs began and the last of them ended."""
    began = [match[1] for text in _logs(logs) if (match := _STARTED.search(text))]
    ended = [match[1] for text in _logs(logs) if (match := _TOOK.search(text))]
    return (min(began)[:16], max(ended)[:16]) if began and ended else None


def _logs(folder: Path) -> Iterator[str]:
    """Yield the texts of the logs; the log of a job that starts again may be missing."""
    for file in sorted(folder.rglob("*.log")):
        with suppress(FileNotFoundError):
            yield file.read_text(encoding="utf-8", errors="replace")


def duration(seconds: float) -> str:
    """Return seconds in a readable unit.

    >>> duration(0.26), duration(75), duration(8100)
    ('0.3 s', '1.2 min', '2.2 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"

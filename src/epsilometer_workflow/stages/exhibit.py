"""The verdicts of the museum beside the expected ones: a table, and a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from epsilometer.auditing.formats import short
from epsilometer_workflow.stages import conclude

_SECTIONS = (  # the expected verdict, and the title and text of its section
    ("violated", "Exhibits", "Known faults, which must be found."),
    ("not refuted", "Controls", "Correct mechanisms, which must not be called violated."),
    (None, "Others", "Audits without an expected verdict."),
)
_FIRST = ("package", "version", "fault", "audit", "parameters", "pairs", "claim", "found")
_LAST = ("reference", "error", "source", "path")


def run(verdicts: Sequence[str], outputs: Any, template: str, spec: Mapping[str, Any]) -> None:
    """Write the table, as CSV and Parquet, and the page."""
    answers = conclude.read(verdicts, spec["members"])
    rows = [row(member, verdict) for member, verdict in answers]
    conclude.write(rows, outputs, spec["identity"])
    results = [verdict["as_expected"] for verdict in rows]
    kinds = [
        (verdict["expected"], conclude.shown(verdict, member, Path(outputs.page).parent))
        for verdict, (member, _) in zip(rows, answers, strict=True)
    ]
    conclude.show(
        outputs.page,
        template,
        **spec["identity"],
        as_expected=results.count("yes"),
        unexpected=results.count("no"),
        missing=sum(verdict["verdict"] == "missing" for verdict in rows),
        sections=[
            (title, text, shown)
            for expected, title, text in _SECTIONS
            if (shown := [cells for kind, cells in kinds if kind == expected])
        ],
    )


def row(member: Mapping[str, Any], verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Return a verdict as a row of the table."""
    about = member["about"]
    cells = conclude.row(member, verdict)
    cells |= {key: about[key] for key in ("package", "version", "fault")}
    cells |= {"found": finding(cells), "reference": about["source"]}
    middle = [key for key in cells if key not in (*_FIRST, *_LAST)]
    return {key: cells[key] for key in (*_FIRST, *middle, *_LAST)}


def finding(row: Mapping[str, Any]) -> str | None:
    """Return the bound in words."""
    if row["bound"] is None or row["quantity"] is None:
        return None
    return f"{row['quantity']} is at least {short(row['bound'])}"

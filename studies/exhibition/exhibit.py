"""The verdicts of a collection beside the expected ones: a table, and a page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from epsilometer_audit.formats import short
from epsilometer_audit.grids.verdicts import LEFT_OUT
from epsilometer_workflow.stages import conclude

_SECTIONS = (  # the expected verdict, and the title and text of its section
    ("violated", "Exhibits", "Known faults, which must be found."),
    ("not refuted", "Controls", "Correct mechanisms, which must not be called violated."),
    (None, "Others", "Audits without an expected verdict."),
)
_ABOUT = {  # the facts about a mechanism in each collection
    "museum": ("package", "version", "fault"),
    "census": ("package", "version", "relation", "feature"),
}
_NEXT = ("audit", "parameters", "pairs", "claim", "finding")
_LAST = ("reference", "error", "source", "path")


def run(verdicts: Sequence[str], outputs: Any, template: str, spec: Mapping[str, Any]) -> None:
    """Write the table, as CSV and Parquet, and the page."""
    answers = conclude.read(verdicts, spec["members"])
    about = _ABOUT[spec["collection"]]
    rows = [row(member, verdict, about) for member, verdict in answers]
    left_out = [
        dict.fromkeys(rows[0])
        | {key: feature[key] for key in ("package", "version")}
        | {about[-1]: feature["feature"], "verdict": LEFT_OUT, "error": feature["reason"]}
        for feature in spec["left_out"]
    ]
    conclude.write([*rows, *left_out], outputs, spec["identity"])
    results = [verdict["as_expected"] for verdict in rows]
    kinds = [
        (verdict["expected"], conclude.shown(verdict, member, Path(outputs.page).parent))
        for verdict, (member, _) in zip(rows, answers, strict=True)
    ]
    conclude.show(
        outputs.page,
        template,
        **spec["identity"],
        collection=spec["collection"],
        about=about,
        as_expected=results.count("yes"),
        unexpected=results.count("no"),
        missing=sum(verdict["verdict"] == "missing" for verdict in rows),
        counts=[
            (word, count)
            for word in conclude.WORDS
            if (count := sum(verdict["verdict"] == word for verdict in rows))
        ],
        features=len({(row["package"], row.get("feature")) for row in rows}),
        packages=_summary([*rows, *left_out]) if spec["collection"] == "census" else [],
        sections=[
            (title, text, _by_construct(shown))
            for expected, title, text in _SECTIONS
            if (shown := [cells for kind, cells in kinds if kind == expected])
        ],
        left_out=spec["left_out"],
    )


def row(
    member: Mapping[str, Any], verdict: Mapping[str, Any], about: Sequence[str]
) -> dict[str, Any]:
    """Return a verdict as a row of the table, with these facts about its mechanism first."""
    facts, first = member["about"], (*about, *_NEXT)
    cells = conclude.row(member, verdict)
    cells |= {key: facts[key] for key in about}
    cells |= {"finding": finding(cells), "reference": facts["source"]}
    middle = [key for key in cells if key not in (*first, *_LAST)]
    return {key: cells[key] for key in (*first, *middle, *_LAST)}


def _construct(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what makes a row: a feature under a relation; in the museum, each case."""
    keys = ("package", "version", "feature", "relation")
    return tuple(row[key] or "" for key in (keys if "feature" in row else (*keys[:2], *_NEXT[:4])))


def _by_construct(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each construct: its worst case, with the ``others``."""
    cases: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        cases.setdefault(_construct(row), []).append(row)
    for same in cases.values():
        same.sort(key=lambda row: conclude.WORDS.index(row["verdict"]))
    return [{**first, "others": others} for first, *others in cases.values()]


def _summary(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the number of each verdict for each package and version."""
    verdicts: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        verdicts.setdefault((row["package"] or "", row["version"] or ""), []).append(row["verdict"])
    return [
        {"package": package, "version": version}
        | {word: words.count(word) for word in (*conclude.WORDS, LEFT_OUT)}
        for (package, version), words in sorted(verdicts.items())
    ]


def finding(row: Mapping[str, Any]) -> str | None:
    """Return the bound in words."""
    if row["bound"] is None or row["quantity"] is None:
        return None
    return f"{row['quantity']} is at least {short(row['bound'])}"


if job := globals().get("snakemake"):
    run(job.input.verdicts, job.output, job.input.template, job.params.spec)

"""The verdicts of a collection beside the expected ones: a table, and a page."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from epsilometer_audit.answer.verdict import as_expected
from epsilometer_audit.outputs.formats import short
from epsilometer_workflow.files.storage import atomic, read_columns, write_table
from exhibition import LEFT_OUT

_SECTIONS = (  # the expected verdict, and the title and text of its section
    ("violated", "Exhibits", "Known faults, which must be found."),
    ("not refuted", "Controls", "Correct mechanisms, which must not be called violated."),
    (None, "Others", "Audits without an expected verdict."),
)
_ABOUT = {  # the facts about a mechanism in each collection
    "museum": ("package", "version", "fault"),
    "census": ("package", "version", "relation", "feature"),
}
WORDS = ("violated", "failed", "missing", "invalid", "undecided", "not refuted")
_WHOLE = ("count", "draws", "count_prime", "draws_prime", "draws_a_side", "pairs_drawn", "seed")
_NUMBERS = ("claimed_level", "bound", "detectable", "p_value", "alpha", "seconds")
_NEXT = ("audit", "parameters", "claim", "finding")
_LAST = ("reference", "error", "source", "path")


def run(verdicts: Sequence[str], outputs: Any, template: str, spec: Mapping[str, Any]) -> None:
    """Write the table, as CSV and Parquet, and the page."""
    answers = [
        (member, json.loads(read_columns(path, "verdict", member["identity"])["json"][0]))
        for path, member in zip(verdicts, spec["members"], strict=True)
    ]
    about = _ABOUT[spec["collection"]]
    rows = [row(member, verdict, about) for member, verdict in answers]
    left_out = [
        dict.fromkeys(rows[0])
        | {key: feature[key] for key in ("package", "version")}
        | {about[-1]: feature["feature"], "verdict": LEFT_OUT, "error": feature["reason"]}
        for feature in spec["left_out"]
    ]
    types = dict.fromkeys(_WHOLE, "Int64") | dict.fromkeys(_NUMBERS, "float64")
    table = pd.DataFrame([*rows, *left_out]).astype(types)
    write_table(table, outputs.parquet, "table", spec["identity"], outputs.csv)
    results = [verdict["as_expected"] for verdict in rows]
    kinds = [(verdict["expected"], shown(verdict, Path(outputs.page).parent)) for verdict in rows]
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    page = environment.from_string(Path(template).read_text(encoding="utf-8"))
    text = page.render(
        **spec["identity"],
        collection=spec["collection"],
        about=about,
        as_expected=results.count("yes"),
        unexpected=results.count("no"),
        missing=sum(verdict["verdict"] == "missing" for verdict in rows),
        counts=[
            (word, count)
            for word in WORDS
            if (count := sum(verdict["verdict"] == word for verdict in rows))
        ],
        features=len({(row["package"], row.get("feature")) for row in rows}),
        packages=_summary([*rows, *left_out]) if spec["collection"] == "census" else [],
        sections=[
            (title, text, _by_construct(some))
            for expected, title, text in _SECTIONS
            if (some := [cells for kind, cells in kinds if kind == expected])
        ],
        left_out=spec["left_out"],
    )
    with atomic(outputs.page) as part:
        part.write_text(text, encoding="utf-8")


def row(
    member: Mapping[str, Any], verdict: Mapping[str, Any], about: Sequence[str]
) -> dict[str, Any]:
    """Return a verdict as a row of the table, with these facts about its mechanism first."""
    facts, first = member["about"], (*about, *_NEXT)
    cells = _cells(member, verdict)
    cells |= {key: facts[key] for key in about}
    cells |= {"finding": finding(cells), "reference": facts["source"]}
    middle = [key for key in cells if key not in (*first, *_LAST)]
    return {key: cells[key] for key in (*first, *middle, *_LAST)}


def _cells(member: Mapping[str, Any], verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Return a verdict as cells of the table."""
    identity, source = member["identity"], member["identity"]["entry"]["mechanism"]
    worst = _worst(verdict)
    witness = verdict["witness"] or {}
    return {
        "audit": identity["name"],
        "mechanism": mechanism(source),
        "parameters": arguments(source.get("parameters", {})),
        "claim": verdict["claimed"],
        "verdict": verdict["verdict"],
        "expected": member["expected"],
        "as_expected": as_expected(verdict["verdict"], member["expected"]),
        "quantity": worst.get("quantity"),
        "claimed_level": worst.get("claimed"),
        "bound": verdict["bound"],
        "detectable": verdict["detectable"],
        "p_value": verdict["p_value"],
        "witness": witness.get("event") or guessed(verdict["guesses"]),
        **{key: witness.get(key) for key in ("count", "draws", "count_prime", "draws_prime")},
        "pair": verdict["name"],
        "direction": verdict["direction"],
        "pairs_drawn": verdict["pairs"],
        "draws_a_side": verdict["draws"],
        "outputs": verdict["outputs"] or None,
        "alpha": verdict["alpha"],
        "seed": verdict["seed"],
        "seconds": verdict["seconds"],
        "error": "; ".join(verdict["reasons"]) or None,
        "source": verdict["source"] or None,
        "path": member["path"],
    }


def guessed(guesses: Mapping[str, Any] | None) -> str | None:
    """Return guesses about canaries in a line."""
    if guesses is None:
        return None
    return "{right} of {guesses} guesses about {canaries} canaries are right".format(**guesses)


def mechanism(source: Mapping[str, Any]) -> str:
    """Return the source of draws, as the entry names it."""
    if "outputs" in source:
        return " and ".join(source["outputs"])
    if "command" in source:
        command = source["command"]
        return command if isinstance(command, str) else " ".join(command)
    inside = source.get("environment", source.get("python"))
    return f"{source['function']} in {inside}" if inside else str(source["function"])


def arguments(values: Mapping[str, Any]) -> str | None:
    """Return parameters in a line."""
    return ", ".join(f"{key} = {value}" for key, value in values.items()) or None


def _worst(verdict: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the bound that is the verdict's own."""
    bounds = [bound for bound in verdict["bounds"] if bound["lower"] == verdict["bound"]]
    return bounds[0] if bounds else {}


def shown(row: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a row as the page shows it: numbers in few digits, nothing where there is none."""
    rounded = {key: None if row[key] is None else short(row[key]) for key in _NUMBERS}
    template = "{count:,} of {draws:,} against {count_prime:,} of {draws_prime:,}"
    counts = template.format(**row) if row["count"] is not None else ""
    page = Path(os.path.relpath(row["path"], folder)).with_suffix(".html")
    cells = {**row, **rounded, "counts": counts, "page": page.as_posix()}
    return {key: "" if value is None else value for key, value in cells.items()}


def _construct(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what makes a row: a feature under a relation; in the museum, each case."""
    keys = ("package", "version", "feature", "relation")
    return tuple(row[key] or "" for key in (keys if "feature" in row else (*keys[:2], *_NEXT[:3])))


def _by_construct(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each construct: its worst case, with the ``others``."""
    cases: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        cases.setdefault(_construct(row), []).append(row)
    for same in cases.values():
        same.sort(key=lambda row: WORDS.index(row["verdict"]))
    return [{**first, "others": others} for first, *others in cases.values()]


def _summary(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the number of each verdict for each package and version."""
    verdicts: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        verdicts.setdefault((row["package"] or "", row["version"] or ""), []).append(row["verdict"])
    return [
        {"package": package, "version": version}
        | {word: words.count(word) for word in (*WORDS, LEFT_OUT)}
        for (package, version), words in sorted(verdicts.items())
    ]


def finding(row: Mapping[str, Any]) -> str | None:
    """Return the bound in words."""
    if row["bound"] is None or row["quantity"] is None:
        return None
    return f"{row['quantity']} is at least {short(row['bound'])}"


if job := globals().get("snakemake"):
    run(job.input.verdicts, job.output, job.input.template, job.params.spec)

"""The table of all verdicts of a file of audits, and its page."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from epsilometer_audit.formats import short
from epsilometer_audit.grids.verdicts import as_expected
from epsilometer_workflow.files.storage import atomic, read_columns, write_table

_TEMPLATE = str(Path(__file__).parents[3] / "workflow/report/audits.html.j2")
WORDS = ("violated", "failed", "missing", "invalid", "undecided", "not refuted", "holds")
_WHOLE = ("count", "draws", "count_prime", "draws_prime", "draws_a_side", "pairs_drawn", "seed")
_NUMBERS = ("claimed_level", "bound", "upper", "detectable", "p_value", "alpha", "seconds")


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `conclude`."""
    run(snakemake.input.verdicts, snakemake.output, _TEMPLATE, snakemake.params.spec)


def run(verdicts: Sequence[str], outputs: Any, template: str, spec: Mapping[str, Any]) -> None:
    """Write the table, as CSV and Parquet, and the page of one file of audits."""
    answers = read(verdicts, spec["members"])
    rows = [row(member, verdict) for member, verdict in answers]
    about = {"title": spec["title"], "alpha_of_all": spec["alpha"]}
    write(rows, outputs, {**spec["identity"], **about})
    verdict_names = [cells["verdict"] for cells in rows]
    show(
        outputs.page,
        template,
        **spec["identity"],
        **about,
        counts=[(word, verdict_names.count(word)) for word in WORDS if word in verdict_names],
        rows=[
            shown(cells, member, Path(outputs.page).parent)
            for cells, (member, _) in zip(rows, answers, strict=True)
        ],
    )


def read(
    files: Sequence[str], members: Sequence[Mapping[str, Any]]
) -> list[tuple[Mapping[str, Any], Any]]:
    """Return each verdict with the facts about its case; a file holds the verdicts of one case."""
    return [
        ({**member, "section": section}, json.loads(text))
        for path, member in zip(files, members, strict=True)
        for section, text in enumerate(read_columns(path, "verdict", member["identity"])["json"], 1)
    ]


def write(rows: Sequence[Mapping[str, Any]], outputs: Any, identity: Mapping[str, Any]) -> None:
    """Write rows as CSV and Parquet."""
    types = dict.fromkeys(_WHOLE, "Int64") | dict.fromkeys(_NUMBERS, "float64")
    table = pd.DataFrame(rows).astype(types)
    write_table(table, outputs.parquet, "table", identity, outputs.csv)


def show(page: str, template: str, **values: Any) -> None:
    """Write a page from a Jinja template."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    text = environment.from_string(Path(template).read_text(encoding="utf-8")).render(**values)
    with atomic(page) as part:
        part.write_text(text, encoding="utf-8")


def row(member: Mapping[str, Any], verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Return a verdict as a row of the table."""
    audited = member["identity"]
    worst = _worst(verdict)
    witness = verdict["witness"] or {}
    return {
        "audit": audited["entry"],
        "mechanism": mechanism(audited["mechanism"]),
        "parameters": arguments(audited["arguments"]),
        "pairs": audited["set"],
        "claim": verdict["claimed"],
        "verdict": verdict["verdict"],
        "expected": member["expected"],
        "as_expected": as_expected(verdict["verdict"], member["expected"]),
        "quantity": worst.get("quantity"),
        "claimed_level": worst.get("claimed"),
        "bound": verdict["bound"],
        "upper": worst.get("upper"),
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
        "cause": cause(verdict["cause"]),
        "error": "; ".join(verdict["reasons"]) or None,
        "source": verdict["source"] or None,
        "path": member["path"],
    }


def guessed(guesses: Mapping[str, Any] | None) -> str | None:
    """Return guesses about canaries in a line."""
    if guesses is None:
        return None
    return "{right} of {guesses} guesses about {canaries} canaries are right".format(**guesses)


def cause(explained: Mapping[str, Any] | None) -> str | None:
    """Return the first difference with the same noise, and its line of code."""
    if explained is None or not explained["findings"]:
        return explained["words"][0] if explained else None
    first = explained["findings"][0]
    return ": ".join(filter(None, (first["words"], first["place"], first["line"])))


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


def shown(row: Mapping[str, Any], member: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a row as the page shows it: numbers in few digits, nothing where there is none."""
    rounded = {key: None if row[key] is None else short(row[key]) for key in _NUMBERS}
    template = "{count:,} of {draws:,} against {count_prime:,} of {draws_prime:,}"
    counts = template.format(**row) if row["count"] is not None else ""
    page = Path(os.path.relpath(row["path"], folder)).with_suffix(".html")
    link = f"{page.as_posix()}#claim-{member['section']}"
    cells = {**row, **rounded, "counts": counts, "page": link}
    return {key: "" if value is None else value for key, value in cells.items()}

"""Collections of audits of released packages: what is wanted of their files, and their lines.

``python -m exhibition.collection TABLE`` fails unless the verdicts of a table are as expected.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from epsilometer.errors import ConfigError, suggest
from epsilometer_audit.cli.cases import AuditsFile
from exhibition import LEFT_OUT
from exhibition.products import Audit, AuditStudy

_ORDER = ("violated", "not refuted", None)


def wanted(study: AuditStudy, collection: str, names: Sequence[str] | None) -> list[Audit]:
    """Return the audits of a collection: exhibits first, then controls; by package, as in files.

    Without ``names``, all. A name is a case of the museum, or a file, or ``file/case``; an asterisk
    stands for any letters.

    Raises
    ------
    ConfigError
        If two files of the museum have a case of one name, or nothing has a name.
    """
    files = {name.removeprefix(f"{collection}-"): audits for name, audits in study.audits.items()}
    seen: dict[str, AuditsFile] = {}
    for file in files.values() if collection == "museum" else ():
        for case in file.cases:
            if case in seen:
                also = f"is also in {seen[case].path}"
                raise ConfigError(str(file.path), f"audits.{case}", also)
            seen[case] = file
    chosen, known = list[Audit](), list[str]()
    for stem, file in files.items():
        known.append(stem)
        for case in file.cases:
            own = [stem, f"{stem}/{case}", *([case] if collection == "museum" else [])]
            known += own[1:]
            if names is None or any(fnmatchcase(one, name) for name in names for one in own):
                chosen.append(Audit(study, f"{collection}-{stem}", case))
    for name in names or ():
        if not any(fnmatchcase(one, name) for one in known):
            raise ConfigError("--config", collection, f"unknown {name!r}{suggest(name, known)}")
    return sorted(chosen, key=_place)


def _place(audit: Audit) -> tuple[int, str]:
    """Return what audits are sorted by: the expected verdict, and the package."""
    entry = audit.case.entry
    return _ORDER.index(entry.expected), (entry.about.package or "").lower()


def left_out(
    study: AuditStudy, collection: str, names: Sequence[str] | None
) -> list[dict[str, str | None]]:
    """Return the features that are not audited, each with the reason; of whole files only."""
    features = []
    for name, file in study.audits.items():
        if names is not None and name.removeprefix(f"{collection}-") not in names:
            continue
        about = next(iter(file.cases.values())).entry.about
        package = {"package": about.package, "version": about.version}
        for feature, reason in file.left_out.items():
            features.append(package | {"feature": feature, "reason": reason})
    return features


def spec_of(study: AuditStudy, collection: str, names: Sequence[str] | None) -> dict[str, Any]:
    """Return what the job of the table and the page is told."""
    audits = wanted(study, collection, names)
    return {
        "identity": audits[0].common if audits else {},
        "collection": collection,
        "members": [audit.member() for audit in audits],
        "left_out": left_out(study, collection, names),
    }


def rows_of(path: str | Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def line_of(row: Mapping[str, str]) -> str:
    """Return a line about a row of a table."""
    case = ", ".join(filter(None, (row["audit"], row["parameters"])))
    text = row["error"]
    if row["bound"] and not text:
        text = f"{row['quantity']} is at least {float(row['bound']):.3g}"
    unlike = f" ({row['expected']} was expected)" if row["as_expected"] == "no" else ""
    return f"    {row['verdict']}{unlike}: {case}: {row['claim']}: {text}"


def rows_made(table: str) -> list[dict[str, str]]:
    """Return the rows of a collection's table, if it was made."""
    try:
        return rows_of(table)
    except (OSError, ValueError):
        return []


def lines(collection: str, table: str, before: Sequence[Mapping[str, str]] = ()) -> list[str]:
    """Return lines about a collection if it was made, and the verdicts to look at.

    ``before`` are its rows before this run: verdicts that changed have a line, too.
    """
    page = Path(table).with_suffix(".html")
    rows = rows_made(table)
    try:
        results = [row["as_expected"] for row in rows]
        counts = Counter(row["verdict"] for row in rows)
        named = ("violated",) if collection == "census" else ()
        bad = [
            line_of(row)
            for row in rows
            if row["verdict"] != LEFT_OUT
            if "no" in row["as_expected"] or row["error"] or row["verdict"] in named
        ]
        bad += _changes(before, rows)
    except KeyError:
        return []
    if not rows:
        return []
    if collection == "museum":
        text = f"{results.count('yes')} of {len(rows)} as expected, {results.count('no')} not"
        text += f", {counts['missing']} missing" if counts["missing"] else ""
    else:
        constructs = {(row["package"], row["feature"]) for row in rows}
        text = f"{len(constructs)} constructs, "
        text += ", ".join(f"{count} {word}" for word, count in counts.most_common())
    return [f"  {collection}: {text}: {page}", *bad]


def _changes(before: Sequence[Mapping[str, str]], rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Return a line for each verdict that is another than before, or about another version."""
    known = {(row["path"], row["claim"]): row for row in before}
    pairs = [(known.get((row["path"], row["claim"]), row), row) for row in rows]
    return [
        f"    was {old['verdict']} ({old['package']} {old['version']}), now ({row['version']}) "
        + line_of(row).lstrip()
        for old, row in pairs
        if old["verdict"] != row["verdict"]
    ]


def is_as_expected(path: Path) -> bool:
    """Tell whether a table has a verdict, and all are as expected."""
    rows = rows_of(path)
    verdicts = {row["verdict"] for row in rows} - {"missing", LEFT_OUT}
    return bool(verdicts) and "no" not in {row["as_expected"] for row in rows}


if __name__ == "__main__":
    raise SystemExit(not is_as_expected(Path(sys.argv[1])))

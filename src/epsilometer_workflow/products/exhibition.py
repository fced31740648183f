"""Collections of audits of released packages: the museum of known faults, and the census.

``python -m epsilometer_workflow.products.exhibition SCALE COLLECTION`` fails unless the verdicts
at a scale are as expected.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from epsilometer_audit.grids.cases import Audits
from epsilometer_audit.grids.verdicts import LEFT_OUT, MISSING
from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.audited import Audit, digest_of, line_of, rows_of
from epsilometer_workflow.products.products import Needs, Product, Spec, entry

_TEMPLATE = Path(__file__).parents[3] / "workflow/report/collection.html.j2"
_ORDER = ("violated", "not refuted", None)


@dataclass(frozen=True)
class Exhibition(Product, rule="exhibit", template=paths.COLLECTION):
    """A table of all wanted verdicts of a collection, and its page."""

    collection: str

    def check(self) -> None:
        entry(dict.fromkeys(paths.COLLECTIONS), "collection", self.collection)

    @cached_property
    def _files(self) -> dict[str, Audits]:
        """The files of which anything is wanted, by name."""
        files = self.study.collection(self.collection)
        wanted = self.study.main.census if self.collection == "census" else None
        if wanted is None:
            return files
        stems = {name.partition("/")[0] for name in wanted}
        return {name: file for name, file in files.items() if _stem(name) in stems}

    @cached_property
    def cases(self) -> list[Audit]:
        """Exhibits first, then controls; by package, and then as in their files."""
        audits = [
            Audit(self.study, name, case.entry, case.parameters, case.pairs)
            for name, file in self._files.items()
            for case in file.all_cases()
            if self._is_wanted(name, case.entry)
        ]
        return sorted(
            audits,
            key=lambda a: (_ORDER.index(a.case.expected), (a.case.about["package"] or "").lower()),
        )

    def _is_wanted(self, name: str, entry: str) -> bool:
        main, stem = self.study.main, _stem(name)
        if self.collection == "museum":
            return main.exhibits is None or entry in main.exhibits
        wanted = main.census
        return wanted is None or any(fnmatchcase(f"{stem}/{entry}", p) or p == stem for p in wanted)

    @property
    def left_out(self) -> list[dict[str, str | None]]:
        """The features that are not audited, each with the reason; of whole files only."""
        census = self.study.main.census
        return [
            {"package": about["package"], "version": about["version"]}
            | {"feature": feature, "reason": reason}
            for name, file in self._files.items()
            if census is None or _stem(name) in census
            for about in [file.all_cases()[0].about]
            for feature, reason in file.file.left_out.items()
        ]

    def needs(self) -> Needs:
        return {"verdicts": list(self.cases)}

    def spec(self) -> Spec:
        spec = {
            "collection": self.collection,
            "template": digest_of(_TEMPLATE.read_text(encoding="utf-8")),
            "members": [audit.member() for audit in self.cases],
            "left_out": self.left_out,
        }
        return {"identity": self.common | {"made_of": digest_of(spec)}, **spec}


def _stem(name: str) -> str:
    """Return the name of a file in its collection."""
    return name.partition("-")[2]


def rows_made(study: Study, collection: str) -> list[dict[str, str]]:
    """Return the rows of a collection's table, if it was made."""
    try:
        return rows_of(Exhibition(study, collection).path)
    except (OSError, ValueError):
        return []


def collection_lines(
    study: Study, collection: str, before: Sequence[Mapping[str, str]] = ()
) -> list[str]:
    """Return lines about a collection if it was made, and the verdicts to look at.

    ``before`` are its rows before this run: verdicts that changed have a line, too.
    """
    page = Path(Exhibition(study, collection).path).with_suffix(".html")
    rows = rows_made(study, collection)
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
    verdicts = {row["verdict"] for row in rows} - {MISSING, LEFT_OUT}
    return bool(verdicts) and "no" not in {row["as_expected"] for row in rows}


if __name__ == "__main__":
    _, scale, collection = sys.argv
    table = Path(paths.COLLECTION.format(scale=scale, collection=collection))
    raise SystemExit(not is_as_expected(table))

"""Collections of audits of released packages: the museum of known faults, and the census.

``python -m epsilometer_workflow.products.exhibition SCALE COLLECTION`` fails unless the verdicts
at a scale are as expected.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

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
    def cases(self) -> list[Audit]:
        """Exhibits first, then controls; by package, and then as in their files."""
        main = self.study.main
        audits = [
            Audit(self.study, name, case.entry, case.parameters, case.pairs)
            for name, file in self.study.collection(self.collection).items()
            for case in file.all_cases()
            if self.collection != "museum" or main.exhibits is None or case.entry in main.exhibits
            if self.collection != "census" or main.census is None or _file(name) in main.census
        ]
        return sorted(audits, key=_place)

    def needs(self) -> Needs:
        return {"verdicts": list(self.cases)}

    def spec(self) -> Spec:
        spec = {
            "collection": self.collection,
            "template": digest_of(_TEMPLATE.read_text(encoding="utf-8")),
            "members": [audit.member() for audit in self.cases],
        }
        return {"identity": self.common | {"made_of": digest_of(spec)}, **spec}


def _file(name: str) -> str:
    """Return the name of a file in its collection."""
    return name.partition("-")[2]


def _place(audit: Audit) -> tuple[int, str]:
    case = audit.case
    return _ORDER.index(case.expected), (case.about["package"] or "").lower()


def collection_lines(study: Study, collection: str) -> list[str]:
    """Return lines about a collection if it was made, and the verdicts to look at."""
    path = Path(Exhibition(study, collection).path)
    try:
        rows = rows_of(path)
        results = [row["as_expected"] for row in rows]
        verdicts = [row["verdict"] for row in rows]
        named = ("violated",) if collection == "census" else ()
        bad = [
            line_of(row)
            for row in rows
            if "no" in row["as_expected"] or row["error"] or row["verdict"] in named
        ]
    except (OSError, KeyError, ValueError):
        return []
    missing = verdicts.count("missing")
    if collection == "museum":
        counts = f"{results.count('yes')} of {len(rows)} as expected, {results.count('no')} not"
        counts += f", {missing} missing" if missing else ""
    else:
        counts = ", ".join(f"{count} {word}" for word, count in Counter(verdicts).most_common())
    return [f"  {collection}: {counts}: {path.with_suffix('.html')}", *bad]


def is_as_expected(path: Path) -> bool:
    """Tell whether a table has verdicts, and all are as expected."""
    results = {row["as_expected"] for row in rows_of(path)}
    return "yes" in results and "no" not in results


if __name__ == "__main__":
    _, scale, collection = sys.argv
    table = Path(paths.COLLECTION.format(scale=scale, collection=collection))
    raise SystemExit(not is_as_expected(table))

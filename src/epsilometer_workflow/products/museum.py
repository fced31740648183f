"""The museum: known faults and controls, with the expected and the actual verdict of each.

``python -m epsilometer_workflow.products.museum SCALE`` fails unless the verdicts at a scale are as
expected.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.audited import Audit, digest_of, line_of, rows_of
from epsilometer_workflow.products.products import Needs, Product, Spec

_TEMPLATE = Path(__file__).parents[3] / "workflow/report/museum.html.j2"
_ORDER = ("violated", "not refuted", None)


@dataclass(frozen=True)
class Exhibition(Product, rule="exhibit", template=paths.MUSEUM):
    """A table of the verdicts of all wanted exhibits, and its page."""

    @cached_property
    def cases(self) -> list[Audit]:
        """Exhibits first, then controls; by package, and then as in their files."""
        chosen = self.study.main.exhibits
        audits = [
            Audit(self.study, name, case.entry, case.parameters, case.pairs)
            for name, file in self.study.museum.items()
            for case in file.all_cases()
            if chosen is None or case.entry in chosen
        ]
        return sorted(audits, key=_place)

    def needs(self) -> Needs:
        return {"verdicts": list(self.cases)}

    def spec(self) -> Spec:
        spec = {
            "template": digest_of(_TEMPLATE.read_text(encoding="utf-8")),
            "members": [audit.member() for audit in self.cases],
        }
        return {"identity": self.common | {"made_of": digest_of(spec)}, **spec}


def _place(audit: Audit) -> tuple[int, str]:
    case = audit.case
    return _ORDER.index(case.expected), (case.about["package"] or "").lower()


def museum_lines(study: Study) -> list[str]:
    """Return lines about the museum if it was made: the verdicts that are not as expected."""
    path = Path(paths.MUSEUM.format(scale=study.scale))
    try:
        rows = rows_of(path)
        results = [row["as_expected"] for row in rows]
        bad = [line_of(row) for row in rows if "no" in row["as_expected"] or row["error"]]
    except (OSError, KeyError, ValueError):
        return []
    missing = sum(row["verdict"] == "missing" for row in rows)
    counts = f"{results.count('yes')} of {len(rows)} as expected, {results.count('no')} not"
    counts += f", {missing} missing" if missing else ""
    return [f"  museum: {counts}: {path.with_suffix('.html')}", *bad]


def is_as_expected(path: Path) -> bool:
    """Tell whether a table has verdicts, and all are as expected."""
    results = {row["as_expected"] for row in rows_of(path)}
    return "yes" in results and "no" not in results


if __name__ == "__main__":
    raise SystemExit(not is_as_expected(Path(paths.MUSEUM.format(scale=sys.argv[1]))))

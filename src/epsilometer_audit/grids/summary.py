"""The verdicts of a file of audits as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from epsilometer_audit.grids.running import Audited


def text_of(name: str, rows: Sequence[Audited], alpha: float) -> str:
    """Return a line for each verdict that passed, all lines of the others, and the counts."""
    lines = []
    for row in rows:
        first, *rest = row.verdict.lines()
        demanded = f" ({row.case.expected} was expected)" if row.unexpected else ""
        case = ", ".join([row.case.entry, row.case.parameters, row.case.pairs])
        lines.append(f"{case}: {first}{demanded}")
        lines += rest if row.exit_code else []
    words = Counter(row.verdict.verdict for row in rows)
    counts = ", ".join(f"{count} {word}" for word, count in words.items())
    unexpected = sum(row.unexpected for row in rows)
    counts += f" ({unexpected} not as expected)" if unexpected else ""
    return "\n".join([*lines, f"{name}: {counts}; alpha = {alpha:g} for all together"])

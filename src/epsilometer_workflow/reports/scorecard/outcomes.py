"""The verdicts of a scorecard, and its summary in a line, at the end of a run."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

YES, NO, ERRATUM = "yes", "no", "erratum"
NOT_HERE, UNDECIDED = "not at this scale", "cannot be decided"
VERDICTS = (YES, ERRATUM, NO, NOT_HERE, UNDECIDED)


def summary(path: Path) -> list[str]:
    """Return the share of the decided statements that agree; nothing without a file."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            counts = Counter(row["agrees"] for row in csv.DictReader(file))
    except (OSError, KeyError):
        return []
    statements = counts.total()
    decided = statements - counts[NOT_HERE]
    if not decided:
        return []
    agree, errata = counts[YES] + counts[ERRATUM], counts[ERRATUM]
    return [
        f"  scorecard: {agree} of {decided} statements of the papers agree ({agree / decided:.1%}; "
        f"{errata} are errata), {counts[NO]} do not, {counts[UNDECIDED]} cannot be decided, "
        f"{counts[NOT_HERE]} need a larger scale"
    ]

"""The verdicts of a scorecard, and its summary in a line, at the end of a run."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

YES, NO, ERRATUM = "yes", "no", "erratum"
NOT_HERE, UNDECIDED = "not at this scale", "cannot be decided"
VERDICTS = (YES, ERRATUM, NO, NOT_HERE, UNDECIDED)


def counted(words: Iterable[str]) -> dict[str, Any]:
    """Count verdicts; ``share`` is that of the decided ones that agree, None if there are none."""
    listed = list(words)
    counts = {word: listed.count(word) for word in VERDICTS}
    decided, agree = len(listed) - counts[NOT_HERE], counts[YES] + counts[ERRATUM]
    return {
        "counts": counts,
        "statements": len(listed),
        "decided": decided,
        "agree": agree,
        "share": agree / decided if decided else None,
    }


def summary(path: Path) -> list[str]:
    """Return the share of the decided statements that agree; nothing without a file."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            found = counted(row["agrees"] for row in csv.DictReader(file))
    except (OSError, KeyError):
        return []
    counts, agree, decided, share = (found[k] for k in ("counts", "agree", "decided", "share"))
    if not decided:
        return []
    return [
        f"  scorecard: {agree} of {decided} statements of the papers agree ({share:.1%}; "
        f"{counts[ERRATUM]} are errata), {counts[NO]} do not, {counts[UNDECIDED]} cannot be "
        f"decided, {counts[NOT_HERE]} need a larger scale"
    ]

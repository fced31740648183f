"""What a paper prints beside ours, counted: how many numbers agree, and which do not.

The rows are those of a table with the columns ``artifact``, ``quantity``, ``key``, ``printed``,
``ours``, ``agrees`` and ``reason``, a row a printed number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

YES, NO, ERRATUM, NOT_HERE = "yes", "no", "erratum", "not at this scale"
_SHOWN = 3  # numbers of a group that are named


@dataclass(frozen=True)
class Difference:
    """Printed numbers of one table, figure or section that do not agree, for one reason."""

    artifact: str
    numbers: str
    reason: str
    erratum: bool


def counted(rows: pd.DataFrame) -> tuple[str, str]:
    """Return how many of the numbers that were decided agree, and what the others are.

    >>> rows = pd.DataFrame({"agrees": [YES, YES, ERRATUM, NO, NOT_HERE]})
    >>> counted(rows)
    ('2 of 4 printed numbers agree', '1 erratum of the paper, 1 disagrees; 1 needs a larger scale')
    """
    count = {name: int((rows["agrees"] == name).sum()) for name in (YES, NO, ERRATUM, NOT_HERE)}
    decided = len(rows) - count[NOT_HERE]
    others = [
        _said(count[ERRATUM], "erratum of the paper", "errata of the paper"),
        _said(count[NO], "disagrees", "disagree"),
    ]
    said = ", ".join(others)
    if count[NOT_HERE]:
        said += "; " + _said(count[NOT_HERE], "needs a larger scale", "need a larger scale")
    return f"{count[YES]} of {decided} printed numbers agree", said


def _said(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def differences(rows: pd.DataFrame) -> Iterator[Difference]:
    """Yield what does not agree: first what differs, then the errata of the paper."""
    for kind in (NO, ERRATUM):
        chosen = rows[rows["agrees"] == kind]
        same = ["artifact", "quantity", "reason"]
        for (artifact, quantity, reason), group in chosen.groupby(same, sort=False):
            named = [_beside(row) for row in group.head(_SHOWN).to_dict("records")]
            if len(group) > _SHOWN:
                named.append(f"and {len(group) - _SHOWN} more")
            numbers = f"{quantity}: {'; '.join(named)}"
            yield Difference(artifact, numbers, reason, kind == ERRATUM)


def _beside(row: dict[str, str]) -> str:
    """Return a printed number with ours, to four digits, and where both hold."""
    try:
        ours = f"{float(row['ours']):.4g}"
    except ValueError:
        ours = row["ours"]
    where = f" ({row['key'].replace(';', ', ')})" if row["key"] else ""
    return f"{row['printed']}, ours {ours}{where}"

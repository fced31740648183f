"""How many of the numbers that a paper prints agree with ours, and which do not.

The rows are those of the table `scorecard`: a row a printed number.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

YES, NO, ERRATUM, UNDECIDED = "yes", "no", "erratum", "undecided"
COLUMNS = ["artifact", "said", "reason"]
_SHOWN = 3  # numbers of a group that are named


def agreement(rows: pd.DataFrame, source: str) -> pd.DataFrame:
    """Return what is said of a paper: first how many numbers agree, then those that do not.

    These are a row for each table, figure or section, quantity and reason; errata come last.
    ``source`` is the name of the rows' table.
    """
    lines = [(source, counted(rows), ""), *_differences(rows)]
    return pd.DataFrame(lines, columns=COLUMNS)


def counted(rows: pd.DataFrame) -> str:
    """Return how many of the numbers that were decided agree, and what the others are.

    >>> counted(pd.DataFrame({"agrees": [YES, YES, ERRATUM, NO]}))
    '2 of 4 printed numbers agree, 1 is an erratum of the paper, 1 disagrees'
    """
    count = {name: int((rows["agrees"] == name).sum()) for name in (YES, NO, ERRATUM, UNDECIDED)}
    errata = _said(count[ERRATUM], "is an erratum of the paper", "are errata of the paper")
    others = _said(count[NO], "disagrees", "disagree")
    later = _said(count[UNDECIDED], "needs a larger scale", "need a larger scale")
    decided = len(rows) - count[UNDECIDED]
    line = f"{count[YES]} of {decided} printed numbers agree, {errata}, {others}"
    return f"{line}; {later}" if count[UNDECIDED] else line


def _said(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _differences(rows: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    """Yield where numbers do not agree, which, and why."""
    for kind, mark in ((NO, ""), (ERRATUM, "erratum, ")):
        chosen = rows[rows["agrees"] == kind]
        same = ["artifact", "quantity", "reason"]
        for (artifact, quantity, reason), group in chosen.groupby(same, sort=False):
            named = [_beside(row) for row in group.head(_SHOWN).to_dict("records")]
            if len(group) > _SHOWN:
                named.append(f"and {len(group) - _SHOWN} more")
            yield artifact, f"{mark}{quantity}: {'; '.join(named)}", reason


def _beside(row: dict[str, str]) -> str:
    """Return a printed number with ours, to four digits, and where both hold."""
    try:
        ours = f"{float(row['ours']):.4g}"
    except ValueError:
        ours = row["ours"]
    where = f" ({row['key'].replace(';', ',')})" if row["key"] else ""
    return f"{row['printed']}, ours {ours}{where}"

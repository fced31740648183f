"""Prints the scorecards of the papers: how many numbers agree, and which do not.

``python -m scorecard.view results/quick`` reads the tables that ``make figures`` has made.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from epsilometer_workflow.reports import printed
from scorecard.judging import CRITERIA


def lines(results: Path) -> Iterator[str]:
    """Yield the lines of all papers together, and of each paper with what does not agree."""
    rows = {paper: read(results / f"tables/{paper}/scorecard.csv") for paper in CRITERIA}
    for paper, table in rows.items():
        yield _line(paper, table)
        for one in printed.differences(table):
            kind = ", erratum" if one.erratum else ""
            yield f"  {one.artifact}{kind}: {one.numbers}. {one.reason}"
    yield _line("all papers", pd.concat(rows.values()))


def read(path: Path) -> pd.DataFrame:
    """Read the scorecard of a paper, with texts as they stand."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _line(name: str, rows: pd.DataFrame) -> str:
    agree, others = printed.counted(rows)
    return f"{name}: {agree}, {others}"


if __name__ == "__main__":
    print("\n".join(lines(Path(sys.argv[1]))))

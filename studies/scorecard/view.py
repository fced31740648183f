"""Prints the scorecards of the papers: how many numbers agree, and which do not.

``python -m scorecard.view results/quick`` reads the tables that ``make figures`` has made.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from scorecard.counting import counted
from scorecard.judging import CRITERIA


def lines(results: Path) -> Iterator[str]:
    """Yield the lines of each paper, with what does not agree, and of all papers together."""
    for paper in CRITERIA:
        first, *others = _read(results, paper, "agreement").to_dict("records")
        yield f"{paper}: {first['said']}"
        for row in others:
            yield f"  {row['artifact']}: {row['said']}. {row['reason']}"
    every = pd.concat([_read(results, paper, "scorecard") for paper in CRITERIA])
    yield f"all papers: {counted(every)}"


def _read(results: Path, paper: str, table: str) -> pd.DataFrame:
    """Read a table, with texts as they stand."""
    file = results / f"tables/{paper}/{table}.csv"
    return pd.read_csv(file, dtype=str, keep_default_na=False)


if __name__ == "__main__":
    try:
        print("\n".join(lines(Path(sys.argv[1]))))
    except FileNotFoundError as error:
        print(
            f"epsilometer: {error.filename} does not exist; make figures makes it", file=sys.stderr
        )
        raise SystemExit(1) from None

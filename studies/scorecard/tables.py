"""The tables of a paper's scorecard: each number that it prints beside ours, and what that says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from scorecard import checks, counting, settings
from scorecard.judging import CRITERIA, verdicts


def scorecard(
    tables: Mapping[str, pd.DataFrame], *, statements: str, configuration: list[str]
) -> pd.DataFrame:
    """Return a row for each of a paper's ``statements``, with our number and the verdict.

    ``tables`` are those of the paper by ``report/table``, ``statements`` is the file with what it
    prints, and ``configuration`` names all files of a folder that settings are read from.
    """
    scale = next(iter(tables.values())).attrs["scale"]
    configured = settings.table(Path(configuration[0]).parent, scale)
    known = {**tables, **checks.tables(), settings.TABLE: configured}
    return verdicts(known, statements, CRITERIA)


def agreement(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return how many numbers of a scorecard agree, and a row for each group that does not."""
    ((name, rows),) = tables.items()
    return counting.agreement(rows, name.rpartition("/")[2])

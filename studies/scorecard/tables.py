"""The tables of a paper's scorecard: each number that it prints beside ours, and what that says."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from scorecard import checks, counting
from scorecard.judging import CRITERIA, SETTINGS, verdicts


def scorecard(
    tables: Mapping[str, pd.DataFrame], *, statements: str, settings: dict[str, str]
) -> pd.DataFrame:
    """Return a row for each of a paper's ``statements``, with our number and the verdict.

    ``tables`` are those of the paper by ``report/table``, ``statements`` is the file with what it
    prints, and ``settings`` is the configuration by its keys.
    """
    configured = pd.DataFrame(settings.items(), columns=["setting", "value"])
    return verdicts({**tables, **checks.tables(), SETTINGS: configured}, statements, CRITERIA)


def agreement(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return how many numbers of a scorecard agree, and a row for each group that does not."""
    (rows,) = tables.values()
    return counting.agreement(rows)

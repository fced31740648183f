"""Estimates as they are, for reports of any grid: ``builder: plain.statistics``."""

from __future__ import annotations

import pandas as pd


def statistics(summaries: list[pd.DataFrame]) -> pd.DataFrame:
    """Return the statistics over runs, a row for each combination of the grids."""
    return pd.concat(summaries, ignore_index=True)


def estimates(runs: list[pd.DataFrame]) -> pd.DataFrame:
    """Return every estimate, beside the exact value."""
    return statistics(runs)

"""Estimates as they are, for reports of any grid: ``builder: plain.statistics``."""

from __future__ import annotations

import pandas as pd

from epsilometer.errors import ArgumentError


def statistics(summaries: list[pd.DataFrame], *, columns: list[str] | None = None) -> pd.DataFrame:
    """Return the statistics over runs, a row for each combination of the grids."""
    return _chosen(summaries, columns)


def estimates(runs: list[pd.DataFrame], *, columns: list[str] | None = None) -> pd.DataFrame:
    """Return every estimate, beside the exact value."""
    return _chosen(runs, columns)


def _chosen(tables: list[pd.DataFrame], columns: list[str] | None) -> pd.DataFrame:
    table = pd.concat(tables, ignore_index=True)
    for column in columns or ():
        if column not in table:
            raise ArgumentError("columns", f"has {column!r}; known are {', '.join(table)}")
    return table[columns] if columns else table

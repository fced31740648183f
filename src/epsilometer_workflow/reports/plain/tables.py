"""Estimates as they are, for reports of any grid: ``builder: plain.statistics``."""

from __future__ import annotations

import pandas as pd

from epsilometer_workflow.reports.grouping import ALL, grouped

_PAIR = ["mechanism", "epsilon", "inputs", "lambda", "claim", "pair", "side_x", "side_x_prime"]
_MEANS = ("trusted", "low", "high", "largest_bound", "contradicted")
_METHOD = [*_PAIR, "n", "estimator", "guarantee"]


@grouped(across=ALL)
def statistics(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the statistics over runs, a row for each combination of the grids."""
    return summary.drop(columns="panel")


@grouped(across=ALL)
def estimates(runs: pd.DataFrame) -> pd.DataFrame:
    """Return every estimate, beside the exact value."""
    return statistics(runs)


@grouped(across=ALL)
def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """Compare methods with each other on the same pairs, also where no exact value is known.

    A row for each method and its ``n`` draws a side, those that confirm included, in the larger
    direction. ``low`` is a bound, or the lower end of an interval; bounds of too few draws are not
    ``trusted``. ``largest_bound`` is that of all methods in a run. ``contradicted`` is the share of
    runs in which it lies above an estimate, or above the upper end of its interval; ``by`` is a
    method that has it.
    """
    rows = runs.assign(n=runs["n"] + runs["fresh"])
    for name in ("estimate", "low", "high", "truth"):
        rows[name] = rows[[name, f"{name}_reverse"]].max(axis=1)
    promises = rows["guarantee"] != "none"
    rows["bound"] = rows["low"].fillna(rows["estimate"]).where(promises & rows["trusted"])
    at_most = rows["high"].fillna(rows["estimate"].mask(promises))  # is the level, says the method
    same_draws = rows.groupby([*_PAIR, "n", "run"], dropna=False)
    rows["largest_bound"] = same_draws["bound"].transform("max")
    rows["contradicted"] = rows["largest_bound"] > at_most * (1 + 1e-9)
    rows["by"] = rows["estimator"].where(rows["bound"] == rows["largest_bound"])
    rows["by"] = same_draws["by"].transform("first").where(rows["contradicted"])
    columns = {name: (name, "mean") for name in _MEANS}
    return (
        rows.assign(low=rows["low"].fillna(rows["bound"]))
        .groupby(_METHOD, sort=False, dropna=False)
        .agg(
            truth=("truth", "first"),
            runs=("run", "size"),
            failures=("failed", "sum"),
            mean=("estimate", "mean"),
            sd=("estimate", "std"),
            **columns,
            by=("by", "first"),
        )
        .reset_index()
    )


@grouped(first=["mechanism", "epsilon", "lambda", "estimator", "n", "fresh"])
def seconds(timings: pd.DataFrame) -> pd.DataFrame:
    """Return the seconds of one answer: medians over runs, of drawing and of estimating."""
    return timings[["sampling", "estimating", "seconds"]].median().to_frame().T

"""The tables of the report: a builder is a public function."""

import pandas as pd


def found(summary: pd.DataFrame) -> pd.DataFrame:
    """Return how much of the exact level each bound shows."""
    table = summary[["epsilon", "n", "runs", "truth", "mean"]]
    return table.assign(share=table["mean"] / table["truth"])

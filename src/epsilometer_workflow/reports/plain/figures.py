"""The figure of estimates of any grid: ``figure: plain.against_n``."""

from __future__ import annotations

import pandas as pd

from epsilometer_workflow.reports import style


@style.points("mechanism", "epsilon", "inputs", "lambda", "pair", "estimator", "n", "fresh")
def against_n(table: pd.DataFrame) -> style.Figure:
    """Draw mean and spread of `plain.statistics` against n, a panel for each exact value."""
    keys = ["mechanism", "epsilon", "inputs", "lambda", "pair"]
    figure, panels = style.by_panel(table, keys)
    for ax, key, rows in panels:
        for name, line in rows.groupby("estimator", sort=False):
            n = line["n"] + line["fresh"]
            ax.errorbar(
                n, line["mean"], line["sd"], marker="o", capsize=2, label=style.named(str(name))
            )
        ax.axhline(rows["truth"].iloc[0], color=style.TRUTH, linestyle="--", label="exact")
        title = f"{key[0]}, epsilon {key[1]:g}, lambda {key[3]}"
        ax.set(xscale="log", xlabel="draws a side $n$", title=title)
    figure.axes[0].set(ylabel="estimate, nats")
    style.legend(figure)
    return figure

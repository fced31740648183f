"""The figure of estimates of any grid: ``figure: plain.against_n``."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pandas as pd

from epsilometer_workflow.reports import style


@style.points(
    *("mechanism", "epsilon", "inputs", "lambda", "claim", "pair", "estimator", "n", "fresh")
)
def against_n(table: pd.DataFrame) -> style.Figure:
    """Draw mean and spread of `plain.statistics` against n, a panel for each quantity.

    That is a level in nats or, of a spectrum, delta at a claim. A known exact value is a line.
    """
    keys = ["mechanism", "epsilon", "inputs", "lambda", "claim", "pair"]
    figure, panels = style.by_panel(table, keys, columns=3)
    names = list(dict.fromkeys(table["estimator"]))
    hues = dict(zip(names, cycle(style.colours(6))))
    for ax, (mechanism, epsilon, inputs, order, claim, _), rows in panels:
        for name, line in rows.groupby("estimator", sort=False):
            style_of = {"color": hues[name], "label": style.named(str(name))}
            n = line["n"] + line["fresh"]
            ax.errorbar(n, line["mean"], line["sd"], marker="o", capsize=2, **style_of)
        truth = rows["truth"].iloc[0]
        if np.isfinite(truth):
            ax.axhline(truth, color=style.TRUTH, linestyle="--", label="exact")
        of, unit = (f"lambda {order}", "estimate, nats")
        if pd.notna(claim):
            of, unit = f"at {claim:g}", r"$\delta$"
        title = f"{mechanism}, {inputs}\nepsilon {epsilon:g}, {of}"
        ax.set(xscale="log", xlabel="draws a side $n$", ylabel=unit, title=title)
    style.legend(figure)
    return figure

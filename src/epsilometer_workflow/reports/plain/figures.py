"""Figures of estimates of any grid: ``figure: plain.against_n`` and ``plain.compared``."""

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


_QUANTITY = ["mechanism", "inputs", "pair", "side_x", "side_x_prime", "n", "lambda", "claim"]
_CHANCE = 0.05  # the share of runs in which a bound may lie above the exact value


@style.points(*_QUANTITY, "epsilon", "estimator")
def compared(table: pd.DataFrame) -> style.Figure:
    """Draw the methods of `plain.compared` beside each other, a panel for each quantity.

    Panels of the epsilons of a quantity are in one row. What lies below the largest bound of all
    methods is shaded; an estimate there is crossed where that is so in more runs than by chance.
    """
    epsilons, names = table["epsilon"].nunique(), list(dict.fromkeys(table["estimator"]))
    table = table.sort_values([*_QUANTITY, "epsilon"], kind="stable")
    table = table.assign(y=table["estimator"].map(names.index))
    columns = epsilons if 1 < epsilons < 4 else 3
    figure, panels = style.by_panel(table, [*_QUANTITY, "epsilon"], columns=columns, sharey=True)
    for ax, (mechanism, inputs, _, _, _, n, order, claim, epsilon), rows in panels:
        bounds = rows["guarantee"] != "none"
        looks = [(~bounds, "o", "estimate"), (bounds, ">", "lower bound")]
        for chosen, marker, label in looks:
            mean, y, sd = (rows.loc[chosen, name] for name in ("mean", "y", "sd"))
            ax.errorbar(mean, y, xerr=sd, fmt=marker, capsize=2, label=label)
        ends = rows.dropna(subset=["low", "high"])
        ax.hlines(ends["y"], ends["low"], ends["high"], color=style.GUIDE, label="interval")
        wrong = rows[rows["contradicted"] > _CHANCE]
        ax.plot(wrong["mean"], wrong["y"], "kx", label="below another's bound")
        if np.isfinite(truth := rows["truth"].iloc[0]):
            ax.axvline(truth, color=style.TRUTH, linestyle="--", label="exact")
        if np.isfinite(bound := rows["largest_bound"].iloc[0]):
            left = min(0.0, ax.get_xlim()[0])
            ax.axvspan(left, bound, color=style.BAND, alpha=0.45, label="below the largest bound")
        of = f"lambda {order}" if pd.isna(claim) else f"at {claim:g}"
        ax.set(title=f"{mechanism}, {inputs}\nepsilon {epsilon:g}, {of}, n {n}")
        ax.set(xlabel="nats" if pd.isna(claim) else r"$\delta$")
        ax.set_yticks(range(len(names)), [style.named(str(name)) for name in names])
    panels[0][0].invert_yaxis()
    style.legend(figure)
    return figure

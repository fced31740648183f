"""Figures of estimates of any grid: ``figure: plain.against_n`` and ``plain.compared``."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from epsilometer_workflow.reports import style


@style.points(
    *("mechanism", "epsilon", "inputs", "lambda", "claim", "pair", "estimator"),
    x=["n", "fresh"],
    most={"estimator": 15},
)
def against_n(table: pd.DataFrame) -> style.Figure:
    """Draw mean and spread of `plain.statistics` against n, a panel for each quantity.

    That is a level in nats or, of a spectrum, delta at a claim. A known exact value is a line.
    """
    keys = ["mechanism", "epsilon", "inputs", "lambda", "claim", "pair"]
    figure, panels = style.by_panel(table, keys, columns=3)
    looks = product(("o-", "s--", "^:"), style.colours(5))
    look_of = dict(zip(dict.fromkeys(table["estimator"]), looks, strict=False))
    sizes = sorted(set(table["n"] + table["fresh"]))
    drawn = "$n$ + fresh" if table["fresh"].any() else "$n$"
    for ax, (mechanism, epsilon, inputs, order, claim, _), rows in panels:
        for name, line in rows.groupby("estimator", sort=False):
            fmt, colour = look_of[name]
            look = {"fmt": fmt, "color": colour, "label": style.named(str(name))}
            n = line["n"] + line["fresh"]
            ax.errorbar(n, line["mean"], line["sd"], capsize=2, **look)
        truth = rows["truth"].iloc[0]
        if np.isfinite(truth):
            ax.axhline(truth, color=style.TRUTH, linestyle="--", label="exact")
        of = f"lambda {order}"
        unit = "estimate, nats"
        if pd.notna(claim):
            of = f"at {claim:g}"
            unit = r"$\delta$"
        title = f"{mechanism}, {inputs}\nepsilon {epsilon:g}, {of}"
        ax.set(xscale="log", xlabel=f"draws a side {drawn}", ylabel=unit, title=title)
        if len(sizes) < 5:
            ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
            ax.minorticks_off()
    return figure


_QUANTITY = ["mechanism", "inputs", "pair", "side_x", "side_x_prime", "n", "lambda", "claim"]
_UNTRUSTED = "lower bound, too few draws in some runs"
_MARKS = {"estimate": "C0o", "lower bound": "C1>", _UNTRUSTED: "C2>"}
_CHANCE = 0.05  # the share of runs in which a bound may lie above the exact value


@style.points(*_QUANTITY, "epsilon", "estimator")
def compared(table: pd.DataFrame) -> style.Figure:
    """Draw the methods of `plain.compared` beside each other, a panel for each quantity.

    Panels of the epsilons of a quantity are in one row. What lies below the largest bound of all
    methods is shaded; an estimate there is crossed where that is so in more runs than by chance.
    """
    epsilons = table["epsilon"].nunique()
    names = list(dict.fromkeys(table["estimator"]))
    table = table.sort_values([*_QUANTITY, "epsilon"], kind="stable")
    kind = np.select(
        [table["guarantee"] == "none", table["trusted"] == 1],
        ["estimate", "lower bound"],
        _UNTRUSTED,
    )
    table = table.assign(y=table["estimator"].map(names.index), kind=kind)
    columns = epsilons if 1 < epsilons < 4 else 3
    figure, panels = style.by_panel(table, [*_QUANTITY, "epsilon"], columns=columns, sharey=True)
    for ax, (mechanism, inputs, _, _, _, n, order, claim, epsilon), rows in panels:
        for label, part in rows.groupby("kind"):
            look = {"xerr": part["sd"], "fmt": _MARKS[str(label)], "label": label}
            ax.errorbar(part["mean"], part["y"], capsize=2, **look)
        if (ends := rows.dropna(subset=["low", "high"])).size:
            ax.hlines(ends["y"], ends["low"], ends["high"], color=style.GUIDE, label="interval")
        if (wrong := rows[rows["contradicted"] > _CHANCE]).size:
            label = "below a bound in over 5 % of runs"
            ax.plot(wrong["mean"], wrong["y"], "kx", markeredgewidth=2, zorder=3, label=label)
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
    return figure

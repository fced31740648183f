"""The figures of kutta2022."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pandas as pd

from epsilometer_workflow.reports import style

_OFTEN = 0.1  # share of runs above the truth from which a bound is marked
_PURE = r"local loss, for $\lambda = \infty$"
_TICKS = [1, 2, 5, 10, 20, 50]


@style.points("panel", "lambda", "tau", x=["run"], tells={"tau": ["estimator", "n"]})
def violins(table: pd.DataFrame) -> style.Figure:
    """Figures 1 and A: a violin for each order (and floor), with alpha_hat under it."""
    figure, panels = style.by_panel(table, "panel", columns=4)
    floors = sorted(set(table["tau"]), reverse=True)
    beside = ""
    if "paper_alpha_hat" in table:
        beside = "\nand that of the paper"
        figure.set_figheight(figure.get_figheight() * 1.25)
    hues = style.hues(floors)
    for ax, name, rows in panels:
        _panel(ax, rows, hues)
        ax.set(title=name, xlabel=rf"order $\lambda$; below, $\hat\alpha${beside}")
        ax.set(ylabel="bound / divergence")
    ax.plot([], [], color=style.TRUTH, linewidth=1, label="divergence")
    ax.fill_between([], [], color=style.GUIDE, alpha=0.6, label="bounds of all runs")
    median: style.Look = {"marker": "o", "mfc": "white", "ms": 3.5, "mew": 0}
    ax.plot([], [], color="black", lw=4, label="their median and quartiles", **median)
    if len(hues) > 1:
        for floor, hue in hues.items():
            label = rf"$\tau = {_scientific(floor)}$"
            ax.fill_between([], [], color=hue, alpha=0.6, label=label)
    return figure


def _panel(ax: style.Axes, rows: pd.DataFrame, hues: dict[float, str]) -> None:
    """Draw the violins of one mechanism: an order after the other, floors side by side."""
    import seaborn as sns

    shares = [name for name in ("alpha_hat", "paper_alpha_hat") if name in rows]
    cells = rows[["lambda", "tau", *shares]].drop_duplicates()
    cells = cells.sort_values(["lambda", "tau"], ascending=[True, False], ignore_index=True)
    labels = cells["lambda"].map("{:g}".format)
    for name in shares:
        labels += "\n" + cells[name].map("{:.3f}".format).str.removeprefix("0")
    places = cells[["lambda", "tau"]].assign(place=cells.index)
    rows = rows.merge(places, on=["lambda", "tau"])
    box: style.Look = {"box_width": 4, "whis_width": 0, "color": "black"}
    look: style.Look = {"palette": hues, "linewidth": 0.6, "alpha": 0.6, "cut": 0}
    axes = {"x": "place", "y": "ratio", "hue": "tau", "dodge": False, "legend": False}
    sns.violinplot(rows, ax=ax, inner="box", inner_kws=box, **axes, **look)
    medians = rows.groupby("place")["ratio"].median()
    ax.plot(medians.index, medians, "o", color="white", markersize=3.5)
    ax.axhline(1, color=style.TRUTH, linewidth=1)
    ax.set_xticks(cells.index, labels)


def _scientific(value: float) -> str:
    digits, _, power = f"{value:.2g}".partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits


@style.points("panel", "estimator", x=["lambda"], most={"estimator": 6})
def orders(table: pd.DataFrame, curve: pd.DataFrame) -> style.Figure:
    """Draw bounds against the order, and the local loss for the pure level at the right edge.

    Open points lie above the truth in more than a tenth of the runs.
    """
    figure, panels = style.by_panel(table, "panel")
    for ax, name, rows in panels:
        finite = rows[rows["lambda"] < np.inf]
        pure = rows[rows["lambda"] == np.inf].head(1)
        exact = curve[(curve["panel"] == name) & (curve["lambda"] < np.inf)]
        exact = exact.drop_duplicates("lambda")
        dashed: style.Look = {"color": style.TRUTH, "linestyle": "--"}
        ax.plot(exact["lambda"], exact["divergence"], label=r"exact $D_\lambda$", **dashed)
        kinds = finite.groupby("estimator", sort=False)
        for (estimator, bounds), size in zip(kinds, cycle([6, 3.5]), strict=False):  # they coincide
            at = bounds["lambda"]
            label = style.named(str(estimator))
            (line,) = ax.plot(at, bounds["median"], linewidth=1, label=label)
            colour = line.get_color()
            often = bounds["above"] > _OFTEN
            ax.fill_between(at, bounds["low"], bounds["high"], color=colour, alpha=0.2, lw=0)
            look: style.Look = {"color": colour, "ms": size, "mew": 1}
            ax.plot(at[~often], bounds.loc[~often, "median"], "o", mfc=colour, **look)
            ax.plot(at[often], bounds.loc[often, "median"], "o", mfc="white", **look)
        edge = 2.5 * finite["lambda"].max()
        at = [edge] * len(pure)
        ax.plot(at, pure["divergence"], "_", color=style.TRUTH, markersize=14, mew=2)
        spread = [pure["median"] - pure["low"], pure["high"] - pure["median"]]
        label = _PURE
        ax.errorbar(at, pure["median"], spread, fmt="D", ms=4, color="black", label=label)
        ax.set(title=name, xscale="log", xlabel=r"order $\lambda$", ylim=(0, None))
        ax.set(ylabel=r"divergence $D_\lambda$")
        ax.set_xticks([*_TICKS, edge], [*map(str, _TICKS), r"$\infty$"])
        ax.minorticks_off()
    label = f"above the exact one in more than {_OFTEN:.0%} of the runs"
    ax.plot([], [], "o", color=style.GUIDE, mfc="white", markersize=4, mew=1, label=label)
    return figure

"""The figures of kutta2022."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd

from epsilometer_workflow.reports import style

_OFTEN = 0.1  # share of runs above the truth from which a bound is marked


@style.points("panel", "lambda", "tau", x=["run"], tells={"tau": ["estimator", "n"]})
def violins(table: pd.DataFrame) -> style.Figure:
    """Figures 1 and A: a violin for each order (and floor), with alpha_hat under it."""
    figure, panels = style.by_panel(table, "panel", columns=4)
    floors = sorted(set(table["tau"]), reverse=True)
    beside = "\nand that of the paper" if "paper_alpha_hat" in table else ""
    figure.set_figheight(figure.get_figheight() * (1.25 if beside else 1))
    hues = style.hues(floors)
    for ax, name, rows in panels:
        _panel(ax, rows, hues)
        ax.set(title=name, xlabel=rf"order $\lambda$; below, $\hat\alpha${beside}")
        ax.set(ylabel="bound / divergence")
    ax.plot([], [], color=style.TRUTH, linewidth=1, label="divergence")
    ax.fill_between([], [], color=style.GUIDE, alpha=0.6, label="bounds of all runs")
    box: dict[str, Any] = {
        "color": "black",
        "linewidth": 4,
        "marker": "o",
        "mfc": "white",
        "ms": 3.5,
        "mew": 0,
    }
    ax.plot([], [], **box, label="their median and quartiles")
    if len(floors) > 1:
        for floor, hue in hues.items():
            label = rf"$\tau = {_scientific(floor)}$"
            ax.fill_between([], [], color=hue, alpha=0.6, label=label)
    style.legend(figure)
    return figure


def _panel(ax: style.Axes, rows: pd.DataFrame, hues: dict[float, str]) -> None:
    """Draw the violins of one mechanism: an order after the other, floors side by side."""
    import seaborn as sns

    shares = [name for name in ("alpha_hat", "paper_alpha_hat") if name in rows]
    cells = rows[["lambda", "tau", *shares]].drop_duplicates()
    cells = cells.sort_values(["lambda", "tau"], ascending=[True, False])
    labels = []
    for cell in cells.to_dict("records"):
        below = [f"{cell[name]:.3f}".removeprefix("0") for name in shares]
        labels.append("\n".join([f"{cell['lambda']:g}", *below]))
    places = zip(cells["lambda"], cells["tau"], strict=True)
    order_of = {place: i for i, place in enumerate(places)}
    rows = rows.assign(place=[order_of[c] for c in zip(rows["lambda"], rows["tau"], strict=True)])
    sns.violinplot(
        rows,
        x="place",
        y="ratio",
        hue="tau",
        palette=hues,
        legend=False,
        dodge=False,
        cut=0,
        inner="box",
        inner_kws={"box_width": 4, "whis_width": 0, "color": "black"},
        linewidth=0.6,
        alpha=0.6,
        ax=ax,
    )
    medians = [cell["ratio"].median() for _, cell in rows.groupby("place")]
    ax.plot(range(len(cells)), medians, "o", color="white", markersize=3.5)
    ax.axhline(1, color=style.TRUTH, linewidth=1)
    ax.set_xticks(range(len(labels)), labels)


def _scientific(value: float) -> str:
    digits, _, power = f"{value:.2g}".partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if power else digits


@style.points("panel", "estimator", x=["lambda"], most={"estimator": 6})
def orders(table: pd.DataFrame, curve: pd.DataFrame | None = None) -> style.Figure:
    """Draw bounds against the order, and the local loss for the pure level at the right edge.

    Open points lie above the truth in more than a tenth of the runs.
    """
    figure, panels = style.by_panel(table, "panel")
    for ax, name, rows in panels:
        finite, pure = rows[rows["lambda"] < np.inf], rows[rows["lambda"] == np.inf]
        exact = finite.drop_duplicates("lambda") if curve is None else curve[curve["panel"] == name]
        ax.plot(
            exact["lambda"],
            exact["divergence"],
            color=style.TRUTH,
            linestyle="--",
            label=r"exact $D_\lambda$",
        )
        kinds = finite.groupby("estimator", sort=False)
        for (estimator, bounds), size in zip(kinds, cycle([6, 3.5]), strict=False):  # they coincide
            (line,) = ax.plot(
                bounds["lambda"], bounds["median"], linewidth=1, label=style.named(str(estimator))
            )
            colour = line.get_color()
            ax.fill_between(
                bounds["lambda"], bounds["low"], bounds["high"], color=colour, alpha=0.2, lw=0
            )
            for often, fill in ((False, colour), (True, "white")):
                part = bounds[(bounds["above"] > _OFTEN) == often]
                ax.plot(part["lambda"], part["median"], "o", color=colour, mfc=fill, ms=size, mew=1)
        edge = 2.5 * finite["lambda"].max()
        pure = pure.head(1)
        ax.plot(
            [edge] * len(pure), pure["divergence"], "_", color=style.TRUTH, markersize=14, mew=2
        )
        spread = [pure["median"] - pure["low"], pure["high"] - pure["median"]]
        ax.errorbar(
            [edge] * len(pure),
            pure["median"],
            yerr=spread,
            fmt="D",
            markersize=4,
            color="black",
            label=r"local loss, for $\lambda = \infty$",
        )
        ticks = [1, 2, 5, 10, 20, 50]
        ax.set(title=name, xscale="log", xlabel=r"order $\lambda$", ylim=(0, None))
        ax.set(ylabel=r"divergence $D_\lambda$")
        ax.set_xticks([*ticks, edge], [*map(str, ticks), r"$\infty$"])
        ax.minorticks_off()
    label = f"above the exact one in more than {_OFTEN:.0%} of the runs"
    ax.plot([], [], "o", color=style.GUIDE, mfc="white", markersize=4, mew=1, label=label)
    style.legend(figure)
    return figure

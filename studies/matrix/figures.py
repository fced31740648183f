"""The figures of the matrix."""

from __future__ import annotations

import math
from itertools import cycle
from typing import Any, Literal

import numpy as np
import pandas as pd

from epsilometer_workflow.reports import style

_CELL = (0.32, 0.22)  # inches a column and a row of a heat map
_LEAST = 1e-3  # error below which there is no need to tell
_NO_NUMBER = "#d9d9d9"
_CROSS: dict[str, Any] = {"marker": "x", "linestyle": "", "markersize": 3, "markeredgewidth": 0.6}


@style.points("mechanism", "order", "estimator")
def heat_maps(table: pd.DataFrame) -> style.Figure:
    """Draw coverage, tightness, and answers beside bounds: a row a mechanism, a column a method."""
    import seaborn as sns

    table = table[table.groupby(["order", "estimator"])["applies"].transform("any")]
    rows = list(dict.fromkeys(table["mechanism"]))
    columns = list(dict.fromkeys(zip(table["order"], table["estimator"], strict=True)))
    promising = table[table["promises"].str.startswith("a bound")]
    bounds = set(zip(promising["order"], promising["estimator"], strict=True))
    figure, axes = style.panels(3, 1, sharex=True)
    width, height = len(columns) * _CELL[0], len(rows) * _CELL[1]
    figure.set_size_inches(width + 1.8, 3 * height + 3.4)
    looks = [
        ("coverage", "share of answers at most exact", "RdYlBu", (0.0, 1.0), ".2f"),
        ("tightness", "median of answer / exact", "PuOr_r", (0.0, 2.0), ".1f"),
        ("beside", "median of answer / largest bound of a run", "PuOr_r", (0.0, 2.0), ".1f"),
    ]
    wide = table.pivot(index="mechanism", columns=["order", "estimator"])  # noqa: PD010 (no means)
    for ax, (value, title, colours, ends, text) in zip(axes[:, 0], looks, strict=True):
        values, applies = (wide[name].loc[rows, columns] for name in (value, "applies"))
        look = {"cmap": colours, "vmin": ends[0], "vmax": ends[1], "fmt": text, "cbar": False}
        sns.heatmap(values.astype(float), ax=ax, annot=True, annot_kws={"fontsize": 5}, **look)
        ax.set_facecolor(_NO_NUMBER)
        for i, j in np.argwhere(~applies.to_numpy(bool)):
            ax.fill_between([j, j + 1], i, i + 1, color="white", linewidth=0)
            ax.plot(j + 0.5, i + 0.5, color=style.GUIDE, **_CROSS)
        ax.set_xticks(np.arange(len(columns)) + 0.5, [name for _, name in columns], rotation=90)
        ax.set_yticks(np.arange(len(rows)) + 0.5, rows, rotation=0)
        ax.set(xlabel="", ylabel="")
        ax.tick_params(length=0, labelsize="x-small")
        ax.set_title(title, pad=16)
        _groups(ax, [order for order, _ in columns])
    last = axes[-1, 0]
    for label, column in zip(last.get_xticklabels(), columns, strict=True):
        label.set_fontweight("bold" if column in bounds else "normal")
    last.plot([], [], color=style.GUIDE, **_CROSS, label="does not apply")
    last.fill_between(
        [], [], color=_NO_NUMBER, label="no finite exact value, no answer, or no bound above 0"
    )
    last.plot([], [], linestyle="", label="in bold: promises .95")
    style.legend(figure)
    return figure


def _groups(ax: style.Axes, orders: list[float]) -> None:
    """Name the orders below their columns, and part them by lines."""
    for order in dict.fromkeys(orders):
        columns = [i for i, other in enumerate(orders) if other == order]
        if columns[0]:
            ax.axvline(columns[0], color="black", linewidth=1)
        ax.text(
            (columns[0] + columns[-1] + 1) / 2,
            -0.25,
            _named(order),
            ha="center",
            va="bottom",
            fontsize="x-small",
        )


def _named(order: float) -> str:
    return "order inf (pure)" if math.isinf(order) else f"order {order:g}"


@style.points("mechanism", "order", "estimator", "n")
def against_draws(table: pd.DataFrame) -> style.Figure:
    """Draw the error, or answers where no exact value is known, against n: a line a method."""
    return _lines(table, "n", "draws a side $n$")


@style.points("mechanism", "order", "estimator", "n")
def against_seconds(table: pd.DataFrame) -> style.Figure:
    """Draw the error, or answers where no exact value is known, against seconds."""
    return _lines(table, "seconds", "seconds of CPU")


def _lines(table: pd.DataFrame, across: str, label: str) -> style.Figure:
    import seaborn as sns

    mechanisms = list(dict.fromkeys(table["mechanism"]))
    orders = list(dict.fromkeys(table["order"]))
    names = list(dict.fromkeys(table["estimator"]))
    errors = table.groupby(["order", "mechanism"])["error"].count()
    alike: Literal["row", False] = "row" if errors.all() else False
    figure, axes = style.panels(len(orders), len(mechanisms), sharey=alike, sharex=True)
    hues = dict(zip(names, cycle(style.colours(5))))
    look: dict[str, Any] = {"hue": "estimator", "palette": hues, "hue_order": names, "sort": False}
    look |= {"style": "estimator", "style_order": names, "markers": True, "linewidth": 1}
    for row, order in zip(axes, orders, strict=True):
        for ax, mechanism in zip(row, mechanisms, strict=True):
            part = table[(table["order"] == order) & (table["mechanism"] == mechanism)]
            known = bool(np.isfinite(part["error"]).any())
            part = part.assign(value=np.maximum(part["error"], _LEAST) if known else part["mean"])
            sns.lineplot(part, x=across, y="value", ax=ax, **look)
            if (box := ax.get_legend()) is not None:
                box.remove()
            ax.set(xscale="log", yscale="log" if known else "linear", xlabel="")
            ax.set(ylabel="error / exact" if known else "answer, nats")
            ax.set_title(f"{mechanism}\n{_named(order)}", fontsize="small")
            if across == "n":
                ax.set_xticks(sorted(set(table["n"])), [f"{n:,}" for n in sorted(set(table["n"]))])
                ax.xaxis.minorticks_off()
            if alike:
                ax.label_outer()
    for ax in axes[-1]:
        ax.set(xlabel=label)
    style.legend(figure)
    return figure

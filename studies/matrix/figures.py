"""The figures of the matrix."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pandas as pd

from epsilometer_workflow.reports import style

_CELL = (0.32, 0.22)  # inches a column and a row of a heat map
_MARKS = "osv^DPX*<>"
_LEAST = 1e-3  # error below which there is no need to tell
_NO_NUMBER = "#d9d9d9"
_CROSS: dict[str, Any] = {"marker": "x", "linestyle": "", "markersize": 3, "markeredgewidth": 0.6}


@style.points("mechanism", "order", "estimator", tells=["lambda", "n"])
def heat_maps(table: pd.DataFrame) -> style.Figure:
    """Draw coverage, tightness, and answers beside bounds: a row a mechanism, a column a method."""
    table = table[table.groupby(["order", "estimator"])["applies"].transform("any")]
    rows = list(dict.fromkeys(table["mechanism"]))
    columns = list(dict.fromkeys(zip(table["order"], table["estimator"], strict=True)))
    promising = table[table["promises"].str.startswith("a bound")]
    bounds = set(zip(promising["order"], promising["estimator"], strict=True))
    figure, axes = style.panels(3, 1, sharex=True)
    width, height = len(columns) * _CELL[0], len(rows) * _CELL[1]
    figure.set_size_inches(width + 1.8, 3 * height + 3.4)
    looks = [
        ("coverage", "share of answers at most exact", "RdYlBu", (0.0, 1.0), "{:.2f}"),
        ("tightness", "median of answer / exact", "PuOr_r", (0.0, 2.0), "{:.1f}"),
        ("beside", "median of answer / largest bound of a run", "PuOr_r", (0.0, 2.0), "{:.1f}"),
    ]
    for ax, (value, title, colours, ends, text) in zip(axes[:, 0], looks, strict=True):
        shape = (len(rows), len(columns))
        values, applies = np.full(shape, math.nan), np.zeros(shape, bool)
        for row in table.to_dict("records"):
            at = rows.index(row["mechanism"]), columns.index((row["order"], row["estimator"]))
            values[at], applies[at] = row[value], row["applies"]
        _heat(ax, values, applies, colours, ends, text)
        ax.set_xticks(range(len(columns)), [name for _, name in columns], rotation=90)
        ax.set_yticks(range(len(rows)), rows)
        ax.tick_params(length=0, labelsize="x-small")
        ax.set_title(title, pad=16)
        _groups(ax, [order for order, _ in columns])
    last = axes[-1, 0]
    for label, column in zip(last.get_xticklabels(), columns, strict=True):
        label.set_fontweight("bold" if column in bounds else "normal")
    last.plot([], [], color=style.GUIDE, **_CROSS, label="does not apply")
    last.fill_between([], [], color=_NO_NUMBER, label="exact infinite or unknown, or no answer")
    last.plot([], [], linestyle="", label="in bold: promises .95")
    style.legend(figure)
    return figure


def _heat(
    ax: style.Axes,
    values: np.ndarray,
    applies: np.ndarray,
    colours: str,
    ends: tuple[float, float],
    text: str,
) -> None:
    """Draw the values, and a cross where a method does not apply."""
    from matplotlib import colormaps

    palette = colormaps[colours].with_extremes(bad=_NO_NUMBER)
    ax.imshow(np.ma.masked_invalid(values), cmap=palette, vmin=ends[0], vmax=ends[1], aspect="auto")
    middle = sum(ends) / 2
    for (i, j), value in np.ndenumerate(values):
        if not applies[i, j]:
            ax.fill_between([j - 0.5, j + 0.5], i - 0.5, i + 0.5, color="white", linewidth=0)
            ax.plot(j, i, color=style.GUIDE, **_CROSS)
        elif math.isfinite(value):
            dark = abs(value - middle) > 0.8 * (ends[1] - middle)
            colour = "white" if dark else "black"
            ax.text(j, i, text.format(value), ha="center", va="center", fontsize=5, color=colour)
    ax.spines[:].set_visible(False)


def _groups(ax: style.Axes, orders: list[float]) -> None:
    """Name the orders below their columns, and part them by lines."""
    for order in dict.fromkeys(orders):
        columns = [i for i, other in enumerate(orders) if other == order]
        if columns[0]:
            ax.axvline(columns[0] - 0.5, color="black", linewidth=1)
        ax.text(
            (columns[0] + columns[-1]) / 2,
            -0.75,
            _named(order),
            ha="center",
            va="bottom",
            fontsize="x-small",
        )


def _named(order: float) -> str:
    return "order inf (pure)" if math.isinf(order) else f"order {order:g}"


@style.points("mechanism", "order", "estimator", "n", tells=["lambda"])
def against_draws(table: pd.DataFrame) -> style.Figure:
    """Draw the error, or answers where no exact value is known, against n: a line a method."""
    return _lines(table, "n", "draws a side $n$")


@style.points("mechanism", "order", "estimator", "n", tells=["lambda"])
def against_seconds(table: pd.DataFrame) -> style.Figure:
    """Draw the error, or answers where no exact value is known, against seconds."""
    return _lines(table, "seconds", "seconds of CPU")


def _lines(table: pd.DataFrame, across: str, label: str) -> style.Figure:
    mechanisms = list(dict.fromkeys(table["mechanism"]))
    orders = list(dict.fromkeys(table["order"]))
    names = list(dict.fromkeys(table["estimator"]))
    alike: Literal["row", False] = "row" if np.isfinite(table["error"]).all() else False
    figure, axes = style.panels(len(orders), len(mechanisms), sharey=alike, sharex=True)
    hues = style.colours(6)
    for row, order in zip(axes, orders, strict=True):
        for ax, mechanism in zip(row, mechanisms, strict=True):
            part = table[(table["order"] == order) & (table["mechanism"] == mechanism)]
            known = bool(np.isfinite(part["error"]).any())
            part = part.assign(value=np.maximum(part["error"], _LEAST) if known else part["mean"])
            for i, name in enumerate(names):
                line = part[(part["estimator"] == name) & np.isfinite(part["value"])]
                ax.plot(
                    line[across],
                    line["value"],
                    marker=_MARKS[i % len(_MARKS)],
                    markersize=4,
                    color=hues[i % len(hues)],
                    linestyle="-" if i < len(hues) else "--",
                    linewidth=1,
                    label=name,
                )
            ax.set(xscale="log", yscale="log" if known else "linear")
            ax.set(title=f"{mechanism}, {_named(order)}")
            if not alike:
                ax.set(ylabel="error / exact" if known else "answer, nats")
            if across == "n":
                ax.set_xticks(sorted(set(table["n"])), [f"{n:,}" for n in sorted(set(table["n"]))])
                ax.xaxis.minorticks_off()
            ax.title.set_fontsize("small")
        if alike:
            row[0].set(ylabel="error / exact")
    for ax in axes[-1]:
        ax.set(xlabel=label)
    style.legend(figure)
    return figure

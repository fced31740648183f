"""The figure of the limit: draws against the least that can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from epsilometer_workflow.reports import style
from limit.methods import ANYTIME

_MARKS = "osD^vPX"
_SIZE: dict[str, Any] = {"markersize": 4, "markeredgewidth": 0.8}


@style.points("mechanism", "epsilon", "inputs", "claim", "method", x=["n"])
def against_the_limit(table: pd.DataFrame) -> style.Figure:
    """Draw draws against the least: left until refuted, by claim; right at a fixed n, by method."""
    from matplotlib.ticker import LogLocator, NullLocator

    table = table[table["applies"]]
    figure, axes = style.panels(1, 2)
    sequential = table["method"] == ANYTIME
    parts = [
        (table[sequential], "claim", "until refuted", r"floor $\ln(1/\alpha)/\mathrm{KL_{inf}}$"),
        (table[~sequential], "method", "fixed $n$", "least $n$ for power 1/2"),
    ]
    hues, used = style.colours(5), 0
    for ax, (part, by, title, least) in zip(axes[0], parts, strict=True):
        for name, group in part.groupby(by, sort=False):
            mark = _MARKS[used % len(_MARKS)]
            _points(ax, group, str(name), mark, hues[used % len(hues)])
            used += 1
        _lines(ax, part)
        ax.set(xscale="log", yscale="log", xlabel=f"{least}, draws a side", title=title)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter("{x:,g}")
            axis.set_minor_locator(NullLocator())
    axes[0, 0].set(ylabel="mean draws of ours")
    axes[0, 1].set(ylabel="draws that refute half of the time")
    style.legend(figure)
    return figure


def _points(ax: style.Axes, rows: pd.DataFrame, name: str, mark: str, colour: str) -> None:
    """Draw a point a combination; an open one where there would be more draws than n."""
    ax.plot([], [], mark, color=colour, **_SIZE, label=name)
    for row in rows.itertuples():
        face = "none" if row.at_least else colour
        ax.plot(row.limit, row.draws, mark, color=colour, **_SIZE, markerfacecolor=face)


def _lines(ax: style.Axes, rows: pd.DataFrame) -> None:
    """Draw the limit, and twice as many draws."""
    ends = np.array([rows["limit"].min() / 1.3, rows["limit"].max() * 1.3])
    ax.plot(ends, ends, color=style.TRUTH, linewidth=1, label="the limit")
    ax.plot(ends, 2 * ends, "--", color=style.TRUTH, linewidth=1, label="twice the limit")
    ax.plot([], [], "o", color=style.GUIDE, **_SIZE, markerfacecolor="none", label="at least")

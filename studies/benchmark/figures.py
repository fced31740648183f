"""The figure of the benchmark: our implementations beside others."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmark.tasks import OURS, STEEPEST
from epsilometer_workflow.reports import style

_MARKERS = "osD^vPX<>*"


def benchmark(table: pd.DataFrame) -> style.Figure:
    """Seconds beside ours, bounds beside the truth, and how our seconds grow."""
    figure, axes = style.panels(3, 1)
    figure.set_size_inches(8, 20)
    others = table[(table["kind"] != "audit") & (table["implementation"] != OURS)]
    audits = table[(table["kind"] == "audit") & table["level"].between(1e-9, 1e9)]
    ours = audits[audits["implementation"].str.startswith(OURS)].groupby("title")["n"].max()
    audits = audits[(audits["n"] == audits["title"].map(ours)) & audits["bound"].notna()]
    _seconds(axes[0, 0], others[others["ratio"].notna()])
    _bounds(axes[1, 0], audits)
    _growth(axes[2, 0], table[(table["implementation"] == OURS) & (table["kind"] != "audit")])
    return figure


def _seconds(ax: style.Axes, rows: pd.DataFrame) -> None:
    """Draw how many times our seconds each takes, a line a task."""
    tasks = list(dict.fromkeys(rows["title"]))
    for i, (name, group) in enumerate(rows.groupby("implementation", sort=False)):
        heights = [tasks.index(title) for title in group["title"]]
        ax.plot(group["ratio"], heights, _MARKERS[i % len(_MARKERS)], label=name, clip_on=False)
    ax.axvline(1, color=style.GUIDE, linewidth=1)
    ax.set_yticks(range(len(tasks)), tasks, fontsize="small")
    ax.invert_yaxis()
    ax.set(xscale="log", xlabel="seconds / ours", title="How long, beside ours")
    _legend_under(ax)


def _bounds(ax: style.Axes, rows: pd.DataFrame) -> None:
    """Draw each audit's bounds as shares of the level: median and range of the runs."""
    tasks = list(dict.fromkeys(rows["title"]))
    names = list(dict.fromkeys(rows["implementation"]))
    for i, name in enumerate(names):
        group = rows[rows["implementation"] == name]
        heights = [
            tasks.index(title) + 0.11 * (i - (len(names) - 1) / 2) for title in group["title"]
        ]
        middle, low, high = (
            group[key] / group["level"] for key in ("bound", "bound_low", "bound_high")
        )
        reach = np.array([middle - low, high - middle])
        mark = _MARKERS[i % len(_MARKERS)]
        ax.errorbar(middle, heights, xerr=reach, fmt=mark, markersize=4, elinewidth=1, label=name)
    ax.axvline(1, color=style.TRUTH, linestyle="--", linewidth=1)
    ax.set_yticks(range(len(tasks)), tasks, fontsize="small")
    ax.invert_yaxis()
    ax.set(xlabel="lower bound / exact level", title="How near an audit's bound comes")
    _legend_under(ax)


def _growth(ax: style.Axes, rows: pd.DataFrame) -> None:
    """Draw our seconds against the draws, beside the steepest that is allowed."""
    for i, (title, group) in enumerate(rows.groupby("title", sort=False)):
        if len(group) > 1:
            marker = _MARKERS[i % len(_MARKERS)]
            n, seconds = group["n"].astype(float), group["seconds"]
            ax.plot(n, seconds, marker=marker, markersize=3, linewidth=1, label=title)
    ax.set_xscale("log", base=2)
    ax.set(yscale="log", xlabel="draws a side", ylabel="seconds of CPU", title="How ours grow")
    drawn = rows[rows["seconds"] > 0]
    if len(drawn):
        n = np.array([drawn["n"].min(), drawn["n"].max()], float)
        start = drawn.loc[drawn["n"] == drawn["n"].max(), "seconds"].max()
        line = start * STEEPEST ** np.log2(n / n[1])
        ax.plot(n, line, ":", color=style.GUIDE, label=f"{STEEPEST} times a doubling")
    _legend_under(ax)


def _legend_under(ax: style.Axes) -> None:
    """Draw a legend below one panel, where each panel has markers of its own."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="upper center", bbox_to_anchor=(0.4, -0.17), ncols=2, columnspacing=1)

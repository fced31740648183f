"""The figures of lu2022."""

from __future__ import annotations

from itertools import cycle

import pandas as pd

from epsilometer_workflow.reports import style

_CLAIM = r"$\varepsilon'$"
_DELTA = r"$\delta(\varepsilon')$"


@style.points("panel", x=["claim"], most={"panel": 5})
def spectra(table: pd.DataFrame, curve: pd.DataFrame) -> style.Figure:
    """Figures 4a, 4b, 5, 6b, 7 and 9: estimated deltas with intervals, the exact ones as lines."""
    figure, ax = style.panel()
    titles = list(dict.fromkeys(table["panel"]))
    looks = zip(titles, cycle(style.colours(5)), cycle("osD^v"))
    for i, (title, colour, marker) in enumerate(looks):
        lines = curve[(curve["panel"] == title) & curve["truth"].notna()]
        # dashes of curves that coincide lie side by side, and so do the rings of their points
        gap = {1: 1.5, 2: 2}.get(len(titles), 4)
        dashes: style.Look = {"linestyle": (2 * (i % 3), (2, gap)), "linewidth": 1, "zorder": 3}
        ax.plot(lines["claim"], lines["truth"], color=colour, **dashes)
        rows = table[table["panel"] == title]
        size = 2.5 + 0.6 * (len(titles) - 1 - i)
        _points(ax, rows["claim"], rows, colour, str(title), marker, size)
    promised = sorted(set(table["epsilon"]))
    if len(promised) == 1 and promised[0] <= table["claim"].max():
        label = r"promised $\varepsilon$"
        ax.axvline(promised[0], color=style.GUIDE, linestyle=":", linewidth=1, label=label)
    ax.plot([], [], color="black", linewidth=1, linestyle="--", label="exact")
    ax.set(xlabel=_CLAIM, ylabel=_DELTA, ylim=(0, None))
    ax.locator_params(axis="x", nbins=6)
    return figure


def _points(
    ax: style.Axes,
    x: pd.Series,
    rows: pd.DataFrame,
    colour: str,
    title: str,
    marker: str = "o",
    size: float = 2.5,
) -> None:
    """Draw deltas with their intervals."""
    spread = [(rows["delta"] - rows["low"]).clip(lower=0), (rows["high"] - rows["delta"]).clip(0)]
    fill = "white" if size > 2.5 else colour
    look: style.Look = {"ms": size, "mfc": fill, "mew": 0.8, "elinewidth": 0.8}
    ax.errorbar(x, rows["delta"], spread, fmt=marker, color=colour, label=title, **look)


@style.points(x=["claim"])
def classical(table: pd.DataFrame, curve: pd.DataFrame) -> style.Figure:
    """Figure 6a: the classical bound far above the exact curve and its estimates."""
    figure, ax = style.panel()
    (colour,) = style.colours(1)
    ax.plot(curve["claim"], curve["classical"], color=style.GUIDE, label="classical bound")
    ax.plot(curve["claim"], curve["truth"], color=colour, linestyle="--", lw=1, label="exact")
    _points(ax, table["claim"], table, colour, "estimate")
    ax.set(xlabel=_CLAIM, ylabel=_DELTA, ylim=(0, None))
    return figure


@style.points(x=["claim"])
def among_neighbours(table: pd.DataFrame, curve: pd.DataFrame) -> style.Figure:
    """Figures 10 and 11: the curves, and what they differ by from the exact one.

    The exact curves are a panel of their own: intervals are far wider than what these differ by.
    """
    figure, axes = style.panels(1, 3)
    names = [str(column) for column in table if str(column).startswith("exact_")]
    left, middle, right = axes[0]
    for i, (name, colour) in enumerate(zip(names, style.colours(len(names)), strict=True)):
        label = rf"exact, $\varepsilon = {name.removeprefix('exact_')}$"
        dashes = {"linestyle": (3 * i, (3, 6)), "linewidth": 1.4}  # side by side: they coincide
        left.plot(curve["claim"], curve[name], color=colour, **dashes)
        middle.plot(curve["claim"], curve[name] - curve["truth"], color=colour, label=label)
    left.plot(table["claim"], table["delta"], "o", color="black", ms=3, mfc="none", mew=0.7)
    right.axhline(0, color=style.TRUTH, linewidth=1, label="the exact curve")
    difference = table[["delta", "low", "high"]].sub(table["truth"], axis=0)
    _points(right, table["claim"], difference, "black", "estimate")
    left.set(xlabel=_CLAIM, ylabel=_DELTA, ylim=(0, None), title="curves and estimate")
    middle.set(xlabel=_CLAIM, ylabel="difference", title="curves less exact curve")
    right.set(xlabel=_CLAIM, ylabel="difference", title="estimate less exact curve")
    return figure


@style.points("dimension", x=["n"], most={"dimension": 5})
def accuracies(table: pd.DataFrame) -> style.Figure:
    """Figure 4c: the theoretical accuracy against the number of samples."""
    figure, ax = style.panel()
    for dimension, rows in table.groupby("dimension", sort=False):
        ax.plot(rows["n"], rows["alpha"], marker="o", markersize=3, label=rf"$d = {dimension}$")
    ax.axhline(1, color=style.GUIDE, linestyle=":", label="1: no information")
    ax.set(xlabel="samples of both sides $n$", ylabel=r"theoretical accuracy $\alpha$")
    ax.set(xscale="log", yscale="log")
    return figure


@style.points("claim", x=["n"])
def bootstrapped(table: pd.DataFrame) -> style.Figure:
    """Figure 4d: the empirical accuracy against the number of samples."""
    return _bootstrapped(table, errors=False)


@style.points("claim", x=["n"])
def bootstrap_errors(table: pd.DataFrame) -> style.Figure:
    """Draw Figure 4d with the errors as they are."""
    return _bootstrapped(table, errors=True)


def _bootstrapped(table: pd.DataFrame, *, errors: bool) -> style.Figure:
    figure, ax = style.panel()
    hues = style.hues(sorted(set(table["claim"])))
    for claim, rows in table.groupby("claim"):
        colour = hues[claim]
        label = rf"bootstrap, $\varepsilon' = {claim:g}$"
        ax.plot(2 * rows["n"], rows["alpha"], color=colour, marker="o", markersize=3, label=label)
        if errors:
            ax.plot(2 * rows["n"], rows["error"], "x", color=colour, markersize=5, mew=1.2)
    if errors:
        label = "error met by 95 % of the runs"
        ax.plot([], [], "x", color="black", markersize=5, mew=1.2, label=label)
    ax.set(xlabel="samples of both sides $2n$", ylabel=r"empirical accuracy $\alpha$")
    ax.set(xscale="log", yscale="log")
    ax.xaxis.set_minor_formatter("")
    return figure


@style.points(x=["rows"], tells={"rows": ["inputs"]})
def random_rows(table: pd.DataFrame) -> style.Figure:
    """Figure 8: delta against the number of rows, both on logarithmic scales."""
    figure, ax = style.panel()
    colour = style.colours(1)[0]
    ax.plot(table["rows"], table["truth"], color=style.TRUTH, linewidth=1, label="exact")
    bottom = table["truth"].min() / 4
    low = table["low"].clip(lower=bottom)
    high = table["high"]
    ax.fill_between(table["rows"], low, high, color=colour, alpha=0.2, lw=0, label="interval")
    positive = table[table["delta"] > 0]
    zero = table[table["delta"] <= 0]
    ax.plot(positive["rows"], positive["delta"], "o", color=colour, ms=2.5, label="estimate")
    if len(zero):
        ax.plot(zero["rows"], [bottom] * len(zero), "v", color=colour, ms=3, label="estimate 0")
    ax.set(ylim=(bottom / 1.2, None))
    ax.set(xlabel="rows $m$", ylabel=r"$\delta(0)$", xscale="log", yscale="log")
    return figure


@style.points(x=["claim"])
def coins(table: pd.DataFrame) -> style.Figure:
    """Draw the standard deviation of both variants against the claim."""
    figure, ax = style.panel()
    for coin, marker in (("drawn", "s"), ("expected", "o")):
        ax.plot(table["claim"], table[f"std_{coin}"], marker=marker, markersize=3, label=coin)
    ax.set(xlabel=_CLAIM, ylabel=r"standard deviation of $\hat\delta$", ylim=(0, None))
    style.legend(figure, title="coin")
    return figure

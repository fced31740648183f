"""The figures of lu2022."""

from __future__ import annotations

from itertools import cycle

import pandas as pd

from epsilometer_workflow.reports import style

_CLAIM, _DELTA = r"$\varepsilon'$", r"$\delta(\varepsilon')$"


@style.points("panel", "claim")
def spectra(table: pd.DataFrame) -> style.Figure:
    """Figures 4a, 4b, 5, 6b, 7 and 9: estimated deltas with intervals, the exact ones as lines."""
    figure, ax = style.panel()
    curves = table.groupby("panel", sort=False)
    for (title, rows), colour, marker in zip(curves, cycle(_hues()), cycle("osD^v"), strict=False):
        _curve(ax, rows, colour, str(title), marker)
    promised = sorted(set(table["epsilon"]))
    if len(promised) == 1 and promised[0] <= table["claim"].max():
        ax.axvline(promised[0], color=style.GUIDE, linestyle=":", linewidth=1)
    ax.plot([], [], color="black", linewidth=1, linestyle="--", label="exact")
    ax.set(xlabel=_CLAIM, ylabel=_DELTA, ylim=(0, None))
    ax.locator_params(axis="x", nbins=6)
    style.legend(figure)
    return figure


def _hues() -> list[str]:
    """Return colours that points show up in: all but the palette's yellow."""
    *first, _yellow, last = style.colours(6)
    return [*first, last]


def _curve(ax: style.Axes, rows: pd.DataFrame, colour: str, title: str, marker: str = "o") -> None:
    known = rows[rows["truth"].notna()]
    ax.plot(known["claim"], known["truth"], color=colour, linewidth=1, linestyle="--")
    _points(ax, rows["claim"], rows, colour, title, marker)


def _points(
    ax: style.Axes, x: pd.Series, rows: pd.DataFrame, colour: str, title: str, marker: str = "o"
) -> None:
    """Draw deltas with their intervals."""
    spread = [(rows["delta"] - rows["low"]).clip(lower=0), (rows["high"] - rows["delta"]).clip(0)]
    ax.errorbar(
        x,
        rows["delta"],
        yerr=spread,
        fmt=marker,
        markersize=3,
        elinewidth=0.8,
        color=colour,
        label=title,
    )


@style.points("claim", tells=["mechanism"])
def classical(table: pd.DataFrame) -> style.Figure:
    """Figure 6a: the classical bound far above the exact curve and its estimates."""
    figure, ax = style.panel()
    ax.plot(table["claim"], table["classical"], color=style.GUIDE, label="classical bound")
    _curve(ax, table, style.colours(1)[0], "estimate")
    ax.plot([], [], color=style.colours(1)[0], linestyle="--", linewidth=1, label="exact")
    ax.set(xlabel=_CLAIM, ylabel=_DELTA, ylim=(0, None))
    style.legend(figure)
    return figure


@style.points("claim", tells=["mechanism"])
def among_neighbours(table: pd.DataFrame) -> style.Figure:
    """Figures 10 and 11: the curves, and what they differ by from the one in the middle."""
    figure, axes = style.panels(1, 2)
    names = [column for column in table if column.startswith("exact_")]
    colours = style.colours(len(names))
    left, right = axes[0]
    for name, colour in zip(names, colours, strict=True):
        label = rf"$\varepsilon = {name.removeprefix('exact_')}$"
        right.plot(table["claim"], table[name] - table["truth"], color=colour, label=label)
    left.plot(table["claim"], table["truth"], color=style.TRUTH, linewidth=1, label="exact")
    left.plot(table["claim"], table["delta"], "o", color="black", markersize=3, label="estimate")
    difference = table.assign(
        **{name: table[name] - table["truth"] for name in ("delta", "low", "high")}
    )
    _points(right, table["claim"], difference, "black", "estimate")
    left.set(xlabel=_CLAIM, ylabel=_DELTA, ylim=(0, None))
    right.set(xlabel=_CLAIM, ylabel="difference from the exact curve")
    style.legend(figure)
    return figure


@style.points("dimension", "n")
def accuracies(table: pd.DataFrame) -> style.Figure:
    """Figure 4c: the theoretical accuracy against the number of samples."""
    figure, ax = style.panel()
    for dimension, rows in table.groupby("dimension", sort=False):
        ax.plot(rows["n"], rows["alpha"], marker="o", markersize=3, label=rf"$d = {dimension}$")
    ax.axhline(1, color=style.GUIDE, linestyle=":")
    ax.set(
        xlabel="samples $n$", ylabel=r"theoretical accuracy $\alpha$", xscale="log", yscale="log"
    )
    style.legend(figure)
    return figure


@style.points("claim", "n")
def bootstrapped(table: pd.DataFrame) -> style.Figure:
    """Figure 4d: the empirical accuracy against the number of samples."""
    figure, ax = style.panel()
    curves = table.groupby("claim")
    hues = cycle(style.colours(len(curves)))
    for (claim, rows), colour in zip(curves, hues, strict=False):
        label = rf"bootstrap, $\varepsilon' = {claim:g}$"
        ax.plot(2 * rows["n"], rows["alpha"], color=colour, marker="o", markersize=3, label=label)
        ax.plot(2 * rows["n"], rows["error"], "x", color=colour, markersize=5, mew=1.2)
    ax.plot(
        [], [], "x", color="black", markersize=5, mew=1.2, label="error met by 95 % of the runs"
    )
    ax.set(xlabel="samples $n$", ylabel=r"empirical accuracy $\alpha$")
    ax.set(xscale="log", yscale="log")
    style.legend(figure)
    return figure


@style.points("rows", tells=["inputs"])
def random_rows(table: pd.DataFrame) -> style.Figure:
    """Figure 8: delta against the number of rows, both on logarithmic scales."""
    figure, ax = style.panel()
    colour = style.colours(1)[0]
    ax.plot(table["rows"], table["truth"], color=style.TRUTH, linewidth=1, label="exact")
    bottom = table["truth"].min() / 4
    low, high = table["low"].clip(lower=bottom), table["high"]
    ax.fill_between(table["rows"], low, high, color=colour, alpha=0.2, lw=0, label="interval")
    positive, zero = table[table["delta"] > 0], table[table["delta"] <= 0]
    ax.plot(positive["rows"], positive["delta"], "o", color=colour, ms=2.5, label="estimate")
    if len(zero):
        ax.plot(zero["rows"], [bottom] * len(zero), "v", color=colour, ms=3, label="estimate 0")
    ax.set(ylim=(bottom / 1.2, None))
    ax.set(xlabel="rows $m$", ylabel=r"$\delta(0)$", xscale="log", yscale="log")
    style.legend(figure)
    return figure


@style.points("claim", tells=["estimator"])
def coins(table: pd.DataFrame) -> style.Figure:
    """Draw the standard deviation of both variants against the claim."""
    figure, ax = style.panel()
    for coin, marker in (("drawn", "s"), ("expected", "o")):
        ax.plot(table["claim"], table[f"std_{coin}"], marker=marker, markersize=3, label=coin)
    ax.set(xlabel=_CLAIM, ylabel=r"standard deviation of $\hat\delta$", ylim=(0, None))
    style.legend(figure, title="coin")
    return figure

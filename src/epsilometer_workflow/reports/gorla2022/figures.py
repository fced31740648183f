"""The figures of gorla2022."""

from __future__ import annotations

import math
from itertools import cycle

import numpy as np
import pandas as pd

from epsilometer_workflow.reports import style

_SYMBOLS = {"delta": r"$\delta$", "gamma": r"$\gamma$", "lipschitz": "$C$", "order": r"$\alpha$"}


@style.points(x=["z"])
def cell_means(table: pd.DataFrame) -> style.Figure:
    """Figure 1: (a) a smooth density and its cell means, (b) their log ratios and the answer."""
    figure, axes = style.panels(1, 2)
    left, right = axes[0]
    blue, orange = style.colours(2)
    exact = r"exact: $p(z)$, $\log\, p(z)/q(z)$"
    cells = r"of cells: $p_j / w$, $\log\, p_j/q_j$"
    left.plot(table["z"], table["density"], color=blue, label=exact)
    right.plot(table["z"], table["log_ratio"], color=blue, label=exact)
    for cell, rows in table.groupby("cell"):  # a horizontal piece each
        look = {"color": orange, "linewidth": 2, "label": None if cell else cells}
        left.plot(rows["z"], rows["cell_mean"], **look)
        right.plot(rows["z"], rows["cell_log_ratio"], **look)
    style.band(right, table["truth"].iloc[0], table["gamma"].iloc[0])
    left.set(xlabel="$z$", ylabel="density", title="(a) a smooth density and its cell means")
    right.set(xlabel="$z$", ylabel="log ratio", title="(b) the largest cell ratio answers")
    return figure


@style.points("varied", x=["value"], tells={"varied": ["n"], "value": ["n"]})
def planned_samples(_table: pd.DataFrame, curve: pd.DataFrame) -> style.Figure:
    """Figures 2 and 6: log n of the theorem against each parameter."""
    figure, panels = style.by_panel(curve, "varied", sharey=True)
    for ax, name, rows in panels:
        ax.plot(rows["value"], rows["log_n"])
        ax.set(xlabel=_SYMBOLS[name])
    figure.axes[0].set(ylabel=r"$\log\, n$ (natural)")
    return figure


@style.points(x=["n"])
def mean_and_spread(table: pd.DataFrame) -> style.Figure:
    """Figures 3a and 7: mean and standard deviation of the answers against n."""
    figure, ax = style.panel()
    first, (colour,) = table.iloc[0], style.colours(1)
    answered = table[table["failures"] < table["runs"]]
    n = answered["n"]
    mean = answered["mean"]
    sd = answered["sd"].fillna(0)
    style.band(ax, first["truth"], first["gamma"])
    ax.plot(n, mean, marker=".", color=colour, label="mean of the runs")
    ax.fill_between(n, mean - sd, mean + sd, color=colour, alpha=0.25, label=r"$\pm$ sd")
    partly = answered[answered["failures"] > 0]
    hollow: style.Look = {"facecolor": "white", "edgecolor": colour, "zorder": 3, "s": 18}
    ax.scatter(partly["n"], partly["mean"], label="some runs failed", **hollow)
    ax.set(xscale="log", xlabel="samples a side $n$", ylabel=r"estimate $\tilde\varepsilon$")
    ax.set_xlim(right=_reach(table))
    if first["truth"] < first["gamma"]:  # no level is below 0
        ax.set_ylim(bottom=0)
    style.guide(ax, first["n_th"], r"$n_{\mathrm{TH}}$")
    return figure


@style.points(x=["n"])
def share_within(table: pd.DataFrame) -> style.Figure:
    """Figure 3b: share of runs within gamma of the truth against n, with its 95 % interval."""
    figure, ax = style.panel()
    first = table.iloc[0]
    n = table["n"]
    style.exact(ax, first["delta"], r"confidence $\delta$")
    ax.plot(n, table["share_within"], marker=".", label=r"share within $\gamma$")
    ax.fill_between(n, table["share_low"], table["share_high"], alpha=0.2, label="95 % interval")
    if "paper_n_pr" in table:
        label = r"the paper's $n_{\mathrm{PR}}$"
        style.theirs(ax, first["paper_n_pr"], first["delta"], label)
    ax.set(xscale="log", xlabel="samples a side $n$", ylabel="share of runs", ylim=(-0.02, 1.04))
    ax.set_xlim(right=_reach(table))
    style.guide(ax, first["n_pr"], r"$n_{\mathrm{PR}}$")
    style.guide(ax, first["n_th"], r"$n_{\mathrm{TH}}$")
    return figure


def _reach(table: pd.DataFrame) -> float:
    """Return the right end of the axis: what was run, and n_TH where that is within reach."""
    largest = table["n"].max()
    n_th = table["n_th"].iloc[0]
    return float(1.6 * max(largest, n_th if n_th <= 64 * largest else 0))


_SETTING = ["epsilon", "inputs", "estimator", "gamma"]  # what the title of a setting says


@style.points("setting", x=["n"], tells={"setting": _SETTING}, most={"setting": 60})
def over_inputs(table: pd.DataFrame) -> style.Figure:
    """Beyond the paper: share of runs of Algorithms 2 and 4 within gamma against n.

    A setting of one n is a point with its interval.
    """
    parts = table["setting"].str.split(", ", n=1, expand=True)
    table = table.assign(epsilon=parts[0], setting=parts[1]).sort_values(["epsilon", "n"])
    figure, panels = style.by_panel(table, "epsilon", sharey=True)
    looks = zip(cycle(style.colours(5)), cycle("os^"), cycle([7, 5.5, 4, 3]))
    look_of = {}
    for setting, (colour, marker, size) in zip(table["setting"].unique(), looks, strict=False):
        look_of[setting] = {"color": colour, "marker": marker, "ms": size, "mew": 1}
    for ax, epsilon, searches in panels:
        for setting, rows in searches.groupby("setting", sort=False):
            share = rows["share_within"]
            alone = len(rows) == 1
            reach = [share - rows["share_low"], rows["share_high"] - share] if alone else None
            line = "" if alone else "-"
            look: style.Look = {**look_of[setting], "label": setting, "linestyle": line}
            ax.errorbar(rows["n"], share, reach, mfc="none", elinewidth=1, capsize=2, **look)
            planned = rows[rows["n"] == rows["n_th"]]
            ax.plot(planned["n"], planned["share_within"], "k*", markersize=8, zorder=3)
        style.exact(ax, table["delta"].iloc[0], r"confidence $\delta$")
        ax.set(xscale="log", xlabel="samples a side $n$", title=epsilon, ylim=(-0.06, 1.08))
        ax.set(xlim=(0.7, 1.6 * table["n"].max()))
    figure.axes[0].set(ylabel=r"share of runs within $\gamma$")
    figure.axes[0].plot([], [], "k*", markersize=8, label=r"at $n_{\mathrm{TH}}$")
    return figure


@style.points("estimator", x=["epsilon", "actual_C"], most={"estimator": 5})
def safety_check(table: pd.DataFrame) -> style.Figure:
    """Figure 4: share of runs that pass the safety check against the actual C."""
    figure, ax = style.panel()
    first = table.iloc[0]
    names = {"safety-check-claimed": "claimed $C$ tested"}
    names["safety-check-actual"] = "actual $C$ tested"
    for estimator, rows in table.groupby("estimator", sort=False):
        ring: style.Look = {"ms": 6, "mfc": "none"}  # around the other's points
        mark = ring if estimator == "safety-check-actual" else {"ms": 3}
        label = names.get(str(estimator), str(estimator))
        (line,) = ax.plot(rows["actual_C"], rows["share_passing"], "o-", mew=1, label=label, **mark)
        colour = line.get_color()
        ax.fill_between(rows["actual_C"], rows["low"], rows["high"], color=colour, alpha=0.2)
    ax.fill_between([], [], color=style.GUIDE, alpha=0.3, label="95 % interval")
    style.exact(ax, first["required"], "required probability")
    ax.axvline(first["claimed_C"], color=style.GUIDE, linestyle=":", label="claimed $C$")
    ax.set(xlabel="actual $C$", ylabel="share of runs that pass", ylim=(-0.02, 1.04))
    return figure


@style.points("order", "x", "outcome")
def bernoulli_pair(table: pd.DataFrame) -> style.Figure:
    """Figure 5: the probabilities of both coins, on a log scale."""
    figure, panels = style.by_panel(table, "order", sharey=True)
    for ax, order, rows in panels:
        for x, colour in enumerate(style.colours(2)):
            coin = rows[rows["x"] == x]
            places = coin["outcome"] + (0.18 if x else -0.18)  # side by side
            look: style.Look = {"width": 0.34, "color": colour, "label": f"input {x}"}
            bars = ax.bar(places, coin["probability"], **look)
            ax.bar_label(bars, fmt=_short, padding=1)
        name = "pure" if math.isinf(order) else rf"Rényi, $\alpha = {order:g}$"
        level = rows["level"].iloc[0]
        zeros = rows["zeros_only"].iloc[0]
        title = f"{name}: level {level:.3g}\nzeros only with probability {zeros:.2f}"
        ax.set(yscale="log", ylim=(table["probability"].min() / 8, 8), title=title)
        ax.set(xticks=[0, 1], xlabel="output")
    figure.axes[0].set(ylabel="probability")
    return figure


def _short(probability: float) -> str:
    return f"{probability:.2g}" if probability < 0.99 else f"1 - {1 - probability:.1g}"


_BUDGETS = {"budget": ["mechanism"], "lambda": ["mechanism"]}


@style.points("estimator", "lambda", "budget", x=["n"], tells=_BUDGETS)
def impossibility(table: pd.DataFrame) -> style.Figure:
    """Beyond the paper: answer and share of wrong runs on the pair that defeats each estimator."""
    panels = list(table.groupby(["estimator", "lambda"], sort=False))
    titles = [_algorithm(*key) for key, _ in panels]
    if len(set(titles)) < len(titles):
        titles = [f"{_algorithm(*key)}\n{key[0]}" for key, _ in panels]
    figure, axes = style.panels(2, len(panels), sharex=True, sharey="row")
    for (above, below), title, (_, rows) in zip(axes.T, titles, panels, strict=True):
        budgets = style.hues(sorted(set(rows["budget"])))
        for i, (budget, colour) in enumerate(budgets.items()):
            line = rows[rows["budget"] == budget]
            failed = line.loc[line["answer"].isna(), "n"]
            above.plot(failed, 0 * failed - 0.15 * (i + 1), "x", color=colour, ms=3, mew=0.7)
            label = f"built for {budget:,} samples of both sides"
            above.plot(line["n"], line["answer"], color=colour, marker=".", label=label)
            wide = {"linewidth": 1.2 * (len(budgets) - i), "alpha": 0.8}
            below.plot(line["n"], line["share_wrong"], color=colour, **wide)
            for ax in (above, below):  # the budget counts both sides
                ax.axvline(budget / 2, color=colour, linestyle=":", linewidth=1)
        half = "half of its budget"
        below.plot([], [], color=style.GUIDE, linestyle=":", linewidth=1, label=half)
        style.exact(above, rows["truth"].max(), r"above: exact; below: $1 - \delta$")
        style.exact(below, 1 - rows["delta"].iloc[0], "")
        above.set(title=title, xscale="log")
        below.set(xlabel="samples a side $n$")
    axes[0, 0].set(ylabel="mean answer")
    axes[0, 0].plot([], [], "x", color=style.GUIDE, ms=3, mew=0.7, label="every run failed")
    axes[1, 0].set(ylabel="share wrong or failed", ylim=(-0.02, 1.04))
    return figure


def _algorithm(estimator: str, order: str) -> str:
    """Return which algorithm an estimator is at an order, and what it does with empty cells."""
    pure = np.isinf(float(order))
    kind = "Algorithm 1" if pure else rf"Algorithm 3, $\alpha = {float(order):g}$"
    return f"{kind}\nempty cells {'skipped' if 'skip' in estimator else 'fail'}"

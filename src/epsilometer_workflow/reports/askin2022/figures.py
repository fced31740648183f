"""The figures of askin2022."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from epsilometer_workflow.reports import style

_COLUMNS = 4  # of panels
_STYLES = ["-", "--", ":"]  # of estimators
_LEVEL = (0, (1, 2, 4, 2))


@style.points("kind", x=["z"])
def density_estimate(table: pd.DataFrame) -> style.Figure:
    """Figure 1: density, kernel estimate and the draws as a rug."""
    figure, ax = style.panel()
    curve = table[table["kind"] == "curve"]
    draws = table[table["kind"] == "draw"]
    ax.plot(curve["z"], curve["density"], color=style.TRUTH, linestyle="--", label="density")
    label = f"kernel estimate, $n = {len(draws)}$"
    ax.plot(curve["z"], curve["estimate"], label=label)
    rug = np.full(len(draws), -0.02)
    ax.plot(draws["z"], rug, "|", color=style.GUIDE, ms=6, mew=0.6, label="the draws")
    ax.set(xlabel="$t$", ylabel="density", xlim=(curve["z"].min(), curve["z"].max()))
    return figure


@style.points("mechanism", "z")
def losses(table: pd.DataFrame) -> style.Figure:
    """Figure 2: densities above, losses below."""
    mechanisms = list(table.groupby("mechanism", sort=False))
    figure, axes = style.panels(2, len(mechanisms))
    for (top, bottom), (name, rows) in zip(axes.T, mechanisms, strict=True):
        z = rows["z"]
        discrete = len(rows) == 2
        if discrete:
            top.bar(z - 0.18, rows["p"], width=0.34, label="$f_x$")
            top.bar(z + 0.18, rows["q"], width=0.34, label="$f_{x'}$")
            bottom.plot(z, rows["loss"], "o")
            for ax in (top, bottom):
                ax.set(xticks=[0, 1], xlim=(-0.6, 1.6))
        else:
            top.plot(z, rows["p"], label="$f_x$")
            top.plot(z, rows["q"], label="$f_{x'}$")
            bottom.plot(z, rows["loss"])
        top.set(title=name, xlabel="$t$", ylabel="probability" if discrete else "density")
        bottom.set(xlabel="$t$", ylabel=r"loss $\ell(t)$", ylim=(0, None))
    return figure


@style.points(x=["z"])
def empirical_loss(table: pd.DataFrame) -> style.Figure:
    """Figure 3: the loss, the empirical loss, and its maximum; blue and red, as in the paper."""
    figure, ax = style.panel()
    first = table.iloc[0]
    ax.plot(table["z"], table["loss"], linestyle="--", label=r"loss $\ell(t)$")
    label = rf"empirical loss, $n = {int(first['n']):,}$"
    ax.plot(table["z"], table["empirical"], color=style.TRUTH, label=label)
    ax.axvline(first["t_hat"], color=style.GUIDE, linestyle=":")
    ax.axhline(first["eps_hat"], color=style.GUIDE, linestyle=":")
    offset: style.Look = {"textcoords": "offset points", "color": style.GUIDE}
    ax.annotate(r"$\hat t$", (first["t_hat"], 0.02), xytext=(3, 0), **offset)
    right = table["z"].max(), first["eps_hat"]
    ax.annotate(r"$\hat\varepsilon$", right, xytext=(-8, 3), **offset)
    ax.set(xlabel="$t$", ylabel="privacy loss", ylim=(0, 1.15 * first["eps_hat"]))
    return figure


@style.points("panel", "epsilon", "estimator", x=["run"], most={"estimator": len(_STYLES)})
def bounds(table: pd.DataFrame) -> style.Figure:
    """Figures 4 and 5: empirical distribution functions of the lower bounds.

    Estimates are drawn only from a table that has no bounds: they are not in the paper's figures.
    """
    bounds = table[table["estimator"] != "estimate"]
    table = table if bounds.empty else bounds
    figure, panels = style.by_panel(table, "panel", columns=_COLUMNS, sharey=True)
    blue, green, orange = style.colours(3)
    epsilons = sorted(set(table["epsilon"]))
    hues = dict(zip(epsilons, [blue, orange, green], strict=False))
    hues = hues if len(epsilons) <= len(hues) else style.hues(epsilons)
    styles = dict(zip(table["estimator"].unique(), _STYLES, strict=False))
    for ax, panel, rows in panels:
        for (epsilon, kind), group in rows.groupby(["epsilon", "estimator"], sort=False):
            look = {"color": hues[epsilon], "linestyle": styles[kind], "linewidth": 1.6}
            ax.step(group["bound"], group["share"], where="post", **look)
        for epsilon in sorted(set(rows["epsilon"])):
            ax.axvline(epsilon, color=hues[epsilon], linestyle="--", linewidth=1)
            level = rows.loc[rows["epsilon"] == epsilon, "level"].iloc[0]
            if np.isfinite(level) and abs(level - epsilon) > 1e-6 * epsilon:
                ax.axvline(level, color=hues[epsilon], linestyle=_LEVEL, linewidth=0.9)
        ax.axhline(0.95, color=style.TRUTH, linewidth=1)
        low = min(0, float(rows["bound"].quantile(0.01)))
        name = "estimate" if bounds.empty else "lower bound"
        ax.set(title=panel, xlabel=rf"{name} of $\varepsilon$", xlim=(low, None))
    for ax in figure.axes[::_COLUMNS]:
        ax.set(ylabel="share of runs")
    _name_lines(figure, styles, hues)
    return figure


def _name_lines(figure: style.Figure, styles: dict[str, str], hues: dict[float, str]) -> None:
    """Name colours and kinds of lines."""
    ax = figure.axes[0]
    for (kind, line), (epsilon, hue) in product(styles.items(), hues.items()):
        look: style.Look = {"color": hue, "linestyle": line, "linewidth": 1.6}
        ax.plot([], [], label=rf"{style.named(kind)}, $\varepsilon = {epsilon:g}$", **look)
    ax.plot([], [], color="black", linestyle="--", linewidth=1, label=r"promised $\varepsilon$")
    ax.plot([], [], color="black", linestyle=_LEVEL, linewidth=0.9, label="exact, if another")
    ax.plot([], [], color=style.TRUTH, linewidth=1, label="95 % of the runs")


@style.points("panel", x=["n"])
def errors(table: pd.DataFrame) -> style.Figure:
    """Figure 6: mean squared errors against n."""
    figure, panels = style.by_panel(table, "panel", sharey=True)
    for ax, name, rows in panels:
        ax.plot(rows["n"], rows["mse"], marker="o", markersize=4)
        ax.set(title=name, xlabel="samples a side $n$", xscale="log", ylim=(0, None))
        ax.set_xticks(rows["n"], [f"{n:,}" for n in rows["n"]])
        ax.minorticks_off()
    figure.axes[0].set(ylabel=r"mean squared error of $\hat\varepsilon$")
    return figure


@style.points("estimator", x=["k"], tells={"k": ["mechanism"]}, most={"estimator": 8})
def rare_match(table: pd.DataFrame) -> style.Figure:
    """Draw Example 2: the mean answers against k."""
    figure, ax = style.panel()
    failed = table["failures"] == table["runs"]
    names = list(dict.fromkeys(table["estimator"]))
    labels = style.named_apart(names)
    for name, marker in zip(names, "osv^DPX*", strict=False):
        rows = table[(table["estimator"] == name) & ~failed]
        look: style.Look = {"marker": marker, "markersize": 4, "alpha": 0.8}
        if len(rows):
            ax.plot(rows["k"], rows["answer"], label=labels[name], **look)
    if failed.any():
        at = table.loc[failed, "k"]
        label = "histogram: no answer"
        ax.plot(at, 0 * at, "x", color=style.TRUTH, markeredgewidth=1, label=label)
    first = table.iloc[0]
    ax.axhline(first["epsilon"], color="black", linestyle="--", linewidth=1, label="promised")
    ax.set(xlabel="$k$ (the truth is infinite)", ylabel="mean answer")
    style.guide(ax, np.log(first["n"]), "$e^{-k} = 1/n$")
    style.guide(ax, -np.log(first["floor"]), r"$e^{-k} = \tau$")
    return figure

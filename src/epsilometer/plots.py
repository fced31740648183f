"""What a result looks like in a picture: one look, for results and for the figures of papers.

Matplotlib is imported on use.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from epsilometer.errors import ArgumentError
from epsilometer.numerics.arrays import Counts, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRUTH = "#c0392b"
"""The colour of exact values, required probabilities and claims, always a line."""
COLOURS = ("#0072b2", "#009e73", "#d55e00", "#cc79a7", "#56b4e9")
"""The palette "colorblind" without its yellow, in which points do not show up."""
_SIZE = 4.2, 2.9  # inches of a picture by itself
_BAND = 0.25  # how opaque the area between two limits is


def axes_of(axes: Axes | None) -> Axes:
    """Return the axes, or those of a new picture; raise `ArgumentError` without Matplotlib."""
    if axes is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            message = "needs Matplotlib: pip install 'epsilometer[plots]'"
            raise ArgumentError("plot", message) from None
        axes = plt.subplots(figsize=_SIZE, layout="constrained")[1]
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def band(axes: Axes, x: Floats, low: Floats, high: Floats, label: str) -> int:
    """Draw the area between two limits at ``x``, ``(m,)``, and return the number of its colour.

    A further band on the same axes has another colour.
    """
    number = len(axes.collections) % len(COLOURS)
    rising = np.argsort(x, kind="stable")
    x = x[rising]
    low = low[rising]
    high = high[rising]
    colour = COLOURS[number]
    axes.fill_between(x, low, high, color=colour, alpha=_BAND, linewidth=0, label=label)
    return number


def curve(axes: Axes, x: Floats, y: Floats, label: str, *, number: int = 0, **how: Any) -> None:
    """Draw a curve in the colour of this number; NaN are gaps."""
    if np.isfinite(y).any():
        rising = np.argsort(x, kind="stable")
        x = x[rising]
        y = y[rising]
        axes.plot(x, y, color=COLOURS[number], label=label, **how)


def point(axes: Axes, x: float, y: float, low: float, high: float) -> None:
    """Draw a number with its limits; a limit without another end is an arrow away from it."""
    if math.isfinite(low) and math.isfinite(high):
        axes.vlines(x, low, high, color=COLOURS[0], alpha=0.6, linewidth=4)
    elif math.isfinite(low):
        axes.plot([x], [low], marker="^", color=COLOURS[0], markersize=8)
        axes.annotate(f"at least {low:.3g}", (x, low), (8, 4), textcoords="offset points")
    if math.isfinite(y):
        axes.plot([x], [y], marker="o", color=COLOURS[0])


def histogram(axes: Axes, edges: Floats, counts: Counts, label: str, *, number: int) -> None:
    """Draw counts between edges, ``(k + 1,)``, in the colour of this number."""
    axes.stairs(counts, edges, color=COLOURS[number], label=label, linewidth=1.4)


def shaded(axes: Axes, low: float, high: float) -> None:
    """Shade an event between two numbers."""
    axes.axvspan(low, high, color=COLOURS[2], alpha=_BAND / 2, linewidth=0)


def level(axes: Axes, value: float, label: str, *, vertical: bool = False) -> None:
    """Draw a line at a claimed or true level."""
    line = axes.axvline if vertical else axes.axhline
    line(value, color=TRUTH, linewidth=1.2, linestyle="--", label=label)


def finished(axes: Axes, x: str, y: str) -> Axes:
    """Name both axes, show what has a name, and return them."""
    axes.set(xlabel=x, ylabel=y)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)
    return axes

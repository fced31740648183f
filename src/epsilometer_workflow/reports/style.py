"""One look for every figure: fonts, colours, sizes, and how files are written.

Matplotlib is imported when a figure is made, so that reading the configuration, which only asks
whether a renderer exists, does not pay for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from epsilometer.plots import COLOURS
from epsilometer.plots import TRUTH as TRUTH  # noqa: PLC0414 (figures name it, too)
from epsilometer_workflow.files.storage import atomic
from epsilometer_workflow.reports import grouping

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes as Axes  # noqa: PLC0414 (figures name it, too)
    from matplotlib.figure import Figure as Figure  # noqa: PLC0414

Look = dict[str, Any]
"""Options of matplotlib about how something is drawn."""

Renderer = TypeVar("Renderer", bound="Callable[..., Figure]")

BAND = "#f5d76e"  # the precision asked for, always an area
GUIDE = "#7f8c8d"
# inches: the width of a column and of a page of two columns
COLUMN = 3.5
PAGE = 7.16
_HEIGHT = {1: 2.6, 2: 2.5, 3: 2.1}  # inches of a row of so many panels
_POINTS = 8  # of all text, as printed
_DOTS_PER_INCH = 200
_NAMES = {
    "histogram-skip": "histogram (filled cells)",
    "largest-loss": "largest local loss",
    "mpl": "MPL",
    "renyi-bound": "Rényi bound",
    "renyi-bound-as-published": "Rényi bound as published",
    "spectrum-knn": "nearest neighbours",
}
_SETTINGS = {"draws": r"$\tau = {}/n$", "floor": r"$\tau = {}$", "gamma": r"$\gamma = {}$"}


@dataclass(frozen=True)
class Shows:
    """What tells the points of a figure apart, by columns of its table.

    ``columns`` are panels, colours and styles, ``x`` what a curve runs along. Titles of panels tell
    every axis of identity; ``tells`` has the axes that other columns tell, such as the mechanism
    that has a parameter. ``most`` is the number of looks for the names in a column. With ``rows``
    any other axis that varies becomes rows of panels.
    """

    columns: tuple[str, ...]
    x: Sequence[str] = ()
    tells: Mapping[str, Sequence[str]] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)
    rows: bool = True

    def tellers(self, axis: str) -> list[str]:
        """Return the columns that may tell an axis of identity."""
        may = {"panel", *grouping.IDENTITY[axis]}
        return [c for c in (*self.columns, *self.x) if c in may or axis in self.tells.get(c, ())]


def points(*columns: str, **more: Any) -> Callable[[Renderer], Renderer]:
    """Declare what a figure `Shows`.

    A table with two rows for one point is not drawn, and a grid that would give it is refused
    before the first job.
    """

    def declare(renderer: Renderer) -> Renderer:
        renderer.shows = Shows(columns, **more)  # type: ignore[attr-defined]
        return renderer

    return declare


def panels(
    rows: int = 1, columns: int = 1, *, sharex: bool = False, sharey: bool | Literal["row"] = False
) -> tuple[Figure, np.ndarray]:
    """Return a figure and its axes, always as an array of shape (rows, columns).

    One panel is as wide as a column of a paper, several as the page.
    """
    plt = _pyplot()
    size = COLUMN if columns == 1 else PAGE, _HEIGHT.get(columns, 1.9) * rows
    figure = _stack[-1].place(*size) if _stack else plt.figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False)
    return figure, axes


def _pyplot() -> Any:
    """Return matplotlib's pyplot, set up for the look of all figures."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.style.use(["seaborn-v0_8-ticks", "seaborn-v0_8-paper", "seaborn-v0_8-colorblind"])
    plt.rc("axes", prop_cycle=f"cycler(color={[*COLOURS]})")
    plt.rc("axes.formatter", limits=(-7, 7), useoffset=False)  # ticks are what they say
    plt.rcParams |= {
        "pdf.fonttype": 42,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
    }
    plt.rc("font", size=_POINTS)
    plt.rc("axes", labelsize=_POINTS, titlesize=_POINTS)
    plt.rc("xtick", labelsize=_POINTS)
    plt.rc("ytick", labelsize=_POINTS)
    plt.rc("legend", fontsize=_POINTS, title_fontsize=_POINTS)
    return plt


class _Stack:
    """Figures under each other as one, each as wide and as high as it is alone."""

    def __init__(self, count: int) -> None:
        self.figure: Figure = _pyplot().figure(figsize=(COLUMN, 1), layout="constrained")
        self._grid = self.figure.add_gridspec(count, 1)
        self._heights: list[float] = []
        self._title = ""

    def draw(self, title: str, draw: Callable[[], Figure]) -> None:
        """Draw the next figure under its title."""
        self._title = title
        _stack.append(self)
        try:
            draw()
        finally:
            _stack.pop()

    def place(self, width: float, height: float) -> Figure:
        """Return the place of the next figure."""
        self.figure.set_figwidth(max(width, self.figure.get_figwidth()))
        place = self.figure.add_subfigure(self._grid[len(self._heights), 0])
        place.suptitle(self._title, fontsize=_POINTS, fontweight="bold")
        self._heights.append(height)
        self.grow(0.2)  # for its title
        return place  # type: ignore[return-value]

    def grow(self, height: float) -> None:
        """Make the last figure higher."""
        self._heights[-1] += height
        self.figure.set_figheight(sum(self._heights))
        unused = self._grid.nrows - len(self._heights)
        self._grid.set_height_ratios(self._heights + unused * [1e-3])


_stack: list[_Stack] = []  # that is being drawn


def stacked(figures: Mapping[str, Callable[[], Figure]]) -> Figure:
    """Draw figures as rows of panels, each under its title."""
    stack = _Stack(len(figures))
    for title, draw in figures.items():
        stack.draw(title, draw)
    return stack.figure


def by_panel(
    table: pd.DataFrame, key: str | list[str], *, columns: int | None = None, sharey: bool = False
) -> tuple[Figure, list[tuple[Axes, Any, pd.DataFrame]]]:
    """Return a figure with a panel for each value of a column; and axes, value and rows of each.

    Panels are in the order of the table, so many ``columns`` in a row, or all in one.
    """
    groups = list(table.groupby(key, sort=False, dropna=False))
    columns = min(columns or len(groups), len(groups))
    figure, axes = panels(-(-len(groups) // columns), columns, sharey=sharey)
    for ax in axes.flat[len(groups) :]:
        ax.set_axis_off()
    return figure, [(ax, *group) for ax, group in zip(axes.flat, groups, strict=False)]


def panel() -> tuple[Figure, Axes]:
    """Return a figure of one panel, and its axes."""
    figure, axes = panels()
    return figure, axes[0, 0]


def named(entry: str) -> str:
    """Return what a legend calls an entry of the configuration, such as ``mpl-floor=0.001``."""
    name, *settings = re.split(r"-(?=[a-z]+=)", entry)
    words = [_NAMES.get(name, name.replace("-", " "))]
    for setting in settings:
        key, _, value = setting.partition("=")
        words.append(_SETTINGS.get(key, f"{key} = {{}}").format(value))
    return ", ".join(words)


def named_apart(entries: Sequence[str]) -> dict[str, str]:
    """Return what a legend calls each entry, with settings only where names are not enough."""
    with_settings = {entry: named(entry) for entry in entries}
    short = {entry: name.partition(",")[0] for entry, name in with_settings.items()}
    enough = len(set(short.values())) == len(short)
    return short if enough else with_settings


def colours(count: int) -> list[str]:
    """Return the palette's first colours."""
    return [*COLOURS[:count]]


def hues(numbers: Iterable[float]) -> dict[float, str]:
    """Return a colour for each number, in the order given; of many, along a continuous palette."""
    import matplotlib as mpl

    values = list(dict.fromkeys(numbers))
    if len(values) <= len(COLOURS):
        return dict(zip(values, COLOURS, strict=False))
    palette = mpl.colormaps["viridis"].resampled(len(values) + 1)  # its last yellow is too pale
    return {v: mpl.colors.to_hex(palette(i)) for i, v in enumerate(values)}


def exact(axes: Axes, value: float, label: str) -> None:
    """Draw an exact value, or a required probability, as a line."""
    axes.axhline(value, color=TRUTH, linestyle="--", label=label)


def band(axes: Axes, truth: float, gamma: float) -> None:
    """Draw the exact value as a line and the precision around it as an area."""
    label = r"exact $\varepsilon \pm \gamma$"
    ends = (truth - gamma, truth + gamma)
    axes.axhspan(*ends, color=BAND, alpha=0.45, linewidth=0, label=label)
    exact(axes, truth, r"exact $\varepsilon$")


def legend(figure: Figure, title: str | None = None) -> None:
    """Draw one legend for all panels below them, off every line and point."""
    handles: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if not handles:
        return
    for columns in range(len(handles), 0, -1):
        place: Look = {"loc": "outside lower center", "ncols": columns}
        box = figure.legend(handles.values(), handles.keys(), columnspacing=1, title=title, **place)
        size = box.get_window_extent()
        if size.width <= figure.bbox.width or columns == 1:
            break
        box.remove()
    if _stack:
        _stack[-1].grow(size.height / figure.dpi)
    else:
        figure.set_figheight(figure.get_figheight() + size.height / figure.dpi)


def theirs(axes: Axes, x: float, y: float, label: str) -> None:
    """Draw a point that the paper prints, as a light marker behind ours."""
    look: Look = {"s": 70, "color": GUIDE, "marker": "D", "alpha": 0.5, "linewidths": 0}
    axes.scatter([x], [y], zorder=0, label=label, **look)


def guide(axes: Axes, n: float, label: str) -> None:
    """Mark a value of n by a dotted vertical line, named above the panel, where it is in view."""
    if n <= axes.get_xlim()[1]:  # NaN is not
        axes.axvline(n, color=GUIDE, linestyle=":", linewidth=1)
        above: Look = {"xycoords": ("data", "axes fraction"), "xytext": (0, 2), "ha": "center"}
        axes.annotate(label, (n, 1), textcoords="offset points", color=GUIDE, **above)


def save(figure: Figure, pdf: str, caption: str) -> None:
    """Write the figure as PDF and, beside it, as PNG; the caption goes into their metadata."""
    title = Path(pdf).stem
    with atomic(pdf) as part:
        metadata = {"Title": title, "Subject": caption, "CreationDate": None}
        figure.savefig(part, metadata=metadata)
    with atomic(Path(pdf).with_suffix(".png")) as part:
        figure.savefig(part, dpi=_DOTS_PER_INCH, metadata={"Title": title, "Description": caption})

"""Every figure at smoke scale: axes have labels, legends hide nothing, text is text."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text

from epsilometer.settings.registry import load
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.reports import Figure, Page
from epsilometer_workflow.reports import style
from epsilometer_workflow.stages import render
from tests.workflow.conftest import ROOT, Project

STUDY = Study(ROOT / "config", {"scale": "smoke"})
FIGURES = [figure for name in STUDY.wanted for figure in Page(STUDY, name).needs()["figures"]]


@pytest.mark.parametrize("product", FIGURES, ids=lambda f: f"{f.report}-{f.artifact}")
def test_a_figure_drawn_again_from_its_table(product: Figure, finished: Project):
    table = pd.read_parquet(finished.folder / product.table.file)
    path = product.table.templates["curve"].format(**product.table.wildcards)
    curve = pd.read_parquet(finished.folder / path)
    renderer = load(product.spec()["renderer"])
    figure = render.drawn(table, curve, renderer)
    figure.canvas.draw()
    try:
        every_axis_has_a_label_or_words_as_ticks(figure)
        every_n_is_that_of_the_table(figure, table)
        legends_lie_beside_all_panels_and_within_the_figure(figure)
        it_can_be_printed(figure)
    finally:
        plt.close(figure)
    pdf = Path(finished.folder / product.path).read_bytes()
    assert b"/FontFile2" in pdf  # text is text: TrueType, as `pdf.fonttype: 42` embeds it
    assert b"/Type3" not in pdf


def tick_labels(axis) -> list[str]:
    """Return the visible text at the ticks of an axis."""
    return [t for label in axis.get_ticklabels() if label.get_visible() and (t := label.get_text())]


def are_numbers(texts: list[str]) -> bool:
    """Tell whether ticks are numbers of a scale, and so need a label of the axis."""
    plain = [text.replace("−", "-").replace(",", "").strip("$") for text in texts]
    return all(text.startswith(("-", *"0123456789.", r"\mathdefault")) for text in plain)


def every_axis_has_a_label_or_words_as_ticks(drawn):
    for axes in (panel for panel in drawn.axes if panel.axison):
        for axis in (axes.xaxis, axes.yaxis):
            texts = tick_labels(axis)
            assert not texts or axis.get_label_text() or not are_numbers(texts), texts
            assert not axis.get_offset_text().get_text()
        top = max(axes.bbox.y1, axes.title.get_window_extent().y1)
        assert axes.yaxis.label.get_window_extent().y1 <= top, axes.get_ylabel()


def every_n_is_that_of_the_table(drawn, table: pd.DataFrame):
    """An axis of n has the values of column n, and one of 2n those doubled."""
    for axes in drawn.axes:
        times = {"$n$": 1, "$2n$": 2}.get(axes.get_xlabel().rpartition(" ")[2], 0)
        marked = [line for line in axes.lines if line.get_marker() != "None" and times]
        assert all(set(line.get_xdata()) <= set(times * table["n"]) for line in marked)


def legends_lie_beside_all_panels_and_within_the_figure(drawn):
    renderer = drawn.canvas.get_renderer()
    assert not [inside for axes in drawn.axes for inside in axes.findobj(Legend)]
    for legend in drawn.legends:
        place = legend.get_window_extent(renderer)
        panels = [axes.get_tightbbox(renderer) for axes in drawn.axes]
        assert not [panel for panel in panels if panel is not None and place.overlaps(panel)]
        assert drawn.bbox.x0 - 1 <= place.x0 <= place.x1 <= drawn.bbox.x1 + 1
        assert drawn.bbox.y0 - 1 <= place.y0


def it_can_be_printed(drawn):
    """The width of a column or a page; text of 8 points; every colour of a line is named."""
    assert drawn.get_figwidth() in (style.COLUMN, style.PAGE)
    assert min(text.get_fontsize() for text in drawn.findobj(Text) if text.get_text()) >= 8
    handles = [line for legend in drawn.legends for line in legend.findobj(Line2D)]
    named = {to_hex(line.get_color()) for line in handles}
    named |= {to_hex(p.get_facecolor()) for legend in drawn.legends for p in legend.get_patches()}
    lines = [line for axes in drawn.axes for line in axes.lines if len(line.get_xdata())]
    used = {to_hex(line.get_color()) for line in lines if len(set(to_rgb(line.get_color()))) > 1}
    unnamed = used - named - {style.GUIDE}  # which has its name beside it
    assert not unnamed if drawn.legends else len(used) <= 1

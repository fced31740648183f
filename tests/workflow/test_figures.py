"""Every figure at smoke scale: axes have labels, legends hide nothing, text is text."""

from pathlib import Path

import pandas as pd
import pytest

from epsilometer.registry import load
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.reports import Figure, Page
from tests.workflow.conftest import ROOT, Project

STUDY = Study(ROOT / "config", {"scale": "smoke"})
FIGURES = [figure for name in STUDY.wanted for figure in Page(STUDY, name).needs()["figures"]]


@pytest.fixture(
    params=FIGURES, ids=lambda figure: f"{figure.report}-{figure.artifact}", scope="module"
)
def figure_product(request) -> Figure:
    return request.param


@pytest.fixture(scope="module")
def drawn(figure_product: Figure, finished: Project):
    """The figure, drawn again from its table."""
    import matplotlib.pyplot as plt

    table = pd.read_parquet(finished.folder / figure_product.table.file)
    path = figure_product.table.templates["curve"].format(**figure_product.table.wildcards)
    curve = pd.read_parquet(finished.folder / path)
    renderer = load(figure_product.spec()["renderer"])
    figure = renderer(table) if curve.empty else renderer(table, curve)
    figure.canvas.draw()
    yield figure
    plt.close(figure)


def tick_labels(axis) -> list[str]:
    """Return the visible text at the ticks of an axis."""
    texts = [label.get_text() for label in axis.get_ticklabels() if label.get_visible()]
    return [text for text in texts if text]


def are_numbers(texts: list[str]) -> bool:
    """Tell whether ticks are numbers of a scale, and so need a label of the axis."""
    plain = [text.replace("−", "-").replace(",", "").strip("$") for text in texts]
    return all(text.startswith(("-", *"0123456789.", r"\mathdefault")) for text in plain)


def test_every_axis_has_a_label_or_words_as_ticks(drawn):
    for axes in (panel for panel in drawn.axes if panel.axison):
        for axis in (axes.xaxis, axes.yaxis):
            texts = tick_labels(axis)
            assert not texts or axis.get_label_text() or not are_numbers(texts), texts


def test_legends_lie_beside_all_panels_and_within_the_figure(drawn):
    from matplotlib.legend import Legend

    renderer = drawn.canvas.get_renderer()
    assert not [inside for axes in drawn.axes for inside in axes.findobj(Legend)]
    for legend in drawn.legends:
        place = legend.get_window_extent(renderer)
        panels = [axes.get_tightbbox(renderer) for axes in drawn.axes]
        assert not [panel for panel in panels if panel is not None and place.overlaps(panel)]
        assert drawn.bbox.x0 - 1 <= place.x0 <= place.x1 <= drawn.bbox.x1 + 1
        assert drawn.bbox.y0 - 1 <= place.y0


def test_text_in_pdfs_is_text(figure_product: Figure, finished: Project):
    pdf = Path(finished.folder / figure_product.path).read_bytes()
    assert b"/FontFile2" in pdf  # TrueType, as `pdf.fonttype: 42` embeds it
    assert b"/Type3" not in pdf

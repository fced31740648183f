"""The look of figures: legends stand below the panels, off all that is drawn."""

import ast
from pathlib import Path

import pytest

from epsilometer_workflow.reports import style

RENDERERS = sorted(Path("src/epsilometer_workflow/reports").absolute().glob("*/figures.py"))


@pytest.mark.parametrize("letters", [3, 20, 35])
@pytest.mark.parametrize("panels", [1, 3])
def test_a_legend_lies_below_the_panels_and_within_the_figure(panels, letters):
    figure, axes = style.panels(1, panels)
    for ax in axes[0]:
        for i in range(4):
            ax.plot([0, 1], [0, i], label=f"{i}" * letters)
        ax.set(xlabel="x", ylabel="y", title="title")
    style.legend(figure, title="lines")
    figure.draw_without_rendering()
    box = figure.legends[0].get_window_extent()
    assert len(figure.legends[0].get_texts()) == 4
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    for ax in axes[0]:
        assert box.y1 <= ax.get_tightbbox().y0
        assert ax.get_window_extent().height >= 1.0 * figure.dpi


@pytest.mark.parametrize("file", RENDERERS, ids=lambda file: file.parent.name)
def test_no_figure_has_a_legend_of_its_own(file):
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    legends = [
        ast.unparse(call.func)
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "legend"
    ]
    assert set(legends) <= {"style.legend"}

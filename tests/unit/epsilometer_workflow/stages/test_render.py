"""Figures from tables: exact curves, and all values or a line on what is too much."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from epsilometer.errors import ArgumentError
from epsilometer_workflow.files.identities import RenderJob
from epsilometer_workflow.files.storage import write_table
from epsilometer_workflow.reports import style
from epsilometer_workflow.stages import render
from epsilometer_workflow.stages.render import figures_of, two_rows_of_a_point
from tests.unit.stages import TABLE


@style.points("x")
def with_curve(table, curve=None):
    figure, ax = style.panel()
    ax.plot((table if curve is None else curve)["x"], label="exact")
    return figure


@style.points("x")
def alone(table):
    return with_curve(table)


@pytest.mark.parametrize(
    ("renderer", "points", "shown"),
    [("with_curve", 50, 50), ("with_curve", 0, 3), ("alone", 50, 3)],
)
def test_a_renderer_gets_the_curve_that_it_asks_for(renderer, points, shown, tmp_path, monkeypatch):
    table, curve = str(tmp_path / "a.parquet"), str(tmp_path / "curve.parquet")
    write_table(pd.DataFrame({"x": range(3)}), table, "table", TABLE)
    write_table(pd.DataFrame({"x": range(points)}), curve, "curve", TABLE)
    saved = []
    monkeypatch.setattr(style, "save", lambda figure, *_: saved.append(figure))
    job = RenderJob(identity=TABLE, renderer=f"{__name__}:{renderer}", caption="")
    render.run(table, curve, "a.pdf", job)
    assert saved[0].axes[0].lines[0].get_xdata().size == shown


def test_a_curve_of_another_table_is_refused(tmp_path):
    file = str(tmp_path / "a.parquet")
    write_table(pd.DataFrame({"x": [1]}), file, "curve", replace(TABLE, made_of="1"))
    with pytest.raises(Exception, match="is stale: made_of"):
        render.run(file, file, "a.pdf", RenderJob(identity=TABLE, renderer="", caption=""))


def test_a_table_with_two_rows_for_a_point_is_not_drawn():
    table = pd.DataFrame(
        {"panel": "a", "n": [1, 2, 2], "epsilon": [1, 1, 2], "mean": [0.1, 0.2, 0]}
    )
    assert two_rows_of_a_point(table, ["panel", "n", "epsilon"]) is None
    said = two_rows_of_a_point(table, ["panel", "n"])
    assert said == (
        "has 2 rows for one point (panel=a, n=2), which differ in epsilon (1, 2), "
        "mean (0.2, 0.0); keep one, or tell them apart by a colour, a panel or a figure of their "
        "own"
    )
    table = pd.DataFrame({"claim": [None, None], "n": [1, 1], "mean": [0.1, 0.2]}, dtype=float)
    assert "which differ in mean (0.1, 0.2)" in two_rows_of_a_point(table, ["claim", "n"])


def titles_of(size, *columns, **more):
    """Return the titles of the parts of a figure of so many epsilons."""
    table = pd.DataFrame({"epsilon": range(size), "n": 1, "mean": 0.0})
    parts = figures_of(table, style.points("n", *columns, **more)(lambda table: None))
    return [part.title for part in parts]


def test_a_figure_shows_all_values_of_an_axis_in_parts_or_by_looks():
    assert titles_of(1, rows=False) == [""]
    assert titles_of(6) == [f"epsilon = {i}" for i in range(6)]
    assert titles_of(3, "epsilon", most={"epsilon": 3}) == [""]


@pytest.mark.parametrize(
    ("size", "columns", "more", "said"),
    [
        (2, [], {"rows": False}, "shows one at most of the 2 values of epsilon (0, 1)"),
        (5, [], {"rows": False}, "shows one at most of the 5 values of epsilon (0, 1, 2, 3, ...)"),
        (7, [], {}, "shows 6, as rows of panels, at most of the 7 values of epsilon (0, 1, 2, 3, "),
        (
            *(4, ["epsilon"], {"most": {"epsilon": 3}}),
            "3 looks for the 4 values of epsilon (0, 1, 2, 3)",
        ),
    ],
)
def test_a_figure_that_cannot_show_all_says_what_is_too_much(size, columns, more, said):
    with pytest.raises(ArgumentError, match=re.escape(said)):
        titles_of(size, *columns, **more)

"""Exact values are drawn as curves: of a table of their own, at many points."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from epsilometer.exact import EXACT
from epsilometer.exact.real_line import ExactLaplace
from epsilometer.mechanisms import MECHANISMS
from epsilometer.mechanisms.real_line import Laplace
from epsilometer_workflow.files.identities import RenderJob
from epsilometer_workflow.files.place import Place
from epsilometer_workflow.files.storage import read_table, write_table
from epsilometer_workflow.reports import style
from epsilometer_workflow.reports.grouping import grouped, grouping_of
from epsilometer_workflow.reports.kutta2022 import tables as kutta2022
from epsilometer_workflow.reports.lu2022 import figures, tables
from epsilometer_workflow.stages import render, tabulate
from tests.unit.stages import TABLE, table_by

ALL, SHOWN = np.linspace(0, 1, 101).round(2), [0.1, 0.5, 0.9]


@grouped(curve={"points": 50})
def dense(*, points: int):
    return pd.DataFrame({"x": np.arange(points)})


def plain(*, points: int):
    return pd.DataFrame({"x": np.arange(points)})


@style.points("x")
def drawn(table, curve=None):
    figure, ax = style.panel()
    ax.plot((table if curve is None else curve)["x"], label="exact")
    return figure


@style.points("x")
def alone(table):
    return drawn(table)


@pytest.mark.parametrize(
    ("builder", "renderer", "points"),
    [("dense", "drawn", 50), ("plain", "drawn", 0), ("dense", "alone", 50)],
)
def test_a_table_has_a_curve_where_its_builder_says_so(
    builder, renderer, points, tmp_path, monkeypatch
):
    files = [str(tmp_path / name) for name in ("a.csv", "a.parquet", "curve.parquet")]
    tabulate.run([], *files, table_by(f"{__name__}:{builder}", options={"points": 3}))
    assert len(read_table(files[1], "table", TABLE)) == 3
    assert len(read_table(files[2], "curve", TABLE)) == points
    saved = []
    monkeypatch.setattr(style, "save", lambda figure, *_: saved.append(figure))
    job = RenderJob(identity=TABLE, renderer=f"{__name__}:{renderer}", caption="")
    render.run(files[1], files[2], "a.pdf", job)
    shown = 3 if renderer == "alone" else points or 3
    assert saved[0].axes[0].lines[0].get_xdata().size == shown


def test_a_curve_of_another_table_is_refused(tmp_path):
    file = str(tmp_path / "a.parquet")
    write_table(pd.DataFrame({"x": [1]}), file, "curve", replace(TABLE, made_of="1"))
    with pytest.raises(Exception, match="is stale: made_of"):
        render.run(file, file, "a.pdf", RenderJob(identity=TABLE, renderer="", caption=""))


def of_laplace(mechanism="laplace", inputs="i") -> pd.DataFrame:
    """Return the run of a classifier that errs by 0.001 at every claim."""
    truth = 1 - np.exp((ALL - 1) / 2)
    columns = {"mechanism": mechanism, "epsilon": 1.0, "inputs": inputs, "estimator": "knn"}
    columns |= {"n": 10, "run": 0, "claim": ALL, "truth": truth, "truth_reverse": truth}
    columns |= {"level": truth, "settings": "{}", "x": "0.0", "x_prime": "1.0"}
    return pd.DataFrame(columns).assign(
        **dict.fromkeys(("estimate", "low", "high"), truth + 0.001),
        **{f"{name}_reverse": truth + 0.001 for name in ("estimate", "low", "high")},
    )


def both_of(builder, *data, **options):
    """Return a table and its curve."""
    data = [pd.concat(data, ignore_index=True)]
    more = options | grouping_of(builder).curve
    return [tabulate.build(builder, data, o, Place("f", "key"), law_of) for o in (options, more)]


def law_of(mechanism, epsilon):
    name = {"laplace": "laplace", "sum": "noisy_sum"}[mechanism]
    return EXACT.load(name)(MECHANISMS.load(name)(epsilon))


def lines_of(ax, size):
    return [line for line in ax.lines if len(line.get_xdata()) == size]


def test_exact_spectra_have_no_corners_and_both_of_two_that_coincide_are_seen():
    options = {"panels": {"laplace i": "a", "laplace j": "b"}, "claims": SHOWN}
    table, curve = both_of(tables.spectra, of_laplace(), of_laplace(inputs="j"), **options)
    assert sorted(set(table["claim"])) == SHOWN
    within = ALL[(ALL >= 0.1) & (ALL <= 0.9)]
    ax = figures.spectra(table, curve).axes[0]
    exact = lines_of(ax, within.size)
    assert len(exact) == 2
    for line in exact:
        np.testing.assert_allclose(line.get_xdata(), within)
        np.testing.assert_allclose(line.get_ydata(), 1 - np.exp((within - 1) / 2))
    dashes = [line._unscaled_dash_pattern for line in exact]
    assert dashes[0] != dashes[1]
    rings = [container.lines[0].get_markersize() for container in ax.containers]
    assert rings[0] > rings[1]
    without = figures.spectra(table, table).axes[0]  # a table of another report may have no curve
    assert len(lines_of(without, len(SHOWN))) >= 2


def test_the_neighbours_of_an_exact_curve_are_a_panel_of_their_own():
    options = {"claims": SHOWN, "epsilons": [0.999, 1, 1.001]}
    table, curve = both_of(tables.among_neighbours, of_laplace(), **options)
    figure = figures.among_neighbours(table, curve)
    low, none, high = figure.axes[1].lines
    assert low.get_ydata().max() < 0 < high.get_ydata().min()
    assert abs(none.get_ydata()).max() < 1e-12
    assert low.get_xdata().size == 81


def test_exact_divergences_lie_between_the_orders_of_the_estimates():
    runs = pd.DataFrame(
        {"mechanism": "sum", "epsilon": 0.2, "inputs": "one", "lambda": [2.0, 50.0, np.inf]}
    ).assign(
        truth=0.1, estimate=0.1, x="[1, 0]", x_prime="[0, 0]", parameters='{"noise": "laplace"}'
    )
    runs = runs.assign(estimator="bound", n=10, run=0)
    _, curve = both_of(kutta2022.orders, runs, panels={"sum": "Laplace"})
    assert (len(curve), curve["lambda"].min(), curve["lambda"].max()) == (100, 2.0, 50.0)
    law = ExactLaplace(Laplace(0.2))
    exact = [law.renyi(order, 1.0, 0.0) for order in curve["lambda"]]
    assert curve["divergence"].to_numpy() == pytest.approx(exact, rel=1e-9)

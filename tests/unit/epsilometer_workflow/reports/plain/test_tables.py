"""Plain tables and figures: methods compared with each other on the same draws."""

import math

import pandas as pd
import pytest

from epsilometer_workflow.reports.plain import figures, tables
from tests.unit.epsilometer_workflow.reports.rows import assert_columns, made, runs_of

NAN = math.nan
RUNS = {
    **{"mechanism": "m", "epsilon": 1.0, "inputs": "i", "lambda": "2", "claim": NAN, "pair": ""},
    **{"side_x": 0, "side_x_prime": 1, "n": 90, "fresh": 10, "failed": False, "trusted": True},
    **{"low": NAN, "high": NAN, "low_reverse": NAN, "high_reverse": NAN},
    **{"truth": NAN, "truth_reverse": NAN},
}


def by_method(name, guarantee, estimates, **columns):
    """Return the runs of a method, as `with_truth` makes them."""
    rows = runs_of(RUNS, estimator=name, guarantee=guarantee, estimate=estimates)
    return rows.assign(estimate_reverse=rows["estimate"] - 1).assign(**columns)


METHODS = [
    by_method("bound", "finite-sample", [0.5, 0.7, 0.9]),
    by_method("distrusted", "asymptotic", [5.0, 5.0, 5.0], trusted=False),
    by_method("estimate", "none", [0.6, 0.6, 0.6]),
    by_method("interval", "finite-sample", [0.6, 0.6, 0.6], low=0.4, high=0.8),
    by_method("without", "none", [0.1, 0.1, 0.1], low=0.0, high=0.95),
]


def test_an_estimate_or_an_interval_below_a_bound_of_the_same_draws_is_counted():
    table = made(tables.compared, *METHODS)
    assert_columns(
        table,
        estimator=["bound", "distrusted", "estimate", "interval", "without"],
        n=[100] * 5,
        mean=[0.7, 5.0, 0.6, 0.6, 0.1],
        low=[0.7, NAN, NAN, 0.4, 0.0],
        largest_bound=[0.7] * 5,
        contradicted=[0, 0, 2 / 3, 1 / 3, 0],
    )
    assert table["by"].dropna().to_dict() == {2: "bound", 3: "bound"}


def labels(figure):
    return {label for ax in figure.axes for label in ax.get_legend_handles_labels()[1]}


def test_a_legend_names_what_is_drawn_and_nothing_else():
    assert labels(figures.compared(made(tables.compared, *METHODS))) == {
        *("estimate", "lower bound", "lower bound, too few draws in some runs", "interval"),
        *("below the largest bound", "below a bound in over 5 % of runs"),
    }
    alone = by_method("estimate", "none", [0.9], truth=1.0)
    assert labels(figures.compared(made(tables.compared, alone))) == {"estimate", "exact"}


@pytest.mark.parametrize(
    ("truth", "claim", "label"), [(1.0, NAN, "estimate, nats"), (NAN, 0.5, r"$\delta$")]
)
def test_every_method_of_the_figure_of_sizes_has_a_look_of_its_own(truth, claim, label):
    names = [f"method-{i}" for i in range(9)]
    rows = pd.concat([by_method(name, "none", [0.1], truth=truth, claim=claim) for name in names])
    table = rows.rename(columns={"estimate": "mean"}).assign(sd=0.1)
    figure = figures.against_n(pd.concat([table, table.assign(n=900)]))
    (ax,) = figure.axes
    lines = [line for line in ax.lines if len(line.get_xdata()) == 2]
    looks = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines}
    assert len(looks) >= 9
    exact = {"exact"} if math.isfinite(truth) else set()
    assert labels(figure) & {"exact"} == exact
    assert len(labels(figure)) == 9 + len(exact)
    assert ax.get_ylabel() == label


def test_seconds_are_medians_over_runs():
    runs = {"mechanism": "m", "epsilon": 1.0, "lambda": "2", "estimator": "e", "n": 9, "fresh": 0}
    times = {"sampling": [1.0, 1.0, 4.0], "estimating": [1.0, 2.0, 9.0], "seconds": [2, 3, 13]}
    table = made(tables.seconds, runs_of(runs | times))
    assert_columns(table, sampling=[1], estimating=[2], seconds=[3])

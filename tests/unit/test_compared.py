"""Methods compared with each other: bounds, intervals, contradictions, and what a figure shows."""

import math

import pandas as pd
import pytest

from epsilometer_workflow.reports.plain import figures, tables

NAN = math.nan


def runs(truth=NAN, claim=NAN, **methods):
    """Return rows as `with_truth` makes them; a method is its guarantee, and a row a run."""
    rows = [
        {
            **{"mechanism": "m", "epsilon": 1.0, "inputs": "i", "lambda": "2", "claim": claim},
            **{"pair": "", "side_x": 0, "side_x_prime": 1, "n": 90, "fresh": 10, "run": run},
            **{"estimator": name, "guarantee": guarantee, "failed": False, "trusted": trusted},
            **{"estimate": estimate, "estimate_reverse": estimate - 1, "truth": truth},
            **{"low": low, "high": high, "low_reverse": NAN, "high_reverse": NAN},
            "truth_reverse": NAN,
        }
        for name, (guarantee, answers) in methods.items()
        for run, (estimate, low, high, trusted) in enumerate(answers)
    ]
    return pd.DataFrame(rows)


def level(*values, trusted=True):
    return [(value, NAN, NAN, trusted) for value in values]


ROWS = {
    "bound": ("finite-sample", level(0.5, 0.7, 0.9)),
    "distrusted": ("asymptotic", level(5.0, 5.0, 5.0, trusted=False)),
    "estimate": ("none", level(0.6, 0.6, 0.6)),
    "interval": ("finite-sample", [(0.6, 0.4, 0.8, True)] * 3),
    "without": ("none", [(0.1, 0.0, 0.95, True)] * 3),
}


def test_an_estimate_or_an_interval_below_a_bound_of_the_same_draws_is_counted():
    table = tables.compared([runs(**ROWS)]).set_index("estimator")
    assert table["n"].unique().tolist() == [100]
    assert table["contradicted"].to_dict() == {
        "bound": 0,
        "distrusted": 0,
        "estimate": pytest.approx(2 / 3),
        "interval": pytest.approx(1 / 3),
        "without": 0,
    }
    assert table["by"].dropna().to_dict() == {"estimate": "bound", "interval": "bound"}
    assert table["largest_bound"].to_numpy() == pytest.approx([0.7] * 5)
    assert table["low"].to_dict() == pytest.approx(
        {"bound": 0.7, "distrusted": NAN, "estimate": NAN, "interval": 0.4, "without": 0.0},
        nan_ok=True,
    )
    assert table["mean"].to_dict() | {"bound": 0} == pytest.approx(
        {"bound": 0, "distrusted": 5, "estimate": 0.6, "interval": 0.6, "without": 0.1}
    )


def labels(figure):
    return {label for ax in figure.axes for label in ax.get_legend_handles_labels()[1]}


def test_a_legend_names_what_is_drawn_and_nothing_else():
    shown = labels(figures.compared(tables.compared([runs(**ROWS)])))
    assert shown == {
        *("estimate", "lower bound", "lower bound, too few draws in some runs", "interval"),
        *("below the largest bound", "below a bound in over 5 % of runs"),
    }
    alone = runs(truth=1.0, estimate=("none", level(0.9)))
    assert labels(figures.compared(tables.compared([alone]))) == {"estimate", "exact"}


@pytest.mark.parametrize("truth", [1.0, NAN])
@pytest.mark.parametrize("claim", [0.5, NAN])
def test_every_method_of_the_figure_of_sizes_has_a_look_of_its_own(truth, claim):
    rows = runs(truth, claim, **{f"method-{i}": ("none", level(0.1 * i)) for i in range(9)})
    table = rows.rename(columns={"estimate": "mean"}).assign(sd=0.1)
    figure = figures.against_n(pd.concat([table, table.assign(n=900)]))
    (ax,) = figure.axes
    lines = [line for line in ax.lines if len(line.get_xdata()) == 2]
    looks = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines}
    assert len(looks) >= 9
    assert ("exact" in labels(figure)) == math.isfinite(truth)
    assert len(labels(figure)) == 9 + math.isfinite(truth)
    assert ax.get_ylabel() == ("estimate, nats" if math.isnan(claim) else r"$\delta$")


def test_seconds_are_medians_over_runs():
    rows = [
        {
            **{"mechanism": "m", "epsilon": 1.0, "lambda": "2", "estimator": "e", "n": 9},
            **{"fresh": 0, "run": run, "sampling": 1.0, "estimating": cost, "seconds": 1 + cost},
        }
        for run, cost in enumerate([1.0, 2.0, 9.0])
    ]
    (row,) = tables.seconds([pd.DataFrame(rows)]).to_dict("records")
    assert (row["sampling"], row["estimating"], row["seconds"]) == (1, 2, 3)

"""Tables of askin2022: losses, and the bounds on them, of rows made by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from epsilometer.errors import ConfigError
from epsilometer_workflow.reports.askin2022 import tables
from tests.unit.epsilometer_workflow.reports.rows import assert_columns, made, runs_of, summary

RUNS = {
    **{"mechanism": "laplace", "epsilon": 1.0, "inputs": "distances", "pair": "b=10"},
    **{"estimator": "mpl-floor=0.001", "level": 1.1, "truth": 1.0, "n": 100, "fresh": 200},
}


def test_bounds_are_ranked_in_each_curve():
    mpl = runs_of(RUNS, estimate=[0.9, 0.7, 0.8])
    largest = runs_of(RUNS, estimate=[0.5, 0.6], estimator="largest-loss")
    assert_columns(
        made(tables.bounds, mpl, largest, panels={"laplace": "(a) Laplace"}),
        estimator=["MPL"] * 3 + ["estimate"] * 2,
        bound=[0.7, 0.8, 0.9, 0.5, 0.6],
        share=[1 / 3, 2 / 3, 1, 0.5, 1],
    )


def test_coverage_is_the_share_of_bounds_that_hold():
    """Two of four hold, one of them with nothing to spare; two refute the promise."""
    runs = runs_of(RUNS, estimate=[0.7, 1.1, 1.0, 1.2], truth=[1.0, 1.1, 0.8, 1.1])
    low, high = stats.binomtest(2, 4).proportion_ci(method="exact")
    assert_columns(
        made(tables.coverage, runs),
        covered=[0.5],  # of the pair that each run selected
        covered_low=[low],
        covered_high=[high],
        share_above_epsilon=[0.5],
        median_ratio=[1.05 / 1.1],
        best_pair_selected=[0.5],
    )


def test_a_squared_error_is_a_share_of_the_promise():
    table = made(tables.errors, summary(epsilon=2.0, mse=[0.025]))
    assert_columns(table, mse=[0.025], mse_share=[0.0125], rmse=[math.sqrt(0.025)])


def test_losses_of_three_mechanisms_are_their_closed_forms():
    table = tables.losses(epsilon=2.0, sigma=0.7, points=9, reach=1.5)
    response, laplace, normal = (rows for _, rows in table.groupby("mechanism", sort=False))
    kept = 1 / (1 + math.exp(-2))
    assert_columns(response, z=[0, 1], loss=[2.0, 2.0], p=[kept, 1 - kept], q=[1 - kept, kept])
    z = np.linspace(-1.5, 2.5, 9)
    for rows, law, loss in (
        (laplace, stats.laplace(0, 1 / 2), 2 * np.abs(np.abs(z - 1) - np.abs(z))),
        (normal, stats.norm(0, 0.7), np.abs(1 - 2 * z) / (2 * 0.7**2)),
    ):
        assert_columns(rows, z=z, p=law.pdf(z), q=law.pdf(z - 1), loss=loss)


def test_answers_of_a_rare_match_stand_beside_the_draws_that_show_it():
    rows = summary(n=[40], mean=0.2, mean_reverse=0.7, level=3.0, fresh=0)
    rare = made(tables.rare_match, rows.assign(parameters='{"rarity": 3}'), floor=0.01)
    assert_columns(rare, k=[3], answer=[0.7], truth=[3.0], expected=[40 * math.exp(-3)])
    with pytest.raises(ConfigError, match="must hold mechanisms with a rarity"):
        made(tables.rare_match, rows, floor=0.01)


def test_seconds_are_medians_over_runs():
    runs = {"mechanism": "m", "epsilon": 1.0, "lambda": "2", "estimator": "e", "n": 9, "fresh": 0}
    times = {"seconds": [60, 120, 600], "sampling": [20, 40, 90], "estimating": [40, 80, 510]}
    table = made(tables.seconds, runs_of(runs | times, pairs=7))
    assert_columns(table, seconds=[120], sampling=[40], estimating=[80], pairs=[7], runs=[3])


def draws(n=300, seed=0, **columns):
    """Return draws of two inputs in one run."""
    rng = np.random.default_rng(seed)
    sides = [pd.DataFrame({"side": i, "x": str(i), "output": rng.laplace(i, 1, n)}) for i in (0, 1)]
    drawn = {"parameters": "{}", "epsilon": 1.0, "inputs": "i", "n": n, "run": 0}
    return pd.concat(sides).assign(**drawn | {"mechanism": "laplace"} | columns)


GRID = {"points": 201, "reach": 4.0}


def test_the_density_estimate_is_of_the_draws_shown():
    table = made(tables.density_estimate, draws(), **GRID)
    curve, rug = (table[table["kind"] == kind] for kind in ("curve", "draw"))
    assert rug["z"].tolist() == sorted(draws()["output"][:300])
    assert np.trapezoid(curve["estimate"], curve["z"]) == pytest.approx(1, abs=0.05)
    assert curve["density"].max() == pytest.approx(0.5)
    later = made(tables.density_estimate, draws(), draws(seed=1, run=1), **GRID)
    pd.testing.assert_frame_equal(later, table)  # of the first run


def test_a_density_is_that_of_the_own_law_where_it_is_known():
    both = made(tables.density_estimate, draws(), draws(epsilon=2.0), **GRID)
    assert both.groupby("epsilon")["density"].max().tolist() == pytest.approx([0.5, 1.0])
    unknown = made(tables.density_estimate, draws(mechanism="of nobody"), **GRID)
    assert unknown["density"].isna().all()


def test_the_empirical_loss_is_largest_at_the_output_in_the_table():
    options = {"region": [-1.0, 2.0], "points": 61, "floor": 1e-3}
    table = made(tables.empirical_loss, draws(5000), **options)
    assert_columns(table, z=np.linspace(-1, 2, 61))
    largest = table.loc[table["empirical"].idxmax()]
    assert largest["t_hat"] == largest["z"]
    assert largest["eps_hat"] == largest["empirical"]
    assert table["loss"].max() == pytest.approx(1.0)

"""Tables of kutta2022: Renyi bounds beside the exact divergence, of rows made by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from epsilometer.errors import ConfigError
from epsilometer.exact.real_line import ExactLaplace
from epsilometer.mechanisms.real_line import Laplace
from epsilometer_workflow.reports.grouping import grouping_of
from epsilometer_workflow.reports.kutta2022 import tables
from tests.unit.epsilometer_workflow.reports.rows import assert_columns, made, runs_of

SETTINGS, LOWER = '{"draws_at_floor": 50}', '{"draws_at_floor": 25}'
RUNS = {  # of one pair, whose divergence is 0.5
    **{"mechanism": "m", "epsilon": 1.0, "inputs": "i", "lambda": "2", "n": 1000},
    **{"truth": 0.5, "level": 0.5, "side_x": 0, "side_x_prime": 1},
}


def bounds(estimates, settings=SETTINGS, **columns):
    about = {"estimator": settings, "settings": settings}
    return runs_of(RUNS | about, estimate=estimates, **columns)


def test_ratios_are_ranked_in_the_order_of_panels():
    data = [
        bounds([0.6, 0.4], **{"lambda": "10"}),
        bounds([0.5, 0.25]),
        bounds([0.45], LOWER),
        bounds([0.3], mechanism="z"),
        bounds([0.3], mechanism="not shown"),
    ]
    table = made(tables.ratios, *data, panels={"z": "(i)", "m": "(ii)"})
    orders = {"lambda": [2.0, 2.0, 2.0, 2.0, 10.0, 10.0]}
    assert_columns(
        table,
        panel=["(i)"] + ["(ii)"] * 5,
        tau=[0.05, 0.025, 0.05, 0.05, 0.05, 0.05],
        ratio=[0.6, 0.9, 0.5, 1.0, 0.8, 1.2],
        alpha_hat=[0, 0, 0, 0, 0.5, 0.5],
        **orders,
    )


def test_alpha_hat_is_the_share_of_bounds_above_the_truth():
    data = bounds([0.6, 0.4, 0.5, 0.3]), bounds([0.6, 0.7], LOWER)
    table = made(tables.alpha_hat, *data)
    low, high = stats.binomtest(1, 4).proportion_ci(method="exact")
    assert_columns(
        table,
        draws_at_floor=[50, 25],
        alpha_hat=[0.25, 1.0],  # a bound equal to the truth holds
        runs=[4, 2],
        median_ratio=[0.9, 1.3],
    )
    assert_columns(table[:1], alpha_hat_low=[low], alpha_hat_high=[high])


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        (bounds([0.1], truth=math.nan), "m has no exact law"),
        (bounds([0.1], '{"gamma": 1}'), "must hold Rényi bounds of single pairs only"),
        (bounds([0.1], '{"draws_at_floor": 5, "largest": true}'), "bounds of single pairs only"),
    ],
)
def test_runs_of_another_kind_are_refused(runs, message):
    with pytest.raises(ConfigError, match=message):
        made(tables.alpha_hat, runs)


def test_maxima_of_the_first_pairs_and_of_all():
    first = bounds([0.4, 0.6, 0.4])
    second = bounds([0.6, 0.3, 0.7], side_x=2, truth=0.65)
    settings = '{"correction": "bonferroni", "largest": true, "alpha": 0.1}'
    corrected = bounds([0.5, 0.7, 0.6], settings, side_x=2, level=0.65)
    assert_columns(
        made(tables.maxima, first, second, corrected, pairs=[1, 2]),
        pairs=[1, 2, 2],
        promised=[0.95, 0.95**2, 0.9],
        covered=[2 / 3, 2 / 3, 2 / 3],
        divergence=[0.5, 0.65, 0.65],
    )
    with pytest.raises(ConfigError, match="pairs has 3, the data have 2"):
        made(tables.maxima, first, second, pairs=[3])


def test_orders_have_quartiles_over_runs():
    table = made(tables.orders, bounds([0.1, 0.2, 0.5, 0.6, 0.9], **{"lambda": "3"}))
    quartiles = {"low": [0.2], "median": [0.5], "high": [0.6]}
    assert_columns(table, **quartiles, runs=[5], above=[0.4], **{"lambda": [3.0]})


def test_exact_divergences_lie_between_the_orders_of_the_estimates():
    sides = {"x": "[1, 0]", "x_prime": "[0, 0]", "parameters": '{"noise": "laplace"}'}
    runs = bounds([0.1, 0.1, 0.1], mechanism="noisy_sum", epsilon=0.2, **sides)
    runs["lambda"] = [2.0, 50.0, np.inf]
    curve = made(tables.orders, runs, **grouping_of(tables.orders).curve)
    law = ExactLaplace(Laplace(0.2))
    orders = np.geomspace(2, 50, 100)
    exact = [law.renyi(order, 1.0, 0.0) for order in orders]
    assert_columns(curve, divergence=exact, **{"lambda": orders})


def test_minutes_are_sixtieths_of_mean_seconds():
    times = {"seconds": [60, 120], "sampling": [20, 40], "estimating": [40, 80]}
    about = {"mechanism": "m", "epsilon": 1.0, "lambda": "2", "estimator": "e", "n": 9}
    table = made(tables.minutes, runs_of(about | times))
    assert_columns(table, minutes=[1.5], sampling=[30], estimating=[60], runs=[2])

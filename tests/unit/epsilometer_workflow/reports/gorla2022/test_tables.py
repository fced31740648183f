"""Tables of gorla2022: what is planned and what was enough, of summaries made by hand."""

import math
from itertools import chain

import numpy as np
import pytest
from scipy import stats

from epsilometer.errors import ConfigError
from epsilometer.estimators import planner
from epsilometer.exact.base import divergence
from epsilometer.exact.truncated import ExactTruncatedLaplace
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.reports.gorla2022 import tables
from tests.unit.epsilometer_workflow.reports.rows import (
    assert_columns,
    law_of,
    made,
    runs_of,
    summary,
)

NAN = math.nan


def pairs_of_three(mean, mean_reverse, **columns):
    """Return the summary of a grid of three inputs."""
    inputs = {"x": ["0.0", "0.0", "0.5"], "x_prime": ["0.5", "1.0", "1.0"]}
    truths = {"truth": [0.4, 1.0, 0.5], "truth_reverse": [0.6, 0.9, 0.3]}
    return summary(**inputs, **truths, mean=mean, mean_reverse=mean_reverse, **columns)


GRID = pairs_of_three([0.3, 1.1, 0.2], [0.7, 0.8, 0.1])


def all_pairs(grid, pairs=([0.0, 0.5], [1.0, 0.0])):
    return made(tables.all_pairs, grid, pairs=list(pairs), delta=0.8)


def test_all_pairs_takes_the_larger_direction_and_the_largest_pair():
    assert_columns(
        all_pairs(GRID),
        pair=["maximum", "0.00 0.50", "1.00 0.00"],
        estimate=[1.1, 0.7, 1.1],
        truth=[1.0, 0.6, 1.0],
        x=[0.0, 0.0, 1.0],
        x_prime=[1.0, 0.5, 0.0],
        grid_points=[3, 3, 3],
        planned_grid_points=[91, 91, 91],
        planned_n=[1871942, 1871942, 1871942],
    )


def test_pairs_of_a_grid_are_given_as_printed_to_two_digits():
    grid = GRID.replace({"0.5": "0.4567"})
    table = all_pairs(grid, [[0.46, 0.0]])
    assert_columns(table[1:], pair=["0.46 0.00"], x=[0.4567], x_prime=[0.0], estimate=[0.7])
    with pytest.raises(ConfigError, match=r"the nearest of its 3 is \[0.0, 0.46\]"):
        all_pairs(grid, [[0.457, 0.0]])


def test_all_pairs_ignores_failures_and_may_find_none():
    table = all_pairs(pairs_of_three([NAN, NAN, 0.2], [NAN, NAN, 0.1]))
    assert_columns(table[:1], estimate=[0.2], x=[0.5])
    none = all_pairs(pairs_of_three([NAN] * 3, [NAN] * 3))
    assert_columns(none, estimate=[NAN] * 3, n=[100] * 3)
    with pytest.raises(ConfigError, match="must hold one run"):
        all_pairs(GRID.assign(runs=2))


CALLS = {  # two runs of an algorithm on a grid of three inputs, whose exact level is 1
    **{"mechanism": "truncated_laplace", "epsilon": 1.0, "inputs": "grid", "lambda": "inf"},
    **{"estimator": "third", "cells": 273, "claimed_lipschitz": 1.58, "level": 1.0, "n": 100},
    **{"side_x": [0, 0, 1] * 2, "side_x_prime": [1, 2, 2] * 2},
    **{"x": ["0.0", "0.0", "0.5"] * 2, "x_prime": ["0.5", "1.0", "1.0"] * 2},
    "settings": '{"gamma": 0.16666666666666666}',
    "estimate": [0.4, 0.9, 1.4, 0.3, 0.2, NAN],
    "estimate_reverse": [0.6, 0.1, 0.2, 0.4, 0.1, NAN],
}


def over_inputs(gammas=None, settings=None, **columns):
    runs = runs_of(CALLS, **columns).assign(run=[0, 0, 0, 1, 1, 1])
    options = {"gammas": gammas or {"third": 0.5}, "settings": settings or {"grid": "3 points"}}
    return made(tables.over_inputs, runs, delta=0.8, **options)


def test_over_inputs_counts_runs_whose_largest_answer_is_near():
    goal = {"lipschitz": 1 / (1 - math.exp(-1)), "order": math.inf}
    third = goal | {"gamma": 0.5 / 3}
    low, high = stats.binomtest(1, 2).proportion_ci(method="exact")
    assert_columns(
        over_inputs(),
        setting=["ε = 1, 3 points"],
        k=[3],
        runs=[2],
        failed=[0],
        mean=[(1.4 + 0.4) / 2],
        sd=[math.sqrt(0.5)],
        share_within=[0.5],
        share_low=[low],
        share_high=[high],
        level=[1.0],
        # Algorithm 2 at B = 1, gamma = 0.5: the n of the paper, and of (gamma/3, sqrt(delta))
        n_direct=[1871942],
        n_th=[planner.sample_size(**third, delta=math.sqrt(0.8), union=False)],
        n_union=[planner.sample_size(**third, delta=1 - 0.2 / 3)],
    )
    z = np.linspace(0, 1, 10_001)
    p = np.exp(-z) / (1 - math.exp(-1))  # at 0, and in reverse at 1
    renyi = math.log(np.trapezoid(p**2 / p[::-1], z))
    assert over_inputs(**{"lambda": "2"})["level"].item() == pytest.approx(renyi, abs=1e-6)


def test_over_inputs_compares_with_the_larger_direction():
    assert_columns(over_inputs(gammas={"third": 0.65}), share_within=[1])
    law = law_of("exponential_half_line", 1.0)
    both = [divergence(law, math.inf, 0.0, 1.0), divergence(law, math.inf, 1.0, 0.0)]
    assert both[0] > both[1] + 0.5
    assert_columns(over_inputs(mechanism="exponential_half_line"), level=[both[0]])


def test_over_inputs_takes_a_run_without_an_answer_as_a_miss():
    silent = over_inputs(estimate=[NAN] * 6, estimate_reverse=[NAN] * 6)
    assert_columns(silent, share_within=[0], failed=[2])
    of_gamma = over_inputs(settings={"grid": "three"}, gammas={"third": 0.5 / 3})
    assert_columns(of_gamma, setting=["ε = 1, three, called with γ"])
    for lost in ({"gammas": {"other": 0.5}}, {"settings": {"other": "3 points"}}):
        with pytest.raises(ConfigError, match=r"(gammas|settings) lacks the .* of the data"):
            over_inputs(**lost)


def test_what_is_planned_follows_from_the_law_of_each_mechanism():
    """Earlier versions planned for the first of them."""
    both = [GRID, GRID.assign(mechanism="laplace")]
    table = made(tables.all_pairs, *both, pairs=[[0.0, 1.0]], delta=0.8)
    assert table["mechanism"].tolist() == ["truncated_laplace"] * 2 + ["laplace"] * 2
    assert_columns(table, planned_n=[1871942, 1871942, NAN, NAN])  # Laplace is of no theorem


def test_algorithms_2_and_4_run_on_the_theorems_inputs_and_cells():
    study = Study("config", {"scale": "smoke"})
    gammas = study.reports["gorla2022"].artifacts["algorithm2"].table.options["gammas"]
    names = ("algorithm-2", "algorithm-2-finer", "algorithm-2-of-table2", "algorithm-4")
    combinations = chain.from_iterable(study.combinations("gorla2022", name) for name in names)
    called = [c for c in combinations if c.estimator.endswith("-third")]
    assert len(called) >= 5
    for c in called:
        law = ExactTruncatedLaplace(study.mechanism(c.mechanism, c.epsilon))
        goal = {"lipschitz": law.lipschitz_output, "order": c.order}
        gamma = gammas[c.estimator]
        buckets = planner.input_buckets(**goal, gamma=gamma, lipschitz_input=law.lipschitz_input)
        entry = study.mechanisms[c.mechanism].inputs[c.inputs]
        assert (entry.points, entry.at) == (buckets, "midpoints")
        assert study.estimator(c.estimator).gamma == pytest.approx(gamma / 3)


SEARCHED = summary(gamma=1.0, n=[1, 2, 4], share_within=[0.0, 0.85, 0.9], runs=20)


def test_sample_sizes_are_what_was_planned_and_what_was_enough():
    rough = SEARCHED.assign(epsilon=2.0, claimed_lipschitz=4.6, share_within=0.5)
    assert_columns(
        made(tables.sample_sizes, SEARCHED, rough, delta=0.8).astype(float),
        epsilon=[1.0, 2.0],
        scale=[1.0, 0.5],
        n_th=[239943, NAN],
        n_pr=[2, NAN],
        n_th_union=[446507, NAN],
        confidence_union=[0, NAN],  # its bound of a failure is above 1
        m=[46, 46],
        searched_to=[4, 4],
        share_at_last=[0.9, 0.5],
    )
    for delta, n_pr in ((0.85, 2), (0.88, 4), (0.9, 4)):
        assert_columns(made(tables.sample_sizes, SEARCHED, delta=delta), n_pr=[n_pr])
    certain = made(tables.sample_sizes, SEARCHED, delta=0.999)
    goal = {"lipschitz": 1.5819767068693265, "gamma": 1.0, "order": math.inf}
    confidence = 1 - planner.failure_bound(n=int(certain["n_th"].item()), **goal)
    assert 0.9 < confidence < 0.999
    assert_columns(certain, confidence_union=[confidence])


def test_every_rung_of_a_search_is_listed():
    rungs = {"n": [1, 2, 4], "share_within": [0.0, 0.85, 0.9]}
    assert_columns(made(tables.searches, SEARCHED), **rungs)
    table = made(tables.convergence, SEARCHED, delta=0.8)
    assert_columns(table, **rungs, n_th=[239943] * 3, n_pr=[2] * 3)


def density_of(shape):
    """Return a density on [0, 1] by a grid, in rows by input and in columns by output."""
    z = np.linspace(0, 1, 1001)
    values = shape(z - z[:, None])
    return values / np.trapezoid(values, z, axis=1)[:, None]


@pytest.mark.parametrize(
    ("row", "shape"),
    [
        (0, lambda distance: np.exp(-np.abs(distance))),
        (1, lambda distance: np.exp(-np.abs(distance) / 0.75)),
        (2, lambda distance: np.exp(-(distance**2) / (2 * 0.6**2))),
    ],
)
def test_table_1_has_the_slopes_of_the_densities_and_the_largest_loss(row, shape):
    """The theorems hold up to a slope of 2."""
    table = tables.lipschitz_constants(scales=[1.0, 0.75], sigmas=[0.6])
    assert_columns(table, parameter=[1.0, 0.75, 0.6], guaranteed=[True, False, True])
    density = density_of(shape)
    slopes = [np.abs(np.diff(density, axis=axis)).max() * 1000 for axis in (0, 1)]
    assert table.loc[row, ["D", "C"]].tolist() == pytest.approx(slopes, rel=0.01)
    assert table.loc[row, "epsilon"] == pytest.approx(np.log(density[0] / density[-1]).max())


def test_cell_means_are_means_of_the_density():
    table = tables.cell_means(epsilon=1.0, cells=4, gamma=0.5, points=4001)
    z = np.linspace(0, 1, 4001)
    p = np.exp(-z) / (1 - math.exp(-1))
    assert_columns(table, z=z, cell=np.minimum(z // 0.25, 3), density=p, log_ratio=1 - 2 * z)
    of_cells = table.assign(q=p[::-1]).groupby("cell").mean()
    assert of_cells["cell_mean"].tolist() == pytest.approx(of_cells["density"].tolist(), rel=1e-3)
    ratios = np.log(of_cells["density"] / of_cells["q"]).tolist()
    assert of_cells["cell_log_ratio"].tolist() == pytest.approx(ratios, abs=2e-3)
    assert table["truth"].unique() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("between", "gammas"), [(0, [2.0, 0.5, 1.0]), (5, [0.5, 0.875, 1.25, 1.625, 2.0])]
)
def test_planned_samples_vary_one_number_and_keep_the_others(between, gammas):
    fixed = {"gamma": 1.0, "delta": 0.8, "lipschitz": 1.5, "order": 2.0}
    lists = {"gammas": [2.0, 0.5, 1.0], "deltas": [0.9], "lipschitzes": [1.8]}
    table = tables.planned_samples(**fixed, **lists, between=between)
    goals = [fixed | {"delta": 0.9}]
    goals += [fixed | {"gamma": gamma} for gamma in gammas]
    goals += [fixed | {"lipschitz": 1.8}]
    n = [planner.sample_size(**goal, union=False) for goal in goals]
    varied = ["delta"] + ["gamma"] * len(gammas) + ["lipschitz"]
    assert_columns(table, varied=varied, value=[0.9, *gammas, 1.8], n=n, log_n=np.log(n))


def test_bernoulli_pair_is_the_pair():
    table = tables.bernoulli_pair(gamma=1.0, delta=0.8, budget=1000, order=2.0)
    assert table.groupby(["order", "x"])["probability"].sum().tolist() == pytest.approx([1] * 4)
    pure = table[np.isinf(table["order"])]
    ones = pure[pure["outcome"] == 1].set_index("x")["probability"]
    assert math.log(ones[0] / ones[1]) == pytest.approx(2.0)  # 0 + 2 gamma
    assert (table["level"] >= table["log_h"] - 1e-12).all()
    zeros = table[table["outcome"] == 0].groupby("order")
    alone = zeros["probability"].prod() ** 500  # of half of the budget on each coin
    assert zeros["zeros_only"].first().tolist() == pytest.approx(alone.tolist())
    assert (table["zeros_only"] > 0.2).all()


def test_safety_check_counts_the_passes():
    slopes = {"epsilon": [2.0, 1.0], "claimed_lipschitz": [3.0, 1.5]}
    counted = summary(mean=[0.0, 0.9], runs=10, **slopes)
    table = made(tables.safety_check, counted, claimed=1.0, probability=0.9)
    ends = [stats.binomtest(k, 10).proportion_ci(method="exact") for k in (9, 0)]
    lows, highs = zip(*ends, strict=True)
    assert_columns(table, actual_C=[1.5, 3.0], share_passing=[0.9, 0.0], low=lows, high=highs)


def test_impossibility_counts_answers_that_are_not_within_gamma():
    shares = {"share_within": [0.3], "share_low": 0.2}
    counted = summary(parameters='{"budget": 1000, "delta": 0.7}', **shares)
    assert_columns(
        made(tables.impossibility, counted),
        budget=[1000],
        delta=[0.7],
        share_wrong=[0.7],
        share_wrong_high=[0.8],
        share_wrong_low=[0.0],
    )
    with pytest.raises(ConfigError, match="must hold Bernoulli pairs"):
        made(tables.impossibility, summary(**shares))

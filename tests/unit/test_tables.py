"""Builders of tables, on summaries made by hand."""

import math
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from epsilometer.errors import ArgumentError
from epsilometer.estimators import planner
from epsilometer.exact.truncated import ExactTruncatedLaplace
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.reports.askin2022 import tables as askin2022
from epsilometer_workflow.reports.gorla2022 import tables
from epsilometer_workflow.reports.kutta2022 import tables as kutta2022
from epsilometer_workflow.reports.lu2022 import tables as lu2022


def frame_of(base, columns):
    """Return rows with plausible values where none are given."""
    size = max(len(v) for v in columns.values() if isinstance(v, list))
    columns = {"run": list(range(size))} | base | columns
    return pd.DataFrame({k: v if isinstance(v, list) else [v] * size for k, v in columns.items()})


def summary(**columns):
    """Return a summary."""
    base = {
        **{"mechanism": "m", "parameters": "{}", "epsilon": 1.0, "inputs": "ends", "lambda": "inf"},
        **{"estimator": "h", "cells": 46, "claimed_lipschitz": 1.5819767068693265, "n": 100},
        **{"side_x": 0, "side_x_prime": 1, "x": "0.0", "x_prime": "1.0", "gamma": 1.0},
        **{"truth": 1.0, "truth_reverse": 1.0, "runs": 1, "failures": 0, "mean": 1.0, "sd": 0.1},
        **{"mean_reverse": 1.0, "share_within": 1.0, "share_low": 0.9, "share_high": 1.0},
    }
    return frame_of(base, columns)


def pairs_of_three(mean, mean_reverse):
    """Return the summary of a grid of three inputs."""
    return summary(
        x=["0.0", "0.0", "0.5"],
        x_prime=["0.5", "1.0", "1.0"],
        mean=mean,
        mean_reverse=mean_reverse,
        truth=[0.4, 1.0, 0.5],
        truth_reverse=[0.6, 0.9, 0.3],
    )


ALL = {"pairs": [[0.0, 0.5], [1.0, 0.0]], "gamma": 0.5, "delta": 0.8}


def test_all_pairs_takes_the_larger_direction_and_the_largest_pair():
    table = tables.all_pairs(pairs_of_three([0.3, 1.1, 0.2], [0.7, 0.8, 0.1]), **ALL)
    assert table["pair"].tolist() == ["maximum", "0.00 0.50", "1.00 0.00"]
    assert table["estimate"].tolist() == [1.1, 0.7, 1.1]
    assert table["truth"].tolist() == [1.0, 0.6, 1.0]
    assert table[["x", "x_prime"]].to_numpy().tolist() == [[0.0, 1.0], [0.0, 0.5], [1.0, 0.0]]
    assert table["grid_points"].tolist() == [3] * 3
    assert table["planned_grid_points"].tolist() == [91] * 3
    assert table["planned_n"].tolist() == [1871942] * 3


def test_all_pairs_ignores_failures_and_may_find_none():
    nan = math.nan
    table = tables.all_pairs(pairs_of_three([nan, nan, 0.2], [nan, nan, 0.1]), **ALL)
    assert table["estimate"].tolist()[0] == 0.2
    assert table["x"].tolist()[0] == 0.5
    none = tables.all_pairs(pairs_of_three([nan] * 3, [nan] * 3), **ALL)
    assert none["estimate"].isna().all()
    assert none["n"].tolist() == [100] * 3
    with pytest.raises(ArgumentError, match=r"pairs has \[0.0, 0.3\], which is not a pair"):
        tables.all_pairs(pairs_of_three([1.0] * 3, [1.0] * 3), **(ALL | {"pairs": [[0.0, 0.3]]}))
    with pytest.raises(ArgumentError, match="must hold one run"):
        tables.all_pairs(pairs_of_three([1.0] * 3, [1.0] * 3).assign(runs=2), **ALL)


def calls(**columns):
    """Return two runs of an algorithm on a grid of three inputs, whose exact level is 1."""
    base = {
        **{"mechanism": "truncated-laplace", "epsilon": 1.0, "inputs": "grid", "lambda": "inf"},
        **{"estimator": "third", "cells": 273, "claimed_lipschitz": 1.58, "level": 1.0, "n": 100},
        **{"run": [0, 0, 0, 1, 1, 1], "failed": [False] * 5 + [True]},
        **{"side_x": [0, 0, 1] * 2, "side_x_prime": [1, 2, 2] * 2},
        **{"x": ["0.0", "0.0", "0.5"] * 2, "x_prime": ["0.5", "1.0", "1.0"] * 2},
        "settings": '{"gamma": 0.16666666666666666}',
        "estimate": [0.4, 0.9, 1.4, 0.3, 0.2, math.nan],
        "estimate_reverse": [0.6, 0.1, 0.2, 0.4, 0.1, math.nan],
    }
    return pd.DataFrame(base | columns)


def over_inputs(*runs, gammas=None, settings=None):
    options = {"gammas": gammas or {"third": 0.5}, "settings": settings or {"grid": "3 points"}}
    return tables.over_inputs(list(runs), delta=0.8, **options)


def test_over_inputs_counts_runs_whose_largest_answer_is_near():
    (row,) = over_inputs(calls()).to_dict("records")
    assert (row["setting"], row["k"]) == ("ε = 1, 3 points", 3)
    assert row["mean"] == pytest.approx((1.4 + 0.4) / 2)
    assert (row["runs"], row["share_within"], row["failed"]) == (2, 0.5, 0)
    # Algorithm 2 at B = 1, gamma = 0.5: the n of the paper, and that of (gamma/3, sqrt(delta))
    assert row["n_direct"] == 1871942
    assert 30 < row["n_th"] / row["n_direct"] < 32
    assert row["n_union"] > row["n_th"]


def test_over_inputs_takes_a_run_without_an_answer_as_a_miss():
    silent = {"estimate": math.nan, "estimate_reverse": math.nan, "failed": True}
    assert over_inputs(calls(**silent)).loc[0, ["share_within", "failed"]].tolist() == [0, 2]
    fresh = calls(side_x=[0, 2, 4] * 2, side_x_prime=[1, 3, 5] * 2, settings='{"gamma": 0.5}')
    assert over_inputs(fresh)["setting"].tolist() == ["ε = 1, 3 points, called with γ"]
    for lost in ({"gammas": {"other": 0.5}}, {"settings": {"other": "3 points"}}):
        with pytest.raises(ArgumentError, match=r"gammas or settings lack .*, which is in"):
            over_inputs(fresh, **lost)


def test_algorithms_2_and_4_run_on_the_theorems_inputs_and_cells():
    study = Study("config", {"scale": "smoke"})
    gammas = study.reports["gorla2022"].artifacts["algorithm2"].table.options["gammas"]
    seen = 0
    for c in chain.from_iterable(
        study.combinations("gorla2022", name)
        for name in ("algorithm-2", "algorithm-2-finer", "algorithm-2-of-table2", "algorithm-4")
    ):
        if not c.estimator.endswith("-third"):
            continue
        law = ExactTruncatedLaplace(study.mechanism(c.mechanism, c.epsilon))
        goal = {"lipschitz": law.lipschitz_output, "order": c.order}
        gamma, entry = gammas[c.estimator], study.mechanisms[c.mechanism].inputs[c.inputs]
        buckets = planner.input_buckets(**goal, gamma=gamma, lipschitz_input=law.lipschitz_input)
        assert (entry.points, entry.at) == (buckets, "midpoints")
        assert study.estimator(c.estimator).gamma == pytest.approx(gamma / 3)
        seen += 1
    assert seen >= 5


def test_sample_sizes_by_hand():
    searched = summary(n=[1, 2, 4], share_within=[0.0, 0.85, 0.9], runs=[20] * 3)
    rough = searched.assign(epsilon=2.0, claimed_lipschitz=4.6, share_within=0.5)
    table = tables.sample_sizes([searched, rough], delta=0.8)
    assert table["epsilon"].tolist() == [1.0, 2.0]
    assert table["scale"].tolist() == [1.0, 0.5]
    assert table["n_th"].tolist() == [239943, pd.NA]
    assert table["n_pr"].tolist() == [2, pd.NA]
    assert table["n_th_union"].tolist() == [446507, pd.NA]
    assert table["m"].tolist() == [46, 46]
    assert table["searched_to"].tolist() == [4, 4]
    assert table["share_at_last"].tolist() == [0.9, 0.5]
    strict = tables.sample_sizes([searched], delta=0.88)
    assert strict["n_pr"].tolist() == [4]


def test_cell_means_are_means_of_the_density():
    table = tables.cell_means(epsilon=1.0, cells=4, gamma=0.5, points=4001)
    by_cell = table.groupby("cell")[["density", "cell_mean"]].mean()
    assert by_cell["density"].tolist() == pytest.approx(by_cell["cell_mean"].tolist(), rel=1e-3)
    assert table["log_ratio"].max() == pytest.approx(1.0)
    assert table["cell_log_ratio"].max() < 1.0


def test_bernoulli_pair_is_the_pair():
    table = tables.bernoulli_pair(gamma=1.0, delta=0.8, budget=1000, order=2.0)
    for _, coin in table.groupby(["order", "x"]):
        assert coin["probability"].sum() == pytest.approx(1)
    pure = table[np.isinf(table["order"])]
    ones = pure[pure["outcome"] == 1].set_index("x")["probability"]
    assert math.log(ones[0] / ones[1]) == pytest.approx(2.0)  # 0 + 2 gamma
    assert (table["level"] >= table["log_h"] - 1e-12).all()
    assert (table["zeros_only"] > 0.2).all()


def test_safety_check_counts_the_passes():
    table = tables.safety_check(
        summary(mean=[0.9, 0.0], runs=[10, 10], claimed_lipschitz=[1.5, 3.0]),
        claimed=1.0,
        probability=0.9,
    )
    assert table["actual_C"].tolist() == [1.5, 3.0]
    assert table["share_passing"].tolist() == [0.9, 0.0]
    assert (table["low"] <= table["share_passing"]).all()
    assert (table["share_passing"] <= table["high"]).all()
    assert table["high"].tolist()[1] == pytest.approx(0.3085, abs=1e-4)


def test_impossibility_counts_answers_that_are_not_within_gamma():
    table = tables.impossibility(
        summary(parameters=['{"budget": 1000, "delta": 0.7}'], share_within=[0.3], share_low=[0.2])
    )
    assert table["budget"].tolist() == [1000]
    assert table["delta"].tolist() == [0.7]
    with pytest.raises(ArgumentError, match="must hold Bernoulli pairs"):
        tables.impossibility(summary(share_within=[0.3]))
    assert table["share_wrong"].tolist() == [0.7]
    assert table["share_wrong_high"].tolist() == [0.8]


def some_runs(**columns):
    """Return runs of one mechanism."""
    base = {"mechanism": "laplace", "epsilon": 1.0, "estimator": "mpl-floor=0.001", "level": 1.0}
    base |= {"estimate": 0.9, "pair": "b=10", "truth": 1.0, "n": 100, "fresh": 200}
    return frame_of(base, columns)


PANELS = {"panels": {"laplace": "(a) Laplace"}}


def test_bounds_are_ranked_in_each_curve():
    exact = some_runs(estimate=[0.5, 0.6], estimator="largest-loss")
    table = askin2022.bounds([some_runs(estimate=[0.9, 0.7, 0.8]), exact], **PANELS)
    mpl = table[table["estimator"] == "MPL"]
    assert mpl["bound"].tolist() == [0.7, 0.8, 0.9]
    assert mpl["share"].tolist() == pytest.approx([1 / 3, 2 / 3, 1])
    assert table[table["estimator"] == "estimate"]["share"].tolist() == [0.5, 1.0]
    with pytest.raises(ArgumentError, match="panels has 'svt2', which is not in the data"):
        askin2022.bounds([exact], panels={"svt2": "(e)"})


def test_coverage_by_hand():
    frame = some_runs(estimate=[0.7, 0.9, 1.05, 1.2], truth=[1.0, 0.8, 1.1, 1.1], level=[1.1] * 4)
    (row,) = askin2022.coverage([frame], **PANELS).to_dict("records")
    assert row["covered"] == 0.5  # of the pair that each run selected
    assert row["share_above_epsilon"] == 0.5
    assert row["median_ratio"] == pytest.approx(0.975 / 1.1)
    assert row["best_pair_selected"] == 0.5
    low, high = stats.binomtest(2, 4).proportion_ci(method="exact")
    assert (row["covered_low"], row["covered_high"]) == pytest.approx((low, high))


def bounds_at(order, estimates, settings='{"draws_at_floor": 50}', **columns):
    """Return runs of one pair whose divergence is 0.5."""
    base = {"mechanism": "m", "epsilon": 1.0, "inputs": "i", "lambda": order, "n": 1000}
    base |= {"estimator": settings, "settings": settings, "truth": 0.5, "level": 0.5}
    base |= {"side_x": 0, "side_x_prime": 1}
    runs = {"run": range(len(estimates)), "estimate": estimates}
    return pd.DataFrame(runs).assign(**(base | columns))


LOWER = '{"draws_at_floor": 25}'


def test_ratios_are_ranked_in_the_order_of_panels():
    data = [
        bounds_at("10", [0.6, 0.4]),
        bounds_at("2", [0.5, 0.25]),
        bounds_at("2", [0.45], LOWER),
        bounds_at("2", [0.3], mechanism="z"),
        bounds_at("2", [0.3], mechanism="not shown"),
    ]
    table = kutta2022.ratios(data, panels={"z": "(i)", "m": "(ii)"})
    assert table["panel"].tolist() == ["(i)"] + ["(ii)"] * 5
    assert table["lambda"].tolist() == [2.0, 2.0, 2.0, 2.0, 10.0, 10.0]
    assert table["tau"].tolist() == pytest.approx([0.05, 0.025, 0.05, 0.05, 0.05, 0.05])
    assert table["ratio"].tolist() == pytest.approx([0.6, 0.9, 0.5, 1.0, 0.8, 1.2])
    assert table["alpha_hat"].tolist() == pytest.approx([0, 0, 0, 0, 0.5, 0.5])


def test_alpha_hat_by_hand():
    data = [bounds_at("2", [0.6, 0.4, 0.5, 0.3]), bounds_at("2", [0.6, 0.7], LOWER)]
    table = kutta2022.alpha_hat(data, panels={"m": "(i)"})
    assert table["draws_at_floor"].tolist() == [50, 25]
    assert table["alpha_hat"].tolist() == [0.25, 1.0]  # a bound equal to the truth holds
    assert table["runs"].tolist() == [4, 2]
    assert table["median_ratio"].tolist() == pytest.approx([0.9, 1.3])
    exact = stats.binomtest(1, 4).proportion_ci(method="exact")
    assert table.loc[0, "alpha_hat_low"] == pytest.approx(exact.low)
    assert table.loc[0, "alpha_hat_high"] == pytest.approx(exact.high)
    with pytest.raises(ArgumentError, match="panels has 'absent'"):
        kutta2022.alpha_hat(data, panels={"absent": "(i)"})
    with pytest.raises(ArgumentError, match="m has no exact law"):
        kutta2022.alpha_hat([bounds_at("2", [0.1], truth=math.nan)], panels={"m": "(i)"})
    with pytest.raises(ArgumentError, match="must hold Rényi bounds of single pairs only"):
        kutta2022.alpha_hat([bounds_at("2", [0.1], '{"gamma": 1}')], panels={"m": "(i)"})


def test_maxima_of_the_first_pairs_and_of_all():
    plain = pd.concat(
        [
            bounds_at("2", [0.4, 0.6, 0.4], side_x=0),
            bounds_at("2", [0.6, 0.3, 0.7], side_x=2, truth=0.65),
        ]
    )
    settings = '{"correction": "bonferroni", "draws_at_floor": 50, "alpha": 0.1}'
    corrected = bounds_at("2", [0.5, 0.7, 0.6], settings, side_x=2, level=0.65)
    table = kutta2022.maxima(pd.concat([plain, corrected]), pairs=[1, 2])
    assert table["pairs"].tolist() == [1, 2, 2]
    assert table["promised"].tolist() == pytest.approx([0.95, 0.95**2, 0.9])
    assert table["covered"].tolist() == pytest.approx([2 / 3, 2 / 3, 2 / 3])
    assert table["divergence"].tolist() == [0.5, 0.65, 0.65]
    with pytest.raises(ArgumentError, match="pairs has 3, the data have 2"):
        kutta2022.maxima(plain, pairs=[3])


def draws(n=300, seed=0):
    rng = np.random.default_rng(seed)
    parts = [
        pd.DataFrame({"side": side, "x": str(float(side)), "output": rng.laplace(side, 1, n)})
        for side in (0, 1)
    ]
    drawn = {"registered": MECHANISMS["laplace"], "parameters": "{}", "epsilon": 1.0, "run": 0}
    return pd.concat(parts).assign(mechanism="laplace", **drawn)


def test_the_density_estimate_is_of_the_draws_shown():
    table = askin2022.density_estimate(draws(), points=201, reach=4.0)
    curve, rug = (table[table["kind"] == kind] for kind in ("curve", "draw"))
    assert len(rug) == 300
    assert rug["z"].is_monotonic_increasing
    assert np.trapezoid(curve["estimate"], curve["z"]) == pytest.approx(1, abs=0.05)
    assert curve["density"].max() == pytest.approx(0.5)
    others = [
        pd.concat([draws(), draws().assign(epsilon=2.0)]),
        draws().assign(parameters='{"sensitivity": 2.0}'),
        draws().assign(registered=MECHANISMS["gaussian"]),
    ]
    for other in others:  # the density drawn beside it is that of the plain Laplace mechanism
        with pytest.raises(ArgumentError, match="must hold samples of the plain Laplace"):
            askin2022.density_estimate(other, points=201, reach=4.0)


def test_the_empirical_loss_is_largest_at_the_output_in_the_table():
    options = {"region": [-1.0, 2.0], "points": 61, "floor": 1e-3}
    table = askin2022.empirical_loss(draws(5000), **options)
    first = table.iloc[0]
    assert first["eps_hat"] == table["empirical"].max()
    assert table.loc[np.isclose(table["z"], first["t_hat"]), "empirical"].item() == first["eps_hat"]
    assert table["loss"].max() == pytest.approx(1.0)


def curve(claims, estimates, truths, mechanism="laplace", run=0, **columns):
    """Return one run of a curve, with an interval of 0.1 to both sides."""
    base = {"mechanism": mechanism, "epsilon": 1.0, "inputs": "i", "estimator": "s", "n": 100}
    frame = pd.DataFrame({"claim": claims, "estimate": estimates, "truth": truths, "run": run})
    frame = frame.assign(settings="{}", x="[100, 0]", level=frame["truth"] + 0.1, **base)
    frame["estimate_reverse"], frame["truth_reverse"] = frame["estimate"], frame["truth"]
    low, high = (frame["estimate"] - 0.1).clip(lower=0), frame["estimate"] + 0.1
    return frame.assign(low=low, high=high, low_reverse=low, high_reverse=high, **columns)


def test_spectra_of_one_run_keep_its_interval():
    data = [curve([0.0, 0.5, 1.0], [0.5, 0.3, 0.05], [0.45, 0.35, 0.0])]
    table = lu2022.spectra(data, panels={"laplace": "L"}, claims=[0.0, 1.0])
    assert table["claim"].tolist() == [0.0, 1.0]
    assert table["low"].tolist() == pytest.approx([0.4, 0.0])
    assert table["error"].tolist() == pytest.approx([0.05, 0.05])
    with pytest.raises(ArgumentError, match=r"claims has 0.7, which is not in the data"):
        lu2022.spectra(data, panels={"laplace": "L"}, claims=[0.7])
    with pytest.raises(ArgumentError, match=r"panels has 'gauss', which is not in the data"):
        lu2022.spectra(data, panels={"gauss": "G"})


def test_verdicts_are_at_the_promised_epsilon():
    data = [
        curve([0.5, 1.0], [0.5, 0.3], [0.5, 0.25]),
        curve([0.5, 1.0], [0.4, 0.05], [0.4, 0.0], "b"),
    ]
    table = lu2022.verdicts(data, panels={"laplace": "L", "b": "B"})
    assert table["refuted"].tolist() == [1.0, 0.0]
    assert table["excess"].tolist() == pytest.approx([0.2, 0.0])
    assert table["largest_error"].tolist() == pytest.approx([0.05, 0.05])
    with pytest.raises(ArgumentError, match="must hold delta at the promised epsilon"):
        lu2022.verdicts([curve([0.5], [0.5], [0.5])], panels={"laplace": "L"})


def test_bootstrapped_accuracies_stand_beside_errors_and_theory():
    runs = pd.concat([curve([0.5], [v], [0.2], run=run) for run, v in enumerate([0.1, 0.4])])
    (row,) = lu2022.bootstrapped(runs, beta=0.5).to_dict("records")
    found = row["alpha"], row["error"], row["bias"]
    assert found == pytest.approx(((0.1 + 0.1) / 2, 0.15, 0.05))
    assert row["theory"] == pytest.approx(2 * math.exp(0.5) * 25 * math.sqrt(math.log(8) / 200))
    drawn = '{"coin": "drawn"}'
    data = [curve([0.5], [v], [0.2], run=r, settings=drawn) for r, v in enumerate([0.1, 0.3])]
    data += [curve([0.4, 0.5], [0.0, v], [0, 0.2], run=r) for r, v in enumerate([0.15, 0.25])]
    (row,) = lu2022.coins(data).to_dict("records")
    assert row["variance_saved"] == pytest.approx(0.75)  # at the same claims


def test_curves_are_inverted_with_their_intervals():
    data = [curve([0.0, 1.0, 2.0], [0.5, 0.3, 0.1], [0.6, 0.4, 0.2])]
    (row,) = lu2022.epsilons(data, panels={"laplace": "L"}, deltas=[0.35]).to_dict("records")
    assert row["at_delta"] == pytest.approx(0.75)
    assert (row["low"], row["high"]) == pytest.approx((0.25, 1.25))
    assert row["truth"] == pytest.approx(1.25)


def test_spectra_of_several_runs_and_of_the_larger_direction():
    data = [curve([0.0], [value], [0.5], run=run) for run, value in enumerate([0.4, 0.5, 0.6])]
    (row,) = lu2022.spectra(data, panels={"laplace i": "L"}).to_dict("records")
    assert row["delta"] == pytest.approx(0.5)
    assert row["high"] - row["low"] == pytest.approx(2 * 4.30265 * 0.1 / math.sqrt(3), rel=1e-5)
    reverse = {"estimate_reverse": 0.6, "low_reverse": 0.58, "high_reverse": 0.59}
    frame = curve([0.0], [0.5], [0.45]).assign(**reverse, truth_reverse=0.4)
    (row,) = lu2022.spectra([frame], panels={"laplace": "L"}, larger=True).to_dict("records")
    assert (row["delta"], row["low"], row["high"]) == pytest.approx((0.6, 0.58, 0.6))
    assert row["truth"] == pytest.approx(0.45)
    assert row["above"] == 1.0

"""Tables: summaries beside exact values, builders and how they are called, the paper's numbers."""

import json
import math
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from epsilometer.errors import ArgumentError, ConfigError, DataError
from epsilometer.estimators import planner
from epsilometer.exact import EXACT
from epsilometer.exact.truncated import ExactTruncatedLaplace
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files import identities
from epsilometer_workflow.files.identities import EstimatesToSummarise, InputsOfPairs
from epsilometer_workflow.files.place import Place
from epsilometer_workflow.files.printed import PaperNumbers
from epsilometer_workflow.files.storage import SampleWriter, read_table, write_table
from epsilometer_workflow.reports.askin2022 import tables as askin2022
from epsilometer_workflow.reports.gorla2022 import tables as gorla2022
from epsilometer_workflow.reports.grouping import ALL as ALL_AXES
from epsilometer_workflow.reports.grouping import IDENTITY, grouped
from epsilometer_workflow.reports.kutta2022 import tables as kutta2022
from epsilometer_workflow.reports.lu2022 import tables as lu2022
from epsilometer_workflow.reports.plain import figures
from epsilometer_workflow.reports.plain import tables as plain
from epsilometer_workflow.stages import tabulate
from epsilometer_workflow.stages.summarise import summarise, with_truth
from epsilometer_workflow.stages.tabulate import build, check, join_paper
from tests.unit.stages import estimates_by, samples_of, table_by

# --- summaries ------------------------------------------------------------------------------------


def estimates(values, reverse=None):
    about = {"mechanism": "tl", "epsilon": 1.0, "inputs": "ends", "lambda": "inf", "estimator": "h"}
    about |= {"cells": 4, "claimed_lipschitz": np.nan, "n": 100, "fresh": 0, "claim": np.nan}
    runs = {"run": range(len(values)), "estimate": values, "failed": np.isnan(values)}
    runs["estimate_reverse"] = values if reverse is None else reverse
    return pd.DataFrame(runs).assign(**about, side_x=0, side_x_prime=1)


def with_inputs(*values):
    return estimates(*values).assign(parameters="{}", x="0.0", x_prime="1.0", pair="", level=1.0)


def member_of(name, **inputs):
    """Return an experiment's estimates at epsilon = 2, of an estimator with two directions."""
    about: Any = {
        "mechanism_registered": MECHANISMS[name],
        "parameters": {"tau": 1e-5},
        "epsilon": 2.0,
    }
    about["inputs"] = InputsOfPairs(id="some", **inputs)
    promise: Any = {"precision": None, "symmetric": False, "guarantee": "none"}
    identity = estimates_by("histogram", [], **about)
    return EstimatesToSummarise(law=EXACT[name], identity=identity, **promise)


def test_summary_by_hand():
    frame = with_inputs([1.2, 0.9, np.nan, 1.6], [1.0, 1.0, np.nan, 1.0])
    (row,) = summarise(frame.assign(truth=1.0, truth_reverse=1.1), gamma=0.5).to_dict("records")
    assert (row["runs"], row["failures"], row["mean_reverse"]) == (4, 1, 1.0)
    assert row["mean"] == pytest.approx(3.7 / 3)
    assert row["bias"] == pytest.approx(3.7 / 3 - 1)
    assert row["mse"] == pytest.approx((0.04 + 0.01 + 0.36) / 3)
    assert row["share_within"] == 0.5  # the failure and the 1.6 miss
    low, high = stats.binomtest(2, 4).proportion_ci(method="exact")
    assert (row["share_low"], row["share_high"]) == pytest.approx((low, high))


@pytest.mark.parametrize("axis", [*IDENTITY, "claim", "pair", "cells"])
def test_estimates_that_differ_in_an_axis_are_summarised_apart(axis):
    frame = with_inputs([1.2, 0.9]).assign(truth=1.0, truth_reverse=1.1)
    if axis not in frame:
        assert axis in ("gamma", "settings")  # of an estimator, whose name tells them
        return
    numeric = pd.api.types.is_numeric_dtype(frame[axis])
    other = frame.assign(**{axis: 7 if numeric else "another"}, estimate=[3.0, 5.0])
    apart = summarise(pd.concat([frame, other]), gamma=0.5)
    assert apart["mean"].tolist() == pytest.approx([1.05, 4.0])


def test_the_level_of_each_claim_is_the_largest_of_all_pairs():
    """Laplace noise at epsilon = 2, at distances of 1/2 and 1: delta is 1 - e^((e - 2 d)/2)."""
    sides = {"sides": [0.0, 0.5, 0.0, 1.0], "pairing": "consecutive", "names": None}
    claims = [0.0, 0.4]
    frame = pd.concat([estimates([0.3]).assign(claim=claim) for claim in claims])
    joined = with_truth(frame, member_of("laplace", **sides))
    for name, distance in (("truth", 0.5), ("truth_reverse", 0.5), ("level", 1.0)):
        exact = 1 - np.exp((np.array(claims) - 2 * distance) / 2)
        assert joined[name].tolist() == pytest.approx(exact.tolist())


def test_truth_comes_from_the_exact_law_of_each_direction():
    member = member_of("truncated_laplace", sides=[0.0, 0.5], pairing="all", names=None)
    joined = with_truth(estimates([1.0]), member)
    assert joined["truth"].item() != joined["truth_reverse"].item()
    truth = 1.0 + np.log(2 * (1 - np.exp(-1)) / (1 - np.exp(-2)))
    assert joined["truth"].item() == pytest.approx(truth)
    assert joined.loc[0, ["x_prime", "parameters"]].tolist() == ["0.5", "{}"]
    renyi = replace(member, identity=replace(member.identity, order="2"))
    law = EXACT.load("truncated_laplace")(MECHANISMS.load("truncated_laplace")(2.0))
    assert with_truth(estimates([1.0]), renyi)["truth"].item() == law.renyi(2.0, 0.0, 0.5)
    both = with_truth(estimates([1.0]), replace(member, symmetric=True))
    larger = max(joined["truth"].item(), joined["truth_reverse"].item())
    assert both["truth"].item() == both["truth_reverse"].item() == larger
    assert both["level"].item() == joined["level"].item() == larger
    assert with_truth(estimates([1.0]), replace(member, law=None))["truth"].isna().all()


def test_the_level_is_that_of_all_pairs_whichever_was_selected():
    """The data-centric level of 0 among the neighbours 1/2 and 1, where 1/2 was selected."""
    inputs = {"sides": [0.0, 0.5, 0.0, 1.0], "pairing": "consecutive", "names": ["near", "far"]}
    member = replace(member_of("laplace", **inputs), symmetric=True)
    joined = with_truth(estimates([0.9]), member)
    assert joined["pair"].item() == "near"
    assert joined.loc[0, ["truth", "level"]].tolist() == pytest.approx([1.0, 2.0])


# --- how builders are called ----------------------------------------------------------------------


@grouped(across=ALL_AXES)
def single(summary: pd.DataFrame, *, k: int = 1):
    if k < 0:
        raise ArgumentError("k", "must not be negative")
    return summary


PLACE = Place("f", "key")


def odd(anything: pd.DataFrame): ...


def untyped(summary): ...


def none(*, k: int):
    return pd.DataFrame({"epsilon": [0.2], "kind": ["a"], "n": [k]})


def drawn(samples: list[pd.DataFrame]): ...


def test_builders_are_called_by_their_signature():
    frame = pd.DataFrame({"mechanism": ["m"], "a": [1]})
    assert build(single, [frame], {"k": 2}, PLACE)["a"].tolist() == [1]
    assert build(none, [], {"k": 3}, PLACE)["n"].tolist() == [3]
    with pytest.raises(ConfigError, match=r"f: key.table.options: k must not be negative"):
        build(single, [frame], {"k": -1}, PLACE)


LOSSES = {"epsilon": 1.0, "sigma": 1.0, "reach": 1.0, "points": 2}
PLANNED = {"gamma": 1.0, "delta": 0.8, "lipschitz": 1.5}
PLANNED |= {"gammas": [1.0], "deltas": [0.8], "lipschitzes": [1.5]}
ACCURACIES = {"n": [10], "beta": 0.1, "claim": 0.5, "dimensions": [1]}
REGION = {"region": [0.0, 1.0], "points": 2, "floor": 0.1}


@pytest.mark.parametrize(
    ("builder", "data", "options", "message"),
    [
        (odd, ["a"], {}, "key.table.builder: odd takes 'anything', not one of summary, "),
        (single, [], {}, "key.table.data: single takes experiments"),
        (none, ["a"], {"k": 1}, "key.table.data: none takes no experiment"),
        (none, [], {}, "key.table.options.k: is missing"),
        (untyped, ["a"], {}, "key.table.builder: untyped gives its parameter 'summary' no type"),
        (askin2022.losses, [], LOSSES | {"points": 1}, "options.points: "),
        *(
            (askin2022.empirical_loss, ["a"], REGION | {"region": ends}, "options.region: ")
            for ends in ([0.0], [0.0, 1.0, 2.0])
        ),
        *(
            (gorla2022.all_pairs, ["a"], {"pairs": pairs, "delta": 0.8}, "options.pairs")
            for pairs in ([], [[0.0]], [[0.0, 1.0, 2.0]])
        ),
        (gorla2022.lipschitz_constants, [], {"scales": [], "sigmas": [1.0]}, "options.scales"),
        *(
            (gorla2022.planned_samples, [], PLANNED | {name: []}, f"options.{name}")
            for name in ("gammas", "deltas", "lipschitzes")
        ),
        (kutta2022.maxima, ["a"], {"pairs": []}, "options.pairs"),
        (lu2022.epsilons, ["a"], {"deltas": []}, "options.deltas"),
        (lu2022.classical, ["a"], {"claims": []}, "options.claims"),
        (lu2022.among_neighbours, ["a"], {"claims": [0.1], "epsilons": []}, "options.epsilons"),
        (lu2022.accuracies, [], ACCURACIES | {"n": []}, "options.n"),
        (lu2022.accuracies, [], ACCURACIES | {"dimensions": []}, "options.dimensions"),
    ],
)
def test_builders_are_checked_before_the_dag(builder, data, options, message):
    with pytest.raises(ConfigError, match=message):
        check(builder, data, [], options, PLACE)


def test_the_least_options_are_taken():
    check(askin2022.losses, [], [], LOSSES, PLACE)
    check(askin2022.empirical_loss, ["a"], [], REGION, PLACE)
    check(gorla2022.lipschitz_constants, [], [], {"scales": [1.0], "sigmas": [1.0]}, PLACE)
    check(gorla2022.planned_samples, [], [], PLANNED, PLACE)
    check(kutta2022.maxima, ["a"], [], {"pairs": [1]}, PLACE)
    check(lu2022.epsilons, ["a"], [], {"deltas": [0.1]}, PLACE)
    check(lu2022.among_neighbours, ["a"], [], {"claims": [0.1], "epsilons": [1.0]}, PLACE)
    check(lu2022.accuracies, [], [], ACCURACIES, PLACE)
    check(gorla2022.all_pairs, ["a"], [], {"pairs": [[0.0, 1.0]], "delta": 0.8}, PLACE)


PAPER = PaperNumbers(
    keys=["epsilon", "kind"], columns=["epsilon", "kind", "n"], rows=[[0.2, "a", 5]]
)


def test_the_papers_numbers_join_on_rounded_keys():
    """The sum of two tenths is a fifth, and a fifth and a millionth is another number."""
    epsilons = [0.1 + 0.1, 0.2 + 1e-6, 0.3]
    ours = pd.DataFrame({"epsilon": epsilons, "kind": ["a", "a", "b"], "n": [4, 5, 6]})
    joined = join_paper(ours, PAPER, Place("f", "here"))
    assert list(joined.columns) == ["epsilon", "kind", "n", "paper_n"]
    assert joined["paper_n"].tolist() == pytest.approx([5, math.nan, math.nan], nan_ok=True)


def test_a_printed_row_without_a_match_is_an_error():
    ours = pd.DataFrame({"epsilon": [0.3], "kind": ["a"]})
    with pytest.raises(ConfigError, match=r"here.rows: no row of the table has epsilon=0.2"):
        join_paper(ours, PAPER, Place("f", "here"))
    with pytest.raises(ConfigError, match=r"f: here.keys: the table has no column 'kind'"):
        join_paper(ours.drop(columns="kind"), PAPER, Place("f", "here"))


@pytest.fixture
def outputs(tmp_path):
    return tuple(str(tmp_path / name) for name in ("fig1.csv", "fig1.parquet", "curve.parquet"))


def test_a_table_is_the_same_as_csv_and_parquet_with_the_papers_numbers(outputs):
    job = table_by(f"{__name__}:none", options={"k": 4}, paper=PAPER, caption="é")
    tabulate.run([], *outputs, job)
    parquet = read_table(outputs[1], "table", replace(job.identity, caption="é"))
    assert parquet.to_dict("records") == [{"epsilon": 0.2, "kind": "a", "n": 4, "paper_n": 5}]
    pd.testing.assert_frame_equal(pd.read_csv(outputs[0]), parquet, check_dtype=False)


def test_files_of_each_experiment_are_read_in_order(tmp_path, outputs):
    """Two experiments, the second of two files: each file must be of its place's experiment."""
    identities = [{"seed": i} for i in range(3)]
    files = [str(tmp_path / f"{i}.parquet") for i in range(3)]
    for i, (file, identity) in enumerate(zip(files, identities, strict=True)):
        write_table(
            pd.DataFrame({"mechanism": ["m"], "n": [i], "a": [i]}), file, "summary", identity
        )
    parts = [identities[:1], identities[1:]]
    (frame,) = tabulate.read(files, parts, single)
    assert frame["a"].tolist() == [0, 1, 2]
    tabulate.run(files, *outputs, table_by(f"{__name__}:single", data=parts))
    assert pd.read_csv(outputs[0])["a"].tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="is stale: seed is 2, not 0"):
        tabulate.read(files[::-1], parts, single)


def test_draws_are_a_row_each(tmp_path):
    about = {"registered": "module:M", "parameters": {"b": 1, "a": 2}, "epsilon": 0.5}
    identity = samples_of("m", [0, [1, 2]], n=2, runs=[3, 4], **about)
    file = tmp_path / "s.parquet"
    with SampleWriter(file, "scalar", None, identity) as writer:
        for first in range(0, 8, 2):
            writer.write(np.array([first, first + 1.0]))
    (frame,) = tabulate.read([str(file)], [[identities.plain(identity)]], drawn)
    assert frame["output"].tolist() == list(range(8))
    assert frame["run"].tolist() == [3] * 4 + [4] * 4
    assert frame["side"].tolist() == [0, 0, 1, 1] * 2
    assert frame["x"].map(json.loads).tolist()[1:3] == [0, [1, 2]]
    same = {"mechanism": "m", "parameters": '{"a": 2, "b": 1}', "epsilon": 0.5}
    assert all((frame[key] == value).all() for key, value in same.items())


# --- builders of the papers, on summaries made by hand --------------------------------------------


LAWS = {
    "gauss": "gaussian",
    "m": "truncated_laplace",
    "truncated-laplace": "truncated_laplace",
    "laplace": "laplace",
}


def made(builder, data, **options):
    """Return the table of a builder, called for each group of the rows."""
    rows = pd.concat(data if isinstance(data, list) else [data], ignore_index=True)
    return build(builder, [rows], options, PLACE, law_of)


def law_of(mechanism, epsilon):
    name = LAWS.get(mechanism)
    return name and EXACT.load(name)(MECHANISMS.load(name)(epsilon))


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
        **{"side_x": 0, "side_x_prime": 1, "x": "0.0", "x_prime": "1.0", "gamma": 0.5},
        **{"truth": 1.0, "truth_reverse": 1.0, "runs": 1, "failures": 0, "mean": 1.0, "sd": 0.1},
        **{"mean_reverse": 1.0, "share_within": 1.0, "share_low": 0.9, "share_high": 1.0},
    }
    return frame_of(base, columns)


def pairs_of_three(mean, mean_reverse):
    """Return the summary of a grid of three inputs."""
    inputs = {"x": ["0.0", "0.0", "0.5"], "x_prime": ["0.5", "1.0", "1.0"]}
    truths = {"truth": [0.4, 1.0, 0.5], "truth_reverse": [0.6, 0.9, 0.3]}
    return summary(**inputs, **truths, mean=mean, mean_reverse=mean_reverse)


ALL = {"pairs": [[0.0, 0.5], [1.0, 0.0]], "delta": 0.8}


def test_all_pairs_takes_the_larger_direction_and_the_largest_pair():
    table = made(gorla2022.all_pairs, pairs_of_three([0.3, 1.1, 0.2], [0.7, 0.8, 0.1]), **ALL)
    assert table["pair"].tolist() == ["maximum", "0.00 0.50", "1.00 0.00"]
    assert table["estimate"].tolist() == [1.1, 0.7, 1.1]
    assert table["truth"].tolist() == [1.0, 0.6, 1.0]
    assert table[["x", "x_prime"]].to_numpy().tolist() == [[0.0, 1.0], [0.0, 0.5], [1.0, 0.0]]
    planned = table[["grid_points", "planned_grid_points", "planned_n"]]
    assert planned.to_numpy().tolist() == [[3, 91, 1871942]] * 3


def test_pairs_of_a_grid_are_given_as_printed_to_two_digits():
    grid = pairs_of_three([0.3, 1.1, 0.2], [0.7, 0.8, 0.1])
    grid = grid.replace({"0.5": "0.4567"})
    table = made(gorla2022.all_pairs, grid, pairs=[[0.46, 0.0]], delta=0.8)
    assert table["pair"].tolist() == ["maximum", "0.46 0.00"]
    assert table.loc[1, ["x", "x_prime", "estimate"]].tolist() == [0.4567, 0.0, 0.7]
    for near in ([0.5, 0.0], [0.457, 0.0]):
        with pytest.raises(ConfigError, match=r"the nearest of its 3 is \[0.0, 0.46\]"):
            made(gorla2022.all_pairs, grid, pairs=[near], delta=0.8)


def test_all_pairs_ignores_failures_and_may_find_none():
    nan = math.nan
    table = made(gorla2022.all_pairs, pairs_of_three([nan, nan, 0.2], [nan, nan, 0.1]), **ALL)
    assert table.loc[0, ["estimate", "x"]].tolist() == [0.2, 0.5]
    none = made(gorla2022.all_pairs, pairs_of_three([nan] * 3, [nan] * 3), **ALL)
    assert none["estimate"].isna().all()
    assert none["n"].tolist() == [100] * 3
    assert none["pair"].tolist() == ["maximum", "0.00 0.50", "1.00 0.00"]
    with pytest.raises(ConfigError, match=r"pairs has \[0.0, 0.3\], which is not a pair"):
        made(
            gorla2022.all_pairs,
            pairs_of_three([1.0] * 3, [1.0] * 3),
            **(ALL | {"pairs": [[0.0, 0.3]]}),
        )
    with pytest.raises(ConfigError, match="must hold one run"):
        made(gorla2022.all_pairs, pairs_of_three([1.0] * 3, [1.0] * 3).assign(runs=2), **ALL)


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


def share_of(k, n):
    """Return the exact 95 % interval of a share."""
    return tuple(stats.binomtest(k, n).proportion_ci(method="exact"))


def over_inputs(*runs, gammas=None, settings=None):
    options = {"gammas": gammas or {"third": 0.5}, "settings": settings or {"grid": "3 points"}}
    return made(gorla2022.over_inputs, list(runs), delta=0.8, **options)


def test_over_inputs_counts_runs_whose_largest_answer_is_near():
    (row,) = over_inputs(calls()).to_dict("records")
    assert (row["setting"], row["k"]) == ("ε = 1, 3 points", 3)
    assert row["mean"] == pytest.approx((1.4 + 0.4) / 2)
    assert (row["runs"], row["share_within"], row["failed"]) == (2, 0.5, 0)
    # Algorithm 2 at B = 1, gamma = 0.5: the n of the paper, and that of (gamma/3, sqrt(delta))
    assert row["n_direct"] == 1871942
    goal = {"lipschitz": 1 / (1 - math.exp(-1)), "order": math.inf}
    third = {**goal, "gamma": 0.5 / 3}
    assert row["n_th"] == planner.sample_size(**third, delta=math.sqrt(0.8), union=False)
    assert row["n_union"] == planner.sample_size(**third, delta=1 - 0.2 / 3)
    assert row["level"] == pytest.approx(1.0)
    assert (row["share_low"], row["share_high"]) == pytest.approx(share_of(1, 2))
    assert row["sd"] == pytest.approx(math.sqrt(0.5))
    renyi = over_inputs(calls(**{"lambda": "2"}))["level"].item()
    z = np.linspace(0, 1, 10_001)
    p = np.exp(-z) / (1 - math.exp(-1))  # at 0, and in reverse at 1
    assert renyi == pytest.approx(math.log(np.trapezoid(p**2 / p[::-1], z)), abs=1e-6)


def test_over_inputs_takes_a_run_without_an_answer_as_a_miss():
    silent = {"estimate": math.nan, "estimate_reverse": math.nan, "failed": True}
    assert over_inputs(calls(**silent)).loc[0, ["share_within", "failed"]].tolist() == [0, 2]
    fresh = calls(side_x=[0, 2, 4] * 2, side_x_prime=[1, 3, 5] * 2, settings='{"gamma": 0.5}')
    assert over_inputs(fresh)["setting"].tolist() == ["ε = 1, 3 points, called with γ"]
    for lost in ({"gammas": {"other": 0.5}}, {"settings": {"other": "3 points"}}):
        with pytest.raises(ConfigError, match=r"(gammas|settings) lacks the .* of the data"):
            over_inputs(fresh, **lost)


def test_algorithms_2_and_4_run_on_the_theorems_inputs_and_cells():
    study = Study("config", {"scale": "smoke"})
    gammas = study.reports["gorla2022"].artifacts["algorithm2"].table.options["gammas"]
    seen = 0
    names = ("algorithm-2", "algorithm-2-finer", "algorithm-2-of-table2", "algorithm-4")
    for c in chain.from_iterable(study.combinations("gorla2022", name) for name in names):
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
    searched = summary(gamma=1.0, n=[1, 2, 4], share_within=[0.0, 0.85, 0.9], runs=[20] * 3)
    rough = searched.assign(epsilon=2.0, claimed_lipschitz=4.6, share_within=0.5)
    table = made(gorla2022.sample_sizes, [searched, rough], delta=0.8)
    assert table["epsilon"].tolist() == [1.0, 2.0]
    assert table["scale"].tolist() == [1.0, 0.5]
    assert table["n_th"].tolist() == [239943, pd.NA]
    assert table["n_pr"].tolist() == [2, pd.NA]
    assert table["n_th_union"].tolist() == [446507, pd.NA]
    assert table["m"].tolist() == [46, 46]
    assert table["searched_to"].tolist() == [4, 4]
    assert table["share_at_last"].tolist() == [0.9, 0.5]
    for delta, n_pr in ((0.88, 4), (0.85, 2), (0.9, 4)):
        assert made(gorla2022.sample_sizes, [searched], delta=delta)["n_pr"].tolist() == [n_pr]
    goal = {"lipschitz": 1.5819767068693265, "gamma": 1.0, "order": math.inf}
    assert table["confidence_union"].iloc[0] == 0  # its bound of a failure is above 1
    certain = made(gorla2022.sample_sizes, [searched], delta=0.999)
    confidence = 1 - planner.failure_bound(n=int(certain["n_th"].item()), **goal)
    assert certain["confidence_union"].item() == pytest.approx(confidence)
    assert 0.9 < confidence < 0.999
    curve = made(gorla2022.convergence, [searched], delta=0.8)
    assert curve[["n", "n_th", "n_pr"]].to_numpy().tolist() == [[n, 239943, 2] for n in (1, 2, 4)]
    rungs = made(gorla2022.searches, [searched])
    assert rungs["share_within"].tolist() == [0.0, 0.85, 0.9]


def test_table_1_has_the_slopes_of_the_densities_and_the_largest_loss():
    """Of densities on [0, 1] by a grid; the theorems hold up to a slope of 2."""
    z = np.linspace(0, 1, 1001)
    distance = z - z[:, None]
    shapes = [np.exp(-np.abs(distance) / b) for b in (1.0, 0.75)]
    shapes += [np.exp(-(distance**2) / (2 * s**2)) for s in (1.0, 0.6)]
    table = gorla2022.lipschitz_constants(scales=[1.0, 0.75], sigmas=[1.0, 0.6])
    assert table["parameter"].tolist() == [1.0, 0.75, 1.0, 0.6]
    for row, shape in zip(table.itertuples(), shapes, strict=True):
        density = shape / np.trapezoid(shape, z, axis=1)[:, None]  # by input, and output
        assert pytest.approx(np.abs(np.diff(density, axis=0)).max() * 1000, rel=0.01) == row.D
        assert pytest.approx(np.abs(np.diff(density, axis=1)).max() * 1000, rel=0.01) == row.C
        assert row.epsilon == pytest.approx(np.log(density[0] / density[-1]).max())
        assert row.guaranteed == (row.C < 2)
    assert 1 < table["C"].iloc[0] < 2 < table["C"].iloc[1] < 4


def test_cell_means_are_means_of_the_density():
    table = gorla2022.cell_means(epsilon=1.0, cells=4, gamma=0.5, points=4001)
    assert table["z"].to_numpy() == pytest.approx(np.linspace(0, 1, 4001))
    assert (table["cell"] == np.minimum(table["z"] // 0.25, 3)).all()
    p = np.exp(-table["z"]) / (1 - math.exp(-1))
    assert table["density"].to_numpy() == pytest.approx(p)
    of_cells = table.assign(q=p[::-1].to_numpy()).groupby("cell").mean()
    assert of_cells["density"].tolist() == pytest.approx(of_cells["cell_mean"].tolist(), rel=1e-3)
    ratios = np.log(of_cells["density"] / of_cells["q"])
    assert of_cells["cell_log_ratio"].tolist() == pytest.approx(ratios.tolist(), abs=2e-3)
    assert table["log_ratio"].to_numpy() == pytest.approx(1 - 2 * table["z"].to_numpy())
    assert table["truth"].unique() == pytest.approx(1.0)


@pytest.mark.parametrize("between", [0, 5])
def test_planned_samples_vary_one_number_and_keep_the_others(between):
    fixed = {"gamma": 1.0, "delta": 0.8, "lipschitz": 1.5}
    varied = {"gamma": [2.0, 0.5, 1.0], "delta": [0.9, 0.7], "lipschitz": [1.8]}
    lists = {"gammas": varied["gamma"], "deltas": varied["delta"], "lipschitzes": [1.8]}
    table = gorla2022.planned_samples(**fixed, **lists, order=2.0, between=between)
    for name, values in varied.items():
        rows = table[table["varied"] == name]
        if between and len(values) > 1:
            values = np.linspace(min(values), max(values), 5).tolist()  # noqa: PLW2901
        goals = [fixed | {"order": 2.0, name: value} for value in values]
        n = [planner.sample_size(**goal, union=False) for goal in goals]
        assert rows["value"].tolist() == pytest.approx(values)
        assert rows["n"].tolist() == pytest.approx(n)
        assert np.exp(rows["log_n"]).tolist() == pytest.approx(n)
    assert set(table["varied"]) == set(varied)


def test_bernoulli_pair_is_the_pair():
    table = gorla2022.bernoulli_pair(gamma=1.0, delta=0.8, budget=1000, order=2.0)
    for _, coin in table.groupby(["order", "x"]):
        assert coin["probability"].sum() == pytest.approx(1)
    pure = table[np.isinf(table["order"])]
    ones = pure[pure["outcome"] == 1].set_index("x")["probability"]
    assert math.log(ones[0] / ones[1]) == pytest.approx(2.0)  # 0 + 2 gamma
    assert (table["level"] >= table["log_h"] - 1e-12).all()
    for _, coins in table.groupby("order"):  # half of the budget on each coin shows zeros alone
        zeros = coins.loc[coins["outcome"] == 0, "probability"].to_numpy()
        assert coins["zeros_only"].unique() == pytest.approx((zeros**500).prod())
    assert (table["zeros_only"] > 0.2).all()


def test_safety_check_counts_the_passes():
    table = made(
        gorla2022.safety_check,
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
    table = made(
        gorla2022.impossibility,
        summary(parameters=['{"budget": 1000, "delta": 0.7}'], share_within=[0.3], share_low=[0.2]),
    )
    assert table["budget"].tolist() == [1000]
    assert table["delta"].tolist() == [0.7]
    with pytest.raises(ConfigError, match="must hold Bernoulli pairs"):
        made(gorla2022.impossibility, summary(share_within=[0.3]))
    assert table["share_wrong"].tolist() == [0.7]
    assert table["share_wrong_high"].tolist() == [0.8]
    assert table["share_wrong_low"].tolist() == [0.0]


def some_runs(**columns):
    """Return runs of one mechanism."""
    base = {"mechanism": "laplace", "epsilon": 1.0, "estimator": "mpl-floor=0.001", "level": 1.0}
    base |= {"inputs": "distances"}
    base |= {"estimate": 0.9, "pair": "b=10", "truth": 1.0, "n": 100, "fresh": 200}
    return frame_of(base, columns)


PANELS = {"panels": {"laplace": "(a) Laplace"}}


def test_bounds_are_ranked_in_each_curve():
    exact = some_runs(estimate=[0.5, 0.6], estimator="largest-loss")
    table = made(askin2022.bounds, [some_runs(estimate=[0.9, 0.7, 0.8]), exact], **PANELS)
    mpl = table[table["estimator"] == "MPL"]
    assert mpl["bound"].tolist() == [0.7, 0.8, 0.9]
    assert mpl["share"].tolist() == pytest.approx([1 / 3, 2 / 3, 1])
    assert table[table["estimator"] == "estimate"]["share"].tolist() == [0.5, 1.0]
    with pytest.raises(ConfigError, match="panels has 'svt2', which is not in the data"):
        made(askin2022.bounds, [exact], panels={"svt2": "(e)"})


def test_a_squared_error_is_a_share_of_the_promise():
    frame = with_inputs([1.2, 0.9]).assign(truth=1.0, truth_reverse=1.1, epsilon=2.0)
    summary = summarise(frame, gamma=0.5)
    (row,) = made(askin2022.errors, [summary], panels={"tl": "T"}).to_dict("records")
    assert row["mse"] == pytest.approx(0.025)
    assert row["mse_share"] == pytest.approx(0.0125)
    assert row["rmse"] == pytest.approx(math.sqrt(0.025))


def test_losses_of_three_mechanisms_are_their_closed_forms():
    table = askin2022.losses(epsilon=2.0, sigma=0.7, points=9, reach=1.5)
    response, laplace_rows, normal_rows = (
        rows for _, rows in table.groupby("mechanism", sort=False)
    )
    assert response["z"].tolist() == [0, 1]
    assert response["loss"].tolist() == pytest.approx([2.0, 2.0])
    assert response["p"].tolist() == pytest.approx([1 / (1 + math.exp(-2)), 1 / (1 + math.exp(2))])
    for rows, law, loss in (
        (laplace_rows, stats.laplace(0, 1 / 2), lambda z: 2 * np.abs(np.abs(z - 1) - np.abs(z))),
        (normal_rows, stats.norm(0, 0.7), lambda z: np.abs(1 - 2 * z) / (2 * 0.7**2)),
    ):
        z = rows["z"].to_numpy()
        assert z == pytest.approx(np.linspace(-1.5, 2.5, 9))
        assert rows["p"].to_numpy() == pytest.approx(law.pdf(z))
        assert rows["q"].to_numpy() == pytest.approx(law.pdf(z - 1))
        assert rows["loss"].to_numpy() == pytest.approx(loss(z))


def test_answers_of_a_rare_match_stand_beside_the_draws_that_show_it():
    rows = summary(
        parameters='{"rarity": 3}', n=[40], mean=[0.2], mean_reverse=[0.7], level=[3.0], fresh=0
    )
    (row,) = made(askin2022.rare_match, rows, floor=0.01).to_dict("records")
    assert (row["k"], row["answer"], row["truth"]) == (3, 0.7, 3.0)
    assert row["expected"] == pytest.approx(40 * math.exp(-3))
    with pytest.raises(ConfigError, match="must hold mechanisms with a rarity"):
        made(askin2022.rare_match, summary(n=[40], level=[3.0], fresh=0), floor=0.01)


def test_coverage_by_hand():
    """Two of four bounds hold, one of them with nothing to spare; two refute the promise."""
    frame = some_runs(estimate=[0.7, 1.1, 1.0, 1.2], truth=[1.0, 1.1, 0.8, 1.1], level=[1.1] * 4)
    (row,) = made(askin2022.coverage, [frame], **PANELS).to_dict("records")
    assert row["covered"] == 0.5  # of the pair that each run selected
    assert row["share_above_epsilon"] == 0.5
    assert row["median_ratio"] == pytest.approx(1.05 / 1.1)
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
    table = made(kutta2022.ratios, data, panels={"z": "(i)", "m": "(ii)"})
    assert table["panel"].tolist() == ["(i)"] + ["(ii)"] * 5
    assert table["lambda"].tolist() == [2.0, 2.0, 2.0, 2.0, 10.0, 10.0]
    assert table["tau"].tolist() == pytest.approx([0.05, 0.025, 0.05, 0.05, 0.05, 0.05])
    assert table["ratio"].tolist() == pytest.approx([0.6, 0.9, 0.5, 1.0, 0.8, 1.2])
    assert table["alpha_hat"].tolist() == pytest.approx([0, 0, 0, 0, 0.5, 0.5])


def test_alpha_hat_by_hand():
    data = [bounds_at("2", [0.6, 0.4, 0.5, 0.3]), bounds_at("2", [0.6, 0.7], LOWER)]
    table = made(kutta2022.alpha_hat, data, panels={"m": "(i)"})
    assert table["draws_at_floor"].tolist() == [50, 25]
    assert table["alpha_hat"].tolist() == [0.25, 1.0]  # a bound equal to the truth holds
    assert table["runs"].tolist() == [4, 2]
    assert table["median_ratio"].tolist() == pytest.approx([0.9, 1.3])
    exact = stats.binomtest(1, 4).proportion_ci(method="exact")
    assert table.loc[0, "alpha_hat_low"] == pytest.approx(exact.low)
    assert table.loc[0, "alpha_hat_high"] == pytest.approx(exact.high)
    with pytest.raises(ConfigError, match="panels has 'absent'"):
        made(kutta2022.alpha_hat, data, panels={"absent": "(i)"})
    with pytest.raises(ConfigError, match="m has no exact law"):
        made(kutta2022.alpha_hat, [bounds_at("2", [0.1], truth=math.nan)], panels={"m": "(i)"})
    with pytest.raises(ConfigError, match="must hold Rényi bounds of single pairs only"):
        made(kutta2022.alpha_hat, [bounds_at("2", [0.1], '{"gamma": 1}')], panels={"m": "(i)"})


def test_maxima_of_the_first_pairs_and_of_all():
    second = bounds_at("2", [0.6, 0.3, 0.7], side_x=2, truth=0.65)
    plain = pd.concat([bounds_at("2", [0.4, 0.6, 0.4], side_x=0), second])
    settings = '{"correction": "bonferroni", "largest": true, "alpha": 0.1}'
    corrected = bounds_at("2", [0.5, 0.7, 0.6], settings, side_x=2, level=0.65)
    table = made(kutta2022.maxima, pd.concat([plain, corrected]), pairs=[1, 2])
    assert table["pairs"].tolist() == [1, 2, 2]
    assert table["promised"].tolist() == pytest.approx([0.95, 0.95**2, 0.9])
    assert table["covered"].tolist() == pytest.approx([2 / 3, 2 / 3, 2 / 3])
    assert table["divergence"].tolist() == [0.5, 0.65, 0.65]
    with pytest.raises(ConfigError, match="pairs has 3, the data have 2"):
        made(kutta2022.maxima, plain, pairs=[3])


def test_orders_have_quartiles_over_runs_and_minutes_are_sixtieths():
    rows = bounds_at("3", [0.1, 0.2, 0.5, 0.6, 0.9])
    (row,) = made(kutta2022.orders, rows, panels={"m": "(i)"}).to_dict("records")
    assert (row["low"], row["median"], row["high"]) == (0.2, 0.5, 0.6)
    assert (row["lambda"], row["runs"], row["above"]) == (3.0, 5, 0.4)  # one is the truth
    about = {"mechanism": "m", "epsilon": 1.0, "lambda": "2", "estimator": "e", "n": 9}
    times = {"run": [0, 1], "seconds": [60, 120], "sampling": [20, 40], "estimating": [40, 80]}
    times = pd.DataFrame(times)
    (row,) = made(kutta2022.minutes, times.assign(**about)).to_dict("records")
    assert (row["minutes"], row["sampling"], row["runs"]) == (1.5, 30, 2)
    (row,) = made(askin2022.seconds, times.assign(**about, fresh=0, pairs=7)).to_dict("records")
    assert (row["seconds"], row["estimating"], row["pairs"]) == (90, 60, 7)


def draws(n=300, seed=0):
    rng = np.random.default_rng(seed)
    parts = [
        pd.DataFrame({"side": side, "x": str(float(side)), "output": rng.laplace(side, 1, n)})
        for side in (0, 1)
    ]
    drawn = {"parameters": "{}", "epsilon": 1.0, "inputs": "i", "n": n, "run": 0}
    return pd.concat(parts).assign(mechanism="laplace", **drawn)


GRID = {"points": 201, "reach": 4.0}


def test_the_density_estimate_is_of_the_draws_shown():
    table = made(askin2022.density_estimate, draws(), **GRID)
    curve, rug = (table[table["kind"] == kind] for kind in ("curve", "draw"))
    assert rug["z"].tolist() == sorted(draws()[draws()["side"] == 0]["output"])
    later = made(askin2022.density_estimate, [draws(), draws(seed=1).assign(run=1)], **GRID)
    pd.testing.assert_frame_equal(later, table)  # of the first run
    assert np.trapezoid(curve["estimate"], curve["z"]) == pytest.approx(1, abs=0.05)
    assert curve["density"].max() == pytest.approx(0.5)
    both = made(askin2022.density_estimate, [draws(), draws().assign(epsilon=2.0)], **GRID)
    heights = both.groupby("epsilon")["density"].max()
    assert heights.to_dict() == pytest.approx({1.0: 0.5, 2.0: 1.0})  # each of its own law
    unknown = made(askin2022.density_estimate, draws().assign(mechanism="of nobody"), **GRID)
    assert unknown["density"].isna().all()


def test_the_empirical_loss_is_largest_at_the_output_in_the_table():
    options = {"region": [-1.0, 2.0], "points": 61, "floor": 1e-3}
    table = made(askin2022.empirical_loss, draws(5000), **options)
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
    table = made(lu2022.spectra, data, panels={"laplace": "L"}, claims=[0.0, 1.0])
    assert table["claim"].tolist() == [0.0, 1.0]
    assert table["low"].tolist() == pytest.approx([0.4, 0.0])
    assert table["error"].tolist() == pytest.approx([0.05, 0.05])
    for end, claims in ((0.5 - 1e-15, [0.5, 1.0]), (0.5 + 1e-15, [0.5, 1.0]), (0.6, [1.0])):
        options = {"claims": [end, 1.0], "between": True}  # where a sum is rounded
        assert made(lu2022.spectra, data, **options)["claim"].tolist() == claims
    with pytest.raises(ConfigError, match=r"claims has 0.7, which is not in the data"):
        made(lu2022.spectra, data, panels={"laplace": "L"}, claims=[0.7])
    with pytest.raises(ConfigError, match=r"panels has 'gauss', which is not in the data"):
        made(lu2022.spectra, data, panels={"gauss": "G"})


def test_verdicts_are_at_the_promised_epsilon():
    first = curve([0.5, 1.0], [0.5, 0.3], [0.5, 0.25])
    data = [first, curve([0.5, 1.0], [0.4, 0.05], [0.4, 0.0], "b")]
    table = made(lu2022.verdicts, data, panels={"laplace": "L", "b": "B"})
    assert table["refuted"].tolist() == [1.0, 0.0]
    assert table["excess"].tolist() == pytest.approx([0.2, 0.0])
    assert table["largest_error"].tolist() == pytest.approx([0.05, 0.05])
    with pytest.raises(ConfigError, match="must hold delta at the promised epsilon"):
        made(lu2022.verdicts, [curve([0.5], [0.5], [0.5])], panels={"laplace": "L"})


def test_bootstrapped_accuracies_stand_beside_errors_and_theory():
    runs = pd.concat([curve([0.5], [v], [0.2], run=run) for run, v in enumerate([0.1, 0.4])])
    (row,) = made(lu2022.bootstrapped, runs, beta=0.2).to_dict("records")
    found = row["alpha"], row["error"], row["bias"]
    assert found == pytest.approx(((0.1 + 0.1) / 2, 0.18, 0.05))  # of errors of .1 and .2
    assert row["theory"] == pytest.approx(2 * math.exp(0.5) * 25 * math.sqrt(math.log(20) / 200))
    drawn = '{"coin": "drawn"}'
    data = [curve([0.5], [v], [0.2], run=r, settings=drawn) for r, v in enumerate([0.1, 0.3])]
    data += [curve([0.4, 0.5], [0.0, v], [0, 0.2], run=r) for r, v in enumerate([0.15, 0.25])]
    (row,) = made(lu2022.coins, data).to_dict("records")
    assert row["variance_saved"] == pytest.approx(0.75)  # at the same claims


def test_the_classical_bound_is_that_of_the_noise():
    """1.25 exp(-(claim sigma)^2 / 2) from 1 down; Laplace noise has none."""
    claims = [0.1, 1.0]
    data = [curve(claims, [0.4, 0.2], [0.4, 0.2], mechanism) for mechanism in ("gauss", "laplace")]
    table = made(lu2022.classical, data, claims=claims)
    sigma = MECHANISMS.load("gaussian")(1.0).sigma
    bound = 1.25 * math.exp(-((1.0 * sigma) ** 2) / 2)
    assert bound < 1
    assert table["classical"].tolist() == pytest.approx([1, bound, NAN, NAN], nan_ok=True)


def test_accuracies_are_of_every_dimension_and_number():
    table = lu2022.accuracies(n=[100, 200], beta=0.1, claim=0.5, dimensions=[1, 2])
    assert table[["dimension", "n"]].to_numpy().tolist() == [
        [d, n] for d in (1, 2) for n in (100, 200)
    ]
    widths = [2, math.floor((1 + 2 / math.sqrt(2 - math.sqrt(3))) ** 2 - 1)]
    wanted = [
        2 * math.exp(0.5) * (12 * w + 1) * math.sqrt(math.log(40) / n)
        for w in widths
        for n in (100, 200)
    ]
    assert table["alpha"].tolist() == pytest.approx(wanted)
    with pytest.raises(ArgumentError, match="must hold 2 entries each"):
        lu2022.listing(columns=["a", "b"], rows=[["x", "y"], ["x"]])


def test_random_rows_stand_beside_what_is_true_of_their_number():
    data = []
    for rows, found in ((4, [0.3, 0.5]), (2, [0.6, 0.8])):
        sides = {"x": f"[{rows}, 0]", "x_prime": f"[{rows}, 1]"}
        for run, value in enumerate(found):
            data.append(curve([0.5], [value], [0.6], run=run).assign(**sides))
    table = made(lu2022.random_rows, data, claim=0.5)
    assert table["rows"].tolist() == [2, 4]
    assert table["delta"].tolist() == pytest.approx([0.7, 0.4])
    assert table["error"].tolist() == pytest.approx([0.1, -0.2])


def test_curves_are_inverted_with_their_intervals():
    data = [curve([0.0, 1.0, 2.0], [0.5, 0.3, 0.1], [0.6, 0.4, 0.2])]
    (row,) = made(lu2022.epsilons, data, panels={"laplace": "L"}, deltas=[0.35]).to_dict("records")
    assert row["at_delta"] == pytest.approx(0.75)
    assert (row["low"], row["high"]) == pytest.approx((0.25, 1.25))
    assert row["truth"] == pytest.approx(1.25)


def test_spectra_of_several_runs_and_of_the_larger_direction():
    data = [curve([0.0], [value], [0.5], run=run) for run, value in enumerate([0.4, 0.5, 0.6])]
    (row,) = made(lu2022.spectra, data, panels={"laplace i": "L"}).to_dict("records")
    assert row["delta"] == pytest.approx(0.5)
    assert row["high"] - row["low"] == pytest.approx(2 * 4.30265 * 0.1 / math.sqrt(3), rel=1e-5)
    reverse = {"estimate_reverse": 0.6, "low_reverse": 0.58, "high_reverse": 0.59}
    frame = curve([0.0], [0.5], [0.45]).assign(**reverse, truth_reverse=0.4)
    (row,) = made(lu2022.spectra, [frame], panels={"laplace": "L"}, larger=True).to_dict("records")
    assert (row["delta"], row["low"], row["high"]) == pytest.approx((0.6, 0.58, 0.6))
    assert row["truth"] == pytest.approx(0.45)
    assert row["above"] == 1.0


# --- methods compared with each other -------------------------------------------------------------

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
    table = made(plain.compared, [runs(**ROWS)]).set_index("estimator")
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
    shown = labels(figures.compared(made(plain.compared, [runs(**ROWS)])))
    assert shown == {
        *("estimate", "lower bound", "lower bound, too few draws in some runs", "interval"),
        *("below the largest bound", "below a bound in over 5 % of runs"),
    }
    alone = runs(truth=1.0, estimate=("none", level(0.9)))
    assert labels(figures.compared(made(plain.compared, [alone]))) == {"estimate", "exact"}


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
    (row,) = made(plain.seconds, [pd.DataFrame(rows)]).to_dict("records")
    assert (row["sampling"], row["estimating"], row["seconds"]) == (1, 2, 3)

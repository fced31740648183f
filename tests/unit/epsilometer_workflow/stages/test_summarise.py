"""Summaries of estimates over runs, beside exact values of each direction and of all pairs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.files.identities import EstimatesToSummarise, InputsOfPairs
from epsilometer_workflow.reports.grouping import IDENTITY
from epsilometer_workflow.stages.summarise import summarise, with_truth
from tests.unit.stages import estimates_by


def estimates(values, **columns):
    """Return estimates of runs, those of nan failed."""
    about = {"mechanism": "tl", "epsilon": 1.0, "inputs": "ends", "lambda": "inf", "estimator": "h"}
    about |= {"cells": 4, "claimed_lipschitz": np.nan, "n": 100, "fresh": 0, "claim": np.nan}
    runs = {"run": range(len(values)), "estimate": values, "failed": np.isnan(values)}
    rows = pd.DataFrame(runs | {"estimate_reverse": values})
    return rows.assign(**about, side_x=0, side_x_prime=1).assign(**columns)


def with_inputs(values, **columns):
    """Return estimates beside exact values."""
    known = {"parameters": "{}", "x": "0.0", "x_prime": "1.0", "pair": "", "level": 1.0}
    return estimates(values, **known | {"truth": 1.0, "truth_reverse": 1.1} | columns)


def member_of(name, sides, names=None, pairing="consecutive", order="inf", symmetric=False):
    """Return an experiment's estimates of a registered mechanism at epsilon = 2."""
    inputs = InputsOfPairs(id="some", sides=sides, pairing=pairing, names=names)
    about = {"mechanism_registered": MECHANISMS[name], "epsilon": 2.0, "order": order}
    identity = estimates_by("histogram", [], **about, parameters={"tau": 1e-5}, inputs=inputs)
    return EstimatesToSummarise(
        law=EXACT[name], identity=identity, precision=None, symmetric=symmetric, guarantee="none"
    )


def test_a_summary_counts_failures_as_misses_and_leaves_them_out_of_means():
    frame = with_inputs([1.2, 0.9, np.nan, 1.6], estimate_reverse=[1.0, 1.0, np.nan, 1.0])
    (row,) = summarise(frame, gamma=0.5).to_dict("records")
    assert (row["runs"], row["failures"], row["mean_reverse"]) == (4, 1, 1.0)
    assert row["mean"] == pytest.approx(3.7 / 3)
    assert row["bias"] == pytest.approx(3.7 / 3 - 1)
    assert row["mse"] == pytest.approx((0.04 + 0.01 + 0.36) / 3)
    assert row["share_within"] == 0.5  # the failure and the 1.6 miss
    low, high = stats.binomtest(2, 4).proportion_ci(method="exact")
    assert (row["share_low"], row["share_high"]) == pytest.approx((low, high))


AXES = {*IDENTITY, "claim", "pair", "cells"} - {"gamma", "settings"}  # which the estimator tells


@pytest.mark.parametrize("axis", sorted(AXES))
def test_estimates_that_differ_in_an_axis_are_summarised_apart(axis):
    frame = with_inputs([1.2, 0.9])
    other = 7 if pd.api.types.is_numeric_dtype(frame[axis]) else "another"
    both = pd.concat([frame, with_inputs([3.0, 5.0], **{axis: other})])
    assert summarise(both, gamma=0.5)["mean"].tolist() == pytest.approx([1.05, 4.0])


def test_the_level_of_each_claim_is_the_largest_of_all_pairs():
    """Laplace noise at epsilon = 2, at distances of 1/2 and 1: delta is 1 - e^((e - 2 d)/2)."""
    claims = np.array([0.0, 0.4])
    frame = pd.concat([estimates([0.3], claim=claim) for claim in claims])
    joined = with_truth(frame, member_of("laplace", [0.0, 0.5, 0.0, 1.0]))
    for name, distance in (("truth", 0.5), ("truth_reverse", 0.5), ("level", 1.0)):
        exact = 1 - np.exp((claims - 2 * distance) / 2)
        assert joined[name].tolist() == pytest.approx(exact.tolist())


def test_the_level_is_that_of_all_pairs_whichever_was_selected():
    """The data-centric level of 0 among the neighbours 1/2 and 1, where 1/2 was selected."""
    member = member_of("laplace", [0.0, 0.5, 0.0, 1.0], ["near", "far"], symmetric=True)
    joined = with_truth(estimates([0.9]), member)
    assert joined["pair"].item() == "near"
    assert joined.loc[0, ["truth", "level"]].tolist() == pytest.approx([1.0, 2.0])


TRUNCATED = "truncated_laplace", [0.0, 0.5]


def exact_values(**how):
    """Return the exact values of both directions, and their level."""
    row = with_truth(estimates([1.0]), member_of(*TRUNCATED, pairing="all", **how)).iloc[0]
    return row["truth"], row["truth_reverse"], row["level"]


def test_truth_comes_from_the_exact_law_of_each_direction():
    truth, reverse, level = exact_values()
    assert truth == pytest.approx(1.0 + np.log(2 * (1 - np.exp(-1)) / (1 - np.exp(-2))))
    assert truth != reverse
    assert level == max(truth, reverse)
    assert exact_values(symmetric=True) == (level, level, level)
    law = EXACT.load("truncated_laplace")(MECHANISMS.load("truncated_laplace")(2.0))
    assert exact_values(order="2")[:2] == (law.renyi(2.0, 0.0, 0.5), law.renyi(2.0, 0.5, 0.0))


def test_without_an_exact_law_truth_is_missing():
    member = replace(member_of(*TRUNCATED), law=None)
    joined = with_truth(pd.concat([estimates([1.0], claim=claim) for claim in (0, 1)]), member)
    assert joined["truth"].isna().tolist() == [True, True]
    assert joined.loc[0, ["x_prime", "parameters"]].tolist() == ["0.5", "{}"]

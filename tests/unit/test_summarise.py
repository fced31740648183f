"""Summaries by hand, beside the exact values."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.stages.summarise import summarise, with_truth


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
    identity = {"mechanism_registered": MECHANISMS[name], "mechanism_parameters": {}}
    identity |= {"parameters": {"tau": 1e-5}, "epsilon": 2.0, "lambda": "inf", "inputs": inputs}
    return {"law": EXACT[name], "identity": identity, "symmetric": False, "guarantee": "none"}


def test_summary_by_hand():
    frame = with_inputs([1.2, 0.9, np.nan, 1.6], [1.0, 1.0, np.nan, 1.0])
    (row,) = summarise(frame.assign(truth=1.0, truth_reverse=1.1), gamma=0.5).to_dict("records")
    assert row["runs"] == 4
    assert row["failures"] == 1
    assert row["mean"] == pytest.approx(3.7 / 3)
    assert row["bias"] == pytest.approx(3.7 / 3 - 1)
    assert row["mse"] == pytest.approx((0.04 + 0.01 + 0.36) / 3)
    assert row["share_within"] == 0.5  # the failure and the 1.6 miss
    assert row["mean_reverse"] == 1.0
    low, high = stats.binomtest(2, 4).proportion_ci(method="exact")
    assert (row["share_low"], row["share_high"]) == pytest.approx((low, high))


def test_truth_comes_from_the_exact_law_of_each_direction():
    member = member_of("truncated_laplace", values=[0.0, 0.5], pairing="all", names=None)
    joined = with_truth(estimates([1.0]), member)
    assert joined["truth"].item() != joined["truth_reverse"].item()
    assert joined["truth"].item() == pytest.approx(
        1.0 + np.log(2 * (1 - np.exp(-1)) / (1 - np.exp(-2)))
    )
    assert joined["x_prime"].item() == "0.5"
    assert joined["parameters"].item() == "{}"
    renyi = member | {"identity": member["identity"] | {"lambda": "2"}}
    law = EXACT.load("truncated_laplace")(MECHANISMS.load("truncated_laplace")(2.0))
    assert with_truth(estimates([1.0]), renyi)["truth"].item() == law.renyi(2.0, 0.0, 0.5)
    both = with_truth(estimates([1.0]), member | {"symmetric": True})
    larger = max(joined["truth"].item(), joined["truth_reverse"].item())
    assert both["truth"].item() == both["truth_reverse"].item() == larger
    assert both["level"].item() == joined["level"].item() == larger
    unknown = with_truth(estimates([1.0]), member | {"law": None})
    assert np.isnan(unknown["truth"].item())


def test_the_level_is_that_of_all_pairs_whichever_was_selected():
    """The data-centric level of 0 among the neighbours 1/2 and 1, where 1/2 was selected."""
    inputs = {"values": [0.0, 0.5, 0.0, 1.0], "pairing": "consecutive", "names": ["near", "far"]}
    member = member_of("laplace", **inputs) | {"symmetric": True}
    joined = with_truth(estimates([0.9]), member)
    assert joined["pair"].item() == "near"
    assert joined["truth"].item() == pytest.approx(1.0)
    assert joined["level"].item() == pytest.approx(2.0)

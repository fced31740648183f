"""Tables of lu2022: curves of delta and what is read from them, of rows made by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from epsilometer.errors import ArgumentError, ConfigError
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.reports.lu2022 import tables
from tests.unit.epsilometer_workflow.reports.rows import assert_columns, made


def curve(claims, estimates, truths, **columns):
    """Return one run of a curve, with an interval of 0.1 to both sides."""
    base = {"mechanism": "laplace", "epsilon": 1.0, "inputs": "i", "estimator": "s", "n": 100}
    frame = pd.DataFrame({"claim": claims, "estimate": estimates, "truth": truths, "run": 0})
    frame = frame.assign(**base, settings="{}", x="[100, 0]", level=frame["truth"] + 0.1)
    frame["low"], frame["high"] = (frame["estimate"] - 0.1).clip(lower=0), frame["estimate"] + 0.1
    for name in ("estimate", "truth", "low", "high"):
        frame[f"{name}_reverse"] = frame[name]
    return frame.assign(**columns)


def runs_at(claim, estimates, truth, **columns):
    """Return a run for each estimate at one claim."""
    runs = [curve([claim], [v], [truth], run=run, **columns) for run, v in enumerate(estimates)]
    return pd.concat(runs)


def test_spectra_of_one_run_keep_its_interval():
    data = curve([0.0, 0.5, 1.0], [0.5, 0.3, 0.05], [0.45, 0.35, 0.0])
    table = made(tables.spectra, data, claims=[0.0, 1.0])
    assert_columns(table, claim=[0.0, 1.0], low=[0.4, 0.0], error=[0.05, 0.05])
    rounded = [0.5 + 1e-15, 1.0 - 1e-15]
    for claims, found in ((rounded, [0.5, 1.0]), ([0.4, 0.6], [0.5]), ([0.6, 1.0], [1.0])):
        between = made(tables.spectra, data, claims=claims, between=True)
        assert_columns(between, claim=found)
    with pytest.raises(ConfigError, match=r"claims has 0.7, which is not in the data"):
        made(tables.spectra, data, claims=[0.7])


@pytest.mark.parametrize(
    ("estimates", "low", "high"),
    [([0.4, 0.6], 0, 0.5 + 0.1 * 12.706205), ([0.4, 0.5, 0.6], 0.251586, 0.748414)],
)
def test_spectra_of_several_runs_have_students_interval(estimates, low, high):
    table = made(tables.spectra, runs_at(0.0, estimates, 0.5))
    assert_columns(table, delta=[0.5], low=[low], high=[high])


def test_spectra_of_the_larger_direction_have_its_ends_too():
    reverse = {"estimate_reverse": 0.6, "low_reverse": 0.58, "high_reverse": 0.59}
    data = curve([0.0], [0.5], [0.45], **reverse, truth_reverse=0.4)
    table = made(tables.spectra, data, larger=True)
    assert_columns(table, delta=[0.6], low=[0.58], high=[0.6], truth=[0.45], above=[1.0])


def test_an_estimate_of_the_largest_of_all_pairs_is_compared_with_the_largest():
    largest = curve([0.0], [0.5], [0.45], settings='{"largest": true}')
    assert_columns(made(tables.spectra, largest), truth=[0.55])
    with pytest.raises(ConfigError, match="must hold one pair a curve, or the largest of all"):
        made(tables.spectra, curve([0.0], [0.5], [0.45], x="a"), curve([0.0], [0.5], [0.45], x="b"))


def test_verdicts_are_at_the_promised_epsilon():
    first = curve([0.5, 1.0], [0.5, 0.3], [0.5, 0.25])
    second = curve([0.5, 1.0], [0.4, 0.05], [0.4, 0.0], mechanism="b")
    table = made(tables.verdicts, first, second)
    assert_columns(table, refuted=[1, 0], excess=[0.2, 0], largest_error=[0.05, 0.05])
    with pytest.raises(ConfigError, match="must hold delta at the promised epsilon"):
        made(tables.verdicts, curve([0.5], [0.5], [0.5]))


def test_bootstrapped_accuracies_stand_beside_errors_and_theory():
    theory = 2 * math.exp(0.5) * 25 * math.sqrt(math.log(20) / 200)
    table = made(tables.bootstrapped, runs_at(0.5, [0.1, 0.4], 0.2), beta=0.2)
    of_errors = {"error": [0.18], "bias": [0.05]}  # of .1 and .2
    assert_columns(table, alpha=[0.1], theory=[theory], **of_errors)


def test_an_expected_coin_saves_variance_at_the_same_claims():
    drawn = runs_at(0.5, [0.1, 0.3], 0.2, settings='{"coin": "drawn"}')
    expected = [curve([0.4, 0.5], [0, v], [0, 0.2], run=r) for r, v in enumerate([0.15, 0.25])]
    table = made(tables.coins, drawn, *expected)
    assert_columns(table, claim=[0.5], variance_saved=[0.75])
    for data in ([drawn], [drawn, drawn.assign(estimator="t"), *expected]):
        with pytest.raises(ConfigError, match="must hold one estimator a coin"):
            made(tables.coins, *data)


def test_the_classical_bound_is_that_of_the_noise():
    """1.25 exp(-(claim sigma)^2 / 2) from 1 down; Laplace noise has none."""
    claims = [0.1, 1.0]
    names = ("gaussian", "laplace")
    data = [curve(claims, [0.4, 0.2], [0.4, 0.2], mechanism=name) for name in names]
    bound = 1.25 * math.exp(-(MECHANISMS.load("gaussian")(1.0).sigma ** 2) / 2)
    assert bound < 1
    table = made(tables.classical, *data, claims=claims)
    assert_columns(table, classical=[1, bound, math.nan, math.nan])


def test_accuracies_are_of_every_dimension_and_number():
    table = tables.accuracies(n=[100, 200], beta=0.1, claim=0.5, dimensions=[1, 2])
    cones = math.floor((1 + 2 / math.sqrt(2 - math.sqrt(3))) ** 2 - 1)
    widths, n = np.array([2, 2, cones, cones]), np.array([100, 200, 100, 200])
    alpha = 2 * math.exp(0.5) * (12 * widths + 1) * np.sqrt(math.log(40) / n)
    assert_columns(table, dimension=[1, 1, 2, 2], n=n, alpha=alpha)


def test_every_row_of_a_listing_is_complete():
    with pytest.raises(ArgumentError, match="must hold 2 entries each"):
        tables.listing(columns=["a", "b"], rows=[["x", "y"], ["x"]])


def test_random_rows_stand_beside_what_is_true_of_their_number():
    four = runs_at(0.5, [0.3, 0.5], 0.6, x="[4, 0]")
    two = runs_at(0.5, [0.6, 0.8], 0.6, x="[2, 0]")
    table = made(tables.random_rows, four, two, claim=0.5)
    assert_columns(table, rows=[2, 4], delta=[0.7, 0.4], error=[0.1, -0.2])


def test_curves_are_inverted_with_their_intervals():
    data = curve([0.0, 1.0, 2.0], [0.5, 0.3, 0.1], [0.6, 0.4, 0.2])
    table = made(tables.epsilons, data, deltas=[0.35])
    assert_columns(table, at_delta=[0.75], low=[0.25], high=[1.25], truth=[1.25])

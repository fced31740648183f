"""Algorithms 1 to 4 on given counts: closed forms, properties, failures."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import Claims
from epsilometer.estimators.histogram import HistogramEstimator
from tests.contract.examples import histogram_estimate

paired = st.integers(2, 8).flatmap(
    lambda k: st.tuples(*[arrays(np.int64, (k,), elements=st.integers(1, 10**6))] * 2)
)
orders = st.sampled_from([1.01, 1.5, 2.0, 7.0, 64.0, math.inf])


def test_pure_level_by_hand():
    answer = histogram_estimate(np.array([6, 3, 1]), np.array([2, 3, 5]))
    assert answer.forward == pytest.approx(math.log(3))
    assert answer.reverse == pytest.approx(math.log(5))
    assert answer.both == pytest.approx(math.log(5))
    assert not answer.failed


@pytest.mark.parametrize("order", [1.5, 2.0, 3.0])
def test_equation_17_by_hand(order):
    n, m = np.array([60, 30, 10]), np.array([20, 30, 50])
    by_hand = math.log(((n / m) ** order * m / 100).sum()) / (order - 1)
    assert histogram_estimate(n, m, order=order).forward == pytest.approx(by_hand)


@given(paired, orders)
def test_properties(pair, order):
    n, m = pair
    answer = histogram_estimate(n, m, order=order)
    swapped = histogram_estimate(m, n, order=order)
    assert answer.forward >= -1e-9  # a divergence
    assert answer.forward == swapped.reverse  # symmetric under swapping the sides
    shuffle = np.random.default_rng(0).permutation(n.size)
    relabelled = histogram_estimate(n[shuffle], m[shuffle], order=order)
    assert relabelled.forward == pytest.approx(answer.forward, abs=1e-9)
    assert answer.forward <= histogram_estimate(n, m).forward + 1e-9  # monotone in the order


def test_an_empty_cell_is_a_failure_not_an_exception():
    for n, m in [([5, 0], [2, 3]), ([5, 1], [0, 6]), ([5, 0], [0, 5]), ([5, 0], [5, 0])]:
        answer = histogram_estimate(np.array(n), np.array(m))
        assert answer.failed
        assert math.isnan(answer.forward)
        assert math.isnan(answer.reverse)


def test_empty_cells_can_be_skipped():
    answer = histogram_estimate(np.array([5, 5, 0]), np.array([2, 4, 4]), empty_cells="skip")
    assert answer.forward == pytest.approx(math.log(2.5))
    disjoint = histogram_estimate(np.array([5, 0]), np.array([0, 5]), empty_cells="skip")
    assert disjoint.failed
    zeros = histogram_estimate(np.array([5, 0]), np.array([5, 0]), empty_cells="skip")
    assert zeros.forward == 0


def test_shapes_must_agree():
    with pytest.raises(ArgumentError, match="x_prime has shape"):
        histogram_estimate(np.array([1, 2]), np.array([1, 2, 3]))


def test_cells_follow_the_claims():
    estimator = HistogramEstimator(gamma=0.5, unguaranteed_cells=200)
    assert estimator.cells(Claims(outcomes=7), math.inf) == 7
    assert estimator.cells(Claims(support=(0, 1), lipschitz=1.581977), math.inf) == 91
    assert estimator.cells(Claims(support=(0, 1), lipschitz=4.6), math.inf) == 200
    with pytest.raises(ArgumentError, match=r"lipschitz C = 4.6 must be below 2/W\^2"):
        HistogramEstimator(gamma=0.5).cells(Claims(support=(0, 1), lipschitz=4.6), math.inf)
    for nothing in (Claims(support=(0, 1)), Claims()):
        with pytest.raises(ArgumentError, match="lipschitz must be claimed"):
            estimator.cells(nothing, math.inf)
    with pytest.raises(ArgumentError, match="smallest_probability must be claimed"):
        estimator.planned_samples(Claims(outcomes=7), math.inf, 0.8)


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (HistogramEstimator, {"gamma": 0.0}, "gamma must be positive"),
        (HistogramEstimator, {"gamma": 1.0, "unguaranteed_cells": 0}, "unguaranteed_cells must be"),
        (HistogramEstimator, {"gamma": 1.0, "unguaranteed_cells": 2.5}, "must be an integer"),
        (HistogramEstimator, {"gamma": 1.0, "empty_cells": "no"}, "empty_cells must be fail or"),
        (Claims, {"support": (0, 1), "outcomes": 2}, "not name both a support and a number"),
        (Claims, {"support": (1, 0)}, "lower < upper"),
        (Claims, {"outcomes": 1}, "outcomes must be at least 2"),
        (Claims, {"support": (0, 1), "lipschitz": -1.0}, "lipschitz must be positive"),
        (Claims, {"outcomes": 2, "smallest_probability": 1.5}, "strictly between 0 and 1"),
    ],
)
def test_bad_hyperparameters_and_claims_are_named(kind, arguments, message):
    with pytest.raises(ArgumentError, match=message):
        kind(**arguments)

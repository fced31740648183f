"""Levels by histograms (gorla2022, Algorithms 1 to 4), on given counts."""

import math

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import Claims
from epsilometer.estimators.histogram import HistogramEstimator
from tests.contract.examples import histogram_estimate

UNIT = Claims(support=(0, 1), lipschitz=1.0)


def test_the_pure_level_by_hand():
    answer = histogram_estimate(np.array([6, 3, 1]), np.array([4, 6, 10]))
    assert answer.forward == pytest.approx(math.log(3))
    assert answer.reverse == answer.both == pytest.approx(math.log(5))
    assert not answer.failed


@pytest.mark.parametrize("order", [1.01, 3.0, 400.0])
def test_equation_17_by_hand(order):
    """Totals of the sides may differ, and powers of shares may be beyond doubles."""
    n, m = np.array([60, 30, 10]), np.array([20, 30, 50])
    by_hand = math.log(((n / m) ** order * m / 100).sum()) / (order - 1)
    assert histogram_estimate(n, 7 * m, order=order).forward == pytest.approx(by_hand)
    assert histogram_estimate(7 * m, n, order=order).reverse == pytest.approx(by_hand)


@pytest.mark.parametrize("sides", [([5, 0], [2, 3]), ([5, 1], [0, 6]), ([5, 0], [5, 0])])
def test_an_empty_cell_is_a_failure_not_an_exception(sides):
    answer = histogram_estimate(*map(np.array, sides))
    assert answer.failed
    assert math.isnan(answer.forward)
    assert math.isnan(answer.reverse)


def test_empty_cells_can_be_skipped():
    def skipping(n, m):
        return histogram_estimate(np.array(n), np.array(m), empty_cells="skip")

    answer = skipping([5, 5, 0], [2, 4, 4])
    assert answer.forward == pytest.approx(math.log(2.5))
    assert answer.reverse == 0  # ratios of the cells that are left are below 1
    assert skipping([2, 4, 4], [5, 5, 0]).forward == 0
    assert skipping([5, 0], [0, 5]).failed  # no cell is left
    assert skipping([5, 0], [5, 0]).forward == 0


@pytest.mark.parametrize("sides", [([1, 2], [1, 2, 3]), (1, 1), ([], [])])
def test_shapes_must_agree_and_have_cells(sides):
    with pytest.raises(ArgumentError, match="x_prime has shape"):
        histogram_estimate(*map(np.array, sides))


@pytest.mark.parametrize(
    "claims", [Claims((0, 2), 0.25), Claims(outcomes=3, smallest_probability=0.2)]
)
@pytest.mark.parametrize("order", [2.0, math.inf])
def test_the_confidence_is_reached_at_the_planned_samples(claims, order):
    estimator = HistogramEstimator(gamma=1.0)
    n = estimator.planned_samples(claims, order, 0.8)
    assert estimator.confidence(n, claims, order) >= 0.8
    assert estimator.confidence(n - 1, claims, order) < 0.8
    assert estimator.confidence(1, claims, order) == 0


def test_the_published_plan_is_without_the_union_over_cells():
    claims = Claims(outcomes=3, smallest_probability=0.2)
    plans = [
        HistogramEstimator(1.0).planned_samples(claims, math.inf, 0.8, as_published=published)
        for published in (False, True)
    ]
    assert plans[0] > plans[1]


def test_cells_are_outcomes_or_those_of_6_and_without_a_guarantee_those_given():
    estimator = HistogramEstimator(gamma=0.5, unguaranteed_cells=200)
    assert estimator.cells(Claims(outcomes=7), math.inf) == 7
    assert estimator.cells(Claims(support=(3, 4), lipschitz=1.581977), math.inf) == 91
    steep = Claims(support=(0, 1), lipschitz=4.6)
    assert estimator.cells(steep, math.inf) == 200
    with pytest.raises(ArgumentError, match=r"lipschitz C = 4.6 must be below 2/W\^2"):
        HistogramEstimator(gamma=0.5).cells(steep, math.inf)


def test_more_than_ten_million_cells_are_refused():
    assert HistogramEstimator(gamma=1.2e-6).cells(UNIT, math.inf) == 10**7
    with pytest.raises(ArgumentError, match=r"gamma asks for 1e.07 cells, more than 1e.07"):
        HistogramEstimator(gamma=1.1999e-6).cells(UNIT, math.inf)


def test_missing_claims_are_named():
    estimator = HistogramEstimator(gamma=0.5)
    with pytest.raises(ArgumentError, match="lipschitz must be claimed"):
        estimator.cells(Claims(support=(0, 1)), math.inf)
    with pytest.raises(ArgumentError, match="smallest_probability must be claimed"):
        estimator.planned_samples(Claims(outcomes=7), math.inf, 0.8)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": 0.0}, "gamma must be positive"),
        ({"unguaranteed_cells": 0}, "unguaranteed_cells must be"),
        ({"unguaranteed_cells": 2.5}, "must be an integer"),
        ({"empty_cells": "no"}, "empty_cells must be fail or"),
    ],
)
def test_bad_hyperparameters_are_named(parameters, message):
    with pytest.raises(ArgumentError, match=message):
        HistogramEstimator(**({"gamma": 1.0} | parameters))

"""Theorems 1 and 5: within its budget every estimator errs as often as in the theorem."""

import math

import numpy as np
import pytest

from epsilometer.exact.base import divergence
from epsilometer.exact.finite import ExactBernoulliPair
from epsilometer.mechanisms.finite import BernoulliPair
from tests.contract.examples import histogram_estimate


@pytest.mark.parametrize("order", [1.5, 2.0, 8.0, math.inf])
@pytest.mark.parametrize("budget", [10, 1000, 10**6, 10**9])
@pytest.mark.parametrize("delta", [0.1, 0.8, 0.99])
def test_the_pair_defeats_the_budget(order, budget, delta):
    gamma = 0.7
    pair = BernoulliPair.against(0.0, gamma=gamma, budget=budget, delta=delta, order=order)
    law = ExactBernoulliPair(pair)
    assert divergence(law, order, 0, 1) >= pair.epsilon * (1 - 1e-9) > gamma
    # all of the budget may go to the likelier coin; zeros only is then still likely enough
    zeros_only = (1 - max(pair.chances)) ** budget
    assert zeros_only > 1 - delta


@pytest.mark.parametrize("order", [2.0, math.inf])
def test_simulated_estimators_are_wrong_more_often_than_delta_allows(order):
    gamma, delta, budget, runs = 0.5, 0.8, 2000, 500
    pair = BernoulliPair.against(0.0, gamma=gamma, budget=budget, delta=delta, order=order)
    truth = divergence(ExactBernoulliPair(pair), order, 0, 1)
    rng = np.random.default_rng(3)
    ones = [rng.binomial(budget // 2, chance, runs) for chance in pair.chances]
    sides = [np.stack([budget // 2 - k, k], axis=-1) for k in ones]
    for empty_cells in ("fail", "skip"):
        answer = histogram_estimate(*sides, order=order, empty_cells=empty_cells)
        wrong = answer.failed | (np.abs(answer.forward - truth) > gamma)
        assert wrong.mean() > 1 - delta

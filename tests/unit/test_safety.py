"""Theorem 3: the event holds as often as promised, and fails where the claim is false."""

import math

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.estimators import planner
from epsilometer.estimators.base import Claims
from epsilometer.estimators.safety import SafetyCheck
from epsilometer.exact.truncated import ExactTruncatedLaplace
from epsilometer.mechanisms.truncated import TruncatedLaplace


def share_passing(epsilon: float, tested: float, runs: int = 400) -> float:
    law = ExactTruncatedLaplace(TruncatedLaplace(epsilon))
    claims = Claims(support=(0.0, 1.0), lipschitz=law.lipschitz_output)
    check = SafetyCheck(gamma=2.0, lipschitz=tested, cells_given=6)
    slack = planner.safety_slack(lipschitz=tested, cells=6)
    n = planner.safety_sample_size(slack=slack, cells=6, probability=0.9)
    rng = np.random.default_rng(7)
    edges = np.linspace(0, 1, 7)
    sides = [rng.multinomial(n, np.diff(law.cdf(edges, x)), runs) for x in (0.0, 1.0)]
    return float(check.estimate(*sides, claims, math.inf).forward.mean())


def test_a_true_claim_passes_at_least_as_often_as_promised():
    for epsilon in (0.3, 0.7, 1.0):
        c = ExactTruncatedLaplace(TruncatedLaplace(epsilon)).lipschitz_output
        assert share_passing(epsilon, tested=c) >= 0.9


def test_a_false_claim_is_caught():
    assert share_passing(2.0, tested=1.0) < 0.05  # actual C = 4.63


def test_the_event_by_hand():
    even = np.array([10, 10, 10, 10])
    step = np.array([10, 10, 16, 4])
    check = SafetyCheck(gamma=1.0, lipschitz=1.6)  # w = 1/4: allowed 2 C w^2 = 0.2
    claims = Claims(support=(0.0, 1.0))
    answer = check.estimate(np.array([even, step]), np.array([even, even]), claims, math.inf)
    assert answer.forward.tolist() == [1.0, 0.0]
    assert not answer.failed.any()


def test_plan_takes_the_larger_of_the_two_requirements():
    claims = Claims(support=(0.0, 1.0), lipschitz=1.0)
    check = SafetyCheck(gamma=2.0)
    assert check.cells(claims, math.inf) == 6
    assert check.planned_samples(claims, math.inf, 0.8) == 96015
    with pytest.raises(ArgumentError, match="lipschitz must be claimed or given"):
        check.cells(Claims(support=(0.0, 1.0)), math.inf)
    with pytest.raises(ArgumentError, match="support must be claimed"):
        SafetyCheck(gamma=2.0, lipschitz=1.0).cells(Claims(outcomes=3), math.inf)

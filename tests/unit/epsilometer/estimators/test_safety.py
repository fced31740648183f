"""The safety check on a claimed Lipschitz constant (Theorem 3)."""

import math

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.estimators import planner
from epsilometer.estimators.base import Claims
from epsilometer.estimators.safety import SafetyCheck
from epsilometer.exact.truncated import ExactTruncatedLaplace
from epsilometer.mechanisms.truncated import TruncatedLaplace

UNIT = Claims(support=(0.0, 1.0), lipschitz=1.0)


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_a_true_claim_passes_at_least_as_often_as_promised(epsilon):
    law = ExactTruncatedLaplace(TruncatedLaplace(epsilon))
    claims = Claims(support=(0.0, 1.0), lipschitz=law.lipschitz_output)
    slack = planner.safety_slack(lipschitz=law.lipschitz_output, cells=6)
    n = planner.safety_sample_size(slack=slack, cells=6, probability=0.9)
    rng = np.random.default_rng(7)
    shares = [np.diff(law.cdf(np.linspace(0, 1, 7), x)) for x in (0.0, 1.0)]
    sides = [rng.multinomial(n, share, 400) for share in shares]
    answers = SafetyCheck(gamma=2.0).estimate(*sides, claims, math.inf).forward
    assert answers.mean() >= 0.9


def test_the_event_by_hand():
    """On [1, 3] in four cells, C = .5: steps of 2 C w^2 = .25 are allowed, on either side."""
    shapes = np.array([[2, 2, 2, 2], [3, 1, 2, 2], [4, 1, 1, 2]])  # steps of 0, .25 and .375
    even = shapes[[0, 0, 0]]
    check = SafetyCheck(gamma=1.0, lipschitz=0.5)
    for sides in ((shapes, even), (even, shapes)):
        answer = check.estimate(*sides, Claims(support=(1.0, 3.0)), math.inf)
        assert answer.forward.tolist() == answer.reverse.tolist() == [1.0, 1.0, 0.0]
        assert not answer.failed.any()


def test_the_plan_takes_the_larger_of_the_two_requirements():
    check = SafetyCheck(gamma=2.0, probability=0.9)
    slack = planner.safety_slack(lipschitz=1.0, cells=6)
    of_the_event = planner.safety_sample_size(slack=slack, cells=6, probability=0.9)
    goal = {"gamma": 2.0, "lipschitz": 1.0, "delta": 0.8}
    assert check.planned_samples(UNIT, math.inf, 0.8) == of_the_event
    assert of_the_event > planner.sample_size(**goal)
    two = SafetyCheck(gamma=2.0, cells_given=2, probability=0.01)
    for published in (False, True):
        planned = two.planned_samples(UNIT, math.inf, 0.8, as_published=published)
        assert planned == planner.sample_size(**goal, union=not published)


def test_cells_are_those_of_6_for_the_constant_under_test():
    assert SafetyCheck(gamma=2.0).cells(UNIT, math.inf) == 6
    assert SafetyCheck(gamma=6.0).cells(UNIT, math.inf) == 2
    assert SafetyCheck(gamma=2.0, cells_given=9).cells(UNIT, math.inf) == 9
    with pytest.raises(ArgumentError, match="asks for one cell"):
        SafetyCheck(gamma=12.0).cells(UNIT, math.inf)
    with pytest.raises(ArgumentError, match="lipschitz must be claimed or given"):
        SafetyCheck(gamma=2.0).cells(Claims(support=(0.0, 1.0)), math.inf)
    with pytest.raises(ArgumentError, match="support must be claimed"):
        SafetyCheck(gamma=2.0, lipschitz=1.0).cells(Claims(outcomes=3), math.inf)

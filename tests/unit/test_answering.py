"""One function answers for every estimator: of which pairs and directions, from which draws."""

import math

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.estimators.answering import answers
from epsilometer.estimators.base import Claims
from epsilometer.estimators.histogram import HistogramEstimator
from epsilometer.estimators.local_loss import LocalLoss, MaximumPrivacyLoss
from epsilometer.estimators.renyi_bound import RenyiBound

AT = (0.0, 0.1, 0.0, 1.0)


@pytest.fixture
def sides():
    rng = np.random.default_rng(5)
    return [rng.laplace(at, 1, 4000) for at in AT]


def test_a_histogram_that_fails_is_no_level_and_others_answer():
    sides = [np.array(side, np.int32) for side in ([0, 0, 1], [0, 1, 1], [0, 0, 0])]
    taken = (side for side in sides)  # one at a time
    claims = Claims(outcomes=2)
    estimator = HistogramEstimator(gamma=1.0)
    first, *others = answers(estimator, taken, order=math.inf, pairing="all", claims=claims)
    assert (first.sides, first.both) == ((0, 1), pytest.approx(math.log(2)))
    assert [answer.sides for answer in others] == [(0, 2), (1, 2)]
    assert all(math.isnan(answer.both) for answer in others)


def test_pairs_that_share_samples_have_bonferroni_only(sides):
    shared = RenyiBound(50, largest=True, correction="independent")
    with pytest.raises(ArgumentError, match="correction must be bonferroni"):
        list(answers(shared, sides, order=2.0, pairing="all"))


def test_every_pair_has_a_loss_and_fresh_draws_are_of_the_selected_one(sides):
    screen, estimator = LocalLoss(floor=1e-3), MaximumPrivacyLoss(after="dpl")
    losses = list(answers(screen, sides, order=math.inf, region=(-1.0, 1.0)))
    rng, drawn = np.random.default_rng(6), []

    def fresh(pair):
        drawn.append(pair)
        return [rng.laplace(AT[side], 1, 20_000) for side in pair]

    options = {"order": math.inf, "region": (-1.0, 1.0)}
    (bound,) = answers(estimator, sides, screen=screen, fresh=fresh, **options)
    assert drawn == [bound.sides] == [max(losses, key=lambda answer: answer.both).sides]
    assert 0.5 < bound.both < 1.0
    with pytest.raises(ArgumentError, match="after must name the estimator that selects a pair"):
        list(answers(estimator, sides, order=math.inf))

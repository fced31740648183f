"""One function answers for every estimator, from raw draws."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from epsilometer.densities.pair import reduce_pair
from epsilometer.errors import ArgumentError
from epsilometer.estimators.answering import Answer, answers
from epsilometer.estimators.base import Claims, LevelEstimate, SampleMethod
from epsilometer.estimators.histogram import HistogramEstimator
from epsilometer.estimators.local_loss import LocalLoss, MaximumPrivacyLoss
from epsilometer.estimators.renyi_bound import RenyiBound

AT = (0.0, 0.1, 0.0, 1.0)


@pytest.fixture
def sides():
    rng = np.random.default_rng(5)
    return [rng.laplace(at, 1, 4000) for at in AT]


@dataclass(frozen=True)
class Shift(SampleMethod):
    """The difference of means, times the order."""

    symmetric: bool = False

    def check(self, outputs, order):
        pass

    def estimate(self, x, x_prime, claims, order, rng):
        return LevelEstimate(order * (x_prime.mean() - x.mean()))


def test_an_answer_is_the_largest_of_both_directions_and_of_all_claims():
    assert Answer((0, 1), 0.3, 0.2).both == Answer((0, 1), 0.1, 0.3).both == 0.3
    assert Answer((0, 1), np.array([0.1, 0.2]), np.array([0.15, 0.05])).both == 0.2


@pytest.mark.parametrize("symmetric", [False, True])
def test_a_method_that_reads_samples_is_asked_both_ways_unless_it_is_symmetric(sides, symmetric):
    first, second = answers(Shift(symmetric), sides, order=2.0)
    assert (first.sides, second.sides) == ((0, 1), (2, 3))
    assert second.forward == pytest.approx(2 * (sides[3].mean() - sides[2].mean()))
    assert second.reverse == (second.forward if symmetric else -second.forward)


@pytest.mark.parametrize(
    ("shape", "dtype", "kind"),
    [
        ((4,), float, "scalar"),
        ((4, 2), float, "vector"),
        ((4,), int, "index"),
        ((4, 2), int, "tuple"),
    ],
)
def test_an_estimator_is_asked_for_the_kind_of_the_outputs(shape, dtype, kind, monkeypatch):
    asked = []
    monkeypatch.setattr(Shift, "check", lambda _, outputs, order: asked.append((outputs, order)))
    sides = [np.zeros(shape, dtype)] * 4
    assert len(list(answers(Shift(), sides, order=3.0))) == 2
    assert len(list(answers(Shift(), sides, order=3.0, pairing="all", outputs="bits"))) == 6
    assert asked == [(kind, 3.0), ("bits", 3.0)]


def test_a_histogram_that_fails_is_no_level_and_others_answer():
    taken = (np.array(side) for side in ([0, 0, 1], [0, 1, 1], [0, 0, 0]))  # one at a time
    given = {"order": math.inf, "pairing": "all", "claims": Claims(outcomes=2)}
    first, *others = answers(HistogramEstimator(gamma=1.0), taken, **given)
    assert (first.sides, first.both) == ((0, 1), pytest.approx(math.log(2)))
    assert [answer.sides for answer in others] == [(0, 2), (1, 2)]
    assert all(math.isnan(answer.both) for answer in others)


def test_every_pair_has_a_loss_and_fresh_draws_are_of_the_selected_one(sides):
    screen, estimator = LocalLoss(floor=1e-3), MaximumPrivacyLoss(after="dpl")
    given = {"order": math.inf, "region": (-1.0, 1.0)}
    losses = list(answers(screen, sides, **given))
    assert [answer.sides for answer in losses] == [(0, 1), (2, 3)]
    assert losses[1].both > losses[0].both
    drawn = []

    def fresh(pair):
        drawn.append(pair)
        rng = np.random.default_rng(6)
        return [rng.laplace(AT[side], 1, 20_000) for side in pair]

    (bound,) = answers(estimator, sides, screen=screen, fresh=fresh, **given)
    assert drawn == [bound.sides] == [(2, 3)]
    assert 0.5 < bound.both < 1.0
    for part in ({"screen": screen}, {"fresh": fresh}):
        with pytest.raises(ArgumentError, match="after must name the estimator that selects"):
            list(answers(estimator, sides, **part, **given))


@pytest.mark.parametrize("exchanged", [False, True])
def test_a_bound_is_from_as_many_draws_of_either_side_the_first_ones(sides, exchanged):
    method = RenyiBound(50)
    pair = [sides[0], sides[3][:3000]]
    if exchanged:
        pair.reverse()
    (given,) = answers(method, pair, order=2.0)
    first = reduce_pair(pair[0][:3000], pair[1][:3000], method.reduction)
    bounds = method.bounds(first, order=2.0, n=3000, pairs=1)
    assert (given.forward, given.reverse) == bounds
    assert given.trusted() == method.trusted(first, order=2.0, n=3000)


def test_bounds_of_pairs_that_share_samples_are_refused_where_they_must_not(sides):
    method = RenyiBound(50, largest=True, correction="independent")
    assert len(list(answers(method, sides, order=2.0))) == 2
    with pytest.raises(ArgumentError, match="correction must be bonferroni"):
        list(answers(method, sides, order=2.0, pairing="all"))

"""Claims of providers, and answers that are asked both ways."""

import pytest

from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import Claims, PairEstimates, pairs_of


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({"support": (0, 1), "outcomes": 2}, "not name both a support and a number"),
        ({"support": (1, 0)}, "lower < upper"),
        ({"outcomes": 1}, "outcomes must be at least 2"),
        ({"support": (0, 1), "lipschitz": -1.0}, "lipschitz must be positive"),
        ({"outcomes": 2, "smallest_probability": 1.5}, "strictly between 0 and 1"),
    ],
)
def test_bad_claims_are_named(claims, message):
    with pytest.raises(ArgumentError, match=message):
        Claims(**claims)


def test_the_width_is_that_of_a_claimed_support():
    assert Claims(support=(1.0, 3.5)).width == 2.5
    with pytest.raises(ArgumentError, match="support must be claimed"):
        _ = Claims(outcomes=3).width


def test_the_larger_direction_counts():
    estimates = PairEstimates([0.1, 0.4], [0.3, 0.2], [False, False])
    assert estimates.both.tolist() == [0.3, 0.4]


def test_pairs_share_samples_or_have_their_own():
    assert pairs_of(3, "all") == [(0, 1), (0, 2), (1, 2)]
    assert pairs_of(4, "consecutive") == [(0, 1), (2, 3)]

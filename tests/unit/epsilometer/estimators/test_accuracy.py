"""The accuracy that lu2022 promises, by hand."""

import math

import pytest

from epsilometer.estimators.accuracy import accuracy, cones, neighbours_error, risk_error


def test_cones_are_those_of_the_formula_and_two_on_the_line():
    ratio = math.sqrt(6) + math.sqrt(2)  # 2 / sqrt(2 - sqrt 3), as its square says
    assert cones(1) == 2
    assert cones(2) == math.floor((1 + ratio) ** 2 - 1)
    assert cones(3) == math.floor((1 + ratio) ** 3 - 1)


def test_error_bounds_by_hand():
    assert risk_error(800, 0.04) == pytest.approx(math.sqrt(math.log(100) / 800))
    # (5) solved again: 2 exp(-(n/2) a^2 / (72 c^2)) = beta/2
    for dimension in (1, 2):
        a = neighbours_error(10**6, 0.1, dimension)
        chance = 2 * math.exp(-(10**6 / 2) * a**2 / (72 * cones(dimension) ** 2))
        assert chance == pytest.approx(0.1 / 2)


@pytest.mark.parametrize("n", [1000, 1001])
def test_the_error_of_a_delta_is_that_of_training_and_of_the_test(n):
    """Half of the points train, rounded down."""
    both = neighbours_error(1000, 0.1) + risk_error(n, 0.1)
    assert accuracy(1.0, n, 0.1) == pytest.approx(2 * math.e * both, rel=1e-9)

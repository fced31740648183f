"""Levels of any law: at an infinite order, and at claims that are levels but for their rounding."""

import math

import numpy as np
import pytest

from epsilometer.exact.base import divergence, spectrum
from tests.unit.epsilometer.exact.laws import law


@pytest.mark.parametrize("epsilon", [1e-6, 0.7, 30.0])
@pytest.mark.parametrize("name", ["laplace", "randomized_response"])
def test_a_claim_that_is_the_level_but_for_its_rounding_has_no_delta(name, epsilon):
    exact, level = law(name, epsilon), law(name, epsilon).privacy_loss(1, 0)
    near = [level, math.nextafter(level, 0), math.nextafter(level, math.inf), 2 * level]
    assert spectrum(exact, near, 1, 0).tolist() == [0, 0, 0, 0]
    assert (spectrum(exact, level * (1 - np.array([1e-12, 1e-6])), 1, 0) > 0).all()


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("name", ["laplace", "truncated_gaussian", "truncated_laplace"])
def test_no_delta_is_more_than_1(name, epsilon):
    """All probability together may be, by its rounding."""
    deltas = spectrum(law(name, epsilon), [-1e3, -50.0], 1, 0)
    assert ((deltas > 1 - 1e-12) & (deltas <= 1)).all()


def test_the_level_of_an_infinite_order_is_the_pure_one():
    exact = law("randomized_response", 0.7)
    assert divergence(exact, math.inf, 1, 0) == exact.privacy_loss(1, 0) == pytest.approx(0.7)
    assert divergence(exact, 2.0, 1, 0) == exact.renyi(2.0, 1, 0) < 0.5

"""Sums of people's numbers, and how many of the people are in them."""

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.mechanisms import MECHANISMS
from epsilometer.mechanisms.noisy_sum import NoisySum


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_a_sum_of_all_people_is_an_answer_plus_the_same_noise(noise):
    """Of one number, by the mechanism of that noise: of several blocks, draw by draw."""
    answer = MECHANISMS.load(noise)(0.7)
    scale = answer.scale if noise == "laplace" else answer.sigma
    whole = NoisySum(1 / scale, noise=noise, people=3)
    drawn = whole.sample([1, 0.25, 0.5], 70_000, np.random.default_rng(1))
    expected = answer.sample(1.75, 70_000, np.random.default_rng(1))
    np.testing.assert_allclose(drawn, expected, rtol=1e-12, atol=1e-12)


def test_a_share_of_people_is_above_0_and_at_most_1():
    for included in (1e-9, 1.0):
        assert NoisySum(1.0, included=included).included == included
    for included in (0.0, 1.001):
        with pytest.raises(ArgumentError, match="included must lie in"):
            NoisySum(1.0, included=included)

"""Relative frequencies over the union of both sides' supports."""

import numpy as np
import pytest

from epsilometer.densities.frequencies import frequencies
from epsilometer.errors import ArgumentError


def test_by_hand():
    outcomes, p, q = frequencies(np.array([5, 5, 2, 0]), np.array([2, 7]))
    assert outcomes.tolist() == [0, 2, 5, 7]
    assert p.tolist() == [0.25, 0.25, 0.5, 0.0]
    assert q.tolist() == [0.0, 0.5, 0.0, 0.5]


def test_tuples_by_hand():
    x = np.array([[0, 1], [0, 1], [1, 0]])
    outcomes, p, q = frequencies(x, np.array([[1, 0], [-3, 4]]))
    assert outcomes.tolist() == [[-3, 4], [0, 1], [1, 0]]
    assert p.tolist() == pytest.approx([0, 2 / 3, 1 / 3])
    assert q.tolist() == [0.5, 0, 0.5]


@pytest.mark.parametrize("shift", [0, -7, 10**6])
def test_counting_and_sorting_agree(shift):
    """Small outcomes are count_outcomes, others sorted: the same frequencies."""
    rng = np.random.default_rng(0)
    x, y = rng.poisson(3, 500), rng.poisson(4, 400)
    small, sorted_ = frequencies(x, y), frequencies(x + shift, y + shift)
    np.testing.assert_array_equal(small[0] + shift, sorted_[0])
    np.testing.assert_array_equal(small[1], sorted_[1])
    np.testing.assert_array_equal(small[2], sorted_[2])


@pytest.mark.parametrize(
    ("x", "y"), [([1, 2], [[1, 2]]), ([[1, 2]], [[1, 2, 3]]), ([], [1]), ([[[1]]], [[[1]]])]
)
def test_bad_shapes_are_refused(x, y):
    with pytest.raises(ArgumentError, match=r"x_prime has shape|must not be empty"):
        frequencies(np.array(x, int), np.array(y, int))

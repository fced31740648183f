"""Bisection: where a condition ends to hold, and where rising functions reach their goals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilometer.numerics.bisection import bisected, reached


@given(st.integers(-(10**20), 10**20), st.integers(0, 10**6), st.integers(1, 10**6))
def test_whole_numbers_are_bisected_to_the_last_that_holds(low, more, beyond):
    last = low + more
    assert bisected(lambda number: number <= last, low, last + beyond, 1) == (last, last + 1)


@given(st.floats(0.01, 99), st.floats(1e-6, 30))
def test_reals_are_bisected_until_they_are_near_and_no_longer(edge, apart):
    low, high = bisected(lambda number: number < edge, 0.0, 100.0, apart)
    assert low < edge <= high
    assert apart / 2 < high - low <= apart


@given(st.floats(0.01, 99))
def test_how_near_may_depend_on_the_numbers(edge):
    low, high = bisected(lambda number: number < edge, 0.0, 100.0, lambda low, _: low / 2)
    assert low < edge <= high <= 1.5 * low


def test_numbers_as_far_apart_as_they_may_be_are_near():
    assert bisected(lambda number: number < 20, 0.0, 64.0, 16.0) == (16.0, 32.0)


def test_where_rising_functions_reach_their_goals():
    goals = np.array([0.0, 1e-3, 0.2, 1.0, 7.9])
    most = np.array([1.0, 1.0, 3.0, 1.0, 2.0])
    found = reached(lambda numbers: numbers**3, goals, most)
    assert found == pytest.approx(np.cbrt(goals), rel=1e-12, abs=2e-12)
    assert (found**3 >= goals).all()  # from above


def test_where_a_function_no_longer_rises_the_first_argument_counts():
    found = reached(lambda numbers: np.minimum(numbers, 1.0), np.ones(1), np.array([5.0]))
    assert found == pytest.approx(1.0)

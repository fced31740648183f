"""Intervals of proportions, at every outcome of small n; bisection; ratios without a divisor."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from epsilometer.numerics.bisection import bisected, reached
from epsilometer.numerics.proportions import clopper_pearson
from epsilometer.numerics.ratios import has_spread, log_share, ratio


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("n", [1, 7, 40])
def test_each_end_errs_with_half_of_the_rest_at_most(n, level):
    """All outcomes are enumerated; with all of the rest an end, the worst would be near that."""
    hits = np.arange(n + 1)
    low, high = clopper_pearson(hits, n, level)
    above, below = [], []
    for p in np.linspace(0.001, 0.999, 999):
        chances = stats.binom.pmf(hits, n, p)
        above.append(chances[low > p].sum())
        below.append(chances[high < p].sum())
    half = (1 - level) / 2
    assert 0.8 * half < max(above) <= half
    assert 0.8 * half < max(below) <= half


def test_it_is_that_of_scipy():
    for hits, n in [(0, 5), (3, 5), (5, 5), (17, 1000)]:
        theirs = stats.binomtest(hits, n).proportion_ci(0.9, method="exact")
        assert clopper_pearson(hits, n) == clopper_pearson(hits, n, 0.95)
        assert clopper_pearson(hits, n, 0.9) == pytest.approx((theirs.low, theirs.high), rel=1e-8)


# --- bisection ------------------------------------------------------------------------------------


@given(st.integers(-(10**20), 10**20), st.integers(0, 10**6), st.integers(1, 10**6))
def test_whole_numbers_are_bisected_to_the_last_that_holds(low, more, beyond):
    last = low + more
    assert bisected(lambda number: number <= last, low, last + beyond, 1) == (last, last + 1)


@given(st.floats(0.01, 99), st.floats(1e-6, 30))
def test_reals_are_bisected_until_they_are_near_and_no_longer(edge, apart):
    low, high = bisected(lambda number: number < edge, 0.0, 100.0, apart)
    assert low < edge <= high
    assert apart / 2 < high - low <= apart
    low, high = bisected(lambda number: number < edge, 0.0, 100.0, lambda low, _: low / 2)
    assert low < edge <= high <= 1.5 * low
    whole = bisected(lambda number: number < edge, 0.0, 64.0, 16.0)
    assert whole[1] - whole[0] == 16.0  # as far apart as they may be


def test_where_rising_functions_reach_their_goals():
    goals = np.array([0.0, 1e-3, 0.2, 1.0, 7.9])
    most = np.array([1.0, 1.0, 3.0, 1.0, 2.0])
    found = reached(lambda numbers: numbers**3, goals, most)
    assert found == pytest.approx(np.cbrt(goals), rel=1e-12, abs=2e-12)
    assert (found**3 >= goals).all()  # from above
    flat = reached(lambda numbers: np.minimum(numbers, 1.0), np.ones(1), np.array([5.0]))
    assert flat == pytest.approx(1.0)


# --- ratios ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0.3, 1e9])
def test_a_spread_by_rounding_alone_is_none(size):
    equal = size * np.array([(0.1 + 0.2) / 0.3, 1.0])
    assert not has_spread(np.ptp(equal), size)
    assert has_spread(1e-8 * size, size)
    assert not has_spread(0.0)
    assert has_spread(1e-300)
    assert ratio([1.0, 6.0], [np.ptp(equal), 2.0], size).tolist() == [0.0, 3.0]


def test_a_ratio_without_a_divisor_is_0_in_the_shape_of_both():
    ratios = ratio(np.array([[2.0], [0.0], [-3.0]]), np.array([4.0, 0.0]))
    assert ratios.tolist() == [[0.5, 0], [0, 0], [-0.75, 0]]


def test_what_never_occurred_has_a_finite_log_share():
    shares = [1.0, 0.2, 1e-250]
    assert log_share(shares).tolist() == pytest.approx([math.log(share) for share in shares])
    assert -math.inf < log_share(0.0) < math.log(1e-250)

"""Ratios without a divisor, and the logarithms of shares."""

import math

import numpy as np
import pytest

from epsilometer.numerics.ratios import has_spread, log_share, ratio


@pytest.mark.parametrize("size", [0.3, 1e9])
def test_a_spread_by_rounding_alone_is_none(size):
    rounding = np.ptp(size * np.array([(0.1 + 0.2) / 0.3, 1.0]))
    assert not has_spread(rounding, size)
    assert has_spread(1e-8 * size, size)
    assert ratio([1.0, 6.0], [rounding, 2.0], size).tolist() == [0.0, 3.0]


def test_without_a_size_anything_above_0_is_a_spread():
    assert not has_spread(0.0)
    assert has_spread(1e-300)


def test_a_ratio_without_a_divisor_is_0_in_the_shape_of_both():
    ratios = ratio(np.array([[2.0], [0.0], [-3.0]]), np.array([4.0, 0.0]))
    assert ratios.tolist() == [[0.5, 0], [0, 0], [-0.75, 0]]


def test_what_never_occurred_has_a_finite_log_share():
    shares = [1.0, 0.2, 1e-250]
    assert log_share(shares).tolist() == pytest.approx([math.log(share) for share in shares])
    assert -math.inf < log_share(0.0) < math.log(1e-250)

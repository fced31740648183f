"""A statistic in units of its spread is 0 where there is no spread."""

import math

import numpy as np

from epsilometer.numerics.ratios import has_spread, log_share, ratio


def test_without_a_spread_a_ratio_is_0():
    with np.errstate(all="raise"):
        assert ratio(1.0, 0.0) == ratio(math.inf, 0.0) == ratio(1.0, math.nan) == 0
        assert ratio([[1.0], [2.0]], [0.0, 2.0]).tolist() == [[0, 0.5], [0, 1]]
        assert ratio(1.0, 1e-300) > 1e299  # a small spread is one
        assert ratio(1.0, 1e-10, size=1.0) == 0
    assert has_spread([0.0, 1e-8], 1.0).tolist() == [False, True]


def test_the_logarithm_of_a_share_is_finite():
    assert log_share([1.0, 0.0]).tolist() == [0.0, math.log(1e-300)]

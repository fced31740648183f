"""Intervals of proportions, at every outcome of small n."""

import numpy as np
import pytest
from scipy import stats

from epsilometer.numerics.proportions import clopper_pearson


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("n", [1, 7, 40])
def test_each_end_errs_with_half_of_the_rest_at_most(n, level):
    """All outcomes are enumerated; with all of the rest an end, the worst would be near that."""
    hits = np.arange(n + 1)
    low, high = clopper_pearson(hits, n, level)
    p = np.linspace(0.001, 0.999, 999)[:, None]
    chances = stats.binom.pmf(hits, n, p)
    half = (1 - level) / 2
    assert (low[0], high[-1]) == (0.0, 1.0)
    for errs in (low > p, high < p):
        worst = (chances * errs).sum(axis=1).max()
        assert 0.8 * half < worst <= half


def test_it_is_that_of_scipy_and_of_95_percent():
    theirs = stats.binomtest(17, 1000).proportion_ci(0.95, method="exact")
    assert clopper_pearson(17, 1000) == pytest.approx((theirs.low, theirs.high), rel=1e-8)

"""Intervals for binomial proportions, at every outcome of small n."""

import numpy as np
import pytest
from scipy import stats

from epsilometer.numerics.proportions import clopper_pearson


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
        assert clopper_pearson(hits, n, 0.9) == pytest.approx((theirs.low, theirs.high), rel=1e-8)

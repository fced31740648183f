"""Exact intervals of counted probabilities, by their definition and by their coverage."""

import numpy as np
import pytest
from scipy import stats

from epsilometer.proportions import clopper_pearson


def test_clopper_pearson_is_exact():
    k = np.arange(11)
    low, high = clopper_pearson(k, np.full(11, 10))
    for i in k:
        exact = stats.binomtest(int(i), 10).proportion_ci(method="exact")
        assert (low[i], high[i]) == pytest.approx((exact.low, exact.high))
    for p in (0.03, 0.3, 0.8):
        covered = (low <= p) & (p <= high)
        assert stats.binom.pmf(k, 10, p)[covered].sum() >= 0.95

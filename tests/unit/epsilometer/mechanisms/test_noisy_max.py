"""The index of the largest noisy answer, naively."""

import numpy as np
import pytest

from epsilometer.mechanisms.noisy_max import _index


@pytest.mark.parametrize("groups", [1, 5])
def test_the_index_is_that_of_the_largest_of_all_groups(groups):
    rng = np.random.default_rng(6)
    noisy, winners = rng.normal(size=(groups, 500)), rng.integers(9, size=(groups, 500))
    index = np.empty(500, np.int32)
    _index(index, noisy, winners.astype(np.int32))
    assert index.tolist() == winners[noisy.argmax(axis=0), np.arange(500)].tolist()

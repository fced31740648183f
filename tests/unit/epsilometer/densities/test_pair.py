"""Both sides of a pair: what is smoothed, what is counted."""

import numpy as np
import pytest

from epsilometer.densities.base import Densities
from epsilometer.densities.binned import bkde, dpik
from epsilometer.densities.frequencies import cell_frequencies, frequencies
from epsilometer.densities.pair import reduce_pair
from epsilometer.errors import ArgumentError

SMOOTH = {"points": 150, "power": 1.1}


@pytest.mark.parametrize("exchanged", [False, True])
def test_a_pair_of_reals_has_the_bandwidth_of_each_side_on_one_grid(exchanged):
    """Each side has one end of the grid."""
    rng = np.random.default_rng(8)
    x, x_prime = rng.laplace(0, 1, 900), rng.laplace(3, 2, 700).clip(0)
    ends = (x.min(), x_prime.max())
    if exchanged:
        x, x_prime = x_prime, x
    pair = reduce_pair(x, x_prime, SMOOTH)
    assert pair.bandwidths == (dpik(x) ** 1.1, dpik(x_prime) ** 1.1)
    assert pair.spacing == pytest.approx((ends[1] - ends[0]) / 149)
    for side, density, h in zip((x, x_prime), (pair.p, pair.q), pair.bandwidths, strict=True):
        np.testing.assert_array_equal(density, bkde(side, h, points=150, ends=ends)[1])


def test_sides_can_be_exchanged():
    pair = Densities(np.zeros(2), np.ones(2), 0.5, (0.1, 0.2))
    swapped = pair.swapped()
    assert (swapped.p.tolist(), swapped.q.tolist()) == ([1, 1], [0, 0])
    assert (swapped.spacing, swapped.bandwidths) == (0.5, (0.2, 0.1))


def test_a_pair_of_outcomes_or_of_cells_is_counted():
    x, x_prime = np.random.default_rng(8).integers(0, 4, (2, 900))
    counted = reduce_pair(x, x_prime, {"cells": 9})
    np.testing.assert_array_equal([counted.p, counted.q], frequencies(x, x_prime)[1:])
    cells = reduce_pair(x * 0.5, x_prime * 0.5, {"cells": 9})
    np.testing.assert_array_equal([cells.p, cells.q], cell_frequencies(x, x_prime, 9))
    assert (cells.spacing, cells.bandwidths) == (1, (0, 0))


@pytest.mark.parametrize("side", [0, 1])
def test_atoms_are_not_smoothed(side):
    sides = np.random.default_rng(5).normal(size=(2, 400))
    sides[side, :200] = 0.5
    with pytest.raises(ArgumentError, match="reals with an atom"):
        reduce_pair(*sides, SMOOTH)

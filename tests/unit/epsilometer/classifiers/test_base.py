"""What all classifiers share: counts of votes, even votes, blocks, numbers of neighbours, units."""

import numpy as np
import pytest

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.classifiers.base import Votes, in_blocks, neighbours, shared_log_odds, units_of
from epsilometer.errors import ArgumentError


def test_votes_count_strictly_above_and_below():
    votes = Votes(np.array([0.0, -np.inf, 1.0, np.inf, 0.0]), np.array([3, 1, 4, 2, 5]))
    assert votes.above(np.array([-1.0, 0.0, 1.0, 2.0])).tolist() == [14, 6, 2, 2]
    assert votes.below(np.array([-1.0, 0.0, 1.0, np.inf])).tolist() == [1, 1, 9, 13]


@pytest.mark.parametrize(("points", "size"), [(2**20, 4), (2**20 + 1, 3), (2**23, 1), (3, 9)])
def test_so_many_outputs_are_asked_at_once_as_have_2_to_the_22_distances(points, size):
    asked = []
    found = in_blocks(lambda block: asked.append(block) or block / 2, np.arange(9), points)
    assert found.tolist() == (np.arange(9) / 2).tolist()
    assert asked[0].size == size


def test_even_votes_are_even_to_the_bit():
    """x lacks nearer points and gets as many from those there, all of them its own."""
    a, b, there = np.indices((40, 40, 60)).reshape(3, -1)
    lacks = (a < b) & (b - a <= there)
    a, b, there = a[lacks], b[lacks], there[lacks]
    assert not shared_log_odds([a, b], [a + there, b], 2 * b).any()


def test_the_number_of_neighbours_is_rounded_down():
    assert [neighbours(n) for n in (0, 1, 3, 4)] == [1, 1, 1, 2]
    assert neighbours(2**54 - 1) == 2**27 - 1  # its root as a real is 2^27
    assert [neighbours(n, 0.75) for n in (0, 1, 15, 16)] == [1, 1, 7, 8]


def test_units_are_the_powers_of_two_up_to_the_spread():
    """The distance of the quartiles, where these differ, or else the standard deviation."""
    rng = np.random.default_rng(4)
    sides = rng.normal(size=(2, 1500, 5)) * [3.5, 0.7, 1.0, 1.0, 1.0]  # quartiles 4.7 and .94 apart
    sides[:, :, 2] = 0  # a constant
    sides[:, :, 3:] = 5
    sides[0, :50, 3:] += [52, 40]  # of the first 1000 8.1 and 6.2; across a power of others
    assert units_of(*sides, alike=False).tolist() == [4, 0.5, 1, 8, 4]
    assert units_of(*sides, alike=True).tolist() == [4] * 5


@pytest.mark.parametrize("name", ["counting", "hamming_neighbours", "nearest_neighbours"])
def test_each_is_for_its_outputs(name):
    method = CLASSIFIERS.load(name)()
    with pytest.raises(ArgumentError, match="outputs must be"):
        method.check("mixed")
    empty = np.empty(0, np.int64)
    with pytest.raises(ArgumentError, match="x has no draws to train on"):
        method.fit(empty, empty, 4, 0)

"""Classifiers of discrete outputs: exact counts, and neighbours of bit vectors."""

import numpy as np
import pytest

from epsilometer.classifiers.discrete import Counting, HammingNeighbours
from tests.unit.epsilometer.classifiers.naive import by_brute_force, odds_of


@pytest.mark.parametrize("outcomes", [[0, 1, 2, 3, 4], [[0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]])
def test_odds_are_those_of_the_counts_and_unseen_outputs_are_even(outcomes):
    outcomes = np.array(outcomes)
    fitted = Counting().fit(outcomes[[0, 1, 1, 1]], outcomes[[1, 2, 2, 3]], 8, 0)
    odds = odds_of(fitted, outcomes[[4, 1, 0, 2, 1]])
    assert odds.tolist() == pytest.approx([-np.inf, -np.log(3), -np.log(3), 0, np.inf])


def test_counting_separates_outputs_that_are_the_same_float():
    """Neighbours of 2^60 are the same double."""
    big = 2**60 + np.arange(4)
    votes = Counting().fit(big[[0, 1, 1, 0]], big[[1, 1, 2, 3]], 8, 0).votes(big[[0, 1, 3, 3]])
    assert votes.counts.tolist() == [1, 1, 2]
    assert votes.log_odds.tolist() == [-np.inf, 0.0, np.inf]


@pytest.mark.parametrize("bits", [9, 62])
@pytest.mark.parametrize("sizes", [(60, 50), (50, 60)])
@pytest.mark.parametrize("k", [1, 40, 110, 130])
def test_neighbours_of_bits_share_ties_as_by_brute_force(bits, sizes, k):
    rng = np.random.default_rng(bits)
    x, x_prime, queries = (rng.integers(0, 2**bits, n) for n in (*sizes, 30))
    queries[0], x[0] = 0, 2**bits - 1  # as far as can be
    expected = by_brute_force(x, x_prime, queries, k, lambda a, b: np.bitwise_count(a ^ b))
    odds = odds_of(HammingNeighbours(k).fit(x, x_prime, 110, 0), queries)
    np.testing.assert_allclose(odds, np.sort(expected))


def test_the_number_of_neighbours_is_the_root_of_the_points_in_training():
    assert HammingNeighbours().fit(np.arange(9), np.arange(9), 26, 0).k == 5

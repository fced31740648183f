"""Nearest neighbours of numbers and of vectors, against all distances, and at the edges."""

import time

import numpy as np
import pytest

from epsilometer.classifiers.base import units_of
from epsilometer.classifiers.neighbours import NearestNeighbours
from epsilometer.errors import ArgumentError
from tests.unit.epsilometer.classifiers.naive import by_brute_force, odds_of


def apart(one, other):
    return np.where(one > other, one - other, other - one)


def squares(one, other):
    return ((one - other) ** 2).sum(axis=-1)


SHAPES = {
    "clamped": lambda v: np.clip(v, 0.0, 1.0),
    "rounded": lambda v: np.round(v, 1),
    "quarters": lambda v: np.round(4 * v) / 4,  # whose distances are exact
    "integers far apart": lambda v: np.clip(np.round(v * 2**59), -(2.0**61), 2.0**61).astype(int),
    "far from 0": lambda v: 1e-9 * v + 1e8,
    "huge": lambda v: np.sign(v) * 10.0 ** np.minimum(100 * np.abs(v), 300),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sizes", [(1, 1, 4), (60, 50, 80), (300, 200, 400)])
def test_neighbours_share_ties_as_by_brute_force(shape, sizes):
    rng = np.random.default_rng(len(shape))
    x = SHAPES[shape](rng.laplace(0, 1, sizes[0]))
    x_prime = SHAPES[shape](rng.laplace(1, 1, sizes[1]))
    queries = SHAPES[shape](rng.laplace(0.5, 1, sizes[2]))
    points = x.size + x_prime.size
    for k in {1, 2, points // 3 + 1, points - 1, points, points + 9}:
        expected = np.sort(by_brute_force(x, x_prime, queries, k, apart))
        odds = odds_of(NearestNeighbours(k).fit(x, x_prime, points, 0), queries)
        np.testing.assert_allclose(odds, expected, rtol=1e-9, atol=1e-12)


def test_many_distinct_queries_that_all_tie_take_no_longer():
    """Seen from so far away, all points are equally far."""
    rng = np.random.default_rng(0)
    x, x_prime = rng.random(200_000), rng.random(100_000)
    queries = 1e30 * (1 + rng.random(100_000))
    start = time.process_time()
    odds = odds_of(NearestNeighbours(500).fit(x, x_prime, 1, 0), queries)
    assert time.process_time() - start < 10  # a point at a time it would be hours
    np.testing.assert_allclose(odds, np.log(1 / 2))


@pytest.mark.parametrize("k", [1, 7, 100, 500, None])
@pytest.mark.parametrize("values", [2**50, 3])
def test_votes_of_vectors_follow_from_their_definition(values, k):
    """Of few values nearly all distances are ties; these are exact in any unit that is a power."""
    rows = np.random.default_rng(3).integers(values, size=(160, 4)) / 64
    x, x_prime, queries = rows[:60], rows[60:100], rows[100:]
    root = 11  # of the points in training
    units = units_of(x, x_prime, alike=False)
    expected = by_brute_force(x / units, x_prime / units, queries / units, k or root, squares)
    odds = NearestNeighbours(k).fit(x, x_prime, 121, 0).votes(queries).log_odds
    np.testing.assert_allclose(odds, expected, atol=1e-12)


def test_training_on_many_vectors_takes_the_first_of_both_sides_in_proportion():
    x, x_prime = np.random.default_rng(3).normal(size=(2, 6000, 2))
    sides = x, 8 * x_prime[:3000]
    fitted = NearestNeighbours().fit(*sides, 9000, 0)
    assert fitted.units.tolist() == [2, 2]
    np.testing.assert_array_equal(fitted.x, x[:2730] / 2)  # of 4096
    np.testing.assert_array_equal(fitted.x_prime, 4 * x_prime[:1365])
    assert fitted.k == 64
    assert NearestNeighbours(exponent=0.75).fit(*sides, 9000, 0).k == 512


@pytest.mark.parametrize("few", [0, 1])
def test_the_smaller_side_of_many_vectors_keeps_a_draw_and_must_have_one(few):
    sides = [np.zeros((6000, 2)), np.zeros((6000, 2))]
    sides[few] = sides[few][:2]
    fitted = NearestNeighbours().fit(*sides, 6002, 0)
    assert sorted([len(fitted.x), len(fitted.x_prime)]) == [1, 4094]
    sides[few] = sides[few][:0]
    with pytest.raises(ArgumentError, match="x has no draws of one side"):
        NearestNeighbours().fit(*sides, 6000, 0)


def test_vectors_of_more_than_20_entries_are_not_near():
    rows = np.zeros((9, 21))
    NearestNeighbours().fit(rows[:, :20], rows[:, :20], 18, 0)
    with pytest.raises(ArgumentError, match="20 entries at most"):
        NearestNeighbours().fit(rows, rows, 18, 0)


def test_the_exponent_gives_the_number_of_neighbours():
    assert NearestNeighbours(exponent=0.75).fit(np.zeros(50), np.ones(50), 10_000, 0).k == 100
    with pytest.raises(ArgumentError, match="exponent must lie strictly between 0 and 1"):
        NearestNeighbours(exponent=1.0)

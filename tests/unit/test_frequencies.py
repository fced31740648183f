"""Frequencies of outcomes of both sides, and of real outputs in cells between quantiles."""

import math

import numpy as np
import pytest

from epsilometer.densities.frequencies import _of_ranks, cell_frequencies, frequencies
from epsilometer.errors import ArgumentError


def counts(x, y, cells):
    p, q = cell_frequencies(x, y, cells)
    return np.rint(p * x.size).astype(int), np.rint(q * y.size).astype(int)


def test_cells_hold_equal_shares_of_both_sides_and_the_tails_are_halved():
    rng = np.random.default_rng(0)
    n = 40_000
    p, q = counts(rng.normal(size=n), rng.normal(1, 1, n), 1000)
    assert p.sum() == q.sum() == n
    # sqrt(n)/4 = 50 cells of 1600 draws; 800, 400 and 200 a side are the halves down to 200
    assert (p + q).tolist() == [400, 400, 800] + [1600] * 48 + [800, 400, 400]


def test_an_atom_is_a_cell_of_its_own():
    rng = np.random.default_rng(1)
    x, y = (rng.laplace(shift, 1, 40_000).clip(-1, 2) for shift in (0.5, 0))
    p, q = counts(x, y, 1000)
    for side, at in ((p, x), (q, y)):
        assert side[0] == (at == -1).sum()
        assert side[-1] == (at == 2).sum()


def test_it_is_of_ranks_only_and_takes_infinities():
    rng = np.random.default_rng(3)
    x, y = rng.standard_cauchy((2, 9000))
    x[:5] = math.inf
    plain = cell_frequencies(x, y, 40)
    for changed in (np.arctan, lambda z: z * 1e-300, lambda z: np.minimum(z, 1e300)):
        np.testing.assert_array_equal(cell_frequencies(changed(x), changed(y), 40), plain)


@pytest.mark.parametrize("ties", [False, True])
def test_values_of_ranks_are_those_of_both_sides_merged(ties):
    rng = np.random.default_rng(4)
    for _ in range(500):
        sides = [np.sort(rng.normal(k, 2, rng.integers(1, 30))) for k in (0, 3)]
        if ties:
            sides = [np.rint(side) for side in sides]
        merged = np.sort(np.concatenate(sides))
        assert (_of_ranks(*sides, np.arange(merged.size)) == merged).all()


def test_by_hand():
    outcomes, p, q = frequencies(np.array([5, 5, 2, 0]), np.array([2, 7]))
    assert outcomes.tolist() == [0, 2, 5, 7]
    assert p.tolist() == [0.25, 0.25, 0.5, 0.0]
    assert q.tolist() == [0.0, 0.5, 0.0, 0.5]


def test_tuples_by_hand():
    x = np.array([[0, 1], [0, 1], [1, 0]])
    outcomes, p, q = frequencies(x, np.array([[1, 0], [-3, 4]]))
    assert outcomes.tolist() == [[-3, 4], [0, 1], [1, 0]]
    assert p.tolist() == pytest.approx([0, 2 / 3, 1 / 3])
    assert q.tolist() == [0.5, 0, 0.5]


@pytest.mark.parametrize("shift", [0, -7, 10**6])
def test_counting_and_sorting_agree(shift):
    """Small outcomes are count_outcomes, others sorted: the same frequencies."""
    rng = np.random.default_rng(0)
    x, y = rng.poisson(3, 500), rng.poisson(4, 400)
    small, sorted_ = frequencies(x, y), frequencies(x + shift, y + shift)
    np.testing.assert_array_equal(small[0] + shift, sorted_[0])
    np.testing.assert_array_equal(small[1], sorted_[1])
    np.testing.assert_array_equal(small[2], sorted_[2])


def test_bad_arguments_are_named():
    for x, y in [([1, 2], [[1, 2]]), ([[1, 2]], [[1, 2, 3]]), ([], [1]), ([[[1]]], [[[1]]])]:
        with pytest.raises(ArgumentError, match=r"x_prime has shape|must not be empty"):
            frequencies(np.array(x, int), np.array(y, int))
    for side, cells, message in (
        ([1.0, math.nan], 9, "outputs must be numbers"),
        ([], 9, "outputs must be numbers, at least one a side"),
        ([1.0, 2.0], 1, "cells must be at least 2"),
    ):
        with pytest.raises(ArgumentError, match=message):
            cell_frequencies(np.array(side), np.array([0.0, 1.0]), cells)

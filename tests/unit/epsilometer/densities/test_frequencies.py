"""Frequencies of outcomes, and of cells between quantiles, against sorting and counting."""

import math

import numpy as np
import pytest

from epsilometer.densities.frequencies import (
    _ranks,
    cell_frequencies,
    frequencies,
    joint_counts,
)
from epsilometer.errors import ArgumentError

# --- outcomes -------------------------------------------------------------------------------------


EACH_KIND = pytest.mark.parametrize(
    "names",
    [
        [0, 2, 5, 7],  # small: counted
        [0, 2, 5, 10**6],  # others are sorted
        [-9, 2, 5, 7],
        [[-3, 4], [0, 1], [1, 0], [1, 2]],
    ],
)


@EACH_KIND
def test_outcomes_by_hand(names):
    names = np.array(names)
    x, x_prime = names[[2, 2, 1, 0]], names[[1, 3]]
    outcomes, p, q = frequencies(x, x_prime)
    assert outcomes.tolist() == names.tolist()
    assert p.tolist() == [0.25, 0.25, 0.5, 0.0]
    assert q.tolist() == [0.0, 0.5, 0.0, 0.5]


@EACH_KIND
def test_one_side_of_joint_counts_may_be_empty(names):
    names = np.array(names)
    x, nothing = names[[2, 2, 1, 0]], names[:0]
    for found in (joint_counts(x, nothing), joint_counts(nothing, x)):
        assert found[0].tolist() == names[:3].tolist()
        assert sorted(part.tolist() for part in found[1:]) == [[0, 0, 0], [1, 1, 2]]
    with pytest.raises(ArgumentError, match="x has no draws to train on"):
        joint_counts(nothing, nothing)


@pytest.mark.parametrize(
    "sides", [([1, 2], [[1, 2]]), ([[1, 2]], [[1, 2, 3]]), ([], [1]), ([[[1]]], [[[1]]])]
)
def test_sides_of_other_shapes_have_no_frequencies(sides):
    one, other = (np.array(side, int) for side in sides)
    for x, y in ((one, other), (other, one)):
        with pytest.raises(ArgumentError, match=r"x_prime has shape|must not be empty"):
            frequencies(x, y)


# --- cells between quantiles ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "cells", "held"),
    [
        # sqrt(n)/4 = 50 cells of 1600 draws; 800, 400 and 200 a side are the halves down to 200
        (40_000, 1000, [400, 400, 800, *[1600] * 48, 800, 400, 400]),
        (40_000, 10, [500, 500, 1000, 2000, 4000, *[8000] * 8, 4000, 2000, 1000, 500, 500]),
        (900, 1000, [450] * 4),  # 200 draws a side at least
        (100, 1000, [100] * 2),  # but two cells
    ],
)
def test_cells_hold_equal_shares_of_both_sides_and_the_tails_are_halved(n, cells, held):
    rng = np.random.default_rng(0)
    p, q = cell_frequencies(rng.normal(size=n), rng.normal(1, 1, n), cells)
    assert ((p + q) * n).tolist() == pytest.approx(held)
    assert p.sum() == pytest.approx(1)


def by_sorting(x, y, cells):
    """Count in the same cells, by sorting all draws of both sides."""
    merged = np.sort(np.concatenate([x, y]))
    starts = merged[_ranks(merged.size, cells)]
    repeated = starts[1:][starts[1:] == starts[:-1]]
    edges = np.unique([*starts, *np.nextafter(repeated, np.inf)])
    places = np.arange(edges.size + 1)
    held, held_prime = (
        np.bincount(np.searchsorted(edges, side, "right"), minlength=places.size) for side in (x, y)
    )
    occupied = held + held_prime > 0
    return held[occupied] / x.size, held_prime[occupied] / y.size


DRAWS = {
    "far tails": lambda rng, n: rng.standard_cauchy(n) ** 5,
    "one value": lambda _, n: np.zeros(n),
    "an atom beside a narrow peak": lambda rng, n: (
        rng.integers(2, size=n) * (1 + 1e-9 * rng.random(n))
    ),
    "huge": lambda rng, n: 1e308 * rng.normal(size=n).clip(-1.7, 1.7),
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.1, -np.inf, rng.normal(size=n)),
    "in order": lambda rng, n: np.sort(rng.exponential(size=n)),
}


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("sizes", [(1, 9), (700, 300), (20_000, 41_000)])
def test_cells_are_those_of_sorted_draws(draws, sizes):
    rng = np.random.default_rng(4)
    x, y = (DRAWS[draws](rng, n) for n in sizes)
    for cells in (2, 30, 1000):
        np.testing.assert_array_equal(cell_frequencies(x, y, cells), by_sorting(x, y, cells))


def test_an_atom_is_a_cell_of_its_own():
    rng = np.random.default_rng(1)
    sides = [rng.laplace(shift, 1, 40_000).clip(-1, 2) for shift in (0.5, 0)]
    for side, shares in zip(sides, cell_frequencies(*sides, 1000), strict=True):
        assert (shares[0], shares[-1]) == (np.mean(side == -1), np.mean(side == 2))


@pytest.mark.parametrize("exchanged", [False, True])
def test_few_draws_are_sorted_wherever_the_sides_are(exchanged, monkeypatch):
    """3 % show where most are, and 3 % share a slice with an end of a cell, and are merged."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(0, 1, 300_000), rng.normal(5, 1, 30_000)
    for side in (x, y):
        outliers = rng.random(side.size) < 0.014
        side[outliers] = 1e6 * rng.normal(size=side.size)[outliers]
    sorted_ = []
    sort = np.sort
    monkeypatch.setattr(np, "sort", lambda draws: sorted_.append(len(draws)) or sort(draws))
    cell_frequencies(*((-y, -x) if exchanged else (x, y)), 50)
    assert sum(sorted_) < 0.1 * 330_000


@pytest.mark.parametrize("side", [[1.0, math.nan], []])
def test_cells_are_of_numbers(side):
    side, other = np.array(side), np.array([0.0, 1.0])
    for x, y in ((side, other), (other, side)):
        with pytest.raises(ArgumentError, match="outputs must be numbers, at least one a side"):
            cell_frequencies(x, y, 9)
    with pytest.raises(ArgumentError, match="cells must be at least 2"):
        cell_frequencies(other, other, 1)

"""Counting against the naive oracle, and at every edge."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilometer.densities.histogram import histogram, ladder
from epsilometer.errors import ArgumentError


def naive(sample, lower, upper, cells):
    """Count as Algorithm 1 writes it: z_j <= s < z_{j+1}, the last cell closed."""
    edges = np.linspace(lower, upper, cells + 1)
    counts = [int(np.sum((sample >= a) & (sample < b))) for a, b in pairwise(edges)]
    counts[-1] += int(np.sum(sample == upper))
    return counts


@given(
    seed=st.integers(0, 2**32 - 1),
    cells=st.integers(1, 60),
    n=st.integers(1, 300),
    ends=st.tuples(st.floats(-5, 5), st.floats(0.1, 9)),
)
@settings(deadline=None)  # the first call compiles
def test_counts_are_the_naive_ones(seed, cells, n, ends):
    lower, upper = ends[0], ends[0] + ends[1]
    sample = np.random.default_rng(seed).uniform(lower, upper, n).clip(lower, upper)
    counts = histogram(sample, cells, (lower, upper))
    assert counts.shape == (1, cells)
    assert counts[0].tolist() == naive(sample, lower, upper, cells)


@pytest.mark.parametrize("cells", [1, 3, 7, 10, 91, 455, 2000])
def test_ties_on_the_edges_fall_into_the_upper_cell(cells):
    edges = np.linspace(0, 1, cells + 1)
    counts = histogram(edges, cells, (0.0, 1.0))[0]
    assert counts.tolist() == [1] * (cells - 1) + [2]
    below = np.nextafter(edges[1:], 0)
    assert histogram(below, cells, (0.0, 1.0))[0].tolist() == [1] * cells


def test_every_prefix_is_counted():
    sample = np.random.default_rng(0).random(1000)
    stops = ladder(1000)
    counts = histogram(sample, 9, (0.0, 1.0), stops)
    for row, stop in zip(counts, stops, strict=True):
        assert row.tolist() == np.histogram(sample[:stop], 9, (0, 1))[0].tolist()
    draws = np.random.default_rng(0).integers(0, 5, 1000, dtype=np.int32)
    counts = histogram(draws, 5, None, stops)
    for row, stop in zip(counts, stops, strict=True):
        assert row.tolist() == np.bincount(draws[:stop], minlength=5).tolist()


def test_ladder_has_half_octaves_and_ends_at_n():
    assert ladder(1) == [1]
    assert ladder(2) == [1, 2]
    assert ladder(17) == [1, 2, 3, 4, 6, 8, 11, 16, 17]
    assert ladder(16) == [1, 2, 3, 4, 6, 8, 11, 16]
    steps = np.divide(ladder(1 << 20)[6:], ladder(1 << 20)[5:-1])
    assert steps.max() < 1.5


def test_bad_arguments_are_refused():
    zeros, ends = np.zeros(10), (0.0, 1.0)
    for arguments, message in (
        ((np.array([0.5, 1.5, -0.1]), 4, ends), "has 2 outputs outside the claimed support"),
        ((np.array([0.5, np.nan]), 4, ends), "has 1 outputs outside"),
        ((np.array([]), 4, ends), "must be a non-empty vector"),
        ((np.zeros((2, 2)), 4, ends), "must be a non-empty vector"),
        ((np.array([0, 3, -1, 2], np.int32), 3, None), "has 2 outputs outside the claimed outcom"),
        *(((zeros, 2, ends, stops), "checkpoints must increase") for stops in ([], [0], [5, 2])),
        *(((zeros, 2, ends, stops), "checkpoints must increase") for stops in ([3, 3], [11])),
        ((zeros, 0, ends), "cells must be at least 1"),
        ((zeros, 2, (1.0, 1.0)), "lower < upper"),
    ):
        with pytest.raises(ArgumentError, match=message):
            histogram(*arguments)

"""Histograms of every prefix of a sample, against the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilometer.densities.histogram import histogram, ladder
from epsilometer.errors import ArgumentError


@given(
    seed=st.integers(0, 2**32 - 1),
    cells=st.integers(1, 60),
    n=st.integers(1, 300),
    lower=st.floats(-5, 5),
    width=st.floats(0.1, 9),
)
def test_counts_are_those_of_the_definition(seed, cells, n, lower, width):
    """Algorithm 1: z_j <= s < z_{j+1}, the last cell closed."""
    upper = lower + width
    sample = np.random.default_rng(seed).uniform(lower, upper, n).clip(lower, upper)
    edges = np.linspace(lower, upper, cells + 1)
    ranks = (np.sort(sample) < edges[:, None]).sum(axis=1)  # draws below each edge
    ranks[-1] = n
    assert histogram(sample, cells, (lower, upper)).tolist() == [np.diff(ranks).tolist()]


@pytest.mark.parametrize("cells", [1, 7, 91, 2000])
def test_ties_on_the_edges_fall_into_the_upper_cell(cells):
    edges = np.linspace(0, 1, cells + 1)
    counts = histogram(edges, cells, (0.0, 1.0))[0]
    assert counts.tolist() == [1] * (cells - 1) + [2]
    below = np.nextafter(edges[1:], 0)
    assert histogram(below, cells, (0.0, 1.0))[0].tolist() == [1] * cells


@pytest.mark.parametrize("support", [(0.0, 4.0), None])
def test_each_checkpoint_counts_the_draws_up_to_it(support):
    sample = np.random.default_rng(0).integers(0, 5, 300)
    stops = [1, 7, 300]
    counts = histogram(sample.astype(float) if support else sample, 5, support, stops)
    edges = np.linspace(0, 4, 6) if support else np.arange(6)
    assert counts.tolist() == [np.histogram(sample[:n], edges)[0].tolist() for n in stops]


def test_a_ladder_has_half_octaves_and_ends_at_n():
    assert ladder(1) == [1]
    assert ladder(17) == [1, 2, 3, 4, 6, 8, 11, 16, 17]
    assert ladder(16) == [1, 2, 3, 4, 6, 8, 11, 16]
    assert ladder(1 << 20)[-3:] == [1 << 19, round(2**19.5), 1 << 20]


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ([0, 0.5, 1.5, -0.1, 1], r"has 2 outputs outside the claimed support \[0, 1\]"),
        ([0.5, 1.5], "has 1 outputs outside"),
        ([0.5, -0.1], "has 1 outputs outside"),
        ([0.5, np.nan], "has 1 outputs outside"),
        ([], "must be a non-empty vector"),
        ([[0.5]], "must be a non-empty vector"),
    ],
)
def test_draws_outside_the_support_are_refused(sample, message):
    with pytest.raises(ArgumentError, match=message):
        histogram(np.array(sample), 4, (0.0, 1.0))


def test_integers_outside_the_outcomes_are_refused():
    with pytest.raises(
        ArgumentError, match=r"has 2 outputs outside the claimed outcomes 0, ..., 2"
    ):
        histogram(np.array([0, 3, -1, 2], np.int32), 3, None)


@pytest.mark.parametrize("stops", [[], [0], [5, 2], [3, 3], [11]])
def test_checkpoints_increase_within_the_draws(stops):
    with pytest.raises(ArgumentError, match="checkpoints must increase"):
        histogram(np.zeros(10), 2, (0.0, 1.0), stops)


def test_cells_and_a_support_are_needed():
    with pytest.raises(ArgumentError, match="cells must be at least 1"):
        histogram(np.zeros(10), 0, (0.0, 1.0))
    with pytest.raises(ArgumentError, match="lower < upper"):
        histogram(np.zeros(10), 2, (1.0, 1.0))

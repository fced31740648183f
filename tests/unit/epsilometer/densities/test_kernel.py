"""Kernel densities at points and on grids, against the definition, and Silverman's bandwidth."""

import math

import numpy as np
import pytest
from scipy import stats

from epsilometer.densities import kernel
from epsilometer.densities.kernel import density_at, density_on_grid, nrd0
from epsilometer.errors import ArgumentError


def defined(sample, points, h):
    """Return the estimate as the definition has it, every draw at every point."""
    return stats.norm.pdf(np.asarray(points)[:, None], sample, h).mean(axis=1)


# --- bandwidths; those of R are in test_binned.py -------------------------------------------------


def test_a_sample_without_a_spread_has_rs_bandwidths():
    assert nrd0([1, 1, 1, 1, 1, 9]) == pytest.approx(0.9 * np.std([1] * 5 + [9], ddof=1) * 6**-0.2)
    assert nrd0([-3.0, -3.0]) == pytest.approx(0.9 * 3 * 2**-0.2)
    assert nrd0([0.0, 0.0, 0.0]) == pytest.approx(0.9 * 3**-0.2)


def test_a_bandwidth_for_vectors_is_that_of_their_columns():
    x = np.random.default_rng(0).normal(size=(4000, 2))
    columns = [nrd0(column) * 4000**0.2 for column in x.T]
    assert nrd0(x) == pytest.approx(math.sqrt(math.prod(columns)) * 4000 ** (-1 / 6))


# --- densities ------------------------------------------------------------------------------------


def test_the_density_of_vectors_is_that_of_a_mixture_of_normal_laws():
    rng = np.random.default_rng(1)
    sample, points = rng.normal(size=(30, 3)), rng.normal(size=(7, 3))
    laws = [stats.multivariate_normal(draw, 0.4**2) for draw in sample]
    expected = np.mean([law.pdf(points) for law in laws], axis=0)
    assert density_at(sample, points, 0.4) == pytest.approx(expected)


@pytest.mark.parametrize("parts", [0.99, 1.0, 1.99, 3.98])
@pytest.mark.parametrize("at", [0.0, 0.011, 0.02])
def test_the_kernel_of_a_single_draw_has_three_digits_anywhere(parts, at):
    """Its bandwidth is just above so many parts of a grid of twelve points a bandwidth."""
    h = 2 / 49 * 12 / parts
    exact = defined([at], np.linspace(-1, 1, 50), h)
    assert np.abs(density_on_grid([at], -1, 1, 50, h) - exact).max() < 1e-3 * exact.max()


def test_draws_outside_the_grid_reach_into_it():
    far = defined([-1.0], np.linspace(0, 2, 9), 0.5)  # from two to six bandwidths
    assert density_on_grid([-1.0], 0, 2, 9, 0.5) == pytest.approx(far, rel=0.1)
    assert density_on_grid([50.0, 60.0], -1, 1, 9, 0.1).tolist() == [0.0] * 9


@pytest.mark.parametrize(
    ("h", "summed"),
    [
        # two points .25 apart: 8.5 bandwidths beyond either end are 17 h / .25 points more
        ((2**22 - 3) / 68, False),
        ((2**22 - 1) / 68, True),
        # 12 points a bandwidth: 3 / h in each of two parts, and 204 beyond the ends
        (6 / (2**22 - 208), False),
        (6 / (2**22 - 200), True),
    ],
)
def test_draws_are_summed_where_a_grid_would_have_more_than_2_to_the_22_points(
    h, summed, monkeypatch
):
    class GridError(Exception):
        pass

    def grid(*_):
        raise GridError

    monkeypatch.setattr(kernel, "linear_counts", grid)
    if summed:
        ours = density_on_grid([0.0, 0.1], 0, 0.25, 2, h)
        assert ours == pytest.approx(defined([0.0, 0.1], [0.0, 0.25], h))
    else:
        with pytest.raises(GridError):
            density_on_grid([0.0, 0.1], 0, 0.25, 2, h)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (nrd0, ([1.0],), "at least 2 draws"),
        (density_at, ([], [0.0], 1.0), "sample must have shape"),
        (density_at, ([[[0.0]]], [0.0], 1.0), "sample must have shape"),
        (density_at, ([0.0], [0.0], 0.0), "bandwidth must be positive"),
        (density_at, ([[0.0, 1.0]], [0.0], 1.0), "points have 1 dimensions, the sample 2"),
        (density_on_grid, ([], 0, 1, 5, 1.0), "sample must be a non-empty vector"),
        (density_on_grid, ([0.0], 1, 0, 5, 1.0), "lower < upper"),
        (density_on_grid, ([0.0], 0, 1, 1, 1.0), "points must be at least 2"),
    ],
)
def test_bad_arguments_are_named(function, arguments, message):
    with pytest.raises(ArgumentError, match=message):
        function(*arguments)

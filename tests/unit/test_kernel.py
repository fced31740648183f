"""Kernel densities and bandwidths against R, the definition and the known integral."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from epsilometer.densities.binned import bkde, dpik, linear_counts
from epsilometer.densities.kernel import density_at, density_on_grid, nrd0
from epsilometer.errors import ArgumentError

DATA = Path(__file__).parents[1] / "data" / "kernsmooth"
GOLDEN = json.loads((DATA / "bandwidths.json").read_text())["samples"]
every_sample = pytest.mark.parametrize("name", sorted(GOLDEN))


def golden_sample(name):
    return np.loadtxt(DATA / "samples" / f"{name}.csv", delimiter=",", skiprows=1, usecols=0)


@every_sample
def test_bandwidths_are_rs(name):
    assert dpik(golden_sample(name)) == pytest.approx(GOLDEN[name]["dpik"], rel=1e-9)
    assert nrd0(golden_sample(name)) == pytest.approx(GOLDEN[name]["bw_nrd0"], rel=1e-9)


@every_sample
@pytest.mark.parametrize("which", ["default", "pooled"])
def test_bkde_is_rs(name, which):
    path = DATA / "bkde" / f"{name}__h11_{which}.csv"
    z, golden = np.loadtxt(path, delimiter=",", skiprows=1, unpack=True)
    ends = tuple(GOLDEN[name]["pooled_range"]) if which == "pooled" else None
    grid, ours = bkde(golden_sample(name), GOLDEN[name]["dpik_pow_1.1"], points=z.size, ends=ends)
    assert grid == pytest.approx(z, rel=1e-12, abs=1e-12)
    assert np.abs(ours - golden).max() < 1e-12 * golden.max()


def test_draws_at_and_beyond_the_ends():
    x = np.array([-1.0, 0.0, 0.25, 1.0, 7.0])
    assert linear_counts(x, 0.0, 1.0, 3).tolist() == [1.5, 0.5, 0.0]


def test_infinite_and_missing_numbers_have_no_bandwidth():
    for value in (math.nan, math.inf, -math.inf):
        sample = np.array([0.0, 1.0, value, 1.5])
        with pytest.raises(ArgumentError, match="sample must be finite"):
            dpik(sample)
        with pytest.raises(ArgumentError, match="sample must be finite"):
            bkde(sample, 0.1, ends=(0.0, 2.0))
        assert linear_counts(sample, 0.0, 2.0, 11).sum() == pytest.approx(3)  # nan is not counted


def test_where_the_grid_is_coarser_than_the_kernel():
    """As nearly at n = 5,000,000 for the Laplace mechanism: the spread of draws shows."""
    x = np.random.default_rng(1).laplace(size=20_000)
    z, density = bkde(x, 1e-4, points=101, ends=(x.min(), x.max()))
    counts = linear_counts(x, x.min(), x.max(), 101)
    np.testing.assert_allclose(density, counts / x.size / (z[1] - z[0]), rtol=1e-9, atol=1e-12)


def test_a_bandwidth_for_vectors_is_that_of_their_columns():
    x = np.random.default_rng(0).normal(size=(4000, 2))
    columns = [nrd0(column) * 4000**0.2 for column in x.T]
    assert nrd0(x) == pytest.approx(math.sqrt(math.prod(columns)) * 4000 ** (-1 / 6))
    assert nrd0(x[:, :1]) == nrd0(x[:, 0])


def test_a_kernel_too_narrow_for_a_grid_is_summed():
    sample = np.array([0.0, 0.5])
    assert density_on_grid(sample, 0, 1, 3, 1e-9) == pytest.approx(
        textbook(sample, [0.0, 0.5, 1.0], 1e-9)
    )


def test_nrd0_falls_back_as_r_does():
    assert nrd0([1, 1, 1, 1, 1, 9]) == pytest.approx(0.9 * np.std([1] * 5 + [9], ddof=1) * 6**-0.2)
    assert nrd0([-3.0, -3.0]) == pytest.approx(0.9 * 3 * 2**-0.2)
    assert nrd0([0.0, 0.0, 0.0]) == pytest.approx(0.9 * 3**-0.2)


def textbook(sample, points, h):
    """Return the estimate as the definition has it, every draw at every point."""
    z = (np.asarray(points)[:, None] - np.asarray(sample)[None, :]) / h
    return np.exp(-0.5 * z**2).sum(axis=1) / (len(sample) * h * math.sqrt(2 * math.pi))


@pytest.mark.parametrize("h", [0.003, 0.02, 0.1, 1.0])
@pytest.mark.parametrize("points", [2, 50, 1000])
def test_the_grid_is_the_definition_to_four_digits_of_the_peak(h, points):
    sample = np.random.default_rng(0).laplace(0.2, 1, 20_000)
    some = slice(None, None, max(points // 140, 1))  # of a thousand every seventh, or it takes long
    exact = textbook(sample, np.linspace(-1, 1, points)[some], h)
    ours = density_on_grid(sample, -1, 1, points, h)[some]
    assert np.abs(ours - exact).max() < 1e-3 * exact.max()


def test_draws_outside_the_grid_reach_into_it():
    sample = np.array([-1.2, 1.1, 5.0])
    exact = textbook(sample, np.linspace(-1, 1, 9), 0.3)
    ours = density_on_grid(sample, -1, 1, 9, 0.3)
    assert ours == pytest.approx(exact, rel=5e-3, abs=1e-9)
    far = density_on_grid(np.array([50.0, 60.0]), -1, 1, 9, 0.1)
    assert far.tolist() == [0.0] * 9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dpik([1.0]), "sample must be a vector of 2 draws"),
        (lambda: dpik([1.0, 1.0, 1.0, 1.0, 2.0]), "sample has scale 0 by minim"),
        (lambda: bkde([1.0, 2.0], 0.1, points=1), "points must be at least 2"),
        (lambda: bkde([1.0, 2.0], 0.0), "bandwidth must be positive"),
        (lambda: bkde([1.0, 2.0], math.inf), "bandwidth must be a finite number"),
        (lambda: bkde([1.0, 2.0], 0.1, ends=(1.0, 0.0)), "lower < upper"),
        (lambda: nrd0([1.0]), "at least 2 draws"),
        (lambda: density_at([], [0.0], 1.0), "sample must have shape"),
        (lambda: density_at([0.0], [0.0], 0.0), "bandwidth must be positive"),
        (lambda: density_at([[0.0, 1.0]], [0.0], 1.0), "points have 1 dimensions, the sample 2"),
        (lambda: density_on_grid([], 0, 1, 5, 1.0), "sample must be a non-empty vector"),
        (lambda: density_on_grid([0.0], 1, 0, 5, 1.0), "lower < upper"),
        (lambda: density_on_grid([0.0], 0, 1, 1, 1.0), "points must be at least 2"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()

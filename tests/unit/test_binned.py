"""dpik and bkde against the values that R computed."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from epsilometer.densities.binned import bkde, dpik, linear_counts
from epsilometer.errors import ArgumentError

DATA = Path(__file__).parents[1] / "data" / "kernsmooth"
GOLDEN = json.loads((DATA / "bandwidths.json").read_text())["samples"]
every_sample = pytest.mark.parametrize("name", sorted(GOLDEN))


def golden_sample(name):
    return np.loadtxt(DATA / "samples" / f"{name}.csv", delimiter=",", skiprows=1, usecols=0)


@every_sample
def test_dpik_is_rs(name):
    assert dpik(golden_sample(name)) == pytest.approx(GOLDEN[name]["dpik"], rel=1e-9)


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dpik([1.0]), "sample must be a vector of 2 draws"),
        (lambda: dpik([1.0, 1.0, 1.0, 1.0, 2.0]), "sample has scale 0 by minim"),
        (lambda: bkde([1.0, 2.0], 0.1, points=1), "points must be at least 2"),
        (lambda: bkde([1.0, 2.0], 0.0), "bandwidth must be positive"),
        (lambda: bkde([1.0, 2.0], math.inf), "bandwidth must be a finite number"),
        (lambda: bkde([1.0, 2.0], 0.1, ends=(1.0, 0.0)), "lower < upper"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_infinite_and_missing_numbers_have_no_bandwidth(value):
    sample = np.array([0.0, 1.0, value, 1.5])
    with pytest.raises(ArgumentError, match="sample must be finite"):
        dpik(sample)
    with pytest.raises(ArgumentError, match="sample must be finite"):
        bkde(sample, 0.1, ends=(0.0, 2.0))
    counts = linear_counts(sample, 0.0, 2.0, 11)  # nan is not counted
    assert counts.sum() == pytest.approx(3)


def test_where_the_grid_is_coarser_than_the_kernel():
    """As nearly at n = 5,000,000 for the Laplace mechanism: the spread of draws shows."""
    x = np.random.default_rng(1).laplace(size=20_000)
    z, density = bkde(x, 1e-4, points=101, ends=(x.min(), x.max()))
    counts = linear_counts(x, x.min(), x.max(), 101)
    np.testing.assert_allclose(density, counts / x.size / (z[1] - z[0]), rtol=1e-9, atol=1e-12)

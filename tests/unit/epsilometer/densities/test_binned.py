"""Binned kernel estimates: those of R, and what is promised of any sample."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from epsilometer.densities.binned import RealSample, bkde, dpik, linear_counts
from epsilometer.densities.kernel import nrd0
from epsilometer.errors import ArgumentError

DATA = Path(__file__).parents[3] / "data" / "kernsmooth"
OF_R = json.loads((DATA / "bandwidths.json").read_text())["samples"]
every_sample = pytest.mark.parametrize("name", sorted(OF_R))


def sample_of(name):
    return np.loadtxt(DATA / "samples" / f"{name}.csv", delimiter=",", skiprows=1, usecols=0)


@every_sample
def test_bandwidths_are_rs(name):
    assert dpik(sample_of(name)) == pytest.approx(OF_R[name]["dpik"], rel=1e-9)
    assert nrd0(sample_of(name)) == pytest.approx(OF_R[name]["bw_nrd0"], rel=1e-9)


@every_sample
@pytest.mark.parametrize("which", ["default", "pooled"])
def test_curves_are_rs(name, which):
    path = DATA / "bkde" / f"{name}__h11_{which}.csv"
    z, density = np.loadtxt(path, delimiter=",", skiprows=1, unpack=True)
    ends = tuple(OF_R[name]["pooled_range"]) if which == "pooled" else None
    grid, ours = bkde(sample_of(name), OF_R[name]["dpik_pow_1.1"], points=z.size, ends=ends)
    assert grid == pytest.approx(z, rel=1e-12, abs=1e-12)
    assert np.abs(ours - density).max() < 1e-12 * density.max()


def test_draws_at_and_beyond_the_ends_are_dropped_and_nan_too():
    x = np.array([-1.0, -0.1, 0.0, 0.25, 1.0, 7.0, math.nan])
    assert linear_counts(x, 0.0, 1.0, 3).tolist() == [1.5, 0.5, 0.0]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_infinite_and_missing_numbers_have_no_bandwidth(value):
    with pytest.raises(ArgumentError, match="sample must be finite"):
        dpik([0.0, 1.0, value, 1.5])


@pytest.mark.parametrize("sign", [1, -1])
def test_the_ends_and_moments_of_a_sample_are_those_of_all_its_draws(sign):
    x = np.sort(sign * np.random.default_rng(2).exponential(size=20_000))
    sample = RealSample.of(x)
    assert (sample.low, sample.high) == (x[0], x[-1])
    assert sample.mean == pytest.approx(np.mean(x))
    assert sample.deviation == pytest.approx(np.std(x, ddof=1))


@pytest.mark.parametrize("points", [2, 101])
def test_where_the_grid_is_coarser_than_the_kernel_the_curve_is_a_histogram(points):
    x = np.random.default_rng(1).laplace(size=20_000)
    z, density = bkde(x, 1e-4, points=points, ends=(x.min(), x.max()))
    counts = linear_counts(x, x.min(), x.max(), points)
    np.testing.assert_allclose(density, counts / x.size / (z[1] - z[0]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"points": 1}, "points must be at least 2"),
        ({"bandwidth": 0.0}, "bandwidth must be positive"),
        ({"bandwidth": math.inf}, "bandwidth must be a finite number"),
        ({"ends": (1.0, 0.0)}, "lower < upper"),
    ],
)
def test_bad_arguments_of_a_curve_are_named(options, message):
    with pytest.raises(ArgumentError, match=message):
        bkde([1.0, 2.0], **({"bandwidth": 0.1} | options))


def test_samples_without_a_scale_have_no_bandwidth():
    with pytest.raises(ArgumentError, match="sample must be a vector of 2 draws"):
        dpik([1.0])
    with pytest.raises(ArgumentError, match="sample has scale 0 by minim"):
        dpik([1.0, 1.0, 1.0, 1.0, 2.0])

"""Histograms, frequencies, kernels and atoms: against naive versions and R, and at every edge."""

import json
import math
import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from epsilometer.densities import atoms, kernel
from epsilometer.densities.atoms import refuse_atoms
from epsilometer.densities.binned import RealSample, bkde, dpik, linear_counts
from epsilometer.densities.frequencies import (
    _ranks,
    cell_frequencies,
    frequencies,
    joint_counts,
)
from epsilometer.densities.histogram import histogram, ladder
from epsilometer.densities.kernel import density_at, density_on_grid, nrd0
from epsilometer.densities.pair import reduce_pair
from epsilometer.errors import ArgumentError

# --- histograms -----------------------------------------------------------------------------------


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


@pytest.mark.parametrize("support", [(0.0, 4.0), None])
def test_each_checkpoint_counts_the_draws_up_to_it(support):
    sample, stops = np.random.default_rng(0).integers(0, 5, 300), [1, 2, 7, 300]
    used = sample if support is None else sample.astype(float)
    counts = histogram(used, 5, support, stops)
    ends = np.arange(6) if support is None else np.linspace(0, 4, 6)
    assert counts.tolist() == [np.histogram(sample[:n], ends)[0].tolist() for n in stops]


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
        ((np.array([0, 0.5, 1.5, -0.1, 1]), 4, ends), "has 2 outputs outside the claimed support"),
        ((np.array([0.5, 1.5]), 4, ends), "has 1 outputs outside"),
        ((np.array([0.5, -0.1]), 4, ends), "has 1 outputs outside"),
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


# --- frequencies, and cells between quantiles -----------------------------------------------------


def counts(x, y, cells):
    p, q = cell_frequencies(x, y, cells)
    return np.rint(p * x.size).astype(int), np.rint(q * y.size).astype(int)


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
    p, q = counts(rng.normal(size=n), rng.normal(1, 1, n), cells)
    assert p.sum() == q.sum() == n
    assert (p + q).tolist() == held


@pytest.mark.parametrize("exchanged", [False, True])
def test_few_draws_are_sorted_wherever_the_sides_are(exchanged, monkeypatch):
    """3 % show where most are, and 3 % share a slice with an end of a cell, and are merged."""
    rng, sorted_ = np.random.default_rng(0), []
    sides = [rng.normal(0, 1, 300_000), rng.normal(5, 1, 30_000)]
    for side in sides:
        outliers = rng.random(side.size) < 0.014
        side[outliers] = 1e6 * rng.normal(size=np.count_nonzero(outliers))
    sort = np.sort
    monkeypatch.setattr(np, "sort", lambda x: sorted_.append(len(x)) or sort(x))
    cell_frequencies(*([-sides[1], -sides[0]] if exchanged else sides), 50)
    assert sum(sorted_) < 0.1 * 330_000


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


def sorted_frequencies(x, y, cells):
    """Count in the same cells, by sorting all draws of both sides."""
    merged = np.sort(np.concatenate([x, y]))
    starts = merged[_ranks(merged.size, cells)]
    repeated = starts[1:][starts[1:] == starts[:-1]]
    edges = np.unique([*starts, *np.nextafter(repeated, np.inf)])
    below = [np.searchsorted(np.sort(side), edges) for side in (x, y)]
    held = [np.diff(b, prepend=0, append=s.size) for b, s in zip(below, (x, y), strict=True)]
    return [side[sum(held) > 0] / side.sum() for side in held]


DRAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "far tails": lambda rng, n: rng.standard_cauchy(n) ** 5,
    "a lattice": lambda rng, n: np.rint(3 * rng.normal(size=n)),
    "one value": lambda _, n: np.zeros(n),
    "an atom beside a narrow peak": lambda rng, n: (
        rng.integers(2, size=n) * (1 + 1e-9 * rng.random(n))
    ),
    "subnormal": lambda rng, n: 1e-310 * rng.normal(size=n),
    "huge": lambda rng, n: 1e308 * rng.normal(size=n).clip(-1.7, 1.7),
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.1, -np.inf, rng.normal(size=n)),
    "in order": lambda rng, n: np.sort(rng.exponential(size=n)),
}


@pytest.mark.parametrize("draws", DRAWS.values(), ids=DRAWS)
@pytest.mark.parametrize("sizes", [(1, 9), (700, 300), (20_000, 41_000)])
def test_cells_are_those_of_sorted_draws(draws, sizes):
    rng = np.random.default_rng(4)
    for cells in (2, 30, 1000):
        sides = [draws(rng, n) for n in sizes]
        both = cell_frequencies(*sides, cells), sorted_frequencies(*sides, cells)
        for ours, theirs in zip(*both, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("names", [[0, 2, 5, 7], [-9, 2, 5, 7], [[-3, 4], [0, 1], [1, 0], [1, 2]]])
@pytest.mark.parametrize("exchanged", [False, True])
def test_by_hand(names, exchanged):
    """Small outcomes, one below 0 on one side alone, and tuples; either side may be empty."""
    names = np.array(names)
    sides = [names[[2, 2, 1, 0]], names[[1, 3]]]
    shares = [[0.25, 0.25, 0.5, 0.0], [0.0, 0.5, 0.0, 0.5]]
    step = -1 if exchanged else 1
    outcomes, *found = frequencies(*sides[::step])
    assert outcomes.tolist() == names.tolist()
    assert [side.tolist() for side in found] == shares[::step]
    alone = [sides[0], sides[0][:0]]
    outcomes, *found = joint_counts(*alone[::step])
    assert outcomes.tolist() == names[:3].tolist()
    assert [side.tolist() for side in found] == [[1, 1, 2], [0, 0, 0]][::step]
    with pytest.raises(ArgumentError, match="x has no draws to train on"):
        joint_counts(alone[1], alone[1])


@pytest.mark.parametrize("shift", [0, -7, 10**6])
def test_counting_and_sorting_agree(shift):
    """Small outcomes are count_outcomes, others sorted: the same frequencies."""
    rng = np.random.default_rng(0)
    x, y = rng.poisson(3, 500), rng.poisson(4, 400)
    small, sorted_ = frequencies(x, y), frequencies(x + shift, y + shift)
    np.testing.assert_array_equal(small[0] + shift, sorted_[0])
    np.testing.assert_array_equal(small[1], sorted_[1])
    np.testing.assert_array_equal(small[2], sorted_[2])


def test_bad_arguments_of_frequencies_are_named():
    for x, y in [([1, 2], [[1, 2]]), ([[1, 2]], [[1, 2, 3]]), ([], [1]), ([[[1]]], [[[1]]])]:
        for both in ((x, y), (y, x)):
            with pytest.raises(ArgumentError, match=r"x_prime has shape|must not be empty"):
                frequencies(*(np.array(side, int) for side in both))
    for side, cells, message in (
        ([1.0, math.nan], 9, "outputs must be numbers"),
        ([], 9, "outputs must be numbers, at least one a side"),
        ([1.0, 2.0], 1, "cells must be at least 2"),
    ):
        for both in ((side, [0.0, 1.0]), ([0.0, 1.0], side)):
            with pytest.raises(ArgumentError, match=message):
                cell_frequencies(*map(np.array, both), cells)


# --- kernel densities and bandwidths --------------------------------------------------------------

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
    x = np.array([-1.0, -0.1, 0.0, 0.25, 1.0, 7.0])
    assert linear_counts(x, 0.0, 1.0, 3).tolist() == [1.5, 0.5, 0.0]


def test_infinite_and_missing_numbers_have_no_bandwidth():
    for value in (math.nan, math.inf, -math.inf):
        sample = np.array([0.0, 1.0, value, 1.5])
        with pytest.raises(ArgumentError, match="sample must be finite"):
            dpik(sample)
        with pytest.raises(ArgumentError, match="sample must be finite"):
            bkde(sample, 0.1, ends=(0.0, 2.0))
        assert linear_counts(sample, 0.0, 2.0, 11).sum() == pytest.approx(3)  # nan is not counted


def test_the_ends_and_moments_of_a_sample_are_those_of_all_its_draws():
    x = np.random.default_rng(2).exponential(size=20_000)
    for draws in (x, np.sort(x), np.sort(-x)):
        sample = RealSample.of(draws)
        assert (sample.low, sample.high) == (draws.min(), draws.max())
        moments = sample.mean, sample.deviation
        assert moments == pytest.approx((np.mean(draws), np.std(draws, ddof=1)))


def test_a_bandwidth_moves_with_the_unit_and_not_with_the_place():
    """Of a sample around 0 to the bit, too."""
    x = np.random.default_rng(3).laplace(size=500)
    x = np.append(x, -x)
    h = dpik(x)
    assert [dpik(3 * x), dpik(x + 5), dpik(3 * x - 1)] == pytest.approx([3 * h, h, 3 * h])


@pytest.mark.parametrize("points", [2, 101])
def test_where_the_grid_is_coarser_than_the_kernel(points):
    """As nearly at n = 5,000,000 for the Laplace mechanism: the spread of draws shows."""
    x = np.random.default_rng(1).laplace(size=20_000)
    z, density = bkde(x, 1e-4, points=points, ends=(x.min(), x.max()))
    counts = linear_counts(x, x.min(), x.max(), points)
    np.testing.assert_allclose(density, counts / x.size / (z[1] - z[0]), rtol=1e-9, atol=1e-12)


def test_a_bandwidth_for_vectors_is_that_of_their_columns():
    x = np.random.default_rng(0).normal(size=(4000, 2))
    columns = [nrd0(column) * 4000**0.2 for column in x.T]
    assert nrd0(x) == pytest.approx(math.sqrt(math.prod(columns)) * 4000 ** (-1 / 6))
    assert nrd0(x[:, :1]) == nrd0(x[:, 0])


def test_the_density_of_vectors_is_that_of_a_mixture_of_normal_laws():
    rng = np.random.default_rng(1)
    sample, points = rng.normal(size=(30, 3)), rng.normal(size=(7, 3))
    laws = [stats.multivariate_normal(draw, 0.4**2) for draw in sample]
    expected = np.mean([law.pdf(points) for law in laws], axis=0)
    assert density_at(sample, points, 0.4) == pytest.approx(expected)


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
    def grid(*_):
        raise LookupError

    sample = np.array([0.0, 0.1])
    monkeypatch.setattr(kernel, "linear_counts", grid)
    try:
        ours = density_on_grid(sample, 0, 0.25, 2, h)
    except LookupError:
        assert not summed
    else:
        assert summed
        assert ours == pytest.approx(textbook(sample, [0.0, 0.25], h))


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


@pytest.mark.parametrize("parts", [0.99, 1.0, 1.99, 3.98])
def test_the_kernel_of_a_single_draw_has_three_digits_anywhere(parts):
    """Its bandwidth is just above so many parts of a grid of twelve points a bandwidth."""
    h = 2 / 49 * 12 / parts
    for at in (0.0, 0.011, 0.02):
        exact = textbook([at], np.linspace(-1, 1, 50), h)
        assert np.abs(density_on_grid([at], -1, 1, 50, h) - exact).max() < 1e-3 * exact.max()
    exact = textbook([-1 - 5 * h], np.linspace(-1, -1 + 3 * h, 50), h)  # far from the draw
    assert density_on_grid([-1 - 5 * h], -1, -1 + 3 * h, 50, h) == pytest.approx(exact, rel=0.1)


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
        (lambda: density_at([[[0.0]]], [0.0], 1.0), "sample must have shape"),
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


# --- atoms among real outputs ---------------------------------------------------------------------


def refused(*sides):
    try:
        refuse_atoms(*sides)
    except ArgumentError:
        return True
    return False


@pytest.mark.parametrize("mass", [0.001, 0.01, 0.4])
@pytest.mark.parametrize("n", [20_000, 100_000])
def test_clamped_outputs_are_refused_at_every_seed(n, mass):
    """Of 300 seeds, the first thousand draws refused 126 at 1 %."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        assert refused(*rng.laplace(size=(2, n)).clip(None, math.log(0.5 / mass)))


@pytest.mark.parametrize("mass", [1e-5, 1e-4])
def test_atoms_without_effect_on_an_answer_are_not_refused(mass):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        assert not refused(*rng.laplace(size=(2, 100_000)).clip(None, math.log(0.5 / mass)))


@pytest.mark.parametrize("draw", ["standard_cauchy", "exponential", "normal", "uniform"])
@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e200])
def test_densities_are_not_refused_in_any_unit(draw, unit):
    rng = np.random.default_rng(0)
    for n in (1, 2, 100, 50_000):
        x = getattr(rng, draw)(size=n) * unit
        assert not refused(x)
        if unit == 1.0:
            assert not refused(x.astype(np.float32).astype(float))


def test_draws_of_a_density_are_counted_but_not_sorted(monkeypatch):
    """Ten in one of 2^14 slots, which are few, are an alarm in .002."""
    sorted_, sides = [], np.random.default_rng(0).normal(size=(2, 8000))
    monkeypatch.setattr(atoms, "_largest_atom", lambda *given: sorted_.append(given))
    tracemalloc.start()
    refuse_atoms(*sides)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not sorted_
    assert peak < 10**6


def test_zeros_of_both_signs_are_one_value_and_a_late_atom_is_refused():
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    x[10_000:10_012:2], x[10_001:10_012:2] = 0.0, -0.0
    x[:5000] += 100
    assert not refused(x)  # 12 draws amid thousands
    late = np.concatenate([rng.normal(size=20_000), np.full(500, 7.0)])
    with pytest.raises(ArgumentError, match=r"with an atom \(500 of 20500 draws on one value\)"):
        refuse_atoms(late)
    signs = np.append(np.zeros(8), -np.zeros(8))
    assert refused(signs)
    assert refused(np.append(rng.normal(50, 1, 20_000), signs))


def test_nan_is_an_error_at_any_place():
    late = np.append(np.random.default_rng(0).normal(size=5000), math.nan)
    with pytest.raises(ArgumentError, match="are mixed: some entries are not numbers"):
        refuse_atoms(late)


@pytest.mark.parametrize(
    ("others", "at", "most", "sides"),
    [
        (20, 9.0, 9, 1),  # ten draws
        (9_989, 9.0, 9, 2),
        (39_980, 9.0, 19, 2),  # .05 % of all draws
        (9_835, 0.5, 165, 1),  # a tenth of the draws in reach, and four standard deviations
        (9_815, 0.5, 185, 2),  # the reach is that of the draws of one side
    ],
)
def test_an_atom_is_refused_from_so_many_draws_on(others, at, most, sides):
    """Amid draws at even distances from 0 to 1, or alone; the reach follows from the quartiles.

    As many as the atom are taken for the tenth; the last cases are near their limits, by 3 %.
    """
    even = np.linspace(0, 1, others)
    if at < 1:
        reach = 0.9 * 0.5 / 1.349 * (10_000 / sides) ** -0.2
        near = 0.1 * (2 * reach * others + most)
        assert near + 4 * math.sqrt(near) == pytest.approx(most, rel=0.01)
    few, many = (most, most + 1) if at > 1 else (int(0.97 * most), int(1.03 * most) + 1)
    for size, expected in ((few, False), (many, True)):
        draws = np.append(even, np.full(size, at))
        assert refused(*(draws[i::sides] for i in range(sides))) == expected


# --- both sides of a pair -------------------------------------------------------------------------


def test_a_pair_of_reals_has_the_bandwidth_of_each_side_on_one_grid():
    x, x_prime = np.random.default_rng(8).laplace([[0], [3]], [[1], [2]], (2, 900))
    for sides in ((x_prime[:700], x), (x, x_prime[:700])):
        pair = reduce_pair(*sides, {"points": 150, "power": 1.1})
        ends = min(map(np.min, sides)), max(map(np.max, sides))
        assert pair.bandwidths == tuple(dpik(side) ** 1.1 for side in sides)
        assert pair.spacing == pytest.approx((ends[1] - ends[0]) / 149)
        for side, density, h in zip(sides, (pair.p, pair.q), pair.bandwidths, strict=True):
            np.testing.assert_array_equal(density, bkde(side, h, points=150, ends=ends)[1])
    swapped = pair.swapped()
    assert (swapped.p is pair.q, swapped.q is pair.p) == (True, True)
    assert swapped.bandwidths == pair.bandwidths[::-1]
    assert swapped.spacing == pair.spacing


def test_a_pair_of_outcomes_or_of_cells_is_counted():
    x, x_prime = np.random.default_rng(8).integers(0, 4, (2, 900))
    for pair, (p, q) in [
        (reduce_pair(x, x_prime, {"cells": 9}), frequencies(x, x_prime)[1:]),
        (reduce_pair(x * 0.5, x_prime * 0.5, {"cells": 9}), cell_frequencies(x, x_prime, 9)),
    ]:
        np.testing.assert_array_equal([pair.p, pair.q], [p, q])
        assert (pair.spacing, pair.bandwidths) == (1, (0, 0))

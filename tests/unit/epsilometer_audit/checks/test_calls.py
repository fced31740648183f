"""Draws are of calls in random order, and have scores and groups that were fixed before them."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from epsilometer_audit.checks import calls
from epsilometer_audit.checks.calls import Call, Calls, Sample, draw_calls
from tests.unit.epsilometer_audit.checks.laws import rng

# --- scores ---------------------------------------------------------------------------------------


def standardised(values):
    return pytest.approx((values - values.mean()) / values.std())


def test_equal_outputs_have_equal_scores():
    rows = np.tile(rng(1).choice([0.1, 0.2, 0.7], (7, 11)), (30, 1))
    for score in Sample([rows], "rows").scores:
        assert (score[:].reshape(30, 7) == score[:7]).all()


def test_scores_of_numbers_are_ranks_and_their_distances_from_the_median():
    numbers = rng(1).normal(size=101)
    ranks, distances = Sample([numbers], "").scores
    shares = (stats.rankdata(numbers) - 0.5) / 101
    assert ranks[:] == standardised(shares)
    assert distances[:] == standardised((shares - 0.5) ** 2)


def test_outputs_that_repeat_have_a_sign_each():
    counts = rng(2).geometric(0.3, 200)
    ranks, _, signs = Sample([counts], "").scores
    assert ranks[:] == standardised(stats.rankdata(counts))
    assert len(set(signs[:].round(9))) == 2
    for count in set(counts):
        assert len(set(signs[:][counts == count])) == 1
    for different, number in ((50, 3), (51, 2)):  # half of the outputs, or more
        assert len(Sample([np.arange(100) % different], "").scores) == number


@pytest.mark.parametrize("width", [2, 3, 6])
@pytest.mark.parametrize("digits", [9, 1], ids=["different", "repeated"])
def test_of_vectors_four_entries_and_the_sum_of_all_with_a_sign_each_have_scores(width, digits):
    rows = rng(3).normal(size=(50, width)).round(digits) + 0.0  # not -0.0
    *of_entries, of_sum, _ = Sample([rows], "").scores
    ranks = stats.rankdata(rows, axis=0).T
    assert len(of_entries) == min(width, 4)
    for score in of_entries:
        assert any(score[:] == standardised(entry) for entry in ranks)
    sums = [np.array(signs) @ ranks for signs in itertools.product([-1, 1], repeat=width)]
    assert any(of_sum[:] == standardised(stats.rankdata(each)) for each in sums)


def test_entries_that_do_not_vary_have_no_score():
    rows = np.zeros((50, 9))
    rows[:, 7:] = rng(3).normal(size=(50, 2))
    assert len(Sample([rows], "").scores) == 4  # of both entries, their sum and its distance


def test_many_numbers_have_classes_that_are_finest_near_both_ends():
    numbers = rng(4).permutation(20_000).astype(float)
    of_numbers = calls._classes([numbers[:9000], numbers[9000:]])
    in_order = of_numbers.classes[numbers.argsort()]
    assert (
        in_order.tolist() == np.repeat(np.arange(of_numbers.times.size), of_numbers.times).tolist()
    )
    starts = np.flatnonzero(np.diff(in_order)) + 1
    near = [1, 4, 16, 64]  # draws, up to the width of a class
    assert np.isin(near, starts).all()
    assert np.isin([19_999 - k for k in near], starts).all()
    assert of_numbers.times.max() in (math.floor(20_000 / 31), math.ceil(20_000 / 31))
    assert of_numbers.times.min() > 0
    numbers[::2] = np.nan  # which are one more
    with_missing = calls._classes([numbers])
    assert with_missing.times[-1] == 10_000
    assert (with_missing.classes[::2] == with_missing.times.size - 1).all()
    assert calls._classes([np.zeros(9000)]).times.tolist() == [9000]


def test_up_to_8192_numbers_have_a_class_each():
    numbers = rng(4).permutation(20_000).astype(float)
    assert len(calls._classes([numbers[:8192]]).times) == 8192
    assert len(calls._classes([numbers[:8193]]).times) < 100


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("wide", [[-(2**31) - 1, 2**31 - 1], [-(2**31), 2**31]])
def test_numbers_of_all_batches_tell_which_are_too_large_for_32_bits(way, wide):
    """Both are equal in 32 bits."""
    sample = Sample([[0, 1], wide][::way], "seeds")
    assert len({*sample.codes.tolist()}) == 4


@pytest.mark.parametrize("numbers", [[-(2**31), 2**31], [2**31 - 1, -(2**31) - 1, 0]])
def test_whole_numbers_beyond_four_bytes_stay_apart(numbers):
    sample = Sample([np.array(numbers * 3)], "")
    assert sample.times.tolist() == [3] * len(numbers)
    assert sample.codes.tolist() == [sorted(numbers).index(number) for number in numbers] * 3


# --- calls ----------------------------------------------------------------------------------------


class Recorder:
    """Normal noise; it keeps what it is asked for."""

    def __init__(self):
        self.asked = []

    def __call__(self, x, size, seed):
        self.asked.append((x, size, seed))
        return rng(seed).normal(size=size)


def test_draws_are_of_short_calls_a_long_one_and_ones_between_which_inputs_change():
    """A fortieth of the draws each: a dozen calls, and as many draws as calls of their own."""
    draw = Recorder()
    samples = draw_calls(draw, [0, 1, 2], 800, rng(0))
    inputs = [x for x, *_ in draw.asked]
    before = dict(zip(draw.asked, [-1, *inputs], strict=False))
    assert inputs != sorted(inputs)
    seeds = {seed for *_, seed in draw.asked}
    assert len(seeds) == len(draw.asked)
    assert all(type(seed) is int and 0 <= seed < 2**31 for seed in seeds)
    assert max(seeds) > 2**28  # but for a chance of 8^-150
    short = ones = 20
    long = 800 - 12 * short - ones - short  # of which one call is repeated later
    for x, sample in enumerate(samples):
        own = [request for request in draw.asked if request[0] == x]
        sizes = [size for _, size, _ in own]
        assert sizes == sample.batches
        assert sorted(sizes) == [1] * ones + [short] * 12 + [long]
        assert sizes[:10] == sizes[-10:] == [1] * 10
        assert sizes[sample.first] == short
        assert sizes[sample.longest] == long == sample.long.stop - sample.long.start
        assert sample.short.shape == (12, short)
        assert sample.before.tolist() == np.repeat([before[each] for each in own], sizes).tolist()


def test_groups_of_draws_are_those_of_their_names():
    sizes_and_inputs_before = [(1, -1), (2, 0), (1, 1), (6, 1)]
    made = []
    for seed, (size, before) in enumerate(sizes_and_inputs_before):
        made.append(Call(seed, before, np.arange(float(size))))
    groups = []
    for name, inside in Calls(1, "x", made).groups():
        groups.append((name, np.flatnonzero(inside).tolist()))
    assert groups == [
        ("first outputs of calls", [0, 1, 3, 4]),
        ("outputs of calls of one draw", [0, 3]),
        ("outputs of a call of 6 draws", [*range(4, 10)]),
        ("outputs of calls after one on another input", [1, 2]),
        ("first outputs of calls after one on another input", [1]),
        ("outputs of calls after one on the same input", [*range(3, 10)]),
        ("first outputs of calls after one on the same input", [3, 4]),
        ("outputs of a call of 2 draws", [1, 2]),
        ("early outputs", [*range(3)]),
        ("outputs of a call of 6 draws", [*range(4, 10)]),
        ("early outputs", [*range(10)]),
    ]

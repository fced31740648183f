"""Counting numbers of two samples, against sorting and searching them."""

import numpy as np
import pytest

from epsilometer_audit.events.events import Event, View
from epsilometer_audit.events.tallies import FOLDS, Tally, fifths


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("low", [0, 5, -40])
def test_a_tally_agrees_with_sorting(dtype, low):
    rng = np.random.default_rng(0)
    x, y = (rng.binomial(60, p, n) + low for p, n in ((0.2, 500), (0.6, 401)))
    x, y = x.astype(dtype), y.astype(dtype)
    tally = Tally.of(x, y)
    values, times = np.unique(np.concatenate([x, y]), return_counts=True)
    assert tally.values.dtype == dtype
    np.testing.assert_array_equal(tally.values, values)
    np.testing.assert_array_equal(tally.times, times)
    ranks = np.arange(901)
    np.testing.assert_array_equal(tally.ranked(ranks), np.sort(np.concatenate([x, y])))
    for folds, side in zip(tally.folds, (x, y), strict=True):
        for counts, part in zip(folds, fifths(side.size), strict=True):
            assert counts.tolist() == [int((side[part] == value).sum()) for value in values]


def test_cells_of_a_tally_are_those_of_the_draws():
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 100, (2, 1000)).astype(np.int32)
    starts = np.array([3, 4, 40, 41, 99, 100], np.int32)  # the last cell holds nothing
    for folds, side in zip(Tally.of(x, y).in_cells(starts, 7), (x, y), strict=True):
        cells = np.searchsorted(starts, side, side="right")
        naive = [np.bincount(cells[part], None, 7) for part in fifths(side.size)]
        np.testing.assert_array_equal(folds, naive)


@pytest.mark.parametrize("size", [1, 4, 5, 7, 100])
def test_fifths_hold_every_draw_once(size):
    every = np.arange(size)
    parts = [every[part] for part in fifths(size)]
    assert len(parts) == FOLDS
    np.testing.assert_array_equal(np.concatenate(parts), every)


def test_there_is_no_tally_of_reals_nor_of_numbers_far_apart():
    whole = np.array([1, 2, 3])
    assert Tally.of(whole, whole) is not None
    assert Tally.of(whole, np.array([1, 2, 2**62])) is None
    assert Tally.of(whole, whole[:0]) is None
    assert Tally.of(whole.astype(float), whole.astype(float)) is None


@pytest.mark.parametrize(
    "event",
    [
        Event(()),
        Event(((None, 3), (5, 5), (9, None))),
        Event(tuple((i, i) for i in range(0, 40, 2))),
        Event(((1, 1),), view=View("bit", 2)),
    ],
)
@pytest.mark.parametrize("low", [0, -9, 10**6])
def test_an_event_counts_the_outputs_that_it_holds(event, low):
    rng = np.random.default_rng(2)
    sample = (rng.integers(0, 50, 1000) + low).astype(np.int32)
    naive = [
        any((a is None or value >= a) and (b is None or value <= b) for a, b in event.ranges)
        for value in event.view.of(sample).tolist()
    ]
    assert event.holds(sample).tolist() == naive
    assert event.count(sample) == sum(naive)


@pytest.mark.parametrize("ranges", [3, 30])
def test_reals_in_few_and_in_many_ranges(ranges):
    rng = np.random.default_rng(3)
    ends = np.sort(rng.normal(size=2 * ranges)).reshape(-1, 2)
    ends = [(None, float(ends[0, 1])), *map(tuple, ends[1:].tolist())]
    sample = np.concatenate([rng.normal(size=2000), [b for _, b in ends], [np.nan, np.inf]])
    naive = [any((a is None or x >= a) and x <= b for a, b in ends) for x in sample.tolist()]
    for missing in (False, True):
        naive[-2] = missing
        event = Event(tuple(ends), missing)
        assert event.holds(sample).tolist() == naive
        assert event.count(sample) == sum(naive)

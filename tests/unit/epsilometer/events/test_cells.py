"""Cells divide the numbers of outputs, and count both sides by fifths of the draws."""

import math
from collections import Counter

import numpy as np
import pytest

from epsilometer.events.candidates import fifths
from epsilometer.events.cells import Numbers, Values, _next, _starts, _tally
from epsilometer.events.events import View
from tests.unit.audits import again

NAN, INF = math.nan, math.inf


def counts_by_fifth(codes, size):
    return [np.bincount(codes[part], None, size).tolist() for part in fifths(codes.size)]


def following(number):
    return number + 1 if isinstance(number, np.integer) else math.nextafter(number, INF)


def plain_starts(sides, cells, tails):
    """Return the starts of cells, number by number."""
    rising = [np.sort(side[~np.isnan(side)]) for side in sides]
    pooled = sorted(np.concatenate(rising))
    last = len(pooled) - 1
    starts = [pooled[round(i * last / cells)] for i in range(1, cells)]
    least = max(8, len(pooled) / (50_000 if tails else 2000))
    for number, times in sorted(Counter(pooled).items(), key=lambda each: -each[1])[:128]:
        if times >= least:
            starts += [number, following(number)]
    for side in rising if tails else ():
        draws = len(side) / cells
        while draws >= 4:
            at = int(draws)
            starts += [side[at], side[-1 - at]]
            draws /= 2
        far = min(4, len(side) - 1)
        starts += [2 * side[0] - side[far], following(2 * side[-1] - side[-1 - far])]
    return sorted({float(start) for start in starts if pooled[0] < start <= pooled[-1]})


WHOLE = np.random.default_rng(3).normal(0, 60, 1100).astype(np.int16)
REALS = np.append(np.random.default_rng(4).normal(3, 1, 900), np.repeat([1.5, 2.5, 7.0], [8, 7, 9]))


@pytest.mark.parametrize("tails", [True, False])
@pytest.mark.parametrize("cells", [4, 64])
@pytest.mark.parametrize(
    "sides",
    [
        (WHOLE[:800], WHOLE[800:] + np.int16(90)),
        (WHOLE[:300] // 8, WHOLE[300:] // 8),  # less than 128, some of which are rare
        (WHOLE.astype(np.int64) * 1000, WHOLE[:130].astype(np.int64) * 1000),  # far apart
        (np.append(REALS[:100], NAN), REALS[100:103]),
        (REALS[:1], REALS[:40] + 2),
        (np.resize(np.append(REALS, NAN), 5001), REALS),
        (np.repeat(np.arange(300), 10), np.repeat(np.arange(0, 300, 2), 9)),  # atoms for 128
    ],
)
def test_cells_start_at_quantiles_at_numbers_that_repeat_and_in_tails(sides, cells, tails):
    numbers = Numbers(*sides, cells, View(), tails=tails)
    expected = plain_starts(sides, cells, tails)
    assert numbers.starts.tolist() == expected
    assert numbers.size == len(expected) + 1 + np.isnan(np.concatenate(sides)).any()
    assert numbers.ordered
    event = numbers.event(np.arange(0, numbers.size, 2))
    for side, folds in zip(sides, numbers.folds, strict=True):
        codes = np.searchsorted(expected, side, "right") + np.isnan(side)
        assert (numbers.coded(side) == codes).all()
        assert folds.tolist() == counts_by_fifth(codes, numbers.size)
        assert (event.holds(side) == (codes % 2 == 0)).all()


@pytest.mark.parametrize(
    ("most", "kind", "choices"),
    [(6, np.int16, 1), (120, np.int16, 2), (30_000, np.int16, 1), (400, float, 2)],
)
def test_values_that_repeat_and_are_not_cells_by_themselves_have_cells_as_well(most, kind, choices):
    sides = np.random.default_rng(0).integers(-most, most, (2, 6001)).astype(kind)
    found = Numbers(*sides, 64, View()).choices()
    assert len(found) == choices
    for side, folds in zip(sides, found[-1].folds, strict=True):
        assert folds.tolist() == counts_by_fifth(found[-1].coded(side), found[-1].size)


def test_each_of_128_near_numbers_of_8_draws_has_one_cell():
    """Tails would add cells without draws, as from 199 on."""
    few = np.arange(200, 204)
    x = np.append(np.repeat(np.arange(124), 8), np.repeat(few, 4))
    numbers = Numbers(x, np.repeat(few, 4), 16, View())
    assert numbers.starts.tolist() == [*range(1, 125), *few]


@pytest.mark.parametrize(
    ("tails", "starts"),
    [(True, [5e-324, 10.0, np.nextafter(10.0, 11), 25.0, 30.0]), (False, [5e-324, 30.0])],
)
def test_a_number_has_a_cell_from_a_share_of_many_draws_on(tails, starts):
    """One in 50,000 of 450,000 draws, or one in 2,000 where there are no tails."""
    distinct, times = np.array([0.0, 10, 20, 30]), np.array([224_000, 9, 8, 225_983])
    found = _starts(distinct, times, 1, [np.array([25.0])] if tails else [])
    assert found.tolist() == starts


@pytest.mark.parametrize(
    ("distinct", "draws", "repeats"),
    [
        (2, 2, True),
        (3, 11, False),
        (3, 12, True),
        (4096, 20_000, True),
        (4097, 20_000, False),
    ],
)
def test_few_numbers_of_at_least_4_draws_each_or_two_have_cells_of_their_own(
    distinct, draws, repeats
):
    x = np.append(np.arange(distinct), np.zeros(draws - distinct, int))
    assert Numbers(x[1:], x[:1], 8, View()).repeats == repeats
    assert not Numbers(x[1:], x[:1], 8, View(), values=False).repeats


@pytest.mark.parametrize(
    ("range_", "draws", "near"), [(511, 4, 1), (512, 4, 0), (999, 8000, 1), (1000, 8000, 0)]
)
def test_whole_numbers_are_near_within_512_or_an_eighth_of_the_draws(range_, draws, near):
    x = np.append(np.full(draws - 2, 70), 70 + range_)
    assert (_tally([x, np.array([70])]) is not None) == near
    assert _tally([x * 1.0, x]) is _tally([x, x[:0]]) is None


def test_the_next_number_of_the_last_is_itself():
    last = np.array([-32768, 0, 32767], np.int16)
    assert _next(last, 1).tolist() == [-32767, 1, 32767]
    assert _next(last, -1).tolist() == [-32768, -1, 32766]
    assert str(_next(np.float64(-5e-324), 1)) == "0.0"


@pytest.mark.parametrize("kind", ["row", "whole", "real"])
def test_cells_of_values_hold_the_outputs_that_are_these_values(kind):
    """Whole numbers in a row are one range; rows are of whole numbers."""
    values = np.random.default_rng(0).choice([0, 1, 2, 4, 5, 9], (450, 2))
    if kind != "row":
        values = values[:, 0] if kind == "whole" else np.where(values[:, 1] < 2, NAN, values[:, 0])
    cells = Values(values[:400], values[400:], View("row" if kind == "row" else "output"))
    assert cells.folds[1].tolist() == counts_by_fifth(cells.coded(values[400:]), cells.size)
    others = values + 0.5 if kind == "real" else values + 1
    sample = np.concatenate([values, others])
    every = np.arange(cells.size)
    for chosen in (every[:1], every[-1:], every[::2], every):
        event = again(cells.event(chosen))
        assert event.holds(sample).tolist() == np.isin(cells.coded(sample), chosen).tolist()
    if kind == "whole":
        assert event.ranges == ((0, 2), (4, 5), (9, 9))


def test_a_log_ratio_is_of_shares_of_either_side_and_that_of_nan_is_the_last():
    """A draw more in every cell, and in all: unequal sides, and a cell without draws of x'."""
    x, x_prime = np.repeat([0, 1, 2], [5, 3, 3]), np.repeat([0, 2], [1, 2])
    ratios = [(5 + 1) / 12 / (2 / 4), (3 + 1) / 12 / (1 / 4), (3 + 1) / 12 / (3 / 4), 1.0]
    assert Numbers(x, x_prime, 64, View()).log_ratios() == pytest.approx(np.log(ratios))
    real = np.where(x_prime == 2, NAN, x_prime)
    assert Numbers(x * 1.0, real, 64, View()).log_ratios()[-1] == pytest.approx(-math.log(9))


def test_a_whole_number_may_be_missing_on_one_side_only():
    numbers = Numbers(np.arange(4) % 2, np.array([0.0, 1.0, NAN, 1.0]), 64, View())
    assert [side.sum(axis=0).tolist() for side in numbers.folds] == [[2, 2, 0], [1, 2, 1]]
    assert numbers.ordered
    assert not Numbers(np.zeros(4), np.zeros(3), 64, View()).ordered

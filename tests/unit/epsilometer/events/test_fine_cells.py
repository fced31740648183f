"""Remainders, periods and lowest bits that differ between the sides, by counts one by one."""

import math

import numpy as np
import pytest

from epsilometer.events import fine_cells
from epsilometer.events.cells import Numbers
from epsilometer.events.events import View, lowest_bits
from epsilometer.events.fine_cells import low_bit_views, remainder_views, suspicious_moduli

WHOLE = [*range(2, 65), 97, 100, 1000]
TENS = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000]


def apart(*tables, least=0):
    """Return by how many standard deviations codes of two sides differ, in all tables or one cell.

    It is 0 if Pearson's statistic is not ``least`` times the number of cells.
    """
    squares = []
    for codes in tables:
        numbers = np.unique(np.concatenate(codes), return_inverse=True)[1]
        both = np.bincount(numbers)
        ours = np.bincount(numbers[: codes[0].size], None, both.size)
        share = codes[0].size / numbers.size
        expected = both * share
        squares += [*((ours - expected) ** 2 / (expected * (1 - share)))]
    free = len(squares) - len(tables)
    if sum(squares) < least * len(squares):
        return 0
    together = (sum(squares) - free) / math.sqrt(2 * free) if free else 0
    return max(together, math.sqrt(max(squares)))


# --- which moduli are looked at -------------------------------------------------------------------


def halves(spread, *others, least=256):
    """Return numbers half of which are 0, and half so large, but for some others."""
    side = np.repeat([0, spread], least).astype(np.result_type(spread, *others))
    side[1 : 8 * len(others) : 8] = others
    return side


@pytest.mark.parametrize(
    ("side", "as_reals", "expected"),
    [
        (halves(256, 1, least=128), False, WHOLE[:63]),  # up to a fourth of the spread
        (halves(255, 1), False, WHOLE[:62]),
        (halves(1e6, 1.0), True, WHOLE),  # reals that are whole
        (halves(2.0**53 - 1024, 1024.0), False, [1000, 1024]),  # a modulus needs 44 bits
        (halves(2.0**53, 1024.0), False, [1000]),  # no whole numbers for sure
        (halves(2**61, 1), False, WHOLE),
        (2**61 + halves(256, 1), False, WHOLE[:63]),
        (halves(6, 2), False, [2]),  # a common divisor
        (halves(2.0**50, 128.0), False, [64, 97, 100, 128, 1000]),
        (halves(16_000, 0.5), False, TENS),  # up to a sixteenth of the spread of reals
        (halves(15_999, 0.5), False, TENS[:-1]),
        (halves(16_000, 0.5, 2.0**44), False, TENS[6:]),
        (halves(16_000, 0.5, 2.0**44 + 1), False, TENS[7:]),
        (halves(99.0, math.nan, math.inf, 1e150, 0.5), True, TENS[3:7]),  # others are no numbers
        (halves(101.0, 0.5), True, TENS[4:7]),
        (np.arange(2048) * 380 // 2047, False, WHOLE[:63]),  # the spread is of 16 to 84 percent
        (np.arange(2048) * 374 // 2047, False, WHOLE[:62]),
        (halves(256, 1, least=128)[:255], False, []),  # too few
    ],
)  # fmt: skip
def test_moduli_are_those_that_wide_noise_hides_and_numbers_can_show(
    side, as_reals, expected, monkeypatch
):
    monkeypatch.setattr(fine_cells, "_SIGNIFICANT", -1.0)
    monkeypatch.setattr(fine_cells, "_period", lambda *_: {})
    full = np.resize(side, 2048) if side.size < 2048 else side
    for sides in ((side, side), (side, full), (full, side)):
        found = suspicious_moduli(*sides, 64, as_reals=as_reals)
        assert sorted(found) == expected
        assert {type(modulus) for modulus in found if modulus >= 1} <= {int}


def test_the_three_moduli_come_first_that_tell_the_sides_apart_by_4_5_deviations(monkeypatch):
    far = {2.0: 4.5, 3.0: 4.51, 0.25: 7.0, 4.0: 5.0, 5.0: 6.0}
    monkeypatch.setattr(fine_cells, "_z_scores_of_moduli", lambda *_: far)
    numbers = Numbers(np.arange(9), np.arange(9), 4, View("entry", 3))
    views = remainder_views(numbers, 64, as_reals=False)
    assert views == [View("remainder", 3, modulus=modulus) for modulus in (0.25, 5, 4)]
    expected = {3: 4.51, 0.25: 7.0, 4: 5.0, 5: 6.0}
    assert suspicious_moduli(*numbers.sides, 64, as_reals=False) == expected


@pytest.mark.parametrize(("first", "last", "found"), [(1024, 2048, True), (2048, 4096, False)])
def test_moduli_are_told_by_the_first_2048_draws(first, last, found):
    x, y = np.random.default_rng(0).integers(0, 10**6, (2, 4096))
    y[first:last] |= 1
    views = remainder_views(Numbers(x, y, 64, View()), 64, as_reals=False)
    assert (View("remainder", modulus=2) in views) == found


@pytest.mark.parametrize("number", [-(2**63), 2**54, 3])
def test_extreme_numbers_raise_no_warning(number):
    rng = np.random.default_rng(2)
    x, y = rng.integers(-(10**6), 10**6, (2, 3000))
    x[::50] = number
    reals = x.astype(float)
    reals[::40] = math.nan
    for sides in ((x, y), (reals, y / 3), (reals * 1e280, y / 3)):
        remainder_views(Numbers(*sides, 64, View()), 64, as_reals=False)


# --- how far remainders differ --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("width", "factor", "shift", "far"),
    [
        (300, 1, 0.0, False),
        (63_001, 1, 0.0, False),  # all counted, up to remainders of 1,000
        (63_002, 1, 0.0, True),  # in 64 cells
        (10**7, 1, 0.5, True),
        (40, 1500, 0.0, False),
        (10**7, 2**10, 0.0, True),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_remainders_differ_as_pearson_says(width, factor, shift, far, whole, monkeypatch):
    """In cells of one remainder each, or in 64; and remainders that lie close together, too."""
    monkeypatch.setattr(fine_cells, "_period", lambda *_: {})
    rng = np.random.default_rng(0)
    x, y = factor * rng.integers(0, width, (2, 2000))
    x[:2], y[0] = (0, factor * (width - 1)), factor
    x[2:200] -= x[2:200] % 6
    y = y[:1500] + (rng.random(1500) < 0.3) * (factor > 1)
    sides = (x - 12, y - 12) if whole else (x + shift, y + shift)
    z_scores = fine_cells._z_scores_of_moduli(*sides, 64, False)
    assert len(z_scores) > 9
    for modulus, z in z_scores.items():
        rests = [side % modulus for side in sides]
        counted = not far and modulus <= 1000
        cells = rests if counted else [np.floor(rest / modulus * 64) for rest in rests]
        expected = apart(cells, least=counted)  # less than chance on average is no evidence
        if modulus == factor:  # remainders that lie close together
            expected = max(expected, apart(rests))
        assert z == pytest.approx(expected)


def test_a_remainder_that_rounds_to_its_modulus_has_a_cell():
    sides = np.array([[2**60 - 1, 0], [0, 1]])
    assert fine_cells._z_of_remainders(*sides, 2.0**60) == 1


@pytest.mark.parametrize(
    ("k", "unit", "by_chance"), [(30.3, 1.0, 0.006), (941.07, math.pi, 0.015), (2900.9, 1.0, 0.06)]
)
def test_a_period_is_found_between_limits_with_its_deviations(k, unit, by_chance, monkeypatch):
    """Its distance is that of the Fourier coefficient of the two sides at this period.

    Without a hundredth at either end, and averaged over the bins of a histogram, which are 8,192.
    """
    rng = np.random.default_rng(1)
    u = rng.random((2, 9000))
    kept = rng.random((2, 9000)) * 2 < 1 + np.array([[0.9], [-0.9]]) * np.sin(2 * math.pi * k * u)
    x, y = unit * u[0, kept[0]], unit * u[1, kept[1]][:3000]
    ((period, z),) = fine_cells._period(x, y, 1.0, 0.0).items()
    assert period == pytest.approx(unit / k, rel=0.1 / k)
    low, high = np.quantile(np.append(x, y), (0.01, 0.99))
    middle = [side[(low <= side) & (side <= high)] for side in (x, y)]
    waves = [np.exp(2j * math.pi / period * side).sum() for side in middle]
    expected = math.sqrt(2 / (x.size + y.size)) * abs(waves[0] - waves[1])
    expected *= np.sinc((high - low) / 8192 / period)
    assert z == pytest.approx(expected, rel=by_chance)
    longest = 16 * period  # a sixteenth of the spread
    assert fine_cells._period(x, y, longest * 1.01, period * 0.98) == {period: z}
    assert fine_cells._period(x, y, longest * 1.01, period * 1.000001) == {}
    assert fine_cells._period(x, y, longest * 0.99, 0.0) != {period: z}
    for share in (0.999, 1.001):
        monkeypatch.setattr(fine_cells, "_SIGNIFICANT", share * z / math.sqrt(2))
        assert bool(fine_cells._period(x, y, 1.0, 0.0)) == (share < 1)


def test_equal_or_constant_sides_have_no_period():
    """By chance one of 10,000 pairs of equal sides has one."""
    x, y = np.random.default_rng(2).random((2, 2048))
    for sides in ((x, y), (0.9 * x, y), (x, 0.9 * y), (np.floor(500 * x), np.floor(500 * y))):
        assert fine_cells._period(*sides, 0.68 * np.ptp(sides), 2.0 * (sides[0][0] > 1)) == {}
    for spread in (0.0, 1e-151, 1e-3):
        assert fine_cells._period(spread * x, spread * y, 0.68 * spread, 0.0) == {}
    assert suspicious_moduli(np.zeros(2048), np.zeros(2048), 64, as_reals=False) == {}


@pytest.mark.parametrize("top", [4.0, 3.55, 4.45])
def test_the_top_of_a_parabola_lies_between_its_points(top):
    heights = 9 - (np.arange(8) - top) ** 2
    assert fine_cells._top(heights, 4) == pytest.approx(top)
    assert fine_cells._top(heights[:6], 4) == pytest.approx(top)
    assert fine_cells._top(heights[:5], 4) == 4
    assert fine_cells._top(np.ones(9), 4) == 4


@pytest.mark.parametrize(("period", "whole"), [(2.6, True), (1.3, False)])
@pytest.mark.parametrize("seed", range(3, 5))
def test_whole_numbers_have_periods_of_two_or_more_and_reals_any(period, whole, seed):
    rng = np.random.default_rng(seed)
    numbers = rng.random((2, 9000)) * 500 + 1000
    numbers = np.floor(numbers) if whole else numbers
    waves = np.array([[0.9], [-0.9]]) * np.cos(2 * math.pi * numbers / period)
    kept = rng.random((2, 9000)) * 2 < 1 + waves
    sides = numbers[0, kept[0]][:2048], numbers[1, kept[1]][:2048]
    found = list(suspicious_moduli(*sides, 64, as_reals=False))
    assert period in [pytest.approx(modulus, rel=0.01) for modulus in found]


# --- lowest bits ----------------------------------------------------------------------------------


def of_mantel_and_haenszel(tables):
    """Return by how many standard deviations a lowest bit differs, in the ranges one by one."""
    largest = 0.0
    for bit in np.unique(np.concatenate([*map(np.concatenate, tables)])):
        excess = variance = 0.0
        for codes, codes_prime in tables:
            n, m = codes.size, codes_prime.size
            ours, theirs = (codes == bit).sum(), (codes_prime == bit).sum()
            excess += ours - (ours + theirs) * n / (n + m)
            variance += (ours + theirs) * (n + m - ours - theirs) * n * m / (n + m) ** 3
        if variance > 0:
            largest = max(largest, abs(excess) / math.sqrt(variance))
    return largest


@pytest.mark.parametrize("which", ["bits", "one range"])
def test_low_bits_are_looked_at_if_pearson_or_mantel_and_haenszel_says_so(which, monkeypatch):
    """Of all ranges, or for each lowest bit by the counts of all ranges one by one."""
    x, y = np.random.default_rng(2).random((2, 600))
    if which == "bits":
        y[:200] = np.round(y[:200] * 2**40) / 2**40
    else:
        for side, odd in ((x, 1), (y, 0)):  # in the highest range, and the opposite in the lowest
            last = np.where(side > 0.95, odd, 1 - odd)
            ends = np.abs(side - 0.5) > 0.45
            side[ends] = (np.floor(side * 2**29) * 2 + last)[ends] / 2**30
    numbers = Numbers(x, y, 16, View("entry", 2))
    ranges, ranges_prime = numbers.codes
    tables = []
    for place in {*ranges.tolist()} & {*ranges_prime.tolist()}:
        tables.append((lowest_bits(x)[ranges == place], lowest_bits(y)[ranges_prime == place]))
    found = {"bits": of_mantel_and_haenszel(tables), "one range": apart(*tables)}
    assert max(found, key=found.get) == which
    for share in (0.999, 1.001):
        monkeypatch.setattr(fine_cells, "_SIGNIFICANT", share * found[which])
        assert low_bit_views(numbers) == [View("low bit", 2)][: share < 1]


def test_whole_numbers_and_repeated_ones_have_no_low_bits():
    x = np.random.default_rng(4).integers(0, 10**6, 2000) * 2.0
    assert low_bit_views(Numbers(x, x + 1, 16, View())) == []
    assert low_bit_views(Numbers(x + 0.25, x + 0.5, 16, View())) == [View("low bit")]
    assert low_bit_views(Numbers(x % 10 + 0.25, x % 10 + 0.5, 16, View())) == []
    fine = np.random.default_rng(5).random(2000)
    coarse = np.round(fine * 2**20) / 2**20
    for sides in ((fine, coarse), (coarse, fine)):
        assert low_bit_views(Numbers(*sides, 16, View())) == [View("low bit")]

"""Relations of entries: equality, sums modulo a number, parities."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import hadamard
from scipy.stats import chi2_contingency

from epsilometer.events import relations
from epsilometer.events.events import Event, View
from epsilometer.events.fine_cells import remainder_of, suspicious_moduli
from epsilometer.events.relations import (
    bits_of_columns,
    bits_of_words,
    coincidences,
    parities,
    sums_modulo,
    walsh_hadamard,
)
from epsilometer_audit.outputs.outcomes import learn_layout
from tests.benchmarks import seen
from tests.unit.audits import again

# --- parities -------------------------------------------------------------------------------------


@given(arrays(np.float64, st.sampled_from([1, 2, 8, 32]), elements=st.floats(-9, 9)))
def test_a_transform_sums_with_the_signs_of_common_ones(shares):
    assert walsh_hadamard(shares) == pytest.approx(hadamard(shares.size) @ shares, abs=1e-9)


def tables(size: int, draws: int, odd: list[int]) -> list[np.ndarray]:
    """Return bits of both sides, of which the ``odd`` ones of x' have an odd number of ones."""
    rng = np.random.default_rng(0)
    sides = [rng.integers(2, size=(draws, size)) for _ in range(2)]
    wrong = sides[1][:, odd].sum(axis=1) % 2 == 0
    sides[1][wrong, odd[0]] ^= 1
    return sides


def entries_of(view: View) -> list[int]:
    return [part.view.entry for part in view.parts]


@pytest.mark.parametrize(
    ("size", "odd"), [(12, [1, 4, 7, 11]), (20, list(range(20))), (70, [0, 1, 63])]
)
def test_the_set_of_bits_whose_parity_differs_is_found(size, odd):
    sides = tables(size, 1000, odd)
    (view,) = parities(sides, bits_of_columns(sides, range(size)), 3)
    assert entries_of(view) == odd
    assert view.of(sides[1]).all()
    assert view.of(sides[0]).tolist() == (sides[0][:, odd].sum(axis=1) % 2).tolist()


@pytest.mark.parametrize("odd", [45, 46])
@pytest.mark.parametrize(("size", "least"), [(2, 2), (2, 3), (21, 3), (21, 4)])
def test_a_parity_is_kept_from_five_and_a_half_deviations_on(odd, size, least):
    """It is odd on half of 400 draws of x, and on so many of 50 of x'."""
    far = 2 * (odd / 50 - 0.5) / math.sqrt(1 / 400 + 1 / 50)
    assert (far > 5.5) == (odd > 45)
    x, y = np.zeros((400, size), int), np.zeros((50, size), int)
    x[:200, 0] = y[:odd, 0] = 1
    bits = [Event(((1, 1),), view=View("entry", i)) for i in range(size)]
    assert bool(parities([x, y], bits, least)) == (far > 5.5 and least == min(size, 3))


@pytest.mark.parametrize(("first", "last", "found"), [(2048, 4096, 1), (4096, 8192, 0)])
def test_parities_are_told_by_the_first_4096_draws(first, last, found):
    x, y = tables(3, 8192, [0, 1, 2])
    y[:first], y[last:] = x[:first], x[last:]
    assert len(parities([x, y], bits_of_columns([x, y], []), 3)) == found


def test_single_bits_that_differ_more_hide_no_parity():
    """Of 7 bits, 4 are 0 more often in 1/8 of the draws, and the parity of 3 is odd in 1/11."""
    x = np.random.default_rng(3).integers(2, size=(4096, 7))
    y = x.copy()
    for bit in range(4):
        y[bit::4, bit] = 0
    y[np.flatnonzero(x[:, 4:].sum(axis=1) % 2 == 0)[:370], 4] ^= 1
    bits = bits_of_columns([x, y], [])
    (view,) = parities([x, y], bits, 3)
    assert entries_of(view) == [4, 5, 6]
    assert len(parities([x, 0 * x], bits, 3)) == 4  # not more, however many differ


def test_of_more_than_64_columns_the_first_that_vary_have_bits():
    x = np.random.default_rng(4).integers(2, size=(500, 70))
    y = x.copy()
    y[:, 65] = x[:, 0] ^ x[:, 1]  # 64 of those that vary are before
    x[:, 2] = y[:, 2] = 0
    bits = bits_of_columns([x, y], [])
    assert [bit.view.entry for bit in bits] == [0, 1, *range(3, 65)]
    assert parities([x, y], bits, 3) == []


@pytest.mark.parametrize(
    ("column", "is_whole", "held"),
    [
        ([2.0, 5.0, 5.0, math.nan], False, [5.0]),  # the larger of two values
        ([2, 4, 2], True, [4]),
        ([1, 2, 3, 6], True, [1, 3]),  # the lowest bit
        ([0.5, 1.5, 3.5, math.nan], False, [3.5]),  # those above the median
        ([5.0, 5.0, 5.0, 1.5, 2.5], False, [5.0]),  # or the largest
        ([-math.inf, math.inf], False, [math.inf]),
        ([7.0, math.nan, 7.0], False, None),
    ],
)
def test_a_bit_of_a_column_is_its_larger_value_its_lowest_bit_or_above_the_median(
    column, is_whole, held
):
    sample = np.column_stack([np.zeros(len(column), int), column])
    bits = bits_of_columns([sample, sample[::-1]], [1] if is_whole else [])
    found = [(bit.view.entry, np.unique(sample[bit.holds(sample), 1]).tolist()) for bit in bits]
    assert found == ([] if held is None else [(1, held)])


@pytest.mark.parametrize(
    ("word", "size"), [(0, 16), (-1, 0), (2**62 - 1, 62), (2**62, 0), (math.nan, 0)]
)
def test_whole_numbers_from_0_on_have_bits_up_to_the_largest(word, size):
    words = np.random.default_rng(7).integers(1 << 16, size=(4000, 1))
    bits = bits_of_words([words, np.append(words[:9], word)[:, None]], 0)
    assert len(bits) == size
    for bit, event in enumerate(bits[:16]):
        assert again(event).holds(words).tolist() == (words[:, 0] >> bit & 1 == 1).tolist()


# --- equality -------------------------------------------------------------------------------------


def pairs_of(views: list[View]) -> list[tuple[int, int]]:
    return [(view.entry, view.other) for view in views]


def test_two_shares_differ_as_pearson_says():
    statistic = chi2_contingency([[40, 260], [7, 83]], correction=False).statistic
    assert relations._z_of_shares((40, 7), (300, 90)) == pytest.approx(math.sqrt(statistic))
    assert relations._z_of_shares((0, 0), (300, 90)) == 0


@pytest.mark.parametrize("often", [6, 7])
def test_pairs_are_kept_that_differ_by_two_and_a_half_deviations(often):
    x, y = np.arange(6000).reshape(2, 1000, 3)
    x[:often, 0] = x[:often, 2]
    statistic = chi2_contingency([[often, 1000 - often], [0, 1000]], correction=False).statistic
    assert len(coincidences([x, y], [0, 2])) == (math.sqrt(statistic) > 2.5) == (often > 6)


def test_four_pairs_of_the_first_64_entries_are_kept():
    x, y = np.arange(2 * 100 * 80).reshape(2, 100, 80)
    x[:90, 12] = x[:90, 75]  # the 65th of the entries
    x[:80, 11] = x[:80, 74]
    for often, entry in enumerate(range(20, 30, 2), 30):
        x[:often, entry] = x[:often, entry + 1]
    views = coincidences([x, y], range(11, 76))
    assert pairs_of(views) == [(11, 74), (28, 29), (26, 27), (24, 25)]
    assert views[0].of(x).sum() == 80


@pytest.mark.parametrize(("first", "found"), [(9900, [(0, 1)]), (10_000, [])])
def test_pairs_are_told_by_the_first_10_000_draws(first, found):
    x, y = np.arange(2 * 12_000 * 2).reshape(2, 12_000, 2)
    x[first : first + 100, 0] = x[first : first + 100, 1]
    assert pairs_of(coincidences([x, y], [0, 1])) == found


# --- remainders -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a difference modulo .1", "(entry 0 - entry 1) modulo 0.1"),
        ("low bits of two whole numbers, beside 3", "(entry 1 - entry 3) modulo 2"),
        ("a sum modulo 7", "(entry 0 + entry 1) modulo 7"),
    ],
)
def test_the_modulus_of_a_sum_is_found(name, text):
    rng = np.random.default_rng(4)
    sides = [seen.LEAKS[name].draw(side, 4000, rng) for side in (0, 1)]
    layout = learn_layout(*sides)
    views = sums_modulo(sides, layout.numbers, layout.groups, 64, as_reals=True)
    assert text[:-2] in views[0].text(layout.places)
    assert views[-1].kind == "parity"  # a board of the two entries


def test_sums_and_differences_are_of_two_of_8_entries_if_one_has_more_than_16_values():
    """And sums are of all groups."""
    values = np.full(12, 16)
    values[[3, 5, 9]] = 17
    sample = np.arange(200)[:, None] % values
    expected = []
    for i, j in combinations(range(1, 9), 2):
        if {i, j} & {3, 5}:
            expected += [View("difference", i, other=j, factor=factor) for factor in (1, -1)]
    expected.append(View("summary", summary="sum", groups=((0, 2, 4),)))
    assert [*relations._sums(sample, range(1, 12), [((0, 2), (4,))])] == expected


def test_the_four_moduli_of_sums_are_kept_whose_remainders_differ_most():
    """But of numbers of which each has a cell."""
    sides = np.random.default_rng(8).integers(0, 40, (2, 2000, 2))
    sides[:, :, 1] = 0
    sides[0, :, 0] *= 2
    sides[1, :, 1] = 30 * (sides[1, :, 0] % 3 > 0)
    sides[1, 0, 1] = 200  # one more value of x'
    view = View("summary", summary="sum", groups=((0, 1),))
    numbers = [view.of(side) for side in sides]
    cells = min(np.unique(of_side).size for of_side in numbers)
    moduli = suspicious_moduli(*numbers, cells - 1, as_reals=False)
    most = sorted(moduli, key=moduli.get, reverse=True)
    assert len(most) > 4
    found = sums_modulo(sides, (), [((0,), (1,))], 39, as_reals=False)
    assert found == [remainder_of(view, modulus) for modulus in most[:4]]
    assert sums_modulo(sides, (), [((0,), (1,))], 40, as_reals=False) == []


@pytest.mark.parametrize("seed", range(6))
def test_a_board_shows_the_sides_as_far_apart_as_any(seed):
    """Of all 64 x 64 phases at which the halves of both remainders may start, draw by draw."""
    rng = np.random.default_rng(seed)
    sides = [rng.normal(size=(draws, 2)) for draws in ((500, 300), (200, 900))[seed % 2]]
    sides[1][::9, 1] = math.nan
    board = relations._board(sides, View("difference", 0, other=1), 0.3)
    shares = []  # the mean of 1 for even outputs and -1 for odd ones, by both phases
    found = []
    for side in sides:
        there = side[~np.isnan(side).any(axis=1)]
        places = np.floor(there.T % 0.3 / 0.3 * 64)
        first, second = np.where((places[:, None] - np.arange(64)[:, None]) % 64 < 32, 1, -1)
        shares.append(first @ second.T / len(there))
        found.append(board.of(there).mean())
    largest = np.abs(shares[0] - shares[1]).max() / 2
    assert abs(found[0] - found[1]) == pytest.approx(largest)


def test_a_half_of_a_modulus_holds_32_of_64_phases():
    phases = np.arange(64.0)
    remainders = np.concatenate([phases, np.nextafter(phases + 1, 0)])
    for start in range(64):
        event = Event(relations._half(start, 64.0), view=View("remainder", modulus=64.0))
        inside = (np.floor(remainders) - start) % 64 < 32
        assert event.holds(remainders).tolist() == inside.tolist()

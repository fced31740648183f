"""Events hold the outputs of their ranges, in a file and in the words of a witness."""

import ast
import json
import math
import re
from collections import Counter
from dataclasses import replace
from decimal import Context, Decimal
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import chi2_contingency

import epsilometer_audit as ea
from epsilometer.claims import Delta, Pure
from epsilometer.events import choosing, scores
from epsilometer.events.candidates import (
    FOLDS,
    Candidate,
    Cells,
    _ranks,
    deviations,
    expected_level,
    fifths,
)
from epsilometer.events.cells import Numbers, Values, _next, _starts, _tally
from epsilometer.events.choosing import choose_events
from epsilometer.events.digits import in_few_digits
from epsilometer.events.events import Event, Table, View, codes_of
from epsilometer.events.looks import PastDraws
from epsilometer.samples import Columns
from tests.unit.audits import again, audited

NAN, INF = math.nan, math.inf
COLUMN = Columns(numbers=(0,), reals=(0,))
FIRST = Table((0,), ((0.0,),), (-1.0, 2.0, 5.0))
SCORE = View("score", tables=(FIRST, Table((1,), ((1.0, 2.0),), (0.0, 1.0, 3.0, 0.0))))
STEPS = replace(SCORE, steps=(2.0,))  # what is scored are the first entry and y - 2 x
BOTH = View(
    "all",
    parts=(Event(((0.0, None),), view=View("entry")), Event(((None, 1.0),), view=View("entry", 1))),
)
ANY = Event(((None, None),), view=View("entry"))
ROWS = View("row", rows=((1, 1), (7, 7)))


@pytest.mark.parametrize(
    ("event", "outputs", "inside"),
    [
        (Event(((None, -1.0), (0.5, 2.0))), [-5, -1, np.nextafter(-1.0, 0), 0.5, 2, 2.1, NAN, -INF],
         [1, 1, 0, 1, 1, 0, 0, 1]),
        (Event(((None, None),)), [-INF, 0.0, INF], [1, 1, 1]),
        (Event(((-INF, -INF), (1.0, INF))), [-INF, 0.0, 2.0, INF], [1, 0, 1, 1]),
        (Event(()), [1.0, NAN], [0, 0]),
        (Event(tuple((i, i) for i in range(0, 40, 2))), [0, 1, 38, 39, 40], [1, 0, 1, 0, 0]),
        (Event(tuple((i + 0.5, i + 1.0) for i in range(30)), missing=True),
         [0.4, 0.5, 1.0, 1.2, 29.7, NAN, INF], [0, 1, 1, 0, 1, 1, 0]),
        (Event((), missing=True), [1.0, NAN], [0, 1]),
        (Event((), missing=True), [1, 2], [0, 0]),
        (Event(((4.0, None),), view=View("entry", 1)), [[0.0, 9.0], [5.0, 1.0]], [1, 0]),
        (Event(((1, 1),), view=View("bit", 2)), [0b0101, 0b0010], [1, 0]),
        (Event(((1, 1),), view=ROWS), [[0, 1], [1, 1], [1, 0]], [0, 1, 0]),
        (Event(((1, 1),), view=BOTH), [[0.0, 1.0], [1.0, 2.0], [-1.0, 0.0]], [1, 0, 0]),
        (Event(((1, 1),), view=replace(BOTH, kind="parity")), [[0.0, 1.0], [1.0, 2.0], [-1.0, 0.0]],
         [0, 1, 1]),
        (Event(((1, 1),), view=View("parity", parts=(*BOTH.parts, ANY))),
         [[0.0, 1.0], [1.0, 2.0], [-1.0, 0.0], [-1.0, 2.0]], [1, 0, 0, 1]),
        (Event(((0, 1),), view=View("difference", 1, other=0, factor=2)), [[3, 7], [1, 4], [3, 6]],
         [1, 0, 1]),
        (Event(((0, 1),), view=View("difference", 1, other=0)), [[3, 4], [3, 2]], [1, 0]),
        (Event(((0.25, 0.5),), view=View("remainder")), [3.25, 3.75, -0.5], [1, 0, 1]),
        (Event(((0, 2),), view=View("remainder", modulus=5)), [-3, 4, 7], [1, 0, 1]),
        (Event(((1, 1),), view=View("equal", 0, other=2)), [[1, 2, 1], [1, 1, 2]], [1, 0]),
        (Event(((3.0, 4.0),), view=STEPS), [[0, 0], [0, 1.5], [1, 3], [INF, INF]], [0, 1, 1, 0]),
        (Event(((3.0, 4.0),), view=SCORE), [[-1, 0], [0, 1.5], [1, 2], [NAN, NAN]], [0, 1, 0, 0]),
    ],
)  # fmt: skip
def test_an_event_holds_the_outputs_of_its_closed_ranges(event, outputs, inside):
    sample = np.array(outputs)
    assert again(event).holds(sample).tolist() == [bool(each) for each in inside]
    assert event.count(sample) == sum(inside)


def test_whole_numbers_beyond_2_to_the_53_stay_apart():
    event = again(Event(((2**60 + 1, 2**60 + 1),)))
    assert event.holds(2**60 + np.arange(4)).tolist() == [False, True, False, False]
    everything = Event(((None, None),))
    limits = np.iinfo(np.int64)
    assert everything.holds(np.array([limits.min, 0, limits.max])).all()
    # beyond the outputs' type
    assert Event(((2**40, None),)).holds(np.array([5], np.int32)).tolist() == [False]


def test_an_event_in_json_has_no_fields_at_their_defaults_but_the_entry_that_it_reads():
    of_bit = Event(((None, 1.5), (2.0, INF)), True, View("bit", inner=View("entry", 3)))
    plain = {"ranges": [[None, 1.5], [2.0, "inf"]], "missing": True, "view": "bit", "entry": 0}
    assert of_bit.to_plain() == plain | {"inner": {"view": "entry", "entry": 3}}
    of_sum = View("remainder", modulus=7, inner=View("difference", other=1, factor=-1))
    inner = {"view": "difference", "entry": 0, "other": 1, "factor": -1}
    plain = {"ranges": [], "view": "remainder", "modulus": 7, "inner": inner}
    assert Event((), view=of_sum).to_plain() == plain


def test_many_outputs_are_scored_like_few():
    sample = np.random.default_rng(0).choice([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, NAN], (6000, 2))
    fine = Table((0,), (tuple(np.linspace(-1, 3, 200)),), tuple(range(202)))
    for view in (SCORE, View("score", tables=(fine,))):
        few = [view.of(part) for part in np.split(sample, 6)]
        assert (view.of(sample) == np.concatenate(few)).all()


def test_a_score_of_bits_adds_the_numbers_of_the_bits_of_each_word():
    """Of 9 words, and of more than there are of 5 bits."""
    single = Table((1,), ((1,),), (-1.0, 2.0))
    double = Table((0, 4), ((1,), (1,)), ((0.0, 0.5), (3.0, 7.0)))
    words = np.random.default_rng(0).integers(-40, 40, 100)
    expected = []
    for word in words.tolist():
        first, second, fifth = (word >> i & 1 for i in (0, 1, 4))
        expected.append((-1.0, 2.0)[second] + ((0.0, 0.5), (3.0, 7.0))[first][fifth])
    for size in (9, 100):
        scores = View("score", tables=(single, double)).of(words[:size])
        assert scores.tolist() == expected[:size]


@pytest.mark.parametrize(
    ("most", "kind", "choices"),
    [(6, np.int16, 1), (120, np.int16, 2), (30_000, np.int16, 1), (400, float, 2)],
)
def test_numbers_are_counted_in_the_cells_of_their_codes(most, kind, choices):
    """Of values that repeat, and are not cells by themselves, there are cells as well."""
    sides = np.random.default_rng(0).integers(-most, most, (2, 6001), np.int16).astype(kind)
    found = Numbers(*sides, 64, View()).choices()
    assert len(found) == choices
    for cells in found:
        for side, folds in zip(sides, cells.folds, strict=True):
            codes = cells.coded(side)
            each = [np.bincount(codes[part], None, cells.size) for part in fifths(codes.size)]
            np.testing.assert_array_equal(folds, each)


def plain_starts(sides, cells, tails):
    """Return the starts of cells, number by number."""
    kind = sides[0].dtype.type
    rising = [np.sort(side[~np.isnan(side)]) for side in (*sides, np.concatenate(sides))]
    pooled = rising.pop().tolist()
    last = len(pooled) - 1
    quantiles = [pooled[round(i * last / cells)] for i in range(cells + 1)]
    times = Counter(pooled)
    often = sorted((-times[number], number) for number in times)
    least = max(8, len(pooled) / (50_000 if tails else 2000))
    starts = quantiles[1:-1]
    for negated, number in often[:128]:
        if -negated >= least:
            starts += [number, following(kind(number))]
    for side in rising if tails else ():
        draws = len(side) / cells
        while draws >= 4:
            at = int(draws)
            starts += [side[at], side[len(side) - 1 - at]]
            draws /= 2
        far = min(4, len(side) - 1)
        starts += [2 * side[0] - side[far], following(2 * side[-1] - side[-1 - far])]
    return sorted({float(start) for start in starts if quantiles[0] < start <= quantiles[-1]})


def following(number):
    return number + 1 if isinstance(number, np.integer) else math.nextafter(number, INF)


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
        (REALS[300:], np.append(REALS[:300], NAN)),
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
    for side, folds in zip(sides, numbers.folds, strict=True):
        codes = np.searchsorted(expected, side, "right") + np.isnan(side)
        counted = np.bincount(codes, None, numbers.size)
        assert folds.sum(axis=0).tolist() == counted.tolist()
        inside = numbers.event(np.arange(0, numbers.size, 2)).holds(side)
        assert inside.tolist() == (codes % 2 == 0).tolist()


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
        (4, 15, False),
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
    sides = values[:400], values[400:]
    cells = Values(*sides, View("row" if kind == "row" else "output"))
    for value in np.unique(values, axis=0):
        (cell,) = cells.coded(value[None])
        for side, folds in zip(sides, cells.folds, strict=True):
            there = (side == value) | np.isnan(side) & np.isnan(value)
            assert folds[:, cell].sum() == there.reshape(len(side), -1).all(axis=1).sum()
    sample = np.concatenate([values, values + 0.5 if kind == "real" else values + 1])
    every = range(cells.size)
    for chosen in ([0], every[-1:], every[::2], every):
        event = again(cells.event(np.array(chosen)))
        assert event.holds(sample).tolist() == np.isin(cells.coded(sample), chosen).tolist()
    if kind == "whole":
        assert event.ranges == ((0, 2), (4, 5), (9, 9))


def test_a_log_ratio_is_of_shares_of_either_side_and_that_of_nan_is_the_last():
    """A draw more in every cell, and in all: unequal sides, and a cell without draws of x'."""
    x, x_prime = np.repeat([0, 1, 2], [5, 3, 3]), np.repeat([0, 2], [1, 2])
    expected = np.log([(5 + 1) / 12 / (2 / 4), (3 + 1) / 12 / (1 / 4), (3 + 1) / 12 / (3 / 4)])
    ratios = Numbers(x, x_prime, 64, View()).log_ratios()
    assert ratios == pytest.approx([*expected, 0.0])
    real = np.where(x_prime == 2, math.nan, x_prime * 1.0)
    assert Numbers(x * 1.0, real, 64, View()).log_ratios()[-1] == pytest.approx(-math.log(9))


def test_a_whole_number_may_be_missing_on_one_side_only():
    numbers = Numbers(np.arange(4) % 2, np.array([0.0, 1.0, math.nan, 1.0]), 64, View())
    assert [side.sum(axis=0).tolist() for side in numbers.folds] == [[2, 2, 0], [1, 2, 1]]
    assert numbers.ordered
    assert not Numbers(np.zeros(4), np.zeros(3), 64, View()).ordered


WIDE = np.random.default_rng(0).integers(-(2**31), 2**31, (500, 20)).astype(np.int32)
OVERFLOW = np.vstack([np.tile(np.arange(1024), (7, 1)).T, [0, *[5] * 6], [16, *[5] * 6]])


@pytest.mark.parametrize(
    "outputs",
    [
        np.random.default_rng(1).integers(0, 4, (200, 3)),
        np.concatenate([WIDE, WIDE]),
        OVERFLOW,  # 16 x 1024^6 is 2^64
        np.array([[0, 0], [2**30, 0], [0, 1], [0, 2], [0, 3]], np.int32),  # 2^30 x 4 is 2^32
        np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1]]),  # two are equal but for the last
        np.array([-(2**62), 0, -(2**62)]),
        np.array([0, 2**62, 0]),
        np.array([2.5, NAN, 0.5, NAN, 2.5]),
    ],
)
def test_outputs_are_equal_where_their_numbers_from_0_are(outputs):
    keys = [str(output) for output in outputs.tolist()]
    codes = codes_of(outputs).tolist()
    assert sorted({*codes}) == list(range(len({*keys})))
    assert len({*zip(keys, codes, strict=True)}) == len({*keys})


@pytest.mark.parametrize("caution", [0.5, 2.5, 4.0])
def test_an_event_that_is_rarer_on_the_other_side_promises_more(caution):
    """None of its draws is better than two: of impossible events nothing is given away."""
    others, size = np.arange(200.0), np.full(200, 1000)
    levels = expected_level(np.full(200, 300.0), size, others, size, 1000, caution)
    assert (np.diff(levels) < 0).all()
    for level in (None, Pure(1.0).of, Delta(0.5, 0.2).of):  # without a draw it promises nothing
        assert (expected_level(0 * others, size, others, size, 1000, caution, level) == -INF).all()


@pytest.mark.parametrize("size", [1, 4, 5, 7, 100])
def test_fifths_hold_every_draw_once(size):
    every = np.arange(size)
    parts = [every[part] for part in fifths(size)]
    assert len(parts) == FOLDS
    assert np.ptp([*map(len, parts)]) <= 1
    np.testing.assert_array_equal(np.concatenate(parts), every)


# --- the levels that events should show ----------------------------------------------------------


def wilson(share, n, z):
    """Return the root p of (share - p)^2 = z^2 p (1 - p) / n on the side of z."""
    roots = np.roots([1 + z**2 / n, -2 * share - z**2 / n, share**2]).real
    return max(roots) if z > 0 else min(roots)


def plain_level(hits, n, others, m, draws, caution, level):
    """Return the level of shares, less what past and fresh draws leave open of both."""
    p, q = hits / n, (others + 0.5) / (m + 1)
    low = wilson(wilson(p, n, -caution), draws, -1.645)
    high = min(wilson(wilson(q, m, caution), draws, 1.645), 1.0)
    shown = level(p, q)
    if math.isinf(shown):  # no level has so large a delta
        return -math.inf
    return shown - math.hypot(shown - level(low, q), shown - level(p, high))


def plain_sets(folds, ordered):
    """Yield sets of cells: their draws on the likelier and the other side, sign and caution."""
    n = folds[0].sum()
    size = folds[0].shape[1]
    for sign, shrinkage in product((1, -1), (2, 16)):

        def likelier_first(ours, theirs, sign=sign, more=shrinkage / n):
            shares = [np.sum(side, axis=0) / np.sum(side) for side in (ours, theirs)]
            ratios = sign * np.log((shares[0] + more) / (shares[1] + more))
            return np.argsort(-ratios, kind="stable"), np.count_nonzero(ratios > 1e-9)

        order, likelier = likelier_first(*folds)
        for number in range(1, likelier + 1):
            hits = [0, 0]
            for k in range(FOLDS):
                others = [np.delete(side, k, axis=0) for side in folds]
                first = likelier_first(*others)[0][:number]
                hits = [hit + side[k, first].sum() for hit, side in zip(hits, folds, strict=True)]
            yield hits[::sign], sign, 4.0, order[:number]
    for number, sign in product(range(1, size) if ordered else (), (1, -1)):
        for cells in (range(number), range(size - number, size)):
            yield [side[:, cells].sum() for side in folds][::sign], sign, 2.5, cells


class Plain(Cells):
    """Cells whose events are the cells themselves."""

    def __init__(self, folds, ordered):
        super().__init__(*folds)
        self.ordered = ordered

    def event(self, cells):
        return sorted(cells)

    def coded(self, sample):
        raise NotImplementedError


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("level", [None, Pure(0.3, 0.05).of])
@pytest.mark.parametrize(("size", "most"), [(2, 30), (3, 900), (5, 30), (5, 900)])
def test_the_best_events_are_those_of_all_sets_one_by_one(ordered, level, size, most):
    """A set of likelier cells is counted on the fifths of the draws that did not choose it."""
    rng = np.random.default_rng(size)
    folds = rng.integers(1, most, (5, size)), rng.integers(1, most // 2, (5, size))
    folds[0][:, 1] *= 20  # in the middle, where no half-line ends
    plain = {1: [], 0: []}
    draws = [int(side.sum()) for side in folds]
    more = 1 + 0.25 * math.log10(max(draws[0], 1000) / 1000)
    of = level or (lambda p, q: math.log(p / q))
    for (hits, others), sign, caution, cells in plain_sets(folds, ordered):
        n, m = draws[::sign]
        for key, away in ((1, caution * more), (0, 1.5)):
            found = plain_level(hits, n, others, m, 700, away, of)
            plain[key].append((found, sign, sorted(cells)))
    cells = Plain(folds, ordered)
    shares = [side.sum(axis=0) / side.sum() for side in folds]
    of_all, of_others = cells._log_ratios(0.05)
    assert of_all == pytest.approx(np.log((shares[0] + 0.05) / (shares[1] + 0.05)))
    rest = [side[1:].sum(axis=0) / side[1:].sum() + 0.05 for side in folds]
    assert of_others[0] == pytest.approx(np.log(rest[0] / rest[1]))
    surest, boldest = cells.judged(700, level, 1.5)
    expected = max(plain[1], key=lambda each: each[0])
    assert surest.expected == pytest.approx(expected[0])
    assert (surest.sign, surest.make_event()) == expected[1:]
    optimistic = max(plain[0], key=lambda each: each[0])
    assert boldest.optimistic == pytest.approx(optimistic[0])
    assert (boldest.sign, boldest.make_event()) == optimistic[1:]
    assert cells.judged(700, lambda p, q: -INF * (p + q), 1.5) == []


def test_of_many_sets_the_small_ones_and_some_of_every_size_are_tried():
    assert _ranks(400).tolist() == list(range(1, 401))
    assert _ranks(800).size <= 400
    sizes = _ranks(5000)
    assert sizes[:20].tolist() == list(range(1, 21))
    assert sizes[-1] == 5000
    assert sizes.size <= 400
    assert np.diff(sizes).max() <= 5000 / 199 + 1


def test_cells_are_compared_as_pearson_does():
    rng = np.random.default_rng(0)
    ours, theirs = rng.integers(0, 4, (2, 6, 5))
    theirs[4] = ours[5] = 0  # nothing to compare
    excess, variance, free = deviations(ours, theirs)
    for i in range(6):
        there = ours[i] + theirs[i] > 0
        if theirs[i].any() and ours[i].any():
            table = np.array([ours[i], theirs[i]])[:, there]
            theirs_of_scipy = chi2_contingency(table, correction=False)
            squares = (excess[i, there] ** 2 / variance[i, there]).sum()
            assert squares == pytest.approx(theirs_of_scipy.statistic)
            assert free[i] == theirs_of_scipy.dof
        else:
            assert not excess[i].any()
            assert not variance[i].any()
            assert free[i] == 0


@pytest.mark.parametrize("exchanged", [False, True])
def test_a_chosen_event_has_its_shares_of_the_side_where_it_is_likelier(exchanged):
    sides = np.random.default_rng(0).normal([[1], [0]], 1, (2, 900))
    past = PastDraws(*(sides[::-1] if exchanged else sides), COLUMN)
    cautious, bold = choose_events(past, [Pure(1.0)], 1000)
    for chosen in (cautious, bold):
        likelier, other = sides[:: -1 if chosen.swapped != exchanged else 1]
        assert chosen.share == (chosen.event.count(likelier) + 0.5) / 901
        assert chosen.share_prime == (chosen.event.count(other) + 0.5) / 901
        assert chosen.share > chosen.share_prime
    assert math.log(bold.share / bold.share_prime) > math.log(cautious.share / cautious.share_prime)
    for claim, level in ((Pure(1.0), None), (Pure(1.0, 0.05), Pure(1.0, 0.05).of)):
        judged = Numbers(*past.sides, 64, View()).judged(1000, level, 1.5)
        chosen = choose_events(past, [claim], 1000)
        assert [each.event for each in chosen] == [each.make_event() for each in judged]
        assert [each.expected for each in chosen] == [each.expected for each in judged]
    of_epsilon, bold, of_delta = choose_events(past, Pure(1.0, 0.05).events, 1000)
    deltas = [each.share - math.e * each.share_prime for each in (of_epsilon, bold, of_delta)]
    assert deltas[2] == max(deltas) > deltas[1]
    nothing = PastDraws(np.zeros(900), np.zeros(900), COLUMN)
    assert choose_events(nothing, [Pure(1.0)], 1000) == []


@pytest.mark.parametrize(
    ("easy", "hard", "chosen"),
    [(1.94, 2.0, "easy"), (1.939, 2.0, "hard"), (1.0, 0.5, "easy"), (-1.0, -1.0, "easy"),
     (-1.01, -1.0, "hard"), (None, -2.0, "hard"), (0.0, None, "easy")],
)  # fmt: skip
def test_of_events_as_good_as_another_that_is_taken_which_is_easier_to_read(easy, hard, chosen):
    candidates = {}
    for name, level in (("easy", easy), ("hard", hard)):
        candidates[name] = None if level is None else Candidate(level, -level, 1, str)
    assert choosing._easier(*candidates.values(), "expected") is candidates[chosen]


class Promising(Cells):
    """Cells of one event of a given promise."""

    def __init__(self, expected, optimistic):
        self.candidates = [Candidate(expected, optimistic, 1, str)]

    def judged(self, draws, level, little):
        return self.candidates

    event = coded = None


@pytest.mark.parametrize(
    ("promises", "kept"),
    [
        # surest and boldest promises of looks; the last two are of equal entries
        ([(0, 2.0), (0.5, 0.9), (0.6, 0.6), (0, 0.59), (0, 0), (0, 0)], {0, 1, 2, 4, 5}),
        ([(3, 2.5), (0.5, 1.9), (-1, 2.0), (0, 0), (0, 2.5)], {0, 3, 4}),
        ([*((0, 1.0 + i) for i in range(10)), (0, 0), (0, 0)], {*range(2, 12)}),
    ],
)
def test_of_vectors_looks_remain_that_promise_as_much_as_another_is_sure_of(promises, kept):
    """Eight at most, and all of equal entries."""
    looks = []
    for i, promise in enumerate(promises):
        kind = "equal" if i >= len(promises) - 2 else "entry"
        cells = [Promising(*promise), Promising(-1, -1)]
        looks.append(SimpleNamespace(view=View(kind, i), cells=lambda *_, cells=cells: cells))
    looks.append(SimpleNamespace(view=View("entry"), cells=lambda *_: []))  # of nothing
    found = choosing._promising(looks, 100, 1000, None)
    assert [look.view.entry for look in found] == sorted(kept)


# --- few digits -----------------------------------------------------------------------------------


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30, unique=True), st.data())
def test_an_event_has_as_few_digits_as_keep_the_draws_inside_or_outside(numbers, data):
    ordered = np.sort(numbers)
    end = data.draw(st.floats(ordered[0], ordered[-1]) | st.sampled_from(ordered.tolist()))
    part = Event(((end, None),), view=View("entry", 1))
    vectors = np.column_stack([np.zeros(ordered.size), ordered])
    both = Event(((1, 1),), view=View("all", parts=(part,)))
    for event, sample in [
        (Event(((None, end),)), ordered),
        (part, vectors),
        (both, vectors),
    ]:
        short = in_few_digits(event, [sample[::2], sample[1::2]])
        assert short.holds(sample).tolist() == event.holds(sample).tolist()
        of_part = short.view.parts[0] if event is both else short
        (told,) = [end for end in of_part.ranges[0] if end is not None]
        digits = len(Decimal(repr(told)).normalize().as_tuple().digits)
        side = "right" if event.ranges[0][0] is None else "left"
        for fewer in range(3, digits):  # none of fewer digits would do
            for rounding in ("ROUND_FLOOR", "ROUND_CEILING"):
                near = float(Context(fewer, rounding).create_decimal(repr(end)))
                assert ordered.searchsorted(near, side) != ordered.searchsorted(end, side)


def test_an_end_between_near_draws_far_from_0_has_the_digits_that_part_them():
    draws = 1e9 + np.array([0.1, 0.2])
    short = in_few_digits(Event(((None, 1e9 + 0.16789123),)), [draws, draws])
    assert short.ranges[0][1] in (1000000000.1, 1000000000.17)
    assert short.holds(draws).tolist() == [True, False]
    short = in_few_digits(Event(((0.12345, None),)), [np.zeros(1), np.ones(1)])
    assert short.ranges == ((0.123, None),)  # not fewer than three


@pytest.mark.parametrize(
    "event",
    [
        Event(((0.123456789, 0.123456789),)),
        Event(((123456789, None),)),
        Event(((123456.0, None),)),
        Event(((None, math.inf),)),
        Event(((1, 1),), view=View("bit", 3)),
        Event(((-53, -50.123456),), view=View("low bit")),
    ],
)
def test_values_whole_numbers_and_what_no_reader_sees_keep_their_digits(event):
    assert in_few_digits(event, [np.array([0.1, 7.0]), np.array([2.0])]) == event


# --- a reader of a witness counts the same --------------------------------------------------------

FRESH = 4000
OPEN = re.compile(r"(?:(?P<low>\S+) <= )?(?P<name>.+?) (?P<sign><=|>=|=) (?P<end>[-+\w.]+)")
WORDS = re.compile(r"(?P<name>.+) is (?P<negated>not )?(?P<words>'.*'|\w[\w ]*)")


def shifted(d, shift):
    return lambda x, size, rng: rng.normal(shift * x, 1, (size, d))


def bits(x, size, rng):
    coins = rng.random((size, 30)) < 0.4
    coins[:, 3] ^= bool(x) & (rng.random(size) < 0.6)
    coins[:, 11] ^= bool(x)
    return (coins.astype(np.int64) << np.arange(30)).sum(axis=1)


def correlated(x, size, rng):
    first, second = rng.normal(size=(2, size))
    share = 0.9 if x else -0.9
    return np.stack([first, share * first + math.sqrt(1 - share**2) * second], axis=1)


def person(x, rng):
    sex = "f" if rng.random() < (0.7 if x else 0.4) else "m"
    more = 20 if x and sex == "f" else 0
    return {"sex": sex, "income": round(float(rng.normal(50 + more, 10)), 2)}


def mixed(x, rng):
    word = "ab"[int(rng.random() < 0.3 + 0.4 * x)]
    return int(rng.geometric(0.3)), float(np.round(rng.normal(x), 3)), word


def members(x, rng):
    return {key for key in "abcdef" if rng.random() < 0.3 + 0.4 * x}


def missing(x, rng):
    return None if rng.random() < 0.2 + 0.4 * x else round(float(rng.laplace(x)), 3)


LEAKS = {
    "one entry of many": (lambda x, size, rng: rng.normal(0, 1, (size, 12)) + 3 * x, ea.pure(1)),
    "mu": (shifted(6, 0.6), ea.gdp(0.8)),
    "Renyi": (shifted(5, 0.6), ea.renyi({2: 0.3})),
    "bits": (bits, ea.pure(0.2)),
    "correlated": (correlated, ea.pure(1)),
    "a person": (person, ea.pure(1)),
    "mixed": (mixed, ea.pure(0.5)),
    "members": (members, ea.pure(1)),
    "missing": (missing, ea.pure(0.5)),
}


SUMMARIES = {
    "sum": np.sum,
    "sum over the root of the number": lambda z: np.sum(z) / math.sqrt(len(z)),
    "largest": np.max,
    "smallest": np.min,
}


# --- a reader who knows nothing of the library ----------------------------------------------------


def number_of(name, output):
    """Return the number, or the word, of an output that a name means."""
    if match := re.fullmatch(r"(.+) ([-+]) (?:(\S+) \* )?(entry \d+)", name):
        first, second = (number_of(each, output) for each in match.group(1, 4))
        return first + float(f"{match[2]}{match[3] or 1}") * second
    match = re.fullmatch(r"(.+) of (\d+) entries from entry 0 on", name)
    if match or name == "length":
        assert not match or int(match[2]) == len(output)
        return SUMMARIES[match[1]](np.array(output, float)) if match else len(output)
    if match := re.fullmatch(r"bit (\d+) of output", name):
        return (int(output) >> int(match[1])) & 1
    if match := re.fullmatch(r"(.+) modulo (\S+)", name):
        return number_of(match[1], output) % float(match[2])
    if match := re.fullmatch(r"(?:entry|key) (.+)", name):
        return output[ast.literal_eval(match[1])]
    assert name == "output", name
    return output


def meets(condition, output):
    """Tell whether an output meets one condition."""
    if match := re.fullmatch(r"('\w+') is (present|missing)", condition):
        return (ast.literal_eval(match[1]) in output) == (match[2] == "present")
    if condition.endswith(" is not a number"):
        return not isinstance(number_of(condition.removesuffix(" is not a number"), output), float)
    condition, _, other = condition.partition(", but not ")
    if match := OPEN.fullmatch(condition):
        number = number_of(match["name"], output)
        if number is None or (other and repr(float(number)) == other):
            return False
        low, end = float(match["low"] or -math.inf), float(match["end"])
        told = {"<=": number <= end, ">=": number >= end, "=": number == end}
        return low <= number and told[match["sign"]]
    match = WORDS.fullmatch(condition)
    assert match, condition
    words = re.split(", | or ", match["words"])
    value = number_of(match["name"], output)
    inside = any(ast.literal_eval(word) == value for word in words)
    return inside != bool(match["negated"])


def in_words(text, output):
    """Tell whether an output is in the event that a text means."""
    pattern = r" or (?=\S+ <= |[^']+ (?:<=|>=|=) |\w+ is )"
    parts = [re.split(pattern, part) for part in text.split(" and ")]
    return all(any(meets(each, output) for each in part) for part in parts)


def score_of(plain, output):
    """Return the score of an output by its formula in JSON."""
    names = plain.get("columns", [f"bit {i} of output" for i in range(64)])

    def value(i):
        number = number_of(names[i], output)
        words = plain.get("words", {}).get(names[i])
        return words.index(repr(number)) if words else float(number)

    if plain["view"] == "summary":
        return SUMMARIES[plain["summary"]]([value(i) for i in plain["groups"][0]])
    if "tables" in plain:
        total = 0.0
        for entries, starts, adds in plain["tables"]:
            number = adds
            for entry, ends in zip(entries, starts, strict=True):
                number = number[sum(value(entry) >= end for end in ends)]
            total += number
        return total
    formula = plain["formula"]
    read = zip(formula["entries"], formula["centres"], formula["scales"], strict=True)
    units = [min(max((value(i) - centre) / scale, -8), 8) for i, centre, scale in read]
    return sum(weight * math.prod(units[i] for i in of) for of, weight in formula["terms"])


def holds(witness, output):
    """Tell whether an output is in the event of a witness: by its words, or by its JSON."""
    if not re.search("score of|more ranges", witness["event"]):
        return in_words(witness["event"], output)
    score = score_of(witness["ranges"], output)
    ranges = witness["ranges"]["ranges"]
    return any((a is None or a <= score) and (b is None or score <= b) for a, b in ranges)


@pytest.mark.slow(seconds=20)
@pytest.mark.parametrize(
    ("leak", "stop"), [*((leak, False) for leak in LEAKS), ("bits", True), ("a person", True)]
)
def test_the_words_of_a_witness_have_its_counts_on_fresh_draws(leak, stop):
    mechanism, claim = LEAKS[leak]
    verdict = audited(mechanism, claim, 2000, stop=stop)
    assert verdict.verdict == "violated"
    witness = json.loads(verdict.to_json())["witness"]
    sides, rng = map(int, verdict.direction.split(" against ")), np.random.default_rng(99)
    shares = []
    for x, prime in zip(sides, ("", "_prime"), strict=True):
        many = mechanism.__code__.co_argcount == 3
        outputs = mechanism(x, FRESH, rng) if many else [mechanism(x, rng) for _ in range(FRESH)]
        share = np.mean([holds(witness, output) for output in outputs])
        count, draws = witness[f"count{prime}"], witness[f"draws{prime}"]
        spread = math.sqrt(max(share * (1 - share), 1 / FRESH) * (1 / draws + 1 / FRESH))
        assert abs(count / draws - share) <= 5 * spread, (witness["event"], count, draws, share)
        shares.append((count / draws, share))
    (p, ours), (q, theirs) = shares
    assert ours > theirs
    assert p > q
    middle = (p + q) / 2
    assert p - q > 2 * math.sqrt(2 * middle * (1 - middle) / witness["draws"])  # visibly
    if "score" in witness["event"] or witness["score"]:
        assert "JSON" in witness["rests_on"]
        assert not re.search("entry|key|bit", witness["event"]) or witness["score"]


@pytest.mark.parametrize(
    ("seed", "shifts", "rows", "allowed"),
    [
        *((seed, (2.0, 0.5), 300, 0.115) for seed in range(3)),
        (3, (0.15, -0.15), 3000, 0.02),
        (4, (4.0, -4.0), 6, 0.12),  # which only the ridge keeps small
    ],
)
def test_learned_weights_are_those_of_a_logistic_regression_with_a_ridge(
    seed, shifts, rows, allowed
):
    """Its steps end early, so that weights lack up to a tenth."""
    rng = np.random.default_rng(seed)
    means = [[[shifts[0], 0.5]], [[shifts[1], 0.5]]]
    features = rng.normal(means, 1, (2, rows, 2)).reshape(2 * rows, 2)
    sign = np.repeat([1.0, -1.0], rows)

    def loss(weights):
        margins = sign * (features @ weights[:2] + weights[2])
        return np.logaddexp(0, -margins).sum() + 0.5 * (weights[:2] ** 2).sum()

    best = minimize(loss, np.zeros(3)).x[:2]
    assert scores._weights(features, rows) == pytest.approx(best, abs=allowed)

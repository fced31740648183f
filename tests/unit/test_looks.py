"""Which looks there are at past draws, what scores learn from, and the scores themselves."""

import math
from itertools import combinations

import numpy as np
import pytest

from epsilometer.events import looks, scores
from epsilometer.events.events import View
from epsilometer.events.looks import FAMILIES, Look, PastDraws, looks_at
from epsilometer.events.vectors import CHECK_SUM, CORRELATION, DISTINCT
from epsilometer.samples import Columns

NAN = math.nan


def past_of(x, x_prime=None, **layout):
    x = np.asarray(x)
    every = tuple(range(1 if x.ndim == 1 else x.shape[1]))
    known = {"numbers": every, "reals": every if x.dtype.kind == "f" else (), **layout}
    return PastDraws(x, x if x_prime is None else np.asarray(x_prime), Columns(**known))


# --- how many draws tell what ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draws", "some"),
    [(4096, None), (4097, 2048), (16_391, 2048), (16_392, 2049), (79_999, 9999), (10**6, 10_000)],
)
def test_an_eighth_of_many_vectors_tells_looks_apart(draws, some):
    """At least 2,048 and at most 10,000."""
    assert past_of(np.broadcast_to(0.0, (draws, 2))).screened == some
    assert past_of(np.broadcast_to(0.0, draws)).screened is None


def test_what_enough_first_draws_say_stays_and_what_fewer_say_does_not():
    made = iter(range(9))

    def asked(past):
        return past.once("what", 20, lambda: [next(made)])[0]

    few = past_of(np.zeros(19))
    assert [asked(few), asked(few)] == [0, 0]
    enough = PastDraws(np.zeros(20), np.zeros(20), few.layout, few)
    assert asked(enough) == 1
    assert asked(PastDraws(np.zeros(30), np.zeros(30), few.layout, enough)) == 1
    assert asked(PastDraws(np.zeros(30), np.zeros(30), Columns(), enough)) == 2  # another layout


@pytest.mark.parametrize(
    ("draws", "taught", "learned_from", "seen"),
    [
        (101, 400, [(0, 101), (0, 50), (50, 101)], [((50, 101), 0, 50), ((0, 50), 50, 101)]),
        (101, 60, [(0, 60), (0, 50), (50, 101)], [((50, 101), 0, 50), ((0, 50), 50, 101)]),
        (100, 50, [(0, 50), (50, 100)], [((50, 100), 0, 50), ((0, 50), 50, 100)]),
        (100, 30, [(0, 30), (50, 80)], [((50, 80), 0, 50), ((0, 30), 50, 100)]),
    ],
)
def test_each_half_is_scored_by_what_the_first_rows_of_the_other_teach(
    draws, taught, learned_from, seen, monkeypatch
):
    """Of many entries fewer rows teach, but for the first ones; later draws see an earlier score.

    Twice as many draws teach a new one, for the draws that come after them.
    """
    calls = []

    def learn(x, x_prime):
        rows = int(x[0, 0]), int(x[-1, 0]) + 1
        assert (x == x_prime).all()
        calls.append(rows)
        return View("score", rows=(rows,))

    def of(size, earlier=None):
        side = np.column_stack([np.arange(size), np.zeros(size)])
        return PastDraws(side, side, Columns(), earlier)

    def parts(look):
        return [(view.rows[0], part.start, part.stop) for view, part in look.seen]

    monkeypatch.setattr(looks, "_TAUGHT", taught)
    past = of(draws)
    look = past.score("sum", learn)
    assert past.score("sum", learn) is look
    assert calls == learned_from
    assert look.view.rows == (learned_from[0],)
    assert parts(look) == seen
    first = learned_from[0][1]
    for size in (2 * draws - 1, 2 * draws):  # of which the taught ones are fewer than twice
        later = of(size, past).score("sum", learn)
        new = min(size, taught) >= 2 * first
        assert later.view.rows == (((0, size),) if new else (learned_from[0],))
        assert parts(later) == [(learned_from[0], first, size)]
    monkeypatch.setattr(looks, "_TAUGHT_NUMBERS", 80)
    for least, rows in ((10, 40), (45, 45)):
        monkeypatch.setattr(looks, "ROWS", least)
        assert of(200).score("sum", learn).view.rows == ((0, min(rows, taught)),)


def test_where_a_half_says_too_little_there_is_no_score():
    sides = np.zeros((100, 2)), np.zeros((100, 2))
    for silent in (100, 50):
        past = PastDraws(*sides, Columns())
        assert past.score("sum", lambda x, _, n=silent: None if len(x) == n else View()) is None
        assert list(looks._scored(past, "sum", lambda *_: None)) == []


def test_the_last_draws_are_seen_as_all_are():
    x = np.random.default_rng(0).integers(0, 9, (2, 100, 3))
    past = past_of(*x)
    parts = [(View("entry", 1), slice(0, 40)), (View("entry", 2), slice(40, 100))]
    for look, numbers in [
        (Look(View("entry", 1), past), x[:, :, 1]),
        (Look(View(), past, parts), np.hstack([x[:, :40, 1], x[:, 40:, 2]])),
    ]:
        np.testing.assert_array_equal(look.sides(), numbers)
        np.testing.assert_array_equal(look.sides(30), numbers[:, -30:])
        for most, size in ((None, 100), (30, 30)):
            assert look.cells(64, most)[0].folds[1].sum() == size
            assert look.cells(64, most) is look.cells(64, most)
    rows = Look(View("row"), past)
    for most, size in ((None, 100), (30, 30)):
        (cells,) = rows.cells(64, most)
        last = [tuple(row) for row in x[0, -size:].tolist()]
        times = cells.folds[0].sum(axis=0)[cells.coded(x[0, -size:])]
        assert times.tolist() == [last.count(row) for row in last]


# --- families -------------------------------------------------------------------------------------

RNG = np.random.default_rng(1)
WIDE = RNG.integers(0, 2**20, (2, 3000))
VECTORS = RNG.normal(size=(2, 3000, 3))
BITS = RNG.integers(0, 2, (2, 500, 3))


@pytest.mark.parametrize(
    ("sides", "layout", "names"),
    [
        (VECTORS[:, :, 0], {}, {"columns"}),
        (WIDE, {}, {"columns", "bits", "sums"}),
        (-WIDE, {}, {"columns"}),
        (WIDE % 1000, {}, {"columns"}),  # numbers repeat
        (BITS, {}, {"rows", "columns", "sums"}),
        (
            VECTORS,
            {"groups": (((0,), (1,), (2,)),)},
            {"columns", "sums", "summaries", "regressions"},
        ),
        (VECTORS[:, :, :1], {}, {"columns"}),
        (BITS * 1.0, {}, {"columns", "sums", "regressions"}),
    ],
)  # fmt: skip
def test_families_look_at_outputs_of_their_kind(sides, layout, names):
    past = past_of(*sides, **layout)
    columns = looks._of_columns(past)
    found = {name for name in FAMILIES if [*FAMILIES[name](past, columns)]}
    of_any = {"regressions"} if sides.ndim == 3 and sides.shape[2] > 1 else set()
    assert found | of_any == names | of_any
    assert [look.view.entry for look in columns] == [*range(len(columns))]
    assert len(looks_at(past, ["columns"])) == len(columns)


def test_bits_are_those_up_to_the_largest_number_of_either_side():
    for sides in (WIDE, WIDE[::-1]):
        past = past_of(sides[0] % 2**19, sides[1])
        bits = looks._of_bits(past, looks._of_columns(past))
        assert [look.view.entry for look in bits] == list(range(20))
        past = past_of(sides[0], sides[1] - 1 - sides[1].min())
        assert list(looks._of_bits(past, looks._of_columns(past))) == []


def test_of_many_entries_those_are_looked_at_whose_shares_differ_most():
    """By the shares below quantiles of both sides, one entry at a time."""
    rng = np.random.default_rng(2)
    ours, theirs = rng.normal(size=(2, 1000, 70)).round(1)
    ours[:, 30:] += np.linspace(0, 0.4, 40)
    ours[:300, 50:55] = NAN
    theirs[:4, 60] = -9
    differ = []
    for x, y in zip(ours.T, theirs.T, strict=True):
        pooled = np.sort(np.append(x, y))
        there = pooled[~np.isnan(pooled)]
        largest = 0.0
        for share in (0, 0.003, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 0.997, 1):
            cut = there[int(share * (len(there) - 1))]
            for below in (np.less, np.less_equal):
                p, q = below(x, cut).mean(), below(y, cut).mean()
                spread = math.sqrt((p + q) / 2 * (1 - (p + q) / 2) + 1e-3)
                largest = max(largest, abs(p - q) / spread)
        differ.append(largest)
    expected = sorted(np.argsort(differ)[-64:].tolist())
    past = past_of(ours, theirs)
    assert [look.view.entry for look in looks._of_columns(past)] == expected
    assert len(looks._of_columns(past_of(ours[:, :64]))) == 64


# --- scores ---------------------------------------------------------------------------------------


def test_a_sum_of_bits_adds_the_log_ratios_of_their_shares():
    rng = np.random.default_rng(3)
    x, y = rng.random((2, 400, 4)) < [[[0.3, 0.5, 0.6, 0.2]], [[0.5, 0.5, 0.2, 0.1]]]
    x, y = x.astype(int), y.astype(int)[:300]
    expected = np.zeros(400)
    for i in range(4):
        for bit in (0, 1):
            share, share_prime = (
                (np.sum(side[:, i] == bit) + 1) / (len(side) + 1) for side in (x, y)
            )
            expected += (x[:, i] == bit) * math.log(share / share_prime)
    assert looks.learn_sum(x, y, 4, 16).of(x) == pytest.approx(expected)
    words = [side @ (1 << np.arange(4)) for side in (x, y)]
    assert looks.learn_sum(*words, 4, 16).of(words[0]) == pytest.approx(expected)


def test_a_quantile_lies_on_the_line_between_numbers_that_are_there():
    table = np.random.default_rng(5).normal(size=(41, 6))
    table[:7, 2] = table[5:, 3] = table[1:, 5] = NAN
    table[:, 4] = np.arange(41) == 3  # mostly equal: the deviation from the median
    centre, spread = scores._units(table)
    assert centre == pytest.approx(np.nanmedian(table, axis=0))
    wide = np.nanquantile(table, [0.16, 0.84], axis=0)
    assert spread[:4] == pytest.approx((wide[1] - wide[0])[:4] / 2)
    assert spread[4] == pytest.approx(1 / math.sqrt(41))
    assert spread[5] == 0


def test_z_scores_are_those_of_welch_for_mean_products():
    """About 0: squares in place of variances, as for bits of equal means."""
    x, y = np.random.default_rng(7).normal(size=(2, 300, 4))
    y = y[:200]
    z = scores._z_scores(np.concatenate([x, y]), 300)
    for i, j in combinations(range(4), 2):
        ours, theirs = x[:, i] * x[:, j], y[:, i] * y[:, j]
        spread = math.sqrt(np.mean(ours**2) / 300 + np.mean(theirs**2) / 200)
        assert z[i, j] == pytest.approx(abs(ours.mean() - theirs.mean()) / spread)


def test_of_many_columns_the_products_remain_that_differ_by_four_deviations():
    rng = np.random.default_rng(8)
    columns = rng.normal(size=(17, 2000))
    columns[3, :1000] = columns[5, :1000]
    columns[9, 1000:] = -columns[12, 1000:]
    assert scores._strongest(columns, 1000) == [(3, 5), (9, 12)]
    assert scores._strongest(columns[:16], 1000) == [*combinations(range(16), 2)]
    columns[:, 1000:] = columns[0, 1000:]
    kept = scores._strongest(columns, 1000)
    assert len(kept) == 64
    z = scores._z_scores(columns.T.copy(), 1000)
    assert {*kept} == {*sorted(combinations(range(17), 2), key=lambda pair: -z[pair])[:64]}


def test_a_regression_is_of_entries_squares_and_products_that_vary():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(2, 400, 4))
    for side in (x, y):
        side[:, 1] = side[:, 1] > 0  # two values: no square
        side[:, 3] = 7.0
    formula = scores.learned_score(x, y, range(4)).formula
    assert formula.entries == (0, 1, 2)
    terms = {factors for factors, _ in formula.terms}
    assert terms == {(0,), (1,), (2,), (0, 0), (2, 2), (0, 1), (0, 2), (1, 2)}
    assert all(weight == float(f"{weight:.6g}") for _, weight in formula.terms)
    few = [side[:99] for side in (x, y)]
    for sides, entries in ((few, [0, 1]), ((x, y[:99]), [0, 1]), ((x, y), [0]), ((x, y), [0, 3])):
        assert scores.learned_score(*sides, entries) is None
    assert scores.learned_score(x[:100], y[:100], [0, 1]) is not None


def test_weights_of_a_linear_score_are_differences_of_means():
    rng = np.random.default_rng(10)
    x, y = rng.normal([[[1, 0, 5, 2]], [[0, 0.5, 5, 2]]], 1, (2, 60, 4))
    x[:, 3] = y[:, 3] = 1.0
    formula = scores.linear_score(x, y[:40], range(4)).formula
    assert formula.entries == (0, 1, 2)
    for (factors, weight), entry in zip(formula.terms, range(3), strict=True):
        scale = formula.scales[entry]
        apart = (x[:, entry].mean() - y[:40, entry].mean()) / scale
        assert factors == (entry,)
        assert weight == pytest.approx(apart, rel=1e-4)
    assert scores.linear_score(x, y, [0, 3]) is None
    assert len(scores.linear_score(x, y, [0, 1]).formula.terms) == 2


def test_the_entries_of_a_score_are_those_of_the_largest_z_scores():
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(2, 300, 40))
    x[:, 7] += 1
    x[:, 20] = x[:, 31]
    assert scores.suspects(x, y, range(40), 3) == [7, 20, 31]
    assert scores.suspects(x, y, range(40), 40) == range(40)
    few = [5, 7, 9, 20, 31]
    assert scores.suspects(x, y, few, 3) == [7, 20, 31]
    x[::3, 2] = np.inf  # no number: at its centre
    assert scores.suspects(x, y[:200], range(40), 3) == [7, 20, 31]


def test_differences_are_of_entries_that_another_explains_by_96_percent():
    rng = np.random.default_rng(12)
    x, y = rng.normal(size=(2, 1000, 5))
    for side, far in ((x, 0.0), (y, 0.1)):
        side[:, 1] = 3 * side[:, 0] + 0.1 * side[:, 1] + far
        side[:, 3] = side[:, 2] + 0.3 * side[:, 3] + 2 * far  # 92 % are explained
        side[:, 4] = 0.5 * side[:, 2] + 0.05 * side[:, 4]  # as on the other side
    (view,) = scores.differences(x, y, range(5), 64)
    assert (view.entry, view.other) == (1, 0)
    assert view.factor == pytest.approx(3, abs=0.02)
    assert scores.differences(x[:50], y[:49], range(5), 64) == []
    assert scores.differences(x, y, [0], 64) == []
    many = [
        np.column_stack([side[:, :1], *[side[:, 1:2] + i for i in range(5)]]) for side in (x, y)
    ]
    assert len(scores.differences(*many, range(6), 64)) == 4


def test_summaries_are_of_groups_that_have_them():
    rng = np.random.default_rng(14)
    digits = rng.integers(0, 10, (2, 50, 6))
    rows = tuple((i, i + 1) for i in (0, 2, 4))
    names = {view.summary for view in scores.summaries(tuple(digits), Columns(groups=(rows,)))}
    assert {CHECK_SUM, DISTINCT, CORRELATION} <= names
    for sides, groups, missing in [
        (digits + 1, rows, {CHECK_SUM}),
        (rng.normal(size=(2, 50, 6)), rows, {CHECK_SUM, DISTINCT}),
        (digits, ((0, 1, 2), (3, 4, 5)), {CORRELATION}),  # two rows
        (digits, ((0, 1), (2, 3), (4,)), {CORRELATION}),  # no table
    ]:
        found = {view.summary for view in scores.summaries(tuple(sides), Columns(groups=(groups,)))}
        assert found == names - missing
    wide = rng.integers(0, 10, (2, 50, 21))
    for columns, pairs in ((6, 15), (7, 0)):
        table = tuple(tuple(range(i, i + columns)) for i in range(0, 3 * columns, columns))
        found = scores.summaries(tuple(wide), Columns(groups=(table,)))
        assert sum(view.summary == CORRELATION for view in found) == pairs

"""Which looks there are at past draws, what scores learn from, and the scores themselves."""

import math
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2_contingency

from epsilometer.events import looks, scores
from epsilometer.events.events import Event, View
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
        np.testing.assert_array_equal(x_prime, -x)
        calls.append(rows)
        return View("score", rows=(rows,))

    def of(size, earlier=None):
        side = np.column_stack([np.arange(size), np.zeros(size)])
        return PastDraws(side, -side, Columns(), earlier)

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


@pytest.mark.parametrize(("entries", "rows"), [(3, 40_000), (40, 20_000), (90, 10_000)])
def test_40_000_rows_or_800_000_numbers_teach_a_score_or_10_000_rows(entries, rows):
    sizes = []
    side = np.broadcast_to(0.0, (10**6, entries))
    PastDraws(side, side, Columns()).score("sum", lambda x, _: sizes.append(len(x)) or View())
    assert sizes == [rows] * 2  # the first half, and the second


def test_where_a_half_says_too_little_there_is_no_score():
    sides = np.zeros((101, 2)), np.zeros((101, 2))
    for silent in (101, 50, 51):
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
        many = 60 if look.seen else 70  # of the last part alone
        np.testing.assert_array_equal(look.sides(70), numbers[:, -many:])
        for most, size in ((None, 100), (30, 30)):
            assert look.cells(64, most)[0].folds[1].sum() == size
            assert look.cells(64, most) is look.cells(64, most)
    rows = Look(View("row"), past)
    for most, size in ((None, 100), (30, 30)):
        (cells,) = rows.cells(64, most)
        for side, folds in zip(x, cells.folds, strict=True):
            last = [tuple(row) for row in side[-size:].tolist()]
            times = folds.sum(axis=0)[cells.coded(side[-size:])]
            assert times.tolist() == [last.count(row) for row in last]


# --- families -------------------------------------------------------------------------------------

RNG = np.random.default_rng(1)
WIDE = RNG.integers(0, 2**14, (1, 3000)).repeat(2, axis=0)
WIDE[:, 0] = 0
VECTORS = RNG.normal(size=(2, 3000, 3))
BITS = RNG.integers(0, 2, (1, 500, 3)).repeat(2, axis=0)


@pytest.mark.parametrize(
    ("sides", "layout", "names"),
    [
        (VECTORS[:, :, 0], {}, {"columns"}),
        (np.abs(VECTORS[:, :, 0]) * 100, {}, {"columns"}),
        (WIDE, {}, {"columns", "bits", "sums"}),
        (-WIDE, {}, {"columns"}),
        (WIDE % 1000, {}, {"columns"}),  # numbers repeat
        (BITS, {}, {"rows", "columns", "sums"}),
        (
            VECTORS,
            {"groups": (((0,), (1,), (2,)),)},
            {"columns", "sums", "summaries", "regressions"},
        ),
        (WIDE[:, :, None].repeat(2, axis=2), {}, {"rows", "columns", "sums"}),
        (VECTORS[:, :, :1], {}, {"columns"}),
        (VECTORS[:, :, :2], {}, {"columns", "sums", "regressions"}),
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


def test_of_a_side_with_more_draws_the_first_ones_count():
    x, y = VECTORS
    for sides in ((x, y[:900]), (x[:900], y)):
        past = past_of(*sides)
        np.testing.assert_array_equal(past.sides, [x[:900], y[:900]])
        of_both = looks_at(past_of(x[:900], y[:900]))
        for look, other in zip(looks_at(past), of_both, strict=True):
            assert look.view == other.view
            np.testing.assert_array_equal(look.sides(), other.sides())


def made(rng):
    """Return outputs of a kind, which draws of x' betray to a family, and what this looks at."""
    words = rng.integers(0, 2**14, (2, 3000, 4))
    bits = rng.integers(0, 2, (2, 3000, 4))
    reals = rng.normal(size=(2, 3000, 3))
    even, odd_word, odd, equal, line, coarse, even_sum = (
        side.copy() for side in (words, words, bits, words, reals, reals, words)
    )
    even[1, :, 2] &= ~1
    odd_word[1, :, 2] ^= (odd_word[1, :, 2] >> 3 ^ odd_word[1, :, 2] >> 11 ^ 1) << 3 & 8
    odd[1, :, 3] = odd[1, :, 0] ^ odd[1, :, 1]
    equal[1, ::9, 3] = equal[1, ::9, 1]
    line[:, :, 2] = 3 * line[:, :, 0] + 0.01 * line[:, :, 2] + [[0.0], [0.01]]
    coarse[1, :, 1] = np.round(coarse[1, :, 1] * 2**30) / 2**30
    even_sum[1, :, 3] ^= (even_sum[1, :, 3] ^ even_sum[1, :, 0]) & 1
    bit = [View("bit", i, inner=View("entry", 2)) for i in (3, 11)]
    larger = [Event(((1, None),), view=View("entry", i)) for i in range(4)]
    difference = View("difference", 0, other=3, factor=1)
    return {
        "remainders": (even, View("remainder", 2, modulus=2)),
        "low bits": (coarse, View("low bit", 1)),
        "differences": (line, View("difference", 2, other=0, factor=3.0)),
        "coincidences": (equal, View("equal", 1, other=3)),
        "sums modulo": (even_sum, View("remainder", modulus=2, inner=difference)),
        "parities": (odd, View("parity", parts=(larger[0], larger[1], larger[3]))),
        "parities of words": (
            odd_word,
            View("parity", parts=tuple(Event(((1, 1),), view=view) for view in bit)),
        ),
        "parities of bits": (
            odd_word[:, :, 2],
            View("parity", parts=tuple(Event(((1, 1),), view=View("bit", i)) for i in (3, 11))),
        ),
    }


LEAKS = made(np.random.default_rng(2))


@pytest.mark.parametrize("kind", LEAKS)
def test_a_family_looks_at_what_differs_in_the_numbers_that_it_may_read(kind):
    sides, view = LEAKS[kind]
    name = kind.split(" of")[0]
    assert _found(past_of(*sides, as_reals=False), name)[0] == view
    assert _found(past_of(*sides[[0, 0]]), name) == []
    of_reals = name == "low bits"
    assert (view in _found(past_of(*sides), name)) != of_reals
    if sides.ndim == 2 or name == "parities":
        return
    for layout in ({"numbers": (0,)}, {"reals": (0, 2)}):
        read = not of_reals and "reals" in layout
        assert (view in _found(past_of(*sides, **layout, as_reals=False), name)) == read


def test_what_cells_of_a_number_or_tables_show_is_not_looked_at_again():
    """Parities are of two bits or three columns, remainders of numbers that do not repeat."""
    even = LEAKS["remainders"][0]
    for sides in (np.stack([BITS[0], BITS[0][:, [0, 0, 2]]]), even, even[:, :, 2]):
        assert _found(past_of(*sides), "parities") == []
    assert _found(past_of(*(even % 500)), "remainders") == []


def _found(past, name):
    return [look.view for look in looks_at(past, [name])]


def test_what_few_first_draws_say_of_entries_and_many_of_equality_stays():
    """2,048 or 10,000."""
    asked = {}
    past = past_of(*LEAKS["remainders"][0], groups=(((0,), (1,), (2,)),))
    past.once = lambda of, draws, make: asked.update({of: draws}) or make()
    looks_at(past)
    few = {*range(4), "differences", "sums modulo", "parities"}
    assert asked == {**dict.fromkeys(few, 2048), "coincidences": 10_000, "summaries": 10_000}
    past = past_of(np.zeros((9, 65)))
    past.once = lambda of, draws, make: asked.update({of: draws}) or make()
    looks._of_columns(past)
    assert asked["wide"] == 10_000


@pytest.mark.parametrize("way", [1, -1])
def test_bits_are_those_up_to_the_largest_number_of_either_side(way):
    for x, size in ((WIDE[0] % 2**13, 14), (WIDE[0] - 1, 0)):
        past = past_of(*[x, WIDE[1]][::way])
        bits = looks._of_bits(past, looks._of_columns(past))
        assert [look.view.entry for look in bits] == list(range(size))


@pytest.mark.parametrize(("compared", "rows"), [(1, 1000), (1100 * 24, 1100)])
def test_of_many_entries_those_are_looked_at_whose_shares_differ_most(compared, rows, monkeypatch):
    """By the shares below quantiles of both sides, one entry at a time, of the first rows."""
    rng = np.random.default_rng(2)
    ours, theirs = rng.normal(size=(2, 2200, 24)).round(1)
    ours[:, 18:] += np.linspace(0, 0.4, 6)
    ours[:300, 9:12] = NAN
    for entry in range(9):
        theirs[: entry + 1, entry] = (-1) ** entry * 9.0
    ours[rows:, 0] += 9
    for entry, share in enumerate((0.1, 0.25, 0.5, 0.75, 0.9), 12):  # they differ there alone
        ours[:, entry] = theirs[:, entry] = u = rng.random(2200)
        ours[:, entry] += 0.05 * ((u > share - 0.05) & (u < share))
    differ = []
    for x, y in zip(ours[:rows].T, theirs[:rows].T, strict=True):
        pooled = np.sort(np.append(x, y))
        there = pooled[~np.isnan(pooled)]
        largest = 0.0
        for share in (0, 0.003, 0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98, 0.997, 1):
            cut = there[int(share * (len(there) - 1))]
            for below in (np.less, np.less_equal):
                p, q = below(x, cut).mean(), below(y, cut).mean()
                spread = math.sqrt((p + q) / 2 * (1 - (p + q) / 2) + 1 / rows)
                largest = max(largest, abs(p - q) / spread)
        differ.append(largest)
    order = np.argsort(-np.array(differ), kind="stable")
    monkeypatch.setattr(looks, "_COMPARED", compared)
    past = past_of(ours, theirs)
    for number in range(1, 24):
        monkeypatch.setattr(looks, "ENTRIES", number)
        assert looks._different(past) == sorted(order[:number].tolist())
    assert [look.view.entry for look in looks._of_columns(past)] == sorted(order[:23].tolist())
    monkeypatch.setattr(looks, "ENTRIES", 24)
    assert len(looks._of_columns(past)) == 24


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


@pytest.mark.parametrize(
    ("compared", "rows"), [(2_000_000, 2000), (4 * 600, 600), (4 * 2100, 2000), (1, 100)]
)
def test_steps_are_slopes_on_the_entry_before_that_explain_a_quarter(compared, rows, monkeypatch):
    """Of the last rows."""
    assert looks._COMPARED == 2_000_000
    monkeypatch.setattr(looks, "_COMPARED", compared)
    x = np.random.default_rng(4).normal(size=(2 * rows, 4))
    for part, size, slope in (
        (slice(0, rows), 100, -2),
        (slice(-rows, -rows // 2), 10, 0.5),
        (slice(-rows // 2, None), 1, 1),
    ):
        x[part] *= size
        x[part, 1] += slope * x[part, 0] - 0.9 * x[part, 1]
        x[part, 2] = slope * (x[part, 1] + 1.1 * x[part, 2])  # 18 % are explained
        x[part, 3] = slope * (x[part, 2] + 0.8 * x[part, 3])  # about a third
    x += 5
    expected = []
    for before, after in zip(x[-rows:].T, x[-rows:].T[1:], strict=False):
        slope, _ = np.polyfit(before, after, 1)
        expected.append(round(slope, 1) * (np.corrcoef(before, after)[0, 1] ** 2 > 0.25))
    assert looks._steps(x) == expected
    assert expected[0] == 0.5
    assert rows < 2000 or [step != 0 for step in expected] == [True, False, True]
    assert looks._steps(np.random.default_rng(6).normal(size=(400, 3))) == []
    for wrong in (NAN, math.inf):
        x[-5, 3] = wrong
        assert looks._steps(x)[::2] == [0.5, 0.0]


def test_a_sum_of_steps_adds_the_log_ratios_of_cells_of_what_each_entry_adds():
    rng = np.random.default_rng(5)
    x, y = np.cumsum(rng.normal([[[0.2]], [[0.0]]], 1, (2, 900, 5)), axis=2)
    learners = looks.sums(x, 5)
    assert learners.keys() == {"sum", "steps"}
    assert looks.sums(x[:, :1], 1).keys() == {"sum"} == looks.sums(x[:, 0], 4).keys()
    view = learners["steps"](x, y[:500])
    assert view.steps == (1.0,) * 4
    added = [np.column_stack([side[:, 0], np.diff(side)]) for side in (x, y[:500])]
    for i, table in enumerate(view.tables):
        (starts,) = table.starts
        assert table.entries == (i,)
        cells = [np.searchsorted(starts, side[:, i], "right") for side in added]
        ours, theirs = (np.bincount(side, None, 16) for side in cells)
        assert ours + theirs == pytest.approx(1400 / 16, abs=1)  # sixteen cells of as many draws
        expected = np.log((ours + 1) / 901) - np.log((theirs + 1) / 501)
        assert table.adds[:16] == pytest.approx(expected)
    assert learners["sum"](x, y[:500]).steps == ()


def test_a_quantile_lies_on_the_line_between_numbers_that_are_there():
    table = np.random.default_rng(5).normal(size=(41, 6))
    table[:7, 2] = table[5:, 3] = table[1:, 5] = NAN
    table[:, 4] = 3 * (np.arange(41) == 3)  # mostly equal: the deviation from the median
    centre, spread = scores._units(table)
    assert centre == pytest.approx(np.nanmedian(table, axis=0))
    wide = np.nanquantile(table, [0.16, 0.84], axis=0)
    assert spread[:4] == pytest.approx((wide[1] - wide[0])[:4] / 2)
    assert spread[4] == pytest.approx(3 / math.sqrt(41))
    assert spread[5] == 0


@pytest.mark.parametrize(
    ("centre", "scale", "digits"),
    [(1.23456789, 1, 6), (9.87654321, 1, 6), (80.87654321, 1, 6),
        (99.87654321, 1, 7), (123.456789, 1, 7),
     (123456789.123456789, 1, 13), (123456789.123456789, 1e-6, 17), (0, 2, 6)],
)  # fmt: skip
def test_a_centre_has_six_digits_and_at_least_four_of_its_spread(centre, scale, digits):
    numbers = centre + scale * np.array([[-1.23456789, 0.0, 1.23456789, NAN, math.inf]]).T
    centres, scales = scores._spreads(numbers)
    assert centres == [float(f"{centre:.{digits}g}")]
    low, high = np.quantile(numbers[:3], [0.16, 0.84])
    assert scales == [float(f"{(high - low) / 2:.6g}")]
    none = np.array([[1.0, NAN, 1.7e308], [1.0, NAN, -1.7e308]])  # nor where it is infinite
    for times in (1, 9):
        assert np.array_equal(scores._spreads(none.repeat(times, axis=0)), np.zeros((2, 3)))


def test_z_scores_are_those_of_welch_for_mean_products():
    """About 0: squares in place of variances, as for bits of equal means."""
    x, y = np.random.default_rng(7).normal(size=(2, 300, 4))
    y = y[:200]
    z = scores._z_scores(np.concatenate([x, y]), 300)
    for i, j in combinations(range(4), 2):
        ours, theirs = x[:, i] * x[:, j], y[:, i] * y[:, j]
        spread = math.sqrt(np.mean(ours**2) / 300 + np.mean(theirs**2) / 200)
        assert z[i, j] == pytest.approx(abs(ours.mean() - theirs.mean()) / spread)


def test_of_many_columns_the_products_remain_that_differ_by_four_deviations(monkeypatch):
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
    z = np.zeros((17, 17))
    z[2, 4], z[1, 3], z[6, 8] = 4.0, 4.01, 9.0
    monkeypatch.setattr(scores, "_z_scores", lambda *_: z)
    assert scores._strongest(columns, 1000) == [(1, 3), (6, 8)]


def test_a_regression_is_of_entries_squares_and_products_that_vary():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(2, 400, 4))
    for side in (x, y):
        side[:, 1] = side[:, 1] > 0  # two values: no square
        side[:, 2] = side[:, 2].clip(0, 1) // 0.5 * 3 + 2  # three values
        side[:, 3] = 7.0
    x[100:, 1] += x[100:, 0] > 2  # in its first 100 rows
    x[:, 0] += 0.5
    y = y[:300]
    formula = scores.learned_score(x, y, range(4)).formula
    assert formula.entries == (0, 1, 2)
    terms = {factors for factors, _ in formula.terms}
    assert terms == {(0,), (1,), (2,), (0, 0), (2, 2), (0, 1), (0, 2), (1, 2)}
    weights = [weight for _, weight in formula.terms]
    assert weights == [float(f"{weight:.6g}") for weight in weights]
    assert weights != [float(f"{weight:.5g}") for weight in weights]
    columns = formula.columns(np.concatenate([x, y]))
    features = np.array([columns[list(factors)].prod(axis=0) for factors, _ in formula.terms])
    spread = features.std(axis=1)
    units = (features.T - features.mean(axis=1)) / spread
    sign = np.repeat([1, -1], [400, 300])

    def loss(w):
        return np.logaddexp(0, -sign * (units @ w[1:] + w[0])).sum() + (w[1:] ** 2).sum() / 2

    best = minimize(loss, np.zeros(1 + spread.size)).x[1:]
    assert weights * spread == pytest.approx(best, abs=0.03)  # as steps end early
    few = [side[:99] for side in (x, y)]
    none = [np.full((500, 2), missing) for missing in (NAN, math.inf)]
    for sides, entries in (
        ((x, y), []),
        ((x[:99], y), [0, 1]),
        (few, [0, 1]),
        ((x, y[:99]), [0, 1]),
        ((x, y), [0]),
        ((x, y), [0, 3]),
        (none, [0, 1]),
    ):
        assert scores.learned_score(*sides, entries) is None
    assert scores.learned_score(x[:100], y[:100], [0, 1]) is not None


def test_weights_of_a_linear_score_are_differences_of_means():
    rng = np.random.default_rng(10)
    x, y = rng.normal([[[1, 0, 5, 2]], [[0, 0.5, 5, 2]]], 1, (2, 60, 4))
    x[:, 3] = y[:, 3] = 1.0
    formula = scores.linear_score(x, y[:40], range(4)).formula
    assert formula.entries == (0, 1, 2)
    middle = np.median(np.concatenate([x, y[:40]]), axis=0)
    assert formula.centres == pytest.approx(middle[:3], rel=1e-4)
    for (factors, weight), entry in zip(formula.terms, range(3), strict=True):
        scale = formula.scales[entry]
        apart = (x[:, entry].mean() - y[:40, entry].mean()) / scale
        assert factors == (entry,)
        assert weight == pytest.approx(apart, rel=1e-4)
    assert scores.linear_score(x, y, [0, 3]) is None
    assert len(scores.linear_score(x, y, [0, 1]).formula.terms) == 2


def test_the_entries_of_a_score_are_those_of_the_largest_z_scores():
    """Of means, alone or in products, of numbers clipped at four units of their spread."""
    rng = np.random.default_rng(11)
    x, y = rng.standard_t(2, size=(2, 2600, 12)) + np.arange(12)
    x[:, 7] += 0.2
    x[:, 2] = np.where(rng.random(2600) < 0.1, x[:, 9], x[:, 2])
    x[2000:, 1] = x[::3, 4] = y[::3, 4] = np.inf  # no number: at its centre
    y = y[:1500]
    units = []
    for ours, theirs in zip(x[:2000].T, y.T, strict=True):
        pooled = np.append(ours, theirs)
        there = pooled[np.isfinite(pooled)]
        low, middle, high = np.quantile(there, [0.16, 0.5, 0.84])
        unit = ((pooled - middle) / (high - low) * 2).clip(-4, 4)
        units.append(np.where(np.isfinite(pooled), unit, 0))
    for entries in (range(12), [5, 7, 2, 9]):
        largest = dict.fromkeys(entries, 0.0)
        for i, j in [*combinations(entries, 2), *zip(entries, entries, strict=True)]:
            for numbers, of in ((units[i] * units[j], {i, j}), (units[i], {i})):
                ours, theirs = numbers[:2000], numbers[2000:]
                spread = math.sqrt(np.mean(ours**2) / 2000 + np.mean(theirs**2) / 1500)
                z = abs(ours.mean() - theirs.mean()) / spread
                largest |= {entry: max(z, largest[entry]) for entry in of}
        order = sorted(entries, key=lambda entry: -largest[entry])
        for number in range(1, len(order)):
            kept = [entry for entry in entries if entry in order[:number]]
            assert scores.suspects(x, y, entries, number) == kept
        assert scores.suspects(x, y, entries, len(order)) == entries


def test_of_many_entries_suspects_and_their_strongest_products_make_a_score():
    x, y = np.random.default_rng(18).normal(size=(2, 200, 70))
    share = np.linspace(0, 1, 35)
    x[:, 1::2] = share * x[:, ::2] + np.sqrt(1 - share**2) * x[:, 1::2]
    y = y[:100]
    formula = scores.learned_score(x, y, range(70)).formula
    assert formula.entries == tuple(scores.suspects(x, y, range(70)))
    products = [factors for factors, _ in formula.terms if len({*factors}) == 2]
    columns = formula.columns(np.concatenate([x, y]))
    assert products == scores._strongest(columns, 200) != scores._strongest(columns, 100)


@pytest.mark.parametrize(("entry", "found"), [(1023, 1023), (1024, 5)])
def test_entries_are_chosen_among_1024_by_2000_draws(entry, found):
    x, y = np.random.default_rng(15).integers(0, 2, (2, 100, 1030)) * 1.0
    x[:, 5], y[:, 5] = np.arange(100) < 90, 0
    x[:, entry], y[:, entry] = 1, 0
    assert scores.suspects(x, y, range(1030), 1) == [found]


def test_differences_are_of_entries_that_another_explains_by_96_percent(monkeypatch):
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
    fewest = [side[:50] for side in many]
    for far, found in ((3.0, 0), (3.01, 4)):
        monkeypatch.setattr(scores, "z_score", lambda *_, far=far: far)
        assert len(scores.differences(*fewest, range(6), 64)) == found
    seen = []
    monkeypatch.setattr(scores, "z_score", lambda x, y, cells: seen.append((len(x), cells)) or 4)
    scores.differences(*(np.tile(side, (3, 1)) for side in many), [0, 1], 32)
    assert seen == [(2000, 32)]


# --- tables ---------------------------------------------------------------------------------------


def test_pairs_differ_by_what_their_columns_do_not_tell():
    """By Pearson's statistics of tables of the first 4,000 draws, less those of either column."""
    rng = np.random.default_rng(16)
    x, y = rng.normal(size=(2, 4100, 5))
    x[:, 1] = x[:, 0] + x[:, 1] / 2
    x[::4, 2] = NAN
    y[4000:, 4] = y[4000:, 3]
    x[:, 3] = y[:, 3] = 2.0
    y = y[:4050]
    columns = {i: scores._Column(x[:, i], y[:, i]) for i in range(5)}

    def statistic(codes, codes_prime):
        counts = [Counter(side[:4000]) for side in (codes, codes_prime)]
        table = [[side[cell] for cell in counts[0] | counts[1]] for side in counts]
        if len(table[0]) == 1:
            return 0, 0
        return chi2_contingency(table, correction=False)[:3:2]

    cells = [[tuple(side.tolist()) for side in column.codes] for column in columns.values()]
    for (i, j), z in scores._z_scores_of_pairs(columns).items():
        pairs = [list(zip(*codes, strict=True)) for codes in zip(cells[i], cells[j], strict=True)]
        together, degrees = statistic(*pairs)
        for entry in (i, j):
            alone, degrees_alone = statistic(*cells[entry])
            together, degrees = together - alone, degrees - degrees_alone
        expected = (together - degrees) / math.sqrt(2 * degrees) if degrees else 0
        assert z == pytest.approx(expected)
        assert (z > 10) == ((i, j) == (0, 1))
    view = scores.learn_tables(x, y, range(5))
    (table,) = view.tables
    assert np.array_equal(table.adds, np.round(table.adds, 6))
    assert table.entries == (0, 1)
    assert [len(starts) for starts in table.starts] == [15, 15]
    pairs = [list(zip(*codes, strict=True)) for codes in zip(cells[0], cells[1], strict=True)]
    adds = np.zeros((17, 17))
    for cell in product(range(17), repeat=2):
        p, q = ((codes.count(cell) + 1) / (len(codes) + 1) for codes in pairs)
        adds[cell] = math.log(p / q)
    np.testing.assert_allclose(table.adds, adds, atol=1e-6)


def test_the_sixteen_pairs_are_kept_that_differ_most_by_more_than_four_deviations(monkeypatch):
    """Of 64 suspects."""
    x, y = np.random.default_rng(17).normal(size=(2, 100, 70))
    entries = scores.suspects(x, y, range(70))
    pairs, asked = list(combinations(entries[:7], 2)), []
    for number, kept in ((21, 16), (5, 4)):
        far = {pair: 4 + 0.01 * (i - 21 + number) for i, pair in enumerate(pairs)}
        monkeypatch.setattr(
            scores, "_z_scores_of_pairs", lambda of, f=far: asked.append([*of]) or f
        )
        found = [table.entries for table in scores.learn_tables(x, y, range(70)).tables]
        assert found == pairs[::-1][:kept]
    assert asked == [entries] * 2


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


@pytest.mark.parametrize(("row", "found"), [(9999, True), (10_000, False)])
def test_the_first_10_000_rows_tell_of_equal_entries_and_digits(row, found):
    x = np.tile([0.25, 0.5, 0.75], (10_001, 1))
    y = x.copy()
    y[row] = 0.25
    layout = Columns(groups=(((0,), (1,), (2,)),))
    names = {view.summary for view in scores.summaries((x, y), layout)}
    assert (DISTINCT in names) == found
    assert scores.summaries((y, x), layout) == scores.summaries((x, y), layout)

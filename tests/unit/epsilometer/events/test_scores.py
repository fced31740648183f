"""Scores that are learned, tables of pairs, differences of entries, and summaries of groups."""

import math
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2_contingency

from epsilometer.events import scores
from epsilometer.events.vectors import CHECK_SUM, CORRELATION, DISTINCT
from epsilometer.samples import Columns

NAN = math.nan


def rounded(number, digits=6):
    return float(f"{number:.{digits}g}")


# --- units and z-scores ---------------------------------------------------------------------------


def test_of_numbers_that_are_mostly_equal_the_spread_is_that_from_their_median():
    table = np.random.default_rng(5).normal(size=(41, 3))
    table[:7, 0] = table[1:, 2] = NAN
    table[:, 1] = 3 * (np.arange(41) == 3)
    centre, spread = scores._units(table)
    low, middle, high = np.nanquantile(table, [0.16, 0.5, 0.84], axis=0)
    assert centre == pytest.approx(middle)
    assert spread == pytest.approx([(high[0] - low[0]) / 2, 3 / math.sqrt(41), 0.0])


@pytest.mark.parametrize(
    ("centre", "scale", "digits"),
    [(9.87654321, 1, 6), (80.87654321, 1, 6), (99.87654321, 1, 7), (123.456789, 1, 7),
     (123456789.123456789, 1, 13), (123456789.123456789, 1e-6, 17), (0, 2, 6)],
)  # fmt: skip
def test_a_centre_has_six_digits_and_at_least_four_of_its_spread(centre, scale, digits):
    numbers = centre + scale * np.array([[-1.23456789, 0.0, 1.23456789, NAN, math.inf]]).T
    centres, scales = scores._spreads(numbers)
    low, high = np.quantile(numbers[:3], [0.16, 0.84])
    assert centres == [rounded(centre, digits)]
    assert scales == [rounded((high - low) / 2)]


def test_where_a_spread_is_0_or_infinite_there_is_none():
    none = np.array([[1.0, NAN, 1.7e308], [1.0, NAN, -1.7e308]])
    for times in (1, 9):
        assert np.array_equal(scores._spreads(none.repeat(times, axis=0)), np.zeros((2, 3)))


def z_of_means(x, y):
    """Return Welch's z-score of two means, about 0: squares in place of variances."""
    spread = math.sqrt(np.mean(x**2) / len(x) + np.mean(y**2) / len(y))
    return abs(x.mean() - y.mean()) / spread


def test_z_scores_are_those_of_the_mean_products_of_all_pairs():
    table = np.random.default_rng(8).exponential([1.0, 2.0, 0.5], (100, 3))
    z = scores._z_scores(table, 40)
    for i, j in product(range(3), repeat=2):
        products = table[:, i] * table[:, j]
        assert z[i, j] == pytest.approx(z_of_means(products[:40], products[40:]))


def test_of_many_columns_the_products_remain_that_differ_by_four_deviations(monkeypatch):
    """At most 64; of sixteen columns all are taken."""
    columns = np.random.default_rng(8).normal(size=(17, 2000))
    columns[:, 1000:] = columns[0, 1000:]
    z = scores._z_scores(columns.T.copy(), 1000)
    order = sorted(combinations(range(17), 2), key=lambda pair: -z[pair])
    assert scores._strongest(columns, 1000) == sorted(order[:64])
    assert scores._strongest(columns[:16], 1000) == [*combinations(range(16), 2)]
    z = np.zeros((17, 17))
    z[2, 4], z[1, 3], z[6, 8] = 4.0, 4.01, 9.0
    monkeypatch.setattr(scores, "_z_scores", lambda *_: z)
    assert scores._strongest(columns, 1000) == [(1, 3), (6, 8)]


def test_the_entries_of_a_score_are_those_of_the_largest_z_scores():
    """Of means, alone or in products, of numbers clipped at four units of their spread."""
    rng = np.random.default_rng(11)
    x, y = rng.standard_t(2, size=(2, 2600, 8)) + np.arange(8)
    x[:, 7] += 0.2
    x[:, 2] = np.where(rng.random(2600) < 0.1, x[:, 5], x[:, 2])
    x[2000:, 1] = x[::3, 4] = y[::3, 4] = np.inf  # no number: at its centre
    y = y[:1500]
    pooled = np.concatenate([x[:2000], y])
    there = np.where(np.isfinite(pooled), pooled, NAN)
    low, middle, high = np.nanquantile(there, [0.16, 0.5, 0.84], axis=0)
    units = np.nan_to_num(((there - middle) / (high - low) * 2).clip(-4, 4)).T
    for entries in (range(8), [5, 7, 2, 6]):
        largest = dict.fromkeys(entries, 0.0)
        for i, j in product(entries, repeat=2):
            for numbers in (units[i], units[i] * units[j]):
                largest[i] = max(largest[i], z_of_means(numbers[:2000], numbers[2000:]))
        order = sorted(entries, key=lambda entry: -largest[entry])
        for number in range(1, len(order)):
            kept = [entry for entry in entries if entry in order[:number]]
            assert scores.suspects(x, y, entries, number) == kept
        assert scores.suspects(x, y, entries, len(order)) == entries


@pytest.mark.parametrize(("entry", "found"), [(1023, 1023), (1024, 5)])
def test_entries_are_chosen_among_1024_by_2000_draws(entry, found):
    x, y = np.random.default_rng(15).integers(0, 2, (2, 100, 1030)) * 1.0
    x[:, 5], y[:, 5] = np.arange(100) < 90, 0
    x[:, entry], y[:, entry] = 1, 0
    assert scores.suspects(x, y, range(1030), 1) == [found]


# --- regressions ----------------------------------------------------------------------------------


def best_weights(features, first):
    """Return the weights, without the constant, of a logistic regression with a ridge."""
    sign = np.where(np.arange(len(features)) < first, 1, -1)

    def loss(weights):
        margins = sign * (features @ weights[1:] + weights[0])
        return np.logaddexp(0, -margins).sum() + (weights[1:] ** 2).sum() / 2

    return minimize(loss, np.zeros(1 + features.shape[1])).x[1:]


@pytest.mark.parametrize(
    ("seed", "shifts", "rows", "allowed"),
    [
        (0, (2.0, 0.5), 300, 0.115),
        (3, (0.15, -0.15), 3000, 0.02),
        (4, (4.0, -4.0), 6, 0.12),  # which only the ridge keeps small
    ],
)
def test_learned_weights_are_those_of_a_logistic_regression_with_a_ridge(
    seed, shifts, rows, allowed
):
    """Its steps end early, so that weights lack up to a tenth."""
    features = np.random.default_rng(seed).normal(0.5, 1, (2 * rows, 2))
    features[:, 0] += np.repeat(shifts, rows) - 0.5
    best = best_weights(features, rows)
    assert scores._weights(features, rows) == pytest.approx(best, abs=allowed)


def varied():
    """Return 400 and 300 rows of a real, of two values, of three, and of one."""
    x, y = np.random.default_rng(9).normal(size=(2, 400, 4))
    for side in (x, y):
        side[:, 1] = side[:, 1] > 0
        side[:, 2] = side[:, 2].clip(0, 1) // 0.5 * 3 + 2
        side[:, 3] = 7.0
    x[100:, 1] += x[100:, 0] > 2  # two values in its first 100 rows
    x[:, 0] += 0.5
    return x, y[:300]


def test_a_regression_is_of_entries_squares_and_products_that_vary():
    x, y = varied()
    formula = scores.learned_score(x, y, range(4)).formula
    assert formula.entries == (0, 1, 2)
    terms = [factors for factors, _ in formula.terms]
    assert {*terms} == {(0,), (1,), (2,), (0, 0), (2, 2), (0, 1), (0, 2), (1, 2)}
    weights = [weight for _, weight in formula.terms]
    assert weights == [rounded(weight) for weight in weights]
    assert weights != [rounded(weight, 5) for weight in weights]
    columns = formula.columns(np.concatenate([x, y]))
    features = np.array([columns[list(factors)].prod(axis=0) for factors in terms]).T
    spread = features.std(axis=0)
    best = best_weights((features - features.mean(axis=0)) / spread, 400)
    assert weights * spread == pytest.approx(best, abs=0.015)  # as steps end early


@pytest.mark.parametrize(
    ("rows", "rows_prime", "entries", "is_learned"),
    [
        (100, 100, [0, 1], True),
        (99, 300, [0, 1], False),
        (400, 99, [0, 1], False),
        (400, 300, [], False),
        (400, 300, [0], False),
        (400, 300, [0, 3], False),  # one of which is constant
    ],
)
def test_a_regression_is_of_two_entries_that_vary_and_100_rows(
    rows, rows_prime, entries, is_learned
):
    x, y = varied()
    view = scores.learned_score(x[:rows], y[:rows_prime], entries)
    assert (view is not None) == is_learned


def test_extreme_numbers_are_learned_from_without_a_word():
    rng = np.random.default_rng(9)
    x = rng.standard_cauchy((3000, 3)) * 1e300
    x[::7, 0], x[::5, 1], x[:, 2] = NAN, math.inf, np.sign(x[:, 2])
    view = scores.learned_score(x, rng.permutation(x), range(3))
    assert np.isfinite(view.of(x)).all()
    none = np.full((500, 2), NAN), np.full((500, 2), math.inf)
    assert scores.learned_score(*none, [0, 1]) is None


def test_weights_of_a_linear_score_are_differences_of_means():
    x, y = np.random.default_rng(10).normal([[[1, 0, 5, 1]], [[0, 0.5, 5, 1]]], 1, (2, 60, 4))
    x[:, 3] = y[:, 3] = 1.0
    y = y[:40]
    formula = scores.linear_score(x, y, range(4)).formula
    assert formula.entries == (0, 1, 2)
    apart = (x.mean(axis=0) - y.mean(axis=0))[:3] / formula.scales
    for i in range(3):
        factors, weight = formula.terms[i]
        assert factors == (i,)
        assert weight == pytest.approx(apart[i], rel=1e-4)
    assert scores.linear_score(x, y, [0, 3]) is None
    assert len(scores.linear_score(x, y, [0, 1]).formula.terms) == 2


@pytest.mark.parametrize("way", [1, -1])
def test_an_entry_that_varies_on_one_side_only_is_in_a_linear_score(way):
    sides = np.random.default_rng(10).normal(size=(2, 60, 2))
    sides[0, :, 1] = 0.0
    assert scores.linear_score(*sides[::way], [0, 1]).formula.entries == (0, 1)


def test_of_many_entries_suspects_and_their_strongest_products_make_a_score():
    x, y = np.random.default_rng(18).normal(size=(2, 200, 70))
    x[:, 1::2] += x[:, ::2] * np.linspace(0, 1, 35)
    formula = scores.learned_score(x, y[:100], range(70)).formula
    assert formula.entries == tuple(scores.suspects(x, y[:100], range(70)))
    products = [factors for factors, _ in formula.terms if len({*factors}) == 2]
    columns = formula.columns(np.concatenate([x, y[:100]]))
    assert products == scores._strongest(columns, 200) != scores._strongest(columns, 100)


# --- differences ----------------------------------------------------------------------------------


def test_differences_are_of_entries_that_another_explains_by_96_percent():
    x, y = np.random.default_rng(12).normal(size=(2, 1000, 4))
    for side, far in ((x, 0.0), (y, 0.1)):
        side[:, 1] = 3 * side[:, 0] + 0.1 * side[:, 1] + far
        side[:, 3] = side[:, 2] + 0.3 * side[:, 3] + 2 * far  # 92 % are explained
    (view,) = scores.differences(x, y, range(4), 64)
    assert (view.entry, view.other) == (1, 0)
    assert view.factor == pytest.approx(3, abs=0.02)
    assert scores.differences(x[:50], y[:49], range(4), 64) == []
    assert scores.differences(x, y, [0], 64) == []


def test_equal_laws_have_no_differences():
    """But for .16 of the seeds; of 12 for 9 or more with probability 1e-5."""
    found = 0
    for seed in range(12):
        x, y = np.random.default_rng(seed).normal(size=(2, 1000, 2))
        for side in (x, y):
            side[:, 1] = 3 * side[:, 0] + 0.1 * side[:, 1]
        found += len(scores.differences(x, y, range(2), 64))
    assert found < 9


def test_four_differences_that_are_three_deviations_apart_remain_of_2000_draws(monkeypatch):
    x = np.random.default_rng(12).normal(size=(3000, 2))
    x[:, 1] = 3 * x[:, 0] + 0.1 * x[:, 1]
    many = np.column_stack([x[:, :1], *[x[:, 1:] + i for i in range(5)]])
    seen = []
    for far, found in ((3.0, 0), (3.01, 4)):
        monkeypatch.setattr(
            scores, "z_score", lambda x, _, cells, far=far: seen.append((len(x), cells)) or far
        )
        assert len(scores.differences(many[:50], many[50:100], range(6), 32)) == found
    scores.differences(many, many, [0, 1], 32)
    assert {*seen} == {(50, 32), (2000, 32)}


# --- tables ---------------------------------------------------------------------------------------


def pearson(codes, codes_prime):
    """Return Pearson's statistic of the first 4,000 codes of both sides, and its degrees."""
    counts = [Counter(side[:4000].tolist()) for side in (codes, codes_prime)]
    table = [[side[cell] for cell in counts[0] | counts[1]] for side in counts]
    if len(table[0]) == 1:
        return np.zeros(2)
    return np.array(chi2_contingency(table, correction=False)[:3:2])


def test_pairs_differ_by_what_their_columns_do_not_tell():
    """By Pearson's statistics of tables of the first 4,000 draws, less those of either column."""
    x, y = np.random.default_rng(16).normal(size=(2, 4100, 4))
    x[:, 1] = x[:, 0] + x[:, 1] / 2
    x[::4, 2] = NAN
    x[:, 3] = y[:, 3] = 2.0
    y = y[:4050]
    y[4000:, 1] = y[4000:, 2]
    columns = {i: scores._Column(x[:, i], y[:, i]) for i in range(4)}
    for (i, j), z in scores._z_scores_of_pairs(columns).items():
        first, second = columns[i].codes, columns[j].codes
        pairs = [100 * a + b for a, b in zip(first, second, strict=True)]
        statistic, degrees = pearson(*pairs) - pearson(*first) - pearson(*second)
        expected = (statistic - degrees) / math.sqrt(2 * degrees) if degrees else 0
        assert z == pytest.approx(expected)
        assert (z > 10) == ((i, j) == (0, 1))


def test_a_table_has_the_log_ratio_of_each_pair_of_cells():
    x, y = np.random.default_rng(16).normal(size=(2, 4100, 2))
    x[:, 1] = x[:, 0] + x[:, 1] / 2
    y = y[:4050]
    (table,) = scores.learn_tables(x, y, range(2)).tables
    assert table.entries == (0, 1)
    assert [len(starts) for starts in table.starts] == [15, 15]
    shares = []
    for side in (x, y):
        rows, columns = (
            np.searchsorted(starts, numbers, "right")
            for starts, numbers in zip(table.starts, side.T, strict=True)
        )
        counts = np.bincount(17 * rows + columns, None, 17**2).reshape(17, 17)
        shares.append((counts + 1) / (len(side) + 1))
    np.testing.assert_allclose(table.adds, np.log(shares[0] / shares[1]), atol=1e-6)
    assert np.array_equal(table.adds, np.round(table.adds, 6))


def test_the_sixteen_pairs_are_kept_that_differ_most_by_more_than_four_deviations(monkeypatch):
    """Of 64 suspects."""
    x, y = np.random.default_rng(17).normal(size=(2, 100, 70))
    entries = scores.suspects(x, y, range(70))
    pairs, asked = list(combinations(entries[:7], 2)), []
    for number, kept in ((21, 16), (5, 4)):
        far = {pair: 4 + 0.01 * (i - 21 + number) for i, pair in enumerate(pairs)}
        monkeypatch.setattr(
            scores, "_z_scores_of_pairs", lambda of, far=far: asked.append([*of]) or far
        )
        found = [table.entries for table in scores.learn_tables(x, y, range(70)).tables]
        assert found == pairs[::-1][:kept]
    assert asked == [entries] * 2


# --- summaries ------------------------------------------------------------------------------------


def summaries_of(sides, groups):
    return Counter(view.summary for view in scores.summaries(sides, Columns(groups=(groups,))))


def test_summaries_are_of_groups_that_have_them():
    rng = np.random.default_rng(14)
    digits = tuple(rng.integers(0, 10, (2, 50, 6)))
    rows = ((0, 1), (2, 3), (4, 5))
    every = {*summaries_of(digits, rows)}
    assert {CHECK_SUM, DISTINCT, CORRELATION} <= every
    for sides, groups, missing in [
        ((digits[0] + 1, digits[1]), rows, {CHECK_SUM}),
        (tuple(rng.normal(size=(2, 50, 6))), rows, {CHECK_SUM, DISTINCT}),
        (digits, ((0, 1, 2), (3, 4, 5)), {CORRELATION}),  # two rows
        (digits, ((0, 1), (2, 3), (4,)), {CORRELATION}),  # no table
    ]:
        assert {*summaries_of(sides, groups)} == every - missing


@pytest.mark.parametrize(("columns", "pairs"), [(6, 15), (7, 0)])
def test_all_pairs_of_six_columns_of_a_table_may_be_correlated(columns, pairs):
    sides = tuple(np.zeros((2, 50, 21)))
    table = tuple(map(tuple, np.arange(3 * columns).reshape(3, columns).tolist()))
    assert summaries_of(sides, table)[CORRELATION] == pairs


@pytest.mark.parametrize(("row", "found"), [(9999, 1), (10_000, 0)])
def test_the_first_10_000_rows_tell_of_equal_entries(row, found):
    x = np.tile([0.25, 0.5, 0.75], (10_001, 1))
    y = x.copy()
    y[row] = 0.25
    for sides in ((x, y), (y, x)):
        assert summaries_of(sides, ((0,), (1,), (2,)))[DISTINCT] == found

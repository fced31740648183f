"""P-values of draws in random order are bounds, and those that their formulas say."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from epsilometer_audit.checks import permutations
from epsilometer_audit.checks.permutations import Matches, Scores
from tests.unit.epsilometer_audit.checks.laws import rng


def of_draws(scores):
    return Scores(scores, np.ones(scores.size), np.arange(scores.size))


def of_group(scores, start, end):
    own = of_draws(scores)
    sums = np.array([own[start:end].sum()])
    return float(permutations.unlikely(own, np.array([end - start]), sums)[0])


def clustered(outputs, sizes):
    _, codes, times = np.unique(outputs, return_inverse=True, return_counts=True)
    return permutations.clustered(codes, times, sizes)


def agreement(outputs, rows):
    codes = np.unique(outputs, return_inverse=True)[1]
    return permutations.agreement(codes, rows)


# --- clusters and agreement -----------------------------------------------------------------------

P_VALUES = {
    "clusters": lambda outputs: clustered(outputs, [2, 3, 3]),
    "agreement": lambda outputs: agreement(outputs, np.arange(6).reshape(2, 3)).p,
}


@pytest.mark.parametrize("name", P_VALUES)
def test_p_values_are_bounds_among_all_orders(name):
    p_values = []
    for places in itertools.permutations(range(8), 4):  # of two pairs; all others occur once
        outputs = np.arange(8)
        outputs[[*places]] = [8, 8, 9, 9]
        p_values.append(P_VALUES[name](outputs))
    p_values = np.array(p_values)
    assert p_values.min() < 0.8
    for level in np.unique(p_values[p_values < 1]):
        assert np.mean(p_values <= level) <= level


def test_the_bet_on_clusters_is_a_ratio_of_likelihoods():
    """Of a Dirichlet-multinomial to a multivariate hypergeometric law, the rarest value first.

    All calls of one draw are one. No bet is on more than a fourth of the draws left.
    """
    outputs = [1, 0, 0, 6, 1, 1, 2, 2, 3, 2, 4, 2, 5, 7]
    steps = [  # the value's counts in calls, and draws of the calls left; 0, then 1
        ([0, 2, 0], [2, 2, 10]),
        ([1, 2], [2, 10]),
    ]
    wealth = np.ones(3)
    means = []
    for counts, left in steps:
        drawn = sum(counts)
        chance = stats.multivariate_hypergeom.pmf(counts, left, drawn)
        for i, overdispersion in enumerate((0.1, 1.0, 10.0)):
            weights = np.array(left) * drawn / overdispersion / sum(left)
            wealth[i] *= stats.dirichlet_multinomial.pmf(counts, weights, drawn) / chance
        means.append(wealth.mean())
    assert clustered(outputs, [1, 2, 1, 10]) == pytest.approx(1 / max(means))
    assert max(means) > 2
    assert clustered(range(6), [3, 3]) == 1


@pytest.mark.parametrize(("draws", "bet"), [(15, False), (16, True)])
def test_no_bet_is_on_a_value_with_more_than_a_fourth_of_the_draws(draws, bet):
    outputs = [0] * 4 + [*range(1, draws - 3)]
    assert (clustered(outputs, [4, draws - 4]) < 0.1) == bet


def test_agreement_by_hand():
    outputs = [0, 1, 0, 1, 0, 0, 0, 1]  # two calls of two draws, and four others
    result = agreement(outputs, np.array([[0, 1], [2, 3]]))
    assert (result.same, result.every, result.lag) == (2, 2, 2)
    first, second = 4 / 6, 2 / 5  # the chances of an equal output
    wealth = [1 / (first * second)]
    for odds in (2, 10, 1000):
        wealth.append(odds**2 / (1 + first * (odds - 1)) / (1 + second * (odds - 1)))
    assert result.p == pytest.approx(1 / np.mean(wealth))
    assert Matches(same=1, every=2).share == 0.5
    assert Matches(same=1, every=1).share == 1
    assert Matches().share == 0


# --- scores and groups ----------------------------------------------------------------------------


def test_scores_have_mean_0_and_variance_1():
    classes = np.array([0, 0, 1, 2, 2, 2, 1])
    scores = Scores(np.array([-1.0, 0.2, 0.9]), np.bincount(classes), classes)
    assert scores[:] == pytest.approx(stats.zscore([-1.0, -1.0, 0.2, 0.9, 0.9, 0.9, 0.2]))
    constant = Scores(np.array([0.3, 0.7]), np.array([4, 0]), np.zeros(4, int))
    assert not constant[:].any()


@pytest.mark.parametrize(("size", "n", "u"), [(5, 5, 3), (10, 10, 3), (30, 10, 1)])
def test_the_bound_of_a_group_is_that_of_bennett(size, n, u):
    """2 exp(-n h(u) / b^2), h(u) = (1 + u) log(1 + u) - u, of n draws, or of the others if fewer.

    A fourth of the draws have the largest score, b = sqrt(3), and u is b times the mean score.
    """
    draws = np.repeat([1.0, 0.0], [10, 30])
    wanted = 2 * math.exp(-n / 3 * ((1 + u) * math.log(1 + u) - u))
    assert of_group(draws, 0, size) == pytest.approx(wanted)


def test_a_bound_is_no_more_than_1():
    assert of_group(rng(3).normal(size=50), 0, 50) == 1


@pytest.mark.parametrize("n", [120, 125])
def test_a_drift_is_looked_for_in_twelve_stretches_and_nine_beginnings(n):
    draws = rng(n).normal(size=n)
    draws[: n // 3] += 3
    ends = [math.ceil(i * n / 12) for i in range(13)]
    p_values = [of_group(draws, start, end) for start, end in itertools.pairwise(ends)]
    p_values += [of_group(draws, 0, end) for end in ends[2:11]]
    p = permutations.by_time(of_draws(draws))
    assert p == pytest.approx(21 * min(p_values))
    assert p < 0.5


# --- pieces of calls ------------------------------------------------------------------------------


def test_calls_are_cut_into_equal_pieces():
    """A hundred and twenty-eighth of all draws each; what is left of a call is in none."""
    own = of_draws(rng(0).normal(size=1290))
    parts, numbers = permutations.pieces([own], [25, 9, 600, 656])
    assert numbers.tolist() == [2, 60, 65]  # of ten draws each
    starts = [*range(0, 20, 10), *range(34, 634, 10), *range(634, 1284, 10)]
    sums = np.array([own[start : start + 10].sum() for start in starts])
    assert parts[:, 0] == pytest.approx(sums - sums.mean())
    assert permutations.pieces([own], [10, 1280])[1].tolist() == [1, 128]
    few = of_draws(rng(0).normal(size=120))
    assert permutations.pieces([own, few], [60, 60])[1].tolist() == [60, 60]
    assert permutations.pieces([own], [60, 60]) is None  # of other draws
    assert permutations.pieces([few], [120]) is None  # one call


def variances_between_calls(parts, numbers):
    """Return those of all orders of pieces, the observed one first."""
    variances = []
    for order in itertools.permutations(range(len(parts))):
        calls = np.split(parts[[*order]], np.cumsum(numbers)[:-1])
        variances.append(sum((call.sum(axis=0) ** 2).sum() / len(call) for call in calls))
    return np.array(variances)


def test_calls_without_pieces_or_with_equal_ones_do_not_differ():
    assert permutations.calls_p([None, None], rng(0), 0.05) == 1.0
    equal = np.zeros((6, 1)), np.array([3, 3])
    assert permutations.calls_p([equal, None], rng(0), 0.05) == 1.0


@pytest.mark.parametrize("limit", [0.05, 0.07, 0.1])
def test_the_p_value_of_calls_is_that_of_all_orders(limit):
    """Of seven pieces in three calls, and of four in two on the other side, by enumeration.

    A p-value counts the observed order, and random ones that are at least as extreme.
    """
    parts = rng(3).normal(size=(7, 2))
    parts[:2] += 1
    side = parts - parts.mean(axis=0), np.array([2, 3, 2])
    other = rng(5).normal(size=(4, 1)), np.array([1, 3])
    totals = np.add.outer(variances_between_calls(*side), variances_between_calls(*other))
    exact = np.mean(totals >= totals[0, 0] * (1 - 1e-9))
    orders = math.ceil(2 / limit)
    p_values = [permutations.calls_p([side, None, other], rng(i), limit) for i in range(200)]
    assert set(p_values) <= {1 / orders, 2 / orders, 1.0}
    chances = stats.binom.pmf([0, 1], orders - 1, exact)  # of others that are as extreme
    assert 0.1 < chances.sum() < 0.9  # both sides of the limit are tried
    for reached, chance in enumerate(chances, start=1):
        times = p_values.count(reached / orders)  # a false alarm: 1e-4
        assert stats.binom.ppf(5e-5, 200, chance) <= times <= stats.binom.isf(5e-5, 200, chance)


# --- pieces beside their permutations -------------------------------------------------------------


def largest_correlation(piece):
    """Return the largest circular autocorrelation of a piece."""
    centred = piece - piece.mean()
    products = [centred @ np.roll(centred, lag) for lag in range(1, len(piece) // 2 + 1)]
    return np.abs(products).max() / (centred @ centred)


def test_serial_dependence_is_the_largest_circular_correlation(monkeypatch):
    """Of pieces of four draws or more; without permutations where a normal law is far from it."""
    draws = [rng(i).normal(size=size) for i, size in enumerate((4, 9, 16, 16, 25, 36))]
    of_pieces = []
    for piece in draws:
        deviations = len(piece) ** 0.5 * largest_correlation(piece)
        of_pieces.append(min(len(piece) * stats.norm.sf(deviations), 1))
    p = stats.combine_pvalues(of_pieces).pvalue
    asked = []

    def pieces_p(pieces, statistic, *_):
        asked.append((pieces, statistic))
        return 0.25

    monkeypatch.setattr(permutations, "_pieces_p", pieces_p)
    assert permutations.serial_p([*draws, np.arange(3.0)], rng(0), 0.99 * p**2) == 1.0
    assert not asked
    assert permutations.serial_p([*draws, np.arange(3.0)], rng(0), 1.01 * p**2) == 0.25
    ((pieces, statistic),) = asked
    assert [len(piece) for piece in pieces] == [4, 9, 16, 16, 25, 36]
    for piece in draws:
        both = statistic(np.array([piece, 2 * piece[::-1]]))
        assert both == pytest.approx([largest_correlation(piece)] * 2)


@pytest.mark.parametrize(("pieces", "sizes"), [(3, [4, 3, 3]), (12, [1] * 10)])
def test_agreement_of_places_is_the_sum_of_squares_of_their_means(pieces, sizes, monkeypatch):
    """In pieces of some places, or of one."""
    monkeypatch.setattr(permutations, "_pieces_p", lambda *given: given)
    rows = rng(0).normal(size=(5, 10))
    parts, statistic, _, limit = permutations.places_p(rows, rng(1), pieces, 0.25)
    assert limit == 0.25
    places = np.split(np.arange(10), np.cumsum(sizes)[:-1])
    assert len(parts) == len(places)
    for part, own in zip(parts, places, strict=True):
        assert sorted(part) == sorted(rows[:, own].ravel())
        other = rng(2).permuted(rows[:, own])
        wanted = [sum(column.mean() ** 2 for column in each.T) for each in (rows[:, own], other)]
        assert statistic(np.array([part, other.ravel()])) == pytest.approx(wanted)


def test_pieces_in_which_nothing_differs_are_no_evidence():
    assert permutations._pieces_p([np.zeros(8)], lambda x: x.sum(axis=1), rng(0), 0.05) == 1.0
    assert permutations.serial_p([np.zeros(8)] * 6, rng(0), 1.0) == 1.0


def test_orders_that_tie_but_for_rounding_are_as_extreme():
    """A wrong margin is missed with a probability below 1e-6: about half of many would differ."""
    values = rng(1).normal(size=40)
    for seed in range(3):
        squares = [rng(seed).normal(size=40)], lambda x: x.cumsum(axis=1)[:, -1] ** 2
        assert permutations._pieces_p(*squares, rng(seed), 1.0) == 1.0
    for seed in range(20):  # forty calls of one piece: sums of all squares
        calls = (rng(seed).normal(size=(40, 1)), np.ones(40, int))
        assert permutations.calls_p([calls], rng(seed), 0.5) == 1.0
    first = permutations._pieces_p([values], lambda x: x[:, 0] == values[0], rng(3), 1.0)
    assert 1 / 200 < first < 0.1  # in one order of forty


def test_p_values_of_pieces_are_no_smaller_than_even():
    p_values = []
    for seed in range(120):
        draws = rng(seed).laplace(size=120)
        p_values.append(permutations.serial_p(np.array_split(draws, 6), rng(seed), 1.0))
    for level, most in ((0.05, 15), (0.2, 38)):  # with probability .999 each
        assert np.count_nonzero(np.array(p_values) <= level) <= most


def test_a_p_value_of_pieces_at_the_limit_is_returned_and_one_above_is_1():
    pieces = np.repeat(rng(6).normal(size=(6, 16)), 2, axis=1)
    pieces = [*(pieces + 0.8 * rng(7).normal(size=pieces.shape))]
    p = permutations.serial_p(pieces, rng(0), 1.0)
    assert p < 0.2
    assert permutations.serial_p(pieces, rng(0), p) == p
    assert permutations.serial_p(pieces, rng(0), 0.999 * p) == 1.0
    assert permutations.serial_p([np.arange(3.0)], rng(0), 1.0) == 1.0  # too few draws

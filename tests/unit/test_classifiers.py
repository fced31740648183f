"""Classifiers against scikit-learn, by hand, and at the edges."""

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.classifiers.base import (
    Votes,
    in_blocks,
    neighbours,
    shared_log_odds,
    units_of,
)
from epsilometer.classifiers.discrete import Counting, HammingNeighbours
from epsilometer.classifiers.learned import ScikitLearn
from epsilometer.classifiers.neighbours import NearestNeighbours
from epsilometer.errors import ArgumentError


def apart(points, q):
    return np.where(points <= q, q - points, points - q)


def bits_apart(points, q):
    return np.bitwise_count(points ^ q)


def squares(points, q):
    return ((points - q) ** 2).sum(axis=-1)


def by_brute_force(x, x_prime, queries, k, apart=apart):
    """Return the log odds of every query, from all its distances: ties share, see the class."""
    points = np.concatenate([x, x_prime])
    prime = np.arange(len(points)) >= len(x)
    distance = apart(points, queries[:, None])
    k = min(k, len(points))
    radius = np.sort(distance, axis=1)[:, k - 1 : k]
    inner, rim = distance < radius, distance == radius
    left = (k - inner.sum(axis=1)) / rim.sum(axis=1)
    ours, theirs = (
        (inner & of).sum(axis=1) + left * (rim & of).sum(axis=1) for of in (prime, ~prime)
    )
    with np.errstate(divide="ignore"):
        return np.log(ours) - np.log(theirs)


def odds_of(fitted, queries):
    """Return the sorted log odds of all queries."""
    votes = fitted.votes(queries)
    assert votes.counts.sum() == queries.size
    return np.sort(np.repeat(votes.log_odds, votes.counts))


SHAPES = {
    "as it is": lambda v: v,
    "clamped": lambda v: np.clip(v, 0.0, 1.0),
    "clamped far out": lambda v: np.clip(v, -3.0, 4.0),
    "rounded": lambda v: np.round(v, 1),
    "counted": np.round,
    "integers": lambda v: np.round(8 * v).astype(np.int32),
    "large integers": lambda v: np.round(8 * v).astype(np.int64) + 2**60,
    "integers far apart": lambda v: np.clip(np.round(v * 2**59), -(2.0**61), 2.0**61).astype(int),
    "one value": np.zeros_like,
    "far from 0": lambda v: 1e-9 * v + 1e8,
    "tiny": lambda v: 1e-300 * v,
    "huge": lambda v: np.sign(v) * 10.0 ** np.minimum(100 * np.abs(v), 300),
    "twice each": lambda v: np.repeat(v[::2], 2)[: v.size],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_neighbours_share_ties_as_by_brute_force(shape):
    rng = np.random.default_rng(len(shape))
    for sizes in [(1, 1, 4), (60, 50, 80), (300, 200, 400)]:
        x, x_prime, queries = (
            SHAPES[shape](rng.laplace(at, 1, n)) for at, n in zip((0, 1, 0.5), sizes, strict=True)
        )
        points = x.size + x_prime.size
        for k in {1, 2, points // 3 + 1, points - 1, points, points + 9}:
            expected = np.sort(by_brute_force(x, x_prime, queries, k))
            odds = odds_of(NearestNeighbours(k).fit(x, x_prime, points, 0), queries)
            np.testing.assert_allclose(odds, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("bits", [9, 62])
@pytest.mark.parametrize("sizes", [(60, 50), (50, 60)])
def test_neighbours_of_bits_share_ties_as_by_brute_force(bits, sizes):
    rng = np.random.default_rng(bits)
    x, x_prime, queries = (rng.integers(0, 2**bits, n) for n in (*sizes, 30))
    queries[0], x[0] = 0, 2**bits - 1  # as far as can be
    for k in (1, 5, 40, 110, 130):
        expected = np.sort(by_brute_force(x, x_prime, queries, k, bits_apart))
        odds = odds_of(HammingNeighbours(k).fit(x, x_prime, 110, 0), queries)
        np.testing.assert_allclose(odds, expected)


LATTICE = st.lists(st.integers(-6, 6).map(float), min_size=1, max_size=30).map(np.array)


@given(LATTICE, LATTICE, LATTICE, st.integers(1, 70), st.integers(-60, 60), st.integers(-40, 40))
def test_sides_units_and_the_origin_do_not_matter(x, x_prime, queries, k, power, shift):
    """Swapped, the odds are negated; powers of two and whole shifts change no bit of them."""
    method = NearestNeighbours(k)
    odds = odds_of(method.fit(x, x_prime, 9, 0), queries)
    swapped = odds_of(method.fit(x_prime, x, 9, 0), queries)
    np.testing.assert_array_equal(odds, np.sort(-swapped))
    moved = [2.0**power * (side + shift) for side in (x, x_prime, queries)]
    np.testing.assert_array_equal(odds_of(method.fit(*moved[:2], 9, 0), moved[2]), odds)
    whole = [side.astype(np.int32) for side in (x, x_prime, queries)]
    np.testing.assert_array_equal(odds_of(method.fit(*whole[:2], 9, 0), whole[2]), odds)


@pytest.mark.parametrize(("points", "size"), [(2**20, 4), (2**20 + 1, 3), (2**23, 1), (3, 9)])
def test_so_many_outputs_are_asked_at_once_as_have_2_to_the_22_distances(points, size):
    sizes = []
    found = in_blocks(lambda block: sizes.append(block.size) or block / 2, np.arange(9), points)
    assert found.tolist() == (np.arange(9) / 2).tolist()
    assert sizes == [size] * (9 // size) + [9 % size] * (9 % size > 0)


def test_even_votes_are_even_to_the_bit():
    """x lacks nearer points and gets as many from those there, all of them its own."""
    a, b, there = np.indices((40, 40, 60)).reshape(3, -1)
    lacks = (a < b) & (b - a <= there)
    a, b, there = a[lacks], b[lacks], there[lacks]
    assert not shared_log_odds([a, b], [a + there, b], 2 * b).any()


def test_many_distinct_queries_that_all_tie_take_no_longer():
    """Seen from so far away, all points are equally far."""
    rng = np.random.default_rng(0)
    x, x_prime = rng.random(200_000), rng.random(100_000)
    queries = 1e30 * (1 + rng.random(100_000))
    start = time.process_time()
    odds = odds_of(NearestNeighbours(500).fit(x, x_prime, 1, 0), queries)
    assert time.process_time() - start < 10  # a point at a time it would be hours
    np.testing.assert_allclose(odds, np.log(1 / 2))


def test_votes_count_strictly_above_and_below():
    votes = Votes(np.array([0.0, -np.inf, 1.0, np.inf, 0.0]), np.array([3, 1, 4, 2, 5]))
    assert votes.above(np.array([-1.0, 0.0, 1.0, 2.0])).tolist() == [14, 6, 2, 2]
    assert votes.below(np.array([-1.0, 0.0, 1.0, np.inf])).tolist() == [1, 1, 9, 13]


@pytest.mark.parametrize("shape", [(), (2,)])
def test_counting_is_the_same_for_numbers_and_tuples(shape):
    rng = np.random.default_rng(0)
    drawn = [rng.integers(-3, 4, (500, *shape)) for _ in range(3)]
    votes = Counting().fit(drawn[0], drawn[1], 1000, 0).votes(drawn[2])
    assert votes.counts.sum() == 500
    rows = [[tuple(np.atleast_1d(row)) for row in side] for side in drawn]
    expected = []
    for row in rows[2]:
        a, b = rows[0].count(row), rows[1].count(row)
        expected.append(np.log(b) - np.log(a) if a and b else (0.0 if a == b else np.inf * (b - a)))
    np.testing.assert_allclose(np.sort(np.repeat(votes.log_odds, votes.counts)), np.sort(expected))


BIG = 2**60 + np.arange(4)


@pytest.mark.parametrize("tuples", [False, True])
def test_counting_separates_outputs_that_are_the_same_float(tuples):
    """Neighbours of 2^60 are the same double."""

    def outputs(*which):
        return np.stack([BIG[list(which)], BIG[: len(which)]], 1) if tuples else BIG[list(which)]

    fitted = Counting().fit(outputs(0, 1, 1, 0), outputs(1, 1, 2, 3), 8, 0)
    votes = fitted.votes(outputs(0, 1, 3, 3))
    assert fitted.outcomes.dtype == np.int64
    assert votes.counts.tolist() == ([1] * 4 if tuples else [1, 1, 2])
    assert votes.log_odds.tolist() == [-np.inf, 0.0] + ([0.0, np.inf] if tuples else [np.inf])


@pytest.mark.parametrize(
    "name", ["sklearn.naive_bayes.GaussianNB", "sklearn.linear_model.LogisticRegression"]
)
def test_any_classifier_of_scikit_learn(name):
    rng = np.random.default_rng(1)
    x, x_prime = rng.normal(0, 1, (2000, 3)), rng.normal(0.5, 1, (2000, 3))
    votes = ScikitLearn(name).fit(x, x_prime, 4000, 7).votes(x_prime)
    exact = 0.5 * (x_prime - 0.25).sum(axis=1)
    assert np.abs(votes.log_odds - exact).mean() < 0.12
    assert votes.counts.sum() == 2000


def test_a_classifier_of_scikit_learn_without_probabilities_is_sure():
    x, x_prime = np.array([-2.0, -1.0]), np.array([1.0, 2.0])
    votes = ScikitLearn("sklearn.linear_model.RidgeClassifier").fit(x, x_prime, 4, 0)
    assert votes.votes(np.array([-3.0, 3.0])).log_odds.tolist() == [-np.inf, np.inf]


def test_the_same_seed_trains_the_same_network():
    rng = np.random.default_rng(2)
    x, x_prime, queries = rng.normal(0, 1, (3, 300, 2))
    options = {"hidden_layer_sizes": [4], "max_iter": 5}
    network = ScikitLearn("sklearn.neural_network.MLPClassifier", options)
    odds = [network.fit(x, x_prime, 600, seed).votes(queries).log_odds for seed in (1, 1, 2)]
    np.testing.assert_array_equal(odds[0], odds[1])
    assert (odds[0] != odds[2]).any()


def test_ties_of_scikit_learns_neighbours_do_not_reveal_the_label():
    """Half of all points are equal, twice as many of x': not all of the first rows may vote."""
    x, x_prime = np.repeat([0.0, 1.0, 2.0], [300, 0, 300]), np.repeat([0.0, 1.0], [600, 0])
    model = ScikitLearn("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": 30})
    for sides, odds in (((x, x_prime), 1), ((x_prime, x), -1)):
        shares = [model.fit(*sides, 1200, seed).votes(np.zeros(1)).log_odds[0] for seed in range(9)]
        assert np.mean(shares) == pytest.approx(odds * np.log(2), abs=0.4)
        assert len(set(shares)) > 1


BINARIZER = {"name": "sklearn.preprocessing.Binarizer", "options": {"treshold": 1}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("os.system",), "name must be of scikit-learn"),
        (("sklearn.no_such.Thing",), "is not in scikit-learn"),
        (("sklearn.linear_model.LinearRegression",), "must be a classifier"),
        (("sklearn.ensemble.VotingClassifier",), "cannot be made from options"),
        (("sklearn.svm.SVC", {"D": 1}), "options has unknown 'D' of sklearn.svm.SVC"),
        (("sklearn.svm.SVC", {"random_state": 1}), "options has unknown 'random_state'"),
        (("sklearn.svm.SVC", 5), "options must be a mapping, got 5"),
        *((("sklearn.svm.SVC", {}, steps), "before must be a list of steps") for steps in (5, "")),
        *(
            (("sklearn.svm.SVC", {}, [step]), "before must hold steps")
            for step in (5, {"options": {}})
        ),
        (("sklearn.svm.SVC", {}, [{"name": "sklearn.svm.SVC"}]), "must be a transformer of"),
        (("sklearn.svm.SVC", {}, [BINARIZER]), "unknown 'treshold' of sklearn.preprocessing.Bin"),
    ],
)
def test_unknown_names_of_scikit_learn_are_errors(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        ScikitLearn(*arguments).check("scalar")


def test_a_model_that_scikit_learn_refuses_or_that_fails_is_an_error():
    x = np.zeros((9, 1))
    with pytest.raises(ArgumentError, match=r"options sklearn.svm.SVC refuses: .*C"):
        ScikitLearn("sklearn.svm.SVC", {"C": -1.0}).fit(x, x, 18, 0)
    model = ScikitLearn("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": 50})
    with pytest.raises(ArgumentError, match=r"options make a classifier that fails: .*n_neighbors"):
        model.fit(np.zeros(4), np.ones(4), 8, 0).votes(np.zeros(3))


@pytest.mark.parametrize("name", ["counting", "hamming_neighbours", "nearest_neighbours"])
def test_each_is_for_its_outputs(name):
    method = CLASSIFIERS.load(name)()
    with pytest.raises(ArgumentError, match="outputs must be"):
        method.check("mixed")
    empty = np.empty(0, np.int64)
    with pytest.raises(ArgumentError, match="x has no draws to train on"):
        method.fit(empty, empty, 4, 0)


@pytest.mark.parametrize("k", [1, 7, 100, 500, None])
@pytest.mark.parametrize("values", [None, 3, 1])
def test_votes_of_vectors_follow_from_their_definition(values, k):
    """Of few values nearly all distances are ties; these are exact in any unit that is a power."""
    rng = np.random.default_rng(3)
    x, x_prime, queries = (
        rng.normal(size=(n, 4)) if values is None else rng.integers(values, size=(n, 4)) / 1.0
        for n in (60, 40, 60)
    )
    units = units_of(x, x_prime, alike=False)
    fitted = NearestNeighbours(k).fit(x, x_prime, 121, 0)
    votes = k or 11  # the root of the points in training
    expected = by_brute_force(x / units, x_prime / units, queries / units, votes, squares)
    np.testing.assert_allclose(fitted.votes(queries).log_odds, expected, atol=1e-12)
    scaled = NearestNeighbours(k).fit(x * 2.0**9, x_prime * 2.0**9, 121, 0)
    np.testing.assert_array_equal(
        scaled.votes(queries * 2.0**9).log_odds, fitted.votes(queries).log_odds
    )


def test_training_on_many_vectors_takes_some_of_both_sides_in_proportion():
    x, x_prime = np.random.default_rng(3).normal(0, [[[1]], [[8]]], (2, 6000, 2))
    for sizes in ((6000, 3000), (3000, 6000)):
        sides = x[: sizes[0]], x_prime[: sizes[1]]
        fitted = NearestNeighbours().fit(*sides, 9000, 0)
        for side, taken in zip(sides, (fitted.x, fitted.x_prime), strict=True):
            assert len(taken) == pytest.approx(len(side) * 4096 / 9000, abs=1)
            np.testing.assert_array_equal(taken, side[: len(taken)] / fitted.units)
        assert fitted.k == 64
        assert fitted.units.tolist() == units_of(*sides, alike=False).tolist() == [2, 2]
        expected = by_brute_force(fitted.x, fitted.x_prime, x[-40:] / 2, 1, squares)
        nearest = NearestNeighbours(1).fit(*sides, 9000, 0)
        np.testing.assert_allclose(nearest.votes(x[-40:]).log_odds, expected)
    assert len(NearestNeighbours().fit(x, x_prime[:2], 6002, 0).x_prime) == 1  # at least
    assert len(NearestNeighbours().fit(x[:2], x_prime, 6002, 0).x) == 1
    for sides in ((x, x[:0]), (x[:0], x)):
        with pytest.raises(ArgumentError, match="x has no draws of one side"):
            NearestNeighbours().fit(*sides, 6000, 0)
    NearestNeighbours().fit(np.zeros((9, 20)), np.zeros((9, 20)), 18, 0)
    with pytest.raises(ArgumentError, match="20 entries at most"):
        NearestNeighbours().fit(np.zeros((9, 21)), np.zeros((9, 21)), 18, 0)


def test_the_number_of_neighbours_is_rounded_down():
    assert [neighbours(n) for n in (0, 1, 3, 4, 2**50)] == [1, 1, 1, 2, 2**25]
    assert neighbours(2**54 - 1) == 2**27 - 1  # its root as a real is 2^27
    assert [neighbours(n, 0.75) for n in (0, 1, 10, 15, 16, 10_000)] == [1, 1, 5, 7, 8, 1000]
    assert NearestNeighbours(exponent=0.75).fit(np.zeros(50), np.ones(50), 10_000, 0).k == 100
    with pytest.raises(ArgumentError, match="exponent must lie strictly between 0 and 1"):
        NearestNeighbours(exponent=1.0)


@pytest.mark.parametrize("alike", [False, True])
def test_units_are_the_powers_of_two_up_to_the_spread(alike):
    """The distance of the quartiles, where these differ, or else the standard deviation."""
    rng = np.random.default_rng(4)
    sides = rng.normal(size=(2, 1500, 5)) * [3.0, 0.7, 1.0, 1.0, 1.0]
    sides[:, :, 2] = 0  # a constant
    sides[:, :, 3:] = 5
    sides[0, :50, 3:] += [52, 40]  # of 1500 draws 6.7 and of 500 draws 8.7, across a power
    first = np.concatenate(sides[:, :1000])
    spreads = [np.ptp(np.quantile(first[:, j], [0.25, 0.75])) for j in range(2)]
    spreads += [0.0, *np.std(first[:, 3:], axis=0)]
    if alike:
        spreads = [np.median(spreads)] * 5
    expected = [math.ldexp(0.5, math.frexp(spread)[1]) if spread else 1.0 for spread in spreads]
    assert units_of(*sides, alike=alike).tolist() == expected


BINS = {"n_bins": 8, "quantile_method": "averaged_inverted_cdf"}
BINNED = ScikitLearn(
    name="sklearn.linear_model.LogisticRegression",
    before=[{"name": "sklearn.preprocessing.KBinsDiscretizer", "options": BINS}],
)


@pytest.mark.parametrize("name", ["naive_bayes.GaussianNB", "neighbors.KNeighborsClassifier"])
def test_scikit_learn_trains_on_both_sides_and_in_the_units_of_both(name):
    method = ScikitLearn(f"sklearn.{name}")
    sides = np.arange(9.0)[:, None], 64 * np.arange(12.0)[:, None]
    empty = np.empty((0, 1))
    for x, x_prime in (sides, sides[::-1]):
        fitted = method.fit(x, x_prime, 18, 0)
        assert fitted.units == units_of(x, x_prime, alike=name.startswith("neigh")) > 8
    for x, x_prime in ((sides[0], empty), (empty, sides[0])):
        with pytest.raises(ArgumentError, match="x has no draws of one side"):
            method.fit(x, x_prime, 18, 0)


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**-27, 2.0**30])
def test_scikit_learn_sees_entries_in_units_of_their_own(unit):
    """Bins closer than 1e-8 are one for scikit-learn, and none are left of outputs that small."""
    rng = np.random.default_rng(0)
    x, y = rng.laplace(0, 1, (2000, 2)), rng.laplace([1, 0], 1, (2000, 2))
    units = np.array([unit, 1.0])
    plain = BINNED.fit(x, y, 4000, 0).votes(x).log_odds
    scaled = BINNED.fit(x * units, y * units, 4000, 0).votes(x * units).log_odds
    assert scaled.tolist() == plain.tolist()
    assert np.unique(plain).size > 8

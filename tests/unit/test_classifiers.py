"""Classifiers against scikit-learn, by hand, and at the edges."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.classifiers.base import Votes, neighbours
from epsilometer.classifiers.counting import Counting
from epsilometer.classifiers.hamming import HammingNeighbours
from epsilometer.classifiers.learned import ScikitLearn
from epsilometer.classifiers.neighbours import NearestNeighbours
from epsilometer.errors import ArgumentError


def by_scikit_learn(x, x_prime, queries, k):
    """Return how many queries have c neighbours from x', for c = 0, ..., k."""
    points = np.concatenate([x, x_prime])
    model = KNeighborsClassifier(k).fit(
        points.reshape(-1, 1), np.repeat([0, 1], [len(x), len(x_prime)])
    )
    nearest = model.kneighbors(queries.reshape(-1, 1), return_distance=False)
    return np.bincount((nearest >= len(x)).sum(axis=1), minlength=k + 1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [1, 2, 7, 60, 500, None])
def test_the_window_is_scikit_learns_knn(seed, k):
    rng = np.random.default_rng(seed)
    x, x_prime = rng.laplace(0, 1, 300), rng.laplace(1, 1, 200)
    queries = np.concatenate([rng.laplace(0.5, 2, 400), [-1e6, 1e6, 0.0]])
    fitted = NearestNeighbours(k).fit(x, x_prime, 900, seed=0)
    used = k or 30  # the square root of all training points, also of those that are no longer here
    np.testing.assert_array_equal(
        fitted.votes(queries).counts, by_scikit_learn(x, x_prime, queries, used)
    )


@pytest.mark.parametrize("k", [1, 5, 40, 200])
def test_neighbours_of_integers_by_brute_force(k):
    rng = np.random.default_rng(k)
    x, x_prime, queries = (rng.integers(0, 40, n) for n in (60, 50, 30))
    votes = NearestNeighbours(k).fit(x, x_prime, 110, 0).votes(queries)
    points, used = np.concatenate([x, x_prime]), min(k, 110)
    expected = []
    for query in queries:
        distance = np.abs(points - query)
        radius = np.sort(distance)[used - 1]
        inner, rim = distance < radius, distance == radius
        ours = [
            side[inner].sum() + (used - inner.sum()) * side[rim].sum() / rim.sum()
            for side in (np.arange(110) >= 60, np.arange(110) < 60)
        ]
        with np.errstate(divide="ignore"):
            expected.append(np.log(ours[0]) - np.log(ours[1]))
    np.testing.assert_allclose(np.sort(np.repeat(votes.log_odds, votes.counts)), np.sort(expected))


def test_each_query_is_classified_as_scikit_learn_does():
    rng = np.random.default_rng(4)
    x, x_prime, queries = rng.laplace(0, 1, 300), rng.laplace(1, 1, 300), rng.laplace(0, 3, 200)
    fitted = NearestNeighbours(25).fit(x, x_prime, 600, 0)
    points, labels = np.concatenate([x, x_prime]).reshape(-1, 1), np.repeat([0, 1], 300)
    theirs = KNeighborsClassifier(25).fit(points, labels).predict(queries.reshape(-1, 1))
    ours = [fitted.votes(query[None]).above(np.zeros(1))[0] for query in queries]
    assert ours == theirs.tolist()


def test_a_model_that_fails_on_test_draws_is_told():
    model = ScikitLearn("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": 50})
    fitted = model.fit(np.zeros(4), np.ones(4), 8, 0)
    with pytest.raises(ArgumentError, match=r"options make a classifier that fails: .*n_neighbors"):
        fitted.votes(np.zeros(3))


def test_the_odds_are_those_of_the_neighbours():
    votes = (
        NearestNeighbours(3)
        .fit(np.array([0.0, 1.0]), np.array([2.0, 10.0]), 4, 0)
        .votes(np.array([0.4, 9.0]))
    )
    np.testing.assert_allclose(votes.log_odds, [-np.inf, np.log(1 / 2), np.log(2), np.inf])
    assert votes.counts.tolist() == [0, 1, 1, 0]


def test_ties_prefer_the_smaller_point():
    fitted = NearestNeighbours(1).fit(np.array([0.0]), np.array([2.0]), 2, 0)
    assert fitted.votes(np.array([1.0])).counts.tolist() == [1, 0]


def test_more_neighbours_than_points_take_all():
    fitted = NearestNeighbours(100).fit(np.array([0.0]), np.array([1.0, 2.0]), 3, 0)
    assert fitted.k == 3
    assert fitted.votes(np.zeros(5)).counts.tolist() == [0, 0, 5, 0]


def test_votes_count_strictly_above_and_below():
    votes = Votes(np.array([0.0, -np.inf, 1.0, np.inf, 0.0]), np.array([3, 1, 4, 2, 5]))
    assert votes.above(np.array([-1.0, 0.0, 1.0, 2.0])).tolist() == [14, 6, 2, 2]
    assert votes.below(np.array([-1.0, 0.0, 1.0, np.inf])).tolist() == [1, 1, 9, 13]


def test_counting_by_hand():
    fitted = Counting().fit(np.array([0, 0, 0, 1, 3]), np.array([0, 1, 1, 2, 3]), 10, 0)
    votes = fitted.votes(np.array([3, 0, 7, 0, 2, 1]))
    found = dict(zip([0, 1, 2, 3, 7], votes.log_odds, strict=True))
    assert found == pytest.approx({0: np.log(1 / 3), 1: np.log(2), 2: np.inf, 3: 0.0, 7: 0.0})
    assert votes.counts.tolist() == [2, 1, 1, 1, 1]


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


def bits_of(codes, width):
    return (codes[:, None] >> np.arange(width)) & 1


@pytest.mark.parametrize("k", [1, 5, 40])
def test_hamming_by_brute_force(k):
    """Shared votes at the last distance are the mean over all ways to choose among its points."""
    rng = np.random.default_rng(k)
    x, x_prime, queries = (rng.integers(0, 2**9, n) for n in (60, 50, 30))
    votes = HammingNeighbours(k).fit(x, x_prime, 110, 0).votes(queries)
    points = np.concatenate([x, x_prime])
    expected = []
    for query in queries:
        distance = (bits_of(points, 9) != bits_of(np.array([query]), 9)).sum(axis=1)
        radius = np.sort(distance)[k - 1]
        inner, rim = distance < radius, distance == radius
        ours = [
            side[inner].sum() + (k - inner.sum()) * side[rim].sum() / rim.sum()
            for side in (np.arange(110) >= 60, np.arange(110) < 60)
        ]
        with np.errstate(divide="ignore"):
            expected.append(np.log(ours[0]) - np.log(ours[1]))
    np.testing.assert_allclose(np.sort(np.repeat(votes.log_odds, votes.counts)), np.sort(expected))


def test_hamming_agrees_with_scikit_learn_where_all_at_a_distance_agree():
    x, x_prime = np.array([0b0000, 0b0001, 0b0010]), np.array([0b1111, 0b1110, 0b1101])
    queries = np.array([0b0011, 0b0000, 0b1111, 0b1100])
    votes = HammingNeighbours(3).fit(x, x_prime, 6, 0).votes(queries)
    points = bits_of(np.concatenate([x, x_prime]), 4)
    model = KNeighborsClassifier(3, metric="hamming").fit(points, [0, 0, 0, 1, 1, 1])
    assert votes.above(np.zeros(1))[0] == model.predict(bits_of(queries, 4)).sum()


def test_hamming_uses_all_62_bits():
    far = np.array([2**62 - 1])
    fitted = HammingNeighbours(1).fit(np.array([0]), far, 2, 0)
    assert fitted.votes(np.array([2**61 + 2**60])).log_odds.tolist() == [-np.inf]
    assert fitted.votes(far - 1).log_odds.tolist() == [np.inf]


@pytest.mark.parametrize(
    "name",
    ["sklearn.naive_bayes.GaussianNB", "sklearn.linear_model.LogisticRegression"],
)
def test_any_classifier_of_scikit_learn(name):
    rng = np.random.default_rng(1)
    x, x_prime = rng.normal(0, 1, (2000, 3)), rng.normal(0.5, 1, (2000, 3))
    votes = ScikitLearn(name).fit(x, x_prime, 4000, 7).votes(x_prime)
    exact = 0.5 * (x_prime - 0.25).sum(axis=1)
    assert np.abs(votes.log_odds - exact).mean() < 0.12
    assert votes.counts.sum() == 2000


def test_without_probabilities_all_votes_agree():
    rng = np.random.default_rng(1)
    x, x_prime = rng.normal(0, 1, 200), rng.normal(3, 1, 200)
    votes = ScikitLearn("sklearn.svm.LinearSVC").fit(x, x_prime, 400, 7).votes(x_prime)
    assert set(votes.log_odds.tolist()) == {-np.inf, np.inf}


def test_the_same_seed_trains_the_same_network():
    rng = np.random.default_rng(2)
    x, x_prime, queries = rng.normal(0, 1, (3, 300, 2))
    options = {"hidden_layer_sizes": [4], "max_iter": 5}
    network = ScikitLearn("sklearn.neural_network.MLPClassifier", options)
    found = [network.fit(x, x_prime, 600, seed).votes(queries).log_odds for seed in (1, 1, 2)]
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("os.system",), "name must be of scikit-learn"),
        (("sklearn.no_such.Thing",), "is not in scikit-learn"),
        (("sklearn.linear_model.LinearRegression",), "is no classifier"),
        (("sklearn.base.ClassifierMixin",), "is no classifier"),
        (("sklearn.ensemble.VotingClassifier",), "cannot be made from options"),
        (("sklearn.svm.SVC", 5), "options must be a mapping, got 5"),
        (("sklearn.svm.SVC", {}, 3), "before must be a list of steps, got 3"),
        (
            ("sklearn.svm.SVC", {"D": 1}),
            "options has unknown 'D' of sklearn.svm.SVC",
        ),
        (("sklearn.svm.SVC", {"random_state": 1}), "options has unknown 'random_state'"),
    ],
)
def test_what_scikit_learn_does_not_have_is_told(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        ScikitLearn(*arguments)


def test_outputs_may_pass_through_transformers_first():
    """A sign tells all that there is to tell of a shift of Laplace noise at even odds."""
    rng = np.random.default_rng(1)
    x, x_prime = rng.laplace(0, 1, (3000, 5)), rng.laplace(0.3, 1, (3000, 5))
    bins = {"name": "sklearn.preprocessing.KBinsDiscretizer", "options": {"n_bins": 2}}
    bins["options"]["quantile_method"] = "averaged_inverted_cdf"
    method = ScikitLearn("sklearn.linear_model.LogisticRegression", before=[bins])
    votes = method.fit(x, x_prime, 6000, 0).votes(x_prime)
    assert len(np.unique(votes.log_odds.round(6))) == 2**5
    assert (votes.log_odds > 0).mean() == pytest.approx(0.62, abs=0.03)


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ([{"options": {}}], "before must hold steps of name and options"),
        (["sklearn.preprocessing.Binarizer"], "before must hold steps of name and options"),
        ([{"name": "sklearn.svm.SVC"}], "'sklearn.svm.SVC' is no transformer"),
        ([{"name": "subprocess.run"}], "name must be of scikit-learn"),
        (
            [{"name": "sklearn.preprocessing.Binarizer", "options": {"treshold": 1}}],
            "options has unknown 'treshold' of sklearn.preprocessing.Binarizer",
        ),
    ],
)
def test_what_is_no_transformer_is_told(before, message):
    with pytest.raises(ArgumentError, match=message):
        ScikitLearn("sklearn.naive_bayes.GaussianNB", before=before)


def test_a_value_that_scikit_learn_refuses_is_told():
    x = np.zeros((9, 1))
    with pytest.raises(ArgumentError, match=r"options sklearn.svm.SVC refuses: .*C"):
        ScikitLearn("sklearn.svm.SVC", {"C": -1.0}).fit(x, x, 18, 0)


@pytest.mark.parametrize("name", ["counting", "hamming_neighbours", "nearest_neighbours"])
def test_each_is_for_its_outputs(name):
    method = CLASSIFIERS.load(name)()
    with pytest.raises(ArgumentError, match="outputs must be"):
        method.check("mixed")
    empty = np.empty(0, np.int64)
    with pytest.raises(ArgumentError, match="x has no draws to train on"):
        method.fit(empty, empty, 4, 0)


def test_the_number_of_neighbours_is_rounded_down():
    assert [neighbours(n) for n in (0, 1, 3, 4, 2**50)] == [1, 1, 1, 2, 2**25]
    assert neighbours(10_000, 0.75) == 1000
    assert NearestNeighbours(exponent=0.75).fit(np.zeros(50), np.ones(50), 10_000, 0).k == 100
    with pytest.raises(ArgumentError, match="exponent must lie strictly between 0 and 1"):
        NearestNeighbours(exponent=1.0)

"""Classifiers of scikit-learn, by their names: their odds, units and seeds, and what is refused."""

import numpy as np
import pytest

from epsilometer.classifiers.base import units_of
from epsilometer.classifiers.learned import ScikitLearn
from epsilometer.errors import ArgumentError

BINNED = ScikitLearn(
    name="sklearn.linear_model.LogisticRegression",
    before=[
        {
            "name": "sklearn.preprocessing.KBinsDiscretizer",
            "options": {"n_bins": 8, "quantile_method": "averaged_inverted_cdf"},
        }
    ],
)


def test_odds_are_those_of_the_probabilities_of_a_classifier():
    rng = np.random.default_rng(1)
    x, x_prime = rng.normal(0, 1, (2000, 3)), rng.normal(0.5, 1, (2000, 3))
    method = ScikitLearn("sklearn.naive_bayes.GaussianNB")
    votes = method.fit(x, x_prime, 4000, 7).votes(x_prime)
    exact = 0.5 * (x_prime - 0.25).sum(axis=1)
    assert np.abs(votes.log_odds - exact).mean() < 0.12
    assert votes.counts.tolist() == [1] * 2000


def test_a_classifier_without_probabilities_is_sure():
    x, x_prime = np.array([-2.0, -1.0]), np.array([1.0, 2.0])
    fitted = ScikitLearn("sklearn.linear_model.RidgeClassifier").fit(x, x_prime, 4, 0)
    assert fitted.votes(np.array([-3.0, 3.0])).log_odds.tolist() == [-np.inf, np.inf]


def test_the_same_seed_trains_the_same_network():
    x, x_prime, queries = np.random.default_rng(2).normal(size=(3, 300, 2))
    options = {"hidden_layer_sizes": [4], "max_iter": 5}
    network = ScikitLearn("sklearn.neural_network.MLPClassifier", options)
    one, again, other = (
        network.fit(x, x_prime, 600, seed).votes(queries).log_odds for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()


def test_ties_of_its_neighbours_do_not_reveal_the_label():
    """Half of all points are equal, twice as many of x': not all of the first rows may vote."""
    x, x_prime = np.repeat([0.0, 2.0], 300), np.zeros(600)
    model = ScikitLearn("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": 30})
    for sides, sign in (((x, x_prime), 1), ((x_prime, x), -1)):
        odds = [model.fit(*sides, 1200, seed).votes(np.zeros(1)).log_odds[0] for seed in range(9)]
        assert np.mean(odds) == pytest.approx(sign * np.log(2), abs=0.4)  # three deviations
        assert len(set(odds)) > 1


@pytest.mark.parametrize("name", ["naive_bayes.GaussianNB", "neighbors.KNeighborsClassifier"])
def test_it_trains_on_both_sides_and_in_the_units_of_both(name):
    method = ScikitLearn(f"sklearn.{name}")
    one, other, empty = np.arange(9.0)[:, None], 64 * np.arange(12.0)[:, None], np.empty((0, 1))
    for x, x_prime in ((one, other), (other, one)):
        fitted = method.fit(x, x_prime, 18, 0)
        assert fitted.units == units_of(x, x_prime, alike=name.startswith("neigh")) > 8
    for x, x_prime in ((one, empty), (empty, one)):
        with pytest.raises(ArgumentError, match="x has no draws of one side"):
            method.fit(x, x_prime, 18, 0)


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**30])
def test_it_sees_entries_in_units_of_their_own(unit):
    """Bins closer than 1e-8 are one for scikit-learn, and none are left of outputs that small."""
    rng = np.random.default_rng(0)
    x, y = rng.laplace(0, 1, (2000, 2)), rng.laplace([1, 0], 1, (2000, 2))
    units = np.array([unit, 1.0])
    plain = BINNED.fit(x, y, 4000, 0).votes(x).log_odds
    scaled = BINNED.fit(x * units, y * units, 4000, 0).votes(x * units).log_odds
    assert scaled.tolist() == plain.tolist()
    assert np.unique(plain).size > 8


SVC = "sklearn.svm.SVC"
BINARIZER = {"name": "sklearn.preprocessing.Binarizer", "options": {"treshold": 1}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("os.system",), "name must be of scikit-learn"),
        (("sklearn.no_such.Thing",), "is not in scikit-learn"),
        (("sklearn.linear_model.LinearRegression",), "must be a classifier"),
        (("sklearn.ensemble.VotingClassifier",), "cannot be made from options"),
        ((SVC, {"D": 1}), "options has unknown 'D' of sklearn.svm.SVC"),
        ((SVC, {"random_state": 1}), "options has unknown 'random_state'"),  # seeds say it
        ((SVC, {"C": -1.0}), r"options sklearn.svm.SVC refuses: .*C"),
        ((SVC, 5), "options must be a mapping, got 5"),
        ((SVC, {}, 5), "before must be a list of steps"),
        ((SVC, {}, [{"options": {}}]), "before must hold steps"),
        ((SVC, {}, [{"name": SVC}]), "must be a transformer of"),
        ((SVC, {}, [BINARIZER]), "unknown 'treshold' of sklearn.preprocessing.Bin"),
    ],
)
def test_unknown_names_and_options_are_errors(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        ScikitLearn(*arguments).check("scalar")


def test_outputs_are_numbers():
    with pytest.raises(ArgumentError, match="outputs must be numbers or vectors"):
        ScikitLearn(SVC).check("bits")


def test_a_model_that_fails_is_an_error():
    x = np.zeros((9, 1))
    with pytest.raises(ArgumentError, match=r"options sklearn.svm.SVC refuses: .*C"):
        ScikitLearn(SVC, {"C": -1.0}).fit(x, x, 18, 0)
    model = ScikitLearn("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": 50})
    with pytest.raises(ArgumentError, match=r"options make a classifier that fails: .*n_neighbors"):
        model.fit(np.zeros(4), np.ones(4), 8, 0).votes(np.zeros(3))

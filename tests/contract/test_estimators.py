"""Rules that every registered estimator keeps, and that levels by histograms converge."""

import math

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.base import Claims, over_pairs
from epsilometer.exact.base import divergence
from epsilometer_workflow.configuration import study
from tests.contract.examples import law

ARGUMENTS = {
    "histogram": {"gamma": 0.5},
    "local_loss": {"floor": 1e-3},
    "mpl": {"after": "local-loss"},
    "renyi_bound": {"draws_at_floor": 50},
    "renyi_bound_as_published": {"draws_at_floor": 50},
    "safety_check": {"gamma": 2.0, "lipschitz": 1.0},
    "spectrum": {
        "classifier": "scikit_learn",
        "options": {"name": "sklearn.naive_bayes.GaussianNB"},
    },
}
SYMMETRIC = {"local_loss", "mpl"}
INTERVAL = Claims(support=(0.0, 1.0), lipschitz=law("truncated_gaussian").lipschitz_output)
FINITE = Claims(outcomes=5, smallest_probability=0.13)


def estimator(name):
    return ESTIMATORS.load(name)(**ARGUMENTS[name])


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_attributes_and_refusals_are_as_documented(name):
    method = estimator(name)
    assert method.reads in study._READS
    assert method.symmetric == (name in SYMMETRIC)
    order = 2.0 if method.reads == "densities" else math.inf
    method.check("scalar", order)
    method.check("index", order)
    assert method.guarantee in ("finite-sample", "asymptotic", "none")
    with pytest.raises(ArgumentError, match=r"outputs (are mixed|must be scalar|must be numbers)"):
        method.check("mixed", order)


def histograms(claims, x, n, cells, runs):
    """Draw histograms straight from the exact cell probabilities."""
    if claims is FINITE:
        shares = law("randomized_response").probabilities(int(x))
    else:
        shares = np.diff(law("truncated_gaussian").cdf(np.linspace(0, 1, cells + 1), x))
    return np.random.default_rng(int(10 * x)).multinomial(n, shares, runs)


@pytest.mark.parametrize("order", [2.0, math.inf])
@pytest.mark.parametrize("claims", [INTERVAL, FINITE], ids=["interval", "finite"])
def test_histograms_converge_to_the_exact_level_in_both_directions(order, claims):
    exact = law("randomized_response" if claims is FINITE else "truncated_gaussian")
    pair, method, errors = (0, 3) if claims is FINITE else (0.0, 0.7), estimator("histogram"), []
    cells = method.cells(claims, order)
    for n in (100_000, 1_000_000, 30_000_000):
        sides = (histograms(claims, x, n, cells, 40) for x in pair)
        got = method.estimate(*sides, claims, order)
        assert not got.failed.any()
        errors.append(np.sqrt(((got.forward - divergence(exact, order, *pair)) ** 2).mean()))
    assert errors[0] > errors[-1]
    assert errors[-1] < 0.05  # the rest is the cells' width
    reverse = divergence(exact, order, *pair[::-1])
    assert got.reverse.mean() == pytest.approx(reverse, abs=0.05)


@pytest.mark.parametrize("name", ["histogram", "safety_check"])
def test_all_pairs_are_the_pairs_one_by_one(name):
    method = estimator(name)
    cells = method.cells(INTERVAL, math.inf)
    sides = [histograms(INTERVAL, x, 5000, cells, 3) for x in (0, 0.5, 1)]
    together = over_pairs(method, np.stack(sides, axis=-2), INTERVAL, math.inf)
    for (i, j), answer in together.items():
        alone = method.estimate(sides[i], sides[j], INTERVAL, math.inf)
        np.testing.assert_array_equal(answer.forward, alone.forward)
        np.testing.assert_array_equal(answer.failed, alone.failed)

"""Rules that every registered estimator of a level keeps, with any kind of input.

The safety check answers yes or no and has its own tests.
"""

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
COUNTING = [n for n in sorted(ESTIMATORS) if ESTIMATORS.load(n).reads == "histograms"]
SYMMETRIC = {"local_loss", "mpl"}
LEVELS = sorted(set(COUNTING) - {"safety_check"})
every_level = pytest.mark.parametrize("name", LEVELS)
orders = pytest.mark.parametrize("order", [2.0, math.inf])
INTERVAL = Claims(support=(0.0, 1.0), lipschitz=law("truncated_gaussian").lipschitz_output)
FINITE = Claims(outcomes=5, smallest_probability=0.13)


def estimator(name):
    return ESTIMATORS.load(name)(**ARGUMENTS[name])


def histograms(claims, x, n, cells, runs, seed):
    """Draw histograms straight from the exact cell probabilities."""
    rng = np.random.default_rng(seed)
    if claims is FINITE:
        return rng.multinomial(n, law("randomized_response").probabilities(int(x)), runs)
    edges = np.linspace(0, 1, cells + 1)
    return rng.multinomial(n, np.diff(law("truncated_gaussian").cdf(edges, x)), runs)


def answers(name, claims, pair, n, order, runs=40):
    method = estimator(name)
    cells = method.cells(claims, order)
    x, y = (histograms(claims, side, n, cells, runs, seed=i) for i, side in enumerate(pair))
    return method.estimate(x, y, claims, order)


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


@every_level
@orders
@pytest.mark.parametrize("claims", [INTERVAL, FINITE], ids=["interval", "finite"])
def test_converges_to_the_exact_level_in_both_directions(name, order, claims):
    exact = law("randomized_response" if claims is FINITE else "truncated_gaussian")
    pair = (0, 3) if claims is FINITE else (0.0, 0.7)
    truth = divergence(exact, order, *pair)
    truth_reverse = divergence(exact, order, *pair[::-1])
    errors = []
    for n in (100_000, 1_000_000, 30_000_000):
        got = answers(name, claims, pair, n, order)
        assert not got.failed.any()
        errors.append(float(np.sqrt(((got.forward - truth) ** 2).mean())))
    assert errors[0] > errors[-1]
    assert errors[-1] < 0.05  # the rest is the cells' width
    assert got.reverse.mean() == pytest.approx(truth_reverse, abs=0.05)


@pytest.mark.parametrize("name", COUNTING)
def test_all_pairs_are_the_pairs_one_by_one(name):
    claims = INTERVAL
    method = estimator(name)
    cells = method.cells(claims, math.inf)
    sides = [histograms(claims, x, 5000, cells, 3, seed=i) for i, x in enumerate((0, 0.5, 1))]
    together = over_pairs(method, np.stack(sides, axis=-2), claims, math.inf)
    for (i, j), answer in together.items():
        alone = method.estimate(sides[i], sides[j], claims, math.inf)
        np.testing.assert_array_equal(answer.forward, alone.forward)
        np.testing.assert_array_equal(answer.failed, alone.failed)

"""Rules that every registered estimator keeps, and that levels by histograms converge."""

import math
from itertools import product

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.answering import answers
from epsilometer.estimators.base import Claims, over_pairs
from epsilometer.estimators.histogram import HistogramEstimator
from epsilometer.exact.base import divergence
from epsilometer.mechanisms.base import OUTPUT_KINDS
from epsilometer.testing import check_estimator
from epsilometer_workflow.configuration import study
from tests.contract.examples import configured, law

INTERVAL = Claims(support=(0.0, 1.0), lipschitz=law("truncated_gaussian").lipschitz_output)
FINITE = Claims(outcomes=5, smallest_probability=0.13)


def estimator(name):
    """Return the estimator of the first entry of the configuration that names it."""
    entries = configured().estimators.values()
    return ESTIMATORS.load(name)(**next(e.parameters for e in entries if e.estimator == name))


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_an_estimator_takes_some_outputs_and_names_why_it_refuses_others(name):
    method, refusals = estimator(name), []
    assert method.reads in study._READS
    asked = list(product(OUTPUT_KINDS, (1.5, 2.0, math.inf)))
    for outputs, order in asked:
        try:
            method.check(outputs, order)
        except ArgumentError as error:
            refusals.append(error.argument)
    assert len(refusals) < len(asked)
    assert {*refusals} <= {"outputs", "lambda"}


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_an_estimator_keeps_the_contract(name):
    method = estimator(name)
    if method.reads != "verdicts":  # those are of classifiers, which have a contract of their own
        check_estimator(method, screen=estimator("local_loss"), runs=5)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_answers_on_exchanged_sides_are_exchanged(name):
    """Sides have different numbers of draws."""
    method = estimator(name)
    rng = np.random.default_rng(0)
    laws = {4000: [0.5, 0.3, 0.2], 3000: [0.4, 0.3, 0.3]}
    sides = [(rng.choice(3, size, p=law) + rng.random(size)) / 3 for size, law in laws.items()]
    order = 2.0
    try:
        method.check("scalar", order)
    except ArgumentError:
        order = math.inf
    given = {"order": order, "claims": Claims(support=(0.0, 1.0), lipschitz=1.0), "pairing": "all"}
    if method.reads == "evidence":
        given["screen"] = estimator("local_loss")
    ways = []
    for both in (sides, sides[::-1]):
        fresh = {"fresh": lambda _, both=both: [side[:3000] for side in both]}
        (answer,) = answers(method, both, **given, **(fresh if "screen" in given else {}))
        ways.append(answer)
    assert ways[0].forward == pytest.approx(ways[1].reverse, abs=1e-9)
    assert ways[0].reverse == pytest.approx(ways[1].forward, abs=1e-9)
    assert ways[0].sides == (0, 1)
    assert np.isfinite(ways[0].both)


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
    pair, method, errors = (0, 3) if claims is FINITE else (0.0, 0.7), HistogramEstimator(0.5), []
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

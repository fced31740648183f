"""Rules that every registered estimator keeps."""

import math
from itertools import product

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.answering import answers
from epsilometer.estimators.base import Claims, over_pairs
from epsilometer.mechanisms.base import OUTPUT_KINDS
from epsilometer.testing import check_estimator
from epsilometer_workflow.configuration import study
from tests.contract.examples import configured


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
        given["fresh"] = lambda _: [side[:3000] for side in both]
    ways = []
    for both in (sides, sides[::-1]):
        ways += answers(method, both, **given)
    assert ways[0].forward == pytest.approx(ways[1].reverse, abs=1e-9)
    assert ways[0].reverse == pytest.approx(ways[1].forward, abs=1e-9)
    assert ways[0].sides == (0, 1)
    assert np.isfinite(ways[0].both)


@pytest.mark.parametrize("name", ["histogram", "safety_check"])
def test_all_pairs_are_the_pairs_one_by_one(name):
    method, claims = estimator(name), Claims(support=(0.0, 1.0), lipschitz=1.0)
    shares = np.random.default_rng(0).dirichlet(np.full(method.cells(claims, math.inf), 9.0), 3)
    sides = [np.random.default_rng(1).multinomial(5000, each, 3) for each in shares]
    together = over_pairs(method, np.stack(sides, axis=-2), claims, math.inf)
    for (i, j), answer in together.items():
        alone = method.estimate(sides[i], sides[j], claims, math.inf)
        np.testing.assert_array_equal(answer.forward, alone.forward)
        np.testing.assert_array_equal(answer.failed, alone.failed)

"""Outputs of any form: equal laws show nothing, and a statistic without a spread is no evidence.

`tests/benchmarks/forms.py` makes the forms.
"""

import math

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.events import choosing, fine_cells, looks, scores
from epsilometer.events.cells import Numbers
from epsilometer.events.events import View
from epsilometer_audit.checks import calls, permutations
from epsilometer_audit.checks.calls import Sample
from tests.benchmarks.forms import ALPHA, faults_of
from tests.sharing import FIVE

FORMS, PARTS = 300, 30
DRAWS, OF_TWINS = 60, {"different": 400, "repeated": 1000}  # of a side
FEW = 32  # draws from which all rules for many draws are used
EARLY = 5  # parts and twins of `make test`; the others are in `make examples`
LATE = [pytest.param(part, marks=pytest.mark.examples) for part in range(EARLY, PARTS)]


# --- forms ----------------------------------------------------------------------------------------


@pytest.mark.slow(seconds=7)
@pytest.mark.parametrize("part", [*range(EARLY), *LATE])
def test_honest_outputs_of_any_form_are_not_refuted(part, monkeypatch):
    monkeypatch.setattr(calls, "_FEW", FEW)
    faults = {seed: faults_of(seed, DRAWS, ["honest"]) for seed in range(part, FORMS, PARTS)}
    assert {seed: found for seed, found in faults.items() if found} == {}


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("twin", OF_TWINS)
@pytest.mark.parametrize("part", [*range(EARLY), *LATE])
def test_twins_of_a_form_are_refuted(part, twin):
    assert faults_of(part, OF_TWINS[twin], [twin]) == []


def released(x, rng):
    """Return a fixed number of random keys, all with one value."""
    return {f"k{i}": 1 for i in sorted(rng.choice(12, 3, replace=False).tolist())}


def failing(x, rng):
    if rng.random() < 0.3:
        raise ValueError("too few")
    return int(rng.geometric(0.6))


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("seed", FIVE)
@pytest.mark.parametrize("mechanism", [released, failing])
def test_random_keys_and_constant_messages_are_valid(mechanism, seed, monkeypatch):
    monkeypatch.setattr(calls, "_FEW", FEW)
    options = {"samples": 500, "seed": seed, "alpha": ALPHA, "failures": mechanism is failing}
    assert ea.audit(mechanism, [(0, 1)], ea.pure(1.0), **options).verdict == "not refuted"


# --- statistics without a spread ------------------------------------------------------------------

SIZE = 400
SAME = np.full(SIZE, 0.1)  # whose mean is another number
PAIR = np.column_stack([SAME, SAME + 1])
ODD = np.column_stack([np.arange(SIZE) % 2, SAME])
ONE_CLASS = permutations.Scores(np.array([0.1, 0.9]), np.array([0, SIZE]), np.ones(SIZE, int))
ROUNDED = permutations.Scores(  # whose rounding alone differs
    np.array([0.5, np.nextafter(0.5, 1)]), np.array([200, 200]), np.arange(SIZE) % 2
)


def unlike_in_calls(score):
    rng = np.random.default_rng(0)
    return 1 - permutations.calls_p([permutations.pieces([score], [200, 200])], rng, 0.01)


def serial(score):
    pieces, rng = np.array_split(score[:], 6), np.random.default_rng(0)
    return 1 - permutations.serial_p(pieces, rng, 0.5)


def in_a_group(score):
    return 1 - permutations.unlikely(score, np.array([0, 100]), np.zeros(2)).min()


def low_bits(x, x_prime):
    """Return how many views show the lowest bit, which the range of a number tells."""
    return len(fine_cells.low_bit_views(Numbers(x, x_prime, 4, View(), values=False)))


def promised(x, x_prime):
    """Return the largest level that one draw a side promises."""
    events = choosing.best([Numbers(x, x_prime, 4, View())], 10)
    return max([0.0, *(each.expected for each in events if each is not None)])


HUGE = np.column_stack([np.resize([1e308, -1e308], SIZE)] * 2)  # of an infinite spread
HALVES = np.repeat([0.5, 1.25], SIZE // 2) + np.tile([0.0, 1.0], SIZE // 2)
EVIDENCE = {
    "scores of one class": lambda: np.abs(ONE_CLASS.values).max(),
    "scores that rounding tells": lambda: np.abs(ROUNDED.values).max(),
    "a group of draws": lambda: in_a_group(ONE_CLASS),
    "no draws in a group": lambda: in_a_group(ROUNDED),
    "a drift": lambda: max(1 - permutations.by_time(ONE_CLASS), 0),
    "calls": lambda: unlike_in_calls(ONE_CLASS),
    "draws in a row": lambda: serial(ONE_CLASS),
    "cells": lambda: max(fine_cells.z_score(SAME, SAME, 64), 0),
    "lowest bits": lambda: low_bits(HALVES, HALVES),
    "a choice of entries": lambda: scores.suspects(PAIR, PAIR, [0, 1], 1) != [0],
    "differences": lambda: len(scores.differences(PAIR, PAIR, [0, 1], 64)),
    "a linear score": lambda: scores.linear_score(PAIR, PAIR, [0, 1]) is not None,
    "a learned score": lambda: scores.learned_score(PAIR, PAIR, [0, 1]) is not None,
    "a score of an infinite spread": lambda: scores.learned_score(HUGE, HUGE, [0, 1]) is not None,
    "steps": lambda: len(looks._steps(ODD)),
    "one draw": lambda: promised(SAME[:1], SAME[:1]),
}


@pytest.mark.parametrize("name", EVIDENCE)
def test_a_statistic_without_a_spread_is_no_evidence(name):
    assert EVIDENCE[name]() == 0


def test_a_product_that_rounding_alone_changes_has_no_weight():
    coin = np.where(np.arange(SIZE) % 2, 0.1, 0.4)
    view = scores.learned_score(*[np.column_stack([coin, coin])] * 2, [0, 1])
    assert [term for term, _ in view.formula.terms if len(term) > 1] == []


def test_scores_of_outputs_vary():
    coin = Sample([np.arange(SIZE) % 2], "")  # whose distance from the median does not
    assert coin.scores
    assert all(score.values.any() for score in coin.scores)


def test_draws_that_alternate_are_evidence_however_many():
    pieces = [np.resize([1.0, -1.0], 4000)] * 6
    assert permutations.serial_p(pieces, np.random.default_rng(0), 1.0) < 1e-6


@pytest.mark.parametrize("values", [[1.0], range(100), [math.inf, 1.0]])
def test_missing_numbers_are_a_class_of_their_own(values, monkeypatch):
    monkeypatch.setattr(calls, "_FEW", FEW)
    numbers = np.append(np.resize(list(values), SIZE), np.full(300, math.nan))
    found = calls._classes([numbers[:100], numbers[100:]])
    assert found.times.tolist() == np.bincount(found.classes).tolist()
    assert found.times.min() > 0
    missing = found.classes == found.times.size - 1
    assert (missing == np.isnan(numbers)).all()

"""The level test: every claim of confidence over seeds; its truths against draws; its own power."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import epsilometer as em
from epsilometer.errors import ArgumentError
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact.real_line import laplace_renyi
from epsilometer.numerics.proportions import clopper_pearson
from tests.contract.examples import configured
from tests.contract.level_cases import CASES, Case
from tests.contract.levels import (
    AT_CLAIMS,
    CONFIDENCE,
    ENOUGH,
    ORDERS,
    RUN,
    TESTED,
    Answer,
    judged,
    method_of,
    of_each_group,
    planned,
    planned_rows,
    promising,
    repeated,
    row_of,
    rows,
    too_often,
)

N = 150_000


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize(
    ("entries", "case"), [*judged("evidence"), *judged("verdicts"), *judged("densities")]
)
def test_no_bound_lies_above_the_truth_more_often_than_it_may(entries, case):
    for entry in entries:
        for row in rows(entry, case, TESTED, ENOUGH):
            assert not row.failed, row


# --- functions of two arrays ----------------------------------------------------------------------

Bounds = Iterator[Answer]


def _losses(case: Case, pairs: list[Any]) -> Bounds:
    if len(pairs) == 1:
        bound = em.loss_lower_bound(*pairs[0])
    else:
        bound = em.loss_lower_bound_of_pairs(pairs)
    yield Answer("epsilon", bound.value, case.pairs[bound.pair].pure)


def _renyi(case: Case, pairs: list[Any]) -> Bounds:
    for order in ORDERS:
        if len(pairs) > 1:
            bound = em.renyi_lower_bound_of_pairs(pairs, order=order)
            truth = max(case.pairs[bound.pair].renyi(order, reverse=way) for way in (False, True))
            yield Answer(f"{order}", bound.value, truth)
            continue
        for way, sides in enumerate((pairs[0], pairs[0][::-1])):
            bound = em.renyi_lower_bound(*sides, order=order)
            truth = case.pairs[0].renyi(order, reverse=bool(way))
            yield Answer(f"{order} way {way}", bound.value, truth)


def _deltas(case: Case, pairs: list[Any]) -> Bounds:
    for way, (x, x_prime) in enumerate((pairs[0], pairs[0][::-1])):
        curve = em.delta_curve(
            x, x_prime[: len(x) // 2], epsilons=AT_CLAIMS
        )  # of unequal sizes, too
        for claim, low in zip(AT_CLAIMS, curve.low, strict=True):
            truth = case.pairs[0].delta(claim, reverse=bool(way))
            yield Answer(f"{claim} way {way}", float(low), truth)


FUNCTIONS = {  # with how often a bound may be above: for large n a little more often than alpha
    "loss_lower_bound": (_losses, 0.07),
    "renyi_lower_bound": (_renyi, 0.07),
    "delta_curve": (_deltas, 0.025),
}


def cases_of(name: str) -> list[str]:
    several = name != "delta_curve"
    cases = [case.name for case in CASES.values() if several or len(case.pairs) == 1]
    return of_each_group(cases, list(FUNCTIONS).index(name))


def answered(name: str, case: Case, seed: int) -> list[Answer] | str:
    """Return all bounds of a run, or the message of the refusal."""
    try:
        return list(FUNCTIONS[name][0](case, list(case.drawn(seed, "first"))))
    except ArgumentError as error:
        return str(error)


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name in FUNCTIONS for case in cases_of(name)]
)
def test_no_bound_of_a_function_is_above_the_truth_more_often_than_it_may(name, case):
    limit = FUNCTIONS[name][1]
    runs, refused = repeated(lambda seed: answered(name, CASES[case], seed), limit, TESTED, ENOUGH)
    assert "\n" not in "".join(refused)
    for same in zip(*runs, strict=True):
        above = sum(answer.above for answer in same)
        assert clopper_pearson(above, len(runs), CONFIDENCE)[0] <= limit, same[0].of


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("case", ["laplace", "randomised response", "cauchy"])
def test_bounds_are_close_enough_to_be_of_use(name, case):
    runs = [answered(name, CASES[case], seed) for seed in range(9)]
    values = np.array([[bound.bound for bound in bounds] for bounds in runs])
    truths = np.array([bound.truth for bound in runs[0]])
    assert (np.median(values, axis=0) > 0.3 * truths - 0.1).all()


# --- the test itself ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_every_registered_estimator_is_configured_and_has_a_guarantee(name):
    entries = [
        e for e, configuration in configured().estimators.items() if configuration.estimator == name
    ]
    assert entries, f"config/estimators.yaml has no entry of {name}: its level is not tested"
    for entry in entries:
        guarantee = getattr(method_of(entry), "guarantee", None)
        assert guarantee in ("finite-sample", "asymptotic", "none"), f"{entry}: {guarantee}"
        if guarantee != "none":
            assert method_of(entry).reads in RUN, f"levels.py does not know how to run {entry}"


SINGLE = [name for name, case in CASES.items() if case.outputs in ("scalar", "index", "bits")]


@pytest.mark.parametrize("name", SINGLE)
def test_truths_agree_with_many_draws(name):
    """By the shares of values that repeat, and of cells of a hundredth of the others.

    A delta is off by 5 standard errors of a sum over all cells in less than one of 1e6 seeds.
    """
    pair, rng = CASES[name].pairs[0], np.random.default_rng(1)
    pooled = np.concatenate([pair.x(N, rng), pair.x_prime(N, rng)])
    _, codes, times = np.unique(pooled, return_inverse=True, return_counts=True)
    repeats = times > 50
    before = 2 * np.cumsum(repeats) - repeats  # it changes at such a value, and after it
    hundredth = np.cumsum(times) * 100 // pooled.size
    cells = np.unique(1000 * before + hundredth, return_inverse=True)[1][codes]
    p, q = (np.bincount(side, minlength=cells.max() + 1) / N for side in np.split(cells, 2))
    noise = 5 * math.sqrt(p.size / N)
    for claim in (0.0, 0.3):
        assert pair.delta(claim) == pytest.approx(excess(p, q, claim), abs=noise)
        assert pair.delta(claim, reverse=True) == pytest.approx(excess(q, p, claim), abs=noise)
    for reverse in (False, True):
        levels = [pair.renyi(order, reverse=reverse) for order in (2.0, 7.0)]
        assert levels[0] <= levels[1] + 1e-9 <= pair.pure + 2e-9


def excess(p, q, claim):
    return np.maximum(p - math.exp(claim) * q, 0).sum()


def test_levels_have_closed_forms():
    normal, laplace = CASES["normal"].pairs[0], CASES["laplace"].pairs[0]
    assert normal.renyi(7.0) == pytest.approx(7 * 0.7**2 / 2, rel=1e-8)
    assert laplace.renyi(7.0) == pytest.approx(laplace_renyi(7.0, 0.7), rel=1e-8)
    assert laplace.delta(0.3) == pytest.approx(1 - math.exp((0.3 - 0.7) / 2), rel=1e-8)
    truthful = 1 / (1 + math.exp(-0.7))
    both = truthful**7 * (1 - truthful) ** -6 + (1 - truthful) ** 7 * truthful**-6
    assert CASES["randomised response"].pairs[0].renyi(7.0) == pytest.approx(math.log(both) / 6)


def test_a_bound_above_the_truth_is_counted_unless_it_is_flagged():
    entry, case = promising()[0], CASES["laplace"]
    assert row_of(entry, case, shown(20, 60)).share == 20 / 60
    assert not Answer("inf", 0.7 * (1 + 1e-10), 0.7).above  # rounding
    assert Answer("inf", math.nan, 0.7).above
    flagged = row_of(entry, case, [Answer("inf", 0.8, 0.7, trusted=False)] * 60)
    assert (flagged.outcome, flagged.answered, flagged.above_flagged) == ("flagged", 0, 60)


def shown(above, of):
    """Return the answers of so many runs, of which some are above the truth."""
    return [Answer("inf", 0.8 if i < above else 0.6, 0.7) for i in range(of)]


def test_an_entry_fails_where_ten_of_sixty_bounds_are_above():
    """Of 60 runs; the power is .72 where a bound is above in 20 %, and .96 in 30 %."""
    for above, fails in ((3, False), (9, False), (10, True), (20, True)):
        row = row_of(promising()[0], CASES["laplace"], shown(above, TESTED))
        assert replace(row, limit=0.05).failed == fails
    assert not too_often(0.05, [[answer] for answer in shown(0, ENOUGH)])
    assert too_often(0.05, [[answer] for answer in shown(1, ENOUGH)])


@pytest.mark.parametrize("entry", planned())
def test_a_planned_n_misses_no_more_often_than_promised(entry):
    for row in planned_rows(entry, 60):
        assert not row.failed, row

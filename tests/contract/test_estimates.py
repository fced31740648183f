"""Whatever the functions of two arrays claim with a confidence holds, over many seeds.

Cases are those of `level_cases`: identical sides, ties, atoms, other units, heavy tails, disjoint
supports, few draws, one pair among a hundred. Limits are as in `levels`.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import epsilometer as em
from epsilometer.errors import ArgumentError
from epsilometer.proportions import clopper_pearson
from tests.contract.level_cases import CASES, Case
from tests.contract.levels import AT_CLAIMS, CONFIDENCE, ORDERS, Answer, too_often

SEEDS, ENOUGH = 60, 20
MORE = 0.02  # how much more often than alpha a bound for large n may be above, as in `levels`
ALPHA = 0.05
SHARE = 3  # of the cases of a function one in so many

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
            bound = em.renyi_lower_bound_of_pairs(pairs, order)
            truth = max(case.pairs[bound.pair].renyi(order, reverse=way) for way in (False, True))
            yield Answer(f"{order}", bound.value, truth)
            continue
        for way, sides in enumerate((pairs[0], pairs[0][::-1])):
            bound = em.renyi_lower_bound(*sides, order)
            truth = case.pairs[0].renyi(order, reverse=bool(way))
            yield Answer(f"{order} way {way}", bound.value, truth)


def _deltas(case: Case, pairs: list[Any]) -> Bounds:
    for way, (x, x_prime) in enumerate((pairs[0], pairs[0][::-1])):
        curve = em.delta_curve(x, x_prime[: len(x) // 2], AT_CLAIMS)  # of unequal sizes, too
        for claim, low in zip(AT_CLAIMS, curve.low, strict=True):
            truth = case.pairs[0].delta(claim, reverse=bool(way))
            yield Answer(f"{claim} way {way}", float(low), truth)


FUNCTIONS: dict[str, Callable[[Case, list[Any]], Bounds]] = {
    "loss_lower_bound": _losses,
    "renyi_lower_bound": _renyi,
    "delta_curve": _deltas,
}
LIMITS = {name: ALPHA / 2 if name == "delta_curve" else ALPHA + MORE for name in FUNCTIONS}


def bounds(name: str, case: Case, seed: int) -> list[Answer] | str:
    """Return all bounds of a run, or the message of the refusal."""
    try:
        return list(FUNCTIONS[name](case, list(case.drawn(seed, "fresh"))))
    except ArgumentError as error:
        return str(error)


def check_level(name: str, case: Case) -> None:
    """Count bounds above the truth; stop where none is above more often than it may."""
    runs: list[list[Answer]] = []
    for seed in range(SEEDS):
        if seed and seed % ENOUGH == 0 and not too_often(LIMITS[name], runs):
            break
        answered = bounds(name, case, seed)
        if isinstance(answered, str):
            assert not runs, f"{name}, {case.name}: refused for seed {seed} only: {answered}"
            assert "\n" not in answered
            return
        runs.append(answered)
    for same in zip(*runs, strict=True):
        n = sum(answer.above for answer in same)
        low, _ = clopper_pearson(n, len(runs), CONFIDENCE)
        text = f"{name}, {case.name}, {same[0].of}: {n} of {len(runs)} are above the truth"
        assert low <= LIMITS[name], text


def cases_of(name: str) -> list[str]:
    several = [] if name == "delta_curve" else [c for c in CASES if len(CASES[c].pairs) > 1]
    single = [c for c in CASES if len(CASES[c].pairs) == 1]
    return single + several


def third() -> list[tuple[str, str]]:
    """Return a third of all cases for each function: another third for the next."""
    return [
        (name, case)
        for i, name in enumerate(FUNCTIONS)
        for k, case in enumerate(cases_of(name))
        if (i + k) % SHARE == 0
    ]


@pytest.mark.parametrize(("name", "case"), third())
def test_no_bound_is_above_the_truth_more_often_than_it_may(name, case):
    check_level(name, CASES[case])


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "case", ["laplace", "randomised response", "laplace, unit 1e+09", "cauchy"]
)
def test_bounds_are_close_enough_to_be_of_use(name, case):
    values = np.array([[b.bound for b in bounds(name, CASES[case], seed)] for seed in range(9)])
    truths = np.array([b.truth for b in bounds(name, CASES[case], 0)])
    assert (np.median(values, axis=0) > 0.3 * truths - 0.05).all()


def test_an_interval_of_smooth_outputs_covers_the_level():
    claims = {"support": (0.0, 1.0), "lipschitz": 1.0}
    n = em.planned_draws(1.0, alpha=0.2, **claims)
    for seed in range(10):
        x = np.sqrt(2 * np.random.default_rng(seed).random(n) + 0.25) - 0.5
        level = em.histogram_level(x, 1 - x, gamma=1.0, **claims)
        assert level.confidence >= 0.8
        assert level.low <= math.log(3) <= level.high


def test_a_bound_that_is_too_high_is_seen(monkeypatch):
    def high(case: Case, _: list[Any]) -> Bounds:
        yield Answer("epsilon", case.pairs[0].pure + 0.1, case.pairs[0].pure)

    monkeypatch.setitem(FUNCTIONS, "loss_lower_bound", high)
    with pytest.raises(AssertionError, match="60 of 60 are above the truth"):
        check_level("loss_lower_bound", CASES["laplace"])

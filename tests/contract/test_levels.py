"""The level test itself: its truths against draws, its judgement, and its entries."""

import math

import numpy as np
import pytest
from scipy import stats

from epsilometer.estimators import ESTIMATORS
from tests.contract.examples import configured
from tests.contract.level_cases import CASES
from tests.contract.levels import (
    ENOUGH,
    RUN,
    TESTED,
    Answer,
    _row,
    _suspicious,
    judged,
    limit_of,
    method_of,
    planned,
    planned_rows,
    promising,
    rows,
    tasks_of,
)

N = 200_000


@pytest.mark.parametrize(
    ("entries", "case"), [*judged("evidence"), *judged("verdicts"), *judged("densities")]
)
def test_no_bound_lies_above_the_truth_more_often_than_it_may(entries, case):
    for entry in entries:
        for row in rows(entry, case, TESTED, ENOUGH):
            assert not row.failed, row


@pytest.mark.parametrize("reads", RUN)
def test_a_third_of_the_cases_is_of_all_entries_and_groups(reads):
    every = [(entry, case) for entry, case in tasks_of(reads) if limit_of(entry, CASES[case])[0]]
    third = [(entry, case) for entries, case in judged(reads) for entry in entries]
    assert set(third) <= set(every)
    assert {entry for entry, _ in third} == {entry for entry, _ in every}
    for entry in {entry for entry, _ in every}:
        assert len([1 for name, _ in third if name == entry]) >= 3
    groups = [{CASES[case].group for _, case in pairs} for pairs in (third, every)]
    assert groups[0] == groups[1]


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
            message = (
                f"levels.py does not know how to run {entry}, which reads {method_of(entry).reads}"
            )
            assert method_of(entry).reads in RUN, message


def frequencies(pair, n, seed):
    """Return how often either side shows the same values, or cells where values do not repeat."""
    rng = np.random.default_rng(seed)
    sides = [np.asarray(draw(n, rng)) for draw in (pair.x, pair.x_prime)]
    if sides[0].ndim == 2:  # the entry that differs
        column = next(
            (i for i in range(sides[0].shape[1]) if differs(*(s[:, i] for s in sides))), 0
        )
        sides = [side[:, column] for side in sides]
    pooled = np.concatenate([np.nan_to_num(side, nan=-1e6) for side in sides])
    values, codes, counts = np.unique(pooled, return_inverse=True, return_counts=True)
    if values.size > 1000:  # cells of 1/100, values that repeat so often by themselves
        atoms = counts > 50
        edges = np.quantile(pooled, np.linspace(0, 1, 101)[1:-1])
        code_of = np.searchsorted(edges, values, side="right")
        code_of = np.where(atoms, 1000 + np.cumsum(atoms), code_of)
        codes = code_of[codes]
    counts = [np.bincount(part, minlength=codes.max() + 1) for part in np.split(codes, 2)]
    return counts[0] / n, counts[1] / n


def differs(x, x_prime):
    share = np.abs(np.mean(np.isnan(x)) - np.mean(np.isnan(x_prime)))
    order = np.sort(np.nan_to_num(x)), np.sort(np.nan_to_num(x_prime))
    spread = np.subtract(*np.quantile(order[0], [0.9, 0.1]))
    return share > 0.01 or np.abs(order[0] - order[1]).mean() > 0.1 * spread


@pytest.mark.parametrize("name", CASES)
def test_truths_agree_with_many_draws(name):
    pair = CASES[name].pairs[0]
    p, q = frequencies(pair, N, seed=1)
    some = np.minimum(p, q) * N > 50
    noise = 5 * math.sqrt(p.size / N)  # of sums over cells
    for claim in (0.0, 0.3):
        assert pair.delta(claim) == pytest.approx(excess(p, q, claim), abs=noise)
        assert pair.delta(claim, reverse=True) == pytest.approx(excess(q, p, claim), abs=noise)
    losses = np.abs(np.log(p[some] / q[some]))
    slack = 5 * np.sqrt(1 / p[some] + 1 / q[some]) / math.sqrt(N)
    assert (losses <= pair.pure + slack).all()
    if math.isfinite(pair.pure) and some.any():
        assert losses.max() >= 0.85 * pair.pure - 0.01
    for reverse in (False, True):
        likelier, other = (q, p) if reverse else (p, q)
        if math.isinf(pair.renyi(2.0, reverse=reverse)):
            assert likelier[other * N < 10].sum() > 0.002
            continue
        assert pair.renyi(2.0, reverse=reverse) <= pair.renyi(7.0, reverse=reverse) + 1e-9
        assert pair.renyi(7.0, reverse=reverse) <= pair.pure + 1e-9
        level = math.log((likelier**2 / np.maximum(other, 1 / N)).sum())
        assert pair.renyi(2.0, reverse=reverse) == pytest.approx(level, abs=0.015, rel=0.06)


def excess(p, q, claim):
    return np.maximum(p - math.exp(claim) * q, 0).sum()


def test_divergences_have_closed_forms():
    normal, response = CASES["normal"].pairs[0], CASES["randomised response"].pairs[0]
    assert normal.renyi(7.0) == pytest.approx(7 * 0.7**2 / 2, rel=1e-8)
    truthful = 1 / (1 + math.exp(-0.7))
    both = truthful**7 * (1 - truthful) ** -6 + (1 - truthful) ** 7 * truthful**-6
    assert response.renyi(7.0) == pytest.approx(math.log(both) / 6)
    laplace = CASES["laplace"].pairs[0]
    a, e = 7.0, 0.7
    moment = a / (2 * a - 1) * math.exp((a - 1) * e) + (a - 1) / (2 * a - 1) * math.exp(-a * e)
    assert laplace.renyi(a) == pytest.approx(math.log(moment) / (a - 1), rel=1e-8)
    assert laplace.delta(0.3) == pytest.approx(1 - math.exp((0.3 - 0.7) / 2), rel=1e-8)


def test_a_bound_above_the_truth_too_often_fails():
    entry = next(e for e in promising() if method_of(e).guarantee == "finite-sample")
    case = CASES["laplace"]

    assert not _row(entry, case, shown(3, 60)).failed
    assert _row(entry, case, shown(20, 60)).failed
    assert _row(entry, case, shown(20, 60)).share == 20 / 60
    assert not Answer("inf", 0.7 * (1 + 1e-10), 0.7).above  # rounding
    assert Answer("inf", math.nan, 0.7).above
    flagged = _row(entry, case, [Answer("inf", 0.8, 0.7, trusted=False)] * 60)
    assert not flagged.failed
    assert (flagged.outcome, flagged.answered, flagged.above_flagged) == ("flagged", 0, 60)


def some_that_may(limit):
    """Return an entry and a case whose bound may be above so often."""
    case = CASES["laplace"]
    return next(e for e in promising() if limit_of(e, case)[0] == limit), case


def shown(above, of):
    """Return the answers of so many runs, of which some are above the truth."""
    return [Answer("inf", 0.8 if i < above else 0.6, 0.7) for i in range(of)]


@pytest.mark.parametrize(
    ("limit", "share", "power"),
    [
        *[(0.05, 0.05, 0.001), (0.05, 0.2, 0.715), (0.05, 0.3, 0.964)],
        *[(0.025, 0.025, 0.001), (0.025, 0.2, 0.873), (0.025, 0.3, 0.972)],
    ],
)
def test_the_power_of_the_level_test(limit, share, power):
    """The power of the tests of levels, from how they judge each number of runs above."""
    entry, case = some_that_may(limit)
    chances = np.ones(1)  # of each number of runs above, where there are more
    more = stats.binom.pmf(range(ENOUGH + 1), ENOUGH, share)
    for runs in range(ENOUGH, TESTED, ENOUGH):
        chances = np.convolve(chances, more)
        for above in range(runs + 1):
            if not _suspicious(entry, case, [[answer] for answer in shown(above, runs)]):
                chances[above] = 0.0
    chances = np.convolve(chances, more)
    fails = [_row(entry, case, shown(above, TESTED)).failed for above in range(TESTED + 1)]
    assert chances[fails].sum() == pytest.approx(power, abs=0.003)


@pytest.mark.parametrize("entry", planned())
def test_a_planned_n_misses_no_more_often_than_promised(entry):
    for row in planned_rows(entry, 60):
        assert not row.failed, row

"""Algorithms 1 to 4 on given counts, Theorem 3, and the planner against tables and simulation."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from epsilometer.errors import ArgumentError
from epsilometer.estimators import planner
from epsilometer.estimators.base import Claims
from epsilometer.estimators.histogram import HistogramEstimator
from epsilometer.estimators.safety import SafetyCheck
from epsilometer.exact.truncated import ExactTruncatedLaplace
from epsilometer.mechanisms.truncated import TruncatedLaplace
from tests.contract.examples import histogram_estimate

# --- algorithms 1 to 4 ----------------------------------------------------------------------------

paired = st.integers(2, 8).flatmap(
    lambda k: st.tuples(*[arrays(np.int64, (k,), elements=st.integers(1, 10**6))] * 2)
)
orders = st.sampled_from([1.01, 1.5, 2.0, 7.0, 64.0, math.inf])


def test_pure_level_by_hand():
    answer = histogram_estimate(np.array([6, 3, 1]), np.array([2, 3, 5]))
    assert answer.forward == pytest.approx(math.log(3))
    assert answer.reverse == pytest.approx(math.log(5))
    assert answer.both == pytest.approx(math.log(5))
    assert not answer.failed


@pytest.mark.parametrize("order", [1.5, 2.0, 3.0])
def test_equation_17_by_hand(order):
    n, m = np.array([60, 30, 10]), np.array([20, 30, 50])
    by_hand = math.log(((n / m) ** order * m / 100).sum()) / (order - 1)
    assert histogram_estimate(n, m, order=order).forward == pytest.approx(by_hand)


@given(paired, orders)
def test_properties(pair, order):
    n, m = pair
    answer = histogram_estimate(n, m, order=order)
    swapped = histogram_estimate(m, n, order=order)
    assert answer.forward >= -1e-9  # a divergence
    assert answer.forward == swapped.reverse  # symmetric under swapping the sides
    shuffle = np.random.default_rng(0).permutation(n.size)
    relabelled = histogram_estimate(n[shuffle], m[shuffle], order=order)
    assert relabelled.forward == pytest.approx(answer.forward, abs=1e-9)
    assert answer.forward <= histogram_estimate(n, m).forward + 1e-9  # monotone in the order


def test_an_empty_cell_is_a_failure_not_an_exception():
    for n, m in [([5, 0], [2, 3]), ([5, 1], [0, 6]), ([5, 0], [0, 5]), ([5, 0], [5, 0])]:
        answer = histogram_estimate(np.array(n), np.array(m))
        assert answer.failed
        assert math.isnan(answer.forward)
        assert math.isnan(answer.reverse)


def test_empty_cells_can_be_skipped():
    answer = histogram_estimate(np.array([5, 5, 0]), np.array([2, 4, 4]), empty_cells="skip")
    assert answer.forward == pytest.approx(math.log(2.5))
    disjoint = histogram_estimate(np.array([5, 0]), np.array([0, 5]), empty_cells="skip")
    assert disjoint.failed
    zeros = histogram_estimate(np.array([5, 0]), np.array([5, 0]), empty_cells="skip")
    assert zeros.forward == 0


def test_shapes_must_agree():
    with pytest.raises(ArgumentError, match="x_prime has shape"):
        histogram_estimate(np.array([1, 2]), np.array([1, 2, 3]))


def test_cells_follow_the_claims():
    estimator = HistogramEstimator(gamma=0.5, unguaranteed_cells=200)
    assert estimator.cells(Claims(outcomes=7), math.inf) == 7
    assert estimator.cells(Claims(support=(0, 1), lipschitz=1.581977), math.inf) == 91
    assert estimator.cells(Claims(support=(0, 1), lipschitz=4.6), math.inf) == 200
    with pytest.raises(ArgumentError, match=r"lipschitz C = 4.6 must be below 2/W\^2"):
        HistogramEstimator(gamma=0.5).cells(Claims(support=(0, 1), lipschitz=4.6), math.inf)
    for nothing in (Claims(support=(0, 1)), Claims()):
        with pytest.raises(ArgumentError, match="lipschitz must be claimed"):
            estimator.cells(nothing, math.inf)
    with pytest.raises(ArgumentError, match="smallest_probability must be claimed"):
        estimator.planned_samples(Claims(outcomes=7), math.inf, 0.8)


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (HistogramEstimator, {"gamma": 0.0}, "gamma must be positive"),
        (HistogramEstimator, {"gamma": 1.0, "unguaranteed_cells": 0}, "unguaranteed_cells must be"),
        (HistogramEstimator, {"gamma": 1.0, "unguaranteed_cells": 2.5}, "must be an integer"),
        (HistogramEstimator, {"gamma": 1.0, "empty_cells": "no"}, "empty_cells must be fail or"),
        (Claims, {"support": (0, 1), "outcomes": 2}, "not name both a support and a number"),
        (Claims, {"support": (1, 0)}, "lower < upper"),
        (Claims, {"outcomes": 1}, "outcomes must be at least 2"),
        (Claims, {"support": (0, 1), "lipschitz": -1.0}, "lipschitz must be positive"),
        (Claims, {"outcomes": 2, "smallest_probability": 1.5}, "strictly between 0 and 1"),
    ],
)
def test_bad_hyperparameters_and_claims_are_named(kind, arguments, message):
    with pytest.raises(ArgumentError, match=message):
        kind(**arguments)


# --- the safety check of Theorem 3 ----------------------------------------------------------------


def share_passing(epsilon: float, tested: float, runs: int = 400) -> float:
    law = ExactTruncatedLaplace(TruncatedLaplace(epsilon))
    claims = Claims(support=(0.0, 1.0), lipschitz=law.lipschitz_output)
    check = SafetyCheck(gamma=2.0, lipschitz=tested, cells_given=6)
    slack = planner.safety_slack(lipschitz=tested, cells=6)
    n = planner.safety_sample_size(slack=slack, cells=6, probability=0.9)
    rng = np.random.default_rng(7)
    edges = np.linspace(0, 1, 7)
    sides = [rng.multinomial(n, np.diff(law.cdf(edges, x)), runs) for x in (0.0, 1.0)]
    return float(check.estimate(*sides, claims, math.inf).forward.mean())


def test_a_true_claim_passes_at_least_as_often_as_promised():
    for epsilon in (0.3, 0.7, 1.0):
        c = ExactTruncatedLaplace(TruncatedLaplace(epsilon)).lipschitz_output
        assert share_passing(epsilon, tested=c) >= 0.9


def test_a_false_claim_is_caught():
    assert share_passing(2.0, tested=1.0) < 0.05  # actual C = 4.63


def test_the_event_by_hand():
    even = np.array([10, 10, 10, 10])
    step = np.array([10, 10, 16, 4])
    check = SafetyCheck(gamma=1.0, lipschitz=1.6)  # w = 1/4: allowed 2 C w^2 = 0.2
    claims = Claims(support=(0.0, 1.0))
    answer = check.estimate(np.array([even, step]), np.array([even, even]), claims, math.inf)
    assert answer.forward.tolist() == [1.0, 0.0]
    assert not answer.failed.any()


def test_plan_takes_the_larger_of_the_two_requirements():
    claims = Claims(support=(0.0, 1.0), lipschitz=1.0)
    check = SafetyCheck(gamma=2.0)
    assert check.cells(claims, math.inf) == 6
    assert check.planned_samples(claims, math.inf, 0.8) == 96015
    with pytest.raises(ArgumentError, match="lipschitz must be claimed or given"):
        check.cells(Claims(support=(0.0, 1.0)), math.inf)
    with pytest.raises(ArgumentError, match="support must be claimed"):
        SafetyCheck(gamma=2.0, lipschitz=1.0).cells(Claims(outcomes=3), math.inf)


# --- the planner ----------------------------------------------------------------------------------


def laplace_c(scale: float) -> float:
    return 1 / (scale**2 * -math.expm1(-1 / scale))


def printed(value: int, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")


TABLE_3 = {  # B: gamma, n_TH as printed, its digits, m
    2: [(1, 9588, 4, 6), (0.5, 75618, 5, 12), (0.1, 8.7e6, 2, 56), (0.05, 7e7, 1, 112)],
    1 / 0.7: [(1, 25488, 5, 12), (0.5, 1.9e5, 2, 23), (0.1, 2.4e7, 2, 114), (0.05, 1.9e8, 2, 228)],
    1: [(1, 2.4e5, 2, 46), (0.5, 1.9e6, 2, 91), (0.1, 2.3e8, 2, 455), (0.05, 1.9e9, 2, 909)],
}
TABLE_5 = {
    5: [(1, 17794, 5, 3), (0.5, 1.6e5, 2, 6), (0.1, 2.5e7, 2, 29)],
    3: [(1, 2.3e5, 2, 10), (0.5, 2.1e6, 2, 20), (0.1, 3.1e8, 2, 97)],
    2: [(1, 6.7e6, 2, 41), (0.5, 5.7e7, 2, 81), (0.1, 8.6e9, 2, 403)],
    1.5: [(1, 3.4e8, 2, 195), (0.5, 3.0e9, 2, 389), (0.1, 4.3e11, 2, 1945)],
}


@pytest.mark.parametrize(
    ("table", "order", "delta"), [(TABLE_3, math.inf, 0.8), (TABLE_5, 2.0, 0.9)]
)
def test_tables_3_and_5_to_the_printed_digits(table, order, delta):
    for scale, rows in table.items():
        for gamma, n, digits, m in rows:
            goal = {"gamma": gamma, "lipschitz": laplace_c(scale), "order": order}
            assert planner.histogram_cells(**goal) == m
            ours = planner.sample_size(**goal, delta=delta, union=False)
            assert n in (printed(ours, digits), printed(ours + 1, digits))


@given(
    gamma=st.floats(0.005, 3),
    delta=st.floats(0.01, 0.999),
    lipschitz=st.floats(0.01, 1.5),
    order=st.sampled_from([1.1, 2.0, 5.0, math.inf]),
    union=st.booleans(),
)
def test_n_is_the_smallest_that_holds(gamma, delta, lipschitz, order, union):
    arguments = {"gamma": gamma, "lipschitz": lipschitz, "order": order, "union": union}
    n = planner.sample_size(**arguments, delta=delta)
    assert planner.failure_bound(n, **arguments) <= 1 - delta
    assert n == 1 or planner.failure_bound(n - 1, **arguments) > 1 - delta


def test_n_is_stable_up_to_1e12():
    """One draw more or less still tells, and the bound agrees with 60-digit arithmetic."""
    arguments = {"gamma": 0.0008, "lipschitz": 1.0, "union": False}
    n = planner.sample_size(**arguments, delta=0.9)
    assert 1e12 < n < 1e14
    with localcontext(prec=60):
        m = planner.histogram_cells(gamma=0.0008, lipschitz=1.0)
        y, z = Decimal("0.5") / m, Decimal("0.0008") / 12
        above = (-n * y * (z.exp() - 1) ** 2 / (1 + z.exp())).exp()
        below = (-n * y * (1 - (-z).exp()) ** 2 / 2).exp()
        missed = (n * (1 - y).ln()).exp()
        exact = 2 * m * missed + 4 * (above + below) / (1 - missed)
    assert planner.failure_bound(n, **arguments) == pytest.approx(float(exact), rel=1e-9)


def test_deviation_bound_holds_against_the_exact_binomial():
    from scipy.stats import binom

    for n, p, gamma in [(50, 0.1, 0.5), (500, 0.02, 0.3), (2000, 0.3, 0.05)]:
        s = np.arange(1, n + 1)
        far = np.abs(np.log(s / (n * p))) > gamma
        exact = binom.pmf(s[far], n, p).sum() / binom.sf(0, n, p)
        assert exact <= planner._deviation(n, p, gamma)


def test_ceilings_are_those_of_the_numbers_as_written():
    # some of these quotients come out above the integer when divided as binary fractions
    assert planner.histogram_cells(gamma=0.1, lipschitz=1.0) == 120
    assert planner.histogram_cells(gamma=0.3, lipschitz=1.0) == 40
    assert planner.histogram_cells(gamma=0.05, lipschitz=1.2) == 360


def test_width_scales_out():
    # stretching outputs by s divides densities by s and slopes by s^2
    for order in (2.0, math.inf):
        narrow = planner.sample_size(gamma=0.5, delta=0.8, lipschitz=1.0, order=order)
        four = planner.sample_size(gamma=0.5, delta=0.8, lipschitz=1 / 16, width=4.0, order=order)
        assert narrow == four


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"gamma": 0}, "gamma must be positive, got 0"),
        ({"gamma": "1"}, "gamma must be a finite number"),
        ({"delta": 1.0}, "delta must lie strictly between 0 and 1"),
        ({"lipschitz": math.nan}, "lipschitz must be a finite number"),
        ({"order": 1}, "order must be above 1"),
    ],
)
def test_bad_arguments_are_named(wrong, message):
    with pytest.raises(ArgumentError, match=message):
        planner.sample_size(**({"gamma": 0.5, "delta": 0.8, "lipschitz": 1.0} | wrong))


def test_the_default_keeps_its_promise_however_many_the_outcomes():
    """All answers equally likely: the largest of many ratios must lie within gamma of 1.

    The published formula counts on one cell fixed beforehand, and breaks the same promise.
    """
    goal, outcomes, shares = {"gamma": 0.5, "delta": 0.8}, 30_000, {}
    p, rng = np.full(outcomes, 1 / outcomes), np.random.default_rng(outcomes)
    claims = {"outcomes": outcomes, "smallest_probability": 1 / outcomes}
    default = planner.sample_size(**goal, **claims)
    assert default == planner.sample_size(**goal, **claims, union=True)
    for union in (True, False):
        n = planner.sample_size(**goal, **claims, union=union)
        drawn = (rng.multinomial(n, p, 2) for _ in range(30))
        within = [abs(histogram_estimate(*sides).forward) <= goal["gamma"] for sides in drawn]
        shares[union] = np.mean(within)
    assert shares[True] >= goal["delta"]
    assert shares[False] < 0.6


@pytest.mark.parametrize("order", [1.01, 2.0, 100.0, math.inf])
@pytest.mark.parametrize("lipschitz", [1e-16, 1e-17, 1e-30, 1e-300])
def test_densities_as_good_as_flat_take_one_cell(lipschitz, order):
    arguments = {"gamma": 0.5, "lipschitz": lipschitz, "order": order}
    assert planner.histogram_cells(**arguments) == 1
    assert planner.input_buckets(**arguments, lipschitz_input=lipschitz) == 1
    assert planner.failure_bound(1, **arguments) == 0  # every sample lies in the one cell
    assert planner.sample_size(**arguments, delta=0.999) == 1
    published = planner.sample_size(**arguments, delta=0.8, union=False)
    near = planner.sample_size(**(arguments | {"lipschitz": 1e-9}), delta=0.8, union=False)
    assert published == pytest.approx(near, abs=1)  # no jump where 1 - C rounds to 1
    assert planner.failure_bound(published, **arguments, union=False) <= 0.2
    fine = arguments | {"gamma": lipschitz / 10}
    if lipschitz > 1e-100 and math.isinf(order):
        assert planner.histogram_cells(**fine) in (60, 61)  # 6 C W / (tau_0 gamma)

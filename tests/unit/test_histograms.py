"""Algorithms 1 to 4 on given counts, Theorem 3, and the planner against tables and simulation."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from epsilometer.errors import ArgumentError, NoGuaranteeError
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
    assert answer.reverse == 0  # ratios of the cells that are left are below 1
    swapped = histogram_estimate(np.array([2, 4, 4]), np.array([5, 5, 0]), empty_cells="skip")
    assert (swapped.forward, swapped.reverse) == (0, answer.forward)
    disjoint = histogram_estimate(np.array([5, 0]), np.array([0, 5]), empty_cells="skip")
    assert disjoint.failed
    zeros = histogram_estimate(np.array([5, 0]), np.array([5, 0]), empty_cells="skip")
    assert zeros.forward == 0


@pytest.mark.parametrize("sides", [([1, 2], [1, 2, 3]), (1, 1), ([], [])])
def test_shapes_must_agree_and_have_cells(sides):
    with pytest.raises(ArgumentError, match="x_prime has shape"):
        histogram_estimate(*map(np.array, sides))


@pytest.mark.parametrize(
    "claims", [Claims((0, 2), 0.25), Claims(outcomes=3, smallest_probability=0.2)]
)
@pytest.mark.parametrize("order", [2.0, math.inf])
def test_the_confidence_is_reached_at_the_planned_samples(claims, order):
    estimator = HistogramEstimator(gamma=1.0)
    n = estimator.planned_samples(claims, order, 0.8)
    assert (
        estimator.confidence(n, claims, order) >= 0.8 > estimator.confidence(n - 1, claims, order)
    )
    assert estimator.confidence(1, claims, order) == 0
    assert estimator.confidence(10 * n, claims, order) == pytest.approx(1)


def test_cells_follow_the_claims():
    estimator = HistogramEstimator(gamma=0.5, unguaranteed_cells=200)
    assert estimator.cells(Claims(outcomes=7), math.inf) == 7
    assert estimator.cells(Claims(support=(0, 1), lipschitz=1.581977), math.inf) == 91
    assert estimator.cells(Claims(support=(3, 4), lipschitz=1.581977), math.inf) == 91
    assert estimator.cells(Claims(support=(0, 1), lipschitz=4.6), math.inf) == 200
    unit = Claims(support=(0, 1), lipschitz=1.0)
    assert HistogramEstimator(gamma=1.2e-6).cells(unit, math.inf) == 10**7
    with pytest.raises(ArgumentError, match=r"gamma asks for 1e.07 cells, more than 1e.07"):
        HistogramEstimator(gamma=1.1999e-6).cells(unit, math.inf)
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
    """On [1, 3] in four cells, C = .5: steps of 2 C w^2 = .25 are allowed, on either side."""
    even, step, steeper = np.array([[2, 2, 2, 2], [3, 1, 2, 2], [4, 1, 1, 2]])
    check = SafetyCheck(gamma=1.0, lipschitz=0.5)
    claims = Claims(support=(1.0, 3.0))
    for ours, theirs in ((slice(None), [0, 0, 0]), ([0, 0, 0], slice(None))):
        sides = np.array([even, step, steeper])
        answer = check.estimate(sides[ours], sides[theirs], claims, math.inf)
        assert answer.forward.tolist() == answer.reverse.tolist() == [1.0, 1.0, 0.0]
        assert not answer.failed.any()


def test_plan_takes_the_larger_of_the_two_requirements():
    claims = Claims(support=(0.0, 1.0), lipschitz=1.0)
    check = SafetyCheck(gamma=2.0)
    assert check.cells(claims, math.inf) == 6
    assert check.planned_samples(claims, math.inf, 0.8) == 96015
    assert SafetyCheck(gamma=6.0).cells(claims, math.inf) == 2
    with pytest.raises(ArgumentError, match="asks for one cell"):
        SafetyCheck(gamma=12.0).cells(claims, math.inf)
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


@pytest.mark.parametrize("order", [1.5, 2.0, 7.0, math.inf])
def test_counts_of_finite_outputs_may_be_off_by_as_much_as_the_level(order):
    """With N too large and M too small by a factor of e^g each, the level is off by gamma."""
    gamma, p = 0.3, 0.1
    n, m = np.full(10, 0.1), np.full(10, 0.1)
    if math.isinf(order):
        off = np.log(n / m * np.exp(2)).max()  # at g = 1: it is linear in g
    else:
        off = np.log(((n * np.e) ** order * (m / np.e) ** (1 - order)).sum()) / (order - 1)
    g = gamma / off
    above = math.exp(-80 * p * math.expm1(g) ** 2 / (1 + math.exp(g)))
    below = math.exp(-80 * p * math.expm1(-g) ** 2 / 2)
    missed = (1 - p) ** 80
    expected = 20 * missed + 20 * (above + below) / (1 - missed)
    plan = {"gamma": gamma, "outcomes": 10, "smallest_probability": p, "order": order}
    assert planner.failure_bound(80, **plan) == pytest.approx(expected)
    published = {math.inf: 20 * missed + 4 * (above + below) / (1 - missed)}.get(order, expected)
    assert planner.failure_bound(80, **plan, union=False) == pytest.approx(published)


@pytest.mark.parametrize("union", [True, False])
@pytest.mark.parametrize("gamma", [0.31, 40.0])
@pytest.mark.parametrize("order", [2.0, 7.0, math.inf])
def test_counts_of_smooth_outputs_may_be_off_by_as_much_as_14_allows(order, gamma, union):
    """Of C = .1 on [0, 2]: densities are between .4 and .6; the second gamma reaches ln 2."""
    plan = {"gamma": gamma, "lipschitz": 0.1, "width": 2.0, "order": order}
    g, m = gamma / 12, math.ceil(6 * 0.1 * 2 / (0.4 * gamma))
    if order < math.inf:
        ratio = 2 * 1.5 ** (2 * order - 1)
        g = min(gamma * (order - 1) / (2 * ratio), math.log(2)) / (2 * order - 1)
        m = math.ceil(0.1 * 2 * ratio * (2 * order - 1) / (0.4 * (order - 1) * gamma))
    p = 2 / m * 0.4
    above = math.exp(-30 * p * math.expm1(g) ** 2 / (1 + math.exp(g)))
    below = math.exp(-30 * p * math.expm1(-g) ** 2 / 2)
    missed = (1 - p) ** 30
    terms = 4 if order == math.inf and not union else 2 * m
    expected = 2 * m * missed + terms * (above + below) / (1 - missed)
    if m == 1 and union:
        expected = 0  # it holds every sample
    assert planner.histogram_cells(**plan) == m
    assert planner.failure_bound(30, **plan, union=union) == pytest.approx(expected)


def test_two_outcomes_are_the_least_and_no_precision_or_probability_is_too_extreme():
    coin = {"gamma": 1.0, "outcomes": 2, "smallest_probability": 0.5}
    above = math.exp(-4 * math.expm1(0.5) ** 2 / (1 + math.exp(0.5)))
    deviation = (above + math.exp(-4 * math.expm1(-0.5) ** 2 / 2)) / (1 - 0.5**8)
    assert planner.failure_bound(8, **coin) == pytest.approx(4 * 0.5**8 + 4 * deviation)
    with pytest.raises(ArgumentError, match="outcomes must be at least 2"):
        planner.failure_bound(8, **(coin | {"outcomes": 1}))
    # one draw is far from any share of it, and e^750 times as many never come
    rare = coin | {"gamma": 1500.0, "smallest_probability": 1e-300}
    assert planner.failure_bound(1, **rare) == pytest.approx(4 / 1e-300)
    assert planner.failure_bound(1, **(rare | {"gamma": 3000.0})) == pytest.approx(4 / 1e-300)


@pytest.mark.parametrize("width", [1.0, 2.0])
def test_the_draws_of_the_safety_check_are_the_fewest_with_its_probability(width):
    slack = planner.safety_slack(lipschitz=3.0, cells=8, width=width)
    assert slack == 3 * (width / 8) ** 2 / 2
    assert width > 1 or planner.safety_slack(lipschitz=3.0, cells=8) == slack
    n = planner.safety_sample_size(slack=slack, cells=8, probability=0.7)
    holds = [1 - 64 * math.exp(-draws * slack**2 / 3) >= 0.7 for draws in (n - 1, n)]
    assert holds == [False, True]
    assert planner.safety_sample_size(slack=100.0, cells=8, probability=0.7) == 1


def test_a_grid_of_inputs_by_hand():
    """Of C = 1 on [0, 1]: densities are between 1/2 and 3/2."""
    grid = {"gamma": 0.5, "lipschitz": 1.0, "lipschitz_input": 2.0}
    assert planner.input_buckets(**grid) == 3 * 2 / (0.5 * 0.5)
    assert planner.input_buckets(**grid, order=2.0) == 24 * 3 * (1.5 / 0.5) ** 3
    assert planner.input_buckets(**grid, order=3.0) == 24 * 5 * (1.5 / 0.5) ** 5 / 2


def test_a_guarantee_needs_a_density_above_0_everywhere():
    """A density of slope C on an interval of width W is at least 1/W - C W/2."""
    assert planner.histogram_cells(gamma=1.0, lipschitz=0.499, width=2.0) == 6 * 499 * 2
    for lipschitz in (0.5, 0.7):
        with pytest.raises(NoGuaranteeError, match=r"must be below 2/W\^2 = 0.5"):
            planner.histogram_cells(gamma=1.0, lipschitz=lipschitz, width=2.0)
    assert planner.failure_bound(2 * 10**40, gamma=1.0, lipschitz=1.0) == 0
    with pytest.raises(ArgumentError, match="n must be at most"):
        planner.failure_bound(2 * 10**40 + 1, gamma=1.0, lipschitz=1.0)


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
    for power in (0, 28):  # 1/3 - .2 * 3/2 is a 30th
        gamma = float(f"5e-{power + 1}")
        cells = planner.histogram_cells(gamma=gamma, lipschitz=0.2, width=3.0)
        assert cells == 216 * 10**power
    assert planner.histogram_cells(gamma=1.2e-39, lipschitz=1.0) == 10**40
    with pytest.raises(ArgumentError, match=r"gamma asks for more than 1e\+40 cells"):
        planner.histogram_cells(gamma=1.1999e-39, lipschitz=1.0)


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

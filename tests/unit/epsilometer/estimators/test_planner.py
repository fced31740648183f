"""The planner of gorla2022, against the printed tables, by hand, and by simulation."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilometer.errors import ArgumentError, NoGuaranteeError
from epsilometer.estimators.planner import (
    failure_bound,
    histogram_cells,
    input_buckets,
    safety_sample_size,
    safety_slack,
    sample_size,
)
from tests.contract.examples import histogram_estimate

# --- the paper's tables ---------------------------------------------------------------------------

TABLE_3 = [(2, 1, 9588, 4, 6), (2, 0.05, 7e7, 1, 112), (1, 0.05, 1.9e9, 2, 909)]
TABLE_5 = [(5, 1, 17794, 5, 3), (1.5, 1, 3.4e8, 2, 195), (1.5, 0.1, 4.3e11, 2, 1945)]


def printed(value: int, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")


@pytest.mark.parametrize(
    ("table", "order", "delta"), [(TABLE_3, math.inf, 0.8), (TABLE_5, 2.0, 0.9)]
)
def test_tables_3_and_5_to_the_printed_digits(table, order, delta):
    """Rows of B, gamma, n_TH as printed, its digits, and m."""
    for scale, gamma, n, digits, m in table:
        lipschitz = 1 / (scale**2 * -math.expm1(-1 / scale))
        goal = {"gamma": gamma, "lipschitz": lipschitz, "order": order}
        assert histogram_cells(**goal) == m
        ours = sample_size(**goal, delta=delta, union=False)
        assert n in (printed(ours, digits), printed(ours + 1, digits))


# --- the chance of a failure ----------------------------------------------------------------------


def chance_of_a_miss(n, p, g, cells, terms):
    """Return (7) to 60 digits: a cell of this p is empty, or a count is off by a factor e^g."""
    with localcontext(prec=60):
        p, up, down = Decimal(p), Decimal(g).exp(), Decimal(-g).exp()
        above = (-n * p * (up - 1) ** 2 / (1 + up)).exp()
        below = (-n * p * (down - 1) ** 2 / 2).exp()
        missed = (1 - p) ** n
        return float(2 * cells * missed + terms * (above + below) / (1 - missed))


@pytest.mark.parametrize("order", [1.5, 7.0, math.inf])
@pytest.mark.parametrize("union", [True, False])
def test_counts_of_finite_outputs_may_be_off_by_as_much_as_the_level(order, union):
    """With N too large and M too small by a factor of e^g each, the level is off by gamma."""
    per_g = 2 if math.isinf(order) else (2 * order - 1) / (order - 1)
    terms = 4 if math.isinf(order) and not union else 20
    expected = chance_of_a_miss(80, 0.1, 0.3 / per_g, 10, terms)
    plan = {"gamma": 0.3, "outcomes": 10, "smallest_probability": 0.1, "order": order}
    assert failure_bound(80, **plan, union=union) == pytest.approx(expected)


@pytest.mark.parametrize("union", [True, False])
@pytest.mark.parametrize("gamma", [0.31, 40.0])
def test_smooth_outputs_have_the_cells_of_6_and_a_precision_of_a_twelfth(gamma, union):
    """Of C = .1 on [0, 2]: densities are between .4 and .6."""
    m = math.ceil(6 * 0.1 * 2 / (0.4 * gamma))
    expected = chance_of_a_miss(30, 2 / m * 0.4, gamma / 12, m, 2 * m if union else 4)
    if m == 1 and union:
        expected = 0  # it holds every sample
    plan = {"gamma": gamma, "lipschitz": 0.1, "width": 2.0}
    assert histogram_cells(**plan) == m
    assert failure_bound(30, **plan, union=union) == pytest.approx(expected)


@pytest.mark.parametrize("gamma", [0.31, 40.0])
@pytest.mark.parametrize("order", [2.0, 7.0])
def test_smooth_outputs_at_a_finite_order_have_the_cells_of_15_and_the_precision_of_14(
    gamma, order
):
    """The second gamma reaches ln 2."""
    a = 2 * order - 1
    ratio = 2 * 1.5**a  # of the densities' bounds
    m = math.ceil(0.1 * 2 * ratio * a / (0.4 * (order - 1) * gamma))
    g = min(gamma * (order - 1) / (2 * ratio), math.log(2)) / a
    plan = {"gamma": gamma, "lipschitz": 0.1, "width": 2.0, "order": order}
    assert histogram_cells(**plan) == m
    expected = chance_of_a_miss(30, 2 / m * 0.4, g, m, 2 * m) if m > 1 else 0
    assert failure_bound(30, **plan) == pytest.approx(expected)


def test_no_precision_or_probability_is_too_extreme():
    """One draw is far from any share of it, and e^750 times as many never come."""
    rare = {"outcomes": 2, "smallest_probability": 1e-300}
    assert failure_bound(1, gamma=1500.0, **rare) == pytest.approx(4 / 1e-300)
    assert failure_bound(1, gamma=3000.0, **rare) == pytest.approx(4 / 1e-300)


# --- the numbers of draws -------------------------------------------------------------------------


@given(
    gamma=st.floats(0.005, 3),
    delta=st.floats(0.01, 0.999),
    lipschitz=st.floats(0.01, 1.5),
    order=st.sampled_from([1.1, 2.0, 5.0, math.inf]),
    union=st.booleans(),
)
def test_n_is_the_smallest_that_holds(gamma, delta, lipschitz, order, union):
    arguments = {"gamma": gamma, "lipschitz": lipschitz, "order": order, "union": union}
    n = sample_size(**arguments, delta=delta)
    assert failure_bound(n, **arguments) <= 1 - delta
    assert n == 1 or failure_bound(n - 1, **arguments) > 1 - delta


def test_the_chance_is_stable_at_1e13_draws():
    plan = {"gamma": 0.0008, "lipschitz": 1.0, "union": False}
    n = sample_size(**plan, delta=0.9)
    expected = chance_of_a_miss(n, 0.5 / 7500 / 2, 0.0008 / 12, 15_000, 4)
    assert failure_bound(n, **plan) == pytest.approx(expected, rel=1e-9)


def test_the_default_keeps_its_promise_however_many_the_outcomes():
    """All answers equally likely: the largest of many ratios must lie within gamma of 1.

    The published formula counts on one cell fixed beforehand, and breaks the same promise.
    """
    outcomes, shares = 30_000, []
    p, rng = np.full(outcomes, 1 / outcomes), np.random.default_rng(outcomes)
    plan = {"gamma": 0.5, "outcomes": outcomes, "smallest_probability": 1 / outcomes}
    for union in (True, False):
        n = sample_size(**plan, delta=0.8, union=union)
        within = 0
        for _ in range(30):
            level = histogram_estimate(*rng.multinomial(n, p, 2)).forward
            within += abs(level) <= 0.5
        shares.append(within / 30)
    assert shares[0] >= 0.8
    assert shares[1] < 0.6


@pytest.mark.parametrize("width", [1.0, 2.0])
def test_the_draws_of_the_safety_check_are_the_fewest_with_its_probability(width):
    slack = safety_slack(lipschitz=3.0, cells=8, width=width)
    assert slack == 3 * (width / 8) ** 2 / 2
    assert safety_slack(lipschitz=3.0, cells=8) == 3 / 8**2 / 2
    n = safety_sample_size(slack=slack, cells=8, probability=0.7)
    assert 1 - 64 * math.exp(-n * slack**2 / 3) >= 0.7
    assert 1 - 64 * math.exp(-(n - 1) * slack**2 / 3) < 0.7
    assert safety_sample_size(slack=100.0, cells=8, probability=0.7) == 1


# --- cells, and grids of inputs -------------------------------------------------------------------


def test_a_grid_of_inputs_by_hand():
    """Of C = 1 on [0, 1]: densities are between 1/2 and 3/2."""
    grid = {"gamma": 0.5, "lipschitz": 1.0, "lipschitz_input": 2.0}
    assert input_buckets(**grid) == 3 * 2 / (0.5 * 0.5)
    assert input_buckets(**grid, order=2.0) == 24 * 3 * (1.5 / 0.5) ** 3
    assert input_buckets(**grid, order=3.0) == 24 * 5 * (1.5 / 0.5) ** 5 / 2


def test_a_guarantee_needs_a_density_above_0_everywhere():
    """A density of slope C on an interval of width W is at least 1/W - C W/2."""
    assert histogram_cells(gamma=1.0, lipschitz=0.499, width=2.0) == 6 * 499 * 2
    with pytest.raises(NoGuaranteeError, match=r"must be below 2/W\^2 = 0.5"):
        histogram_cells(gamma=1.0, lipschitz=0.5, width=2.0)


@pytest.mark.parametrize(
    ("gamma", "lipschitz", "width", "cells"),
    [
        (0.3, 1.0, 1.0, 40),
        (0.05, 1.2, 1.0, 360),
        (5e-1, 0.2, 3.0, 216),  # 1/3 - .2 * 3/2 is a 30th
        (5e-29, 0.2, 3.0, 216 * 10**28),
        (1.2e-39, 1.0, 1.0, 10**40),
    ],
)
def test_ceilings_are_those_of_the_numbers_as_written(gamma, lipschitz, width, cells):
    """Some of these quotients are above the integer when divided as binary fractions."""
    assert histogram_cells(gamma=gamma, lipschitz=lipschitz, width=width) == cells


@pytest.mark.parametrize("order", [1.01, 100.0, math.inf])
@pytest.mark.parametrize("lipschitz", [1e-16, 1e-300])
def test_densities_as_good_as_flat_take_one_cell(lipschitz, order):
    plan = {"gamma": 0.5, "lipschitz": lipschitz, "order": order}
    assert histogram_cells(**plan) == 1
    assert input_buckets(**plan, lipschitz_input=lipschitz) == 1
    assert failure_bound(1, **plan) == 0  # every sample lies in the one cell
    assert sample_size(**plan, delta=0.999) == 1
    published = sample_size(**plan, delta=0.8, union=False)
    near = sample_size(**(plan | {"lipschitz": 1e-9}), delta=0.8, union=False)
    assert published == pytest.approx(near, abs=1)  # no jump where 1 - C rounds to 1


# --- what is refused ------------------------------------------------------------------------------


def test_plans_beyond_1e40_are_refused():
    plan = {"gamma": 1.0, "lipschitz": 1.0}
    assert failure_bound(2 * 10**40, **plan) == 0
    with pytest.raises(ArgumentError, match="n must be at most"):
        failure_bound(2 * 10**40 + 1, **plan)
    with pytest.raises(ArgumentError, match=r"gamma asks for more than 1e\+40 cells"):
        histogram_cells(gamma=1.1999e-39, lipschitz=1.0)
    with pytest.raises(ArgumentError, match=r"gamma asks for more than 1e\+40 samples"):
        sample_size(gamma=1e-20, delta=0.8, lipschitz=1.0)
    with pytest.raises(ArgumentError, match=r"slack asks for more than 1e\+40 samples"):
        safety_sample_size(slack=1e-20, cells=2, probability=0.5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"gamma": 0}, "gamma must be positive, got 0"),
        ({"gamma": "1"}, "gamma must be a finite number"),
        ({"delta": 1.0}, "delta must lie strictly between 0 and 1"),
        ({"lipschitz": math.nan}, "lipschitz must be a finite number"),
        ({"order": 1}, "order must be above 1"),
        ({"outcomes": 1}, "outcomes must be at least 2"),
    ],
)
def test_bad_arguments_are_named(wrong, message):
    with pytest.raises(ArgumentError, match=message):
        sample_size(**({"gamma": 0.5, "delta": 0.8, "lipschitz": 1.0} | wrong))

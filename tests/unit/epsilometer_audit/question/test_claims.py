"""Claims of divergences, of curves of delta and of errors: their parts, and what is no claim."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError, ConfigError
from epsilometer.exact.real_line import laplace_renyi
from epsilometer_audit.question import claims as registry
from epsilometer_audit.question.claims import checked_detect
from tests.contract.level_cases import normal_pair


def test_a_class_is_registered_by_the_name_of_its_first_option():
    with pytest.raises(ConfigError, match="does not have options, the first of which is 'gdp'"):
        registry._checked("gdp", "epsilometer.claims:Pure")


def test_a_level_to_be_detected_is_above_the_claim():
    claimed = ea.pure(0.5)
    assert checked_detect(0.6, claimed) == 0.6
    with pytest.raises(ArgumentError, match=r"must be above the claim, 0\.5"):
        checked_detect(0.5, claimed)
    with pytest.raises(ArgumentError, match="needs a claim of one order or point"):
        checked_detect(0.6, ea.profile({0.0: 0.4, 1.0: 0.1}))


@pytest.mark.parametrize("number", [1e-7, 0.1234567890123, 1 / 3])
def test_numbers_as_keys_of_json_keep_all_digits(number):
    (key,) = ea.profile({number: 0.01}).to_plain()["deltas"]
    assert float(key) == number
    (key, _) = ea.renyi({1 + number: 0.3, 3: 0.4}).to_plain()["orders"]
    assert float(key) == 1 + number


# --- divergences ----------------------------------------------------------------------------------


def test_each_order_that_is_stated_is_a_part():
    bounds = {1.5: 0.2, 2.0: 0.5, 8.0: 1.0}
    parts = ea.renyi(bounds).parts
    assert {part.orders: part.level for part in parts} == {(a,): bounds[a] for a in bounds}
    assert ea.renyi([(2.0, 0.5)]).parts == ea.renyi({2.0: 0.5}).parts


@pytest.mark.parametrize("order", [1.5, 4.0])
def test_noise_is_gaussian_where_draws_reach_the_outputs_that_a_divergence_rests_on(order):
    """By its integrand, e^(-(z - order d)^2 / 2) but for a factor: at order d = 4.5 or nearer."""
    for place in (4.4, 4.6):
        rho = place**2 / order / 2
        (part,) = ea.renyi({order: rho}).parts
        noise = part.noise(np.array([rho]))
        distance = float(noise.distances[0])
        if place < 4.5:
            assert noise.gaussian
            assert distance == pytest.approx(place / order)
        else:
            assert not noise.gaussian
            assert laplace_renyi(order, distance) == pytest.approx(rho, rel=1e-3)


@pytest.mark.parametrize("order", [1.25, 2.0, 17.0])
@pytest.mark.parametrize("mean", [0.5, 1.0, 4.0])
def test_what_a_divergence_allows_is_the_inequality_of_young(order, mean):
    """By minimising over m: kappa q + b with m = q is s q^(1 - 1/a), and more at any other m."""
    for part, rho in (
        (ea.renyi({order: 0.7}).parts[0], 0.7),
        (ea.zcdp(0.3).parts[0], 0.3 * order),
    ):
        s = math.exp(rho * (order - 1) / order)
        kappa, b = part.null(np.array([part.level]), mean, order)
        assert kappa[0] * mean + b[0] == pytest.approx(s * mean ** (1 - 1 / order))
        assert kappa[0] == pytest.approx(s * (1 - 1 / order) * mean ** (-1 / order))


def test_the_largest_rho_has_finite_exponentials_at_every_order():
    (part,) = ea.zcdp(18.0).parts
    for order in part.orders:
        assert (order - 1) * part.divergence(18.0, order) / order <= 300
    assert np.isfinite(part.null(part.grid, 1.0, max(part.orders))).all()
    assert max(part.grid) * (max(part.orders) - 1) <= 300
    assert part.grid[1] <= 1e-4
    assert (part.grid[2:] / part.grid[1:-1]).max() < 1.0025
    with pytest.raises(ArgumentError, match="rho"):
        ea.zcdp(18.1)


def test_the_orders_of_zcdp_lie_on_both_sides_of_2_and_none_between_is_far_from_them():
    orders = np.sort(ea.zcdp(0.5).parts[0].orders)
    assert 1 < orders[0] < 1.5
    assert orders[-1] > 10
    assert (np.diff(np.log2(orders - 1)) <= 1).all()


# --- a curve of delta -----------------------------------------------------------------------------


def test_each_point_of_a_profile_with_a_delta_below_1_is_a_part():
    deltas = {k / 10: 0.5 - k / 100 for k in range(20)}
    assert {part.level: part.delta for part in ea.profile(deltas).parts} == deltas
    read = ea.profile(lambda epsilon: {0.0: 1.0, 700.0: 0.0}.get(epsilon, 0.05)).parts
    assert all(part.delta < 1 for part in read)


def test_a_function_of_epsilon_is_tested_where_delta_is_small_and_at_0():
    pair = normal_pair(1.0)
    parts = ea.profile(pair.delta).parts
    assert parts[0].level == 0
    deltas = [part.delta for part in parts]
    assert deltas == pytest.approx([pair.delta(part.level) for part in parts])
    wanted = np.array([0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-5])
    assert deltas[1:] == pytest.approx(wanted, rel=1e-4)
    assert (deltas[1:] <= wanted).all()
    never = ea.profile(lambda epsilon: 0.02).parts  # it is not below .02 anywhere
    assert [(part.level, part.delta) for part in never] == [(0.0, 0.02)]
    for most, least in ((0.1, 0.01), (0.1, 0.03), (0.05, 0.001)):
        at_once = ea.profile(lambda epsilon, m=most, n=least: m if epsilon < 1 else n).parts
        points = [(part.level, part.delta) for part in at_once]
        assert points == [(0, most), (pytest.approx(1), least)]


# --- a trade-off curve and its lines --------------------------------------------------------------

Z = np.linspace(0, 1, 4001)
TABLES = [{0.1: 0.8}, {0.1: 0.8, 0.3: 0.5}, {0.02: 0.7, 0.2: 0.4, 0.6: 0.1}, {0.3: 0.7}, {0.8: 0.1}]
TABLES += [{0.25: 0.3}, {0.55: 0.35}]  # the slope of one line is rounded to less than 1
TABLES += [{0.21: 0.68, 0.65: 0.23}, {0.14: 0.43, 0.38: 0.17}]  # mirrored points are nearer a bit


def least_errors(points):
    """Return the least error of type II at each of `Z` that follows from points by convexity."""
    least = np.zeros(Z.size)
    for a, b in points:
        before = b * (1 - Z) / (1 - a)
        after = 1 - Z * (1 - b) / a
        least = np.maximum(least, np.where(a > Z, before, after))
    return least


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_lines_of_a_table_are_the_tangents_of_what_follows_from_it(table):
    """In both directions: a tangent of slope s has the largest power - s alpha for its delta."""
    power = 1 - least_errors([*table.items(), *((b, a) for a, b in table.items())])
    lines = [(math.exp(part.level), part.delta) for part in ea.tradeoff(table).parts]
    for slope, delta in lines:
        assert delta == pytest.approx((power - slope * Z).max(), abs=2e-3)
    assert len({round(slope, 6) for slope, _ in lines}) == len(lines)
    mirrored = [(1 / slope, 1 - (1 - delta) / slope) for slope, delta in lines]
    least = np.min([np.ones(Z.size), *(s * Z + d for s, d in lines + mirrored)], axis=0)
    for slope in (1.0, 2.0, 9.0):  # no tangent is left out
        assert (least - slope * Z).max() == pytest.approx((power - slope * Z).max(), abs=2e-3)


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_the_alpha_of_a_line_is_that_of_the_nearest_point_below_it(table):
    """Of its mirrored point, only where that is nearer by .01."""
    whole = ea.tradeoff(table)
    for part in whole.parts:
        distances = {}
        for alpha, beta in table.items():
            above = math.exp(part.level) * alpha + part.delta - (1 - beta)
            mirrored = math.exp(part.level) * beta + part.delta - (1 - alpha) + 0.01
            distances[alpha] = min(above, mirrored)
        assert min(distances.values()) > -1e-9
        assert whole.place_of(part)["alpha"] == min(distances, key=distances.__getitem__)


def test_a_function_is_read_up_to_rare_errors():
    asked = []

    def errors(alpha):
        asked.append(alpha)
        return max(1 - math.exp(8) * alpha, math.exp(-8) * (1 - alpha))

    parts = ea.tradeoff(errors).parts
    assert parts[0].level == pytest.approx(8, abs=0.01)
    assert parts[0].delta < 1e-4
    assert len(asked) == 300
    assert 1e-8 < min(asked) < 2e-7
    assert 1e-8 < 1 - max(asked) < 2e-7


def test_a_function_is_kept_in_few_lines():
    smooth, pair = ea.tradeoff(lambda alpha: norm.cdf(norm.isf(alpha) - 1).item()), normal_pair(1.0)
    assert len(smooth.parts) == 10
    deltas = np.array([part.delta for part in smooth.parts])
    attained = np.array([pair.delta(part.level) for part in smooth.parts])
    assert ((attained - 1e-9 <= deltas) & (deltas <= attained + 0.008)).all()
    assert min(deltas) < 0.01
    assert max(deltas) > 0.35
    assert np.diff(np.sort(np.sqrt(deltas))).max() < 0.2
    assert len({alpha for alpha, _ in smooth.errors}) <= 10


def test_all_lines_are_kept_up_to_ten():
    """Each of these points of a smooth curve has a line."""
    for number, all_are_kept in ((9, True), (10, True), (11, False)):
        alphas = np.linspace(0.01, 0.3, number)
        betas = norm.cdf(norm.isf(alphas) - 1)
        parts = ea.tradeoff(zip(alphas.tolist(), betas.tolist(), strict=True)).parts
        assert (len(parts) == number) == all_are_kept
        assert len(parts) <= 10


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0, 6.0])
def test_few_lines_are_far_apart_neither_by_epsilon_nor_by_delta(mu):
    """Shares of the largest epsilon and roots of delta: 9 even steps of their sum, 2 at most.

    A step is longer by what the read points are apart.
    """
    parts = ea.tradeoff(lambda alpha: norm.cdf(norm.isf(alpha) - mu).item()).parts
    levels = np.array([part.level for part in parts])
    roots = np.sqrt([part.delta for part in parts])
    order = np.argsort(levels)
    steps = np.diff(levels[order]) / levels.max() - np.diff(roots[order])
    assert steps.max() < (1 + np.ptp(roots)) / 9 + 0.05


def test_up_to_twenty_points_are_shown_and_of_more_those_near_a_line():
    for number in (20, 21):
        alphas = np.linspace(0.01, 0.9, number)
        points = zip(alphas.tolist(), norm.cdf(norm.isf(alphas) - 1).tolist(), strict=True)
        whole = ea.tradeoff(points)
        shown = [alpha for alpha, _ in whole.errors]
        assert shown == (alphas.tolist() if number == 20 else sorted({*whole.alphas}))


def test_errors_at_the_ends_claim_nothing():
    assert ea.tradeoff({0.5: 0.5 + 9e-10}).parts[0].delta == 0  # as rounded
    assert ea.tradeoff({0.0: 1.0, 0.5: 0.5, 1.0: 0.0}).parts == ea.tradeoff({0.5: 0.5}).parts


TOGETHER = "errors of type I .* together at most 1"
POINTS = "must have 1 to 20 points"


@pytest.mark.parametrize(
    ("kind", "stated", "message"),
    [
        (ea.tradeoff, {0.5: 0.5 + 1.5e-9}, TOGETHER),
        (ea.tradeoff, {-0.1: 0.5}, TOGETHER),
        (ea.tradeoff, {0.1: -0.5}, TOGETHER),
        (ea.tradeoff, {}, TOGETHER),
        (ea.tradeoff, {1.0: 0}, "must have a point with both errors above 0"),
        (ea.tradeoff, {0.2: 0}, "must have a point with both errors above 0"),
        (ea.tradeoff, 0.5, "function of alpha, got float$"),
        (ea.profile, {}, POINTS),
        (ea.profile, {k / 10: 0.5 - k / 100 for k in range(21)}, POINTS),
        (ea.profile, {1: 1.0}, "delta must lie in"),
        (ea.profile, {-1: 0.1}, "epsilon must lie in"),
        (ea.profile, SimpleNamespace(delta=float), "mapping.*function.*its method delta"),
        (ea.renyi, {}, "at least one order"),
        (ea.renyi, [(2, 0.5), (2, 1)], "each order once"),
    ],
)
def test_what_is_no_claim_is_refused(kind, stated, message):
    with pytest.raises(ArgumentError, match=message):
        kind(stated)

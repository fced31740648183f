"""Every exact law against quadrature, enumeration and brute force."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from epsilometer.errors import ArgumentError
from epsilometer.exact import LAWS
from epsilometer.exact.base import divergence
from epsilometer.mechanisms import MECHANISMS
from tests.contract.examples import inputs, law, mechanism

every_law = pytest.mark.parametrize("name", sorted(LAWS))
continuous = pytest.mark.parametrize(
    "name", [name for name in sorted(LAWS) if mechanism(name).outputs == "scalar"]
)
ORDERS = [1.01, 1.5, 2.0, 3.0, 10.0]


def pairs(name):
    return [(x, y) for x in inputs(name) for y in inputs(name) if x != y]


def test_laws_are_keyed_by_mechanisms():
    assert set(LAWS) <= set(MECHANISMS)


@continuous
def test_density_integrates_to_the_distribution_function(name):
    exact = law(name)
    lower, upper = exact.support
    for x in inputs(name):
        for z in np.linspace(lower, upper, 7):
            points = [x] if lower < x < z else None
            area, _ = quad(lambda u: float(exact.pdf(u, x)), lower, z, points=points)  # noqa: B023
            assert exact.cdf(z, x) == pytest.approx(area, abs=1e-9)
        assert exact.cdf(upper, x) == pytest.approx(1, abs=1e-12)
        assert exact.pdf(upper + 0.1, x) == 0
        assert exact.pdf(lower - 0.1, x) == 0


@continuous
def test_levels_against_quadrature_and_a_grid(name):
    exact = law(name)
    lower, upper = exact.support
    z = np.linspace(lower, upper, 100_001)
    for x, y in pairs(name):
        losses = np.log(exact.pdf(z, x) / exact.pdf(z, y))
        assert exact.privacy_loss(x, y) == pytest.approx(losses.max(), abs=1e-9)
        cuts = sorted({min(max(v, lower), upper) for v in (x, y)} - {lower, upper}) or None
        for order in ORDERS:

            def integrand(u, order=order, x=x, y=y):
                return float(exact.pdf(u, x) ** order * exact.pdf(u, y) ** (1 - order))

            area, _ = quad(integrand, lower, upper, points=cuts, epsabs=1e-13, epsrel=1e-12)
            assert exact.renyi(order, x, y) == pytest.approx(math.log(area) / (order - 1), abs=1e-8)


@continuous
def test_lipschitz_constants_are_the_steepest_slopes(name):
    exact = law(name)
    lower, upper = exact.support
    grid = np.linspace(lower, upper, 2001)
    step = grid[1] - grid[0]
    coarse = np.linspace(lower, upper, 41)
    slopes = max(np.abs(np.diff(exact.pdf(grid, x))).max() / step for x in coarse)
    assert slopes <= exact.lipschitz_output * (1 + 1e-9)
    assert slopes == pytest.approx(exact.lipschitz_output, rel=2e-3)
    density = np.array([exact.pdf(coarse, x) for x in grid])
    slopes = np.abs(np.diff(density, axis=0)).max() / step
    assert slopes <= exact.lipschitz_input * (1 + 1e-9)
    assert slopes == pytest.approx(exact.lipschitz_input, rel=5e-3)


@every_law
def test_identical_inputs_have_level_0(name):
    for x in inputs(name):
        for order in [*ORDERS, math.inf]:
            assert divergence(law(name), order, x, x) == pytest.approx(0, abs=1e-9)


@every_law
def test_levels_rise_with_the_order_towards_the_pure_one(name):
    for x, y in pairs(name):
        levels = [divergence(law(name), order, x, y) for order in [*ORDERS, 1e6, math.inf]]
        assert levels == sorted(levels)
        assert levels[-2] == pytest.approx(levels[-1], rel=1e-2)


@every_law
def test_a_bad_order_is_refused(name):
    for order in (1, 0.5, math.nan, "2"):
        with pytest.raises(ArgumentError, match="order must be above 1"):
            law(name).renyi(order, *inputs(name)[:2])


@pytest.mark.parametrize(
    ("name", "parameter", "d", "c", "epsilon"),
    [
        ("truncated_laplace", 0.5, 9.25, 4.63, 2.00),
        ("truncated_laplace", 0.8, 4.38, 2.19, 1.25),
        ("truncated_laplace", 1, 3.16, 1.58, 1.00),
        ("truncated_laplace", 2, 1.27, 0.64, 0.50),
        ("truncated_laplace", 5, 0.44, 0.22, 0.20),
        ("truncated_gaussian", 0.3, 7.06, 5.38, 5.56),
        ("truncated_gaussian", 0.5, 2.42, 2.03, 2.00),
        ("truncated_gaussian", 0.6, 1.62, 1.49, 1.39),
        ("truncated_gaussian", 1, 0.54, 0.71, 0.50),
        ("truncated_gaussian", 2, 0.13, 0.23, 0.13),
    ],
)
def test_table_1(name, parameter, d, c, epsilon):
    calibrated = 1 / parameter if name == "truncated_laplace" else 1 / (2 * parameter**2)
    exact = LAWS.load(name)(MECHANISMS.load(name)(calibrated))
    assert exact.lipschitz_input == pytest.approx(d, abs=0.0051)
    assert exact.lipschitz_output == pytest.approx(c, abs=0.0051)
    assert exact.privacy_loss(0.0, 1.0) == pytest.approx(epsilon, abs=0.0051)


@pytest.mark.parametrize("name", ["truncated_laplace", "truncated_gaussian"])
def test_a_wider_interval_only_rescales(name):
    narrow = LAWS.load(name)(MECHANISMS.load(name)(1.3))
    wide = LAWS.load(name)(MECHANISMS.load(name)(1.3, lower=-2.0, upper=6.0))
    assert wide.privacy_loss(-2.0, 6.0) == pytest.approx(narrow.privacy_loss(0.0, 1.0))
    assert wide.renyi(2.0, -2.0, 2.0) == pytest.approx(narrow.renyi(2.0, 0.0, 0.5))
    assert wide.lipschitz_output == pytest.approx(narrow.lipschitz_output / 64)
    assert wide.lipschitz_input == pytest.approx(narrow.lipschitz_input / 64)

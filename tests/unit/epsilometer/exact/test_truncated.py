"""Noise on an interval and on a half line: closed forms, limits, other units, and slopes."""

from decimal import Decimal

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import logsumexp

from epsilometer.exact import EXACT, quadrature
from epsilometer.exact.base import spectrum
from epsilometer.mechanisms import MECHANISMS
from epsilometer.testing import check_exact
from tests.unit.epsilometer.exact.laws import ORDERS, close, law

on_an_interval = pytest.mark.parametrize("name", ["truncated_gaussian", "truncated_laplace"])


@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 1.0, 20.0, 50.0])
def test_truncated_laplace_between_the_ends(epsilon):
    exact, e = law("truncated_laplace", epsilon), 1 / Decimal(1 / epsilon)
    mass = 1 - (-e).exp()
    for x, y in [(0.0, 1.0), (1.0, 0.0)]:
        assert close(exact.privacy_loss(x, y), e)
        for order in ORDERS:
            a = Decimal(order)
            total = ((a - 1) * e).exp() * (1 - (-(2 * a - 1) * e).exp()) / (2 * a - 1) / mass
            assert close(exact.renyi(order, x, y), total.ln() / (a - 1), 1e-9)
        for share in (0.0, 0.4, 0.99):
            claim = Decimal(share * epsilon)
            z = (1 - claim / e) / 2
            delta = ((1 - (-e * z).exp()) - (claim - e).exp() * ((e * z).exp() - 1)) / mass
            assert close(spectrum(exact, [float(claim)], x, y)[0], delta, 1e-9)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-6])
def test_truncated_gaussian_as_good_as_uniform(epsilon):
    """The loss is linear from epsilon to -epsilon, of an output as good as uniform."""
    exact = law("truncated_gaussian", epsilon)
    for x, y in [(0.0, 1.0), (1.0, 0.0), (0.9, 0.5)]:
        level = epsilon * abs(x - y)
        assert exact.privacy_loss(x, y) == pytest.approx(level, rel=10 * epsilon + 1e-10, abs=0)
        for order in ORDERS:
            expected = order * level**2 / 6
            assert exact.renyi(order, x, y) == pytest.approx(expected, rel=200 * epsilon, abs=0)
        for share in (0.0, 0.5, 0.99):
            delta = spectrum(exact, [share * level], x, y)[0]
            expected = level * (1 - share) ** 2 / 4
            assert delta == pytest.approx(expected, rel=1000 * epsilon + 1e-9, abs=0)
    slopes = exact.lipschitz_input, exact.lipschitz_output  # of 1 + 2 epsilon (x - 1/2)(z - 1/2)
    assert slopes == pytest.approx((epsilon, 2 * epsilon), rel=10 * epsilon, abs=0)


@pytest.mark.parametrize("order", [1.5, 20.0, 1e4, 1e6])
@pytest.mark.parametrize("epsilon", [0.5, 8.0, 100.0])
@on_an_interval
def test_divergences_of_every_order_are_integrals(name, epsilon, order):
    """In pieces that grow from the ends and from both inputs: there high orders have all mass."""
    exact = law(name, epsilon)
    points, rule = np.polynomial.legendre.leggauss(20)
    for x, y in [(0.0, 1.0), (1.0, 0.0), (0.3, 0.7), (0.45, 0.4)]:
        steps = np.array([0.0, *2.0 ** -np.arange(40)])
        ends = np.unique(np.clip(np.add.outer([0, 1, x, y], [*steps, *-steps]), 0, 1))
        half = np.diff(ends)[:, None] / 2
        z, weights = ends[:-1, None] + half * (1 + points), half * rule
        logs = order * exact.log_pdf(z, x) - (order - 1) * exact.log_pdf(z, y)
        expected = logsumexp(logs, b=weights) / (order - 1)
        assert exact.renyi(order, x, y) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 8.0])
@on_an_interval
def test_spectra_are_integrals_up_to_where_the_loss_falls_below_the_claim(name, epsilon):
    """In any unit."""
    exact, tiny = law(name, epsilon), law(name, epsilon, 0.0, 1e-20)
    points, rule = np.polynomial.legendre.leggauss(20)
    for x, y in [(0.0, 1.0), (1.0, 0.0), (0.3, 0.7), (0.45, 0.4)]:
        grid, _ = quadrature.nodes(*exact.pieces(x, y))
        inside = grid[(grid > 0) & (grid < 1)]
        last = [excess(exact, ends.mean(), x, y) for ends in (inside[:2], inside[-2:])]
        shares = np.array([0.0, 0.3, 0.9, 0.999]) * exact.privacy_loss(x, y)
        for claim in [*shares, *[max(last)] * ((x, y) == (1.0, 0.0))]:
            end = brentq(lambda z, x=x, y=y, c=claim: excess(exact, z, x, y) - c, 0, 1, xtol=1e-15)
            cuts = np.unique([end, *np.linspace(0, 1, 41), x, y])
            half = np.diff(cuts)[:, None] / 2
            z, weights = cuts[:-1, None] + half * (1 + points), half * rule
            gains = exact.pdf(z, x) - np.exp(claim) * exact.pdf(z, y)
            expected = (weights * np.maximum(gains, 0)).sum()
            assert spectrum(exact, [claim], x, y)[0] == pytest.approx(expected, rel=1e-9, abs=1e-15)
            in_unit = spectrum(tiny, [claim], 1e-20 * x, 1e-20 * y)[0]
            assert in_unit == pytest.approx(expected, rel=1e-7, abs=1e-12)


def excess(exact, z, x, y):
    """Return the loss of an output, which falls from x to y."""
    return float(exact.log_pdf(z, x) - exact.log_pdf(z, y))


@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 1.0, 20.0, 1000.0])
def test_exponential_half_line(epsilon):
    exact = law("exponential_half_line", epsilon)
    rate = Decimal(exact._rate)
    for x, y in [(1.0, 2.0), (2.0, 1.0), (1.2, 1.3)]:
        x_mass, y_mass = (2 - (-rate * Decimal(v)).exp() for v in (x, y))
        level = rate * abs(Decimal(x) - Decimal(y)) + (y_mass / x_mass).ln()
        assert close(exact.privacy_loss(x, y), level, 1e-9)
        end = float(rate * (-rate * Decimal(x)).exp() / x_mass)
        assert exact.pdf([-1e-9, 0.0], x) == pytest.approx([0.0, end])
    assert exact.privacy_loss(1.0, 2.0) == pytest.approx(epsilon)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 5.0])
@pytest.mark.parametrize(("lower", "upper"), [(0.0, 1.0), (2.0, 5.0)])
@on_an_interval
def test_lipschitz_constants_are_the_steepest_slopes(name, lower, upper, epsilon):
    exact = law(name, epsilon, lower, upper)
    fine, coarse = np.linspace(lower, upper, 2001), np.linspace(lower, upper, 41)
    step = fine[1] - fine[0]
    in_output = [np.abs(np.diff(exact.pdf(fine, x))).max() for x in coarse]
    in_input = np.abs(np.diff([exact.pdf(coarse, x) for x in fine], axis=0)).max()
    for steepest, found in (
        (max(in_output) / step, exact.lipschitz_output),
        (in_input / step, exact.lipschitz_input),
    ):
        assert steepest <= found * (1 + 1e-9)
        assert steepest == pytest.approx(found, rel=5e-3)


@pytest.mark.parametrize("epsilon", [0.3, 5.0])
@pytest.mark.parametrize(
    ("name", "ends", "inputs"),
    [
        ("truncated_gaussian", (2.0, 5.0), [2.0, 5.0, 4.1, 3.2]),
        ("truncated_laplace", (-5.0, -2.0), [-2.0, -5.0, -4.1, -3.2]),
        ("exponential_half_line", (), [1.0, 2.0, 1.4]),
    ],
)
def test_noise_on_any_interval_keeps_the_contract(name, ends, inputs, epsilon):
    mechanism = MECHANISMS.load(name)(epsilon, *ends)
    exact = EXACT.load(name)(mechanism)
    assert exact.privacy_loss(*inputs[:2]) == pytest.approx(epsilon)
    check_exact(exact, mechanism, inputs)


@pytest.mark.parametrize("epsilon", [0.3, 8.0])
@pytest.mark.parametrize(
    ("name", "x"),
    [
        ("truncated_gaussian", 0.3),
        ("truncated_gaussian", 0.9),
        ("truncated_laplace", 0.3),
        ("truncated_laplace", 0.7),
        ("exponential_half_line", 1.2),
    ],
)
def test_the_loss_of_close_inputs_is_the_score_times_their_distance(name, x, epsilon):
    """By differences of inputs that are farther apart; the difference of two logs has no digits."""
    exact, step, gap = law(name, epsilon), 1e-4, 2.0**-46
    z = np.linspace(0, 1 if name.startswith("truncated") else 3, 3001)
    scores = (exact.log_pdf(z, x + step) - exact.log_pdf(z, x - step)) / (2 * step)
    assert exact.privacy_loss(x, x - gap) / gap == pytest.approx(scores.max(), rel=3e-3)
    assert exact.privacy_loss(x, x + gap) / gap == pytest.approx(-scores.min(), rel=3e-3)

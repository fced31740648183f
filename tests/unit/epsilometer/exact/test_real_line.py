"""Laplace and Gaussian noise on numbers and vectors, by closed forms in many digits."""

import math
from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from epsilometer.exact import EXACT
from epsilometer.exact.base import spectrum
from epsilometer.exact.real_line import gaussian_deltas
from epsilometer.mechanisms import MECHANISMS
from tests.unit.epsilometer.exact.laws import EPSILONS, ORDERS, close, law


@pytest.mark.parametrize("epsilon", [*EPSILONS, 0.045])
@pytest.mark.parametrize(
    ("name", "size", "x", "y"),
    [
        ("laplace", {}, 0.0, 1.0),
        ("noisy_sum", {"people": 2}, [1, 0], [0, 0]),
        ("laplace_vector", {"dimension": 3}, [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
    ],
)
def test_laplace_noise(name, size, x, y, epsilon):
    exact = law(name, epsilon, **size)
    d = 1 / Decimal(1 / epsilon)
    for order in ORDERS:
        a = Decimal(order)
        total = (a * ((a - 1) * d).exp() + (a - 1) * (-a * d).exp()) / (2 * a - 1)
        assert close(exact.renyi(order, x, y), total.ln() / (a - 1), 1e-9)
    for share in (0.0, 0.3, 0.9):
        delta = 1 - ((Decimal(share * epsilon) - d) / 2).exp()
        assert close(spectrum(exact, [share * epsilon], x, y)[0], delta, 1e-9)
    assert spectrum(exact, [epsilon, 2 * epsilon, 1e4], x, y).tolist() == [0, 0, 0]


def arctan_of_inverse(n):
    return sum(Decimal((-1) ** k) / ((2 * k + 1) * Decimal(n) ** (2 * k + 1)) for k in range(310))


def upper(t, pi):
    """Return 1 - Phi(t) by the series of Phi, all terms of one sign."""
    term = total = t
    k = 1
    while abs(term) > Decimal("1e-390"):
        k += 2
        term *= t * t / k
        total += term
    return Decimal("0.5") - (-t * t / 2).exp() / (2 * pi).sqrt() * total


@pytest.mark.parametrize("distance", [1e-8, 0.2, 1.0, 6.0, 12.0])
def test_gaussian_noise(distance):
    """Delta from 1 down to 1e-250, at claims up to 100."""
    with localcontext(prec=420):
        pi = 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))  # Machin's formula
        d = Decimal(distance)
        for claim in (-3.0, -0.01, 0.0, 1e-9, 0.01, 1.0, 40.0, 100.0):
            factor = Decimal(claim).exp()
            t = Decimal(claim) / d - d / 2
            delta = max(1 - factor, Decimal(0))
            if -36 < t < 36 - d:  # else it is that, but for 1e-280
                delta = upper(t, pi) - factor * upper(t + d, pi)
            (found,) = gaussian_deltas(np.array([claim]), distance)
            assert close(found, delta, 1e-9)


def test_equal_gaussian_laws_differ_only_below_0():
    claims = np.array([-1.0, 0.0, 2.0])
    assert gaussian_deltas(claims, 0.0) == pytest.approx([1 - math.exp(-1), 0.0, 0.0])


def test_a_law_of_gaussian_noise_has_all_but_rare_outputs_in_its_window():
    exact = law("gaussian", 0.5)
    low, high = exact.window(3.0)
    for tail in (exact.cdf(low, 3.0), 1 - exact.cdf(high, 3.0)):
        assert 1e-16 < tail < 1e-13
    z, step = np.linspace(low, high, 2001, retstep=True)
    masses = np.cumsum(exact.pdf(z, 3.0)) * step
    assert masses == pytest.approx(exact.cdf(z + step / 2, 3.0), abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.2, 3.0])
@pytest.mark.parametrize("name", ["laplace", "noisy_histogram", "gaussian"])
def test_the_density_of_noise_is_that_of_its_scale(name, epsilon):
    mechanism = MECHANISMS.load(name)(epsilon)
    if name == "gaussian":
        noise = stats.norm(1.5, mechanism.sigma)
    else:
        noise = stats.laplace(1.5, mechanism.scale)
    exact, z = EXACT.load(name)(mechanism), noise.ppf([1e-6, 0.1, 0.4, 0.5, 0.8, 1 - 1e-6])
    assert exact.pdf(z, 1.5) == pytest.approx(noise.pdf(z), rel=1e-9)
    assert exact.cdf(z, 1.5) == pytest.approx(noise.cdf(z), rel=1e-9)


@pytest.mark.parametrize("steps", [1, 3, 10])
def test_the_mean_and_the_variance_of_gradient_descent_follow_its_steps(steps):
    exact = law("noisy_gradient_descent", 0.7, steps=steps, rate=0.3, people=2)
    mean = variance = 0.0
    for _ in range(steps):
        mean += 0.3 * (0.45 - mean)
        variance = 0.7**2 * variance + 2 * 0.3 / 0.7**2
    assert exact.mean([0.2, 0.7]) == pytest.approx(mean)
    assert exact.sigma == pytest.approx(math.sqrt(variance))


# --- losses of several entries --------------------------------------------------------------------


@pytest.mark.parametrize(("level", "other"), [(1.3, 0.9), (0.8, 0.8)])
@pytest.mark.parametrize("claim", [0.0, 0.35, 1.1, 2.0])
def test_the_spectrum_of_two_entries_is_that_of_one_averaged_over_the_other(level, other, claim):
    """The loss of an entry has atoms at both ends, and between them half the density of a tail."""

    def of_one(claim):
        if claim <= -level:
            return -math.expm1(claim)
        return -math.expm1(min(claim - level, 0.0) / 2)

    def density(loss):
        return math.exp((loss - other) / 2) / 4 * of_one(claim - loss)

    kinks = [kink for kink in (claim - level, claim + level) if abs(kink) < other]
    pieces = pairwise([-other, *kinks, other])
    between = sum(quad(density, a, b, epsabs=1e-13)[0] for a, b in pieces)
    at_ends = (of_one(claim - other) + math.exp(-other) * of_one(claim + other)) / 2
    found = spectrum(law("laplace_vector", 1.0, dimension=2), [claim], [0.0, 0.0], [level, -other])
    assert found[0] == pytest.approx(at_ends + between, abs=2e-9)

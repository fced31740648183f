"""Noisy sums: by chi-square divergences, the extreme sums, binomial moments and enumeration."""

import math
from decimal import Decimal
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from tests.unit.epsilometer.exact.laws import close, law

SMALL = [1e-8, 1e-4, 0.1, 1.0, 10.0]


def subsampled(epsilon, noise, included=0.5, people=2):
    return law("noisy_sum", epsilon, noise=noise, included=included, people=people)


@pytest.mark.parametrize("epsilon", SMALL)
def test_half_of_the_people_with_laplace_noise(epsilon):
    """At order 2 from the chi-square divergence of the noise, a quarter of which is left."""
    exact, e = subsampled(epsilon, "laplace"), 1 / Decimal(1 / epsilon)
    chi = (2 * e.exp() + (-2 * e).exp()) / 3 - 1
    assert close(exact.renyi(2.0, [1, 0], [0, 0]), (1 + chi / 4).ln(), 1e-9)
    level = ((1 + e.exp()) / 2).ln()
    assert close(exact.privacy_loss([1, 0], [0, 0]), level)
    assert close(exact.privacy_loss([0, 0], [1, 0]), -((1 + (-e).exp()) / 2).ln())
    tiny = subsampled(1e9 * epsilon, "laplace")  # noise as small as numbers
    assert close(tiny.privacy_loss([1e-9, 0], [0, 0]), level, 1e-3)


@pytest.mark.parametrize("epsilon", SMALL)
def test_half_of_the_people_with_gaussian_noise(epsilon):
    exact, e = subsampled(epsilon, "gaussian"), 1 / Decimal(1 / epsilon)
    chi = (e * e).exp() - 1
    assert close(exact.renyi(2.0, [1, 0], [0, 0]), (1 + chi / 4).ln(), 1e-9)


@pytest.mark.parametrize("epsilon", SMALL)
def test_far_out_the_extreme_sums_decide(epsilon):
    exact = subsampled(epsilon, "gaussian", included=0.3)
    assert exact.privacy_loss([1, 0], [0, 0]) == math.inf
    assert exact.privacy_loss([1, 0], [1, 1]) == pytest.approx(-math.log(0.7), rel=1e-12)
    assert exact.privacy_loss([1, 0], [0.5, 0.5]) == pytest.approx(-math.log(0.3), rel=1e-12)
    uneven, even = [0.8, 0.1, 0.1], [0.5, 0.5, 0.0]
    sparse = subsampled(epsilon, "gaussian", included=0.05, people=3)
    losses = of_subsets(uneven, 0.05, epsilon) - of_subsets(even, 0.05, epsilon)
    largest = max(losses.max(), -math.log(0.95))
    assert sparse.privacy_loss(uneven, even) == pytest.approx(largest, rel=1e-4)


def of_subsets(x, included, epsilon):
    """Return log densities of a normal noisy sum, beside that of its noise, at t scale^2."""
    t = np.linspace(-60, 160, 22_001)
    density = np.zeros(t.size)
    for vector in product((0, 1), repeat=len(x)):
        kept, ones = np.dot(vector, x), sum(vector)
        chance = included**ones * (1 - included) ** (len(x) - ones)
        density += chance * np.exp(t * kept - (kept * epsilon) ** 2 / 2)
    return np.log(density)


@pytest.mark.parametrize("epsilon", [0.5, 1.5])
@pytest.mark.parametrize("included", [0.3, 1.0])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_distribution_of_a_sum_is_the_integral_of_its_density(noise, included, epsilon):
    exact, x = subsampled(epsilon, noise, included, people=3), [1, 1, 0]
    low, high = exact.window(x)
    z, step = np.linspace(low, high, 40_001, retstep=True)
    density = exact.pdf(z, x)
    integral = np.append(0.0, np.cumsum((density[1:] + density[:-1]) / 2 * step))
    assert np.abs(exact.cdf(z, x) - integral).max() < 1e-5
    for tail in (exact.cdf(low, x), 1 - exact.cdf(high, x)):  # the window has all but these
        assert 1e-16 < tail < 1e-13


@pytest.mark.parametrize("order", [5.0, 1000.0])
@pytest.mark.parametrize("epsilon", [0.2, 5.0])
def test_noisy_sums_at_high_orders(epsilon, order):
    """Without subsampling the closed form; with, the binomial sum of the normal moments."""
    whole = subsampled(epsilon, "gaussian", included=1.0)
    for x, y in (([1, 0.5], [0, 0.5]), ([0, 0], [1, 0])):
        assert whole.renyi(order, x, y) == pytest.approx(order * epsilon**2 / 2, rel=1e-9)
    k = np.arange(order + 1)
    log_ways = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1) - order * math.log(2)
    total = logsumexp(log_ways + k * (k - 1) * epsilon**2 / 2)
    half = subsampled(epsilon, "gaussian").renyi(order, [1, 0], [0, 0])
    assert half == pytest.approx(total / (order - 1), rel=1e-8)

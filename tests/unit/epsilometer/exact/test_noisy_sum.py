"""Noisy sums: by chi-square divergences, binomial moments, the extreme sums and enumeration."""

import math
from decimal import Decimal
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

from epsilometer.exact.base import spectrum
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
@pytest.mark.parametrize("order", [2, 5, 100])
def test_gaussian_noise(order, epsilon):
    """Of half of the people the binomial sum of the normal moments; of all the closed form."""
    e = 1 / Decimal(1 / epsilon)
    moments = [math.comb(order, k) * (k * (k - 1) * e * e / 2).exp() for k in range(order + 1)]
    level = (sum(moments) / 2**order).ln() / (order - 1)
    half, whole = (subsampled(epsilon, "gaussian", included) for included in (0.5, 1.0))
    assert close(half.renyi(float(order), [1, 0], [0, 0]), level, 1e-8)
    for x, y in (([1, 0.5], [0, 0.5]), ([0, 0], [1, 0])):
        assert close(whole.renyi(float(order), x, y), order * e * e / 2, 1e-8)


@pytest.mark.parametrize("epsilon", SMALL)
def test_far_out_the_extreme_sums_decide(epsilon):
    exact = subsampled(epsilon, "gaussian", included=0.3)
    assert exact.privacy_loss([1, 0], [0, 0]) == math.inf
    assert exact.privacy_loss([1, 0], [1, 1]) == pytest.approx(-math.log(0.7), rel=1e-12)
    assert exact.privacy_loss([1, 0], [0.5, 0.5]) == pytest.approx(-math.log(0.3), rel=1e-12)
    whole = subsampled(epsilon, "gaussian", included=1.0)
    assert whole.privacy_loss([1, 0], [0.5, 0.5]) == 0
    assert whole.privacy_loss([1, 0], [1, 0.5]) == whole.privacy_loss([1, 0.5], [1, 0]) == math.inf
    uneven, even = [0.8, 0.1, 0.1], [0.5, 0.5, 0.0]
    sparse = subsampled(epsilon, "gaussian", included=0.05, people=3)
    t = np.linspace(-60, 160, 22_001)
    losses = of_subsets(uneven, 0.05, epsilon, t) - of_subsets(even, 0.05, epsilon, t)
    largest = max(losses.max(), -math.log(0.95))
    assert sparse.privacy_loss(uneven, even) == pytest.approx(largest, rel=1e-4)


@pytest.mark.parametrize("x", [[0.6, 0.3, 0.1], [0.4, 0.3, 0.3], [1.0, 0.0, 0.0]])
def test_the_largest_loss_may_lie_anywhere_between_the_sums(x):
    """Where normal noise is far narrower than the sums; all people have one sum together."""
    y, epsilon = [0.5, 0.5, 0.0], 200.0
    z = np.linspace(-0.2, 1.2, 28_001)
    p, q = (of_subsets(each, 0.05, epsilon, epsilon**2 * z) for each in (x, y))
    exact = subsampled(epsilon, "gaussian", included=0.05, people=3)
    assert exact.privacy_loss(x, y) == pytest.approx((p - q).max(), rel=1e-3)
    assert exact.privacy_loss(y, x) == pytest.approx((q - p).max(), rel=1e-3)


def of_subsets(x, included, epsilon, t):
    """Return log densities of a normal noisy sum, beside that of its noise, at t scale^2."""
    terms = []
    for vector in product((0, 1), repeat=len(x)):
        kept, ones = np.dot(vector, x), sum(vector)
        chance = included**ones * (1 - included) ** (len(x) - ones)
        terms.append(math.log(chance) + t * kept - (kept * epsilon) ** 2 / 2)
    return logsumexp(terms, axis=0)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_spectrum_of_sums_is_an_integral(noise):
    """Of what p exceeds the multiple of q by, in pieces so small that they need no crossings."""
    exact, points = subsampled(20.0, noise, included=0.4), np.linspace(-1.5, 3.5, 10_001)
    nodes, rule = np.polynomial.legendre.leggauss(4)
    z = points[:-1, None] + 0.00025 * (1 + nodes)
    for x, y in (([0.5, 0.56], [0.52, 0.9]), ([0.52, 0.9], [0.5, 0.56])):
        p, q = exact.pdf(z, x), exact.pdf(z, y)
        for claim in (0.0, 0.2, 0.5):
            delta = (np.maximum(p - math.exp(claim) * q, 0) @ rule).sum() * 0.00025
            assert spectrum(exact, [claim], x, y)[0] == pytest.approx(delta, abs=1e-7)


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

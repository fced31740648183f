"""How wide the noise on an answer is."""

import math

import pytest

from epsilometer.exact.real_line import ExactLaplace
from epsilometer.mechanisms.real_line import (
    Gaussian,
    GaussianVector,
    NoisyGradientDescent,
    NoisyHistogram,
)


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_noise_of_a_count_attains_epsilon_or_its_inverse(epsilon):
    for wrong, level in ((False, epsilon), (True, 1 / epsilon)):
        exact = ExactLaplace(NoisyHistogram(epsilon, wrong=wrong))
        assert exact.privacy_loss(3, 4) == pytest.approx(level)


@pytest.mark.parametrize(
    ("noisy", "delta"),
    [
        (Gaussian(0.1), 1e-5),
        (Gaussian(1.0, delta=0.01), 0.01),
        (GaussianVector(0.1, dimension=2), 1e-5),
        (GaussianVector(1.0, dimension=2, delta=0.01), 0.01),
    ],
)
def test_gaussian_noise_is_as_wide_as_its_delta_needs(noisy, delta):
    """Where delta is the usual bound of a tail, 1.25 exp(-(sigma epsilon)^2 / 2)."""
    of_tail = 1.25 * math.exp(-((noisy.sigma * noisy.epsilon) ** 2) / 2)
    assert of_tail == pytest.approx(delta)


@pytest.mark.parametrize(("epsilon", "rate"), [(0.7, 0.3), (4.0, 0.05)])
def test_the_noise_of_a_step_has_the_variance_of_two_rates_in_units_of_epsilon(epsilon, rate):
    descent = NoisyGradientDescent(epsilon, rate=rate)
    assert descent.step_noise**2 == pytest.approx(2 * rate / epsilon**2)

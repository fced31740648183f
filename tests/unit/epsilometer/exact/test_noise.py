"""Gains of Laplace and exponential noise, by their laws in many digits."""

import math
from decimal import Decimal

import numpy as np
import pytest

from epsilometer.exact.noise import ExponentialNoise, LaplaceNoise
from tests.unit.epsilometer.exact.laws import close


def laplace_law(u):
    """Return the density at u, and the mass below."""
    tail = (-abs(u)).exp() / 2
    return tail, tail if u < 0 else 1 - tail


def exponential_law(u):
    return ((-u).exp(), 1 - (-u).exp()) if u >= 0 else (0, 0)


@pytest.mark.parametrize(
    ("noise", "law_at"), [(LaplaceNoise(), laplace_law), (ExponentialNoise(), exponential_law)]
)
@pytest.mark.parametrize("shift", [0.0, 1e-12, -1e-12, 0.3, -0.6, 2.0, -2.0, 40.0])
@pytest.mark.parametrize("u", [-30.0, -0.9, -1e-9, 0.0, 1e-9, 0.2, 3.0, 30.0])
def test_gains_of_noise_at_two_answers(noise, law_at, u, shift):
    """Of numbers near and far, on either side, as little as 1e-12 apart."""
    v = Decimal(u) + Decimal(shift)
    at = [np.array([float(each)]) for each in (u, v, shift)]
    for of_one, gain, p, q in zip(
        (noise.log_pdf, noise.log_cdf),
        (noise.pdf_gain, noise.cdf_gain),
        law_at(Decimal(u)),
        law_at(v),
        strict=True,
    ):
        expected = float(p.ln()) if p else -math.inf
        assert of_one(at[0])[0] == pytest.approx(expected, rel=1e-12, abs=1e-15)
        found = gain(*at)[0]
        if p > 0 and q > 0:
            assert close(found, (p / q).ln(), 1e-12) or abs(found) < 1e-25
        elif max(p, q) > 0:
            assert found == (math.inf if p > 0 else -math.inf)

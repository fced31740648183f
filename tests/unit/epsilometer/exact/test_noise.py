"""Gains of Laplace and exponential noise, by their laws in many digits."""

import math
from decimal import Decimal
from itertools import product

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
def test_gains_of_noise_at_two_answers(noise, law_at, shift):
    """Of numbers near and far, on either side, as little as 1e-12 apart."""
    for size, sign in product([0.0, 1e-9, 0.2, 0.9, 3.0, 30.0], [1, -1]):
        u, v = sign * size, Decimal(sign * size) + Decimal(shift)
        at = [np.array([float(each)]) for each in (u, v, shift)]
        laws, others = law_at(Decimal(u)), law_at(v)
        logs = noise.log_pdf(at[0])[0], noise.log_cdf(at[0])[0]
        gains = noise.pdf_gain(*at)[0], noise.cdf_gain(*at)[0]
        for log, gain, p, q in zip(logs, gains, laws, others, strict=True):
            expected = float(p.ln()) if p else -math.inf
            assert log == pytest.approx(expected, rel=1e-12, abs=1e-15)
            if p > 0 and q > 0:
                assert close(gain, (p / q).ln(), 1e-12) or abs(gain) < 1e-25
            elif max(p, q) > 0:
                assert gain == (math.inf if p > 0 else -math.inf)

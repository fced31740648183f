"""Noise on an interval and on a half line is drawn by inversion."""

from types import SimpleNamespace

import numpy as np
import pytest

from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS

UNIFORM = np.array([0.0, 1e-9, 0.2, 0.5, 0.77, 0.999, 1 - 2.0**-53])


def drawing(uniform):
    """Return a generator of these numbers."""
    return SimpleNamespace(random=lambda _: uniform.copy())


@pytest.mark.parametrize("epsilon", [0.3, 6.0])
@pytest.mark.parametrize(
    ("name", "ends", "inputs"),
    [
        ("truncated_gaussian", (2.0, 5.0), [2.0, 3.1, 5.0]),
        ("truncated_laplace", (2.0, 5.0), [2.0, 3.1, 5.0]),
        ("exponential_half_line", (), [1.0, 1.3, 2.0]),
    ],
)
def test_outputs_are_the_quantiles_of_uniform_numbers(name, ends, inputs, epsilon):
    mechanism = MECHANISMS.load(name)(epsilon, *ends)
    exact = EXACT.load(name)(mechanism)
    for x in inputs:
        outputs = mechanism.sample(x, UNIFORM.size, drawing(UNIFORM))
        assert exact.cdf(outputs, x) == pytest.approx(UNIFORM, abs=1e-12)
        assert (np.diff(outputs) > 0).all()


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 5.0, 25.0])
@pytest.mark.parametrize("name", ["truncated_gaussian", "truncated_laplace"])
def test_rounding_leaves_no_interval(name, epsilon):
    for lower, upper in [(0.1, 0.8), (-3.0, -2.3), (-1e-3, 1e9), (1e6, 1e6 + 0.3)]:
        mechanism = MECHANISMS.load(name)(epsilon, lower, upper)
        for x in np.linspace(lower, upper, 20).clip(lower, upper).tolist():
            outputs = mechanism.sample(x, UNIFORM.size, drawing(UNIFORM))
            assert ((lower <= outputs) & (outputs <= upper)).all()

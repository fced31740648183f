"""Loops give the same results where they are not compiled, as in an installation without Numba."""

import numpy as np
import pytest

import epsilometer as em
from epsilometer.mechanisms import MECHANISMS
from tests.contract.examples import inputs, mechanism
from tests.unit.loading import printed

WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
sys.modules["llvmlite"] = None
from tests.unit.epsilometer.numerics.test_without_numba import results_of_loops
print(results_of_loops())
"""


def results_of_loops() -> str:
    """Return estimates, and draws of every mechanism, as text."""
    x, x_prime = np.round(np.random.default_rng(3).laplace([[0], [1]], 1, (2, 400)), 1)
    results = [repr(em.measure(x, x_prime)), repr(em.delta_curve(x, x_prime, epsilons=[0.5]))]
    for name in sorted(MECHANISMS):
        drawn = mechanism(name).sample(inputs(name)[0], 20, np.random.default_rng(1))
        results.append(f"{name}: {drawn!r}")
    return "\n".join(results)


@pytest.mark.slow(seconds=2)
def test_estimates_and_draws_are_the_same_without_numba():
    assert printed(WITHOUT_NUMBA, PYTHONPATH="src:.") == results_of_loops()

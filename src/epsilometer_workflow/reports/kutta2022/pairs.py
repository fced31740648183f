"""The seven pairs of distributions of kutta2022, Section IV, and their floored divergences.

(i) Noisy Gradient Descent, (ii) and (iii) subsampled Gaussian and Laplace noise on a sum, (iv) and
(v) the same without subsampling, (vi) ten randomised bits, (vii) the same, shuffled; on databases
of ten people that differ in the first.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from epsilometer.arrays import Floats
from epsilometer.estimators.renyi_bound import Divergence, divergence
from epsilometer.exact.finite import ExactRandomizedBits
from epsilometer.exact.noisy_sum import ExactNoisySum
from epsilometer.exact.real_line import ExactNoisyGradientDescent
from epsilometer.mechanisms.finite import RandomizedBits
from epsilometer.mechanisms.noisy_sum import NoisySum
from epsilometer.mechanisms.real_line import NoisyGradientDescent

FIRST, NOBODY = [1] + [0] * 9, [0] * 10
"""The databases."""

_NODES = 40_001


@cache
def distributions() -> dict[str, Any]:
    """Return the distributions at the paper's parameters, by its numerals."""
    return {
        "i": ExactNoisyGradientDescent(NoisyGradientDescent(1.0)),
        "ii": ExactNoisySum(NoisySum(0.2, noise="gaussian", included=0.5)),
        "iii": ExactNoisySum(NoisySum(0.2, noise="laplace", included=0.5)),
        "iv": ExactNoisySum(NoisySum(0.2, noise="gaussian")),
        "v": ExactNoisySum(NoisySum(0.2, noise="laplace")),
        "vi": ExactRandomizedBits(RandomizedBits(1.5)),
        "vii": ExactRandomizedBits(RandomizedBits(1.5, shuffled=True)),
    }


@cache
def densities(name: str) -> tuple[Floats, Floats, float]:
    """Return both databases' probabilities, or densities on an even grid, and its spacing.

    Both have shape ``(k,)``; the spacing of probabilities is 1.
    """
    exact = distributions()[name]
    if hasattr(exact, "probabilities"):
        return exact.probabilities(FIRST), exact.probabilities(NOBODY), 1.0
    ends = [exact.window(x) for x in (FIRST, NOBODY)]
    z = np.linspace(min(e[0] for e in ends), max(e[1] for e in ends), _NODES)
    return exact.pdf(z, FIRST), exact.pdf(z, NOBODY), float(z[1] - z[0])


def floored(name: str, order: float, tau: float) -> Divergence:
    """Return D(p, q_tau) with beta = 1/tau, and sigma_n^2 of (18), of the exact densities."""
    p, q, spacing = densities(name)
    return divergence(p, q, order=order, tau=tau, beta=1 / tau, spacing=spacing)

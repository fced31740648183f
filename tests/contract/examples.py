"""One example of every registered mechanism, taken from the configuration.

The contract suites run over them, so that a new mechanism is covered by its entry in
``config/mechanisms.yaml``; a registered name without an entry fails. Inputs of a wrong type follow
from the right ones; numbers outside of a domain may be added to `OUTSIDE`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from epsilometer.errors import EpsilometerError
from epsilometer.estimators.base import Claims
from epsilometer.estimators.histogram import HistogramEstimator
from epsilometer.exact import EXACT
from epsilometer_workflow.configuration.study import Study

EPSILON = 1.0
OUTSIDE: dict[str, tuple[Any, ...]] = {  # of the right type
    "bernoulli_pair": (2, -1, 0.5),
    "counting_exponential": ([0, 3], [0.5]),
    "exponential_half_line": (0.9, 2.1),
    "gaussian_vector": ([0.0] * 49,),
    "laplace_vector": ([0.0] * 51,),
    "noiseless_count": ([10, 2],),
    "noisy_gradient_descent": ([0] * 9, [2] + [0] * 9),
    "noisy_histogram": (-1, 0.5),
    "noisy_max_index": ([1] * 6,),
    "noisy_max_value": ([1] * 5,),
    "noisy_sum": ([0] * 9, [-0.1] + [0] * 9),
    "random_rows": ([0.5, 1.1],),
    "randomized_bits": ([0] * 9, [0.5] + [0] * 9),
    "randomized_response": (5, -1),
    "rare_match": (2, -1, 0.5),
    "report_noisy_max": ([1] * 5,),
    "sparse_vector": ([1] * 9,),
    "sparse_vector_bits": ([1] * 39,),
    "sparse_vector_first": ([1] * 39,),
    "truncated_gaussian": (-0.1, 1.1),
    "truncated_laplace": (-0.1, 1.1),
}


def outside(name: str) -> list[Any]:
    """Return what is no input of the example: of other types, with other entries, too far."""
    x = inputs(name)[0]
    wrong: list[Any] = [None, {}, "0", math.nan, math.inf, [[x]], object()]
    if isinstance(x, list):
        wrong += [[entry, *x[1:]] for entry in (None, math.nan, "0")]
        wrong += ["".join(map(str, x)), x[0]]
    else:
        wrong += [[x], str(x)]
    return [*wrong, *OUTSIDE.get(name, ())]


@cache
def configured() -> Study:
    """Return the configuration as it is."""
    return Study(Path(__file__).parents[2] / "config")


def _entry(name: str) -> str:
    entries = [key for key, e in configured().mechanisms.items() if e.mechanism == name]
    assert entries, f"config/mechanisms.yaml has no entry of {name}"
    return entries[0]


def inputs(name: str) -> list[Any]:
    """Return the first pair of inputs of the example, if there are more one other, and one between.

    A distance of 1 is its own square: a formula with another power would pass.
    """
    entry = configured().mechanisms[_entry(name)]
    values: list[Any] = []
    for which in entry.inputs:
        for x in configured().inputs(_entry(name), which).sides():
            if x not in values:
                values.append(x)
    return [*values[:2], *values[2:][:: max(1, len(values))], *_between(name, *values[:2])]


def _between(name: str, x: Any, x_prime: Any) -> list[float]:
    """Return a number between two inputs, if the example takes such numbers."""
    if not isinstance(x, int | float):
        return []
    inner = x + 0.37 * (x_prime - x)
    try:
        mechanism(name).check_input(inner)
    except EpsilometerError:
        return []
    return [inner]


def mechanism(name: str):
    """Make the example mechanism."""
    return configured().mechanism(_entry(name), EPSILON)


def by_speed(names: Iterable[str], slow: tuple[str, ...]) -> list[Any]:
    """Return names for a parametrisation; some have the mark of a test that takes a second."""
    marked = pytest.mark.slow(seconds=1)
    return [pytest.param(name, marks=marked) if name in slow else name for name in names]


def law(name: str):
    """Make the exact law of the example mechanism."""
    return EXACT.load(name)(mechanism(name))


def histogram_estimate(x, x_prime, *, order=math.inf, empty_cells="fail"):
    """Return the levels of two histograms, of shape ``(..., cells)``."""
    method = HistogramEstimator(1.0, empty_cells=empty_cells)
    return method.estimate(x, x_prime, Claims(), order)


def window(exact, x):
    """Return an interval outside of which there is less than 1e-12 of the mass."""
    if hasattr(exact, "support"):
        return exact.support
    low, high = 0.0 if exact.cdf(0.0, x) == 0 else -1.0, 1.0
    while exact.cdf(low, x) > 1e-13:
        low *= 1.1
    while exact.cdf(high, x) < 1 - 1e-13:
        high *= 1.1
    return low, high

"""Statements of kutta2022 about Rényi divergences and its seven mechanisms, worked out exactly.

Numerals are those of its Section IV: (i) is Noisy Gradient Descent, (vii) shuffled Randomized
Response.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from epsilometer.estimators.renyi_bound import RenyiBoundAsPublished
from epsilometer.mechanisms.noisy_sum import NoisySum
from epsilometer.mechanisms.real_line import NoisyGradientDescent
from epsilometer_workflow.reports.kutta2022.pairs import FIRST, NOBODY, distributions, floored
from epsilometer_workflow.reports.points import Points, at, table_of

_ORDERS = (2.0, 5.0, 7.0)
_MANY_ORDERS = (1.1, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 50.0)
_DRAWS = 5_000_000


def exact() -> pd.DataFrame:
    """Work out every check of this module: a row a point, its value beside what bounds it."""
    return table_of(globals())


def _at_orders() -> Iterator[tuple[str, float, float]]:
    """Yield each mechanism's divergence at each order."""
    for name, law in distributions().items():
        for order in _ORDERS:
            yield name, order, law.renyi(order, FIRST, NOBODY)


def _laplace_level() -> Points:
    yield "b=5", distributions()["v"].privacy_loss(FIRST, NOBODY), 1 / 5


def _gaussian_loss() -> Points:
    """Compare the loss at an output with what it is ten times further out."""
    law = distributions()["iv"]
    for z in (10.0, 100.0, 1000.0, 10_000.0):
        near, far = (float(law.compare(np.array([t]), FIRST, NOBODY).loss[0]) for t in (z, 10 * z))
        yield at(z=z), near, far


def _monotone() -> Points:
    """Compare the divergence at an order with that at the next."""
    for name, law in distributions().items():
        levels = [law.renyi(order, FIRST, NOBODY) for order in _MANY_ORDERS]
        for i in range(len(levels) - 1):
            yield f"{name} {at(order=_MANY_ORDERS[i])}", levels[i], levels[i + 1]


def _limit() -> Points:
    for name in ("v", "vi"):
        law = distributions()[name]
        yield name, law.renyi(500.0, FIRST, NOBODY), law.privacy_loss(FIRST, NOBODY)


def _gaussian_linear() -> Points:
    for order in _MANY_ORDERS:
        yield at(order=order), distributions()["iv"].renyi(order, FIRST, NOBODY) / order, 1 / 50


def _far_apart() -> Points:
    """Compare the divergence of two databases with that of two further apart."""
    for (name, law), order in product(distributions().items(), _ORDERS):
        databases: list[Any] = [[1] * k + [0] * (10 - k) for k in (1, 2, 3, 4)]
        if name not in ("vi", "vii"):
            databases = [[c] + [0.0] * 9 for c in (0.25, 0.5, 0.75, 1.0)]
        levels = [law.renyi(order, x, NOBODY) for x in databases]
        for i in range(3):
            yield f"{name} {at(order=order, step=i)}", levels[i], levels[i + 1]


def _databases_differ() -> Points:
    """Compare the l1 distance of databases that differ in one person with 1."""
    for person in product((0.0, 0.3, 1.0), repeat=2):
        yield at(people=person), abs(person[0] - person[1]), 1.0
    yield "first-person", sum(abs(a - b) for a, b in zip(FIRST, NOBODY, strict=True)), 1.0


def _noise_scale() -> Points:
    yield "sums", NoisySum(0.2).scale, 5.0
    yield "descent", NoisyGradientDescent(1.0).step_noise / math.sqrt(2 * 0.2), 1.0


def _starts_at_zero() -> Points:
    """Tell where the descent ends on average if nobody pulls it: where it has begun, at 0."""
    yield "nobody", distributions()["i"].mean(NOBODY), 0.0


def _sum_moves() -> Points:
    yield "first-person", sum(FIRST) - sum(NOBODY), 1.0


def _gradient_moves() -> Points:
    """Compare the total gradients of (theta - x_i)^2 / 2 at the same theta."""
    for theta in (-1.0, 0.0, 0.5):
        gradients = [sum(theta - x for x in database) for database in (FIRST, NOBODY)]
        yield at(theta=theta), abs(gradients[0] - gradients[1]), 1.0


def _pair_is_worst() -> Points:
    """Compare the divergence of the chosen pair with the largest over what the others may hold."""
    for (name, law), order in product(distributions().items(), _ORDERS):
        chosen, largest = law.renyi(order, FIRST, NOBODY), 0.0
        for others in (0, 3, 9):
            rows = [1] * others + [0] * (9 - others)
            for x, y in (([1, *rows], [0, *rows]), ([0, *rows], [1, *rows])):
                largest = max(largest, law.renyi(order, x, y))
        yield f"{name} {at(order=order)}", chosen, largest


def _floored_below() -> Points:
    for (name, order, exactly), tau in product(_at_orders(), (1e-3, 1e-5)):
        yield f"{name} {at(order=order, tau=tau)}", floored(name, order, tau).value, exactly


def _deviation() -> Points:
    """Work out sigma_n / (sqrt(n) D) at the paper's floor and n; beside it D(p, q_tau) / D."""
    for name, order, exactly in _at_orders():
        estimate = floored(name, order, 1e-5)
        deviation = math.sqrt(estimate.variance / _DRAWS) / exactly
        yield f"{name} {at(order=order)}", deviation, estimate.value / exactly


def _variance_against_floor() -> Points:
    """Compare sigma_n^2 with what it is at a tenth of the floor."""
    for name, order in (("v", 2.0), ("v", 5.0), ("iv", 5.0), ("iv", 7.0)):
        for tau in (1e-2, 1e-3, 1e-4, 1e-5):
            variances = [floored(name, order, t).variance for t in (tau, tau / 10)]
            yield f"{name} {at(order=order, tau=tau)}", variances[0], variances[1]


def _smallest_beta() -> Points:
    for n in (20_000, 500_000, _DRAWS):
        tau, beta = RenyiBoundAsPublished(draws_at_floor=50).floor(n)
        yield at(n=n), tau * beta, 1.0


def _discrete_range() -> Points:
    """Work out where Assumption 2 ends, beside the v of tau = 1e-5 at n = 5,000,000."""
    for order in _ORDERS:
        most = 1 / (2 * min(3 * order - 3, 2 * order + 1))
        yield at(order=order), most, math.log(1e5) / math.log(_DRAWS)

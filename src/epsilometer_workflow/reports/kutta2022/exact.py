"""Statements of kutta2022 about Rényi divergences and its seven mechanisms, worked out exactly.

Numerals are those of its Section IV: (i) is Noisy Gradient Descent, (vii) shuffled Randomized
Response.
"""

from __future__ import annotations

import math
from itertools import pairwise, product
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
    """Work out every check: a row a point, its value beside what bounds it."""
    laws = distributions()
    cells = [(m, o, law.renyi(o, FIRST, NOBODY)) for m, law in laws.items() for o in _ORDERS]
    gaussian, plan = laws["iv"], RenyiBoundAsPublished(draws_at_floor=50)
    checks: dict[str, Points] = {
        "laplace-level": [("b=5", laws["v"].privacy_loss(FIRST, NOBODY), 1 / 5)],
        # the loss at an output, beside that ten times further out
        "gaussian-loss": ((at(z=z), *_losses(z, 10 * z)) for z in (10.0, 100.0, 1000.0, 10_000.0)),
        "monotone": (  # an order, beside the next
            (f"{m} {at(order=o)}", law.renyi(o, FIRST, NOBODY), law.renyi(more, FIRST, NOBODY))
            for m, law in laws.items()
            for o, more in pairwise(_MANY_ORDERS)
        ),
        "limit": (
            (m, laws[m].renyi(500.0, FIRST, NOBODY), laws[m].privacy_loss(FIRST, NOBODY))
            for m in ("v", "vi")
        ),
        "gaussian-linear": (
            (at(order=o), gaussian.renyi(o, FIRST, NOBODY) / o, 1 / 50) for o in _MANY_ORDERS
        ),
        "far-apart": _far_apart(),
        "databases-differ": [  # in one person: their l1 distance
            *((at(people=p), abs(p[0] - p[1]), 1.0) for p in product((0.0, 0.3, 1.0), repeat=2)),
            ("first-person", sum(abs(a - b) for a, b in zip(FIRST, NOBODY, strict=True)), 1.0),
        ],
        "noise-scale": [
            ("sums", NoisySum(0.2).scale, 5.0),
            ("descent", NoisyGradientDescent(1.0).step_noise / math.sqrt(2 * 0.2), 1.0),
        ],
        # if nobody pulls the descent it ends, on average, where it has begun: at 0
        "starts-at-zero": [("nobody", laws["i"].mean(NOBODY), 0.0)],
        "sum-moves": [("first-person", sum(FIRST) - sum(NOBODY), 1.0)],
        "gradient-moves": (  # the total gradients of (theta - x_i)^2 / 2 at the same theta
            (at(theta=t), abs(sum(t - x for x in FIRST) - sum(t - x for x in NOBODY)), 1.0)
            for t in (-1.0, 0.0, 0.5)
        ),
        # the chosen pair, beside the largest over what the others may hold
        "pair-is-worst": ((f"{m} {at(order=o)}", level, _largest(m, o)) for m, o, level in cells),
        "floored-below": (
            (f"{m} {at(order=o, tau=tau)}", floored(m, o, tau).value, level)
            for (m, o, level), tau in product(cells, (1e-3, 1e-5))
        ),
        "deviation": (  # sigma_n / (sqrt(n) D) at the paper's floor and n, and D(p, q_tau) / D
            (f"{m} {at(order=o)}", math.sqrt(d.variance / _DRAWS) / level, d.value / level)
            for m, o, level in cells
            for d in [floored(m, o, 1e-5)]
        ),
        "variance-against-floor": (  # sigma_n^2, beside what it is at a tenth of the floor
            (f"{m} {at(order=o, tau=t)}", *(floored(m, o, x).variance for x in (t, t / 10)))
            for m, o in (("v", 2.0), ("v", 5.0), ("iv", 5.0), ("iv", 7.0))
            for t in (1e-2, 1e-3, 1e-4, 1e-5)
        ),
        "smallest-beta": (
            (at(n=n), math.prod(plan.floor(n)), 1.0) for n in (20_000, 500_000, _DRAWS)
        ),
        "discrete-range": (  # where Assumption 2 ends, beside the v of tau = 1e-5 at n = 5,000,000
            (at(order=o), 1 / (2 * min(3 * o - 3, 2 * o + 1)), math.log(1e5) / math.log(_DRAWS))
            for o in _ORDERS
        ),
    }
    return table_of(checks)


def _losses(*outputs: float) -> list[float]:
    """Return the loss of Gaussian noise at outputs."""
    return [
        float(loss) for loss in distributions()["iv"].compare(np.array(outputs), FIRST, NOBODY).loss
    ]


def _far_apart() -> Points:
    """Compare the divergence of two databases with that of two further apart."""
    for (name, law), order in product(distributions().items(), _ORDERS):
        databases: list[Any] = [[1] * k + [0] * (10 - k) for k in (1, 2, 3, 4)]
        if name not in ("vi", "vii"):
            databases = [[c] + [0.0] * 9 for c in (0.25, 0.5, 0.75, 1.0)]
        levels = [law.renyi(order, x, NOBODY) for x in databases]
        for i in range(3):
            yield f"{name} {at(order=order, step=i)}", levels[i], levels[i + 1]


def _largest(name: str, order: float) -> float:
    """Return the largest divergence of pairs that differ in the first person, both ways."""
    levels = [0.0]
    for others in (0, 3, 9):
        rows = [1] * others + [0] * (9 - others)
        for x, y in (([1, *rows], [0, *rows]), ([0, *rows], [1, *rows])):
            levels.append(distributions()[name].renyi(order, x, y))
    return max(levels)

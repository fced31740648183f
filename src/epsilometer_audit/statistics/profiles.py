"""Right guesses where a claim bounds delta at every epsilon: the bound for Gaussian privacy.

The p-value of at least v right guesses of r, among m canaries, is the smallest

    p = a0 + m sum_q C_q delta(e_q)

over a0, epsilons e_q, and weights 0 <= a_q(k) <= C_q such that for k = 0, ..., r

    1[k >= v] <= a0 + sum_q (k a_q(k - 1) - e^(e_q) (r - k) a_q(k)).                          (*)

docs/training.md has the proof: every choice of C_q and e_q is valid, so they may be searched for.
The smallest a0 makes sum_q a_q(k) as large as (*) allows for k < v, with small epsilons first,
which cost least; and from k = r down to v the smallest that (*) allows; both meet at k = v - 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epsilometer.numerics.arrays import Floats
from epsilometer.numerics.compiled import compiled, compiled_part

_KNOTS = np.linspace(-2.0, 3.0, 16)  # epsilons, in widths of the bell of their weights
_BELL = np.exp(-(_KNOTS**2) / 2)
_TRIES = 120
_WIDTH = 0.2
_MOST = 600.0  # epsilon


@compiled_part
def _most(budget: float, limits: Floats, costs: Floats) -> float:  # pragma: no cover
    """Return the largest sum of weights up to ``limits`` that cost no more than ``budget``."""
    total = 0.0
    for q in range(limits.size):
        if budget <= limits[q] * costs[q]:
            return float(total + budget / costs[q])
        budget -= limits[q] * costs[q]
        total += limits[q]
    return total


@compiled_part
def _least(total: float, limits: Floats, costs: Floats) -> float:  # pragma: no cover
    """Return the lowest cost of weights up to ``limits`` whose sum is ``total``."""
    cost = 0.0
    for q in range(limits.size):
        if total <= limits[q]:
            return float(cost + total * costs[q])
        total -= limits[q]
        cost += limits[q] * costs[q]
    return np.inf


@compiled_part
def _holds(free, right, guesses, limits, costs):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return whether some weights satisfy (*) with a0 = ``free``."""
    needed = 0.0
    for k in range(guesses, right - 1, -1):
        needed = (1 - free + (guesses - k) * _least(needed, limits, costs)) / k
    most = 0.0
    for limit in limits:
        most += limit
    if not needed <= most:
        return False
    total = 0.0
    for k in range(right):
        total = _most((free + k * total) / (guesses - k), limits, costs)
    return total >= needed


@compiled
def _smallest(right: int, guesses: int, limits: Floats, costs: Floats) -> float:  # pragma: no cover
    """Return a0, to a thousandth of it, or 1e-7."""
    low = 0.0
    high = 1.0
    while high - low > 1e-3 * high + 1e-7:
        middle = (low + high) / 2 if low > 0 else high / 4
        if _holds(middle, right, guesses, limits, costs):
            high = middle
        else:
            low = middle
    return high


def p_value(
    right: int, guesses: int, price: Callable[[Floats], Floats], epsilon: float, weight: float
) -> float:
    """Return the p-value of ``right`` right guesses; see the module.

    ``price`` returns m delta(e) of epsilons; the search starts at an epsilon and the weight with
    which it is a good choice alone.
    """
    from scipy.optimize import minimize

    def p(choice: Floats) -> float:
        epsilons = np.clip(choice[1] + np.exp(choice[2]) * _KNOTS, -_MOST, _MOST)
        limits = np.exp(choice[0]) * _BELL
        free = _smallest(right, guesses, limits, np.exp(epsilons))
        return float(free + limits @ price(epsilons))

    first = np.array([np.log(weight / 3), epsilon, np.log(_WIDTH)])  # log height, centre, log width
    return float(minimize(p, first, method="Nelder-Mead", options={"maxfev": _TRIES}).fun)

"""How often the bounds of `epsilometer.measure` lie above the truth, on the cases of `level_cases`.

A bound of mu is above the truth if mu-GDP would allow less than the true delta at every epsilon; a
point of a test is, if the true trade-off curve lies above it.
"""

from __future__ import annotations

import math

import numpy as np

from epsilometer import Measurement, measure
from epsilometer.claims import gaussian_deltas
from tests.contract.level_cases import CASES, Case, Pair

EPSILONS = tuple(np.linspace(0.0, 6.0, 13).tolist())
ORDERS = (1.5, 2.0, 8.0)
FAMILIES = ("epsilon", "mu", "delta", "errors", "renyi")
ROUNDING = 1e-9
LEAST = 1e-6  # delta that mu-GDP allows, for a comparison
MEASURED = [
    case
    for case in CASES.values()
    if len(case.pairs) == 1 and case.outputs != "mixed" and case.fresh >= 500
]


def larger_delta(pair: Pair, epsilon: float) -> float:
    """Return delta in the larger direction."""
    return max(pair.delta(epsilon), pair.delta(epsilon, reverse=True))


def above(shown: Measurement, pair: Pair) -> dict[str, bool]:
    """Tell for each family of bounds whether any of them is above the truth."""
    deltas = np.array([larger_delta(pair, epsilon) for epsilon in EPSILONS])
    forward = np.array([pair.delta(epsilon) for epsilon in EPSILONS])
    backward = np.array([pair.delta(epsilon, reverse=True) for epsilon in EPSILONS])
    factors = np.exp(EPSILONS)[:, None]
    # the trade-off curve of x' (the null) against x lies above each of these lines
    least = np.maximum(
        1 - forward[:, None] - factors * shown.type_1,
        (1 - backward[:, None] - shown.type_1) / factors,
    ).max(axis=0)
    renyi = [max(pair.renyi(a), pair.renyi(a, reverse=True)) for a in ORDERS]
    allowed = gaussian_deltas(np.array(EPSILONS), max(shown.mu, 1e-12))
    return {
        "epsilon": shown.epsilon > pair.pure + ROUNDING,
        "mu": shown.mu > 0 and bool((deltas < allowed - ROUNDING)[allowed > LEAST].all()),
        "delta": bool((shown.delta_low > deltas + ROUNDING).any()),
        "errors": bool((least > shown.type_2 + ROUNDING).any()),
        "renyi": bool((shown.renyi_low > np.array(renyi) + ROUNDING).any()),
    }


def counted(case: Case, seeds: range, *, confidence: float, together: bool) -> dict[str, int]:
    """Return in how many of the seeds each family is above the truth, and in how many any is."""
    times = dict.fromkeys((*FAMILIES, "any"), 0)
    for seed in seeds:
        ((x, x_prime),) = case.drawn(seed, "fresh")
        shown = measure(
            x,
            x_prime,
            confidence=confidence,
            orders=ORDERS,
            epsilons=EPSILONS,
            together=together,
            seed=seed,
        )
        wrong = above(shown, case.pairs[0])
        for family in FAMILIES:
            times[family] += wrong[family]
        times["any"] += any(wrong.values())
    return times


def most(runs: int, level: float, chance: float = 1e-6) -> int:
    """Return the most runs above the truth that happen by more than such a chance at a level."""
    tail, times = 0.0, runs
    while tail + math.comb(runs, times) * level**times * (1 - level) ** (runs - times) < chance:
        tail += math.comb(runs, times) * level**times * (1 - level) ** (runs - times)
        times -= 1
    return times

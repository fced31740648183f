"""How near the exact bound comes to the level: `make measurements`.

Medians over 100 seeds of the lower bound at 95 % from 400,000 draws in all, one pair: a fifth of
each side to choose the events, the rest to confirm them. ``goal`` is what it is meant to reach.
The last line is one pair of level 0.7 among 99 of 0.2: how often it is found, at 1000 draws a side
to choose from, and the median bound from 10,000 fresh ones. Nothing is asserted.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from epsilometer.estimators.base import EventEvidence
from epsilometer.estimators.berger_boos import BergerBoos
from epsilometer.estimators.witness import Witness
from epsilometer.mechanisms.noisy_max import ReportNoisyMax
from epsilometer.mechanisms.sparse_vector import SparseVector

TOTAL, RUNS, LEVEL = 400_000, 100, 0.7
CHOOSING = 0.2  # share of the draws
Draw = Callable[[int, int, np.random.Generator], np.ndarray]


def laplace(unit: float, side: int, n: int, rng: np.random.Generator) -> np.ndarray:
    return unit * rng.laplace(LEVEL * side, 1, n)


def geometric(scale: int, side: int, n: int, rng: np.random.Generator) -> np.ndarray:
    stop = -math.expm1(-LEVEL / scale)
    noise = rng.geometric(stop, n) - rng.geometric(stop, n)
    return (noise + scale * side).astype(np.int32)


def noisy_max(side: int, n: int, rng: np.random.Generator) -> np.ndarray:
    return ReportNoisyMax(LEVEL).sample([[1] * 6, [0, *[2] * 5]][side], n, rng)


def svt6(side: int, n: int, rng: np.random.Generator) -> np.ndarray:
    return SparseVector(LEVEL, 6).sample([[1] * 10, [0] * 5 + [2] * 5][side], n, rng)


EXACT: dict[str, tuple[Draw, float, float]] = {  # and the level, and the goal
    "Laplace": (partial(laplace, 1.0), LEVEL, 0.688),
    "Laplace, unit 1e-9": (partial(laplace, 1e-9), LEVEL, 0.688),
    "Laplace, unit 1e-5": (partial(laplace, 1e-5), LEVEL, 0.688),
    "Laplace, unit 1e9": (partial(laplace, 1e9), LEVEL, 0.688),
    "geometric": (partial(geometric, 1), LEVEL, 0.692),
    "geometric, scale 100": (partial(geometric, 100), LEVEL, 0.686),
    "Report Noisy Max": (noisy_max, 0.6927, 0.672),
    "SVT6": (svt6, 3.0918, 2.0),
}


def bound(pairs: list[Any], drawn: Callable[[int], tuple[Any, Any]], fresh: int) -> Any:
    """Return the pair that was chosen, and its bound."""
    method = Witness()
    chosen, losses = method.screen(pairs, draws=fresh)
    evidence = method.weigh(*drawn(chosen), losses[chosen].target)
    single = EventEvidence(*[[part] for part in vars(evidence).values()])
    return chosen, float(BergerBoos("witness").bound(single)[0])


def one_run(name: str, seed: int) -> float:
    draw, rng = EXACT[name][0], np.random.default_rng(seed)
    n = round(CHOOSING * TOTAL / 2)
    fresh = TOTAL // 2 - n
    pairs = [(draw(0, n, rng), draw(1, n, rng))]
    return float(bound(pairs, lambda _: (draw(0, fresh, rng), draw(1, fresh, rng)), fresh)[1])


def one_among_a_hundred(seed: int) -> tuple[bool, float]:
    rng = np.random.default_rng(seed)
    where, distances = int(rng.integers(100)), np.full(100, 0.2)
    distances[where] = LEVEL
    pairs = [(rng.laplace(0, 1, 1000), rng.laplace(d, 1, 1000)) for d in distances]

    def drawn(chosen: int) -> tuple[Any, Any]:
        return rng.laplace(0, 1, 10_000), rng.laplace(distances[chosen], 1, 10_000)

    chosen, lower = bound(pairs, drawn, 10_000)
    return chosen == where, lower


def main() -> None:
    """Print the medians."""
    print(
        f"{'median bound at 4e5 draws':28}{'level':>8}{'goal':>8}{'median':>8}{'above':>7}{'s':>6}"
    )
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for name, (_, level, goal) in EXACT.items():
            start = time.perf_counter()
            lower = np.array(list(pool.map(partial(one_run, name), range(RUNS))))
            above, spent = (lower > level).mean(), time.perf_counter() - start
            numbers = f"{level:8.4f}{goal:8.3f}{np.median(lower):8.4f}{above:7.2f}{spent:6.1f}"
            print(f"{'  ' + name:28}{numbers}")
        hits, bounds = zip(*pool.map(one_among_a_hundred, range(RUNS)), strict=True)
        print(f"{'  one pair among 100':28}{LEVEL:8.4f}{'':8}{np.median(bounds):8.4f}", end="")
        print(f"   found in {np.mean(hits):.0%} (goal 85 %)")


if __name__ == "__main__":
    main()

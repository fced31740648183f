"""How few draws refute a claim: `python -m tests.benchmarks.few_draws`, some five minutes.

It prints the mean number of draws of each side until a false claim is refuted, with one look at
every draw, beside the least that any audit of outputs can need (the floor, for pure claims), and
the share of runs in which a claim that just holds is refuted. `--only` chooses rows by their names.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from epsilometer.auditing.statistics.predictors import Mixture

ALPHA, DELTA, MOST = 0.05, 1e-5, 20_000
LEVELS = (0.01, 0.1, 1.0)
Rng = np.random.Generator
Draw = Callable[[int, int, Rng], Any]


@dataclass(frozen=True)
class Row:
    name: str
    epsilon: float
    draw: Draw
    """Draws of a side (0, 1), so many."""
    floor: float = math.nan
    at_most: float = math.nan
    """Mean draws, or the share refuted where the claim holds."""
    holds: bool = False
    delta: float = DELTA


def halved(noise: str, epsilon: float, side: int, n: int, rng: Rng) -> Any:
    """NonDPGaussian1 and NonDPLaplace1: on x' only half of the noise."""
    return getattr(rng, noise)(0.5 * side, (2 - side) / epsilon, n)


def shifted(noise: str, distance: float, unit: float, side: int, n: int, rng: Rng) -> Any:
    return unit * getattr(rng, noise)(distance * side, 1, n)


def cauchy(side: int, n: int, rng: Rng) -> Any:
    return rng.standard_cauchy(n) + 2 * side


def geometric(epsilon: float, side: int, n: int, rng: Rng) -> Any:
    p = 1 - math.exp(-epsilon)
    return rng.geometric(p, n) - rng.geometric(p, n) + side


def response(epsilon: float, side: int, n: int, rng: Rng) -> Any:
    """Randomised response."""
    return (rng.random(n) < 1 / (1 + math.exp(epsilon))).astype(float) * (1 - 2 * side) + side


def two_peaks(distance: float, side: int, n: int, rng: Rng) -> Any:
    """Two peaks on x', of which x has the mean and the variance."""
    noise = rng.normal(0, 1, n)
    if side == 0:
        return noise * math.hypot(1, distance)
    return noise + distance * rng.choice([-1, 1], n)


def skipped(epsilon: float, share: float, side: int, n: int, rng: Rng) -> Any:
    """Laplace noise, skipped on a share of the draws."""
    return side + rng.laplace(0, 1 / epsilon, n) * (rng.random(n) >= share)


FLOORS = {"normal": (16.4, 18.8, 58.8), "laplace": (28.5, 34.6, 184.0)}
GOALS = {"normal": (40.0, 46.0, 130.0), "laplace": (62.0, 76.0, 340.0)}
ROWS = [
    Row(
        f"NonDP{'Gaussian' if noise == 'normal' else 'Laplace'}1 {epsilon:g}",
        epsilon,
        partial(halved, noise, epsilon),
        FLOORS[noise][i],
        GOALS[noise][i],
    )
    for noise in ("normal", "laplace")
    for i, epsilon in enumerate(LEVELS)
]
OTHERS = [
    Row("Laplace 2 for 1", 1, partial(shifted, "laplace", 2, 1e-5)),
    Row("Gaussian shift 1 for .1", 0.1, partial(shifted, "normal", 1, 1e6)),
    Row("Cauchy shift 2 for .1", 0.1, cauchy),
    Row("geometric 2 for 1", 1, partial(geometric, 2)),
    Row("randomised response 2 for 1", 1, partial(response, 2)),
    Row("two peaks for .1", 0.1, partial(two_peaks, 3)),
    Row("noise skipped in 10 %", 1, partial(skipped, 1, 0.1)),
    Row("Laplace .7 for .5", 0.5, partial(shifted, "laplace", 0.7, 1)),
]
HOLD = [
    Row("Laplace 1 holds", 1, partial(shifted, "laplace", 1, 1), holds=True),
    Row("Laplace .1 holds", 0.1, partial(shifted, "laplace", 0.1, 1), holds=True),
    Row("geometric 1 holds", 1, partial(geometric, 1), holds=True),
    Row("randomised response 1 holds", 1, partial(response, 1), holds=True),
    Row("equal Gaussians hold 0", 0.0, partial(shifted, "normal", 0, 1), holds=True),
]


def mixture(row: Row) -> Mixture:
    return Mixture(np.array([row.epsilon]), np.array([row.delta]))


def stopping(row: Row, seed: int, most: int) -> float:
    """Return the draws of a side until the claim is refuted; infinite if it is not."""
    rng, bets, n = np.random.default_rng([seed, len(row.name)]), mixture(row), 0
    while n < most:
        size = min(max(32, n // 8), most - n)
        log = bets.record(*(row.draw(side, size, rng) for side in (0, 1)))[:, 0]
        crossed = log >= -math.log(ALPHA)
        if crossed.any():
            return n + int(crossed.argmax()) + 1
        n += size
    return math.inf


def seconds(draws: int) -> float:
    """Return the CPU time of an audit in which nothing is refuted."""
    row, rng = HOLD[0], np.random.default_rng(0)
    sides = [row.draw(side, draws, rng) for side in (0, 1)]
    started = time.process_time()
    mixture(row).record(*sides)
    return time.process_time() - started


def text(row: Row, draws: Any) -> tuple[str, bool]:
    """Return a line of the table, and whether its goal is met."""
    runs = draws.size
    if row.holds:
        share = np.isfinite(draws).mean()
        error = math.sqrt(ALPHA * (1 - ALPHA) / runs)
        line = f"| {row.name} | | | {100 * share:.1f} % refuted | {100 * error:.1f} |"
        return line, bool(share <= ALPHA + 2 * error)
    missed = int(np.isinf(draws).sum())
    draws = np.where(np.isinf(draws), MOST, draws)
    mean, error = draws.mean(), draws.std() / math.sqrt(runs)
    ends = [f"{end:g}" if math.isfinite(end) else "" for end in (row.floor, row.at_most)]
    note = f" ({missed} not refuted)" if missed else ""
    line = f"| {row.name} | {ends[0]} | {ends[1]} | {mean:.1f}{note} | {error:.1f} |"
    return line, not mean > row.at_most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="audits of each row (1000)")
    parser.add_argument("--draws", type=int, default=2000, help="of a side where a claim holds")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="rows whose names contain this")
    parser.add_argument("--others", action="store_true", help="further false claims, too")
    chosen = parser.parse_args()
    rows = [row for row in ROWS + OTHERS * chosen.others + HOLD if chosen.only in row.name]
    stopping(ROWS[0], 0, 100)  # compiles
    print("| claim | floor | at most | mean draws a side | standard error |", flush=True)
    print("|---|---:|---:|---:|---:|", flush=True)
    met = True
    with ProcessPoolExecutor(chosen.cores) as pool:
        for row in rows:
            most = chosen.draws if row.holds else MOST
            numbers = range(chosen.runs)
            draws = pool.map(partial(stopping, row, most=most), numbers, chunksize=20)
            line, good = text(row, np.array(list(draws)))
            print(line, flush=True)
            met &= good
    print(f"\nCPU: {1e3 * seconds(500):.0f} ms for 500 draws a side,", end=" ")
    print(f"{1e3 * seconds(50_000):.0f} ms for 50,000")
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())

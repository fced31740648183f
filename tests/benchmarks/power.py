"""Whether audits find what is forecast: `python -m tests.benchmarks.power`, some ten minutes.

For each cell it asks `samples_needed` for the draws that find a level with probability .9, audits a
mechanism of that level with so many, as the reals that its outputs stand for, and counts how often
the claim is refuted. Where there are several pairs, one violates the claim, and the others are just
at it. Rare events are one value amid noise. It prints the table of docs/audit.md, and ends with 1
where a share is below .87 by more than chance.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom
from tests.benchmarks.scripts import head, line, parsed

import epsilometer_audit as ea
from epsilometer_audit.statistics.claims import AnyClaim
from epsilometer_audit.statistics.rounds import Evidence, gather, schedule

GOAL, LEAST, CHANCE, ALPHA = 0.9, 0.87, 1e-3, 0.05
MANY = 20  # pairs, from which a cell has a fourth of the runs
Rng = np.random.Generator
Draw = Callable[[int, int, Rng], Any]


def laplace(distance: float, side: int, n: int, rng: Rng) -> Any:
    return rng.laplace(distance * side, 1, n)


def gaussian(distance: float, side: int, n: int, rng: Rng) -> Any:
    return rng.normal(distance * side, 1, n)


def rare(noise: Draw, p: float, q: float, side: int, n: int, rng: Rng) -> Any:
    outputs = noise(side, n, rng)
    outputs[rng.random(n) < (p, q)[side]] = 0.25
    return outputs


@dataclass(frozen=True)
class Cell:
    claim: AnyClaim
    level: float
    bad: Draw
    good: Draw
    pairs: int = 1
    event: float | None = None


def distance(claim: Any, level: float) -> float:
    """Return how far apart noise of this level is: Laplace for epsilon, else Gaussian.

    Laplace noise of distance d has delta 1 - exp(-(d - epsilon) / 2).
    """
    if claim.quantity == "epsilon":
        return level - 2 * math.log1p(-claim.delta)
    if claim.quantity == "mu":
        return level
    return math.sqrt(2 * level / getattr(claim, "order", 1.0))


def cell(claim: Any, level: float, pairs: int = 1, event: float | None = None) -> Cell:
    """Return a cell of noise at this level, or of an event of this probability on x, amid noise."""
    noise = laplace if claim.quantity == "epsilon" else gaussian
    bad, good = (partial(noise, distance(claim, at)) for at in (level, claim.level))
    if event is not None:
        bad = partial(rare, good, event, likelier(claim, event, level))
    return Cell(claim, level, bad, good, pairs, event)


def likelier(claim: Any, event: float, level: float) -> float:
    """Return the largest probability on x' that the level allows for an event."""
    return event * math.exp(level) if claim.quantity == "epsilon" else ndtr(ndtri(event) + level)


def renyi_of_laplace(order: float, claimed: float, level: float) -> Cell:
    """Laplace noise, where a Gaussian's divergence lies in outputs that are never drawn."""

    def distance(rho: float) -> float:
        low, high = 0.0, rho + 4
        for _ in range(60):
            d = (low + high) / 2
            a = order
            terms = (a - 1) * d + math.log(a), -a * d + math.log(a - 1)
            over = (np.logaddexp(*terms) - math.log(2 * a - 1)) / (a - 1) >= rho
            low, high = (low, d) if over else (d, high)
        return high

    bad, good = (partial(laplace, distance(rho)) for rho in (level, claimed))
    return Cell(ea.renyi({order: claimed}), level, bad, good)


CELLS = [
    cell(ea.pure(0.01), 0.05),
    cell(ea.pure(0.1), 0.2),
    cell(ea.pure(0.5), 0.7),
    cell(ea.pure(1), 1.2),
    cell(ea.pure(1), 2),
    cell(ea.pure(3), 4),
    cell(ea.pure(5), 6),
    cell(ea.pure(0.5), 0.7, 10),
    cell(ea.pure(1), 2, 10),
    cell(ea.pure(0.5), 0.9, 100),
    cell(ea.approximate(1, 1e-5), 1.3),
    cell(ea.approximate(0.5, 0.01), 0.8),
    cell(ea.approximate(1, 0.05), 1.4),
    cell(ea.approximate(1, 1e-3), 1.5, 10),
    cell(ea.renyi({1.5: 0.1}), 0.2),
    cell(ea.renyi({2: 0.5}), 0.75),
    cell(ea.renyi({2: 3}), 4),
    cell(ea.renyi({3: 2}), 4),
    cell(ea.renyi({7: 0.5}), 1),
    renyi_of_laplace(20, 3, 4),
    cell(ea.renyi({2: 0.5}), 1, 10),
    cell(ea.gdp(0.1), 0.2),
    cell(ea.gdp(1), 1.3),
    cell(ea.gdp(3), 4),
    cell(ea.gdp(1), 1.5, 10),
    cell(ea.gdp(1), 2, 100),
    cell(ea.zcdp(0.05), 0.1),
    cell(ea.zcdp(0.5), 0.75),
    cell(ea.pure(0.5), 1.5, event=0.01),
    cell(ea.pure(1), 3, event=0.001),
    cell(ea.pure(1), 3, 10, 0.01),
    cell(ea.gdp(1), 2, event=0.01),
]


def share(i: int, runs: int) -> tuple[int, int, int]:
    """Return the draws forecast for a cell, how many audits refute its claim, and of how many."""
    cell, hits = CELLS[i], 0
    options = {"power": GOAL, "alpha": ALPHA, "pairs": cell.pairs, "event": cell.event}
    samples = ea.samples_needed(cell.claim, detect=cell.level, **options)
    runs = runs // 4 if cell.pairs > MANY else runs
    for run in range(runs):
        rng = np.random.default_rng([i, samples, run])
        bad = int(rng.integers(cell.pairs))

        def draw(sides: Any, n: int, bad: int = bad, rng: Rng = rng) -> Any:
            laws = [(cell.bad if pair == bad else cell.good, side) for pair, side in sides]
            return [law(side, n, rng) for law, side in laws]

        evidence = Evidence(cell.claim, cell.pairs, ALPHA, as_reals=True)
        steps = schedule(samples, cell.pairs)
        gather(draw, steps, evidence, Evidence.refuted)
        hits += evidence.refuted()
    return samples, hits, runs


def main() -> int:
    chosen = parsed(__doc__, runs=200)
    cells = [i for i, cell in enumerate(CELLS) if chosen.only in cell.claim.text()]
    head("claim|true level|pairs|event|samples forecast|share found|runs")
    missed = 0
    with ProcessPoolExecutor(chosen.cores) as pool:
        counted = pool.map(partial(share, runs=chosen.runs), cells)
        for i, (samples, hits, runs) in zip(cells, counted, strict=True):
            cell = CELLS[i]
            event = "" if cell.event is None else f"{cell.event:g}"
            found = f"{hits / runs:.2f}"
            level = f"{cell.level:g}"
            line(cell.claim.text(), level, cell.pairs, event, f"{samples:,}", found, runs)
            missed += binom.cdf(hits, runs, LEAST) < CHANCE
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())

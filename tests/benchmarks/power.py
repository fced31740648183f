"""Whether audits find what is forecast: `python -m tests.benchmarks.power`, some ten minutes.

Audits of a mechanism get the draws that `samples_needed` asks for to find its level with
probability .9. Of several pairs one violates the claim, and the others are just at it. Rare events
are one value amid noise. It prints the table of docs/audit.md, and ends with 1 where a share of
refuted claims is below .87 by more than chance.
"""

from __future__ import annotations

import math
import sys
from collections import namedtuple
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binom
from tests.benchmarks.scripts import head, line, parsed

import epsilometer_audit as ea
from epsilometer.claims import Claim
from epsilometer_audit.statistics.power import _event
from epsilometer_audit.statistics.rounds import Evidence, run_rounds, schedule

LEAST, CHANCE, ALPHA = 0.87, 1e-3, 0.05
MANY = 20  # pairs, from which a cell has a fourth of the runs


Cell = namedtuple("Cell", "claim level pairs event", defaults=(1, None))
ROWS: list[tuple[Any, ...]] = [  # a claim and a true level; pairs; the probability of an event
    *((ea.pure(e), to) for e, to in ((0.01, 0.05), (0.1, 0.2), (0.5, 0.7), (1, 1.2))),
    *((ea.pure(e), to) for e, to in ((1, 2), (3, 4), (5, 6))),
    *((ea.pure(e), to, pairs) for e, to, pairs in ((0.5, 0.7, 10), (1, 2, 10), (0.5, 0.9, 100))),
    *(
        (ea.approximate(e, d), to)
        for e, d, to in ((1, 1e-5, 1.3), (0.5, 0.01, 0.8), (1, 0.05, 1.4))
    ),
    (ea.approximate(1, 1e-3), 1.5, 10),
    *((ea.renyi({a: e}), to) for a, e, to in ((1.5, 0.1, 0.2), (2, 0.5, 0.75), (2, 3, 4))),
    *((ea.renyi({a: e}), to) for a, e, to in ((3, 2, 4), (7, 0.5, 1), (20, 3, 4))),
    (ea.renyi({2: 0.5}), 1, 10),
    *((ea.gdp(mu), to) for mu, to in ((0.1, 0.2), (1, 1.3), (3, 4))),
    *((ea.gdp(1), to, pairs) for to, pairs in ((1.5, 10), (2, 100))),
    *((ea.zcdp(rho), to) for rho, to in ((0.05, 0.1), (0.5, 0.75))),
    (ea.pure(0.5), 1.5, 1, 0.01),
    (ea.pure(1), 3, 1, 0.001),
    (ea.pure(1), 3, 10, 0.01),
    (ea.gdp(1), 2, 1, 0.01),
]
CELLS = [Cell(*row) for row in ROWS]


def sampler(
    claim: Claim, level: float, event: float | None = None
) -> Callable[[int, int, np.random.Generator], Any]:
    """Return a function that draws outputs of a side (0 is x), so many, that attain a level."""
    levels = np.array([level if event is None else claim.level])
    noise = claim.noise(levels)
    (distance,) = noise.distances
    rare = [0.0, 0.0]
    if event is not None:
        p, q = rare = [float(each[0]) for each in _event(claim, np.array([level]), event)]
        # beside the event all outputs satisfy the claim, though they are rarer on x
        distance = 0.0 if claim.orders else max(claim.level - math.log((1 - q) / (1 - p)), 0.0)

    def draw(side: int, size: int, rng: np.random.Generator) -> Any:
        outputs = (rng.normal if noise.gaussian else rng.laplace)(distance * side, 1.0, size)
        outputs[rng.random(size) < rare[side]] = 0.3  # within the range of the noise
        return outputs

    return draw


def share(cell: Cell, runs: int) -> tuple[int, int, int]:
    """Return the draws forecast for a cell, how many audits refute its claim, and of how many."""
    claim, level, pairs, event = cell
    options = {"power": 0.9, "alpha": ALPHA, "pairs": pairs, "event": event}
    samples = ea.samples_needed(claim, detect=level, **options)
    runs, hits = runs // 4 if pairs > MANY else runs, 0
    laws = [sampler(claim, at, event) for at in (claim.level, level)]
    for run in range(runs):
        rng = np.random.default_rng([CELLS.index(cell), samples, run])
        bad = int(rng.integers(pairs))

        def draw(sides: Any, n: int, bad: int = bad, rng: Any = rng) -> Any:
            return [laws[pair == bad](side, n, rng) for pair, side in sides]

        evidence = Evidence(claim, pairs, ALPHA, as_reals=True)
        run_rounds(draw, schedule(samples, pairs), evidence, Evidence.refuted)
        hits += evidence.refuted()
    return samples, hits, runs


def main() -> int:
    chosen = parsed(__doc__, runs=200)
    cells = [cell for cell in CELLS if chosen.only in cell.claim.text()]
    head("claim|true level|pairs|event|samples forecast|share found|runs")
    missed = 0
    with ProcessPoolExecutor(chosen.cores) as pool:
        counted = pool.map(partial(share, runs=chosen.runs), cells)
        for cell, (samples, hits, runs) in zip(cells, counted, strict=True):
            name, level, event = cell.claim.text(), f"{cell.level:g}", cell.event or ""
            line(name, level, cell.pairs, event, f"{samples:,}", f"{hits / runs:.2f}", runs)
            missed += binom.cdf(hits, runs, LEAST) < CHANCE
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())

"""What a planned end adds: `PYTHONPATH=studies python -m tests.benchmarks.planned_end`, an hour.

Shares of audits that refute a claim with a number of draws: with bets for growth, as an audit that
may stop makes them; with stakes by the plan (`epsilometer_audit.statistics.stakes`); and with the
last look, too (`epsilometer_audit.statistics.wealth`). They are for false claims, at multiples of
the floor, the least mean number of draws of any sequential test; and for claims that just hold, at
the same numbers. It ends with 1 where more of the latter are refuted than alpha allows, but for
chance.
"""

from __future__ import annotations

import math
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import stats
from tests.benchmarks.scripts import head, line, parsed

import epsilometer_audit as ea
from epsilometer.claims import Claim
from epsilometer_audit.statistics.rounds import Evidence, run_rounds, schedule
from limit.kl_inf.draws import floor
from limit.kl_inf.project import project

TIMES = (0.5, 1.0, 1.5, 2.0, 3.0)
CHANCE = 1e-3
ALPHA = 0.05
GRID = np.linspace(-12, 16, 20_001)


@dataclass(frozen=True)
class Cell:
    """A claim, and laws on x and x' that violate it or, as ``at_claim``, just satisfy it."""

    claim: Claim
    false: tuple[Any, Any]
    at_claim: tuple[Any, Any]

    @property
    def floor(self) -> float:
        """The least mean number of draws of a side of any sequential test."""
        p, q = (masses(law) for law in self.false)
        return floor(project(p, q, self.claim).kl_inf, ALPHA)


def masses(law: Any) -> Any:
    """Return the probabilities of the outputs, or of cells."""
    if hasattr(law, "pmf"):
        return law.pmf(np.arange(2))
    return np.diff(law.cdf(GRID), prepend=0.0, append=1.0)


def laplace(distance: float) -> tuple[Any, Any]:
    """Return Laplace noise of scale 1 on two answers."""
    return stats.laplace(0), stats.laplace(distance)


def gaussian(distance: float) -> tuple[Any, Any]:
    """Return Gaussian noise of scale 1 on two answers."""
    return stats.norm(0), stats.norm(distance)


def response(epsilon: float) -> tuple[Any, Any]:
    """Return randomised response of a bit."""
    p = 1 / (1 + math.exp(-epsilon))
    return stats.bernoulli(p), stats.bernoulli(1 - p)


def width(delta: float) -> float:
    """Return the distance of Gaussian noise of epsilon 1 at this delta."""
    from scipy.optimize import brentq

    def excess(mu: float) -> float:
        return stats.norm.cdf(mu / 2 - 1 / mu) - math.e * stats.norm.cdf(-mu / 2 - 1 / mu) - delta

    return float(brentq(excess, 0.1, 10))


CELLS = {
    "epsilon 1, Laplace 1.25": Cell(ea.pure(1), laplace(1.25), laplace(1)),
    "epsilon 1, Laplace 2": Cell(ea.pure(1), laplace(2), laplace(1)),
    "epsilon 1, response 1.5": Cell(ea.pure(1), response(1.5), response(1)),
    "epsilon .1, Laplace .3": Cell(ea.pure(0.1), laplace(0.3), laplace(0.1)),
    "epsilon 1, delta .01, Gaussian": Cell(
        ea.approximate(1, 0.01), gaussian(1), gaussian(width(0.01))
    ),
    "mu 1, Gaussian 1.5": Cell(ea.gdp(1), gaussian(1.5), gaussian(1)),
    "Renyi 2: .5, Gaussian 1.5": Cell(ea.renyi({2: 0.5}), gaussian(1.5), gaussian(math.sqrt(0.5))),
}


def refuting(laws: tuple[Any, Any], claim: Claim, draws: int, seed: int) -> list[bool]:
    """Return whether audits refute a claim: for growth, by a plan, and with the last look."""
    refuted = []
    for may_stop in (True, False):
        rng = np.random.default_rng([draws, seed])

        def draw(sides: Any, n: int, rng: Any = rng) -> list[Any]:
            return [laws[side].rvs(n, random_state=rng) for _, side in sides]

        evidence = Evidence(claim, 1, ALPHA, as_reals=not hasattr(laws[0], "pmf"))
        run_rounds(draw, schedule(draws, 1), evidence, each_block=may_stop)
        refuted.append(evidence.refuted() and not evidence.refuted_by_last_look())
    return [*refuted, evidence.refuted()]


def shares(name: str, laws: str, draws: int, runs: int) -> list[float]:
    """Return the shares of audits that refute the claim of a cell, as `refuting` does."""
    cell = CELLS[name]
    refuted = [refuting(getattr(cell, laws), cell.claim, draws, seed) for seed in range(runs)]
    return list(np.mean(refuted, axis=0))


def main() -> int:
    chosen = parsed(__doc__, runs=200)
    wrong = 0
    head("claim, and what is audited|floor" + "".join(f"|{times:g} floors" for times in TIMES))
    with ProcessPoolExecutor(chosen.cores) as pool:
        for name, cell in CELLS.items():
            if chosen.only not in name:
                continue
            draws = [max(math.ceil(times * cell.floor), 10) for times in TIMES]
            for laws, text in (("false", name), ("at_claim", "the claim just holds")):
                found = list(pool.map(partial(shares, name, laws, runs=chosen.runs), draws))
                texts = [" -> ".join(f"{share:.2f}" for share in each) for each in found]
                line(text, f"{cell.floor:.0f}", *texts)
                if laws == "at_claim":
                    hits = np.array([round(each[-1] * chosen.runs) for each in found])
                    tails = stats.binom.sf(hits - 1, chosen.runs, ALPHA)
                    wrong += int(np.count_nonzero(tails < CHANCE))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())

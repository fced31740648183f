"""Whether promised draws and levels find violations, on ten mechanisms and mechanisms like them.

`PYTHONPATH=studies python -m tests.benchmarks.promised_power` prints a table.

It asks `samples_needed` for the draws that show the level of each of ten mechanisms, with
probability .9 and against a smaller claim, audits the mechanism with so many, and counts refuted
claims; the floor of that mechanism stands beside. Then it audits mechanisms of the same shape
that just keep the claim, and others that have the `detectable` level of each of these verdicts. It
ends with 1 where a share is below .87 by more than chance. `--only` chooses rows by their names.
All rows take about an hour of one core.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import ndtri
from tests.benchmarks.few_draws import geometric, geometric_masses
from tests.benchmarks.power import ALPHA, CHANCE, GOAL, LEAST
from tests.benchmarks.scripts import head, line, parsed

import epsilometer_audit as ea
from epsilometer.bisection import bisected
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer_audit.statistics.power import detectable
from epsilometer_audit.statistics.rounds import Evidence, gather, schedule
from limit.kl_inf.draws import least_draws
from limit.kl_inf.project import project
from limit.projection import cells

DELTA, RARE = 0.01, 0.01
AUDITS = 10  # of a level that a verdict calls detectable
EPSILONS = np.geomspace(0.3, 8, 80)
Rng = np.random.Generator
Masses = tuple[Any, Any]


@dataclass(frozen=True)
class Family:
    """Mechanisms of one shape, by epsilon: draws of a side, and probabilities of cells."""

    name: str
    draw: Callable[[float, int, int, Rng], Any]
    masses: Callable[[float], Masses]
    additive: tuple[str, ...] = ()
    """Notions for which it is the noise that a forecast assumes."""
    pure: bool = True
    times: float = 1.5
    """The true level over the claimed one."""


def known(name: str, of: str, x: Any, x_prime: Any, **more: Any) -> Family:
    """Return mechanisms of the library, with their exact laws."""
    fields = {"additive", "pure", "times"} & set(more)
    options = {field: more.pop(field) for field in fields}

    def draw(epsilon: float, side: int, n: int, rng: Rng) -> Any:
        return MECHANISMS.load(of)(epsilon, **more).sample((x, x_prime)[side], n, rng)

    def masses(epsilon: float) -> Masses:
        return cells(EXACT.load(of)(MECHANISMS.load(of)(epsilon, **more)), x, x_prime)

    return Family(name, draw, masses, **options)


def clamped(epsilon: float, side: int, n: int, rng: Rng) -> Any:
    return np.clip(side + rng.laplace(0, 1 / epsilon, n), 0, 1)


def clamped_masses(epsilon: float) -> Masses:
    edges = np.linspace(0, 1, 201)
    below = [stats.laplace(side, 1 / epsilon).cdf(edges) for side in (0, 1)]
    return tuple(np.diff(each, prepend=0, append=1) for each in below)  # type: ignore[return-value]


def rare(epsilon: float, side: int, n: int, rng: Rng) -> Any:
    """Noise of level .5, and an atom."""
    z = rng.laplace(0.5 * side, 1, n)
    z[rng.random(n) < min(RARE * math.exp(epsilon * side), 0.9)] = 0.25
    return z


def rare_masses(epsilon: float) -> Masses:
    p = np.minimum(RARE * np.exp([0, epsilon]), 0.9)
    edges = np.concatenate([[-9], np.linspace(0, 0.5, 100), [9]])
    below = [stats.laplace(0.5 * side, 1).cdf(edges) for side in (0, 1)]
    rest = [np.diff(each, prepend=0, append=1) for each in below]
    return tuple(np.append((1 - s) * r, s) for s, r in zip(p, rest, strict=True))  # type: ignore[return-value]


FAMILIES = [
    known("Laplace", "laplace", 0.0, 1.0, additive=("pure", "approximate")),
    known("Gaussian", "gaussian", 0.0, 1.0, additive=("gdp",), pure=False),
    Family("geometric", geometric, geometric_masses),
    known("randomised response", "randomized_response", 0, 1),
    known("noisy max", "report_noisy_max", [1.0] * 4, [2.0, 0.0, 0.0, 0.0], queries=4),
    known(
        "sparse vector",
        "sparse_vector_first",
        [1.0] * 6,
        [0.0] * 3 + [2.0] * 3,
        variant=1,
        queries=6,
    ),
    Family("rare atom", rare, rare_masses, times=2.5),
    known("exponential", "exponential_half_line", 1.0, 2.0),
    known(
        "vector of 3",
        "laplace_vector",
        [0.0] * 3,
        [1.0, 0.0, 0.0],
        dimension=3,
        additive=("pure", "approximate"),
    ),
    Family("clamped Laplace", clamped, clamped_masses),
]
BY_NAME = {family.name: family for family in FAMILIES}
CLAIMS = {"pure": ea.pure(1.0), "approximate": ea.approximate(1.0, DELTA), "gdp": ea.gdp(0.8)}
ROWS = [
    (family.name, notion)
    for family in FAMILIES
    for notion in CLAIMS
    if family.pure or notion != "pure"
]


def worst(masses: Masses, notion: str) -> tuple[float, float]:
    """Return the level of two distributions, and the probability of the event that shows it."""
    levels = []
    for p, q in (masses, masses[::-1]):
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.where(p > 0, np.log(p) - np.log(q), -np.inf)
        if notion == "gdp":
            order = np.argsort(-loss, kind="stable")
            inside = [np.cumsum(side[order])[:-1] for side in (p, q)]
            kept = (inside[1] > 1e-4) & (inside[0] < 1 - 1e-4)
            with np.errstate(invalid="ignore"):
                above = np.where(kept, ndtri(inside[0]) - ndtri(inside[1]), 0.0)
            best = int(np.argmax(above))
            levels.append((float(above[best]), min(inside[1][best], 1 - inside[0][best])))
            continue
        level = float(loss.max())
        if notion == "approximate":

            def delta(epsilon: float, p: Any = p, q: Any = q) -> float:
                return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())

            level = bisected(lambda e, d=delta: d(e) > DELTA, 0.0, 20.0, 1e-9)[1]
        levels.append((level, float(q[loss > level - 1e-6].sum())))
    return max(levels)


@cache
def _levels(name: str, notion: str) -> Any:
    return [worst(BY_NAME[name].masses(epsilon), notion)[0] for epsilon in EPSILONS]


def epsilon_of(name: str, notion: str, level: float) -> float:
    """Return the epsilon at which mechanisms of this shape have a level."""
    return float(np.interp(level, _levels(name, notion), EPSILONS))


@cache
def promised(name: str, notion: str) -> tuple[int, float, float | None]:
    """Return the draws that are promised, the floor, and the event for which both hold."""
    family, claim = BY_NAME[name], CLAIMS[notion]
    level = family.times * claim.level  # type: ignore[union-attr]
    p, q = family.masses(epsilon_of(name, notion, level))
    event = None if notion in family.additive else worst((p, q), notion)[1]
    samples = ea.samples_needed(claim, detect=level, power=GOAL, alpha=ALPHA, event=event)
    return samples, least_draws(project(p, q, claim, 1e-6).kl_inf, ALPHA, GOAL), event


def audited(row: tuple[str, str], level: float, samples: int, rng: Rng) -> Evidence:
    """Audit a mechanism of a level with so many draws."""
    drawn = partial(BY_NAME[row[0]].draw, epsilon_of(*row, level))

    def draw(sides: Any, n: int) -> Any:
        return [drawn(side, n, rng) for _, side in sides]

    evidence = Evidence(CLAIMS[row[1]], 1, ALPHA, as_reals=True)
    return gather(draw, schedule(samples, 1), evidence, Evidence.refuted)


@cache
def detectable_in(row: tuple[str, str], samples: int, run: int) -> float:
    """Return the level that a verdict calls detectable, of a mechanism that just keeps its claim.

    Its witness may be more frequent than the event that shows levels of this shape; the verdict
    promises nothing about rarer events. Then the level is that for this event.
    """
    claim: Any = CLAIMS[row[1]]
    evidence = audited(row, claim.level, samples, np.random.default_rng([2, run, samples]))
    shown = worst(BY_NAME[row[0]].masses(epsilon_of(*row, claim.level)), row[1])[1]
    bet = evidence.bet(claim)
    event = shown if bet is None else min(bet.bet.mean_psi, shown)
    steps = schedule(samples, 1)
    return round(detectable(claim, steps, alpha=ALPHA, event=event) or math.inf, 3)


def shares(row: tuple[str, str], runs: int) -> tuple[list[str], bool]:
    """Return a line of the table, and whether either share is too small."""
    level = BY_NAME[row[0]].times * CLAIMS[row[1]].level  # type: ignore[union-attr]
    samples, floor, event = promised(*row)
    levels = [detectable_in(row, samples, run) for run in range(math.ceil(runs / AUDITS))]
    again = np.repeat(levels, AUDITS)[:runs]
    texts, missed = [], False
    for part, at in enumerate((np.full(runs, level), again)):
        rngs = [np.random.default_rng([part, run, samples]) for run in range(runs)]
        hits = [audited(row, *of).refuted() for of in zip(at, [samples] * runs, rngs, strict=True)]
        share = sum(hits) / runs
        texts += [f"{share:.3f}", f"{math.sqrt(share * (1 - share) / runs):.3f}"]
        missed |= bool(stats.binom.cdf(sum(hits), runs, LEAST) < CHANCE)
    texts.insert(2, f"{np.median(again):.3g}")
    of_event = "" if event is None else f"{event:.3g}"
    numbers = [f"{level:g}", of_event, f"{floor:.0f}", str(samples), *texts]
    return [row[0], CLAIMS[row[1]].text(), *numbers], missed


def main() -> int:
    chosen = parsed(__doc__, runs=400)
    rows = [row for row in ROWS if chosen.only in " ".join(row)]
    titles = "mechanism|claim|level|event|floor|draws promised|share found|error"
    head(f"{titles}|detectable (median)|share found|error")
    missed = 0
    with ProcessPoolExecutor(chosen.cores) as pool:
        for cells, too_few in pool.map(partial(shares, runs=chosen.runs), rows):
            line(*cells)
            missed += too_few
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())

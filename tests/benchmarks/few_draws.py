"""How few draws refute a claim: `PYTHONPATH=studies python -m tests.benchmarks.few_draws`.

It takes some twenty minutes, and prints the mean number of draws of each side until an audit with
`stop` refutes a false claim, beside the least that any audit of outputs can need (the floor), and
the share of audits in which a claim that just holds is refuted. `--only` chooses rows by names.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import stats
from tests.benchmarks.scripts import head, line, parsed

import epsilometer_audit as ea
from limit.kl_inf.draws import floor
from limit.kl_inf.project import project

ALPHA, DELTA, MOST = 0.05, 1e-5, 20_000
LEVELS = (0.01, 0.1, 1.0)
Rng = np.random.Generator
Draw = Callable[[int, int, Rng], Any]
Masses = Callable[[], tuple[Any, Any]]


@dataclass(frozen=True)
class Row:
    name: str
    claim: Any
    draw: Draw
    """Draws of a side (0, 1), so many."""
    masses: Masses | None = None
    """Probabilities of the same cells on both sides, for the floor."""
    floor: float = math.nan
    at_most: float = math.nan
    """Mean draws, or the share refuted where the claim holds."""
    holds: bool = False
    as_reals: bool = True

    @property
    def least(self) -> float:
        """The floor: the least mean draws of any audit."""
        if self.masses is None:
            return self.floor
        p, q = (np.asarray(side) / np.sum(side) for side in self.masses())
        return floor(project(p, q, self.claim).kl_inf, ALPHA)


def halved(noise: str, epsilon: float, side: int, n: int, rng: Rng) -> Any:
    """NonDPGaussian1 and NonDPLaplace1: on x' only half of the noise."""
    return getattr(rng, noise)(0.5 * side, (2 - side) / epsilon, n)


def shifted(noise: str, distance: float, unit: float, side: int, n: int, rng: Rng) -> Any:
    return unit * getattr(rng, noise)(distance * side, 1, n)


def on_a_line(law: Any, other: Any, reach: float = 40.0) -> Masses:
    """The masses of fine cells of two laws of scipy on the line."""

    def masses() -> tuple[Any, Any]:
        edges = np.sinh(np.linspace(-np.arcsinh(reach), np.arcsinh(reach), 4001))
        return tuple(np.maximum(np.diff(each.cdf(edges)), 1e-300) for each in (law, other))  # type: ignore[return-value]

    return masses


def cauchy(side: int, n: int, rng: Rng) -> Any:
    return rng.standard_cauchy(n) + 2 * side


def of_outcomes(outcomes: Sequence[Any], p: Any, q: Any) -> tuple[Draw, Masses]:
    """Draws of outcomes of any kind, and their probabilities."""
    sides = np.asarray(p) / np.sum(p), np.asarray(q) / np.sum(q)

    def draw(side: int, n: int, rng: Rng) -> Any:
        return [outcomes[i] for i in rng.choice(len(outcomes), n, p=sides[side])]

    return draw, lambda: sides


def geometric(epsilon: float, side: int, n: int, rng: Rng) -> Any:
    p = 1 - math.exp(-epsilon)
    return rng.geometric(p, n) - rng.geometric(p, n) + side


def geometric_masses(epsilon: float) -> tuple[Any, Any]:
    z = np.arange(-60, 62)
    p, q = (np.exp(-epsilon * np.abs(z - side)) for side in (0, 1))
    return p / p.sum(), q / q.sum()


def response(epsilon: float, side: int, n: int, rng: Rng) -> Any:
    """Randomised response."""
    return (rng.random(n) < 1 / (1 + math.exp(epsilon))).astype(float) * (1 - 2 * side) + side


def two_peaks(distance: float, side: int, n: int, rng: Rng) -> Any:
    """Two peaks on x', of which x has the mean and the variance."""
    noise = rng.normal(0, 1, n)
    if side == 0:
        return noise * math.hypot(1, distance)
    return noise + distance * rng.choice([-1, 1], n)


def two_peaks_masses() -> tuple[Any, Any]:
    z = np.linspace(-20, 20, 4001)
    p = stats.norm.pdf(z, 0, math.hypot(1, 3)) + 1e-300
    q = stats.norm.pdf(z, 3) + stats.norm.pdf(z, -3) + 1e-300
    return p, q


def skipped(epsilon: float, share: float, side: int, n: int, rng: Rng) -> Any:
    """Laplace noise, skipped on a share of the draws."""
    return side + rng.laplace(0, 1 / epsilon, n) * (rng.random(n) >= share)


def skipped_masses() -> tuple[Any, Any]:
    edges = np.linspace(-30, 31, 4001)
    rest = [0.9 * np.diff(stats.laplace(side, 1).cdf(edges)) for side in (0, 1)]
    return np.append(rest[0], [0.1, 1e-300]), np.append(rest[1], [1e-300, 0.1])


def vectors(distances: Sequence[float], side: int, n: int, rng: Rng) -> Any:
    return rng.normal(0, 1, (n, len(distances))) + side * np.asarray(distances)


def vector_masses(distances: Sequence[float]) -> Masses:
    """Those of the best score, which is Gaussian."""
    distance = float(np.linalg.norm(distances))
    return on_a_line(stats.norm(), stats.norm(distance), 12.0)


def sparse_masses(answers: Sequence[float], budget: float = 2.0) -> list[float]:
    """The probabilities of the index at which the noisy threshold is passed first, or of none."""
    z, width = np.linspace(-40, 40, 8001, retstep=True)
    density = stats.laplace(0, 2 / budget).pdf(z) * width
    none, masses = np.ones(z.size), []
    for answer in answers:
        above = stats.laplace(answer, 4 / budget).sf(z)
        masses.append(float(np.sum(density * none * above)))
        none = none * (1 - above)
    return [*masses, float(np.sum(density * none))]


def low_bits(side: int, n: int, rng: Rng) -> Any:
    return side * 0.7 + rng.laplace(0, 1, n)


def leaking(side: int, n: int, rng: Rng) -> Any:
    """Dictionaries of noise, with a key more on some draws of x."""
    noise, more = rng.laplace(0, 10, n), rng.random(n) < (0.3, 0.02)[side]
    return [
        {"count": z} | ({"cached": True} if m else {}) for z, m in zip(noise, more, strict=True)
    ]


class TooFewError(Exception):
    """An error that depends on the data."""


def failing(side: int, rng: Rng) -> Any:
    if rng.random() < (0.2, 0.01)[side]:
        raise TooFewError("too few rows")
    return float(rng.laplace(0, 10))


FLOORS = {"normal": (16.4, 18.8, 58.8), "laplace": (28.5, 34.6, 184.0)}
GOALS = {"normal": (40.0, 46.0, 130.0), "laplace": (62.0, 76.0, 340.0)}
ROWS = [
    Row(
        f"NonDP{'Gaussian' if noise == 'normal' else 'Laplace'}1 {epsilon:g}",
        ea.approximate(epsilon, DELTA),
        partial(halved, noise, epsilon),
        None,
        FLOORS[noise][i],
        GOALS[noise][i],
    )
    for noise in ("normal", "laplace")
    for i, epsilon in enumerate(LEVELS)
]
SVT = [sparse_masses(answers) for answers in ([1.0] * 6, [0.0] * 3 + [2.0] * 3)]
MAX = np.exp([0, 0.5, 1, 1.5, 2]), np.exp([2.0, 1.5, 1, 0.5, 0])
WORDS = ["yes", "no", "perhaps", "never", "always"]
SMALL = [0.3] * 10
OTHERS = [
    Row("geometric 2 for 1", ea.pure(1), partial(geometric, 2), partial(geometric_masses, 2)),
    Row(
        "geometric .5 for .25",
        ea.pure(0.25),
        partial(geometric, 0.5),
        partial(geometric_masses, 0.5),
    ),
    Row("noisy max, 2 for .7", ea.pure(0.7), *of_outcomes(range(5), *MAX)),
    Row("sparse vector", ea.pure(0.3), *of_outcomes([*range(6), -1], *SVT)),
    Row(
        "sparse vector, answers as bits",
        ea.pure(0.3),
        *of_outcomes([tuple(int(i == j) for i in range(6)) for j in range(7)], *SVT),
    ),
    Row(
        "randomised response 2 for 1",
        ea.pure(1),
        partial(response, 2),
        lambda: ([math.e**2, 1], [1, math.e**2]),
    ),
    Row("strings, 2 for .7", ea.pure(0.7), *of_outcomes(WORDS, *MAX)),
    Row(
        "vector of 10 shifts of .3",
        ea.approximate(0.3, DELTA),
        partial(vectors, SMALL),
        vector_masses(SMALL),
    ),
    Row(
        "vector of 3, one shift",
        ea.approximate(0.3, DELTA),
        partial(vectors, [0, 1.2, 0]),
        vector_masses([1.2]),
    ),
    Row("dictionary, key leaks", ea.pure(0.5), leaking, lambda: ([0.3, 0.7], [0.02, 0.98])),
    Row(
        "exception",
        ea.pure(0.5),
        failing,  # type: ignore[arg-type]
        lambda: ([0.2, 0.8], [0.01, 0.99]),
    ),
    Row("low bits, Laplace .7 for 1", ea.pure(1), low_bits, as_reals=False),
    Row(
        "Laplace 2 for 1",
        ea.pure(1),
        partial(shifted, "laplace", 2, 1e-5),
        on_a_line(stats.laplace(), stats.laplace(2)),
    ),
    Row(
        "Laplace .7 for .5",
        ea.pure(0.5),
        partial(shifted, "laplace", 0.7, 1),
        on_a_line(stats.laplace(), stats.laplace(0.7)),
    ),
    Row(
        "Gaussian 1 for (.1, 1e-5)",
        ea.approximate(0.1, DELTA),
        partial(shifted, "normal", 1, 1e6),
        on_a_line(stats.norm(), stats.norm(1), 12.0),
    ),
    Row(
        "Gaussian 1.5 for 1-GDP",
        ea.gdp(1),
        partial(shifted, "normal", 1.5, 1),
        on_a_line(stats.norm(), stats.norm(1.5), 10.0),
    ),
    Row(
        "Gaussian 1.5 for .5-zCDP",
        ea.zcdp(0.5),
        partial(shifted, "normal", 1.5, 1),
        on_a_line(stats.norm(), stats.norm(1.5), 10.0),
    ),
    Row(
        "Gaussian 1.2 for Rényi .7 at 2",
        ea.renyi({2: 0.7}),
        partial(shifted, "normal", 1.2, 1),
        on_a_line(stats.norm(), stats.norm(1.2), 10.0),
    ),
    Row("noise skipped in 10 %", ea.pure(1), partial(skipped, 1, 0.1), skipped_masses),
    Row(
        "Cauchy shift 2 for .1",
        ea.pure(0.1),
        cauchy,
        on_a_line(stats.cauchy(), stats.cauchy(2), 1e6),
    ),
    Row("two peaks for .1", ea.pure(0.1), partial(two_peaks, 3), two_peaks_masses),
]
HOLD = [
    Row("Laplace 1 holds", ea.pure(1), partial(shifted, "laplace", 1, 1), holds=True),
    Row("Laplace .1 holds", ea.pure(0.1), partial(shifted, "laplace", 0.1, 1), holds=True),
    Row("geometric 1 holds", ea.pure(1), partial(geometric, 1), holds=True),
    Row("randomised response 1 holds", ea.pure(1), partial(response, 1), holds=True),
    Row("equal Gaussians hold 0", ea.pure(0), partial(shifted, "normal", 0, 1), holds=True),
    Row("Gaussian 1 holds 1-GDP", ea.gdp(1), partial(shifted, "normal", 1, 1), holds=True),
    Row("Gaussian 1 holds .5-zCDP", ea.zcdp(0.5), partial(shifted, "normal", 1, 1), holds=True),
    Row("noisy max 2 holds, as strings", ea.pure(2), of_outcomes(WORDS, *MAX)[0], holds=True),
]

BY_NAME = {row.name: row for row in ROWS + OTHERS + HOLD}


def audit(row: Row, seed: int, samples: int, stop: bool = True) -> ea.Verdict:
    def mechanism(side: int, size: int, rng: Rng) -> Any:
        return row.draw(side, size, rng)

    return ea.audit(
        row.draw if row.draw is failing else mechanism,
        [(0, 1)],
        row.claim,
        samples=samples,
        alpha=ALPHA,
        seed=1000 * seed + len(row.name),
        stop=stop,
        as_reals=row.as_reals,
        failures=row.draw is failing,
        check_sampler=False,
    )


def stopping(name: str, seed: int, most: int) -> float:
    """Return the draws of a side until the row's claim is refuted; infinite if it is not."""
    verdict = audit(BY_NAME[name], seed, most)
    return verdict.draws if verdict.verdict == "violated" else math.inf


def seconds(draws: int) -> float:
    """Return the CPU time of an audit in which nothing is refuted."""
    started = time.process_time()
    audit(HOLD[0], 0, draws, stop=False)
    return time.process_time() - started


def judged(row: Row, draws: Any) -> tuple[list[str], bool]:
    """Return a line of the table, and whether its goal is met."""
    runs = draws.size
    if row.holds:
        share = np.isfinite(draws).mean()
        error = math.sqrt(ALPHA * (1 - ALPHA) / runs)
        cells = [row.name, "", "", f"{100 * share:.1f} % refuted", f"{100 * error:.1f}", ""]
        return cells, bool(share <= ALPHA + 2 * error)
    missed = int(np.isinf(draws).sum())
    draws = np.where(np.isinf(draws), MOST, draws)
    mean, error = draws.mean(), draws.std() / math.sqrt(runs)
    ends = [f"{end:.3g}" if math.isfinite(end) else "" for end in (row.least, row.at_most)]
    note = f" ({missed} not refuted)" if missed else ""
    times = f"{mean / row.least:.2f}" if math.isfinite(row.least) else ""
    return [row.name, *ends, f"{mean:.1f}{note}", f"{error:.1f}", times], not mean > row.at_most


def main() -> int:
    chosen = parsed(__doc__, "others", runs=1000, draws=2000)
    rows = [row for row in ROWS + OTHERS * chosen.others + HOLD if chosen.only in row.name]
    stopping(ROWS[0].name, 0, 100)  # compiles
    head("claim|floor|at most|mean draws a side|standard error|times the floor")
    met = True
    with ProcessPoolExecutor(chosen.cores) as pool:
        for row in rows:
            most = chosen.draws if row.holds else MOST
            numbers = range(chosen.runs)
            draws = pool.map(partial(stopping, row.name, most=most), numbers, chunksize=20)
            cells, good = judged(row, np.array(list(draws)))
            line(*cells)
            met &= good
    print(f"\nCPU: {1e3 * seconds(500):.0f} ms for 500 draws a side,", end=" ")
    print(f"{1e3 * seconds(50_000):.0f} ms for 50,000")
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())

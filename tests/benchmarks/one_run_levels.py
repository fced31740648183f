"""How often audits of one run refute Gaussian privacy that holds: part of `make audit-confidence`.

Every mechanism has the claimed mu exactly, or less. A row has the share of violated runs with its
exact interval at 99.9 %. It ends with 1 where one, or all by 2.6 standard errors, exceeds alpha.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial

import numpy as np
from scipy.special import expit, ndtri
from tests.benchmarks.scripts import head, interval, line, most, parsed

from epsilometer.claims import Gaussian, gaussian_deltas
from epsilometer.numerics.arrays import Bools, Floats
from epsilometer.numerics.bisection import bisected
from epsilometer_audit.statistics.guessing import Counted, count, rules_of

ALPHA, RUNS = 0.05, 800
Scores = Callable[[Bools, np.random.Generator], Floats]


def noisy(included: Bools, rng: np.random.Generator) -> Floats:
    return included + rng.normal(0, 1, included.size)


def common(included: Bools, rng: np.random.Generator) -> Floats:
    """Noise that all scores share, beside their own."""
    return noisy(included, rng) + rng.normal(0, 3)


def summed(included: Bools, rng: np.random.Generator) -> Floats:
    """Directions of canaries that are not orthogonal: one vector is released with noise."""
    directions = rng.normal(0, 1, (included.size, 200))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    return directions @ (included @ directions + rng.normal(0, 1, 200))


def all_told(odds: float, w: float, included: Bools, rng: np.random.Generator) -> Floats:
    """With probability w randomised response about all canaries, otherwise nothing."""
    right = rng.random(included.size) < (expit(odds) if rng.random() < w else 0.5)
    return np.where(right == included, 1, -1) * rng.random(included.size)


def one_told(odds: float, w: float, included: Bools, rng: np.random.Generator) -> Floats:
    """Randomised response about each canary with probability w, with the largest scores."""
    revealed = rng.random(included.size) < w
    right = rng.random(included.size) < np.where(revealed, expit(odds), 0.5)
    return np.where(right == included, 1, -1) * (rng.random(included.size) + revealed)


def at_times(mu: float, c: float, w: float, included: Bools, rng: np.random.Generator) -> Floats:
    """With probability w Gaussian noise, of which no log odds exceed c, otherwise nothing."""
    odds = np.abs(mu * rng.normal(mu / 2, 1, included.size))
    right = rng.random(included.size) < (expit(np.minimum(odds, c)) if rng.random() < w else 0.5)
    return np.where(right == included, 1, -1) * odds


def divergences(epsilons: Floats, odds: Floats, masses: Floats) -> Floats:
    """Return the hockey-stick divergences of log odds with masses."""
    excess = expit(odds) - np.exp(epsilons)[:, None] * expit(-odds)
    return np.asarray(np.maximum(excess, 0.0) @ masses)


def least_mu(epsilons: Floats, shown: Floats, above: float, apart: float = 1e-9) -> float:
    """Return the smallest mu that allows divergences."""

    def exceeded(mu: float) -> bool:
        return bool((gaussian_deltas(epsilons, mu) < shown).any())

    return bisected(exceeded, 0.0, above, apart)[1]


def allowed(odds: Floats, w: float) -> float:
    """Return the mu of log odds, each as likely as the others, that show with probability w."""
    epsilons = np.linspace(0, odds.max(), 500)
    shown = divergences(epsilons, odds, np.full(odds.size, w / odds.size))
    return least_mu(epsilons, shown, 2 * float(odds.max()))


def gaussian_odds(mu: float, c: float) -> Floats:
    """Return quantiles of the log odds of `at_times`."""
    z = ndtri((np.arange(2000) + 0.5) / 2000)
    return np.minimum(np.abs(mu * (z + mu / 2)), c)


CASES: dict[str, tuple[Scores, float]] = {  # and the mu that holds
    "own noise": (noisy, 1.0),
    "common noise": (common, 1.0),
    "one sum": (summed, 1.0),
    **{
        f"{name}, log odds {odds:g}, with chance {w:g}": (
            partial(noise, odds, w),
            allowed(np.array([odds]), w),
        )
        for odds, w in ((1.0, 0.05), (2.0, 0.08), (4.0, 0.02))
        for name, noise in (("all told", all_told), ("each told", one_told))
    },
    **{
        f"noise of {mu:g} up to {c:g}, with chance {w:g}": (
            partial(at_times, mu, c, w),
            allowed(gaussian_odds(mu, c), w),
        )
        for mu, c, w in ((1.0, 2.0, 0.08), (2.0, 3.0, 0.05), (2.0, 4.0, 0.1), (3.0, 5.0, 0.05))
    },
}


rules = cache(rules_of)


@cache
def refutes(canaries: int, mu: float, right: int, alpha: float) -> bool:
    (rule,) = rules(canaries, Gaussian(mu), alpha)
    return Counted(rule, right, canaries, 1.0).p_value_of(Gaussian(mu)) <= alpha


def violated(name: str, canaries: int, seed: int, alpha: float = ALPHA) -> bool:
    """Return whether the audit of one run is violated, without its other answers."""
    draw, mu = CASES[name]
    rng = np.random.default_rng([seed, canaries])
    included = rng.random(canaries) < 0.5
    scores = draw(included, rng)
    (counted,) = count(scores, included, rules(canaries, Gaussian(mu), alpha), seed)
    return refutes(canaries, mu, counted.right, alpha)


def main() -> int:
    """Print a row for each mechanism; return 1 if one is refuted too often."""
    chosen = parsed(__doc__, runs=RUNS, canaries=1000)
    names = [name for name in CASES if chosen.only in name]
    wrong = alarms = 0
    head("mechanism|mu|audits|violated|low|high|")
    with ProcessPoolExecutor(chosen.cores) as pool:
        for name in names:
            run = partial(violated, name, chosen.canaries)
            hits = sum(pool.map(run, range(chosen.runs), chunksize=100))
            low, high = interval(hits, chosen.runs)
            mark = "<--" if low > ALPHA else ""
            line(name, float(CASES[name][1]), chosen.runs, hits, low, high, mark)
            alarms, wrong = alarms + hits, wrong + (low > ALPHA)
    total = chosen.runs * len(names)
    line("all", "", total, alarms, "", "", f"at most {most(total, ALPHA):.1f}")
    return int(wrong > 0 or alarms > most(total, ALPHA))


if __name__ == "__main__":
    sys.exit(main())

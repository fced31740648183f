"""The functions of two arrays: how large their bounds are, and how often they are above the truth.

    python -m tests.benchmarks.functions            # levels of bounds and bands, 1000 seeds a law
    python -m tests.benchmarks.functions --power    # bounds beside those of the exact test

A bound of epsilon may be above the truth in a share 1 - confidence of the seeds, the lower end of a
band, at any of its epsilons, in half of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import norm
from tests.benchmarks.scripts import head, interval, line, parsed

import epsilometer as em
import epsilometer_audit as ea
from epsilometer import seeds

Rng = np.random.Generator
Sides = tuple[Any, Any]
EPSILONS = np.linspace(0.0, 1.5, 31)
SIZES = 2_000, 20_000, 200_000


def laplace(size: int, rng: Rng, epsilon: float = 1.0) -> Sides:
    return rng.laplace(0, 1, size), rng.laplace(epsilon, 1, size)


def gaussian(size: int, rng: Rng, mu: float = 1.0) -> Sides:
    return rng.normal(0, 1, size), rng.normal(mu, 1, size)


def geometric(size: int, rng: Rng) -> Sides:
    p = 1 - math.exp(-1)
    noise = rng.geometric(p, (2, size)) - rng.geometric(p, (2, size))
    return noise[0], noise[1] + 1


def response(size: int, rng: Rng) -> Sides:
    """One of ten answers, which is kept with probability 1/2: epsilon = log 11."""
    others = rng.integers(0, 10, (2, size))
    kept = rng.random((2, size)) < 0.5
    return np.where(kept[0], 0, others[0]), np.where(kept[1], 5, others[1])


def truncated(size: int, rng: Rng) -> Sides:
    """Laplace noise of scale 1 around 0 and 1, on [0, 1] only: epsilon = 1."""
    x, x_prime = -np.log1p(rng.random((2, size)) * (math.exp(-1) - 1))
    return x, 1 - x_prime


def clamped(size: int, rng: Rng) -> Sides:
    x, x_prime = laplace(size, rng)
    return np.clip(x, -1, 1), np.clip(x_prime, -1, 1)


def mixture(size: int, rng: Rng) -> Sides:
    """A tenth of the draws of x is 3 higher: at most .9 + .1 exp(3) times the density of x'."""
    x, x_prime = rng.laplace(0, 1, (2, size))
    return x + 3 * (rng.random(size) < 0.1), x_prime


def two_bumps(size: int, rng: Rng) -> Sides:
    """Half of the draws of x is 2 higher, half 2 lower: epsilon = 2, at the middle."""
    x, x_prime = rng.laplace(0, 1, (2, size))
    return x + np.where(rng.random(size) < 0.5, -2, 2), x_prime


def cauchy(size: int, rng: Rng) -> Sides:
    x, x_prime = rng.standard_cauchy((2, size))
    return x, x_prime + 1


def lomax(size: int, rng: Rng) -> Sides:
    return rng.pareto(0.5, size), rng.pareto(1.0, size)


def student(size: int, rng: Rng) -> Sides:
    """Three degrees of freedom, in scales 1 and 1.5: 3 log 1.5, in the tails."""
    x, x_prime = rng.standard_t(3, (2, size))
    return x, 1.5 * x_prime


LAWS: Mapping[str, tuple[Callable[[int, Rng], Sides], float]] = {  # with their levels
    "Laplace": (laplace, 1.0),
    "Laplace, .3 apart": (partial(laplace, epsilon=0.3), 0.3),
    "Gaussian": (gaussian, math.inf),
    "Gaussian, .3 apart": (partial(gaussian, mu=0.3), math.inf),
    "geometric": (geometric, 1.0),
    "one of ten": (response, math.log(11)),
    "truncated Laplace": (truncated, 1.0),
    "clamped Laplace": (clamped, 1.0),
    "mixture": (mixture, math.log(0.9 + 0.1 * math.exp(3))),
    "two bumps": (two_bumps, 2.0),
    "Cauchy": (cauchy, 2 * math.asinh(0.5)),
    "Student": (student, 3 * math.log(1.5)),
    "Lomax": (lomax, math.inf),
    "alike": (partial(laplace, epsilon=0.0), 0.0),
}


def laplace_delta(epsilon: Any) -> Any:
    return np.maximum(1 - np.exp((epsilon - 1) / 2), 0)


def gaussian_delta(epsilon: Any) -> Any:
    return norm.cdf(0.5 - epsilon) - np.exp(epsilon) * norm.cdf(-0.5 - epsilon)


def geometric_delta(epsilon: Any) -> Any:
    """Of x, around 0, from x', around 1: outputs up to 0 have the ratio e."""
    below = 1 / (1 + math.exp(-1))
    return np.maximum(below * (1 - np.exp(epsilon - 1)), 0)


def vectors(size: int, rng: Rng) -> Sides:
    x, x_prime = rng.normal(0, 1, (2, size, 5))
    x_prime[:, 0] += 1
    return x, x_prime


BANDS: Mapping[str, tuple[Callable[[int, Rng], Sides], Callable[[Any], Any]]] = {
    "Laplace": (laplace, laplace_delta),
    "Gaussian": (gaussian, gaussian_delta),
    "geometric": (geometric, geometric_delta),
    "five Gaussians": (vectors, gaussian_delta),
    "alike": (partial(laplace, epsilon=0.0), np.zeros_like),
}


def bound_is_above(law: str, size: int, confidence: float, seed: int) -> bool:
    """Tell whether the bound of one repetition is above the level."""
    draw, level = LAWS[law]
    sides = draw(size, seeds.generator(seed, law, size))
    return em.loss_lower_bound(*sides, confidence=confidence).value > level


def band_is_above(law: str, size: int, confidence: float, seed: int) -> bool:
    """Tell whether the lower end of one repetition's band is above delta, at any epsilon."""
    draw, delta = BANDS[law]
    sides = draw(size, seeds.generator(seed, law, size))
    curve = em.delta_curve(*sides, epsilons=EPSILONS, confidence=confidence)
    return bool((curve.low > delta(EPSILONS) + 1e-12).any())


def bounds(law: str, size: int, seed: int) -> tuple[float, float]:
    """Return the bound of one repetition, and that of the exact test."""
    sides = LAWS[law][0](size, seeds.generator(seed, law, size))
    verdict = ea.audit_outputs(sides, ea.pure(0.1), as_reals=True)
    return em.loss_lower_bound(*sides).value, verdict.bound or 0.0


def power(pool: ProcessPoolExecutor, count: int, only: str) -> bool:
    """Print the mean bounds; return whether one is below .9 of the exact test's."""
    head("law|" + "|".join(f"n = {size:,}" for size in SIZES))
    low = False
    for law in LAWS:
        if only not in law or law == "alike":
            continue
        cells = []
        for size in SIZES:
            pairs = list(pool.map(partial(bounds, law, size), range(count), chunksize=4))
            ours, exact = np.mean(pairs, axis=0)
            low |= bool(ours < 0.9 * exact)
            cells.append(f"{ours:.3f} / {exact:.3f}")
        line(law, *cells)
    return low


def levels(pool: ProcessPoolExecutor, count: int, only: str) -> bool:
    """Print the shares above the truth; return whether one is more often there than it may."""
    head("result|law|n|at .95, %|at .5, %")
    failed = False
    for what, above, laws, share in (
        ("bound", bound_is_above, LAWS, 1.0),
        ("band", band_is_above, BANDS, 0.5),
    ):
        for law in laws:
            if only not in law or (what == "bound" and math.isinf(LAWS[law][1])):
                continue
            for size in SIZES[:2] if what == "bound" else SIZES[:1]:
                cells = []
                for confidence in (0.95, 0.5):
                    one = partial(above, law, size, confidence)
                    hits = sum(pool.map(one, range(count), chunksize=20))
                    failed |= interval(hits, count)[0] > share * (1 - confidence)
                    cells.append(f"{100 * hits / count:.1f}")
                line(what, law, size, *cells)
    return failed


def main() -> None:
    """Print a table; exit with 1 if a bound is too small, or too often above the truth."""
    chosen = parsed(__doc__, "power", seeds=0)
    with ProcessPoolExecutor(chosen.cores) as pool:
        if chosen.power:
            failed = power(pool, chosen.seeds or 24, chosen.only)
        else:
            failed = levels(pool, chosen.seeds or 1000, chosen.only)
    raise SystemExit(failed)


if __name__ == "__main__":
    main()

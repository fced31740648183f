"""How near an audit's bounds come to the level, and how soon: `make measurements`.

`python -m tests.benchmarks.audit --times` prints the time of audits only: milliseconds of CPU of a
second audit, the smallest of several, and seconds of a first audit and of the import.

Medians over 20 seeds of the lower bound at 95 % from 200,000 draws a side (`--draws`), one pair;
``goal`` is what it is meant to reach with so many. Beside it, on the same draws, the auditor of
jax-privacy where it is installed (`pip install jax-privacy`): a bound by Clopper and Pearson from
scores, by a split that chooses its threshold. It takes scores, so that it is given the outputs
themselves where they are numbers, and cannot be asked otherwise. Seconds are of CPU, a bound's.
Nothing is asserted.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from tests.benchmarks.draws import geometric, laplace, noisy_max, svt6
from tests.benchmarks.scripts import head, line, parsed

import epsilometer_audit as ea
from epsilometer_audit.statistics.claims import AnyClaim
from epsilometer_audit.verdict import Verdict

DRAWS, RUNS, LEVEL = 200_000, 20, 0.7
Draw = Callable[[int, int, np.random.Generator], Any]


def laplace_1(side: int, n: int, rng: np.random.Generator) -> Any:
    return rng.laplace(side, 1, n)


def gaussian(side: int, n: int, rng: np.random.Generator) -> Any:
    return rng.normal(side, 1, n)


def vector(noise: str, entries: int, side: int, n: int, rng: np.random.Generator) -> Any:
    """Shifts in all entries, for Laplace noise of level 1, for Gaussian noise of mu = 1."""
    shift = 1 / entries if noise == "laplace" else entries**-0.5
    return getattr(rng, noise)(side * shift, 1, (n, entries))


def ten_bits(side: int, n: int, rng: np.random.Generator) -> Any:
    """Ten answers by randomised response at 1.5, of which the first differs."""
    truth = np.zeros(10, np.int64)
    truth[0] = side
    return truth ^ (rng.random((n, 10)) < 1 / (1 + math.exp(1.5)))


PURE = ea.pure(0.5)
EXACT: dict[str, tuple[Draw, AnyClaim, float, float]] = {  # and the level, and the goal
    "Laplace": (partial(laplace, 1.0), PURE, LEVEL, 0.685),
    "Laplace, unit 1e-5": (partial(laplace, 1e-5), PURE, LEVEL, 0.685),
    "geometric": (partial(geometric, 1), PURE, LEVEL, 0.689),
    "geometric, scale 100": (partial(geometric, 100), PURE, LEVEL, 0.683),
    "Report Noisy Max": (noisy_max, PURE, 0.6927, 0.670),
    "SVT6": (svt6, PURE, 3.0918, 1.98),
    "delta of Laplace 1 at .5": (laplace_1, ea.approximate(0.5, 0.1), 1 - math.exp(-0.25), 0.2146),
    "mu of a Gaussian": (gaussian, ea.gdp(0.8), 1.0, 0.985),
    "Rényi 2, Laplace": (partial(laplace, 1.0), ea.renyi({2: 0.3}), 0.3541, 0.340),
    "Rényi 7, ten bits": (ten_bits, ea.renyi({7: 1.2}), 1.4664, 1.290),
    "zCDP of a Gaussian": (gaussian, ea.zcdp(0.4), 0.5, 0.0),
    "mu of 10 Gaussians": (partial(vector, "normal", 10), ea.gdp(0.5), 1.0, 0.8),
    "mu of 50 Gaussians": (partial(vector, "normal", 50), ea.gdp(0.5), 1.0, 0.8),
    "10 of Laplace": (partial(vector, "laplace", 10), PURE, 1.0, 0.710),  # .8 of the ceiling, .887
    "50 of Laplace": (partial(vector, "laplace", 50), PURE, 1.0, 0.310),  # .8 of .388
}


def drawn(name: str, draws: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return EXACT[name][0](0, draws, rng), EXACT[name][0](1, draws, rng)


def ours(name: str, method: str, draws: int, seed: int) -> tuple[float, float]:
    outputs = drawn(name, draws, seed)
    start = time.process_time()
    options = {"method": method, "as_reals": True}
    verdict: Verdict = ea.audit_outputs(outputs, EXACT[name][1], **options)
    spent = time.process_time() - start
    wanted = "delta" if name.startswith("delta") else verdict.bounds[0].quantity
    return next(b.lower for b in verdict.bounds if b.quantity == wanted), spent


def theirs(name: str, draws: int, seed: int) -> tuple[float, float]:
    """The bound of epsilon by jax-privacy; NaN where it does not apply."""
    try:
        from jax_privacy.auditing import CanaryScoreAuditor, Split
    except ImportError:
        return math.nan, math.nan
    x, y = drawn(name, draws, seed)
    if EXACT[name][1] is not PURE or x.ndim != 1:
        return math.nan, math.nan
    start = time.process_time()
    bound = max(  # either side may be the likelier one
        CanaryScoreAuditor(*sides).epsilon_clopper_pearson(
            0.025, threshold_strategy=Split(0.2, seed)
        )
        for sides in ((x, y), (y, x))
    )
    return float(bound), time.process_time() - start


_FIRST = """
import time
start = time.perf_counter()
import epsilometer_audit as ea
print(f"import{time.perf_counter() - start:8.2f} s")
ea.audit(lambda x, size, rng: rng.laplace(x, 1, size), [(0, 1)], ea.pure(1.0), samples={})
print(f"first audit of {:,} draws, nothing compiled{time.perf_counter() - start:8.2f} s")
"""


def times() -> None:
    """Print the times of audits."""
    sides: dict[str, Draw] = {"Laplace": laplace_1, "Gaussian": gaussian}
    sides["integers"] = lambda x, n, rng: x + rng.geometric(0.6, n) - rng.geometric(0.6, n)
    for samples in (500, 50_000):
        for name, draw in sides.items():

            def mechanism(x: int, size: int, rng: np.random.Generator, draw: Draw = draw) -> Any:
                return draw(x, size, rng)

            spent = []
            for _ in range(10):
                start = time.process_time()
                ea.audit(mechanism, [(0, 1)], ea.pure(1.0), samples=samples)
                spent.append(time.process_time() - start)
            print(f"{samples:6,} draws of {name:9}{1000 * min(spent[1:]):8.1f} ms", flush=True)
    for samples in (500, 50_000):
        with tempfile.TemporaryDirectory() as folder:
            code = _FIRST.replace("{}", str(samples), 1).replace("{:,}", f"{samples:,}")
            new = {**os.environ, "NUMBA_CACHE_DIR": folder}
            subprocess.run([sys.executable, "-c", code], env=new, check=True)


def medians(draws: int, only: str, cores: int) -> None:
    """Print the medians."""
    head(f"median bound, {draws} draws a side|level|goal|anytime|above|s|exact|s|jax-privacy|s")
    with ProcessPoolExecutor(cores) as pool:
        for name, (_, claim, level, goal) in EXACT.items():
            if only not in name:
                continue
            results = np.array(list(pool.map(partial(ours, name, "anytime", draws), range(RUNS))))
            exact = np.full((RUNS, 2), math.nan)
            if claim.to_plain()["notion"] not in ("renyi", "zcdp"):
                exact = np.array(list(pool.map(partial(ours, name, "exact", draws), range(RUNS))))
            other = np.array(list(pool.map(partial(theirs, name, draws), range(RUNS))))
            row = [level, goal, np.median(results[:, 0]), np.mean(results[:, 0] > level)]
            row += [np.median(results[:, 1]), *np.median(exact, 0), *np.median(other, 0)]
            line(name, *map(float, row))
    print("\nlines of user code: ea.audit_outputs((x, y), ea.pure(1.0)), one; jax-privacy, four")


def main() -> None:
    chosen = parsed(__doc__, "times", draws=DRAWS)
    if chosen.times:
        times()
    else:
        medians(chosen.draws, chosen.only, chosen.cores)


if __name__ == "__main__":
    main()

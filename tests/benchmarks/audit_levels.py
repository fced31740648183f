"""How often audits answer "violated": of mechanisms that keep their claim exactly, and of bugs.

`make audit-confidence` audits thirteen correct mechanisms at their exact level, as reals, 2,000
times in all, and twelve bugs with 40 seeds each at 200,000 draws a side; six domains of several
columns 100 times each at alpha = .5; and the thirty of `honest` 10,000 times at alpha = .5, .05 and
.001 with everything on: 60 to 80 minutes of one core (`--kinds` runs a part). A row has the share
of violated ones with its exact interval at 99.9 %. It ends with 1 where a correct mechanism was
refuted more often than alpha allows, the thirty together by 2.6 standard errors, or a bug found in
less than 95 %.
"""

from __future__ import annotations

import math
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import norm
from tests.benchmarks.honest import (
    HONEST,
    ONE,
    SEVERAL_COLUMNS,
    Case,
    bits,
    case,
    geometric,
    response,
)
from tests.benchmarks.scripts import Rng, gaussian, head, interval, laplace, line, most, parsed

import epsilometer_audit as ea
from epsilometer_audit.answer import conclusion

ALPHA, SEEDS, AUDITS, DRAWS = 0.05, 40, 2000, 200_000
EVERYTHING = 10_000  # audits, spread evenly over these levels
STRICT = (0.5, 0.05, 0.001)


# --- mechanisms that keep their word --------------------------------------------------------------


def exponential(x: int, size: int, rng: Rng) -> list[str]:
    """Four words, of which the x-th has a utility of 1: e^(1/2) for it at level 1."""
    weights = np.ones(4)
    weights[x] = math.e
    words = np.array(["a", "b", "c", "d"])
    return list(words[rng.choice(4, size, p=weights / weights.sum())])


def told_if_there(x: int, size: int, rng: Rng, least: float = 3) -> list[float | None]:
    """A group's noisy count above 3; an empty group is never released; level (1, .0677)."""
    noisy = laplace(x, size, rng)
    return [float(value) if x and value > least else None for value in noisy]


def laplace_renyi(a: float) -> float:
    first, second = a / (2 * a - 1) * math.exp(a - 1), (a - 1) / (2 * a - 1) * math.exp(-a)
    return math.log(first + second) / (a - 1)


TWENTY = {f"{i}": (i, i + 1) for i in range(20)}
GAUSSIAN_DELTA = norm.cdf(-0.5) - math.e * norm.cdf(-1.5)
LAPLACE = ea.approximate(0.5, 1 - math.exp(-0.25))
RELEASED = math.exp(-2) / 2  # from 1 to 0, where an empty group never is: P(1 + noise > 3)
RENYI = ea.renyi({a: laplace_renyi(a) for a in (2.0, 4.0)})
CORRECT: dict[str, Case] = {
    "Laplace": case(laplace),
    "Laplace, twenty pairs": case(laplace, TWENTY),
    "Laplace, clamped": case(lambda x, size, rng: np.clip(laplace(x, size, rng), 0, 1)),
    "geometric": case(geometric),
    "randomised response": case(response),
    "exponential mechanism, words": case(exponential),
    "Laplace, (epsilon, delta)": case(laplace, ONE, LAPLACE),
    "Gaussian, (epsilon, delta)": case(gaussian, ONE, ea.approximate(1.0, GAUSSIAN_DELTA)),
    "told if there": case(told_if_there, ONE, ea.approximate(1.0, RELEASED)),
    "Gaussian, GDP": case(gaussian, ONE, ea.gdp(1.0)),
    "Gaussian vector, GDP": case(gaussian, [([0, 0, 0], [0.6, 0, 0.8])], ea.gdp(1.0)),
    "Gaussian, zCDP, twenty pairs": case(gaussian, TWENTY, ea.zcdp(0.5)),
    "Laplace, Rényi 2 and 4": case(laplace, ONE, RENYI),
}


# --- bugs -----------------------------------------------------------------------------------------


def no_query_noise(x: list[float], size: int, rng: Rng) -> Any:
    """Above threshold: the threshold is noisy, the answers are not; the first that is above."""
    threshold = 1 + rng.laplace(0, 2, size)
    above = np.array(x)[None] >= threshold[:, None]
    return np.where(above.any(axis=1), above.argmax(axis=1), -1)


def at_times(chance: float, far: float, x: float, size: int, rng: Rng) -> Any:
    """Tells the truth, or what is far from it, at times."""
    return np.where(rng.random(size) < chance, far + x, laplace(x, size, rng))


def value_with_index(x: list[float], size: int, rng: Rng) -> Any:
    noisy = np.array(x) + rng.laplace(0, 2, (size, len(x)))
    best = noisy.argmax(axis=1)
    return np.column_stack([best, noisy[np.arange(size), best]])


BUGS: dict[str, Case] = {
    "scale": case(lambda x, size, rng: laplace(x, size, rng, 1 / 1.2)),
    "sensitivity": case(  # of values up to 2, with noise for values up to 1
        lambda x, size, rng: laplace(np.clip(x, 0, 2).sum(), size, rng), [([1, 0], [1, 2])]
    ),
    "query noise missing": case(no_query_noise, [([0, 2, 0], [1, 1, 1])], ea.pure(0.5)),
    "value released with the index": case(value_with_index, [([1, 1, 1], [2, 2, 2])]),
    "noise skipped on 0": case(lambda x, size, rng: laplace(x, size, rng) if x else np.zeros(size)),
    "noise skipped once in 200 draws": case(partial(at_times, 1 / 200, 0.0)),
    "clamp that depends on the data": case(
        lambda x, size, rng: np.clip(laplace(sum(x), size, rng), min(x), 3 * max(x)),
        [([0, 1], [0, 2])],
    ),
    "another grid": case(  # which begins at the answer
        lambda x, size, rng: x + np.round(rng.laplace(0, 1, size) / 0.3) * 0.3
    ),
    "threshold too low": case(
        lambda x, size, rng: told_if_there(x, size, rng, least=2),
        ONE,
        ea.approximate(1.0, RELEASED),
    ),
    "unary encoding": case(  # each bit gets the whole budget, of which it may have a half
        lambda x, size, rng: bits((np.arange(5) == x).astype(np.int64), size, rng)
    ),
    "one bad pair among twenty": case(
        lambda x, size, rng: laplace(x, size, rng, 1 if x != 7 else 0.7), TWENTY
    ),
    "delta ten times too large": case(
        partial(at_times, 0.01, 100.0), ONE, ea.approximate(1.0, 0.001)
    ),
}
KINDS: dict[str, tuple[dict[str, Case], int, dict[str, Any]]] = {  # and draws, and options
    **{f"everything, alpha = {alpha}": (HONEST, 3000, {"alpha": alpha}) for alpha in STRICT},
    "several columns, alpha = 0.5": (SEVERAL_COLUMNS, 4000, {"alpha": 0.5}),
    "correct": (CORRECT, 20_000, {"alpha": ALPHA, "as_reals": True}),
    "bug": (BUGS, DRAWS, {"alpha": ALPHA, "as_reals": True}),
}


def violated(kind: str, name: str, seed: int) -> tuple[str, float]:
    cases, samples, options = KINDS[kind]
    mechanism, pairs, claim = cases[name]
    options = options | {"samples": samples, "failures": "failures" in name}
    conclusion.detectable = lambda *_, **_o: None  # no verdict rests on it; it takes a third
    start = time.process_time()
    verdict = ea.audit(mechanism, pairs, claim, seed=seed, **options)
    return verdict.verdict, time.process_time() - start


def main() -> int:
    """Print a row for each mechanism; return 1 if one is not as it should be."""
    chosen = parsed(__doc__, kinds=list(KINDS), audits=AUDITS, seeds=SEEDS, everything=EVERYTHING)
    every = dict.fromkeys(KINDS, chosen.everything // len(STRICT))
    columns = {"several columns, alpha = 0.5": 100 * len(SEVERAL_COLUMNS)}
    times = every | columns | {"correct": chosen.audits, "bug": 0}
    wrong = 0
    with ProcessPoolExecutor(chosen.cores) as pool:
        for kind in chosen.kinds:
            all_cases, _, options = KINDS[kind]
            cases = [name for name in all_cases if chosen.only in name]
            head(f"{kind}|audits|violated|low|high|s|")
            runs = -(-times[kind] // len(all_cases)) or chosen.seeds
            alarms = 0
            for name in cases:
                run = partial(violated, kind, name)
                words, seconds = zip(*pool.map(run, range(runs), chunksize=5), strict=True)
                hits, invalid = words.count("violated"), words.count("invalid")
                alarms += hits
                low, high = interval(hits, runs)
                bad = hits < 0.95 * runs if kind == "bug" else low > options["alpha"]
                bad |= invalid > 0
                wrong += bad
                mark = f"<-- {invalid} invalid" if invalid else "<--" if bad else ""
                line(name, runs, hits, low, high, float(np.median(seconds)), mark)
            if all_cases is HONEST:
                total, alpha = runs * len(cases), options["alpha"]
                line("all", total, alarms, "", "", "", f"at most {most(total, alpha):.1f}")
                wrong += alarms > most(total, alpha)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())

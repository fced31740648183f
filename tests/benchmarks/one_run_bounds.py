"""Medians of the bounds of one run of Gaussian noise, mu = 1: the table of docs/training.md.

A row is the number of canaries, the claim, the median bound (a mu), its epsilon at delta = 1e-5,
and the ceilings of mu and of epsilon. `python -m tests.benchmarks.one_run_bounds`.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from tests.benchmarks.one_run_ceiling import ceiling

from epsilometer_audit.canaries.guessing import Counted, count, refuted, rules_of
from epsilometer_audit.statistics.claims import Gaussian, gaussian_deltas

ALPHA, DELTA = 0.05, 1e-5
CASES = ((100, 0.3, 1001), (1000, 0.5, 1001), (10_000, 0.65, 401), (100_000, 0.75, 201))


def epsilon(mu: float) -> float:
    if mu < 0.02:
        return 0.0
    return float(brentq(lambda e: gaussian_deltas(np.array([e]), mu)[0] - DELTA, 0, 60))


def main() -> None:
    for m, mu, runs in CASES:
        rules, right = rules_of(m, Gaussian(mu), ALPHA), []
        for seed in range(runs):
            rng = np.random.default_rng(seed + 1000)
            included = rng.random(m) < 0.5
            scores = included + rng.normal(0, 1, m)
            right.append(count(scores, included, rules, seed)[0].right)

        middle = Counted(rules[0], int(np.quantile(right, 0.5, method="lower")), m, 1.0)
        bound = max(refuted([middle], Gaussian(mu), ALPHA), 0.0)
        numbers = bound, epsilon(bound), ceiling(1.0, m), ceiling(1.0, m, delta=DELTA)
        print(f"{m:8}{mu:6}", *(f"{number:8.3f}" for number in numbers), flush=True)


if __name__ == "__main__":
    main()

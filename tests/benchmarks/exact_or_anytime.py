"""Which test gives the larger bound? `python -m tests.benchmarks.exact_or_anytime` prints a table.

Medians of the lower bounds over some seeds, of the exact test of recorded outputs and of the
sequential test, on mechanisms whose level is spread over outputs in different ways.
"""

from __future__ import annotations

from functools import partial
from statistics import median
from typing import Any

import numpy as np
from tests.benchmarks.scripts import Mechanism, gaussian, head, laplace, line, parsed
from tests.unit.audits import audited

import epsilometer_audit as ea

SEEDS, DRAWS = 5, (2_000, 20_000, 100_000)


BITS = np.arange(20)
CASES: dict[str, tuple[Mechanism, Any]] = {
    "Laplace noise, epsilon .7": (partial(laplace, scale=1 / 0.7), ea.pure(0.1)),
    "Gaussian noise, mu 1": (gaussian, ea.gdp(0.1)),
    "Gaussian noise, epsilon at delta = .001": (gaussian, ea.approximate(0.5, 0.001)),
    "an event of probability .0074 against .001, epsilon 2": (
        lambda x, size, rng: rng.random(size) < (0.001, 0.0074)[x],
        ea.pure(0.1),
    ),
    "two of 20 bits flipped less often (RAPPOR), epsilon .7": (
        lambda x, size, rng: (rng.random((size, 20)) < 1 / (1 + np.exp(-0.35))) == (x == BITS),
        ea.pure(0.05),
    ),
    "20 entries, each shifted by .1: mu .45": (
        lambda x, size, rng: gaussian(np.full(20, x / 10), size, rng),
        ea.gdp(0.05),
    ),
}


def of_recorded(mechanism: Mechanism, claim: Any, samples: int, seed: int) -> ea.Verdict:
    """Audit recorded outputs on the inputs 0 and 1, by the exact test."""
    rng = np.random.default_rng(seed)
    outputs = mechanism(0, samples, rng), mechanism(1, samples, rng)
    return ea.audit_outputs(outputs, claim, seed=seed, as_reals=True)


def main() -> None:
    """Print the table."""
    chosen = parsed(__doc__)
    head("the level is" + "".join(f"|{n:,} exact|anytime" for n in DRAWS))
    for title, (mechanism, claim) in CASES.items():
        if chosen.only not in title:
            continue
        cells = []
        for samples in DRAWS:
            for audit in (of_recorded, audited):
                verdicts = [audit(mechanism, claim, samples, seed) for seed in range(SEEDS)]
                cells.append(f"{median(verdict.bound or 0.0 for verdict in verdicts):.3g}")
        line(title, *cells)


if __name__ == "__main__":
    main()

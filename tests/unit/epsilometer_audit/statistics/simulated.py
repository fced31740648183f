"""Evidence of simulated draws: samplers of a side, 0 or 1, and audits of them without a verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from epsilometer_audit.statistics.rounds import Evidence, run_rounds, schedule

Law = Callable[[int, int, np.random.Generator], Any]
"""Draws so many outputs of a side, with a generator."""


def laplace(distance: float) -> Law:
    return lambda side, n, rng: rng.laplace(side * distance, 1, n)


def gaussian(side: int, n: int, rng: np.random.Generator) -> Any:
    return rng.normal(side, 1, n)


def one_of_two(p: float, q: float) -> Law:
    """Return a law of 1 with probability p, or q, and of 0 else."""
    return lambda side, n, rng: (rng.random(n) < (p, q)[side]).astype(np.int64)


def evidence_of(
    law: Law,
    claim: Any,
    samples: int,
    seed: int,
    *,
    alpha: float = 0.05,
    stops: Callable[[Evidence], bool] = lambda _: False,
) -> Evidence:
    """Return the evidence of draws of one pair."""
    rng = np.random.default_rng(seed)
    return run_rounds(
        lambda sides, size: [law(side, size, rng) for _, side in sides],
        schedule(samples, 1),
        Evidence(claim, 1, alpha, as_reals=True),
        stops,
    )


def refuted(law: Law, claim: Any, samples: int, seed: int) -> bool:
    """Tell whether an audit that stops once it has refuted a claim does so."""
    return evidence_of(law, claim, samples, seed, stops=Evidence.refuted).refuted()

"""Distributions and a bet that several tests of statistics share."""

from __future__ import annotations

from typing import Any

import numpy as np

from epsilometer_audit.statistics.bets import Bet

IN_OR_OUT = np.array([0.0, 1.0])  # a function of the outputs outside and inside an event
EVENT_BET = Bet(
    coded=lambda sample: sample,
    phi=IN_OR_OUT,
    psi=IN_OR_OUT,
    swapped=False,
    mean_phi=0.7,
    mean_psi=0.1,
    variance_phi=0.2,
    variance_psi=0.1,
    event=lambda: None,
    expected=0.0,
)


def law(rng: np.random.Generator, k: int, spread: float = 1.0) -> Any:
    """Return random probabilities of k cells; with a small spread few cells have most."""
    weights = rng.gamma(spread, size=k) + 1e-9
    return weights / weights.sum()


def divergence(p: Any, q: Any, order: float) -> float:
    """Return the Rényi divergence of an order, by a sum over all outcomes."""
    logs = order * np.log(p) + (1 - order) * np.log(q)
    return float(np.logaddexp.reduce(logs)) / (order - 1)

"""dp-accounting: mechanisms that events stand for, and what several accountants claim of them."""

from __future__ import annotations

from typing import Any

import dp_accounting as dpa
import numpy as np
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from numpy.typing import NDArray

STEPS = 4
RATE = 0.25


def event(kind: str, noise: float = 1) -> Any:
    """Return the event of a name."""
    gaussian = dpa.GaussianDpEvent(noise)
    return {
        "gaussian": gaussian,
        "laplace": dpa.LaplaceDpEvent(noise),
        "composed": dpa.ComposedDpEvent([gaussian, dpa.LaplaceDpEvent(noise)]),
        "steps": dpa.SelfComposedDpEvent(gaussian, STEPS),
        "sampled": dpa.PoissonSampledDpEvent(RATE, gaussian),
        "sampled steps": dpa.SelfComposedDpEvent(dpa.PoissonSampledDpEvent(RATE, gaussian), STEPS),
        "sampled laplace": dpa.PoissonSampledDpEvent(RATE, dpa.LaplaceDpEvent(noise)),
    }[kind]


def level(
    kind: str, accountant: str, relation: str, noise: float = 1, delta: float = 1e-3
) -> float:
    """Return the epsilon that an accountant claims."""
    make = {"losses": PLDAccountant, "renyi": RdpAccountant}[accountant]
    neighbours = getattr(dpa.NeighboringRelation, relation)
    counted = make(neighboring_relation=neighbours).compose(event(kind, noise))
    return float(counted.get_epsilon(delta))


def sums(
    rows: list[float],
    size: int,
    rng: np.random.Generator,
    kind: str,
    noise: float = 1,
    accountant: str = "",  # noqa: ARG001
    relation: str = "",  # noqa: ARG001
) -> NDArray[np.float64]:
    """Draw sums of rows of at most 1 with the noise of an event, told to six digits.

    The claim needs the other parameters.
    """
    values = np.clip(np.asarray(rows, float), -1, 1)
    steps = STEPS if "steps" in kind else 1
    rate = RATE if "sampled" in kind else 1.0
    kept = rng.random((size, steps, len(values))) < rate
    totals = (kept * values).sum(axis=2)
    if kind == "composed":
        totals = np.repeat(totals, 2, axis=1)
    draws = rng.normal(0, noise, totals.shape)
    if "laplace" in kind:
        draws = rng.laplace(0, noise, totals.shape)
    if kind == "composed":
        draws[:, 1] = rng.laplace(0, noise, size)
    return np.round(totals + draws, 6)


def calibrated(accountant: str, relation: str, delta: float = 1e-3) -> float:
    """Return the noise that calibration finds for epsilon = 1."""
    make = {"losses": PLDAccountant, "renyi": RdpAccountant}[accountant]
    neighbours = getattr(dpa.NeighboringRelation, relation)
    return float(
        dpa.calibrate_dp_mechanism(
            lambda: make(neighboring_relation=neighbours), dpa.GaussianDpEvent, 1.0, delta
        )
    )


def calibrated_sums(
    rows: list[float],
    size: int,
    rng: np.random.Generator,
    accountant: str,
    relation: str,
    delta: float = 1e-3,
) -> NDArray[np.float64]:
    """Draw sums with the noise that calibration finds."""
    return sums(rows, size, rng, "gaussian", calibrated(accountant, relation, delta))

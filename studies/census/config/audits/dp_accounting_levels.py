"""dp-accounting: what its accountants and calibrations say of mechanisms in `accounted`."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import accounted
import dp_accounting as dpa
from dp_accounting.pld import PLDAccountant, accountant, common
from dp_accounting.rdp import RdpAccountant

MAKERS = {"losses": PLDAccountant, "renyi": RdpAccountant}


def event(law: str, noise: float, rate: float, steps: int, kind: str) -> Any:
    """Return the event of a mechanism."""
    one = {
        "gaussian": lambda: dpa.GaussianDpEvent(noise),
        "laplace": lambda: dpa.LaplaceDpEvent(noise),
        "geometric": lambda: dpa.dp_event.DiscreteLaplaceDpEvent(1 / noise, 1),
        "response": lambda: dpa.RandomizedResponseDpEvent(noise, accounted.BUCKETS),
    }
    parts = [one[each]() for each in law.split("+")]
    whole = parts[0] if len(parts) == 1 else dpa.ComposedDpEvent(parts)
    if kind == "tree":
        return dpa.SingleEpochTreeAggregationDpEvent(noise, 2 ** (steps - 1))
    if kind == "zcdp":
        return dpa.ZCDpEvent(steps / (2 * noise**2))
    if kind == "mixture":
        whole = dpa.dp_event.MixtureOfGaussiansDpEvent(noise, [0, 1], [1 - rate, rate])
    elif kind == "fixed":
        whole = dpa.SampledWithoutReplacementDpEvent(100, round(100 * rate), whole)
    elif rate < 1:
        whole = dpa.PoissonSampledDpEvent(rate, whole)
    return whole if steps == 1 else dpa.SelfComposedDpEvent(whole, steps)


def level(
    accountant: str,
    relation: str,
    delta: float,
    law: str = "gaussian",
    noise: float = 1,
    rate: float = 1,
    steps: int = 1,
    kind: str = "",
) -> float:
    """Return the epsilon that an accountant claims."""
    counted = MAKERS[accountant](neighboring_relation=getattr(dpa.NeighboringRelation, relation))
    return float(counted.compose(event(law, noise, rate, steps, kind)).get_epsilon(delta))


def closed_form(noise: float, delta: float) -> float:
    """Return the epsilon of a Gaussian mechanism."""
    return float(dpa.get_epsilon_gaussian(noise, delta))


def composed(steps: int, noise: float, delta: float) -> float:
    """Return the epsilon of many times randomised response."""
    one = math.log((1 - noise) / (noise / accounted.BUCKETS) + 1)
    parameters = common.DifferentialPrivacyParameters(one, 0)
    epsilon = accountant.advanced_composition(parameters, steps, delta)
    return float(epsilon or math.inf)


# --- calibration: the noise that is found for epsilon = 1 -----------------------------------------


@cache
def calibrated(by: str, relation: str, rate: float, steps: int, delta: float) -> tuple[str, float]:
    """Return a law, and the noise that is found for epsilon = 1."""
    target = common.DifferentialPrivacyParameters(1, delta)
    if by == "formula":
        return "gaussian", float(dpa.get_sigma_gaussian(1, delta))
    if by == "laplace":
        return "laplace", accountant.get_smallest_laplace_noise(target, steps)
    if by == "geometric":
        return "geometric", 1 / accountant.get_smallest_discrete_laplace_noise(target, steps)
    if by == "gaussian":
        return "gaussian", accountant.get_smallest_gaussian_noise(target, steps)
    if by == "sampled":
        find = accountant.get_smallest_subsampled_gaussian_noise
        return "gaussian", find(target, steps, sampling_prob=rate)
    neighbours = getattr(dpa.NeighboringRelation, relation)
    noise = dpa.calibrate_dp_mechanism(
        lambda: MAKERS[by](neighboring_relation=neighbours),
        lambda noise: event("gaussian", noise, rate, steps, ""),
        1.0,
        delta,
    )
    return "gaussian", float(noise)


def least_calibrated(
    by: str, relation: str, rate: float = 1, steps: int = 1, delta: float = 1e-5
) -> float:
    """Return a lower bound of the epsilon that calibrated noise gives."""
    law, noise = calibrated(by, relation, rate, steps, delta)
    return accounted.least(delta, law, noise, rate, steps, relation)


told_level = accounted.told(level, accounted.least)
told_formula = accounted.told(closed_form, accounted.least)
told_composed = accounted.told(composed, accounted.least)
told_calibrated = accounted.told(accounted.one, least_calibrated)

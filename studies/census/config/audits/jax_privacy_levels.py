"""jax-privacy: what its accountants say of mechanisms in `accounted`."""

from __future__ import annotations

from functools import cache

import accounted
from jax_privacy import accounting

ROWS = 1000
CONFIGS = {"rdp": accounting.RdpAccountantConfig, "pld": accounting.PldAccountantConfig}


def accountant(config: str, kind: str) -> accounting.DpTrainingAccountant:
    """Return an accountant of a kind of training."""
    made = {
        "sgd": accounting.DpsgdTrainingAccountant,
        "users": accounting.DpsgdTrainingUserLevelAccountant,
        "single": accounting.SingleReleaseTrainingAccountant,
    }
    return made[kind](dp_accountant_config=CONFIGS[config]())


def level(
    config: str, kind: str, noise: float, rate: float, steps: int, delta: float, cycle: int = 1
) -> float:
    """Return the epsilon that an accountant claims; a cycle's steps see a part of the rows each."""
    parameters = accounting.DpParams(
        noise_multipliers=noise,
        num_samples=ROWS,
        delta=delta,
        batch_size=round(rate * ROWS / cycle),
        examples_per_user=1 if kind == "users" else None,
        cycle_length=cycle,
    )
    return float(accountant(config, kind).compute_epsilon(steps * cycle, parameters))


@cache
def calibrated(config: str, rate: float, steps: int, delta: float = 1e-5) -> float:
    """Return the noise that is found for epsilon = 1."""
    return float(
        accounting.calibrate_noise_multiplier(
            target_epsilon=1,
            accountant=accountant(config, "sgd"),
            batch_sizes=round(rate * ROWS),
            num_updates=steps,
            num_samples=ROWS,
            target_delta=delta,
        )
    )


def least_calibrated(config: str, rate: float, steps: int, delta: float) -> float:
    """Return a lower bound of the epsilon that calibrated noise gives."""
    return accounted.least(delta, "gaussian", calibrated(config, rate, steps, delta), rate, steps)


told_level = accounted.told(level, accounted.least)
told_calibrated = accounted.told(accounted.one, least_calibrated)

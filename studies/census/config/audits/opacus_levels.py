"""opacus: what its accountants say of mechanisms in `accounted`.

Only ``opacus.accountants`` is imported: the rest of opacus needs torch, of 3 GB.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache
from importlib.util import find_spec
from types import ModuleType

import accounted

package = ModuleType("opacus")
package.__path__ = list(find_spec("opacus").submodule_search_locations)  # type: ignore[union-attr]
optimizers = ModuleType("opacus.optimizers")
optimizers.DPOptimizer = object  # type: ignore[attr-defined]
sys.modules |= {"opacus": package, "opacus.optimizers": optimizers}

from opacus.accountants import create_accountant  # noqa: E402
from opacus.accountants.utils import get_noise_multiplier  # noqa: E402

warnings.simplefilter("ignore")


def level(accountant: str, noise: float, rate: float, steps: int, delta: float) -> float:
    """Return the epsilon that an accountant claims."""
    counted = create_accountant(accountant)
    for _ in range(steps):
        counted.step(noise_multiplier=noise, sample_rate=rate)
    return float(counted.get_epsilon(delta))


@cache
def calibrated(accountant: str, rate: float, steps: int, delta: float = 1e-5) -> float:
    """Return the noise that is found for epsilon = 1."""
    return float(
        get_noise_multiplier(
            target_epsilon=1,
            target_delta=delta,
            sample_rate=rate,
            steps=steps,
            accountant=accountant,
        )
    )


def least_calibrated(accountant: str, rate: float, steps: int, delta: float) -> float:
    """Return a lower bound of the epsilon that calibrated noise gives."""
    return accounted.least(
        delta, "gaussian", calibrated(accountant, rate, steps, delta), rate, steps
    )


told_level = accounted.told(level, accounted.least)
told_calibrated = accounted.told(accounted.one, least_calibrated)

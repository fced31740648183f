"""epsilometer: estimates how private a mechanism is, from samples of its outputs alone.

    import epsilometer as em

    print(em.measure(x, x_prime))  # from two arrays of outputs

`measure` says what the draws show in every notion of privacy. It holds the estimators of four
papers, and what they rest on: densities, classifiers, mechanisms and exact values.
`epsilometer.estimates` has the functions of two arrays, which are loaded on first use. It imports
nothing of the auditor (`epsilometer_audit`) or of the workflow.
"""

from typing import TYPE_CHECKING, Any

__version__ = "1.0.0"

if TYPE_CHECKING:
    from epsilometer.estimates import *
    from epsilometer.measurement import Measurement, measure

__all__ = [
    "DeltaCurve",
    "HistogramLevel",
    "LargestLoss",
    "LossCurve",
    "LowerBound",
    "Measurement",
    "delta_curve",
    "histogram_level",
    "largest_loss",
    "local_loss",
    "loss_lower_bound",
    "loss_lower_bound_of_pairs",
    "measure",
    "planned_cells",
    "planned_draws",
    "renyi_lower_bound",
    "renyi_lower_bound_of_pairs",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = "measurement" if name in ("Measurement", "measure") else "estimates"
    return getattr(import_module(f"epsilometer.{module}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

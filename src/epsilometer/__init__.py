"""epsilometer: estimates levels of differential privacy, and tests claims, from outputs alone.

    import epsilometer as em

    print(em.renyi_lower_bound(x, x_prime, order=2))  # from two arrays of outputs
    print(em.audit(noisy_mean, pairs=[([0, 0, 1], [0, 1, 1])], claim=em.pure(1.0)))

Estimates: `local_loss`, `largest_loss`, `loss_lower_bound`, `renyi_lower_bound`, `delta_curve`,
`histogram_level`, `planned_draws` and others of `epsilometer.estimates`. Audits: `audit`,
`audit_outputs`, `check_stability`, `domain`, `samples_needed` and the claims `pure`, `approximate`,
`renyi`, `gdp` and `zcdp`. Names are loaded on first use. It imports nothing of the workflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "1.0.0"

if TYPE_CHECKING:
    from epsilometer.auditing.audit import audit, audit_outputs
    from epsilometer.auditing.canaries.one_run import audit_one_run
    from epsilometer.auditing.explain.explain import explain
    from epsilometer.auditing.inputs.domains import domain
    from epsilometer.auditing.stability import check_stability
    from epsilometer.auditing.statistics.claims import approximate, gdp, pure, renyi, zcdp
    from epsilometer.auditing.statistics.power import samples_needed
    from epsilometer.auditing.verdict import Verdict
    from epsilometer.estimates import (
        DeltaCurve,
        HistogramLevel,
        LargestLoss,
        LossCurve,
        LowerBound,
        delta_curve,
        histogram_level,
        largest_loss,
        local_loss,
        loss_lower_bound,
        loss_lower_bound_of_pairs,
        planned_cells,
        planned_draws,
        renyi_lower_bound,
        renyi_lower_bound_of_pairs,
    )

_ESTIMATES = (
    "DeltaCurve",
    "HistogramLevel",
    "LargestLoss",
    "LossCurve",
    "LowerBound",
    "delta_curve",
    "histogram_level",
    "largest_loss",
    "local_loss",
    "loss_lower_bound",
    "loss_lower_bound_of_pairs",
    "planned_cells",
    "planned_draws",
    "renyi_lower_bound",
    "renyi_lower_bound_of_pairs",
)

_MODULES = {
    **dict.fromkeys(_ESTIMATES, "epsilometer.estimates"),
    **dict.fromkeys(("audit", "audit_outputs"), "epsilometer.auditing.audit"),
    "check_stability": "epsilometer.auditing.stability",
    "domain": "epsilometer.auditing.inputs.domains",
    "audit_one_run": "epsilometer.auditing.canaries.one_run",
    "explain": "epsilometer.auditing.explain.explain",
    "samples_needed": "epsilometer.auditing.statistics.power",
    "Verdict": "epsilometer.auditing.verdict",
    **dict.fromkeys(
        ("pure", "approximate", "renyi", "gdp", "zcdp"), "epsilometer.auditing.statistics.claims"
    ),
}

__all__ = [
    "DeltaCurve",
    "HistogramLevel",
    "LargestLoss",
    "LossCurve",
    "LowerBound",
    "Verdict",
    "approximate",
    "audit",
    "audit_one_run",
    "audit_outputs",
    "check_stability",
    "delta_curve",
    "domain",
    "explain",
    "gdp",
    "histogram_level",
    "largest_loss",
    "local_loss",
    "loss_lower_bound",
    "loss_lower_bound_of_pairs",
    "planned_cells",
    "planned_draws",
    "pure",
    "renyi",
    "renyi_lower_bound",
    "renyi_lower_bound_of_pairs",
    "samples_needed",
    "zcdp",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

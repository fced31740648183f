"""epsilometer: how private a mechanism really is, from its outputs alone.

    import epsilometer as em

    found = em.audit(noisy_mean, pairs=[([0, 0, 1], [0, 1, 1])], claim=em.pure(1.0))
    print(found)

See `audit`, `audit_outputs`, `domain`, `samples_needed` and the claims `pure`, `approximate`,
`renyi`, `gdp` and `zcdp`. They are loaded when they are first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"

if TYPE_CHECKING:
    from epsilometer.audit.auditing import audit, audit_outputs
    from epsilometer.audit.claims import approximate, gdp, pure, renyi, zcdp
    from epsilometer.audit.domains import domain
    from epsilometer.audit.explaining import explain
    from epsilometer.audit.one_run import audit_one_run
    from epsilometer.audit.power import samples_needed
    from epsilometer.audit.verdict import Verdict

_HOMES = {
    "audit": "epsilometer.audit",  # the package itself can be called
    "audit_outputs": "epsilometer.audit.auditing",
    "domain": "epsilometer.audit.domains",
    "audit_one_run": "epsilometer.audit.one_run",
    "explain": "epsilometer.audit.explaining",
    "samples_needed": "epsilometer.audit.power",
    "Verdict": "epsilometer.audit.verdict",
    **dict.fromkeys(("pure", "approximate", "renyi", "gdp", "zcdp"), "epsilometer.audit.claims"),
}

__all__ = [
    "Verdict",
    "approximate",
    "audit",
    "audit_one_run",
    "audit_outputs",
    "domain",
    "explain",
    "gdp",
    "pure",
    "renyi",
    "samples_needed",
    "zcdp",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = import_module(_HOMES[name])
    return home if name == "audit" else getattr(home, name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

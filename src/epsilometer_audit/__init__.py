"""epsilometer_audit: tests claims of differential privacy from outputs alone.

    from epsilometer_audit import audit, pure

    verdict = audit(noisy_mean, pairs=[([0, 0, 1], [0, 1, 1])], claim=pure(1.0))
    print(verdict)

See `audit`, `audit_outputs`, `domain`, `samples_needed` and the claims `pure`,
`approximate`, `renyi`, `gdp`, `zcdp`, `profile` and `tradeoff`; they are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from epsilometer_audit.answer.one_run import audit_one_run
    from epsilometer_audit.answer.verdict import Verdict
    from epsilometer_audit.auditing import audit, audit_outputs
    from epsilometer_audit.question.claims import (
        approximate,
        gdp,
        profile,
        pure,
        renyi,
        tradeoff,
        zcdp,
    )
    from epsilometer_audit.question.domains import domain
    from epsilometer_audit.statistics.power import samples_needed

_MODULES = {
    "Verdict": "answer.verdict",
    "audit": "auditing",
    "audit_one_run": "answer.one_run",
    "audit_outputs": "auditing",
    "domain": "question.domains",
    "samples_needed": "statistics.power",
}

__all__ = ["Verdict", "approximate", "audit", "audit_one_run", "audit_outputs", "domain"]
__all__ += ["gdp", "profile", "pure", "renyi", "samples_needed", "tradeoff", "zcdp"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = _MODULES.get(name, "question.claims")
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

"""Audits of this project on recorded draws."""

from __future__ import annotations

from typing import Any

from epsilometer.claims import Gaussian, Pure
from epsilometer.numerics.arrays import Sample
from epsilometer_audit.auditing import audit, audit_outputs
from epsilometer_audit.question.claims import Concentrated, Renyi

Claim = Pure | Renyi | Gaussian | Concentrated


def claim_of(claim: Any) -> Claim:
    """Return the library's claim of what an auditor is given."""
    if claim.notion == "renyi":
        return Renyi(claim.order, claim.level)
    if claim.notion in ("gdp", "zcdp"):
        return Gaussian(claim.level) if claim.notion == "gdp" else Concentrated(claim.level)
    return Pure(claim.level, claim.delta)


def audited(x: Sample, y: Sample, claim: Any, alpha: float, rng: Any, **options: Any) -> Any:
    """Audit draws as they come; see `epsilometer_audit.audit`."""
    return audit(
        _Recorded(x, y),
        [(0, 1)],
        claim_of(claim),
        samples=len(x),
        alpha=alpha,
        seed=rng.bit_generator.seed_seq.entropy,
        as_reals=True,
        check_sampler=False,
        **options,
    )


def tested(x: Sample, y: Sample, claim: Any, alpha: float, rng: Any) -> Any:
    """Test all draws at once; see `epsilometer_audit.audit_outputs`."""
    seed = rng.bit_generator.seed_seq.entropy
    return audit_outputs((x, y), claim_of(claim), alpha=alpha, seed=seed, as_reals=True)


class _Recorded:
    """A source of recorded draws, each used once, in their order; an input is a side, 0 or 1."""

    description, seeded = "recorded draws", True

    def __init__(self, *sides: Sample) -> None:
        self._sides, self._used = sides, [0, 0]

    def draw(self, x: int, size: int, seed: int) -> Any:
        """Return the next draws of a side."""
        start = self._used[x]
        self._used[x] += size
        return self._sides[x][start : start + size]

    def digest(self) -> dict[str, str]:
        """Return nothing: no file is read."""
        return {}

    def close(self) -> None:
        """Nothing is open."""

"""The answer of an audit, from what its rounds or its test have shown."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.audit.asked import Plan
from epsilometer.audit.bets import Round
from epsilometer.audit.claims import Claim, Delta, EventClaim, Pure, Renyi, parts
from epsilometer.audit.estimates import estimates as papers_estimates
from epsilometer.audit.outcomes import Layout
from epsilometer.audit.outcomes import learn as layout_of
from epsilometer.audit.power import alternative_of, detectable, foretold
from epsilometer.audit.sampler import Check
from epsilometer.audit.schedule import Step
from epsilometer.audit.upper import Outcomes, upper_bound
from epsilometer.audit.verdict import LOW_BITS, Bound, Verdict, Witness, Word, input_words

Sample = NDArray[Any]

_STOPPED = {"kind": "estimate", "reason": "the audit stopped for what these draws showed"}


def verdict_of(
    plan: Plan,
    seen: Sequence[Check],
    *,
    bounds: Sequence[Bound],
    violated: bool,
    p_value: float | None,
    pair: int,
    made: Round | None,
    found: float | None,
    draws: int,
    layout: Layout,
    kept: Sequence[Sequence[Sequence[Any]]],
    stopped: bool = False,
) -> Verdict:
    """Return the answer.

    Parameters
    ----------
    plan, seen
        What was asked for, and the checks of the sampler.
    bounds, violated, p_value
        What the draws show.
    pair, made
        The pair that shows most, and the bet that does.
    found
        The level that would have been found.
    draws
        Of a side, over all pairs.
    layout
        Of that pair's outputs.
    kept
        All outputs, by pair, side and batch.
    stopped
        Whether the draws were stopped for what they showed.
    """
    bounds = _with_upper(plan, bounds, kept)
    word: Word = "violated" if violated else "not refuted"
    reasons = []
    holds = all(bound.upper is not None and bound.upper <= bound.claimed for bound in bounds)
    if not violated and plan.known is not None and bounds and holds:
        word = "holds"
    elif not violated and plan.detect is not None and (found is None or found > plan.detect):
        word = "undecided"
        what = "nothing" if found is None else f"only {found:.3g} or more"
        reasons.append(
            f"{plan.detect:g} was to be detected, {what} would have been, with probability .9"
        )
    direction = None
    names = ("x", "x'") if plan.inputs is None else tuple(map(input_words, plan.inputs[pair]))
    if made is not None:
        ours, theirs = names[::-1] if made.bet.swapped else names
        direction = f"{ours} against {theirs}"
    estimated = []
    if plan.details:
        past, fresh = _halves(kept[pair], layout)
        number = plan.known.number if isinstance(plan.known, Outcomes) else None
        estimated = [
            estimate.to_plain() | (_STOPPED if stopped and "bound" in estimate.kind else {})
            for estimate in papers_estimates(
                past, fresh, plan.claim, alpha=plan.alpha, seed=plan.seed, outcomes=number
            )
        ]
    return stated(
        plan,
        seen,
        verdict=word,
        bounds=bounds,
        p_value=p_value,
        pair=plan.inputs[pair] if plan.inputs is not None else None,
        name=plan.names[pair] or None,
        direction=direction,
        witness=_witness(made, violated),
        detectable=found,
        draws=draws,
        outputs=layout.kind,
        estimates=estimated,
        reasons=reasons,
    )


def stated(plan: Plan, seen: Sequence[Check], **facts: Any) -> Verdict:
    """Return a verdict with what is known of every one, and these ``facts``."""
    verdict = Verdict(
        claim=plan.claim.to_plain(),
        claimed=plan.claim.words(),
        alpha=plan.alpha,
        method=plan.method,
        detect=plan.detect,
        pairs=len(plan.names),
        seed=plan.seed,
        source=plan.source,
        checks=[found.to_plain() for found in seen],
        provenance=_provenance(plan),
        **facts,
    )
    return replace(verdict, seconds=round(time.perf_counter() - plan.started, 3))


def invalid(plan: Plan, seen: Sequence[Check]) -> Verdict:
    """Return the answer of an audit of what is no sampler."""
    failed = [found.words for found in seen if found.result == "failed"]
    inputs = plan.inputs[0] if plan.inputs else None
    return stated(plan, seen, verdict="invalid", reasons=failed, pair=inputs)


def _witness(made: Round | None, violated: bool) -> Witness | None:
    event = made.bet.told() if made is not None else None
    if made is None or event is None or made.layout is None:
        return None
    bet = made.bet
    inside = bet.phi > 0 if bet.inside is None else bet.inside
    counts, counts_prime = (side.sum(axis=0) for side in (made.counts, made.counts_prime))
    return Witness(
        made.layout.words(event),
        int(counts[inside].sum()),
        int(counts.sum()),
        int(counts_prime[inside].sum()),
        int(counts_prime.sum()),
        event.to_plain(),
        LOW_BITS if violated and event.view.kind == "low bit" else None,
    )


def _halves(
    kept: Sequence[Sequence[Any]], layout: Layout
) -> tuple[tuple[Sample, Sample], tuple[Sample, Sample]]:
    """Return all draws of a pair but those of the last round, and those."""
    encoded = [[layout.encode(batch) for batch in side] for side in kept]
    past = tuple(np.concatenate(side[:-1] or side[-1:]) for side in encoded)
    fresh = tuple(side[-1] for side in encoded)
    return (past[0], past[1]), (fresh[0], fresh[1])


def _with_upper(
    plan: Plan, bounds: Sequence[Bound], kept: Sequence[Sequence[Sequence[Any]]]
) -> list[Bound]:
    if plan.known is None:
        return list(bounds)
    samples = []
    for sides in kept:
        layout = layout_of(*sides[0], *sides[1])
        x, y = (np.concatenate([layout.encode(batch) for batch in side]) for side in sides)
        samples.append((x, y))
    claims: list[Claim] = list(parts(plan.claim))
    if len(bounds) > len(claims) and isinstance(plan.claim, Pure):
        claims.append(Delta(plan.claim.epsilon, plan.claim.delta))
    each = plan.alpha / len(claims)
    return [
        replace(bound, upper=upper_bound(samples, claim, plan.known, each))
        for bound, claim in zip(bounds, claims, strict=True)
    ]


def detectable_level(
    plan: Plan, claim: Claim, steps: Sequence[Step], made: Round | None
) -> float | None:
    """Return the smallest level that so many draws would have found; see `power`."""
    rarer = made.bet.mean_psi if made is not None else None
    if not foretold(claim) or len(steps) < 2:
        return None
    shown = made if not isinstance(claim, EventClaim) else None
    return detectable(
        claim,
        lambda level: alternative_of(claim, level, rarer, shown),
        steps,
        alpha=plan.alpha / len(parts(plan.claim)),
    )


def bound_of(claim: Claim, level: float) -> Bound:
    """Return a lower bound as the verdict tells it."""
    order = claim.order if isinstance(claim, Renyi) else None
    return Bound(claim.quantity, claim.level, level, order=order)


def refutes(claim: Claim, level: float) -> bool:
    """Tell whether a lower bound is one that refutes the claim: a level of 0 may be both."""
    return level > 0 or claim.level > 0


def _provenance(plan: Plan) -> dict[str, Any]:
    import platform
    import sys

    import scipy

    from epsilometer import __version__

    learner = sys.modules.get("sklearn")

    return {
        "made of": dict(plan.digest or {}),
        "versions": {
            "epsilometer": __version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "python": platform.python_version(),
            **({} if learner is None else {"scikit-learn": learner.__version__}),
        },
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }

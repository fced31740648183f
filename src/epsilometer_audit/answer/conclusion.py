"""The verdict of an audit, from the results of its rounds or of its test."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from epsilometer.claims import AnyClaim, Claim
from epsilometer.events.scores import CELLS
from epsilometer_audit.answer.verdict import LOW_BITS, Bound, Verdict, VerdictName, Witness
from epsilometer_audit.checks.calls import Sample as Outputs
from epsilometer_audit.checks.sampler import Check, check_drawn
from epsilometer_audit.outputs.formats import input_text, pair_texts
from epsilometer_audit.outputs.outcomes import Layout
from epsilometer_audit.outputs.shapes import listing
from epsilometer_audit.question.question import Question
from epsilometer_audit.question.request import Request
from epsilometer_audit.question.shares import share_of
from epsilometer_audit.serving.outputs import Failure
from epsilometer_audit.statistics.power import EVENT, EVENTS, detectable
from epsilometer_audit.statistics.rounds import Step
from epsilometer_audit.statistics.witnesses import Found, looked_at

_ONE = "one column"
_TWO = f"two columns in {CELLS} x {CELLS} cells"
FALSE_ALARMS = 0.1  # share of alpha for the checks of the sampler, .001 at most


def verdict_of(
    question: Question,
    checks: Sequence[Check],
    *,
    pair: int,
    violated: bool,
    swapped: bool | None,
    witness: Found | None,
    steps: Sequence[Step],
    layout: Layout,
    outputs: Sequence[Sequence[Sequence[Any]]],
    calls: Mapping[tuple[int, int], Sequence[int]],
    **more: Any,
) -> Verdict:
    """Return the verdict on a question, from checks of the sampler and the result of the draws.

    The pair with this number has most evidence. What shows most is likelier on x' if ``swapped``,
    None if nothing does. ``outputs`` are by pair, side and batch; ``calls`` are their sizes by pair
    and side, if they are known. ``more`` are facts that the verdict says as they are.
    """
    if question.checks_sampler:
        sizes = [calls.get((pair, side), ()) for side in (0, 1)]
        alpha = question.request.alpha
        last = check_drawn(*outputs[pair], alpha=FALSE_ALARMS * alpha, calls=sizes)
        checks = [*checks, last]
        if last.result == "failed":
            return invalid(question, checks)
    event = question.request.event or EVENT
    table = dict[str, dict[float, float | None]]()
    if layout.left_out:
        checks = [*checks, Check("outputs", "note", "; ".join(layout.left_out))]
    elif len(steps) > 1:
        table = _detectable(
            question.request.claim, question.request.alpha, steps, event, len(layout.columns) > 1
        )
    level, jointly = (table.get(place, {}).get(event) for place in (_ONE, _TWO))
    name: VerdictName = "violated" if violated else "not refuted"
    reasons = []
    if not violated:
        if not any(table.get(_ONE, {}).values()):
            name = "undecided"
            few = "no level would have been found with probability .9 by these draws"
            reasons = [*layout.left_out] or [few]
        elif missed := undetected(question, level):
            name = "undecided"
            reasons = [missed]
        sides = [side for pair_sides in outputs for side in pair_sides]
        if not layout.left_out and (constant := _constant(sides)):
            name = "undecided"
            reasons = [*reasons, constant]
    inputs = None if question.inputs is None else question.inputs[pair]
    direction = None
    swapped = swapped if witness is None else witness.swapped
    if swapped is not None:
        names = ("x", "x'") if inputs is None else pair_texts(*inputs)
        direction = " against ".join(names[::-1] if swapped else names)
    tried = [
        {"name": name, "pair": both and pair_texts(*both), "draws": sum(map(len, sides[0]))}
        for (name, both), sides in zip(question.pairs.items(), outputs, strict=True)
    ]
    return make_verdict(
        question,
        checks,
        verdict=name,
        pair=inputs,
        name=list(question.pairs)[pair] or None,
        tried=tried,
        direction=direction,
        witness=_witness(witness, violated),
        detectable=level,
        detectable_jointly=jointly,
        detectable_by_event=table,
        event=event,
        outputs=layout.kind,
        looked_at=looked_at(layout),
        reasons=reasons,
        **more,
    )


def _detectable(
    claim: AnyClaim, alpha: float, steps: Sequence[Step], asked: float, several: bool
) -> dict[str, dict[float, float | None]]:
    """Return the levels that draws detect, by place and by the probability of an event.

    They are those of the first part of the claim. There are none of two of ``several`` columns for
    claims about divergences: what bets on these win on tables was not measured.
    """
    first, *others = claim.parts
    table: dict[str, dict[float, float | None]] = {_ONE: {}}
    if several and not first.orders:
        table[_TWO] = {}
    share = share_of(alpha, 1 + len(others))
    for place, levels in table.items():
        for event in sorted({*EVENTS, asked}, reverse=True):
            levels[event] = detectable(first, steps, alpha=share, event=event, joint=place == _TWO)
    return table


def undetected(question: Question, level: float | None) -> str:
    """Return why a violation of the requested level may have been missed; "" if it was not."""
    asked = question.request.detect
    if asked is None or (level is not None and level <= asked):
        return ""
    detected = "nothing" if level is None else f"only {level:.3g} or more"
    return f"{asked:g} was to be detected, {detected} would have been, with probability .9"


def _constant(sides: Sequence[Sequence[Any]]) -> str:
    """Return a reason if the outputs on each input are all the same; "" otherwise."""
    first = [[side[0][:20]] for side in sides]  # a quick look, enough for most outputs
    if any(Outputs(side, "").times.size > 1 for side in (*first, *sides)):
        return ""
    outputs = [listing(side[0][:1])[0] for side in sides[:2]]
    x, x_prime = (input_text(str(y) if isinstance(y, Failure) else y) for y in outputs)
    where = f"{x} on both inputs" if x == x_prime else f"{x} on x and {x_prime} on x'"
    return f"no output varied: all outputs are {where}; there is no noise, or one constant seed"


def make_verdict(question: Question, checks: Sequence[Check], **facts: Any) -> Verdict:
    """Return a verdict with the question's facts and these."""
    import scipy

    from epsilometer import __version__

    libraries = {"epsilometer": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
    return Verdict(
        claim=question.request.claim.to_plain(),
        claimed=question.request.claim.text(),
        alpha=question.request.alpha,
        method=question.method,
        detect=question.request.detect,
        pairs=len(question.pairs),
        seed=question.request.seed,
        source=question.source,
        checks=[check.to_plain() for check in checks],
        provenance={
            "made of": dict(question.digest),
            "versions": libraries | {"python": platform.python_version()},
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
        },
        seconds=round(time.perf_counter() - question.started, 3),
        **facts,
    )


def without(request: Request, reason: str, name: VerdictName = "failed") -> Verdict:
    """Return the verdict on a request that has no draws, with the reason."""
    return Verdict(
        verdict=name,
        claim=request.claim.to_plain(),
        claimed=request.claim.text(),
        alpha=request.alpha,
        seed=request.seed,
        method=Question(request=request).method,
        detect=request.detect,
        event=request.event,
        reasons=[reason],
    )


def invalid(question: Question, checks: Sequence[Check]) -> Verdict:
    """Return the verdict on a mechanism that failed a check."""
    failed = [check.text for check in checks if check.result == "failed"]
    inputs = question.inputs[0] if question.inputs else None
    return make_verdict(question, checks, verdict="invalid", reasons=failed, pair=inputs)


def _witness(found: Found | None, violated: bool) -> Witness | None:
    if found is None:
        return None
    event = found.event
    whole = found.whole or found.event
    layout = found.layout
    number = layout.number_of(whole)
    scored = whole.view.kind in ("score", "learned")
    rests = f"bets on predicted distributions of {number}" if found.predicted else number * scored
    if found.whole is not None:
        rests += " (JSON: witness.score); the witness has its strongest terms"
    elif scored:
        rests += " (JSON: witness.ranges); no event of a few entries differs as much"
    (hits, hits_prime), (draws, draws_prime) = found.hits, found.draws
    counts = (hits, draws, hits_prime, draws_prime)
    ranges = layout.plain(event)
    note = LOW_BITS if violated and event.view.kind == "low bit" else None
    score = layout.plain(found.whole) if found.whole else None
    text = layout.text(event)
    return Witness(text, *counts, ranges, note, rests or None, score, found.histogram)


def bound_of(part: Claim, lower: float, claim: AnyClaim) -> Bound:
    """Return a lower bound for the verdict on a claim, of which one level is the ``part``."""
    return Bound(part.quantity, part.level, lower, **claim.place_of(part))

"""The verdict of an audit, from the results of its rounds or of its test."""

from __future__ import annotations

import itertools
import platform
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from epsilometer.claims import AnyClaim, Claim
from epsilometer.events.scores import CELLS
from epsilometer_audit.answer.verdict import LOW_BITS, Bound, Verdict, VerdictName, Witness
from epsilometer_audit.checks.calls import Sample
from epsilometer_audit.checks.sampler import Check, check_drawn
from epsilometer_audit.outputs.formats import input_text, pair_texts
from epsilometer_audit.outputs.outcomes import Layout
from epsilometer_audit.outputs.shapes import listing
from epsilometer_audit.question.pairs import Pair
from epsilometer_audit.question.question import Question
from epsilometer_audit.question.request import Request
from epsilometer_audit.question.shares import share_of
from epsilometer_audit.serving.outputs import Failure
from epsilometer_audit.statistics.power import EVENT, EVENTS, detectable
from epsilometer_audit.statistics.rounds import Step
from epsilometer_audit.statistics.witnesses import EventCounts, looked_at

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
    witness: EventCounts | None,
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
    request = question.request
    event = request.event or EVENT
    table: dict[str, dict[float, float | None]] = {}
    if layout.left_out:
        checks = [*checks, Check("outputs", "note", "; ".join(layout.left_out))]
    elif len(steps) > 1:
        several = len(layout.columns) > 1
        table = _detectable(request.claim, request.alpha, steps, event, several)
    level = table.get(_ONE, {}).get(event)
    name: VerdictName = "violated"
    reasons: list[str] = []
    if not violated:
        sides = itertools.chain.from_iterable(outputs)
        reasons = _doubts(question, layout, table, level, list(sides))
        name = "undecided" if reasons else "not refuted"
    inputs = None if question.inputs is None else question.inputs[pair]
    if witness is not None:
        swapped = witness.swapped
    tried = []
    for (pair_name, both_inputs), pair_sides in zip(question.pairs.items(), outputs, strict=True):
        texts = both_inputs and pair_texts(*both_inputs)
        tried.append({"name": pair_name, "pair": texts, "draws": sum(map(len, pair_sides[0]))})
    return make_verdict(
        question,
        checks,
        verdict=name,
        pair=inputs,
        name=list(question.pairs)[pair] or None,
        tried=tried,
        direction=_direction(inputs, swapped),
        witness=_witness(witness, violated),
        detectable=level,
        detectable_jointly=table.get(_TWO, {}).get(event),
        detectable_by_event=table,
        event=event,
        outputs=layout.kind,
        looked_at=looked_at(layout),
        reasons=reasons,
        **more,
    )


def _doubts(
    question: Question,
    layout: Layout,
    table: Mapping[str, Mapping[float, float | None]],
    level: float | None,
    sides: Sequence[Sequence[Any]],
) -> list[str]:
    """Return why the draws may have missed a violation.

    ``table`` and ``level`` are what they detect, ``sides`` are the batches of each side.
    """
    reasons: list[str] = []
    if not any(table.get(_ONE, {}).values()):
        few = "no level would have been found with probability .9 by these draws"
        reasons = list(layout.left_out) or [few]
    elif missed := undetected(question, level):
        reasons = [missed]
    if not layout.left_out and (constant := _constant(sides)):
        reasons.append(constant)
    return reasons


def _direction(inputs: Pair | None, swapped: bool | None) -> str | None:
    """Return the texts of both inputs, first that where the event is likelier, if there is one."""
    if swapped is None:
        return None
    x, x_prime = ("x", "x'") if inputs is None else pair_texts(*inputs)
    return f"{x_prime} against {x}" if swapped else f"{x} against {x_prime}"


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
    requested = question.request.detect
    if requested is None or (level is not None and level <= requested):
        return ""
    detected = "nothing" if level is None else f"only {level:.3g} or more"
    return f"{requested:g} was to be detected, {detected} would have been, with probability .9"


def _constant(sides: Sequence[Sequence[Any]]) -> str:
    """Return a reason if the outputs on each input are all the same; "" otherwise."""
    first = [[side[0][:20]] for side in sides]  # a quick look, enough for most outputs
    if any(Sample(side, "").times.size > 1 for side in (*first, *sides)):
        return ""
    texts = []
    for side in sides[:2]:
        output = listing(side[0][:1])[0]
        if isinstance(output, Failure):
            output = str(output)
        texts.append(input_text(output))
    x, x_prime = texts
    where = f"{x} on both inputs" if x == x_prime else f"{x} on x and {x_prime} on x'"
    return f"no output varied: all outputs are {where}; there is no noise, or one constant seed"


def make_verdict(question: Question, checks: Sequence[Check], **facts: Any) -> Verdict:
    """Return a verdict with the question's facts and these."""
    import scipy

    from epsilometer import __version__

    versions = {
        "epsilometer": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }
    provenance = {
        "made of": dict(question.digest),
        "versions": versions,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return _verdict(
        question,
        pairs=len(question.pairs),
        source=question.source,
        checks=[check.to_plain() for check in checks],
        provenance=provenance,
        seconds=round(time.perf_counter() - question.started, 3),
        **facts,
    )


def without(request: Request, reason: str, name: VerdictName = "failed") -> Verdict:
    """Return the verdict on a request that has no draws, with the reason."""
    question = Question(request=request)
    return _verdict(question, verdict=name, event=request.event, reasons=[reason])


def _verdict(question: Question, **facts: Any) -> Verdict:
    """Return a verdict with the claim and options of the request, and these facts."""
    request = question.request
    return Verdict(
        claim=request.claim.to_plain(),
        claimed=request.claim.text(),
        alpha=request.alpha,
        seed=request.seed,
        method=question.method,
        detect=request.detect,
        **facts,
    )


def invalid(question: Question, checks: Sequence[Check]) -> Verdict:
    """Return the verdict on a mechanism that failed a check."""
    failed = [check.text for check in checks if check.result == "failed"]
    inputs = question.inputs[0] if question.inputs else None
    return make_verdict(question, checks, verdict="invalid", reasons=failed, pair=inputs)


def _witness(counted: EventCounts | None, violated: bool) -> Witness | None:
    """Return the event and its counts for the verdict."""
    if counted is None:
        return None
    event = counted.event
    layout = counted.layout
    score = counted.whole
    rests_on = None
    if counted.predicted:
        number = layout.number_of(score or event)
        rests_on = f"bets on predicted distributions of {number}"
    elif score or event.view.kind in ("score", "learned"):
        rests_on = layout.number_of(score or event)
    if rests_on and score:
        rests_on += " (JSON: witness.score); the witness has its strongest terms"
    elif rests_on and event.view.kind in ("score", "learned"):
        rests_on += " (JSON: witness.ranges); no event of a few entries differs as much"
    return Witness(
        event=layout.text(event),
        count=counted.hits[0],
        draws=counted.draws[0],
        count_prime=counted.hits[1],
        draws_prime=counted.draws[1],
        ranges=layout.plain(event),
        note=LOW_BITS if violated and event.view.kind == "low bit" else None,
        rests_on=rests_on,
        score=layout.plain(score) if score else None,
        histogram=counted.histogram,
    )


def bound_of(part: Claim, lower: float, claim: AnyClaim) -> Bound:
    """Return a lower bound for the verdict on a claim, of which one level is the ``part``."""
    return Bound(part.quantity, part.level, lower, **claim.place_of(part))

"""The verdict on one claim, from draws that were made for it."""

from __future__ import annotations

import html
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from epsilometer.audit.accounting import filled, of_any_level, told, unanswered
from epsilometer.audit.auditing import audit, audit_outputs
from epsilometer.audit.one_run import audit_one_run
from epsilometer.audit.page import html_of
from epsilometer.audit.sampler import Check
from epsilometer.audit.verdict import Verdict, input_words
from epsilometer.errors import DataError, EpsilometerError, MechanismError, one_line
from epsilometer.stages.draw import Tape, apart, claim_of
from epsilometer.storage import atomic, read_draws, write_columns

FAILED, MISSING = "failed", "missing"
"""The words of an audit that could not be made, and of one whose environment could not be."""

_log = logging.getLogger("epsilometer")


def run(
    draws: str,
    output: str,
    page: str,
    spec: Mapping[str, Any],
    replay: str,
    progress: Callable[[str], None],
) -> None:
    """Write the verdict that ``spec`` asks for: a row with all of it as JSON, and a page."""
    kept, batches = read_draws(draws, spec["draws"])
    facts = kept["facts"]
    held = [
        (pair, side, apart(column, form))
        for (pair, side, column), form in zip(batches, facts["forms"], strict=True)
    ]
    word, claim = None, of_any_level(spec["claim"])
    try:
        if "failed" in facts:
            raise MechanismError(facts["failed"])
        if "missing" in facts:
            found, word = without(spec, facts["missing"]), MISSING
        else:
            claim, who = filled(spec["claim"], facts.get("accounts", ()))
            found = told(_verdict({**spec, "claim": claim}, facts, held, progress), who)
    except DataError:
        raise
    except EpsilometerError as error:
        found, word = without(spec, one_line(error)), FAILED
    except Exception as error:
        _log.exception("failed")
        reason = f"{type(error).__name__}: {one_line(error)} (traceback in the log)"
        found, word = without(spec, reason), FAILED
    write(replace(found, replay=replay), output, page, spec, word, facts["seconds"], claim)


def write_failure(output: str, page: str, spec: Mapping[str, Any], cause: str) -> None:
    """Write that there is no verdict, and why: of a job that had to be stopped."""
    write(without(spec, cause), output, page, spec, FAILED)


def write(
    found: Verdict,
    output: str,
    page: str,
    spec: Mapping[str, Any],
    word: str | None = None,
    seconds: float = 0.0,
    claim: Mapping[str, Any] | None = None,
) -> None:
    """Write a verdict, or another ``word`` in its place, with the seconds that drawing took.

    ``claim`` is that of the specification, with numbers that accountants answered.
    """
    try:
        text = html_of(found, claim_of(claim or of_any_level(spec["claim"])))
    except Exception:  # the verdict is what was asked for
        _log.exception("no page")
        text = f"<!DOCTYPE html>\n<pre>{html.escape(str(found))}</pre>\n"
    with atomic(page) as part:
        part.write_text(text, encoding="utf-8", errors="backslashreplace")
    whole = found.to_plain() | {"seconds_drawing": seconds}
    whole |= {"verdict": word or found.verdict}
    columns = {name: [whole[name]] for name in ("verdict", "claimed")}
    write_columns({**columns, "json": [json.dumps(whole)]}, output, "verdict", spec)


def without(spec: Mapping[str, Any], reason: str) -> Verdict:
    """Return what is said where nothing can be, and why."""
    said = claim_of(of_any_level(spec["claim"]))
    claim, claimed = unanswered(spec["claim"]) or (said.to_plain(), said.words())
    return Verdict(
        verdict="invalid",
        claim=claim,
        claimed=claimed,
        alpha=spec["alpha"],
        method=spec["draws"]["method"] or "anytime",
        detect=spec["detect"],
        seed=spec["draws"]["audit_seed"],
        reasons=[reason],
    )


def _verdict(
    spec: Mapping[str, Any],
    facts: Mapping[str, Any],
    held: Sequence[tuple[int, int, Any]],
    progress: Callable[[str], None],
) -> Verdict:
    claim, drawn = claim_of(spec["claim"]), spec["draws"]
    common = {key: spec[key] for key in ("alpha", "detect", "outcomes", "support", "lipschitz")}
    common |= {"seed": drawn["audit_seed"], "as_reals": drawn["as_reals"]}
    about = {"source": facts["source"]}
    if "one run" in facts:
        scores, coins = (side for _, _, side in held)
        common = {key: common[key] for key in ("alpha", "detect", "seed")}
        common |= {"guesses": spec.get("guesses"), "digest": facts["digest"]}
        return audit_one_run(scores, coins, claim, **about, **common)
    if "pairs" not in facts:
        outputs = tuple(side for _, _, side in held)
        digest = facts["digest"]
        return audit_outputs(
            outputs, claim, method=drawn["method"], digest=digest, **about, **common
        )
    tape = Tape(batches=held)
    made = audit(
        tape,
        tape.sides(facts["pairs"]),
        claim,
        samples=drawn["samples"],
        method=drawn["method"] or "anytime",
        checked=[Check(**seen) for seen in facts["checks"]],
        progress=lambda part, line: progress(f"{part:.0%}: {line}"),
        **common,
    )
    provenance = {**made.provenance, "made of": facts["digest"]}
    return _with_inputs(replace(made, provenance=provenance, **about))


def _with_inputs(made: Verdict) -> Verdict:
    """Return a verdict on sides of a tape with the inputs that they stand for."""
    if made.pair is None:
        return made
    x, y = (side.value for side in made.pair)
    words = {"x": input_words(x), "x'": input_words(y)}
    direction = made.direction
    if direction is not None:
        ends = [json.loads(end) for end in direction.split(" against ")]
        direction = " against ".join(words[end] for end in ends)
    return replace(made, pair=(x, y), direction=direction)

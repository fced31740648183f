"""The verdicts on all claims about one mechanism on one set of pairs.

An audit requests draws by input, size and seed. The audit of another claim requests the same draws,
as far as it tests the same pairs. `Remembered` makes them once, so all claims are audited on the
same draws. Foreign code runs here and nowhere else in the workflow.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from epsilometer.errors import EpsilometerError, one_line
from epsilometer_audit.checks.accepted_pairs import Candidates, accepted
from epsilometer_audit.checks.sampler import Check
from epsilometer_audit.question import pairs_of, source_of
from epsilometer_audit.sources.accounting import (
    Answers,
    ask_all,
    with_accountants,
    with_answers,
    with_placeholders,
    without_levels,
)
from epsilometer_audit.sources.callables import Outputs, Source
from epsilometer_audit.sources.recorded import digest, read, read_scores
from epsilometer_audit.stability import check_stability, claim_of
from epsilometer_audit.statistics.claims import AnyClaim
from epsilometer_audit.verdict import Bound, Verdict

FAILED, MISSING, LEFT_OUT = "failed", "missing", "left out"
"""The words, in place of a verdict, of an audit that could not be made, of one whose environment
could not be made, and of a feature that is not audited."""

_AS_GOOD = {"holds": "not refuted"}
_ABOUT_OUTPUTS = ("as_reals", "outcomes", "support", "lipschitz")
_log = logging.getLogger("epsilometer")

Row = tuple[Verdict, AnyClaim, str | None]
"""A verdict, its claim with numbers from accountants, and the word in the verdict's place."""
Audit = Callable[..., Verdict]
"""Audits a claim; ``detect`` is the level that should be detected."""


def audited(spec: Mapping[str, Any], folder: str, progress: Callable[[str], None]) -> list[Row]:
    """Return the verdict on each claim of ``spec``, about a mechanism of ``folder``.

    A failure of the mechanism is an answer, too: to all claims if it fails before any audit, else
    to the claim whose audit it stops.
    """
    began = time.perf_counter()
    rows: list[Row] = []
    try:
        with chdir(folder):
            levels = [e[k] for k in ("claim", "least") for e in spec["claims"] if k in e]
            python, timeout = spec["mechanism"].get("python"), spec["timeout"]
            accounts = ask_all(levels, interpreter=python, timeout=timeout)
            with _audits(spec, progress) as audit:
                for entry in spec["claims"]:
                    one = partial(audit, **_evidence(spec, entry["claim"]))
                    rows.append(_row(one, entry, accounts, spec, began))
                    began = time.perf_counter()
    except Exception as error:
        return without(spec, _reason(error), FAILED, time.perf_counter() - began)
    return rows


def _compared(
    audit: Callable[[], Verdict],
    claim: Mapping[str, Any],
    entry: Mapping[str, Any],
    accounts: Answers,
    spec: Mapping[str, Any],
) -> Verdict:
    """Compare the claimed level with what it must be at least, then audit it.

    A claim below that is violated without draws. Else the claim is not refuted, also where its
    level is too large for these draws. The larger of the two lower bounds is the bound.
    """
    if "least" not in entry:
        return audit()
    ((name, least),) = with_answers(entry["least"], accounts)[1].items()
    words = f"{least.spec}: {name} is at least {least.value:g}"
    check = {"name": "at least", "result": "note", "words": words}
    if claim[name] < least.value:
        return replace(
            _without(spec, {**entry, "claim": claim}, "", "", 0.0)[0],
            verdict="violated",
            bounds=[Bound(name, claim[name], least.value)],
            checks=[check],
            reasons=[],
            source=least.spec,
        )
    verdict = audit()
    check["words"] += ", which the claim allows"
    bounds = [
        replace(bound, lower=max(bound.lower, least.value)) if bound.quantity == name else bound
        for bound in verdict.bounds
    ]
    verdict = replace(verdict, bounds=bounds, checks=[*verdict.checks, check])
    if verdict.verdict != "undecided" or entry["detect"] is not None:
        return verdict
    notes = [{"name": "draws", "result": "note", "words": text} for text in verdict.reasons]
    return replace(verdict, verdict="not refuted", checks=[*verdict.checks, *notes], reasons=[])


def without(spec: Mapping[str, Any], reason: str, word: str, seconds: float = 0.0) -> list[Row]:
    """Return the rows of all claims if none can be audited."""
    return [_without(spec, entry, reason, word, seconds) for entry in spec["claims"]]


def as_expected(word: str, expected: str | None) -> str | None:
    """Return yes or no; nothing where nothing is expected, or nothing could be found out."""
    if expected is None or word == "missing":
        return None
    return "yes" if expected in (word, _AS_GOOD.get(word)) else "no"


def counts_of(words: Sequence[str], unexpected: int) -> str:
    """Return how many verdicts there are of each kind, and how many are not as expected."""
    counts = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    return f"{counts} ({unexpected} not as expected)" if unexpected else counts


def _evidence(spec: Mapping[str, Any], claim: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of an audit whose evidence is kept; nothing if it is not."""
    if "evidence" not in spec:
        return {}
    from epsilometer_audit.evidence_files import numbered, part_of

    name = json.dumps([spec["entry"], spec["arguments"], spec["set"], claim], sort_keys=True)
    file, number = numbered(Path(spec["evidence"]), name)
    return {"evidence": file, "alpha": spec["alpha"] * part_of(number)}


# --- one claim ------------------------------------------------------------------------------------


def _row(
    audit: Audit,
    entry: Mapping[str, Any],
    accounts: Answers,
    spec: Mapping[str, Any],
    began: float,
) -> Row:
    """Return the row of a claim, also if it cannot be audited."""
    try:
        plain, accountants = with_answers(entry["claim"], accounts)
        claim = claim_of(plain)
        of_claim = partial(audit, claim, detect=entry["detect"])
        verdict = _compared(of_claim, plain, entry, accounts, spec)
        verdict = with_accountants(verdict, accountants)
    except Exception as error:
        return _without(spec, entry, _reason(error), FAILED, time.perf_counter() - began)
    return replace(verdict, seconds=time.perf_counter() - began), claim, None


def _without(
    spec: Mapping[str, Any], entry: Mapping[str, Any], reason: str, word: str, seconds: float
) -> Row:
    """Return the row of a claim that cannot be audited, with the reason."""
    claim = claim_of(with_placeholders(entry["claim"]))
    plain, claimed = without_levels(entry["claim"]) or (claim.to_plain(), claim.text())
    verdict = Verdict(
        verdict="invalid",
        claim=plain,
        claimed=claimed,
        alpha=spec["alpha"],
        method=spec["method"] or "anytime",
        detect=entry["detect"],
        seed=spec["audit_seed"],
        reasons=[reason],
        seconds=seconds,
    )
    return verdict, claim, word


def _reason(error: Exception) -> str:
    """Return why there is no verdict; log an unexpected error."""
    if isinstance(error, EpsilometerError):
        return one_line(error)
    _log.error("failed", exc_info=error)
    return f"{type(error).__name__}: {one_line(error)} (see the traceback)"


# --- the source of draws --------------------------------------------------------------------------


@contextmanager
def _audits(spec: Mapping[str, Any], progress: Callable[[str], None]) -> Iterator[Audit]:
    """Yield the function that audits a claim; all claims are audited on the same draws."""
    from epsilometer_audit.auditing import audit, audit_outputs, check_source
    from epsilometer_audit.canaries.one_run import audit_one_run, draw_canaries

    def options(*names: str) -> dict[str, Any]:
        return {"seed": spec["audit_seed"]} | {name: spec[name] for name in ("alpha", *names)}

    mechanism = spec["mechanism"]
    if "outputs" in mechanism:
        files, columns = mechanism["outputs"], mechanism["columns"]
        names = " and ".join(Path(file).name for file in files)
        origin: dict[str, Any] = {"source": f"recorded in {names}", "digest": digest(files)}
        if "one_run" in mechanism:
            scores, coins = read_scores(files[0], columns)
            yield partial(audit_one_run, scores, coins, **options("guesses"), **origin)
        else:
            about = options("method", *_ABOUT_OUTPUTS)
            yield partial(audit_outputs, read(files, columns), **about, **origin)
        return
    with closing(_source_of(spec)) as source:
        progress(f"drawing from {source.description}")
        if "canaries" in spec["pairs"]:
            coins, scores = draw_canaries(source, spec["pairs"]["canaries"], spec["audit_seed"])
            origin = {"source": source.description, "digest": source.digest()}
            yield partial(audit_one_run, scores, coins, **options("guesses"), **origin)
            return
        pairs, checks = pairs_of(spec["pairs"]), None
        if "stability" in spec["claims"][0]["claim"]:
            about = options("samples")
            yield lambda claim, **_: check_stability(
                source, pairs, claim.d_in, claim.d_out, metric=claim.metric, **about
            )
            return
        if "evidence" not in spec:  # else each audit knows whether it must check
            checks = list[Check]()
            if isinstance(pairs, Candidates):
                pairs, checks = accepted(source, pairs, spec["audit_seed"])
            first = next(iter(pairs.values()))
            checks += check_source(source, first, spec["samples"], spec["audit_seed"])
        remembered = Remembered(source)

        def audit_explained(claim: AnyClaim, **given: Any) -> Verdict:
            verdict = audit(
                remembered,
                pairs,
                claim,
                checked=checks,
                progress=lambda part, line: progress(f"{part:.0%}: {line}"),
                **options("samples", "method", *_ABOUT_OUTPUTS) | given,
            )
            if not spec["explain"]:
                return verdict
            from epsilometer_audit.explaining.explain import explained

            return explained(verdict, source, claim)

        yield audit_explained


def _source_of(spec: Mapping[str, Any]) -> Source:
    """Return the source of draws; the interpreter of an environment has the environment's name."""
    mechanism = spec["mechanism"]
    source = source_of(mechanism, spec["failures"], spec["timeout"], dict(spec["given"]))
    if "environment" in mechanism:
        name = f"in {mechanism['environment']}"
        source.description = source.description.replace(f"in {mechanism['python']}", name)  # type: ignore[misc]
    return source


class Remembered:
    """A source that draws once for each input, size and seed, and then returns the same draws.

    An error is raised again, too. Inputs are compared as objects, and must stay alive.
    """

    def __init__(self, source: Source) -> None:
        self._draw, self.digest, self.close = source.draw, source.digest, source.close
        self.description, self.seeded = source.description, source.seeded
        self.many = getattr(source, "many", True)
        self._held: dict[tuple[int, int, int], Outputs | EpsilometerError] = {}

    def draw(self, x: Any, size: int, seed: int) -> Outputs:
        """Return exactly ``size`` outputs on input ``x``, or raise as the source does."""
        key = id(x), size, seed
        if key not in self._held:
            try:
                self._held[key] = self._draw(x, size, seed)
            except EpsilometerError as error:
                self._held[key] = error
        result = self._held[key]
        if isinstance(result, EpsilometerError):
            raise result
        return result

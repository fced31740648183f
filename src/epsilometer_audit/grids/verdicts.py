"""The verdicts on all claims about one mechanism on one set of pairs.

An audit requests draws by input, size and seed. The audit of another claim requests the same draws,
as far as it tests the same pairs. `Remembered` makes them once, so all claims are audited on the
same draws. Foreign code runs here and nowhere else in the workflow.
"""

from __future__ import annotations

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
from epsilometer_audit.question import claim_of, pairs_of, source_of
from epsilometer_audit.sources.callables import Outputs, Source
from epsilometer_audit.sources.recorded import digest, read, read_scores
from epsilometer_audit.statistics.claims import AnyClaim
from epsilometer_audit.verdict import Verdict

FAILED, MISSING, LEFT_OUT = "failed", "missing", "left out"
"""The words, in place of a verdict, of an audit that could not be made, of one whose environment
could not be made, and of a feature that is not audited."""

_AS_GOOD = {"holds": "not refuted"}
_ABOUT_OUTPUTS = ("as_reals", "outcomes", "support", "lipschitz")
_log = logging.getLogger("epsilometer")

Row = tuple[Verdict, AnyClaim, str | None]
"""A verdict, its claim, and the word in the verdict's place."""
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
        with chdir(folder), _audits(spec, progress) as audit:
            for entry in spec["claims"]:
                rows.append(_row(audit, entry, spec, began))
                began = time.perf_counter()
    except Exception as error:
        return without(spec, _reason(error), FAILED, time.perf_counter() - began)
    return rows


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


# --- one claim ------------------------------------------------------------------------------------


def _row(
    audit: Audit,
    entry: Mapping[str, Any],
    spec: Mapping[str, Any],
    began: float,
) -> Row:
    """Return the row of a claim, also if it cannot be audited."""
    try:
        claim = claim_of(entry["claim"])
        verdict = audit(claim, detect=entry["detect"])
    except Exception as error:
        return _without(spec, entry, _reason(error), FAILED, time.perf_counter() - began)
    return replace(verdict, seconds=time.perf_counter() - began), claim, None


def _without(
    spec: Mapping[str, Any], entry: Mapping[str, Any], reason: str, word: str, seconds: float
) -> Row:
    """Return the row of a claim that cannot be audited, with the reason."""
    claim = claim_of(entry["claim"])
    verdict = Verdict(
        verdict="invalid",
        claim=claim.to_plain(),
        claimed=claim.text(),
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
        pairs, checks = pairs_of(spec["pairs"]), list[Check]()
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

            return explained(verdict, source)

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

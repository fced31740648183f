"""The one runner of audits: all claims about one mechanism on one set of pairs, on the same draws.

A *spec*, a plain mapping from `Audits` or the options of a command, says what is audited.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, closing, contextmanager
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

from epsilometer.errors import EpsilometerError, one_line
from epsilometer_audit.drawing import Progress
from epsilometer_audit.question import claim_of, pairs_of, source_of
from epsilometer_audit.sources.callables import Outputs, Source
from epsilometer_audit.sources.recorded import digest, read, read_scores
from epsilometer_audit.statistics.claims import AnyClaim
from epsilometer_audit.verdict import Verdict, VerdictName

_OPTIONS = ("as_reals", "samples", "stop", "check_sampler")
_log = logging.getLogger("epsilometer")

Audit = Callable[..., Verdict]
"""Audits a claim; ``detect`` is the level that should be detected, in an ``event``."""


def audited(spec: Mapping[str, Any], folder: str, progress: Callable[[str], None]) -> list[Verdict]:
    """Return the verdicts on the claims of ``spec``; a failure of the mechanism is one, too."""
    verdicts: list[Verdict] = []
    try:
        with chdir(folder), auditor(spec, lambda _, line: progress(line)) as audit:
            for entry in spec["claims"]:
                try:
                    verdicts.append(audit(claim_of(entry["claim"]), **asked(entry)))
                except Exception as error:
                    verdicts += without({**spec, "claims": [entry]}, _reason(error))
    except Exception as error:
        return without(spec, _reason(error))
    return verdicts


def without(spec: Mapping[str, Any], reason: str, word: VerdictName = "failed") -> list[Verdict]:
    """Return the verdicts on claims that cannot be audited, with the reason."""
    facts: dict[str, Any] = {"verdict": word, "alpha": spec["alpha"], "seed": spec["audit_seed"]}
    facts |= {"method": "anytime", "reasons": [reason]}
    claims = [(claim_of(entry["claim"]), asked(entry)) for entry in spec["claims"]]
    return [
        Verdict(claim=claim.to_plain(), claimed=claim.text(), **more, **facts)
        for claim, more in claims
    ]


def asked(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an entry asks of an audit beside its claim."""
    return {name: value for name, value in entry.items() if name != "claim"}


def _reason(error: Exception) -> str:
    """Return why there is no verdict; log an unexpected error."""
    if isinstance(error, EpsilometerError):
        return one_line(error)
    _log.error("failed", exc_info=error)
    return f"{type(error).__name__}: {one_line(error)} (see the traceback)"


def _options(spec: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the options of these names that are given, with alpha and seed."""
    given = {name: spec[name] for name in ("alpha", *names) if spec.get(name) is not None}
    return {"seed": spec["audit_seed"], **given}


def _of_outputs(spec: Mapping[str, Any]) -> Audit:
    """Return the function that audits a claim on recorded outputs, or on scores of one run."""
    from epsilometer_audit.auditing import audit_outputs
    from epsilometer_audit.canaries.one_run import audit_one_run

    files, columns = spec["mechanism"]["outputs"], spec["mechanism"].get("columns")
    names = " and ".join(Path(file).name for file in files)
    origin: dict[str, Any] = {"source": f"recorded in {names}", "digest": digest(files)}
    if "one_run" in spec["mechanism"]:
        scores, coins = read_scores(files[0], columns)
        return partial(audit_one_run, scores, coins, **_options(spec, "guesses"), **origin)
    options = _options(spec, "as_reals")
    return partial(audit_outputs, read(files, columns), **options, **origin)


@contextmanager
def auditor(spec: Mapping[str, Any], progress: Progress) -> Iterator[Audit]:
    """Yield the function that audits a claim of ``spec``.

    Each claim is audited as if it were alone; equal draws of several are made once.
    """
    from epsilometer_audit.auditing import audit
    from epsilometer_audit.canaries.one_run import audit_one_run, draw_canaries

    mechanism, pairs = spec["mechanism"], spec["pairs"] or {}
    if "outputs" in mechanism:
        yield _of_outputs(spec)
        return
    own, given = pairs_of(pairs), (spec["failures"], spec["timeout"], dict(spec["given"]))
    with closing(source_of(mechanism, *given)) as source:
        if "environment" in mechanism:  # its interpreter has the environment's name
            place, name = f"in {mechanism['python']}", f"in {mechanism['environment']}"
            source.description = source.description.replace(place, name)  # type: ignore[misc]
        if "canaries" in pairs:
            coins, scores = draw_canaries(source, pairs["canaries"], spec["audit_seed"])
            about = _options(spec, "guesses") | {"source": source.description}
            yield partial(audit_one_run, scores, coins, digest=source.digest(), **about)
            return
        settings = _options(spec, *_OPTIONS)
        several = len(spec["claims"]) > 1
        source_of_audit = _remembering(source) if several else lambda: source

        def audit_claim(claim: AnyClaim, **given: Any) -> Verdict:
            return audit(source_of_audit(), own, claim, progress=progress, **settings, **given)

        yield audit_claim


def _remembering(source: Source) -> Callable[[], Source]:
    """Return what makes a source for each of several audits, of which equal calls draw once.

    The second of equal calls in an audit, which tests whether draws follow the seed, gets what the
    second got in another.
    """
    held: dict[tuple[str, int, int, int], Outputs] = {}

    def for_an_audit() -> Source:
        made = Counter[tuple[str, int, int]]()

        def draw(x: Any, size: int, seed: int) -> Outputs:
            call = json.dumps(x), size, seed
            made[call] += 1
            key = *call, made[call]
            if key not in held:
                held[key] = source.draw(x, size, seed)
            return held[key]

        other = copy(source)
        other.draw = draw  # type: ignore[method-assign]
        return other

    return for_an_audit

"""Audits in one run: many canaries, each in the input by a coin, with scores; see `guessing`."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.claims import AnyClaim
from epsilometer.errors import ArgumentError, MechanismError
from epsilometer.numerics.arrays import Bools, Floats
from epsilometer.seeds import generator
from epsilometer_audit.answer.conclusion import bound_of, invalid, make_verdict, undetected
from epsilometer_audit.answer.verdict import Verdict, VerdictName
from epsilometer_audit.checks.sampler import Check
from epsilometer_audit.outputs.callables import Source
from epsilometer_audit.question.question import Question
from epsilometer_audit.question.request import Kind, RecordedScores, Request, documented, request_of
from epsilometer_audit.statistics import guessing

_LEAST = 10  # canaries
_MOST = 1_000_000  # canaries
_DOUBT = 1e-3  # p-value of fair coins, below which a note says so
_WRONG = 1e-6  # the same, below which they are invalid
_REVERSED = -5.0  # standard deviations


@documented(Kind.ONE_RUN)
def audit_one_run(
    scores: Any,
    included: Any,
    claim: AnyClaim,
    *,
    source: str = "recorded scores",
    digest: Mapping[str, str] | None = None,
    **options: Any,
) -> Verdict:
    """Audit a mechanism by one run on an input with canaries (Steinke, Nasr and Jagielski 2023).

    Parameters
    ----------
    scores
        A real number for each canary, of shape ``(m,)``: a function of the output, but not of
        ``included``. It is higher for canaries that are rather in.
    included
        Whether each canary was in, by m independent fair coins: of shape ``(m,)``, true or false, 1
        or 0, 1 or -1.
    claim
        `pure`, `approximate` or `gdp`; neighbours are an input with a canary and without it.
    source, digest
        Their origin, for the verdict.
    options
        As follows. Half of the guessed canaries have the highest scores and half the lowest; their
        number must not depend on ``included`` (see `guessing.rules_of`). The seed decides the order
        of equal scores.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> included = rng.random(400) < 0.5
    >>> scores = included + rng.normal(0, 0.5, 400)
    >>> from epsilometer_audit.question.claims import pure
    >>> audit_one_run(scores, included, pure(1.0), guesses=100).verdict
    'violated'
    """
    recorded = RecordedScores(scores, included, source, digest or {})
    request = request_of(options, mechanism=recorded, claim=claim)
    return of_scores(request, recorded, time.perf_counter())


def of_scores(request: Request, recorded: RecordedScores, started: float) -> Verdict:
    """Answer a request about scores of one run."""
    question = Question(
        request=request, source=recorded.source, digest=recorded.digest, started=started
    )
    claim = request.claim
    values = _scores(recorded.scores)
    inside = _included(recorded.included)
    if values.size != inside.size:
        message = f"must be as many as the scores, {values.size}, got {inside.size}"
        raise ArgumentError("included", message)
    if values.size < _LEAST:
        raise ArgumentError("scores", f"must be of {_LEAST} canaries or more, got {values.size}")
    rules = guessing.requested_rules(request.guesses, values.size, claim, request.alpha)
    checked = _checks(values, inside)
    if any(check.result == "failed" for check in checked):
        return invalid(question, checked)
    counted = guessing.count(values, inside, rules, request.seed)
    lower = guessing.refuted(counted, claim, request.alpha)
    bounds = [bound_of(claim, max(lower, 0.0), claim)]
    for other in claim.levels[1:]:
        delta = max(result.delta(claim.level, request.alpha) for result in counted)
        bounds.append(bound_of(other, delta, claim))
    level = guessing.detectable(rules, values.size, claim, request.alpha)
    missed = undetected(question, level)
    if level is None and request.detect is None:
        missed = "no guesses would have refuted it: more canaries or guesses are needed"
    verdict: VerdictName = "undecided" if missed else "not refuted"
    if lower >= claim.level:
        verdict = "violated"
        missed = ""
    best = min(counted, key=lambda result: result.p_value_of(claim))
    guesses: dict[str, Any] = {
        "rule": best.rule.text(),
        "right": best.right,
        "guesses": best.rule.guesses,
        **asdict(best.rule),
        "canaries": values.size,
        "included": int(inside.sum()),
        "rules": len(counted),
        "independent_mu": guessing.independent_mu(values, inside, request.alpha, request.seed),
    }
    return make_verdict(
        question,
        checked,
        verdict=verdict,
        bounds=bounds,
        detectable=level,
        p_value=best.p_value_of(claim),
        reasons=[missed] if missed else [],
        guesses=guesses,
        outputs="scores",
    )


def draw_canaries(mechanism: Source, canaries: int, seed: int) -> tuple[NDArray[Any], Floats]:
    """Toss a fair coin for each canary, run the mechanism once, and return coins and scores.

    Its input is the coins, a list of numbers 0 and 1; its output is a score for each. Raise
    `MechanismError` if it fails, or returns no such scores.
    """
    m = checks.integer("canaries", canaries, minimum=_LEAST, maximum=_MOST)
    coins = generator(seed, "one run", "coins").integers(0, 2, m)
    run = int(generator(seed, "one run", "training").integers(2**31))
    outputs = mechanism.draw(coins.tolist(), 1, run)
    name = mechanism.description.partition("(")[0]
    try:
        scores = np.asarray(outputs, float)
    except (TypeError, ValueError):
        raise MechanismError(f"{name} returned no numbers") from None
    if scores.size != m:
        raise MechanismError(f"{name} returned {scores.size} scores of {m} canaries")
    if np.isnan(scores).any():
        raise MechanismError(f"{name} returned a score that is not a number")
    return coins, scores.reshape(m)


def _scores(scores: Any) -> Floats:
    try:
        values = np.asarray(scores, float)
    except (TypeError, ValueError):
        raise ArgumentError("scores", "must be numbers, one for each canary") from None
    if values.ndim != 1:
        raise ArgumentError("scores", f"must have shape (m,), got {values.shape}")
    if np.isnan(values).any():
        raise ArgumentError("scores", f"hold nan, at place {int(np.isnan(values).argmax())}")
    return values


def _included(included: Any) -> Bools:
    values = np.asarray(included)
    kinds = set(np.unique(values).tolist()) if values.dtype.kind in "biuf" else {"words"}
    wrong = ""
    if values.ndim != 1:
        wrong = f"shape {values.shape}"
    elif not (kinds <= {0, 1} or kinds <= {-1, 1}):
        wrong = str(sorted(map(str, kinds))[:5])
    if wrong:
        message = f"must be true or false, 1 or 0, or 1 or -1 for each canary, got {wrong}"
        raise ArgumentError("included", message)
    return values > 0


def _checks(scores: Floats, included: Bools) -> list[Check]:
    """Check the coins and the sign of the scores."""
    from scipy.stats import binomtest, rankdata

    m = scores.size
    k = int(included.sum())
    chance = float(binomtest(k, m).pvalue)
    text = f"{k} of {m} canaries were in"
    checked = [Check("fair coins", "passed", text)]
    if chance < _DOUBT:
        text += f", by fair coins with probability {chance:.1g}: each must be in by its own coin"
        checked = [Check("fair coins", "failed" if chance < _WRONG else "note", text)]
    ranks = rankdata(scores)
    spread = math.sqrt(k * (m - k) / (m - 1)) * float(ranks.std())
    shift = float(ranks[included].sum()) - k * (m + 1) / 2
    if shift < _REVERSED * spread:
        text = "canaries that were in have lower scores than others: give the scores another sign"
        checked.append(Check("direction", "note", text))
    if scores.min() == scores.max():
        text = "all scores are equal: which are guessed is by chance"
        checked.append(Check("scores", "note", text))
    return checked

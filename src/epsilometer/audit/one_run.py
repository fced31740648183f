"""Audits in one run: many canaries, each in the input or not by a fair coin, and a score of each.

See `guessing` for what is tested, and how.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.audit.answer import bound_of, invalid, stated
from epsilometer.audit.asked import Plan, claim_of, detect_of
from epsilometer.audit.claims import AnyClaim, Pure
from epsilometer.audit.guessing import (
    Bools,
    Counted,
    Floats,
    Guesses,
    asked_rules,
    count,
    detectable,
    refuted,
)
from epsilometer.audit.sampler import Check
from epsilometer.audit.sources import Source
from epsilometer.audit.verdict import Bound, Verdict, Word
from epsilometer.errors import ArgumentError, MechanismError
from epsilometer.seeds import generator

_LEAST = 10  # canaries
_DOUBT, _WRONG = 1e-3, 1e-6  # of coins that are fair
_REVERSED = -5.0  # standard deviations


def audit_one_run(
    scores: Any,
    included: Any,
    claim: AnyClaim,
    *,
    guesses: Guesses | None = None,
    alpha: float = 0.05,
    seed: int = 0,
    detect: float | None = None,
    source: str = "recorded scores",
    digest: Mapping[str, str] | None = None,
) -> Verdict:
    """Audit a mechanism by one run on an input with canaries (Steinke, Nasr and Jagielski 2023).

    Parameters
    ----------
    scores
        A real number for each canary, of shape ``(m,)``: a function of the output, and not of
        ``included``. Higher means that it was rather in.
    included
        Which canaries were in, by m independent fair coins: of shape ``(m,)``, true or false, 1 or
        0, 1 or -1.
    claim
        `pure` or `approximate`; neighbours are an input with a canary and without it.
    guesses
        How many canaries are guessed, half of them from the highest scores and half from the
        lowest; or a pair of how many from the top and from the bottom. It is to be chosen before
        anything is known of ``included``. Without it some are tried, at the price of each: see
        `guessing.rules_of`.
    alpha, detect
        As for `audit`.
    seed
        Of the order of equal scores.
    source, digest
        What is told of their origin.

    Raises
    ------
    ArgumentError
        If anything of this cannot be.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> included = rng.random(400) < 0.5
    >>> scores = included + rng.normal(0, 0.5, 400)
    >>> from epsilometer.audit.claims import pure
    >>> audit_one_run(scores, included, pure(1.0), guesses=100).verdict
    'violated'
    """
    started = time.perf_counter()
    found = claim_of(claim)
    if not isinstance(found, Pure):
        message = "must be pure(...) or approximate(...), which audits in one run are about"
        raise ArgumentError("claim", message)
    values, inside = _scores(scores), _included(included)
    if values.size != inside.size:
        message = f"must be as many as the scores, {values.size}, got {inside.size}"
        raise ArgumentError("included", message)
    if values.size < _LEAST:
        raise ArgumentError("scores", f"must be of {_LEAST} canaries or more, got {values.size}")
    alpha = checks.between_0_and_1("alpha", alpha)
    rules = asked_rules(guesses, values.size, found, alpha)
    plan = Plan(
        claim=found,
        names=("",),
        inputs=None,
        alpha=alpha,
        seed=checks.integer("seed", seed, minimum=0),
        detect=detect_of(detect, found),
        known=None,
        method="one run",
        details=False,
        as_reals=True,
        started=started,
        source=source,
        digest=digest,
    )
    seen = _checks(values, inside)
    if any(one.result == "failed" for one in seen):
        return invalid(plan, seen)
    return _verdict(plan, found, seen, count(values, inside, rules, plan.seed), int(inside.sum()))


def audit_canaries(
    mechanism: Source,
    canaries: int,
    claim: AnyClaim,
    *,
    seed: int = 0,
    **options: Any,
) -> Verdict:
    """Toss a coin for each canary, run the mechanism once, and audit its scores.

    Parameters
    ----------
    mechanism
        Is given the coins, a list of ``canaries`` numbers 0 and 1, as its input; one output is a
        score for each of them, of shape ``(canaries,)``.
    seed
        Of the coins, and of the run.
    options
        ``guesses``, ``alpha`` and ``detect`` of `audit_one_run`.

    Raises
    ------
    MechanismError
        If it fails, or returns no such scores.
    """
    coins, scores = draw_canaries(mechanism, canaries, seed)
    options |= {"source": mechanism.description, "digest": mechanism.digest()}
    return audit_one_run(scores, coins, claim, seed=seed, **options)


def draw_canaries(mechanism: Source, canaries: int, seed: int) -> tuple[NDArray[Any], Floats]:
    """Return coins and the scores of one run on them, each of shape ``(canaries,)``."""
    m = checks.integer("canaries", canaries, minimum=_LEAST)
    coins = generator(seed, "one run", "coins").integers(0, 2, m)
    run = int(generator(seed, "one run", "training").integers(2**31))
    outputs = mechanism.draw(coins.tolist(), 1, run)
    who = mechanism.description.partition("(")[0]
    try:
        scores = np.asarray(outputs, float)
    except (TypeError, ValueError):
        raise MechanismError(f"{who} returned no numbers") from None
    if scores.size != m:
        raise MechanismError(f"{who} returned {scores.size} scores of {m} canaries")
    if np.isnan(scores).any():
        raise MechanismError(f"{who} returned a score that is not a number")
    return coins, scores.reshape(m)


def _verdict(
    plan: Plan, claim: Pure, seen: Sequence[Check], counted: Sequence[Counted], included: int
) -> Verdict:
    canaries = counted[0].canaries
    lower = refuted(counted, claim, plan.alpha)
    violated = lower >= claim.epsilon
    bounds = [bound_of(claim, max(lower, 0.0))]
    if claim.delta > 0:
        delta = max(one.delta(claim.epsilon, plan.alpha) for one in counted)
        bounds.append(Bound("delta", claim.delta, delta))
    best = min(counted, key=lambda one: float(one.p_value(claim.epsilon, claim.delta)))
    found = detectable([one.rule for one in counted], canaries, claim, plan.alpha)
    word: Word = "violated" if violated else "not refuted"
    reasons = []
    if not violated and plan.detect is None and found is None:
        word = "undecided"
        reasons.append("no guesses would have refuted it: more canaries or guesses are needed")
    elif not violated and plan.detect is not None and (found is None or found > plan.detect):
        word = "undecided"
        what = "nothing" if found is None else f"only {found:.3g} or more"
        reasons.append(
            f"{plan.detect:g} was to be detected, {what} would have been, with probability .9"
        )
    guesses = {
        "rule": best.rule.words(),
        "right": best.right,
        "guesses": best.rule.guesses,
        "top": best.rule.top,
        "bottom": best.rule.bottom,
        "canaries": canaries,
        "included": included,
        "rules": len(counted),
    }
    return stated(
        plan,
        seen,
        verdict=word,
        bounds=bounds,
        p_value=float(best.p_value(claim.epsilon, claim.delta)),
        detectable=found,
        guesses=guesses,
        outputs="scores",
        reasons=reasons,
    )


# --- what is given --------------------------------------------------------------------------------


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
    if values.ndim != 1 or not (kinds <= {0, 1} or kinds <= {-1, 1}):
        shown = f"shape {values.shape}" if values.ndim != 1 else sorted(map(str, kinds))[:5]
        message = f"must be true or false, 1 or 0, or 1 or -1 for each canary, got {shown}"
        raise ArgumentError("included", message)
    return values > 0


def _checks(scores: Floats, included: Bools) -> list[Check]:
    """Look at what must hold, or else somebody made a mistake."""
    from scipy.stats import binomtest, rankdata

    m, k = scores.size, int(included.sum())
    chance = float(binomtest(k, m).pvalue)
    result = "failed" if chance < _WRONG else "note" if chance < _DOUBT else "passed"
    words = f"{k} of {m} canaries were in"
    if result != "passed":
        words += (
            f", by fair coins with probability {chance:.1g}: each must be in by a coin of its own"
        )
    seen = [Check("fair coins", result, words)]  # type: ignore[arg-type]
    ranks = rankdata(scores)
    spread = math.sqrt(max(k * (m - k), 1) / (m - 1)) * float(ranks.std())
    shift = float(ranks[included].sum()) - k * (m + 1) / 2
    if shift < _REVERSED * max(spread, 1e-9):
        words = "canaries that were in have lower scores than others: give the scores another sign"
        seen.append(Check("direction", "note", words))
    if scores.min() == scores.max():
        seen.append(Check("scores", "note", "all scores are equal: which are guessed is by chance"))
    return seen

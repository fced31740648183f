"""Audits: of a mechanism that can be drawn from, and of outputs that were recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.audit import fixed
from epsilometer.audit.answer import bound_of, detectable_level, invalid, refutes, verdict_of
from epsilometer.audit.asked import (
    Pairs,
    Plan,
    as_reals_of,
    claim_of,
    detect_of,
    known_of,
    method_of,
    named_pairs,
    of_events,
    source_of,
)
from epsilometer.audit.bets import Round
from epsilometer.audit.candidates import Candidates, accepted, named_error
from epsilometer.audit.claims import AnyClaim, Delta, EventClaim, Pure, parts
from epsilometer.audit.engine import Evidence, gather, shuffled, successive
from epsilometer.audit.outcomes import learn as layout_of
from epsilometer.audit.sampler import Check, check, check_drawn, check_recorded
from epsilometer.audit.schedule import Step, least_samples, schedule
from epsilometer.audit.sources import Source
from epsilometer.audit.verdict import Bound, Verdict
from epsilometer.audit.wealth import Wealth
from epsilometer.errors import ArgumentError, MechanismError
from epsilometer.seeds import generator

Sample = NDArray[Any]
Progress = Callable[[float, str], None]
"""Is told which part of the draws is done, from 0 to 1, and a line about it."""

_SAMPLES = 100_000
_CHECKED = (400, 2000)  # draws of an input that the sampler's checks take, at least and at most
_DOUBTED = 0.1  # of alpha: how likely they fail where nothing is wrong; .001 at most
_TIMED = 256  # draws that tell how fast a mechanism is
_LEAST_RECORDED = 50


def audit(
    mechanism: Any,
    pairs: Pairs,
    claim: AnyClaim,
    *,
    samples: int | None = None,
    budget: float | None = None,
    alpha: float = 0.05,
    seed: int = 0,
    detect: float | None = None,
    stop: bool = False,
    method: Literal["anytime", "exact"] = "anytime",
    failures: bool = False,
    outcomes: int | None = None,
    support: tuple[float, float] | None = None,
    lipschitz: float | None = None,
    as_reals: bool = False,
    check_sampler: bool = True,
    checked: Sequence[Check] | None = None,
    details: bool = True,
    progress: Progress | None = None,
) -> Verdict:
    """Audit a mechanism on pairs of neighbouring inputs.

    Parameters
    ----------
    mechanism
        A callable ``(x, size, rng)``, one draw a call ``(x)`` or ``(x, rng)``, the place of one
        (``file.py:function``, ``package.module:function``), or a `Source`.
    pairs
        Pairs ``(x, x')`` of inputs that the claim calls neighbours, with names if it is a mapping;
        of those of a `domain`, the ones that the mechanism refuses on both sides are left out.
    claim
        `pure`, `approximate`, `renyi`, `gdp` or `zcdp`.
    samples
        Draws of each side over all pairs and stages; 100,000 if not given.
    budget
        Seconds, in place of ``samples``; what comes of it depends on the machine.
    alpha
        The probability of "violated" where the claim holds.
    seed
        All draws follow from it, if the mechanism takes its randomness from what it is given.
    detect
        A level that should have been found with probability .9; if these draws could not, an
        audit that refutes nothing is undecided.
    stop
        Whether to stop as soon as the claim is refuted.
    method
        ``anytime``, or one ``exact`` test at the end, for claims about events.
    failures
        Whether an exception of a mechanism of one draw a call is an outcome.
    outcomes, support, lipschitz
        What the provider says of the outputs, for an upper bound: how many there are; or the
        interval they lie in with the Lipschitz constant of their densities.
    as_reals
        Whether outputs are looked at as the reals that they stand for, as they are where they have
        densities; else events of their lowest bits, as a computer holds them, count like others.
    check_sampler
        Whether to find out first if it is a sampler at all.
    checked
        What `check_source` has found out already.
    details
        Whether to say what the papers' methods estimate on the same draws.
    progress
        Is told how far the audit is.

    Raises
    ------
    ArgumentError
        If anything of this cannot be.
    MechanismError
        If the mechanism fails.
    """
    started = time.perf_counter()
    source = source_of(mechanism, failures)
    named = named_pairs(pairs)
    plan = Plan(
        claim=claim_of(claim),
        names=tuple(named),
        inputs=tuple((x, y) for x, y in named.values()),
        alpha=checks.between_0_and_1("alpha", alpha),
        seed=checks.integer("seed", seed, minimum=0),
        detect=detect_of(detect, claim),
        known=(known := known_of(outcomes, support, lipschitz)),
        method=method_of(method, claim),
        details=details,
        as_reals=as_reals_of(as_reals, known),
        started=started,
        source=source.description,
        digest=source.digest(),
    )
    if samples is not None and budget is not None:
        raise ArgumentError("budget", "and samples must not both be given")
    refused: list[Check] = []
    if isinstance(pairs, Candidates):
        _tell(progress, 0.0, "which inputs does it take?")
        kept, refused = accepted(source, pairs, plan.seed)
        plan = replace(plan, names=tuple(kept), inputs=tuple(kept.values()))
    if budget is not None:
        checks.positive("budget", budget)
        samples = _affordable(source, plan, budget)
    n = checks.integer("samples", _SAMPLES if samples is None else samples)
    steps = schedule(n, len(plan.names))

    seen = [*refused, *(checked or ())]
    if check_sampler and checked is None:
        _tell(progress, 0.0, "is it a sampler?")
        first = plan.inputs[0] if plan.inputs else ()
        seen += check_source(source, first, n, plan.seed, plan.alpha)
    if any(found.result == "failed" for found in seen):
        return invalid(plan, seen)
    inputs = plan.inputs or ()
    calls = [[0, 0] for _ in inputs]

    def fresh(pair: int, side: int, size: int) -> Any:
        calls[pair][side] += 1
        own = _seed(plan.seed, "draws", pair, side, calls[pair][side])
        try:
            return source.draw(inputs[pair][side], size, own)
        except MechanismError as error:
            raise named_error(error, plan.names[pair]) from error.__cause__

    if plan.method == "exact":
        return _exact(fresh, n, plan, seen, progress)
    return _anytime(fresh, steps, plan, seen, stop, budget, progress, check_sampler=check_sampler)


def check_source(
    source: Source, inputs: Sequence[Any], samples: int, seed: int, alpha: float = 0.05
) -> list[Check]:
    """Find out whether what is to draw ``samples`` a side is a sampler; see `_DOUBTED`."""
    return check(
        source.draw,
        list(inputs),
        draws=int(np.clip(samples // 10, *_CHECKED)),
        seed=_seed(seed, "checks"),
        seeded=source.seeded,
        tried=getattr(source, "seeds_globals", False),
        alpha=_DOUBTED * alpha,
    )


def audit_outputs(
    outputs: Mapping[str, tuple[Any, Any]] | tuple[Any, Any],
    claim: AnyClaim,
    *,
    alpha: float = 0.05,
    seed: int = 0,
    detect: float | None = None,
    method: Literal["anytime", "exact"] | None = None,
    outcomes: int | None = None,
    support: tuple[float, float] | None = None,
    lipschitz: float | None = None,
    as_reals: bool = False,
    details: bool = True,
    source: str = "recorded outputs",
    digest: Mapping[str, str] | None = None,
) -> Verdict:
    """Audit outputs that were recorded, each of which is used once.

    Parameters
    ----------
    outputs
        Independent outputs on x and on x', by the name of the pair, or of one pair: arrays of
        shape ``(n,)`` or ``(n, d)``, or lists of any values. They are put in random order; the
        larger side is cut to the other's size.
    claim, alpha, detect, outcomes, support, lipschitz, as_reals, details
        As for `audit`.
    method
        ``exact`` for claims about events if not given, else ``anytime``.
    seed
        Of the random order.
    source, digest
        What is told of their origin.
    """
    started = time.perf_counter()
    named = dict(outputs) if isinstance(outputs, Mapping) else {"": outputs}
    if not named:
        raise ArgumentError("outputs", "must hold at least one pair")
    plan = Plan(
        claim=claim_of(claim),
        names=tuple(named),
        inputs=None,
        alpha=checks.between_0_and_1("alpha", alpha),
        seed=checks.integer("seed", seed, minimum=0),
        detect=detect_of(detect, claim),
        known=(known := known_of(outcomes, support, lipschitz)),
        method=method_of(method or ("exact" if of_events(claim) else "anytime"), claim),
        details=details,
        as_reals=as_reals_of(as_reals, known),
        started=started,
        source=source,
        digest=digest,
    )
    recorded, seen = [], []
    for name, sides in named.items():
        where = f"outputs {name!r}" if name else "outputs"
        if len(sides) != 2:
            raise ArgumentError(where, f"must be two samples, of x and of x', got {len(sides)}")
        n = min(len(side) for side in sides)
        if n < _LEAST_RECORDED:
            raise ArgumentError(where, f"must be {_LEAST_RECORDED} or more a side, got {n}")
        seen += check_recorded(*sides)
        rng = generator(plan.seed, "order", name)
        recorded.append((shuffled(sides[0], rng)[:n], shuffled(sides[1], rng)[:n]))
    if any(found.result == "failed" for found in seen):
        return invalid(plan, seen)
    n = min(len(x) for x, _ in recorded)
    if plan.method == "exact":
        return _exact(successive(recorded), n * len(named), plan, seen, None)
    steps = _recorded_steps(n, len(named))
    return _anytime(successive(recorded), steps, plan, seen, False, None, None)


def _recorded_steps(n: int, pairs: int) -> list[Step]:
    """Return rounds that use up to ``n`` draws of each pair."""
    samples = n * pairs
    while samples > least_samples(pairs):
        steps = schedule(samples, pairs)
        if sum(step.draws for step in steps) <= n:
            return steps
        samples = max(int(samples * 0.95), least_samples(pairs))
    steps = schedule(least_samples(pairs), pairs)
    if sum(step.draws for step in steps) > n:
        raise ArgumentError("outputs", f"{n} a side are too few for {pairs} pairs")
    return steps


# --- the two methods ------------------------------------------------------------------------------


def _anytime(
    fresh: Callable[[int, int, int], Any],
    steps: Sequence[Step],
    plan: Plan,
    seen: Sequence[Check],
    stop: bool,
    budget: float | None,
    progress: Progress | None,
    *,
    check_sampler: bool = False,
) -> Verdict:
    total = sum(step.pairs * step.draws for step in steps)
    kept: list[list[list[Any]]] = [[[], []] for _ in plan.names]

    def keeping(pair: int, side: int, size: int) -> Any:
        outputs = fresh(pair, side, size)
        kept[pair][side].append(outputs)
        return outputs

    def watch(drawn: int, evidence: Evidence) -> bool:
        refuted = evidence.refuted() if stop or progress else False
        line = "the claim is refuted" if refuted else "no violation so far"
        _tell(progress, drawn / total, f"{drawn} of {total} draws a side: {line}")
        late = budget is not None and time.perf_counter() - plan.started > 2 * budget
        return late or (stop and refuted)

    evidence = Evidence(plan.claim, len(plan.names), plan.alpha)
    gather(keeping, steps, evidence, watch, as_reals=plan.as_reals)
    if check_sampler:
        seen = [*seen, check_drawn(*kept[evidence.best], alpha=_DOUBTED * plan.alpha)]
        if seen[-1].result == "failed":
            return invalid(plan, seen)
    lower = evidence.bounds()
    bounds = [bound_of(claim, level) for claim, level in lower.items()]
    delta = evidence.delta_bound()
    if delta is not None and isinstance(plan.claim, Pure):
        bounds.append(Bound("delta", plan.claim.delta, delta))
    worst = max(lower, key=lambda claim: lower[claim] / max(claim.level, 1e-12))
    wealth = evidence.wealths[worst]
    pair, made = evidence.best, wealth.witness(evidence.best)
    violated = any(level >= claim.level and refutes(claim, level) for claim, level in lower.items())
    done = steps[: 1 + len(wealth.rounds)]
    history = wealth.log_wealth(worst, np.array([worst.level]))[:, 0] / np.log(10)
    layout = layout_of(*kept[pair][0], *kept[pair][1])
    verdict = verdict_of(
        plan,
        seen,
        bounds=bounds,
        violated=violated,
        p_value=min(found.p_value() for found in evidence.wealths.values()),
        pair=pair,
        made=made,
        found=detectable_level(plan, worst, done, made),
        draws=evidence.drawn,
        layout=layout,
        kept=kept,
        stopped=len(done) < len(steps),
    )
    shares = _shares(steps, wealth)[-history.size :]
    course = [
        {"share": share, "log10 e-value": float(value)}
        for share, value in zip(shares, history, strict=True)
    ]
    return replace(verdict, evidence=course)


def _shares(steps: Sequence[Step], wealth: Wealth) -> list[float]:
    """Return which part of the draws was made by each time that the wealth was looked at."""
    drawn = steps[0].pairs * steps[0].draws
    looks = [drawn]
    for step, made in zip(steps[1:], wealth.rounds, strict=False):
        blocks = step.blocks if any(made.values()) else [step.draws]
        looks += [drawn + step.pairs * done for done in accumulate(blocks)]
        drawn = looks[-1]
    total = sum(step.pairs * step.draws for step in steps)
    return [look / total for look in looks]


def _exact(
    fresh: Callable[[int, int, int], Any],
    samples: int,
    plan: Plan,
    seen: Sequence[Check],
    progress: Progress | None,
) -> Verdict:
    claim = parts(plan.claim)[0]
    assert isinstance(claim, EventClaim)
    pairs = len(plan.names)
    first = max(int(samples * fixed.CHOOSING / pairs), 1)
    rest = samples // pairs - first if plan.inputs is None else samples - first * pairs
    if min(first, rest) < 10:
        raise ArgumentError("samples", f"must be at least {50 * pairs}, got {samples}")
    raw = []
    for i in range(pairs):
        raw.append(tuple(fresh(i, side, first) for side in (0, 1)))
        _tell(progress, 0.2 * (i + 1) / pairs, f"pair {i + 1} of {pairs}")
    layouts = [layout_of(*sides) for sides in raw]
    past = [
        (layout.encode(x), layout.encode(y)) for layout, (x, y) in zip(layouts, raw, strict=True)
    ]
    pair, bets = fixed.choose(past, claim, rest, plan.alpha, layouts, as_reals=plan.as_reals)
    later = tuple(fresh(pair, side, rest) for side in (0, 1))
    layout = layouts[pair]
    x, y = (layout.encode(side) for side in later)
    counted = fixed.count(pair, bets, (x, y))
    lower = counted.lower_bound(claim, plan.alpha)
    bounds = [bound_of(claim, lower)]
    if isinstance(claim, Pure) and claim.delta > 0:
        delta = counted.lower_bound(Delta(claim.epsilon, claim.delta), plan.alpha)
        bounds.append(Bound("delta", claim.delta, delta))
    made = None
    if counted.counted:
        best = max(counted.counted, key=lambda seen: fixed.bound(seen, claim, plan.alpha))
        counts = (
            [[best.draws - best.hits, best.hits]],
            [[best.draws - best.hits_prime, best.hits_prime]],
        )
        made = Round(best.bet, np.array(counts[0]), np.array(counts[1]), best.draws, layout)
    steps = [Step(pairs, first, rest), Step(1, rest, rest)]
    _tell(progress, 1.0, "done")
    return verdict_of(
        plan,
        seen,
        bounds=bounds,
        violated=lower > claim.level,
        p_value=None,
        pair=pair,
        made=made,
        found=detectable_level(plan, claim, steps, made),
        draws=first * pairs + rest,
        layout=layout,
        kept=[[[x], [y]] for x, y in raw[:pair]]
        + [[[raw[pair][0], later[0]], [raw[pair][1], later[1]]]]
        + [[[x], [y]] for x, y in raw[pair + 1 :]],
    )


# --- draws ---------------------------------------------------------------------------------------


def _affordable(source: Source, plan: Plan, seconds: float) -> int:
    """Return how many draws of a side a mechanism makes in so many seconds."""
    assert plan.inputs is not None
    spent, drawn = 0.0, 0
    for i in range(8):
        start = time.perf_counter()
        source.draw(plan.inputs[0][i % 2], _TIMED * 2**i, _seed(plan.seed, "speed", i))
        spent += time.perf_counter() - start
        drawn += _TIMED * 2**i
        if spent > 0.05 * seconds:
            break
    left = max(seconds - spent, 0.1 * seconds)
    most = max(int(0.4 * left * drawn / max(spent, 1e-6)), least_samples(len(plan.names)))
    return min(most, 10_000_000)


def _seed(root: int, *identity: str | int) -> int:
    return int(generator(root, "audit", *identity).integers(2**31))


def _tell(progress: Progress | None, part: float, line: str) -> None:
    if progress is not None:
        progress(part, line)

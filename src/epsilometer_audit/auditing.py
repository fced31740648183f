"""Audits: of a mechanism, and of recorded outputs."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from epsilometer import exact_test as fixed
from epsilometer.claims import EventClaim
from epsilometer.errors import ArgumentError
from epsilometer.events.choosing import PastDraws
from epsilometer.events.learning import choose_events
from epsilometer.seeds import generator
from epsilometer_audit import conclusion
from epsilometer_audit.checks.accepted_pairs import Candidates, accepted
from epsilometer_audit.checks.fresh_processes import other_process
from epsilometer_audit.checks.sampler import Check, check, check_recorded
from epsilometer_audit.drawing import Drawing, Progress, seed_of
from epsilometer_audit.outcomes.outcomes import Layout
from epsilometer_audit.outcomes.outcomes import learn as layout_of
from epsilometer_audit.outcomes.shapes import recorded_pair
from epsilometer_audit.question import Pairs, Question, equal, named_pairs, source_of
from epsilometer_audit.serving.sampling import globals_kept
from epsilometer_audit.sources.callables import Source
from epsilometer_audit.statistics import rounds
from epsilometer_audit.statistics.claims import AnyClaim, parts
from epsilometer_audit.statistics.witnesses import first_visible, found
from epsilometer_audit.verdict import Verdict

_SAMPLES = 100_000
_CHECKED = 2000  # draws of an input for the sampler's checks, at most
_LEAST_CHECKED = 40  # of them, at least: they are a tenth of all draws
_LEAST_RECORDED = 50


def audit(
    mechanism: Any,
    pairs: Pairs,
    claim: AnyClaim,
    *,
    samples: int | None = None,
    alpha: float = 0.05,
    seed: int = 0,
    detect: float | None = None,
    event: float | None = None,
    stop: bool = False,
    failures: bool = False,
    timeout: float | None = None,
    as_reals: bool = False,
    check_sampler: bool = True,
    progress: Progress | None = None,
) -> Verdict:
    """Test whether a mechanism is as private as claimed: past draws choose events, fresh ones test.

    >>> import epsilometer_audit as ea
    >>> def noisy_count(x, size, rng):
    ...     return sum(x) + rng.geometric(0.8, size) - rng.geometric(0.8, size)
    >>> verdict = ea.audit(noisy_count, [([0, 0, 1], [0, 1, 1])], ea.pure(1.0), samples=5000)
    >>> verdict.verdict, verdict.bound > 1.3
    ('violated', True)

    Parameters
    ----------
    mechanism
        A callable, ``(x, size, rng)`` for many draws, ``(x)`` or ``(x, rng)`` for one, its name
        (``file.py:function``, ``package.module:function``), or a `Source`.
    pairs
        Pairs ``(x, x')`` of neighbouring inputs, with names if it is a mapping, or a `domain`.
    claim
        `pure`, `approximate`, `renyi`, `gdp`, `zcdp`, `profile` or `tradeoff`.
    samples
        Draws of each side over all pairs; by default 100,000. The checks take a fifth more at most.
    alpha
        The largest probability of "violated" where the claim holds and draws are independent, also
        those of one call: noise that draws share a little may go unseen, and breaks alpha.
    seed
        All draws follow from it, if the mechanism takes its randomness from its arguments.
    detect
        A level: if these draws would have missed it, the verdict is "undecided", not "not refuted".
    event
        The probability, on the less likely side, of the event that shows this level (.1).
    stop
        Whether to end as soon as the claim is refuted.
    failures
        Whether an exception is an output like others, where a call makes one draw.
    timeout
        The most seconds of a batch of draws: by default 60 of a program, any time of a function.
    as_reals
        Whether outputs stand for reals: their low bits, which show too much, are ignored.
    check_sampler
        Whether to test first that draws are independent and follow the seed.
    progress
        Called with the share of the draws that is done, from 0 to 1, and a line of text.

    Raises
    ------
    ArgumentError
        If an argument is wrong; the message names it and the nearest valid choice.
    MechanismError
        If the mechanism fails.
    """
    started = time.perf_counter()
    source = source_of(mechanism, failures, timeout)
    question = Question(
        claim=claim,
        pairs=named_pairs(pairs),
        samples=samples,
        alpha=alpha,
        seed=seed,
        detect=detect,
        event=event,
        stop=stop,
        as_reals=as_reals,
        check_sampler=check_sampler,
        source=source.description,
        digest=source.digest(),
        started=started,
    )
    with globals_kept():
        return _run(question, source, progress)


def _run(question: Question, source: Source, progress: Progress | None) -> Verdict:
    """Answer a question about a source."""
    checks, near = list[Check](), getattr(question.pairs, "near", ())
    if isinstance(question.pairs, Candidates):
        accepted_pairs, notes = accepted(source, question.pairs, question.seed)
        question = replace(question, pairs=accepted_pairs)
        checks += notes
    if same := sum(equal(x, y) for x, y in question.inputs or ()):
        text = f"x and x' are equal in {same} of {len(question.pairs)} pairs: no claim is refuted"
        checks.append(Check("inputs", "note", f"{text} by them"))
    samples = _SAMPLES if question.samples is None else question.samples
    rounds.schedule(samples, len(question.pairs))  # or raise that they are too few

    def check_sampler(draws: int) -> list[Check]:
        """Check the sampler, for an audit of so many draws a side."""
        if not question.check_sampler:
            return []
        x = question.inputs[0] if question.inputs else ()
        return check_source(source, x, draws, question.seed, question.alpha)

    # draws are dear where an audit stops: checks take a part of those that it took
    late = question.stop
    if not late:
        checks += check_sampler(samples)
    if any(check.result == "failed" for check in checks):
        return conclusion.invalid(question, checks)
    drawing = Drawing(source, question, samples, progress, near)
    return _answer(drawing, samples, question, checks, check_sampler if late else None)


def check_source(
    source: Source, inputs: Sequence[Any], samples: int, seed: int, alpha: float = 0.05
) -> list[Check]:
    """Check whether a source is a sampler, for an audit of ``samples`` draws a side.

    The probability that any check fails on a sampler is `FALSE_ALARMS` of alpha at most. With few
    draws a note takes the place of the checks.
    """
    draws, share = min(samples // 10, _CHECKED), conclusion.FALSE_ALARMS * alpha
    if draws >= _LEAST_CHECKED:
        own, seeded = seed_of(seed, "checks"), source.seeded
        checks = check(source.draw, list(inputs), draws=draws, seed=own, seeded=seeded, alpha=share)
        unseeded = checks and checks[0].result != "passed"
        if unseeded and all(check.result != "failed" for check in checks):
            other = seed_of(seed, "other process")
            checks.append(other_process(source, inputs[0], draws, other, share))
    else:
        needed = f"{10 * _LEAST_CHECKED} draws a side are needed"
        text = f"it was not checked whether this is a sampler: {needed}"
        checks = [Check("sampler", "note", text)]
    if constant := getattr(source, "constant", ""):
        text = f"{constant} unless it is given, as here: calls without it may get constant noise"
        checks.append(Check("default seed", "note", text))
    return checks


def audit_outputs(
    outputs: Mapping[str, tuple[Any, Any]] | tuple[Any, Any],
    claim: AnyClaim,
    *,
    alpha: float = 0.05,
    seed: int = 0,
    detect: float | None = None,
    event: float | None = None,
    as_reals: bool = False,
    source: str = "recorded outputs",
    digest: Mapping[str, str] | None = None,
) -> Verdict:
    """Test from recorded outputs whether a mechanism is as private as claimed.

    >>> import numpy as np, epsilometer_audit as ea
    >>> on_x, on_x_prime = np.random.default_rng(0).laplace([[0], [1]], 0.5, (2, 5000))
    >>> ea.audit_outputs((on_x, on_x_prime), ea.pure(1.0), as_reals=True).verdict
    'violated'

    Parameters
    ----------
    outputs
        Independent outputs on x and on x', by the name of the pair, or of one pair: arrays of
        shape ``(n,)`` or ``(n, d)``, or lists of any values, each used once. The audit puts them in
        random order, and cuts the larger side to the other's size. Numbers are compared by their
        values, whatever their types.
    claim, alpha, detect, event, as_reals
        As for `audit`. Claims of epsilon, delta or mu get one exact test of all outputs, other
        claims the sequential test.
    seed
        Of the random order.
    source, digest
        Their origin, and the SHA-256 of its files, for the verdict.
    """
    started = time.perf_counter()
    named = outputs if isinstance(outputs, Mapping) else {"": outputs}
    if not named:
        raise ArgumentError("outputs", "must hold at least one pair")
    question = Question(
        audited="recorded outputs",
        claim=claim,
        pairs=dict.fromkeys(named),
        alpha=alpha,
        seed=seed,
        detect=detect,
        event=event,
        as_reals=as_reals,
        check_sampler=False,
        source=source,
        digest=digest or {},
        started=started,
    )
    recorded, checks = [], []
    for name, sides in named.items():
        where = f"outputs {name!r}" if name else "outputs"
        if len(sides) != 2:
            raise ArgumentError(where, f"must be two samples, of x and of x', got {len(sides)}")
        x, x_prime, note = recorded_pair(*sides)
        n = min(len(x), len(x_prime))
        if n < _LEAST_RECORDED:
            raise ArgumentError(where, f"must be {_LEAST_RECORDED} or more a side, got {n}")
        checks += [Check("outputs", "note", note)] if note else []
        checks += check_recorded(x, x_prime)
        rng = generator(question.seed, "order", name)
        recorded.append((rounds.shuffled(x, rng)[:n], rounds.shuffled(x_prime, rng)[:n]))
    if any(check.result == "failed" for check in checks):
        return conclusion.invalid(question, checks)
    if question.method == "exact":
        return _exact(recorded, question, checks)
    samples = min(len(x) for x, _ in recorded) * len(named)
    return _answer(rounds.successive(recorded), samples, question, checks)


def _steps(samples: int, question: Question, joining: bool) -> list[rounds.Step]:
    """Return the rounds of so many draws a side; recorded ones are as many of each pair."""
    pairs, recorded = len(question.pairs), question.inputs is None
    n, least = samples // pairs, rounds.least_samples(pairs)
    samples = max(samples, least) if recorded else samples
    steps = rounds.schedule(samples, pairs, joining=joining)
    while recorded and sum(step.draws for step in steps) > n:
        if samples == least:
            raise ArgumentError("outputs", f"{n} a side are too few for {pairs} pairs")
        samples = max(int(samples * 0.95), least)
        steps = rounds.schedule(samples, pairs)
    return steps


def _answer(
    draws: rounds.Draw, samples: int, question: Question, checks: Sequence[Check], later: Any = None
) -> Verdict:
    """Return the verdict of so many draws a side over all pairs; ``later`` checks the sampler."""
    own = draws if isinstance(draws, Drawing) else None
    steps = _steps(samples, question, bool(own and own.near))
    claimed = question.claim, len(question.pairs), question.alpha
    evidence = rounds.Evidence(*claimed, as_reals=question.as_reals)
    stops = rounds.Evidence.violated if question.stop else lambda _: False
    join = own.join if own else lambda *_: ()
    rounds.run_rounds(draws, steps, evidence, stops, join=join, each_block=question.stop)
    if own:
        joined, question = len(own.question.pairs) - len(question.pairs), own.question
        text = f"{joined} more pairs were tried, near those that seemed to differ most"
        notes = [text] if joined else []
        for pairs in own.near:
            notes += pairs.notes
        checks = [*checks, *(Check("range", "note", note) for note in notes)]
    outputs, done, pair = evidence.raw, evidence.steps, evidence.best
    if later is not None:
        checks = [*checks, *later(evidence.drawn)]
        if any(check.result == "failed" for check in checks):
            return conclusion.invalid(question, checks)
    lower = evidence.bounds()
    worst = max(evidence.wealths, key=lambda claim: lower[claim] / max(claim.level, 1e-12))
    wealth, bet = evidence.wealths[worst], evidence.bet(worst)
    witness, violated = evidence.witness(worst, lower[worst], bet), evidence.violated(lower)
    if violated and not question.stop:
        lower, bets = evidence.sharpened(lower)
        if (its_bet := bets.get(worst)) is not None:
            its_witness = first_visible([evidence.shown(its_bet, worst)])
            bet, witness = its_bet, its_witness or witness
    bounds = [conclusion.bound_of(claim, low, question.claim) for claim, low in lower.items()]
    looks = zip(evidence.looks, wealth.history, strict=True)
    course = [{"share": n / samples, "log10 e-value": log / math.log(10)} for n, log in looks]
    return conclusion.verdict_of(
        question,
        checks,
        bounds=bounds,
        violated=violated,
        p_value=min(wealth.p_value() for wealth in evidence.wealths.values()),
        pair=pair,
        swapped=None if bet is None else bet.bet.swapped,
        witness=witness,
        steps=done,
        draws=evidence.drawn,
        layout=evidence.layout(pair),
        outputs=outputs,
        calls=own.calls if own else {},
        evidence=course,
    )


def _exact(
    recorded: Sequence[tuple[Any, Any]], question: Question, checks: Sequence[Check]
) -> Verdict:
    """Return the verdict of one exact test of recorded outputs, x and x' of each pair.

    The first of them choose the pair and its events, and the others test these.
    """
    claim, pairs = parts(question.claim)[0], len(recorded)
    assert isinstance(claim, EventClaim)
    draws = min(len(x) for x, _ in recorded)
    first = int(draws * fixed.CHOOSING)
    layouts = _layouts(recorded, first, question.as_reals)
    if any(len(layout.columns) > 1 for layout in layouts):  # several have more to tell
        first += first // 2
        layouts = _layouts(recorded, first, question.as_reals)
    rest = draws - first
    past = []
    for (x, x_prime), of_pair in zip(recorded, layouts, strict=True):
        sides = of_pair.encode(x[:first]), of_pair.encode(x_prime[:first])
        past.append(PastDraws(*sides, of_pair))
    chosen = [choose_events(each, claim.levels, rest) for each in past]
    expected = [events[0].expected if events else -math.inf for events in chosen]
    pair = expected.index(max(expected))
    layout = layouts[pair]
    x, x_prime = recorded[pair]
    fresh = layout.encode(x[first:draws]), layout.encode(x_prime[first:draws])
    counted = fixed.count(chosen[pair], *fresh)
    lower, best = fixed.largest_bound(counted, claim, question.alpha)
    best = best or next(iter(counted), None)
    witness = None
    if best is not None:
        shown = best.chosen.event, best.chosen.swapped, layout
        witness = first_visible([found(shown, past[pair].sides, fresh, claim, predicted=False)])
    bounds = [conclusion.bound_of(claim, lower)]
    for other in claim.levels[1:]:
        delta, _ = fixed.largest_bound(counted, other, question.alpha)
        bounds.append(conclusion.bound_of(other, delta))
    outputs = [[[x[:first]], [x_prime[:first]]] for x, x_prime in recorded]
    outputs[pair] = [[x[:draws]], [x_prime[:draws]]]
    return conclusion.verdict_of(
        question,
        checks,
        bounds=bounds,
        violated=lower > claim.level,
        pair=pair,
        swapped=None if best is None else best.chosen.swapped,
        witness=witness,
        steps=[rounds.Step(pairs, first, rest), rounds.Step(1, rest, rest)],
        draws=first * pairs + rest,
        layout=layout,
        outputs=outputs,
        calls={},
    )


def _layouts(recorded: Sequence[tuple[Any, Any]], draws: int, as_reals: bool) -> list[Layout]:
    """Return the columns of each pair's outputs, learned from the first draws of a side."""
    return [layout_of(x[:draws], y[:draws], as_reals=as_reals) for x, y in recorded]

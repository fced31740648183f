"""Audits: of a mechanism, and of recorded outputs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from epsilometer.claims import AnyClaim
from epsilometer.errors import ArgumentError
from epsilometer.events import exact_test
from epsilometer.events.choosing import choose_events
from epsilometer.events.looks import PastDraws
from epsilometer.seeds import generator
from epsilometer_audit.answer import conclusion
from epsilometer_audit.answer.one_run import draw_canaries, of_scores
from epsilometer_audit.answer.verdict import Verdict
from epsilometer_audit.checks.accepted_pairs import accepted
from epsilometer_audit.checks.fresh_processes import other_process
from epsilometer_audit.checks.sampler import Check, check, check_recorded
from epsilometer_audit.drawing import Drawing, Progress, seed_of
from epsilometer_audit.outputs.callables import Source
from epsilometer_audit.outputs.outcomes import Layout, learn_layout
from epsilometer_audit.outputs.recorded import digest, read, read_scores
from epsilometer_audit.outputs.shapes import recorded_pair
from epsilometer_audit.question.pairs import Candidates
from epsilometer_audit.question.question import Question, source_of
from epsilometer_audit.question.request import (
    Kind,
    NamedMechanism,
    Pairs,
    RecordedOutputs,
    RecordedScores,
    Request,
    documented,
    equal,
    request_of,
)
from epsilometer_audit.serving.sampling import globals_kept
from epsilometer_audit.statistics import rounds
from epsilometer_audit.statistics.witnesses import Chosen, count_event, first_visible

_SAMPLES = 100_000
_CHECKED = 2000  # draws of an input for the sampler's checks, at most
_LEAST_CHECKED = 40  # of them, at least: they are a tenth of all draws
_LEAST_RECORDED = 50


@documented(Kind.DRAWS, Kind.ONE_RUN)
def audit(
    mechanism: Any,
    pairs: Pairs | None = None,
    claim: AnyClaim | None = None,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Verdict:
    """Test whether a mechanism is as private as claimed: past draws choose events, fresh ones test.

    What two arrays of outputs show without a claim: `epsilometer.measure`.

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
        (``file.py:function``, ``package.module:function``), a `Source`, or a mapping of the fields
        of `NamedMechanism`, such as ``{"command": "./mechanism"}``.
    pairs
        Pairs ``(x, x')`` of neighbouring inputs, with names if it is a mapping, or a `domain`. An
        audit with ``canaries`` has none.
    claim
        Such as `pure(1.0)` or `gdp(1.0)`, see the package; or in its place its options, such as
        ``epsilon=1, delta=1e-5``, ``gdp=1`` or ``renyi={2: .5}``.
    progress
        Called with the share of the draws that is done, from 0 to 1, and a line of text.
    options
        As follows. "violated" has the probability alpha at most where the claim holds and draws are
        independent, also those of one call: noise that draws share a little may go unseen.

    Raises
    ------
    ArgumentError
        If an argument is wrong; the message names it and the nearest valid choice.
    MechanismError
        If the mechanism fails.
    """
    if claim is not None:
        options["claim"] = claim
    return run(request_of(options, mechanism=mechanism, pairs=pairs), progress)


def run(request: Request, progress: Progress | None = None) -> Verdict:
    """Return the verdict on a request."""
    started = time.perf_counter()
    mechanism = request.mechanism
    if isinstance(mechanism, NamedMechanism) and mechanism.files:
        mechanism = _recorded(mechanism)
    if isinstance(mechanism, RecordedOutputs):
        return _of_outputs(request, mechanism, started)
    if isinstance(mechanism, RecordedScores):
        return of_scores(request, mechanism, started)
    with ExitStack() as stack:
        stack.enter_context(globals_kept())
        source = source_of(request)
        if source is not mechanism:  # its maker closes it
            stack.callback(source.close)
        about: dict[str, Any] = {"source": source.description, "digest": source.digest()}
        if request.canaries is not None:
            coins, scores = draw_canaries(source, request.canaries, request.seed)
            return of_scores(request, RecordedScores(scores, coins, **about), started)
        question = Question(request=request, pairs=request.pairs, started=started, **about)
        return _of_draws(question, source, progress)


def _recorded(named: NamedMechanism) -> RecordedOutputs | RecordedScores:
    """Return what files have recorded."""
    about: dict[str, Any] = {
        "source": f"recorded in {' and '.join(Path(file).name for file in named.files)}",
        "digest": digest(named.files),
    }
    if named.one_run is not None:
        return RecordedScores(*read_scores(named.one_run, named.columns), **about)
    return RecordedOutputs({"": read(named.files, named.columns)}, **about)


def _of_draws(question: Question, source: Source, progress: Progress | None) -> Verdict:
    """Answer a question about a source."""
    request = question.request
    checks: list[Check] = []
    searches: Sequence[Any] = ()
    if isinstance(question.pairs, Candidates):
        searches = question.pairs.searches
        accepted_pairs, checks = accepted(source, question.pairs, request.seed)
        question = replace(question, pairs=accepted_pairs)
    if same := sum(equal(x, y) for x, y in question.inputs or ()):
        text = f"x and x' are equal in {same} of {len(question.pairs)} pairs: no claim is refuted"
        checks.append(Check("inputs", "note", f"{text} by them"))
    samples = _SAMPLES if request.samples is None else request.samples
    rounds.schedule(samples, len(question.pairs))  # or raise that they are too few

    def check_sampler(draws: int) -> list[Check]:
        """Check the sampler, for an audit of so many draws a side."""
        if not question.checks_sampler:
            return []
        x = question.inputs[0] if question.inputs else ()
        return check_source(source, x, draws, request.seed, request.alpha)

    if request.stop:  # draws are dear: checks take a part of those that it took
        drawing = Drawing(source, question, samples, progress, searches)
        return _answer(drawing, samples, question, checks, check_sampler)
    checks += check_sampler(samples)
    if any(check.result == "failed" for check in checks):
        return conclusion.invalid(question, checks)
    drawing = Drawing(source, question, samples, progress, searches)
    return _answer(drawing, samples, question, checks)


def check_source(
    source: Source, inputs: Sequence[Any], samples: int, seed: int, alpha: float
) -> list[Check]:
    """Check whether a source is a sampler, for an audit of ``samples`` draws a side.

    The probability that any check fails on a sampler is `FALSE_ALARMS` of alpha at most. With few
    draws a note takes the place of the checks.
    """
    draws = min(samples // 10, _CHECKED)
    share = conclusion.FALSE_ALARMS * alpha
    if draws >= _LEAST_CHECKED:
        checks = check(
            source.draw,
            list(inputs),
            draws=draws,
            seed=seed_of(seed, "checks"),
            seeded=source.seeded,
            alpha=share,
        )
        results = [check.result for check in checks]
        if results[0] != "passed" and "failed" not in results:
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


@documented(Kind.OUTPUTS)
def audit_outputs(
    outputs: Mapping[str, tuple[Any, Any]] | tuple[Any, Any],
    claim: AnyClaim,
    *,
    source: str = "recorded outputs",
    digest: Mapping[str, str] | None = None,
    **options: Any,
) -> Verdict:
    """Test from recorded outputs whether a mechanism is as private as claimed.

    Claims of epsilon, delta or mu get one exact test of all outputs, other claims the sequential
    test. What outputs show in every notion of privacy, without a claim: `epsilometer.measure`.

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
    claim
        As for `audit`.
    source, digest
        Their origin, and the SHA-256 of its files, for the verdict.
    options
        As follows; the random order follows from the seed.
    """
    named = outputs if isinstance(outputs, Mapping) else {"": outputs}
    recorded = RecordedOutputs(named, source, digest or {})
    return run(request_of(options, mechanism=recorded, claim=claim))


def _of_outputs(request: Request, mechanism: RecordedOutputs, started: float) -> Verdict:
    """Answer a request about recorded outputs."""
    named = mechanism.by_pair
    if not named:
        raise ArgumentError("outputs", "must hold at least one pair")
    question = Question(
        request=request,
        pairs=dict.fromkeys(named),
        source=mechanism.source,
        digest=mechanism.digest,
        started=started,
    )
    recorded = []
    checks: list[Check] = []
    for name, sides in named.items():
        where = f"outputs {name!r}" if name else "outputs"
        if len(sides) != 2:
            raise ArgumentError(where, f"must be two samples, of x and of x', got {len(sides)}")
        x, x_prime, note = recorded_pair(*sides)
        n = min(len(x), len(x_prime))
        if n < _LEAST_RECORDED:
            raise ArgumentError(where, f"must be {_LEAST_RECORDED} or more a side, got {n}")
        if note:
            checks.append(Check("outputs", "note", note))
        checks += check_recorded(x, x_prime)
        rng = generator(request.seed, "order", name)
        recorded.append((rounds.shuffled(x, rng)[:n], rounds.shuffled(x_prime, rng)[:n]))
    if any(check.result == "failed" for check in checks):
        return conclusion.invalid(question, checks)
    if question.method == "exact":
        return _exact(recorded, question, checks)
    samples = min(len(x) for x, _ in recorded) * len(named)
    return _answer(rounds.successive(recorded), samples, question, checks)


def _steps(samples: int, question: Question, joining: bool) -> list[rounds.Step]:
    """Return the rounds of so many draws a side; recorded ones are as many of each pair."""
    pairs = len(question.pairs)
    if question.inputs is not None:
        return rounds.schedule(samples, pairs, joining=joining)
    draws = samples // pairs
    least = rounds.least_samples(pairs)
    samples = max(samples, least)
    steps = rounds.schedule(samples, pairs)
    while sum(step.draws for step in steps) > draws:
        if samples == least:
            raise ArgumentError("outputs", f"{draws} a side are too few for {pairs} pairs")
        samples = max(int(samples * 0.95), least)
        steps = rounds.schedule(samples, pairs)
    return steps


def _answer(
    draw: rounds.Draw,
    samples: int,
    question: Question,
    checks: Sequence[Check],
    check_sampler: Callable[[int], list[Check]] = lambda _: [],
) -> Verdict:
    """Return the verdict of so many draws a side over all pairs.

    ``check_sampler`` returns checks that follow the draws, for an audit of as many as were needed.
    """
    drawing = draw if isinstance(draw, Drawing) else None
    request = question.request
    steps = _steps(samples, question, drawing is not None and len(drawing.searches) > 0)
    evidence = rounds.Evidence(
        request.claim, len(question.pairs), request.alpha, as_reals=request.as_reals
    )
    stops = rounds.Evidence.violated if request.stop else lambda _: False
    join = drawing.join if drawing else lambda *_: ()
    rounds.run_rounds(
        draw, steps, evidence, stops, join=join, each_block=request.stop, seed=request.seed
    )
    checks = list(checks)
    if drawing:
        joined = len(drawing.question.pairs) - len(question.pairs)
        checks += _notes_on_pairs(drawing, joined)
        question = drawing.question
    checks += check_sampler(evidence.drawn)
    if any(check.result == "failed" for check in checks):
        return conclusion.invalid(question, checks)
    lower = evidence.bounds()
    worst = max(evidence.wealths, key=lambda claim: lower[claim] / max(claim.level, 1e-12))
    bet = evidence.bet(worst)
    witness = evidence.witness(worst, lower[worst], bet)
    violated = evidence.violated(lower)
    if violated and not request.stop:
        lower, bets = evidence.sharpened(lower)
        if worst in bets:
            bet = bets[worst]
            witness = first_visible([evidence.shown(bet, worst)]) or witness
    last_look = evidence.last_look
    if violated and evidence.refuted_by_last_look():
        text = f"the e-value is at least U/alpha at the planned end only, where U = {last_look:.2g}"
        checks.append(Check("last look", "note", text))
    course = []
    for drawn, log_wealth in zip(evidence.looks, evidence.wealths[worst].history, strict=True):
        course.append({"share": drawn / samples, "log10 e-value": log_wealth / math.log(10)})
    return conclusion.verdict_of(
        question,
        checks,
        bounds=[conclusion.bound_of(claim, low, request.claim) for claim, low in lower.items()],
        violated=violated,
        p_value=min(wealth.p_value() for wealth in evidence.wealths.values()),
        pair=evidence.best,
        swapped=None if bet is None else bet.bet.swapped,
        witness=witness,
        steps=evidence.steps,
        draws=evidence.drawn,
        layout=evidence.layout(evidence.best),
        outputs=evidence.raw,
        calls=drawing.calls if drawing else {},
        evidence=course,
        last_look=last_look,
    )


def _notes_on_pairs(drawing: Drawing, joined: int) -> list[Check]:
    """Return notes on the pairs that joined, and on those that were left out."""
    notes: list[str] = []
    if joined:
        notes.append(f"{joined} more pairs were tried, near those that seemed to differ most")
    for pairs in drawing.searches:
        notes += pairs.notes
    return [Check("range", "note", note) for note in notes]


def _exact(
    recorded: Sequence[tuple[Any, Any]], question: Question, checks: Sequence[Check]
) -> Verdict:
    """Return the verdict of one exact test of recorded outputs, x and x' of each pair.

    The first of them choose the pair and its events, and the others test these.
    """
    request = question.request
    levels = request.claim.events
    claim = levels[0]
    draws = min(len(x) for x, _ in recorded)
    first = int(draws * exact_test.CHOOSING)
    layouts = _layouts(recorded, first, request.as_reals)
    if any(len(layout.columns) > 1 for layout in layouts):  # several have more to tell
        first += first // 2
        layouts = _layouts(recorded, first, request.as_reals)
    tested = draws - first
    pasts = []
    choices = []
    expected = []
    for (x, x_prime), layout in zip(recorded, layouts, strict=True):
        past = PastDraws(layout.encode(x[:first]), layout.encode(x_prime[:first]), layout)
        events = choose_events(past, levels, tested)
        pasts.append(past)
        choices.append(events)
        expected.append(events[0].expected if events else -math.inf)
    pair = expected.index(max(expected))
    layout = layouts[pair]
    x, x_prime = recorded[pair]
    fresh = layout.encode(x[first:draws]), layout.encode(x_prime[first:draws])
    counted = exact_test.count(choices[pair], *fresh)
    lower, best = exact_test.largest_bound(counted, claim, request.alpha)
    if best is None and counted:
        best = counted[0]
    swapped = None
    witness = None
    if best is not None:
        swapped = best.chosen.swapped
        chosen = Chosen(best.chosen.event, swapped, layout)
        event = count_event(chosen, pasts[pair].sides, fresh, claim, predicted=False)
        witness = first_visible([event])
    bounds = [conclusion.bound_of(claim, lower, request.claim)]
    for other in levels[1:]:
        bound, _ = exact_test.largest_bound(counted, other, request.alpha)
        bounds.append(conclusion.bound_of(other, bound, request.claim))
    outputs = [[[x[:first]], [x_prime[:first]]] for x, x_prime in recorded]
    outputs[pair] = [[x[:draws]], [x_prime[:draws]]]
    return conclusion.verdict_of(
        question,
        checks,
        bounds=bounds,
        violated=lower > claim.level,
        pair=pair,
        swapped=swapped,
        witness=witness,
        steps=[rounds.Step(len(recorded), first, tested), rounds.Step(1, tested, tested)],
        draws=first * len(recorded) + tested,
        layout=layout,
        outputs=outputs,
        calls={},
    )


def _layouts(recorded: Sequence[tuple[Any, Any]], draws: int, as_reals: bool) -> list[Layout]:
    """Return the columns of each pair's outputs, learned from the first draws of a side."""
    return [learn_layout(x[:draws], y[:draws], as_reals=as_reals) for x, y in recorded]

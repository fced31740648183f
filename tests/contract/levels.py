"""Does every bound keep its level everywhere? From raw draws to lower bounds, as the pipeline does.

Every entry of ``config/estimators.yaml`` is run on every case of `CASES` that it does not refuse,
and the share of its bounds that lie above the truth is judged by what its class guarantees;
``make confidence`` runs 1000 seeds a case. The tests run a case of each group, with `TESTED`
seeds, and stop earlier, after `ENOUGH` or a multiple of it, where none of the answers has been
above the truth more often than it may. How often a planned n misses is judged, too.

Of a bound that may be above in 5 % of runs, the tests find one that is in 20 % with chance 0.72, in
30 % with 0.96 (without stopping early 0.79 and 0.99), and accuse one that keeps its level with
0.001. For a limit of 2.5 % chances are 0.87 and 0.97.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import chain
from typing import Any

import numpy as np

from epsilometer import seeds
from epsilometer.errors import ArgumentError
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.answering import answers as answers_of
from epsilometer.estimators.base import Claims
from epsilometer.numerics.proportions import clopper_pearson
from tests.contract.examples import configured
from tests.contract.level_cases import CASES, EPSILON, ROOT, Case, discrete

ORDERS = (2.0, 7.0)
AT_CLAIMS = (0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 1.5)  # of an entry's own claims the nearest ones
CONFIDENCE = 0.998  # of the interval of a share, 99.9 % each way, as there are hundreds of cases
DELTA = 0.8  # how often a planned n is to come within gamma
ROUNDING = 1e-12

# How much more often than alpha a bound that holds for large n may lie above the truth at the n of
# the cases: a little, as counts are no normal numbers. None is shown and not judged. By registered
# name and group of cases, "" for all others.
LIMITS: dict[tuple[str, str], tuple[float | None, str]] = {
    ("mpl", ""): (0.02, "asymptotic"),
    ("renyi_bound", ""): (0.02, "asymptotic"),
    ("renyi_bound_as_published", ""): (None, "as the paper has it: biased upwards"),
}

# Known reasons of refusals: a new reason is to be looked at by a person.
REASONS = re.compile(
    r"outputs are mixed"
    r"|outputs are reals with an atom"
    r"|outputs must be (scalar|index|numbers|bits)"
    r"|sample has scale 0 by minim: half of its draws or more are ties"
    r"|n must be above draws_at_floor"
    r"|region .* must have lower < upper|region must have lower < upper"
)

# Networks take so long that some cases of each kind have to do.
SLOW = {
    "scikit_learn": (
        "laplace",
        "laplace, identical",
        "laplace, unit 1e-09",
        "10 atoms, identical, n = 2000",
        "no noise, answers 0 and 0",
        "tuples, identical",
        "vectors",
        "vectors, identical",
        "vectors, units 1e-9 and 1e9",
        "vectors, an entry clamped",
        "mixed, some missing",
    )
}
HARD = ("identical", "atoms", "ties", "rare", "few")
TESTED, ENOUGH = 60, 10
HUNDRED = 200  # seeds at most where a run is a hundred pairs
SHOWN = 10  # of the seeds one in so many, where nothing is judged


@dataclass(frozen=True)
class Answer:
    """One bound of one run, and the truth that it should lie below; ``trusted`` unless flagged."""

    of: str
    bound: float
    truth: float
    trusted: bool = True

    @property
    def above(self) -> bool:
        return not self.bound <= self.truth * (1 + 1e-9) + ROUNDING


@dataclass(frozen=True)
class Row:
    """A line of ``levels.csv``: the runs of an entry on a case, for one order or claim.

    ``answered`` are the runs whose bound was not flagged, ``above`` those of them above the truth,
    ``above_flagged`` those of the others; ``low`` and ``high`` are the ends of the interval of the
    share of the answered. Without a ``limit`` a row is shown and not judged. Where all runs were
    refused, ``reason`` is what was said.
    """

    estimator: str
    guarantee: str
    alpha: float
    case: str
    group: str
    order_or_claim: str
    truth: float
    n: int
    runs: int
    answered: int
    above: int
    above_flagged: int
    share: float
    low: float
    high: float
    limit: float | None
    outcome: str
    reason: str
    median: float

    @property
    def failed(self) -> bool:
        """Whether the bound lies above the truth more often than it may."""
        return self.limit is not None and self.low > self.limit


@cache
def method_of(entry: str) -> Any:
    """Make the estimator of an entry; a spectrum at a few of its claims only."""
    configuration = configured().estimators[entry]
    kind = ESTIMATORS.load(configuration.estimator)
    method = kind(**configuration.parameters)
    if method.reads != "verdicts":
        return method
    nearest = {float(method.grid[np.abs(method.grid - c).argmin()]) for c in AT_CLAIMS}
    return kind(**{**configuration.parameters, "claims": sorted(nearest)})


def promising() -> list[str]:
    """Return all entries whose bounds promise something, or are shown beside those that do."""
    entries = [e for e in configured().estimators if method_of(e).reads in RUN]
    return [
        e for e in entries if method_of(e).reads == "verdicts" or method_of(e).guarantee != "none"
    ]


def cases_of(entry: str) -> list[Case]:
    """Return the cases that an entry is tested on."""
    method = method_of(entry)
    allowed = SLOW.get(getattr(method, "classifier", ""), CASES)
    return [case for case in CASES.values() if case.name in allowed and _applies(method, case)]


def _applies(method: Any, case: Case) -> bool:
    """Tell whether a case is for this method: several pairs need one answer for all of them."""
    whole = method.reads == "evidence" or method.largest
    if len(case.pairs) < 2:  # the largest of one pair is the same estimator at half of alpha
        return method.reads == "evidence" or not whole or case.group in HARD
    kind = "index" if method.reads == "verdicts" else "scalar"
    return whole and (len(case.pairs) < 100 or case.outputs == kind)


def tasks_of(reads: str) -> list[tuple[str, str]]:
    """Return all entries that read this, with each of their cases."""
    tasks = []
    for entry in promising():
        if method_of(entry).reads == reads:
            tasks += [(entry, case.name) for case in cases_of(entry)]
    return tasks


def judged(reads: str) -> list[tuple[tuple[str, ...], str]]:
    """Return the entries that read this and can fail, with a case of each group.

    Entries that ask for other levels of confidence on the same draws are together.
    """
    together: dict[str, dict[str, list[str]]] = {}
    for entry, case in tasks_of(reads):
        if limit_of(entry, CASES[case])[0] is not None:
            same = method_of(entry).after if reads == "evidence" else entry
            together.setdefault(same, {}).setdefault(case, []).append(entry)
    every = []
    for i, cases in enumerate(together.values()):
        every += [(tuple(cases[case]), case) for case in of_each_group(cases, i)]
    return every


def of_each_group(cases: Iterable[str], which: int) -> list[str]:
    """Return a case of each group, for the first method the last one: many pairs take long."""
    groups: dict[str, list[str]] = {}
    for case in cases:
        groups.setdefault(CASES[case].group, []).append(case)
    return [names[-1 - which % len(names)] for names in groups.values()]


def _densities(method: Any, entry: str, case: Case, seed: int) -> Iterator[Answer]:
    sides = list(chain.from_iterable(case.drawn(seed, "first")))
    for order in ORDERS:
        per_pair = list(answers_of(method, sides, order=order, outputs=case.outputs))
        if method.largest:
            k = int(np.argmax([answer.both for answer in per_pair]))
            truth = max(case.pairs[k].renyi(order, reverse=way) for way in (False, True))
            yield Answer(f"{order:g}", per_pair[k].both, truth, per_pair[k].trusted())
            continue
        trusted = per_pair[0].trusted()
        for way, bound in zip(
            (False, True), (per_pair[0].forward, per_pair[0].reverse), strict=True
        ):
            truth = case.pairs[0].renyi(order, reverse=way)
            yield Answer(f"{order:g}{' back' * way}", bound, truth, trusted)


def _evidence(method: Any, entry: str, case: Case, seed: int) -> Iterator[Answer]:
    chosen, evidence = _weighed(method.after, case.name, seed)
    bound = method.bound(type(evidence)(**{name: [v] for name, v in vars(evidence).items()}))[0]
    yield Answer("inf", float(bound), case.pairs[chosen].pure)


@lru_cache(maxsize=TESTED)
def _weighed(after: str, name: str, seed: int) -> tuple[int, Any]:
    """Return the pair that a screening selects, and the evidence of fresh draws on it."""
    first, case = method_of(after), CASES[name]
    first.check(case.outputs, math.inf)
    chosen, losses = first.screen(case.drawn(seed, "first"))
    events = json.loads(json.dumps(losses[chosen].target, allow_nan=False))  # as a file holds it
    (fresh,) = case.drawn(seed, "fresh", chosen)
    return chosen, first.weigh(*fresh, events)


def _verdicts(method: Any, entry: str, case: Case, seed: int) -> Iterator[Answer]:
    rng = seeds.generator(ROOT, "classify", entry, case.name, seed)
    answers = 2 * len(case.pairs)
    alpha = method.alpha / answers if method.largest else method.alpha
    sides = list(chain.from_iterable(case.drawn(seed, "first")))
    lows = []
    for answer in answers_of(method, sides, order=math.inf, rng=rng, outputs=case.outputs):
        for tested in answer.tested:  # forward, and back
            lows.append(tested.interval(method.interval, alpha, rng)[0])
    for i, claim in enumerate(method.grid):
        truths = []
        for pair in case.pairs:
            truths += [pair.delta(claim), pair.delta(claim, reverse=True)]
        bounds = [float(low[i]) for low in lows]
        if method.largest:
            yield Answer(f"claim {claim:g}", max(bounds), max(truths))
            continue
        for way, bound, truth in zip(("", " back"), bounds, truths, strict=True):
            yield Answer(f"claim {claim:g}{way}", bound, truth)


RUN: dict[str, Callable[[Any, str, Case, int], Iterator[Answer]]] = {
    "densities": _densities,
    "evidence": _evidence,
    "verdicts": _verdicts,
}


def answers(entry: str, case: Case, seed: int) -> list[Answer] | str:
    """Return the bounds of one run, or the message of the refusal."""
    method = method_of(entry)
    order = ORDERS[0] if method.reads == "densities" else math.inf
    try:
        method.check(case.outputs, order)
        return list(RUN[method.reads](method, entry, case, seed))
    except ArgumentError as error:
        return str(error)


def rows(entry: str, name: str, seeds_a_case: int, enough: int | None = None) -> list[Row]:
    """Return the rows of an entry on a case; raise `AssertionError` on nonsense.

    So many runs are ``enough``, or a multiple, where no answer lay above the truth too often.
    """
    case = CASES[name]
    limit, reason = limit_of(entry, case)
    runs = seeds_a_case if limit is not None else max(2, (enough or seeds_a_case) // SHOWN)
    runs = min(runs, HUNDRED) if len(case.pairs) >= 100 else runs
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")
        run = partial(answers, entry, case)
        answered, refused = repeated(run, limit or 0, runs, min(enough or runs, runs))
    if refused:
        assert REASONS.match(refused[0]), f"no known reason: {refused[0]}"
        none = [Answer("", math.nan, math.nan, trusted=False)] * len(refused)
        refusal = {"above_flagged": 0, "outcome": "refused", "reason": refused[0]}
        return [replace(row_of(entry, case, none), **refusal)]
    every = [row_of(entry, case, list(same)) for same in zip(*answered, strict=True)]
    return [replace(row, limit=limit, reason=reason) for row in every]


def repeated(
    run: Callable[[int], list[Answer] | str], limit: float, runs: int, enough: int
) -> tuple[list[list[Answer]], list[str]]:
    """Return the answers of all runs, or all refusals; stop where none is above too often."""
    answered: list[list[Answer]] = []
    refused: list[str] = []
    for seed in range(runs):
        if seed and seed % enough == 0 and not too_often(limit, answered):
            break
        match run(seed):
            case str(refusal):
                refused.append(refusal)
            case answers:
                answered.append(answers)
        assert not (answered and refused), f"refused for some seeds only: {refused[0]}"
    return answered, refused


def too_often(limit: float, answered: list[list[Answer]]) -> bool:
    """Tell whether an answer of some runs lay above the truth more often than in this share."""
    for same in zip(*answered, strict=True):
        above = sum(a.above for a in same if a.trusted)
        if above > limit * len(answered):
            return True
    return False


def limit_of(entry: str, case: Case) -> tuple[float | None, str]:
    """Return how often an entry's bound may lie above the truth, and why so often."""
    method, name = method_of(entry), configured().estimators[entry].estimator
    if method.guarantee == "finite-sample":
        return _level(entry), ""
    if method.guarantee == "none":
        return None, "promises nothing"
    known = LIMITS.get((name, case.group), LIMITS.get((name, "")))
    assert known, f"LIMITS has no limit for {name}, which is asymptotic"
    more, reason = known
    return None if more is None else _level(entry) + more, reason


def _level(entry: str) -> float:
    """Return the level of one answer: of an interval with two ends the lower has half."""
    method = method_of(entry)
    half = method.reads == "verdicts" and not method.largest
    return float(getattr(method, "alpha", math.nan)) / (2 if half else 1)


def row_of(entry: str, case: Case, same: list[Answer]) -> Row:
    """Return the row of the runs' answers to one question, without a limit."""
    answered = sum(a.trusted for a in same)
    above = sum(a.above for a in same if a.trusted)
    low, high = clopper_pearson(above, answered, CONFIDENCE) if answered else (0.0, 1.0)
    return Row(
        estimator=entry,
        guarantee=method_of(entry).guarantee,
        alpha=_level(entry),
        case=case.name,
        group=case.group,
        order_or_claim=same[0].of,
        truth=float(np.median([a.truth for a in same])),
        n=case.n,
        runs=len(same),
        answered=answered,
        above=above,
        above_flagged=sum(a.above for a in same if not a.trusted),
        share=above / answered if answered else 0.0,
        low=float(low),
        high=float(high),
        limit=None,
        outcome="answered" if answered else "flagged",
        reason="",
        median=float(np.median([a.bound for a in same])),
    )


def planned() -> list[str]:
    """Return the entries whose n is planned so that the error is gamma at most."""
    methods = {e: method_of(e) for e in configured().estimators}
    return [e for e, of in methods.items() if of.reads == "histograms" and of.precision]


def planned_rows(entry: str, runs: int) -> list[Row]:
    """Return how often a planned n misses gamma, on randomised response of few outcomes."""
    method, counted = method_of(entry), []
    for k in (2, 5, 20):
        for order in (2.0, math.inf):
            p = np.full(k, 1 / (math.exp(EPSILON) + k - 1))
            p[0] *= math.exp(EPSILON)
            q = np.roll(p, 1)
            claims = Claims(outcomes=k, smallest_probability=float(p.min()))
            n = method.planned_samples(claims, order, DELTA)
            rng = seeds.generator(ROOT, "planned", entry, k, str(order))
            for name, other in (("", q), (", identical", p)):
                draws = rng.multinomial(n, p, runs), rng.multinomial(n, other, runs)
                answer = method.estimate(*draws, claims, order)
                truth = discrete(p, other).pure
                if order < math.inf:
                    truth = discrete(p, other).renyi(order)
                miss = answer.failed | ~(np.abs(answer.forward - truth) <= method.gamma)
                case = Case(f"{k} answers{name}", "planned n", "index", (), n, 0)
                answered = [Answer(f"{order:g}", 1.0 if m else 0.0, 0.5) for m in miss]
                about = {"guarantee": "planned n", "alpha": 1 - DELTA, "limit": 1 - DELTA}
                about |= {"truth": truth, "median": float(np.median(answer.forward))}
                counted.append(replace(row_of(entry, case, answered), **about))
    return counted

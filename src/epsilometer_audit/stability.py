"""Checks that a transformation is stable: its outputs on neighbours are not too far apart."""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from epsilometer import checks
from epsilometer.errors import ArgumentError, MechanismError
from epsilometer.seeds import generator
from epsilometer_audit import question
from epsilometer_audit.answer import bound_of, make_verdict
from epsilometer_audit.checks.accepted_pairs import Candidates, Pair, accepted
from epsilometer_audit.checks.sampler import Check
from epsilometer_audit.formats import as_plain, input_text
from epsilometer_audit.serving.outputs import FACTS
from epsilometer_audit.statistics.claims import AnyClaim, EventClaim
from epsilometer_audit.verdict import Verdict, Witness

SAMPLES = 200
METRICS = ("symmetric", "insert-delete", "absolute", "L1", "L2")
_FEW, _MORE = 2, 20  # draws of each input of many pairs, and of a few, or where draws differ
_NOTE = (
    "outputs vary between draws: that a coupling within the claimed distance exists is not shown"
)


@dataclass(frozen=True)
class Stability(EventClaim):
    """Outputs at most ``d_out`` apart where inputs are ``d_in`` apart.

    As a claim about events, kappa is 1 and b is 0; the other event has all outputs near the first.
    """

    quantity: ClassVar[str] = "distance"
    notion: ClassVar[str] = "stability"
    field: ClassVar[str] = "d_out"
    template: ClassVar[str] = (
        "outputs at most {0.d_out:g} apart ({0.metric}) where inputs are {0.d_in:g} apart"
    )
    of = implied = None  # type: ignore[assignment]  # not by probabilities of events
    d_in: float
    d_out: float
    metric: str = "symmetric"

    def __post_init__(self) -> None:
        for name in ("d_in", "d_out"):
            if checks.real(name, getattr(self, name)) < 0:
                raise ArgumentError(name, f"must be at least 0, got {getattr(self, name)!r}")
        checks.choice("metric", self.metric, METRICS)

    def null(self, levels: Any, mean: Any, order: float) -> tuple[Any, Any]:
        """Return 1 and 0."""
        return np.ones(np.shape(levels)), np.zeros(np.shape(levels))


def claim_of(plain: Mapping[str, Any]) -> AnyClaim:
    """Return the claim of levels, as `question.claim_of`, or with the level ``stability``."""
    if "stability" not in plain:
        return question.claim_of(plain)
    return Stability(**{"d_out" if key == "stability" else key: plain[key] for key in plain})


def check_stability(
    f: Any,
    pairs: question.Pairs,
    d_in: float,
    d_out: float,
    *,
    metric: str = "symmetric",
    samples: int = SAMPLES,
    alpha: float = 0.05,
    seed: int = 0,
) -> Verdict:
    """Test whether a transformation's outputs on neighbours are at most ``d_out`` apart.

    The claim is not about privacy. One counterexample refutes it for a deterministic
    transformation. A random one is stable if its outputs on x and x' have *some* coupling that is
    never more than ``d_out`` apart. So two draws that are far apart refute nothing, and draws with
    equal seeds are one coupling of many. But if there is a coupling, then for every set A of
    outputs (Strassen)

        P(f(x) in A) <= P(f(x') is at most d_out from A).

    This is tested for both kinds: A has outputs of a few draws on x, and Fisher's exact test
    compares ``samples`` fresh draws. If the claim holds, "violated" has probability ``alpha`` at
    most, over all pairs. Nothing shows that a coupling exists, so the other verdict is "not
    refuted", as it always is where outputs hardly ever repeat.

    >>> import epsilometer_audit as ea
    >>> def twice(x):
    ...     return x + x
    >>> verdict = ea.check_stability(twice, [([1, 2], [1])], d_in=1, d_out=1)
    >>> verdict.verdict, verdict.bound, verdict.witness.note
    ('violated', 2.0, '[1, 2, 1, 2] against [1, 1]: 2 apart (symmetric)')

    Parameters
    ----------
    f, pairs
        The transformation, and pairs of inputs at most ``d_in`` apart, as in `audit`.
    d_in, d_out
        The claim: largest distances of inputs, which are not measured, and of outputs.
    metric
        Of outputs: ``symmetric``, how many rows only one of two lists, sets or tables has, in any
        order; ``insert-delete``, how many must be inserted or deleted, in order; ``absolute``, of
        numbers; ``L1`` and ``L2``, of vectors, infinite if their lengths differ, or of mappings, 0
        for a missing key. NaN equals NaN, and is infinitely far from a number.
    samples
        Fresh draws of each input of a pair that may refute the claim.
    alpha, seed
        As in `audit`, which raises the same errors.
    """
    started, claim = time.perf_counter(), Stability(d_in, d_out, metric)
    source, named, notes = question.source_of(f), question.named_pairs(pairs), list[Check]()
    if isinstance(named, Candidates):
        named, notes = accepted(source, named, seed)
    stated = question.Question(
        claim=claim,
        pairs=named,
        samples=samples,
        alpha=alpha,
        seed=seed,
        method="exact",
        source=source.description,
        digest=source.digest(),
        printed=getattr(source, "printed", str),
        started=started,
    )
    count, farthest, random = 0, 0.0, False
    lower, witness, best = 0.0, None, next(iter(named.items()))

    def drawn(pair: Pair, size: int) -> list[list[Any]]:
        nonlocal count
        seeds = generator(seed, "stability", count).integers(2**31, size=2).tolist()
        count += size
        return [list(source.draw(x, size, s)) for x, s in zip(pair, seeds, strict=True)]

    for name, pair in named.items():
        sides = drawn(pair, max(_FEW, _MORE // len(named)))
        if varies := any(distance(metric, s[0], y) > 0 for s in sides for y in s[1:]):
            sides, random = drawn(pair, _MORE), True
        farthest = farthest if varies else max(farthest, distance(metric, sides[0][0], sides[1][0]))
        chosen = [_chosen(claim, x, sides[i - 1]) for i, x in enumerate(sides)]
        i = int(len(chosen[1]) > len(chosen[0]))
        if chosen[i]:
            fresh = drawn(pair, samples)
            result = _tested(claim, chosen[i], fresh[i], fresh[i - 1], alpha / len(named))
            if witness is None or result[0] > lower:
                (lower, witness), best = result, (name, (pair[i], pair[i - 1]))
            if lower > d_out:
                break
    violated = lower > d_out
    return make_verdict(
        stated,
        [*notes, *([Check("random", "note", _NOTE)] if random and not violated else [])],
        verdict="violated" if violated else "not refuted",
        bounds=[bound_of(claim, lower)],
        pair=best[1],
        name=best[0] or None,
        direction=" against ".join(map(input_text, best[1])),
        witness=witness if violated else None,
        draws=count,
        outputs="random outputs" if random else f"equal in all draws, {farthest:g} apart at most",
    )


def _chosen(claim: Stability, x: list[Any], y: list[Any]) -> list[Any]:
    """Return the outputs on x that are more frequent there than outputs on x' are near them."""
    chosen = []
    for output in {_key(output): output for output in x}.values():
        near = sum(gap <= claim.d_out for gap in _nearest(claim.metric, y, [output]))
        if _nearest(claim.metric, x, [output]).count(0) > near:
            chosen.append(output)
    return chosen


def _nearest(metric: str, outputs: list[Any], known: list[Any]) -> list[float]:
    """Return the distance of each output from the nearest known one."""
    distinct = {_key(output): output for output in outputs}
    gaps = {k: min(distance(metric, other, distinct[k]) for other in known) for k in distinct}
    return [gaps[_key(output)] for output in outputs]


def _tested(
    claim: Stability, known: list[Any], x: list[Any], y: list[Any], alpha: float
) -> tuple[float, Witness]:
    """Return a lower bound of the distance from fresh draws, and the counts of known outputs."""
    n = len(x)
    count = _nearest(claim.metric, x, known).count(0)
    apart = sorted((gap, i) for i, gap in enumerate(_nearest(claim.metric, y, known)))
    most = bisect_left(range(n), x=True, key=lambda k: _p_value(count, k, n) > alpha)  # or fewer
    lower = apart[most - 1][0] if most else 0.0
    gap, other = apart[-1][0], y[apart[-1][1]]
    first = min(known, key=lambda output: distance(claim.metric, output, other))
    return lower, Witness(
        f"output is that of a few draws; on the other side: at most {claim.d_out:g} from it",
        count,
        n,
        sum(each <= claim.d_out for each, _ in apart),
        n,
        {"outputs": [as_plain(first), as_plain(other)], "distance": as_plain(gap)},
        f"{input_text(first)} against {input_text(other)}: {gap:g} apart ({claim.metric})",
    )


def _p_value(k: int, other: int, n: int) -> float:
    """Return the p-value of P <= Q from counts of n draws each, by Fisher's exact test."""
    total = k + other
    more = sum(math.comb(n, j) * math.comb(n, total - j) for j in range(k, min(n, total) + 1))
    return more / math.comb(2 * n, total)


# --- metrics --------------------------------------------------------------------------------------


def distance(metric: str, x: Any, y: Any) -> float:
    """Return a distance, computed exactly and rounded once: above a float only if it truly is.

    >>> distance("symmetric", [1, 2, 2], [2, 3]), distance("insert-delete", [1, 2], [2, 1])
    (3.0, 2.0)
    >>> distance("L2", [0, 0], [3, 4]), distance("L1", {"a": 2}, {"b": 1})
    (5.0, 3.0)
    """
    if metric in ("symmetric", "insert-delete"):
        a, b = _members(x), _members(y)
        if metric == "insert-delete":
            return float(len(a) + len(b) - 2 * _common(a, b))
        counts = Counter(a)
        counts.subtract(b)
        return float(sum(map(abs, counts.values())))
    gaps = _gaps(x, y)
    if metric == "absolute" and (np.ndim(x) or np.ndim(y)):
        raise MechanismError("the metric 'absolute' is of numbers; L1 and L2 are of vectors")
    return math.sqrt(sum(gap**2 for gap in gaps)) if metric == "L2" else float(sum(gaps))


def _common(a: list[Hashable], b: list[Hashable]) -> int:
    """Return the length of the longest common subsequence: each bit of ``row`` that becomes 0."""
    places: dict[Hashable, int] = {}
    for i, member in enumerate(a):
        places[member] = places.get(member, 0) | 1 << i
    row = every = (1 << len(a)) - 1
    for member in b:
        both = row & places.get(member, 0)
        row = ((row + both) | (row - both)) & every
    return len(a) - row.bit_count()


def _members(value: Any) -> list[Hashable]:
    """Return the rows of a list, an array, a set or a table, or the items of a mapping."""
    if isinstance(value, Mapping):
        columns = [column for name, column in value.items() if name != FACTS]
        listed = [list(c.values()) if isinstance(c, Mapping) else c for c in columns]
        value = list(zip(*listed, strict=True) if FACTS in value else value.items())
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray | frozenset):
        raise MechanismError(f"the metric is of lists and tables, not of {type(value).__name__}")
    return list(map(_key, value))


def _key(value: Any) -> Hashable:
    """Return a value that is equal for equal rows; NaN equals NaN."""
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(value, Mapping):
        return frozenset((key, _key(part)) for key, part in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_key, value))
    missing = isinstance(value, float) and math.isnan(value)
    return (math.nan,) if missing else value


def _gaps(x: Any, y: Any) -> list[Any]:
    """Return exactly how far apart the numbers at each place, or at each key, are."""
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        keys = [key for key in {**x, **y} if key != FACTS]
        return [gap for key in keys for gap in _gaps(x.get(key, 0), y.get(key, 0))]
    a, b = (np.asarray(side, dtype=object).ravel().tolist() for side in (x, y))
    for number in (*a, *b):
        if not isinstance(number, bool | int | float | np.number):
            raise MechanismError(f"the metric is of numbers, not of {type(number).__name__}")
    same = [i == j or (math.isnan(i) and math.isnan(j)) for i, j in zip(a, b, strict=False)]
    unlike = [pair for pair, equal in zip(zip(a, b, strict=False), same, strict=True) if not equal]
    if len(a) != len(b) or not all(math.isfinite(i) and math.isfinite(j) for i, j in unlike):
        return [math.inf]
    return [abs(Fraction(i) - Fraction(j)) for i, j in unlike]

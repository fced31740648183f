"""Audits on recorded draws: the draws that each needs to refute a claim, and its lower bound.

A method that is valid at any time looks while the draws come; its draws are those until the claim
is refuted. Others are tests of a fixed number of draws: theirs are the first draws of the run that
are enough. All get the draws of one run in the same order.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from auditors import Auditor, Notion
from epsilometer.claims import Claim, Gaussian, Pure
from epsilometer.errors import ArgumentError, one_line
from epsilometer.settings.models import Fractional, Model, Order
from epsilometer_audit.question.claims import Concentrated, Renyi
from matrix.methods import Exact, Method, Pair

ANYTIME = "ours, anytime"
"""The auditor that is valid at any time."""

ALPHA = 0.05
_LEAST = 64  # draws of a side for a test
_RUNGS = 14  # numbers of draws, each a square root of 2 times the next


class Claimed(Model):
    """A claim without its level: ``delta`` is of an approximate one, ``order`` of a Rényi one."""

    notion: Notion
    delta: Fractional | None = None
    order: Order | None = None

    @property
    def name(self) -> str:
        """The claim in a few words."""
        if self.delta is not None:
            return f"{self.notion}, delta {self.delta:g}"
        return self.notion if self.order is None else f"{self.notion}, order {self.order:g}"

    def at(self, level: float) -> Pure | Renyi | Gaussian | Concentrated:
        """Return the claim of a level."""
        missing = {"approximate": "delta", "renyi": "order"}.get(self.notion)
        given = {name for name in ("delta", "order") if getattr(self, name) is not None}
        if given != ({missing} if missing else set()):
            raise ArgumentError("claims", f"{self.notion} takes {missing or 'neither'}")
        if self.order is not None:
            return Renyi(self.order, level)
        if self.notion in ("gdp", "zcdp"):
            return Gaussian(level) if self.notion == "gdp" else Concentrated(level)
        return Pure(level, self.delta or 0.0)

    def level(self, exact: Exact) -> float:
        """Return the exact level: the smallest that the laws satisfy, in both directions.

        Those of GDP and zCDP are known here for Gaussian noise alone, where D_a is a mu^2 / 2.
        """
        if self.notion not in ("gdp", "zcdp"):
            return exact.level(self.order or math.inf, self.delta)
        two, six = exact.level(2.0, None), exact.level(6.0, None)
        if not math.isclose(3 * two, six, rel_tol=1e-6):
            raise ArgumentError("claims", f"{self.notion} needs Gaussian noise")
        return math.sqrt(two) if self.notion == "gdp" else two / 2


@dataclass(frozen=True)
class Run:
    """The draws of one run, the claim to refute, and how many ``bits`` outputs are (0: none)."""

    pair: Pair
    claim: Claim
    seed: int
    bits: int = 0

    def first(self, n: int) -> Run:
        """Return the run with the first draws alone."""
        return replace(self, pair=self.pair.first(n))


Bound = Callable[[Run], float]


@dataclass(frozen=True)
class Answer:
    """The draws until a claim is refuted, whether it is, and the bound from all draws.

    ``reason`` is why an auditor has no bound.
    """

    draws: int
    refuted: bool
    bound: float
    reason: str = ""


def fixed(run: Run, bound_of: Bound) -> Answer:
    """Return the answer of a test of a fixed number of draws.

    It is asked at numbers of draws that a bisection chooses: if it refutes with some, it is not
    asked with more, and if it does not, not with fewer.
    """
    n, level = run.pair.n, run.claim.level

    def bound(draws: int) -> float:
        try:
            return bound_of(run.first(draws))
        except ArgumentError:  # too few
            return 0.0

    of_all = bound(n)
    if of_all <= level:
        return Answer(n, False, of_all)
    even = {2 * int(n * 2 ** (-k / 2 - 1)) for k in range(_RUNGS + 1)}  # halves are equal
    rungs = sorted({max(rung, _LEAST) for rung in even} | {n})
    fewest = bisect_left(rungs, True, hi=len(rungs) - 1, key=lambda draws: bound(draws) > level)
    return Answer(rungs[fewest], True, of_all)


def methods(
    pair: Pair, claim: Claimed, others: Mapping[str, Method], listed: Sequence[Auditor]
) -> Iterator[tuple[str, Callable[[Run], Answer] | str]]:
    """Yield the name of each method, and the method itself or why it does not apply.

    ``pair`` is of any run; ``listed`` are auditors of the list, and ``others`` bounds of the
    matrix, by their names.
    """
    for auditor in listed:
        refusal = auditor.refusal(claim.notion, pair.outputs)
        yield auditor.name, refusal or partial(_audited, auditor, claim)
    for name, method in others.items():
        bound = partial(_of_matrix, method, claim.order or math.inf)
        yield name, _refusal(pair, claim, method) or partial(fixed, bound_of=bound)


def _refusal(pair: Pair, claim: Claimed, method: Method) -> str:
    if claim.notion not in ("pure", "renyi"):
        return f"it does not bound {claim.name}"
    return one_line(method.refusal(pair.outputs, pair.claims, claim.order or math.inf))


def _of_matrix(method: Method, order: float, run: Run) -> float:
    return method.answer(run.pair, order)


def _audited(auditor: Auditor, claim: Claimed, run: Run) -> Answer:
    """Return the answer of an auditor: as it looks, if it may, or at a fixed number of draws."""
    terms = claim.model_dump(exclude_none=True) | {"level": run.claim.level, "bits": run.bits}
    if auditor.may_look:
        sides, rng = (run.pair.x, run.pair.x_prime), np.random.default_rng(run.seed)
        return Answer(*auditor.looks(*sides, ALPHA, rng, **terms))
    problems = list[str]()

    def bound(part: Run) -> float:
        sides, rng = (part.pair.x, part.pair.x_prime), np.random.default_rng(run.seed)
        try:
            return auditor.bound(*sides, ALPHA, rng, **terms)
        except ArgumentError as error:
            problems.append(str(error))
            raise

    result = fixed(run, bound)
    return result if result.refuted else replace(result, reason=(problems or [""])[0])

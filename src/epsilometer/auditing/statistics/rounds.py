"""The rounds of an audit: draws in, evidence out.

Bets on a pair are chosen on its past draws. Each round drops the pairs with the lowest expectation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.auditing.outcomes.outcomes import Layout
from epsilometer.auditing.outcomes.outcomes import learn as layout_of
from epsilometer.auditing.statistics.bets import Bet, Round
from epsilometer.auditing.statistics.claims import AnyClaim, Claim, parts, with_delta
from epsilometer.auditing.statistics.learning import expected, learn, optimistic
from epsilometer.auditing.statistics.schedule import Step
from epsilometer.auditing.statistics.wealth import Wealth

Draw = Callable[[Sequence[tuple[int, int]], int], list[Any]]
"""Fresh raw outputs of each pair (its number) and side (0 is x, 1 is x') at a time.

They are so many, equally many of each, or fewer at the very end. Their number does not depend on
the outputs.
"""


@dataclass
class Evidence:
    """The evidence of all rounds, for each part of the claim."""

    claim: AnyClaim
    pairs: int
    alpha: float
    wealths: Mapping[Claim, Wealth] = field(init=False)
    drawn: int = 0
    best: int = 0
    """The pair that was kept to the end."""
    steps: list[Step] = field(default_factory=list)
    """The rounds so far."""
    raw: list[tuple[list[Any], list[Any]]] = field(init=False)
    """All outputs, by pair, side and round."""

    def __post_init__(self) -> None:
        self.raw = [([], []) for _ in range(self.pairs)]
        claims, of_audit = parts(self.claim), (self.pairs, self.alpha)
        self.wealths = {claim: Wealth(claim, *of_audit, 1 / len(claims)) for claim in claims}

    def bounds(self) -> dict[Claim, float]:
        """Return the lower confidence bound for each level of the claim; see `with_delta`."""
        claims, first = with_delta(self.claim), next(iter(self.wealths.values()))
        return {claim: self.wealths.get(claim, first).lower_bound(claim) for claim in claims}

    def refuted(self) -> bool:
        """Tell whether any part of the claim is refuted."""
        return any(
            bool(wealth.refuted(claim, np.array([claim.level]))[0])
            for claim, wealth in self.wealths.items()
        )


def gather(
    draw: Draw,
    steps: Sequence[Step],
    evidence: Evidence,
    stops: Callable[[Evidence], bool] = lambda _: False,
    *,
    as_reals: bool = False,
) -> Evidence:
    """Draw and bet, round by round, and return the evidence.

    A round with fewer draws than requested is the last. ``evidence`` is extended by the rounds,
    ``steps``, until it ``stops`` after one. ``as_reals`` is that of `learn`.
    """
    raw, kept = evidence.raw, list(range(evidence.pairs))
    for i, step in enumerate(steps):
        bets = {pair: _learn(raw[pair], evidence, step, as_reals) for pair in kept} if i else {}
        if len(kept) > step.pairs:
            kept = _best(kept, bets, step.pairs)
        sides = [(pair, side) for pair in kept for side in (0, 1)]
        fresh = draw(sides, wanted := step.draws)
        step = replace(step, draws=len(fresh[0]))  # noqa: PLW2901
        if not step.draws:
            break
        for (pair, side), outputs in zip(sides, fresh, strict=True):
            raw[pair][side].append(outputs)
        evidence.steps.append(step)
        evidence.drawn += step.draws * len(kept)
        evidence.best = kept[0]
        if i:
            for claim, wealth in evidence.wealths.items():
                wealth.rounds.append({pair: bets[pair].on(raw[pair], claim, step) for pair in kept})
        if stops(evidence) or step.draws < wanted:
            break
    return evidence


@dataclass(frozen=True)
class _Learned:
    layout: Layout
    bets: Mapping[Claim, list[Bet]]

    def relative(self, level: Callable[[list[Bet]], float]) -> float:
        """Return the largest `expected` or `optimistic` level of the bets, over the claim's."""
        return max(level(bets) / max(claim.level, 1e-3) for claim, bets in self.bets.items())

    def on(self, raw: tuple[list[Any], list[Any]], claim: Claim, step: Step) -> list[Round]:
        """Return the bets against a part of the claim, on the last draws of both sides."""
        fresh = self.layout.encode(raw[0][-1]), self.layout.encode(raw[1][-1])
        return [bet.on(fresh, step, self.layout) for bet in self.bets[claim]]


def _learn(
    past: tuple[list[Any], list[Any]], evidence: Evidence, step: Step, as_reals: bool
) -> _Learned:
    layout = layout_of(*past[0], *past[1], as_reals=as_reals)
    x, x_prime = (layout.encode_all(batches) for batches in past)
    bets = {
        claim: learn(x, x_prime, claim, step.ahead, evidence.alpha, layout, as_reals=as_reals)
        for claim in evidence.wealths
    }
    return _Learned(layout, bets)


def _best(pairs: list[int], bets: Mapping[int, _Learned], number: int) -> list[int]:
    """Return so many pairs: two of three by expected levels, the others by optimistic ones."""
    ranked = sorted(pairs, key=lambda pair: -bets[pair].relative(expected))
    first = math.ceil(number * 2 / 3)
    others = sorted(ranked[first:], key=lambda pair: -bets[pair].relative(optimistic))
    return ranked[:first] + others[: number - first]


def shuffled(outputs: Sequence[Any] | NDArray[Any], rng: np.random.Generator) -> Any:
    """Return recorded outputs in random order, in which they are exchangeable like fresh draws."""
    order = rng.permutation(len(outputs))
    return outputs[order] if isinstance(outputs, np.ndarray) else [outputs[i] for i in order]


def successive(recorded: Sequence[tuple[Any, Any]]) -> Draw:
    """Return a source that hands out recorded outputs, each once."""
    used = [[0, 0] for _ in recorded]

    def draw(sides: Sequence[tuple[int, int]], size: int) -> list[Any]:
        outputs = []
        for pair, side in sides:
            start = used[pair][side]
            used[pair][side] = start + size
            outputs.append(recorded[pair][side][start : start + size])
        return outputs

    return draw

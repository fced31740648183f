"""Draws in, evidence out: the rounds of an audit.

What was learned on the past of a pair is bet on in its next round; pairs that show least are left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from epsilometer.auditing.outcomes.outcomes import Layout
from epsilometer.auditing.outcomes.outcomes import learn as layout_of
from epsilometer.auditing.statistics.bets import Bet, Round
from epsilometer.auditing.statistics.claims import AnyClaim, Claim, Delta, Pure, parts
from epsilometer.auditing.statistics.learning import hope, learn, promise
from epsilometer.auditing.statistics.schedule import Step
from epsilometer.auditing.statistics.wealth import Wealth

Sample = NDArray[Any]
Draw = Callable[[int, int, int], Any]
"""Fresh raw outputs of a pair (its number) and a side (0 is x, 1 is x'), so many of them."""


class Draws:
    """Fresh draws of several pairs and sides at a time."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def together(self, places: Sequence[tuple[int, int]], size: int) -> list[Any]:
        """Return outputs of each pair and side: equally many, ``size``, or fewer at the very end.

        How many depends on nothing that the outputs say.
        """
        return [self._draw(pair, side, size) for pair, side in places]


class Watcher(Protocol):
    """Who is told how far an audit is."""

    def __call__(self, drawn: int, evidence: Evidence) -> bool:
        """Take note of the draws of a side so far; return whether to stop."""


@dataclass
class Evidence:
    """What the rounds so far say, for each part of the claim."""

    claim: AnyClaim
    pairs: int
    alpha: float
    wealths: Mapping[Claim, Wealth] = field(init=False)
    layout: Layout | None = None
    drawn: int = 0
    best: int = 0
    """The pair that was followed to the end."""
    steps: list[Step] = field(default_factory=list)
    """The rounds that were made."""
    raw: list[tuple[list[Any], list[Any]]] = field(init=False)
    """All outputs, by pair, side and round."""

    def __post_init__(self) -> None:
        claims = parts(self.claim)
        self.raw = [([], []) for _ in range(self.pairs)]
        self.wealths = {
            claim: Wealth(claim, self.pairs, self.alpha, 1 / len(claims)) for claim in claims
        }

    def bounds(self) -> dict[Claim, float]:
        """Return the lower confidence bound for the level of each part of the claim."""
        return {claim: wealth.lower_bound(claim) for claim, wealth in self.wealths.items()}

    def refuted(self) -> bool:
        """Tell whether any part of the claim is refuted by now."""
        return any(
            bool(wealth.refuted(claim, np.array([claim.level]))[0])
            for claim, wealth in self.wealths.items()
        )

    def delta_bound(self) -> float | None:
        """Return the lower bound for delta at the epsilon of an approximate claim."""
        for claim, wealth in self.wealths.items():
            if isinstance(claim, Pure) and claim.delta > 0:
                return wealth.lower_bound(Delta(claim.epsilon, claim.delta))
        return None


def gather(
    draw: Draw | Draws,
    steps: Sequence[Step],
    evidence: Evidence,
    watcher: Watcher | None = None,
    *,
    as_reals: bool = False,
) -> Evidence:
    """Draw and bet, round by round, and return the evidence.

    Parameters
    ----------
    draw
        Fresh draws, equally many of both sides are asked for; never the same twice. A round in
        which fewer come is the last.
    steps
        How many; see `schedule`.
    evidence
        To begin with; it is added to.
    watcher
        Is asked after each round whether to stop.
    as_reals
        Whether outputs are looked at as the reals that they stand for, without their low bits.
    """
    draws = draw if isinstance(draw, Draws) else Draws(draw)
    raw, left = evidence.raw, list(range(evidence.pairs))
    for i, step in enumerate(steps):
        bets = {pair: _learned(raw[pair], evidence, step, as_reals) for pair in left} if i else {}
        if len(left) > step.pairs:
            left = _best(left, bets, step.pairs)
        places = [(pair, side) for pair in left for side in (0, 1)]
        fresh = draws.together(places, wanted := step.draws)
        step = replace(step, draws=len(fresh[0]))  # noqa: PLW2901
        if not step.draws:
            break
        for (pair, side), outputs in zip(places, fresh, strict=True):
            raw[pair][side].append(outputs)
        evidence.steps.append(step)
        evidence.drawn += step.draws * len(left)
        evidence.best = left[0]
        if i:
            for claim, wealth in evidence.wealths.items():
                wealth.record({pair: _rounds(raw[pair], bets[pair], claim, step) for pair in left})
        if (watcher is not None and watcher(evidence.drawn, evidence)) or step.draws < wanted:
            break
    return evidence


@dataclass(frozen=True)
class _Learned:
    layout: Layout
    bets: Mapping[Claim, list[Bet]]

    def relative(self, level: Callable[[list[Bet]], float]) -> float:
        """Return how far the bets should get by their `promise` or `hope`, over the claim."""
        return max(level(bets) / max(claim.level, 1e-3) for claim, bets in self.bets.items())


def _learned(
    past: tuple[list[Any], list[Any]], evidence: Evidence, step: Step, as_reals: bool
) -> _Learned:
    layout = layout_of(*past[0], *past[1], as_reals=as_reals)
    x, x_prime = (_together(layout, side) for side in past)
    ahead, alpha = step.ahead, evidence.alpha
    bets = {
        claim: learn(x, x_prime, claim, ahead, alpha, layout, as_reals=as_reals)
        for claim in evidence.wealths
    }
    return _Learned(layout, bets)


def _best(pairs: list[int], bets: Mapping[int, _Learned], number: int) -> list[int]:
    """Return so many pairs: two of three promise most, the others are hoped most of."""
    promising = sorted(pairs, key=lambda pair: -bets[pair].relative(promise))
    first = math.ceil(number * 2 / 3)
    others = sorted(promising[first:], key=lambda pair: -bets[pair].relative(hope))
    return promising[:first] + others[: number - first]


def _rounds(
    raw: tuple[list[Any], list[Any]], learned: _Learned, claim: Claim, step: Step
) -> list[Round]:
    fresh = tuple(learned.layout.encode(side[-1]) for side in raw)
    rounds = []
    for bet in learned.bets[claim]:
        sides = fresh[::-1] if bet.swapped else fresh
        counts, counts_prime = (bet.counted(side, step.blocks) for side in sides)
        rounds.append(Round(bet, counts, counts_prime, step.ahead, learned.layout))
    return rounds


def _together(layout: Layout, batches: list[Any]) -> Sample:
    encoded = [layout.encode(batch) for batch in batches]
    return encoded[0] if len(encoded) == 1 else np.concatenate(encoded)


def shuffled(outputs: Sequence[Any] | NDArray[Any], rng: np.random.Generator) -> Any:
    """Return recorded outputs in random order, in which they are as good as independent draws."""
    order = rng.permutation(len(outputs))
    if isinstance(outputs, np.ndarray):
        return outputs[order]
    return [outputs[i] for i in order]


def successive(recorded: Sequence[tuple[Any, Any]]) -> Draw:
    """Return what hands out recorded outputs, each once."""
    used = [[0, 0] for _ in recorded]

    def draw(pair: int, side: int, size: int) -> Any:
        start = used[pair][side]
        used[pair][side] = start + size
        return recorded[pair][side][start : start + size]

    return draw

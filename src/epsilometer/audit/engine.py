"""Draws in, evidence out: the rounds of an audit.

What was learned on the past of a pair is bet on in its next round; pairs that show least are left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from epsilometer.audit.bets import Bet, Round
from epsilometer.audit.claims import AnyClaim, Claim, Delta, Pure, parts
from epsilometer.audit.learning import hope, learn, promise
from epsilometer.audit.outcomes import Layout
from epsilometer.audit.outcomes import learn as layout_of
from epsilometer.audit.schedule import Step
from epsilometer.audit.wealth import Wealth

Sample = NDArray[Any]
Draw = Callable[[int, int, int], Any]
"""Fresh raw outputs of a pair (its number) and a side (0 is x, 1 is x'), so many of them."""


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

    def __post_init__(self) -> None:
        claims = parts(self.claim)
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
    draw: Draw,
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
        Fresh draws, equally many of both sides are asked for; never the same twice.
    steps
        How many; see `schedule`.
    evidence
        To begin with; it is added to.
    watcher
        Is asked after each round whether to stop.
    as_reals
        Whether outputs are looked at as the reals that they stand for, without their low bits.
    """
    pairs = evidence.pairs
    raw: list[tuple[list[Any], list[Any]]] = [([], []) for _ in range(pairs)]
    going = list(range(pairs))
    for i, step in enumerate(steps):
        bets = {pair: _learned(raw[pair], evidence, step, as_reals) for pair in going} if i else {}
        if len(going) > step.pairs:
            going = _best(going, bets, step.pairs)
        for pair in going:
            for side in (0, 1):
                raw[pair][side].append(draw(pair, side, step.draws))
        evidence.drawn += step.draws * len(going)
        evidence.best = going[0]
        if i:
            for claim, wealth in evidence.wealths.items():
                wealth.record({pair: _rounds(raw[pair], bets[pair], claim, step) for pair in going})
        if watcher is not None and watcher(evidence.drawn, evidence):
            break
    return evidence


@dataclass(frozen=True)
class _Learned:
    layout: Layout
    bets: Mapping[Claim, list[Bet]]

    @property
    def promise(self) -> float:
        """How far the bets should get, as a part of what is claimed."""
        return self._most(promise)

    @property
    def hope(self) -> float:
        """How far the bold ones may get."""
        return self._most(hope)

    def _most(self, level: Callable[[list[Bet]], float]) -> float:
        return max(level(bets) / max(claim.level, 1e-3) for claim, bets in self.bets.items())


def _learned(
    past: tuple[list[Any], list[Any]], evidence: Evidence, step: Step, as_reals: bool
) -> _Learned:
    layout = layout_of(*past[0], *past[1])
    x, x_prime = (_together(layout, side) for side in past)
    ahead, alpha = step.ahead, evidence.alpha
    bets = {
        claim: learn(x, x_prime, claim, ahead, alpha, layout, as_reals=as_reals)
        for claim in evidence.wealths
    }
    return _Learned(layout, bets)


def _best(going: list[int], bets: Mapping[int, _Learned], number: int) -> list[int]:
    """Return so many pairs: two of three promise most, the others are hoped most of."""
    promising = sorted(going, key=lambda pair: -bets[pair].promise)
    first = math.ceil(number * 2 / 3)
    others = sorted(promising[first:], key=lambda pair: -bets[pair].hope)
    return promising[:first] + others[: number - first]


def _rounds(
    raw: tuple[list[Any], list[Any]], learned: _Learned, claim: Claim, step: Step
) -> list[Round]:
    fresh = tuple(learned.layout.encode(side[-1]) for side in raw)
    made = []
    for bet in learned.bets[claim]:
        ours, theirs = fresh[::-1] if bet.swapped else fresh
        counts, counts_prime = (bet.counted(side, step.blocks) for side in (ours, theirs))
        made.append(Round(bet, counts, counts_prime, step.ahead, learned.layout))
    return made


def _together(layout: Layout, batches: list[Any]) -> Sample:
    encoded = [layout.encode(batch) for batch in batches]
    return encoded[0] if len(encoded) == 1 else np.concatenate(encoded)


def shuffled(outputs: Sequence[Any], rng: np.random.Generator) -> Any:
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


def finite(number: float) -> float | None:
    """Return a number as JSON can hold it."""
    return number if math.isfinite(number) else None


def sides(pairs: Sequence[tuple[Any, Any]]) -> Iterator[tuple[int, int, Any]]:
    """Yield number, side and input of all pairs."""
    for i, pair in enumerate(pairs):
        for side, x in enumerate(pair):
            yield i, side, x

"""The schedule of an audit: how its draws are spread over pairs of inputs and rounds.

Each round has as many draws as all rounds before, on which its bets are chosen. Many pairs start
with few draws; half of them are kept at a time, until one is left with half of the budget. The k-th
of these rounds has a k-th of the draws of the first: a pair that is dropped for lack of draws is
lost, while the remaining pairs have more draws each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from epsilometer.errors import ArgumentError

_FIRST = 64  # the first round of a single pair is one part in so many
_LEAST = 20  # draws of a side in a round
_FEWEST = 10  # draws of a side of a single pair, on which predictions alone bet at first
_MANY = 10  # pairs, which may come from a declared domain
_BLOCKS = 16  # in a round but the first
_PART = 32  # of the past draws are in a block of the first round


@dataclass(frozen=True)
class Step:
    """A round: ``draws`` of each side of ``pairs`` pairs; ``ahead`` counts those to the end."""

    pairs: int
    draws: int
    ahead: int

    def blocks(self, past: int) -> list[int]:
        """Return the sizes of blocks, after each of which the wealth is computed.

        After ``past`` draws of a side they are even. The first draws are single at first, then in
        blocks that grow as their number.
        """
        if past:
            parts = min(_BLOCKS, self.draws)
            return [self.draws // parts + (i < self.draws % parts) for i in range(parts)]
        sizes = []
        while past < self.draws:
            sizes.append(min(max(past // _PART, 1), self.draws - past))
            past += sizes[-1]
        return sizes


def least_samples(pairs: int) -> int:
    """Return the smallest budget that gives each pair a round."""
    halvings = _halvings(pairs)
    return math.ceil(_LEAST * pairs * halvings / _share(halvings)) + 1 if halvings else _FEWEST


def _halvings(pairs: int) -> int:
    return math.ceil(math.log2(pairs)) if pairs > 1 else 0


def _share(halvings: int) -> float:
    """Return the part of the budget with which many pairs are compared."""
    return min(0.1 * halvings, 0.5)


def schedule(samples: int, pairs: int) -> list[Step]:
    """Return the rounds that ``samples`` draws of a side, over all pairs, are spread over.

    >>> [(step.pairs, step.draws) for step in schedule(6400, 1)]
    [(1, 100), (1, 100), (1, 200), (1, 400), (1, 800), (1, 1600), (1, 3200)]
    >>> [(step.pairs, step.draws) for step in schedule(6400, 4)]
    [(4, 213), (2, 213), (1, 426), (1, 852), (1, 1704), (1, 2140)]
    """
    if samples < (least := least_samples(pairs)):
        many = f" for {pairs} pairs" if pairs > 1 else ""
        fewer = "; of a domain, limit says how many pairs at most" if pairs > _MANY else ""
        raise ArgumentError("samples", f"must be at least {least}{many}, got {samples}{fewer}")
    halvings = _halvings(pairs)
    parts = [math.ceil(pairs / 2**i) for i in range(halvings)]
    each = samples * _share(halvings) / max(sum(1 / k for k in range(1, halvings + 1)), 1)
    steps = [(kept, int(each / k / kept)) for k, kept in enumerate(parts, start=1)]
    if not steps:
        steps = [(1, max(samples // _FIRST, min(_LEAST, samples // 2)))]
    left = samples - sum(kept * draws for kept, draws in steps)
    past = sum(draws for _, draws in steps)
    while left:
        draws = left if left < 2 * past else past
        steps.append((1, draws))
        left, past = left - draws, past + draws
    ahead = 0
    rounds = []
    for kept, draws in reversed(steps):
        ahead += draws
        rounds.append(Step(kept, draws, ahead))
    return rounds[::-1]

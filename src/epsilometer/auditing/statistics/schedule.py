"""How the draws of a budget are spread over pairs of inputs and rounds.

What is learned on the past is bet on in a round as long as the past. Many pairs are first looked
at with few draws; half of them go on at a time, until one is left with half of the budget. The
k-th look gets a k-th of what the first gets: a pair that is dropped for too few draws is lost,
while those that are left have more each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from epsilometer.errors import ArgumentError

_FIRST = 64  # a part of the draws of a single pair is what is looked at first
_LEAST = 20  # draws of a side that are looked at
_MANY = 10  # pairs, which may be of a declared domain
BLOCKS = 16


@dataclass(frozen=True)
class Step:
    """``pairs`` go on, with ``draws`` more of each side; ``ahead`` is what one may yet get."""

    pairs: int
    draws: int
    ahead: int

    @property
    def blocks(self) -> list[int]:
        """The draws in even blocks, after each of which the wealth is looked at."""
        parts = min(BLOCKS, self.draws)
        return [self.draws // parts + (i < self.draws % parts) for i in range(parts)]


def least_samples(pairs: int) -> int:
    """Return the smallest budget that gives each pair a look."""
    halvings = math.ceil(math.log2(pairs)) if pairs > 1 else 0
    return math.ceil(_LEAST * (pairs * halvings / _share(halvings) if halvings else 2)) + 1


def _share(halvings: int) -> float:
    """Return which part of the budget many pairs are compared with."""
    return min(0.1 * halvings, 0.5)


def schedule(samples: int, pairs: int) -> list[Step]:
    """Return the rounds that ``samples`` draws of a side, over all pairs, are spread over.

    >>> [(step.pairs, step.draws) for step in schedule(6400, 1)]
    [(1, 100), (1, 100), (1, 200), (1, 400), (1, 800), (1, 1600), (1, 3200)]
    >>> [(step.pairs, step.draws) for step in schedule(6400, 4)]
    [(4, 213), (2, 213), (1, 426), (1, 852), (1, 1704), (1, 2140)]
    """
    if samples < least_samples(pairs):
        many = f" for {pairs} pairs" if pairs > 1 else ""
        fewer = "; of a domain, limit says how many pairs at most" if pairs > _MANY else ""
        raise ArgumentError(
            "samples", f"must be at least {least_samples(pairs)}{many}, got {samples}{fewer}"
        )
    halvings = math.ceil(math.log2(pairs)) if pairs > 1 else 0
    parts = [math.ceil(pairs / 2**i) for i in range(halvings)]
    each = samples * _share(halvings) / max(sum(1 / k for k in range(1, halvings + 1)), 1)
    steps = [(go, int(each / k / go)) for k, go in enumerate(parts, start=1)]
    if not steps:
        steps = [(1, max(samples // _FIRST, min(_LEAST, samples // 2)))]
    left = samples - sum(go * draws for go, draws in steps)
    seen = sum(draws for _, draws in steps)
    while left:
        step = min(seen, left)
        step = left if left - step < step else step
        steps.append((1, step))
        left, seen = left - step, seen + step
    ahead, spread = 0, []
    for go, draws in reversed(steps):
        ahead += draws
        spread.append(Step(go, draws, ahead))
    return spread[::-1]

"""A set of outputs that is likelier on one side, chosen by draws: fresh draws can bound its loss.

The loss ln P(S) - ln P'(S) of a set S of outputs is at most the pure level. A set has more draws
than one output has near it, and needs no density. So its loss can be bounded closely, as (26) of
askin2022 does for one discrete output, by its relative frequencies among fresh draws.

Outputs are numbers, or stand in an order (`placed`). Half-lines end at 64ths of the draws of a
side, and at the last 1/2, 1/4, ... of them. Sixteenths of all draws make cells, of which runs, and
those with the largest ratios, are sets; a value of more draws is a cell of its own. Complements are
sets, too. That with the largest expected bound is chosen,

    ln p - ln q - z s - c s',

with p and q the shares of the choosing draws in S, z the normal quantile of the bound, and s and s'
standard deviations of ln p - ln q in the fresh and in the choosing draws. With c = 0 the chosen set
would often be one that these draws favour by chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epsilometer.arrays import Bools, Floats, Sample

_PARTS = 64  # of a side, at which half-lines end
_CELLS = 16  # of all draws
_CAUTION = (
    1.5,
    3.0,
)  # c of half-lines, and of sets of cells, among which more are favoured by chance
_CLIP = 4.0  # spreads from the median: further entries would decide on a direction alone


@dataclass(frozen=True, eq=False)
class LikelierSet:
    """The outputs in some cells between ``edges``, ``(k,)``; ``inside``, ``(k + 1,)``, tells which.

    They are likelier on x for the ``sign`` 1, on x' for -1. ``expected`` is their bound, in nats.
    """

    edges: Sample
    inside: Bools
    sign: int
    expected: float

    def holds(self, outputs: Sample) -> Bools:
        """Tell which outputs are in the set; both have shape ``(n,)``."""
        return self.inside[np.searchsorted(self.edges, outputs, side="right")]


def choose(x: Sample, x_prime: Sample, fresh: tuple[int, int], z: float) -> LikelierSet:
    """Return the set of the largest expected bound from so many fresh draws of x and of x'.

    Draws have shape ``(n,)``; ``z`` is the normal quantile of the bound's confidence.
    """
    sides, sizes = (np.sort(x), np.sort(x_prime)), (x.size, x_prime.size)
    pooled = np.sort(np.concatenate(sides))
    ends = _edges(np.concatenate([_at(side, _tails(side.size)) for side in sides]))
    edges = _edges(_at(pooled, np.arange(1, _CELLS) / _CELLS))
    half_lines = np.tri(ends.size, ends.size + 1, dtype=bool)
    cells = np.tri(edges.size, edges.size + 1, dtype=bool)
    first, last = np.triu_indices(edges.size, 1)
    counts, counts_prime = (_counted(edges, side) for side in sides)
    rank = np.argsort(np.argsort(-np.log((counts + 1) / (counts_prime + 1)), kind="stable"))
    sets = np.concatenate([cells[last] & ~cells[first], rank <= np.arange(edges.size)[:, None]])
    best = LikelierSet(ends[:0], np.ones(1, bool), 1, -math.inf)  # all outputs
    for at, candidates, caution in zip((ends, edges), (half_lines, sets), _CAUTION, strict=True):
        both_kinds = np.concatenate([candidates, ~candidates])
        hits = [both_kinds @ _counted(at, side) for side in sides]
        for sign in (1, -1):
            expected = _expected(hits[::sign], sizes[::sign], fresh[::sign], z, caution)
            k = int(np.argmax(expected))
            if expected[k] > best.expected:
                best = LikelierSet(at, both_kinds[k], sign, float(expected[k]))
    return best


def _expected(
    hits: list[Sample], draws: tuple[int, ...], fresh: tuple[int, ...], z: float, caution: float
) -> Floats:
    """Return the expected bounds of sets by their hits, of the likelier side first."""
    p, q = hits[0] / draws[0], (hits[1] + 0.5) / (draws[1] + 0.5)
    seen = np.maximum(p, 0.5 / draws[0])
    later = np.maximum(q, 1 / fresh[1])  # at least one draw, as the bound counts
    s = np.sqrt((1 / seen - 1) / fresh[0] + (1 / later - 1) / fresh[1])
    noise = np.sqrt((1 / seen - 1) / draws[0] + 1 / (hits[1] + 1) - 1 / (draws[1] + 1))
    with np.errstate(divide="ignore"):
        expected: Floats = np.log(p) - np.log(q) - z * s - caution * noise
    return expected


def _tails(n: int) -> Floats:
    """Return even shares, and those of tails that are halved down to one of n draws."""
    tails = 0.5 ** np.arange(1, max(n.bit_length(), 2))
    return np.concatenate([np.arange(1, _PARTS) / _PARTS, tails, 1 - tails, [0.0, 1.0]])


def _at(ordered: Sample, shares: Floats) -> Sample:
    """Return the draws at some shares of sorted ones."""
    return np.asarray(ordered[np.minimum((shares * ordered.size).astype(int), ordered.size - 1)])


def _edges(values: Sample) -> Sample:
    """Return the ends of cells: a value begins one, and the next number another."""
    after = values + 1 if values.dtype.kind == "i" else np.nextafter(values, np.inf)
    return np.unique(np.concatenate([values, after]))


def _counted(edges: Sample, ordered: Sample) -> Sample:
    """Return the numbers of sorted draws in the cells between edges."""
    return np.diff(np.searchsorted(ordered, edges), prepend=0, append=ordered.size)


def placed(sides: Sequence[Sample], fresh: Sequence[Sample]) -> list[Sample]:
    """Return outputs of several entries, or without an order, by one number: of shape ``(n,)``.

    The draws ``sides``, of both inputs, give numbers to themselves and to ``fresh`` ones. Rows of
    reals, ``(n, d)``, are projected to the direction in which the means of the sides differ most,
    in units of their spread. Codes of outcomes, ``(n,)``, are ordered by their ratios.
    """
    everything = [*sides, *fresh]
    if sides[0].ndim == 1:
        size = 1 + max(int(side.max()) for side in everything)
        counts, counts_prime = (np.bincount(side, minlength=size) for side in sides)
        rank = np.argsort(np.argsort(-np.log((counts + 1) / (counts_prime + 1)), kind="stable"))
        return [rank[side] for side in everything]
    pooled = np.concatenate(sides)
    low, centre, high = np.quantile(pooled, [0.25, 0.5, 0.75], axis=0)
    spread = np.where(high > low, high - low, 1.0)
    everything = [np.clip((side - centre) / spread, -_CLIP, _CLIP) for side in everything]
    x, x_prime = everything[:2]
    covariance = np.cov(x.T) + np.cov(x_prime.T)
    means = x.mean(axis=0) - x_prime.mean(axis=0)
    direction = np.linalg.lstsq(covariance, means, rcond=1e-9)[0]
    return [side @ direction for side in everything]

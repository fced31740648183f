"""StatDP as it was published: Ding, Wang, Wang, Zhang and Kifer 2018."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

name = "StatDP"
needs = {"claims": ["pure"], "outputs": ["scalar", "index", "bits", "vector"]}


def lower_bound(x, y, claim, alpha, rng):
    """Find the largest level that its test refutes, of a grid, at half of alpha in each direction.

    A fifth of the draws chooses the event of the smallest p-value at the claim; on the others the
    test thins the count of x by exp(-epsilon) and compares by Fisher's test, the mean p-value of
    many thinnings.
    """
    n, alpha = len(x) // 5, alpha / 2
    rng = np.random.default_rng([rng.bit_generator.seed_seq.entropy, 3])  # as the task was seeded
    best = 0.0
    for a, b in ((x, y), (y, x)):
        events = list(_events(np.concatenate([a[:n], b[:n]]), claim.bits))
        counts = [(int(event(a[:n]).sum()), int(event(b[:n]).sum())) for event in events]
        p_values = [_p_value(*count, n, claim.level, rng) for count in counts]
        event = events[int(np.argmin(p_values))]
        left = len(a) - n
        hits, hits_prime = int(event(a[n:]).sum()), int(event(b[n:]).sum())
        level = 0.0
        while level < 20:
            following = level + max(0.002, level / 100)
            if _p_value(hits, hits_prime, left, following, rng) > alpha:
                break
            level = following
        best = max(best, level)
    return best


def _events(outputs: Any, bits: int) -> Iterator[Callable[[Any], Any]]:
    """Half-lines, between quantiles; for outcomes each by itself, for bits how many are set.

    Of a vector, those of each entry.
    """
    if outputs.ndim > 1:
        for j, column in enumerate(outputs.T):
            for event in _events(column, 0):
                yield lambda side, j=j, event=event: event(side[:, j])
        return
    if outputs.dtype.kind != "f":
        values, counts = np.unique(outputs, return_counts=True)
        for value in values[np.argsort(-counts)][:50]:
            yield lambda side, v=value: side == v
    if bits:
        for count in range(bits + 1):
            yield lambda side, c=count: (side[:, None] >> np.arange(bits) & 1).sum(1) == c
        return
    ends = np.unique(np.quantile(outputs, np.linspace(0.02, 0.98, 25)))
    for end in ends:
        yield lambda side, e=end: side <= e
        yield lambda side, e=end: side > e


def _p_value(hits: int, hits_prime: int, n: int, level: float, rng: Any, times: int = 50) -> float:
    """Of P(x in E) <= exp(level) P(x' in E), from counts of n draws a side."""
    from scipy.stats import hypergeom

    thinned = rng.binomial(hits, math.exp(-level), times)
    return float(np.mean(hypergeom.sf(thinned - 1, 2 * n, thinned + hits_prime, n)))

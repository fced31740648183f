"""The auditor of jax-privacy 2.0.0, epsilon_clopper_pearson with Split(.2).

Where the package is not installed, the same is written again in NumPy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

name = "jax-privacy"
needs = {"claims": ["pure", "approximate"], "outputs": ["scalar", "index", "bits"]}


def lower_bound(x, y, claim, alpha, rng):
    """Take the larger bound of both directions, as either side may be the likelier one.

    A fifth of the draws chooses a threshold of the score, which is the output; the others give both
    error rates an end by Clopper and Pearson. Each direction has half of alpha.
    """
    seed, sides = rng.bit_generator.seed_seq.entropy, ((x, y), (y, x))
    try:
        from jax_privacy.auditing import CanaryScoreAuditor, Split
    except ImportError:
        return max(_of_scores(*pair, alpha / 2, claim.delta, seed) for pair in sides)
    return max(
        float(
            CanaryScoreAuditor(*pair).epsilon_clopper_pearson(
                alpha / 2, claim.delta, threshold_strategy=Split(0.2, seed)
            )
        )
        for pair in sides
    )


def _of_scores(x: Any, y: Any, alpha: float, delta: float, seed: int) -> float:
    rng = np.random.default_rng(seed)
    parts = []
    for side in (x, y):
        order, cut = rng.permutation(side.size), int(side.size * 0.2)
        parts.append((side[order[:cut]], side[order[cut:]]))
    thresholds, levels = _of_thresholds(parts[0][0], parts[1][0], None, alpha, delta)
    threshold = thresholds[np.argmax(levels)] if levels.max() > -math.inf else thresholds[-1]
    _, levels = _of_thresholds(parts[0][1], parts[1][1], threshold, alpha, delta)
    return max(float(levels[0]), 0.0)


def _of_thresholds(x: Any, y: Any, threshold: Any, alpha: float, delta: float) -> tuple[Any, Any]:
    """Thresholds on the convex hull of both counts below, or the one; the level of each."""
    from scipy.stats import beta

    thresholds = np.append(np.union1d(x, y), math.inf) if threshold is None else [threshold]
    below = np.stack([np.searchsorted(np.sort(side), thresholds) for side in (x, y)], 1)
    kept = np.arange(len(below))
    while kept.size > 2:
        steps = np.diff(below[kept], axis=0)
        convex = steps[:-1, 1] * steps[1:, 0] > steps[1:, 1] * steps[:-1, 0]
        if convex.all():
            break
        kept = kept[np.r_[True, convex, True]]

    def largest(hits: Any, n: int) -> Any:
        return np.where(hits < n, beta.ppf(1 - alpha / 2, hits + 1, np.maximum(n - hits, 0.5)), 1.0)

    hit = 1 - largest(below[kept, 0], x.size) - delta
    false = largest(y.size - below[kept, 1], y.size)
    valid = hit > 0
    levels = np.where(valid, np.log(np.where(valid, hit, 1.0)) - np.log(false), -math.inf)
    return np.asarray(thresholds)[kept], levels

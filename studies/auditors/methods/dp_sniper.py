"""DP-Sniper as it was published: Bichsel, Steffen, Bogunovic and Vechev 2021."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

name = "DP-Sniper"
needs = {"claims": ["pure"], "outputs": ["scalar", "index", "bits", "vector"]}
SMALLEST, FLAGGED = 0.01, (-1000.0, -2000.0)


def lower_bound(x, y, claim, alpha, rng):
    """Attack by the outputs that are likeliest to be x, of probability .01 on x'.

    Half of the draws train a logistic regression, choose the direction and the threshold t, with a
    coin at t so that the attack has just that probability; the others give both probabilities an
    end by Clopper and Pearson, at half of alpha each.
    """
    from scipy.stats import beta

    n = len(x) // 2
    x, y = np.split(_features(np.concatenate([x, y]), claim.bits), [len(x)])
    score = _logistic(x[:n], y[:n])
    attacks = []
    for sign, (a, b) in ((1, (x, y)), (-1, (y, x))):
        of_a, of_b = sign * score(a[:n]), sign * score(b[:n])
        t = np.sort(of_b)[-max(int(SMALLEST * n), 1)]
        strictly, tied = np.mean(of_b > t), np.mean(of_b == t)
        coin = (SMALLEST - strictly) / tied
        hit = np.mean(of_a > t) + coin * np.mean(of_a == t)
        attacks.append((hit, sign, t, coin))
    _, sign, t, coin = max(attacks)
    a, b = (x, y) if sign > 0 else (y, x)
    rng = np.random.default_rng([rng.bit_generator.seed_seq.entropy, 2])  # as the task was seeded
    hits = []
    for side in (a, b):
        scores = sign * score(side[n:])
        hits.append(int(np.sum((scores > t) | ((scores == t) & (rng.random(n) < coin)))))
    low = beta.ppf(alpha / 2, hits[0], n - hits[0] + 1) if hits[0] else 0.0
    high = beta.ppf(1 - alpha / 2, hits[1] + 1, n - hits[1]) if hits[1] < n else 1.0
    return max(math.log(low / high), 0.0) if low > 0 else 0.0


def _features(outputs: Any, bits: int) -> Any:
    """Bits one by one; numbers as they are, but flags for -1000 and -2000, which are no numbers."""
    if bits:
        return (outputs[:, None] >> np.arange(bits) & 1).astype(float)
    values = outputs.reshape(len(outputs), -1).astype(float)
    flags = [values == value for value in FLAGGED if (values == value).any()]
    return np.hstack([np.where(np.isin(values, FLAGGED), 0.0, values), *flags]) if flags else values


def _logistic(x: Any, y: Any, steps: int = 12) -> Callable[[Any], Any]:
    """Fit P(side is x | output) by Newton's steps, with a slight penalty; return its logit."""
    both = np.concatenate([x, y])
    centre, scale = both.mean(0), both.std(0) + 1e-300
    design = np.column_stack([np.ones(len(both)), (both - centre) / scale])
    side, weights = np.repeat([1.0, 0.0], [len(x), len(y)]), np.zeros(design.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        slope = design.T @ (side - p) - weights
        curve = (design * (p * (1 - p))[:, None]).T @ design + np.eye(weights.size)
        weights = weights + np.linalg.solve(curve, slope)
    return lambda outputs: ((outputs - centre) / scale) @ weights[1:]

"""Methods as they were published, in plain NumPy and SciPy: what a reader would write.

Each audit gets the same draws of both sides as ours, divides them as its paper does, and returns
a lower bound of epsilon at 1 - alpha, 0 where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

Data = Mapping[str, Any]
Event = Callable[[Any], Any]


# --- samplers -------------------------------------------------------------------------------------


def truncated_laplace(data: Data) -> Any:
    """Laplace noise of scale 1 around .3 within [0, 1], by inverting its distribution function."""
    x, rng = 0.3, np.random.default_rng([data["seed"], 1])
    p = rng.random(data["n"])
    mass = 2 - math.exp(-x) - math.exp(-(1 - x))
    at_x = (1 - math.exp(-x)) / mass
    sign = np.sign(p - at_x)
    return x - sign * np.log(1 + sign * (1 - math.exp(-x) - p * mass))


def noisy_max(data: Data) -> Any:
    """All noise of all queries at once; the index of the largest."""
    rng = np.random.default_rng([data["seed"], 1])
    return np.argmax(1 + rng.laplace(0, 2 / 0.7, (data["n"], 6)), axis=1)


def sparse_vector(data: Data) -> Any:
    """SVT1, query after query, of all draws at once, stopping at the first positive."""
    rng, n, queries, scale = np.random.default_rng([data["seed"], 1]), data["n"], 10, 2 / 0.7
    bar = 1 + rng.laplace(0, scale, n)
    outputs, running = np.zeros(n, np.int64), np.ones(n, bool)
    for i in range(queries):
        above = running & (1 + rng.laplace(0, 2 * scale, n) >= bar)
        outputs |= above.astype(np.int64) << i
        running &= ~above
    return outputs


# --- askin2022: MPL by densities ------------------------------------------------------------------


def privacy_loss(data: Data) -> float:
    """Maximum privacy loss, askin2022's Algorithms 3 and 4: two sevenths of the draws choose t."""
    x, y, alpha = data["x"], data["y"], data["alpha"]
    n = 2 * x.size // 7
    if x.dtype.kind == "f":
        return _of_densities(x, y, n, alpha)
    return _of_frequencies(x, y, n, alpha)


def _of_densities(x: Any, y: Any, n: int, alpha: float, floor: float = 1e-3) -> float:
    from scipy.stats import gaussian_kde, norm

    both = np.concatenate([x[:n], y[:n]])
    points = np.linspace(*np.quantile(both, [0.01, 0.99]), 1001)
    f, g = (np.maximum(gaussian_kde(values[:n])(points), floor) for values in (x, y))
    t = points[np.argmax(np.abs(np.log(f / g)))]
    fresh, h = x.size - n, min(x.std(), y.std()) * (x.size - n) ** -0.3
    f, g = (max(np.mean(norm.pdf((values[n:] - t) / h)) / h, floor) for values in (x, y))
    sigma = math.sqrt((1 / f + 1 / g) / (2 * math.sqrt(math.pi)))
    return max(abs(math.log(f / g)) + norm.ppf(alpha) * sigma / math.sqrt(fresh * h), 0.0)


def _of_frequencies(x: Any, y: Any, n: int, alpha: float, floor: float = 1e-3) -> float:
    from scipy.stats import norm

    values, which = np.unique(np.concatenate([x[:n], y[:n]]), return_inverse=True)
    shares = (np.bincount(side, minlength=values.size) / n for side in (which[:n], which[n:]))
    f, g = (np.maximum(share, floor) for share in shares)
    t = values[np.argmax(np.abs(np.log(f / g)))]
    f, g = (max(np.mean(values[n:] == t), floor) for values in (x, y))
    sigma = math.sqrt(max(1 / f + 1 / g - 2, 0.0))
    return max(abs(math.log(f / g)) + norm.ppf(alpha) * sigma / math.sqrt(x.size - n), 0.0)


# --- DP-Sniper: Bichsel, Steffen, Bogunovic and Vechev 2021 ---------------------------------------


def dp_sniper(data: Data, smallest: float = 0.01) -> float:
    """The most likely-to-be-x outputs by a logistic regression, of probability c = .01 on x'.

    Half of the draws train it, choose the direction and the threshold t, with a coin at t so that
    the attack has just that probability; the others give both probabilities an end by Clopper and
    Pearson, at half of alpha each.
    """
    from scipy.stats import beta

    n = data["x"].size // 2
    x, y = _features(data["x"], data), _features(data["y"], data)
    score = _logistic(x[:n], y[:n])
    attacks = []
    for sign, (a, b) in ((1, (x, y)), (-1, (y, x))):
        of_a, of_b = sign * score(a[:n]), sign * score(b[:n])
        t = np.sort(of_b)[-max(int(smallest * n), 1)]
        strictly, tied = np.mean(of_b > t), np.mean(of_b == t)
        coin = (smallest - strictly) / tied
        hit = np.mean(of_a > t) + coin * np.mean(of_a == t)
        attacks.append((hit, sign, t, coin))
    _, sign, t, coin = max(attacks)
    a, b = (x, y) if sign > 0 else (y, x)
    rng, alpha = np.random.default_rng([data["seed"], 2]), data["alpha"]
    hits = []
    for side in (a, b):
        scores = sign * score(side[n:])
        hits.append(int(np.sum((scores > t) | ((scores == t) & (rng.random(n) < coin)))))
    low = beta.ppf(alpha / 2, hits[0], n - hits[0] + 1) if hits[0] else 0.0
    high = beta.ppf(1 - alpha / 2, hits[1] + 1, n - hits[1]) if hits[1] < n else 1.0
    return max(math.log(low / high), 0.0) if low > 0 else 0.0


def _features(outputs: Any, data: Data) -> Any:
    """Numbers as they are; bits one by one."""
    if "bits" in data:
        return (outputs[:, None] >> np.arange(data["bits"]) & 1).astype(float)
    return outputs[:, None].astype(float)


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


# --- StatDP: Ding, Wang, Wang, Zhang and Kifer 2018 -----------------------------------------------


def statdp(data: Data) -> float:
    """The largest level that its test refutes, of a grid, at half of alpha in each direction.

    A fifth of the draws chooses the event of the smallest p-value at the claim; on the others the
    test thins the count of x by exp(-epsilon) and compares by Fisher's test, the mean p-value of
    many thinnings.
    """
    n, alpha = data["x"].size // 5, data["alpha"] / 2
    rng, best = np.random.default_rng([data["seed"], 3]), 0.0
    for a, b in ((data["x"], data["y"]), (data["y"], data["x"])):
        events = list(_events(np.concatenate([a[:n], b[:n]]), data))
        counts = [(int(event(a[:n]).sum()), int(event(b[:n]).sum())) for event in events]
        p_values = [_p_value(*count, n, data["claim"], rng) for count in counts]
        event = events[int(np.argmin(p_values))]
        left = a.size - n
        hits, hits_prime = int(event(a[n:]).sum()), int(event(b[n:]).sum())
        level = 0.0
        while level < 20 and _p_value(hits, hits_prime, left, level + 0.01, rng) <= alpha:
            level += 0.01
        best = max(best, level)
    return best


def _events(outputs: Any, data: Data) -> Iterator[Event]:
    """Half-lines, between quantiles; for outcomes each by itself, for bits how many are set."""
    if outputs.dtype.kind != "f":
        values, counts = np.unique(outputs, return_counts=True)
        for value in values[np.argsort(-counts)][:50]:
            yield lambda side, v=value: side == v
    if "bits" in data:
        for count in range(data["bits"] + 1):
            yield lambda side, c=count: _features(side, data).sum(1) == c
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


# --- jax-privacy 2.0.0: CanaryScoreAuditor, epsilon_clopper_pearson with Split(.2) ----------------


def canary_scores(data: Data) -> float:
    """The bound of jax-privacy's auditor, written again in NumPy, where the package is not.

    A fifth of the draws chooses a threshold of the score, which is the output; the others give both
    error rates an end by Clopper and Pearson. Either side may be the likelier one, so that each has
    half of alpha.
    """
    alpha, delta, sides = data["alpha"] / 2, data.get("delta", 0.0), (data["x"], data["y"])
    return max(_of_scores(*pair, alpha, delta, data["seed"]) for pair in (sides, sides[::-1]))


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

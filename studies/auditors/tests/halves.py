"""The frequency of large outputs on both sides, by the binomial test of Clopper and Pearson."""

name = "halves"
needs = {"claims": ["pure", "approximate"], "outputs": ["scalar", "index"], "packages": ["scipy"]}


def lower_bound(x, y, claim, alpha, rng):
    import numpy as np
    from scipy.stats import beta

    first = len(x) // 2
    middle = np.median(np.concatenate([x[:first], y[:first]]))
    best, n = 0.0, len(x) - first
    for p, q in ((x > middle, y > middle), (y > middle, x > middle)):
        more, fewer = int(p[first:].sum()), int(q[first:].sum())
        low = beta.ppf(alpha / 4, more, n - more + 1) if more else 0.0
        high = beta.ppf(1 - alpha / 4, fewer + 1, n - fewer) if fewer < n else 1.0
        if low > claim.delta:
            best = max(best, np.log((low - claim.delta) / high))
    return best

"""Votes of the nearest neighbours from all distances, and the odds of a trained classifier."""

import numpy as np


def by_brute_force(x, x_prime, queries, k, distances):
    """Return the log odds of every query: points as far as the k-th share its votes."""
    ours = distances(queries[:, None], x)
    theirs = distances(queries[:, None], x_prime)
    pooled = np.sort(np.concatenate([ours, theirs], axis=1), axis=1)
    k = min(k, pooled.shape[1])
    radius = pooled[:, k - 1 : k]
    share = (k - (pooled < radius).sum(axis=1)) / (pooled == radius).sum(axis=1)
    with np.errstate(divide="ignore"):
        odds = np.zeros(len(queries))
        for side, sign in ((theirs, 1), (ours, -1)):
            votes = (side < radius).sum(axis=1) + share * (side == radius).sum(axis=1)
            odds += sign * np.log(votes)
    return odds


def odds_of(fitted, queries):
    """Return the sorted log odds of all queries."""
    votes = fitted.votes(queries)
    assert votes.counts.sum() == len(queries)
    return np.sort(np.repeat(votes.log_odds, votes.counts))

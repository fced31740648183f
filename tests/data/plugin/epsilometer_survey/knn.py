"""An estimator that reads the draws themselves: the Rényi divergence by nearest neighbours."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree
from scipy.special import gammaln

from epsilometer.checks import Count
from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import LevelEstimate, SampleMethod


@dataclass(frozen=True)
class NearestNeighbours(SampleMethod):
    """Distances to the k-th neighbour among draws of x and of x' (Poczos and Schneider 2011)."""

    neighbours: Count = 20

    def check(self, outputs, order):
        if outputs not in ("scalar", "vector"):
            raise ArgumentError("outputs", f"must be real numbers, not {outputs}")
        if not order - 1 < self.neighbours:
            raise ArgumentError("lambda", "must be below the number of neighbours + 1")

    def estimate(self, x, x_prime, claims, order, rng):
        x, x_prime, k = x.reshape(len(x), -1), x_prime.reshape(len(x_prime), -1), self.neighbours
        (n, d), m = x.shape, len(x_prime)
        if min(n - 1, m) < k:
            raise ArgumentError("n", f"must be above the number of neighbours, {k}")
        own, other = KDTree(x).query(x, [k + 1])[0], KDTree(x_prime).query(x, [k])[0]
        with np.errstate(divide="ignore", invalid="ignore"):  # equal draws have no density
            loss = d * np.log(other / own) + math.log(m / (n - 1))
            moment = np.log(np.mean(np.exp((order - 1) * loss)))
        bias = 2 * gammaln(k) - gammaln(k - order + 1) - gammaln(k + order - 1)
        level = float(moment + bias) / (order - 1)
        return LevelEstimate(level if math.isfinite(level) else math.nan)

"""An estimator: a lower bound from the frequencies of each outcome."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.stats import beta

from epsilometer.checks import Checked, Fractional
from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import PairEstimates, check_countable


@dataclass(frozen=True)
class FrequencyRatio(Checked):
    """The largest log ratio of the ends of exact intervals, at 1 - alpha for each direction.

    >>> from epsilometer.estimators.base import Claims
    >>> FrequencyRatio().cells(Claims(outcomes=2), math.inf)
    2
    """

    reads: ClassVar[str] = "histograms"
    symmetric: ClassVar[bool] = False
    guarantee: ClassVar[str] = "finite-sample"
    precision: ClassVar[None] = None

    alpha: Fractional = 0.05

    def check(self, outputs, order):
        check_countable(outputs)
        if not math.isinf(order):
            raise ArgumentError("lambda", "must be inf")

    def cells(self, claims, order):
        if claims.outcomes is None:
            raise ArgumentError("outcomes", "must be claimed")
        return claims.outcomes

    def estimate(self, x, x_prime, claims, order):
        part = self.alpha / (2 * x.shape[-1])  # of every cell, half for each of its intervals

        def bound(k, other):
            n = k.sum(axis=-1, keepdims=True)
            low = np.where(k > 0, beta.ppf(part, np.maximum(k, 1), n - k + 1), 0.0)
            high = np.where(other < n, beta.ppf(1 - part, other + 1, np.maximum(n - other, 1)), 1.0)
            with np.errstate(divide="ignore"):
                return np.maximum(np.log(low / high).max(axis=-1), 0.0)

        return PairEstimates(bound(x, x_prime), bound(x_prime, x), np.zeros(x.shape[:-1], bool))

"""An estimator that reads the draws themselves."""

from dataclasses import dataclass

from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import LevelEstimate, SampleMethod


@dataclass(frozen=True)
class Means(SampleMethod):
    """The difference of both means: for Laplace noise of scale 1, the pure level."""

    def check(self, outputs, order):
        if outputs != "scalar":
            raise ArgumentError("outputs", "must be scalar")

    def estimate(self, x, x_prime, claims, order, rng):
        return LevelEstimate(abs(float(x.mean() - x_prime.mean())))

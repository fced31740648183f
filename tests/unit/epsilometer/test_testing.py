"""The contract tests for other packages: ours keep them, and broken objects do not."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from scipy import special, stats

from epsilometer import checks, testing
from epsilometer.checks import Checked, Positive
from epsilometer.classifiers import CLASSIFIERS
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact.finite import ExactRandomizedResponse
from epsilometer.mechanisms.finite import RandomizedResponse
from tests.contract.examples import inputs, law, mechanism

RESPONSE = RandomizedResponse(1.0)


def found(message):
    return pytest.raises(AssertionError, match=message)


@dataclass(frozen=True)
class Broken(Checked):
    outputs: ClassVar[str] = "scalar"
    epsilon: Positive
    fault: str = ""

    def check_input(self, x):
        pass

    def sample(self, x, size, rng):
        draws = {
            "global": lambda: np.random.normal(size=size),  # noqa: NPY002
            "constant seed": lambda: np.random.default_rng(3).normal(size=size),
            "shape": lambda: rng.normal(size=(size, 1)),
            "type": lambda: rng.integers(9, size=size),
            "infinite": lambda: np.full(size, np.inf),
        }
        return draws.get(self.fault, lambda: rng.laplace(x, 1 / self.epsilon, size))()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("global", "draws differ for one seed"),
        ("constant seed", "do not depend on the generator"),
        ("shape", "shape"),
        ("type", "int64"),
        ("infinite", "must be finite"),
    ],
)
def test_broken_mechanisms_are_found(fault, message):
    with found(message):
        testing.check_mechanism(Broken(1.0, fault), [0.0, 1.0])


def test_a_mechanism_has_to_refuse_inputs_outside_its_domain():
    testing.check_mechanism(Broken(1.0), [0.0, 1.0])
    with found("input 'x' must raise ArgumentError"):
        testing.check_mechanism(Broken(1.0), [0.0], outside=["x"])


class Wrong(ExactRandomizedResponse):
    """Of another epsilon than that of the draws."""

    def __init__(self, mechanism):
        super().__init__(replace(mechanism, epsilon=1.2 * mechanism.epsilon))


class Unequal(ExactRandomizedResponse):
    def privacy_loss(self, x, x_prime):
        return 0.5 * super().privacy_loss(x, x_prime)


@pytest.mark.parametrize(("kind", "message"), [(Wrong, "do not follow"), (Unequal, "do not rise")])
def test_wrong_distributions_are_found(kind, message):
    with found(message):
        testing.check_exact(kind(RESPONSE), RESPONSE, [0, 1])


@dataclass(frozen=True)
class Noisy(Broken):
    """A number plus noise of a distribution of SciPy."""

    noise: str = "cauchy"

    def sample(self, x, size, rng):
        return getattr(stats, self.noise).rvs(x, 1 / self.epsilon, size=size, random_state=rng)


LEVELS = {  # by the noise: the largest loss, and the divergence of order a, at d scales
    "norm": (lambda d: math.inf, lambda a, d: a * d**2 / 2),
    "cauchy": (  # the divergence is a Legendre function
        lambda d: 2 * math.asinh(d / 2),
        lambda a, d: math.log(special.eval_legendre(a - 1, 1 + d**2 / 2)) / (a - 1),
    ),
}


class ExactNoisy:
    def __init__(self, mechanism, loss):
        self.epsilon, self.loss = mechanism.epsilon, loss
        self.noise = getattr(stats, mechanism.noise)
        self.divergence = LEVELS[mechanism.noise][1]

    def pdf(self, z, x):
        return self.noise.pdf(z, x, 1 / self.epsilon)

    def cdf(self, z, x):
        return self.noise.cdf(z, x, 1 / self.epsilon)

    def privacy_loss(self, x, x_prime):
        return self.loss(self.epsilon * abs(x - x_prime)) if x != x_prime else 0.0

    def renyi(self, order, x, x_prime):
        a = checks.order("order", order, finite=True)
        return self.divergence(a, self.epsilon * abs(x - x_prime)) if x != x_prime else 0.0


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 2.0])
@pytest.mark.parametrize("noise", LEVELS)
def test_right_levels_are_accepted_and_wrong_losses_refused(noise, epsilon):
    mechanism, loss = Noisy(epsilon, noise=noise), LEVELS[noise][0]
    testing.check_exact(ExactNoisy(mechanism, loss), mechanism, [0.0, 1.0])
    bounded = math.isfinite(loss(1.0))
    wrong = [lambda d: 1.1 * loss(d), lambda d: math.inf] if bounded else [lambda d: 50 * d]
    for other in wrong:
        with found("privacy_loss"):
            testing.check_exact(ExactNoisy(mechanism, other), mechanism, [0.0, 1.0])


class Misplaced(ExactNoisy):
    """Of right levels and draws, with the density of another input."""

    def pdf(self, z, x):
        return super().pdf(z, 1 - x)


class Short(ExactNoisy):
    """The distribution function ends below 1."""

    def cdf(self, z, x):
        return (1 - 1e-6) * super().cdf(z, x)


@pytest.mark.parametrize(
    ("kind", "message"),
    [(Short, "does not rise from 0 to 1"), (Misplaced, "more or less than cdf")],
)
def test_a_distribution_function_ends_at_1_and_is_that_of_the_density(kind, message):
    mechanism = Noisy(1.0, noise="norm")
    with found(message):
        testing.check_exact(kind(mechanism, LEVELS["norm"][0]), mechanism, [0.0, 1.0])


def test_a_bound_that_is_too_high_is_found():
    exact = ESTIMATORS.load("local_loss")(floor=1e-3)
    testing.check_estimator(exact, runs=20)  # no promise

    class Promising(type(exact)):
        guarantee: ClassVar[str] = "finite-sample"

    with found("bounds are above the level"):
        testing.check_estimator(Promising(floor=1e-3), runs=20)


def test_an_estimator_needs_a_case_that_it_does_not_refuse():
    vector = mechanism("gaussian_vector")
    case = testing.Case(vector, law("gaussian_vector"), *inputs("gaussian_vector")[:2])
    with found("refuses every case"):
        testing.check_estimator(ESTIMATORS.load("histogram")(gamma=0.5), [case], runs=2)


def test_a_classifier_that_learns_nothing_is_found():
    counting = CLASSIFIERS.load("counting")

    class Blind(counting):
        def fit(self, x, x_prime, training, seed):
            return super().fit(x, x, training, seed)

    testing.check_classifier(counting())
    testing.check_classifier(CLASSIFIERS.load("nearest_neighbours")())
    with found("are classified right"):
        testing.check_classifier(Blind())


def test_only_installed_packages_are_registered():
    with found("has no entry points"):
        testing.check_registered("numpy")

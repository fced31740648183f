"""Noisy Max: of two answers by the law of the difference of noises, of many by their tails."""

import math
from decimal import Decimal
from itertools import product

import pytest

from tests.unit.epsilometer.exact.laws import EPSILONS, check_both_ways, law


@pytest.mark.parametrize("epsilon", EPSILONS[:-1])
@pytest.mark.parametrize(
    ("name", "noise", "scales"),
    [
        ("noisy_max_index", "laplace", 1),
        ("noisy_max_index", "exponential", 1),
        ("report_noisy_max", "laplace", 2),
    ],
)
def test_the_index_of_two(name, noise, scales, epsilon):
    """The difference of two Laplace noises exceeds t scales with chance (1 + t/2) exp(-t) / 2.

    That of two exponential noises is Laplace noise.
    """

    def chances(gap):
        t = Decimal(gap) / Decimal(scales / epsilon)
        behind = (-t).exp() / 2
        if noise == "laplace":
            behind *= 1 + t / 2
        return [1 - behind, behind]

    of_noise = {} if name == "report_noisy_max" else {"noise": noise}
    for x, y in ([2.0, 0.0], [1.0, 0.0]), ([1.0, 0.0], [2.0, 0.0]):  # outputs that one cannot have
        exact = law(name, epsilon, queries=2, **of_noise)
        check_both_ways(exact, x, y, chances(x[0]), chances(y[0]))


@pytest.mark.parametrize(
    ("queries", "epsilon"), [*product([2, 12, 100], [1e-3, 1.0, 50.0]), (1000, 1.0)]
)
def test_the_largest_of_many(queries, epsilon):
    """Below all answers every one adds its own loss; above them they share one."""
    high, low = [1.0] * queries, [0.0] * queries
    value = law("noisy_max_value", epsilon, queries=queries)
    assert value.privacy_loss(low, high) == pytest.approx(queries * epsilon, rel=1e-12)
    assert value.privacy_loss(high, low) == pytest.approx(epsilon, rel=1e-12)
    spread = law("continuous_noisy_max", epsilon, queries=queries)
    assert spread.privacy_loss(low, high) == pytest.approx(epsilon, rel=1e-12)
    assert spread.privacy_loss(high, low) == pytest.approx(epsilon / queries, rel=1e-12)
    one_sided = law("noisy_max_value", epsilon, queries=queries, noise="exponential")
    assert one_sided.privacy_loss(high, low) == pytest.approx(epsilon, rel=1e-12)
    assert one_sided.privacy_loss(low, high) == math.inf


@pytest.mark.parametrize("noise", ["laplace", "exponential"])
@pytest.mark.parametrize(("queries", "epsilon"), [(2, 1e-3), (12, 50.0), (1000, 1.0)])
def test_the_index_of_equal_answers_does_not_tell_how_large_they_are(noise, queries, epsilon):
    index = law("noisy_max_index", epsilon, queries=queries, noise=noise)
    high, low = [1.0] * queries, [0.0] * queries
    assert index.privacy_loss(high, low) == pytest.approx(0, abs=1e-13 * epsilon)
    assert index.probabilities(high) == pytest.approx(1 / queries, rel=1e-12)

"""Sets of outputs that are likelier on one side, which draws choose."""

import math

import numpy as np
import pytest

import epsilometer as em
from epsilometer.estimators.likelier_sets import choose, placed
from epsilometer.proportions import clopper_pearson
from tests.benchmarks.functions import LAWS, bound_is_above, bounds

Z = 1.645


@pytest.mark.parametrize("seed", range(5))
def test_a_chosen_set_counts_what_it_holds(seed):
    rng = np.random.default_rng(seed)
    for x, x_prime in (
        (rng.laplace(0, 1, 3000), rng.laplace(1, 1, 2000)),
        (rng.integers(0, 5, 3000), rng.integers(3, 9, 2000)),
        (np.zeros(3000), np.zeros(2000)),
    ):
        chosen = choose(x, x_prime, (5000, 4000), Z)
        for side in (x, x_prime):
            cells = np.searchsorted(chosen.edges, side, side="right")
            np.testing.assert_array_equal(chosen.holds(side), chosen.inside[cells])
        swapped = choose(x_prime, x, (4000, 5000), Z)
        assert swapped.expected == chosen.expected


def test_sets_of_every_form_are_found():
    """Half of the draws of x lie in a half-line, a run, both tails, a comb, or on one value."""
    rng = np.random.default_rng(1)
    even = rng.random(40_000)
    comb = (rng.integers(0, 4, 40_000) + rng.random(40_000) / 2) / 4
    for some, level in (
        (even[even < 0.3], math.log(0.5 + 0.5 / 0.3)),
        (even[(even > 0.4) & (even < 0.6)], math.log(3)),
        (even[abs(even - 0.5) > 0.4], math.log(3)),
        (comb, math.log(2)),
        (np.full(20_000, 0.7), 6.0),
    ):
        x = np.concatenate([some, rng.random(len(some))])
        assert choose(x, rng.random(40_000), (50_000, 50_000), Z).expected > 0.85 * level


def test_rows_and_words_have_an_order():
    rng = np.random.default_rng(1)
    x, x_prime = rng.normal(size=(2, 4000, 3))
    x_prime[:, 1] += 2
    numbers = placed((x, x_prime), (x[:5], x_prime[:5]))
    assert abs(np.corrcoef(numbers[0], x[:, 1])[0, 1]) > 0.99
    np.testing.assert_allclose(numbers[2], numbers[0][:5])
    codes, codes_prime = rng.integers(0, 9, 5000), rng.choice([0, 2, 4, 6, 8], 5000)
    odd, even = placed((codes, codes_prime), (np.array([1, 3, 5, 7]), np.array([0, 2, 4, 6, 8])))[
        2:
    ]
    assert odd.max() < even.min()


@pytest.mark.parametrize("law", [law for law in LAWS if law != "alike"])
def test_a_bound_is_nearly_as_large_as_the_exact_tests(law):
    """At 2,000 draws, of five seeds; `tests.benchmarks.functions --power` asks it of more."""
    ours, exact = np.mean([bounds(law, 2000, seed) for seed in range(5)], axis=0)
    assert ours > 0.8 * exact - 0.03


@pytest.mark.parametrize("law", ["alike", "geometric", "Cauchy"])
def test_a_bound_is_above_the_level_as_often_as_it_may(law):
    above = sum(bound_is_above(law, 500, 0.8, seed) for seed in range(200))
    assert clopper_pearson(above, 200, 0.999)[0] <= 0.2


def test_what_chose_a_set_does_not_confirm_it():
    """Of a thousand outcomes that are alike, some are far likelier in the draws that choose."""
    above = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        above += em.loss_lower_bound(*rng.integers(0, 1000, (2, 1000)).astype(str)).value > 0
    assert above <= 14  # of 100 at .05: more with probability .0003

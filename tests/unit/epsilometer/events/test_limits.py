"""What limits of a few probabilities say: by brute force, SciPy, and numerical minima."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binomtest

from epsilometer.events.limits import Box, NestedLimits, box_of, least_divergences


def random_box(seed):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(5)), rng.dirichlet(np.ones(5))
    n = int(rng.integers(20, 2000))
    return box_of(rng.multinomial(n, p), n, rng.multinomial(n, q), n, 0.05)


def test_limits_of_k_sets_miss_in_a_share_of_alpha_over_2_k_each():
    """By the exact intervals of SciPy."""
    hits, hits_prime = [0, 3, 40], [50, 2, 7]
    box = box_of(np.array(hits), 40, np.array(hits_prime), 50, 0.3)
    for i in range(3):
        ends = binomtest(hits[i], 40).proportion_ci(1 - 0.3 / 6, "exact")
        assert (box.low[i], box.high[i]) == pytest.approx(tuple(ends))
        ends = binomtest(hits_prime[i], 50).proportion_ci(1 - 0.3 / 6, "exact")
        assert (box.low_prime[i], box.high_prime[i]) == pytest.approx(tuple(ends))


def test_errors_of_tests_are_just_above_the_truth():
    """A test that says x on a set S is wrong with probability Q(S) on x', and 1 - P(S) on x."""
    n, p, q = 10**6, np.array([0.6, 0.9]), np.array([0.2, 0.5])
    box = box_of((n * p).astype(int), n, (n * q).astype(int), n, 0.05)
    of_type_1, of_type_2 = NestedLimits(box).errors()
    for error, truth in ((of_type_1, q), (of_type_2, 1 - p)):
        assert ((truth < error) & (error < truth + 0.01)).all()


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("p", [(0.1, 0.3), (0.9, 0.97)])
@pytest.mark.parametrize("q", [(0.02, 0.1), (0.5, 0.6)])
def test_limits_of_delta_are_the_least_and_the_largest_of_all_corners(p, q, epsilon):
    """A set shows P(S) - e^epsilon Q(S), or what its complement shows with the sides exchanged."""
    factor = math.exp(epsilon)
    corners = [max(a - factor * b, (1 - b) - factor * (1 - a), 0.0) for a, b in product(p, q)]
    box = Box(*(np.array([end, 0.5]) for end in (*p, *q)))  # and a set that shows nothing
    found = NestedLimits(box).deltas(np.array([epsilon]))
    assert np.ravel(found) == pytest.approx([min(corners), max(corners)])


@pytest.mark.parametrize("order", [1.5, 7.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_least_divergence_is_that_of_a_numerical_minimum(seed, order):
    box = random_box(seed)
    swapped = Box(box.low_prime, box.high_prime, box.low, box.high)
    expected = max(numerical_minimum(box, order), numerical_minimum(swapped, order))
    assert least_divergences(box, [order])[0] == pytest.approx(expected, abs=2e-6)


def numerical_minimum(box, order):
    k = len(box.low)
    low = np.maximum(np.concatenate([box.low, box.low_prime]), 1e-12)
    high = np.concatenate([box.high, box.high_prime])

    def divergence(shares):
        p, q = shares[:k], shares[k:]
        return np.log((p**order * q ** (1 - order)).sum()) / (order - 1)

    sums = [
        {"type": "eq", "fun": lambda shares: shares[:k].sum() - 1},
        {"type": "eq", "fun": lambda shares: shares[k:].sum() - 1},
    ]
    start, bounds = (low + high) / 2, list(zip(low, high, strict=True))
    how = {"method": "SLSQP", "options": {"maxiter": 500, "ftol": 1e-13}}
    return minimize(divergence, start, bounds=bounds, constraints=sums, **how).fun


def test_a_high_order_and_empty_cells_give_finite_divergences():
    box = box_of(np.array([1000, 0, 0]), 1000, np.array([0, 1000, 0]), 1000, 0.05)
    low, high = least_divergences(box, [1.5, 5000.0])
    assert 0 < low <= high < 10


@pytest.mark.parametrize("order", [1 + 1e-14, 1 + 1e-12, 1 + 1e-6, 1.01])
def test_rounding_raises_no_divergence(order):
    rng = np.random.default_rng(0)
    for _ in range(20):
        hits, hits_prime = rng.multinomial(400, [0.2, 0.3, 0.5], 2)
        for other, alpha in ((hits, 0.0125), (hits_prime, 1e-12)):
            box = box_of(hits, 400, other, 400, alpha)
            assert least_divergences(box, [order])[0] == 0

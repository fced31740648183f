"""The bound of right guesses for Gaussian privacy: the best of weights, by linear programmes."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import lil_matrix

from epsilometer.claims import Gaussian
from epsilometer_audit.statistics import profiles
from epsilometer_audit.statistics.guessing import Counted, Rule


def smallest(right, guesses, limits, costs):
    """Return the smallest a0 of the weights of `profiles`, by a linear program."""
    r, q = guesses, len(limits)
    rows = []
    for k in range(r + 1):
        weights = np.zeros((q, r))
        if k:
            weights[:, k - 1] += k
        if k < r:
            weights[:, k] -= costs * (r - k)
        rows.append([-1, *-weights.ravel()])
    above = [-float(k >= right) for k in range(r + 1)]
    bounds = [(0, None), *[(0, limit) for limit in np.repeat(limits, r)]]
    return linprog([1, *[0] * (q * r)], rows, above, bounds=bounds).fun


@pytest.mark.parametrize("scale", [1e-9, 0.003, 0.015, 0.03, 0.05, 0.2])
@pytest.mark.parametrize(("right", "guesses"), [(1, 3), (9, 12), (12, 12), (33, 40)])
def test_no_weights_are_better_than_those_of_the_recursion(right, guesses, scale):
    limits, costs = scale * np.array([1.0, 2.0, 0.5]), np.exp([0.5, 1.0, 1.8])
    exact = smallest(right, guesses, limits, costs)
    found = profiles._smallest(right, guesses, limits, costs)
    assert exact - 1e-9 <= found <= (exact + 1e-7) / (1 - 1e-3) + 1e-9  # to a thousandth, or 1e-7
    assert found <= 1


def least_p_value(right, r, price, epsilons):
    """Return the smallest p-value of any weights of these epsilons, by a linear programme.

    Its variables are a0, each C_q, and each a_q(k), which is at most C_q.
    """
    q = len(epsilons)
    rows = lil_matrix((r + 1 + q * r, 1 + q + q * r))
    above = np.zeros(rows.shape[0])
    rows[: r + 1, 0] = -1
    above[right : r + 1] = -1
    for i, epsilon in enumerate(epsilons):
        first = 1 + q + i * r
        for k in range(r):
            rows[k, first + k] = np.exp(epsilon) * (r - k)
            rows[k + 1, first + k] = -k - 1
            rows[r + 1 + i * r + k, first + k] = 1
            rows[r + 1 + i * r + k, 1 + i] = -1
    costs = np.concatenate([[1], price(epsilons), np.zeros(q * r)])
    return linprog(costs, rows.tocsr(), above, bounds=(0, None)).fun


def test_the_p_value_is_near_the_least_of_all_weights():
    """Up to 1/24 above it, and 1/70 on average; never below, but for the grid."""
    above = []
    for right, r, m, mu in [
        (17, 20, 100, 0.5),
        (18, 20, 400, 0.3),
        (12, 12, 1000, 0.5),
        (28, 40, 100, 0.2),
        (19, 20, 100, 1.0),
        (33, 40, 200, 0.5),
        (26, 30, 2000, 0.2),
    ]:
        counted = Counted(Rule(r, 0), right, m, 1.0)
        single = counted.at_one_epsilon(mu)
        price = partial(counted._price, mu=mu)
        found = profiles.p_value(right, r, price, single.epsilon, single.weight)
        near = np.linspace(max(single.epsilon - 1.5, 0.01), single.epsilon + 2, 36)
        above.append(found / least_p_value(right, r, price, near) - 1)
    assert min(above) > -0.005
    assert max(above) < 1 / 24
    assert np.mean(above) < 1 / 70


@pytest.mark.parametrize("right", [3, 40])
def test_the_largest_claims_have_a_p_value(right):
    """Whose epsilons have exponentials that are no numbers."""
    for mu in (25.0, 30.0):
        counted = Counted(Rule(40, 0), right, 400, 1.0)
        assert counted.p_value_of(Gaussian(mu)) == 1
        price = partial(counted._price, mu=mu)
        assert profiles.p_value(right, 40, price, 700.0, 1.0) >= 1

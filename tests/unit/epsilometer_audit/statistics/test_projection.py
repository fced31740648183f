"""The bets on predicted cells: valid whatever is predicted, and nearly as good as the best."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog, minimize_scalar
from scipy.stats import norm

import epsilometer_audit as ea
from epsilometer_audit.question.claims import approximate, pure
from epsilometer_audit.statistics import projection
from epsilometer_audit.statistics.predictors import FLOOR, Prediction
from epsilometer_audit.statistics.projection import factors, renyi_factors
from limit.kl_inf.project import project
from tests.unit.epsilometer_audit.statistics.examples import divergence, law

CLAIMS = [(0.0, 0.0), (0.01, 1e-5), (3.0, 0.0), (0.5, 0.01), (1.0, 0.05), (0.1, 0.3)]


def largest_sum(f, g, epsilon, delta):
    """Return the largest E_P'[f] + E_Q'[g] under the claim, by a linear programme.

    Its variables are P', Q', and the excess of either side over e^epsilon times the other.
    """
    k, e = f.size, math.exp(epsilon)
    one, none = np.eye(k), np.zeros((k, k))
    excess = np.block([[one, -e * one, -one, none], [-e * one, one, none, -one]])
    sums = np.repeat(np.eye(4), k, axis=1)
    solution = linprog(
        -np.concatenate([f, g, np.zeros(2 * k)]),
        A_ub=np.vstack([excess, sums[2:]]),
        b_ub=np.concatenate([np.zeros(2 * k), [delta, delta]]),
        A_eq=sums[:2],
        b_eq=[1.0, 1.0],
    )
    return -solution.fun


@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_the_largest_sum_of_means_is_two(epsilon, delta):
    rng = np.random.default_rng(1)
    for _ in range(5):
        guess = Prediction(np.arange(7.0), law(rng, 8), law(rng, 8))
        f, g = factors(guess, np.array([epsilon]), np.array([delta]))
        largest = largest_sum(np.exp(f[:, 0]), np.exp(g[:, 0]), epsilon, delta)
        assert largest == pytest.approx(2, abs=1e-7)


@pytest.mark.parametrize(
    ("epsilon", "delta", "short"),
    [
        (0.01, 0.0, 1e-3),
        (1.0, 0.0, 1e-3),
        (3.0, 0.0, 1e-3),
        (0.5, 0.01, 3e-4),
        (2.0, 0.02, 2e-4),
        (0.1, 0.3, 0.04),
    ],
)
def test_a_quick_bet_grows_as_fast_as_the_exact_projection(epsilon, delta, short):
    """They solve the same problem in another way; for a large delta they may fall short.

    Other claims, which are bet against together with this one, change nothing.
    """
    claim = approximate(epsilon, delta) if delta else pure(epsilon)
    for seed in range(20):
        rng, spread = np.random.default_rng(seed), (1.0, 0.05)[seed % 2]
        guess = Prediction(np.arange(11.0), law(rng, 12, spread), law(rng, 12, spread))
        claims = np.array([[0.0, epsilon, 5.0], [0.0, delta, 1e-3]])
        f, g = factors(guess, *claims)
        p = (1 - FLOOR / 2) * guess.p + FLOOR / 2 * guess.q
        q = (1 - FLOOR / 2) * guess.q + FLOOR / 2 * guess.p
        best = project(p, q, claim)
        assert best.growth - short <= p @ f[:, 1] + q @ g[:, 1] <= best.kl_inf + 1e-9


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.0, 0.2), (0.1, 0.3), (1.0, 0.05), (2.0, 0.4), (2.0, 0.0)]
)
@pytest.mark.parametrize("seed", range(3))
def test_the_middle_and_the_largest_factor_are_those_of_the_largest_growth(epsilon, delta, seed):
    """Where the others are given: by the growth, less what E[f] + E[g] may be, to .0003 nats."""
    rng = np.random.default_rng(seed)
    p, q = law(rng, 9), law(rng, 9)
    cells, cells_prime = projection._Cells.of(p, q), projection._Cells.of(q, p)
    e, deltas, a = np.exp([epsilon]), np.array([delta]), rng.uniform(0.5, 1.5, 1)
    top, b = e * a + 2 - a, 2 - a
    largest, largest_prime = (a + b / e * rng.random(), b + a / e * rng.random())

    def shrinks(middle, most):
        bets = projection._Bets(e, middle, most, largest_prime)
        f, g = bets.of((p / (p + q))[:, None], (q / (p + q))[:, None])
        total = 2 * (1 - deltas) + deltas * (most + largest_prime)
        return (2 * np.log(total / 2) - p @ np.log(f) - q @ np.log(g)).item()

    found = projection._best_largest(cells, e, deltas, a, largest_prime)
    bounds = a.item(), (top / e).item()
    exact = minimize_scalar(lambda most: shrinks(a, np.array([most])), bounds=bounds)
    assert shrinks(a, found) <= exact.fun + 3e-4
    found = projection._best_middle(cells, cells_prime, e, largest, largest_prime)
    bounds = (2 - largest_prime).item(), largest.item()
    exact = minimize_scalar(lambda middle: shrinks(np.array([middle]), largest), bounds=bounds)
    assert shrinks(found, largest) <= exact.fun + 3e-4


def test_a_root_is_on_the_line_between_the_last_slope_above_0_and_the_first_below():
    points = np.linspace(0, 5, 6)[:, None] ** 2 + np.arange(6)
    slopes = np.array(
        [
            [9, 6, 3, -1, -2, -9],  # between the points 4 and 9
            [5, 2, 0, 0, 0, -4],  # nothing changes from 4 to 16
            [-1, -2, -3, -4, -5, -6],
            [6, 5, 4, 3, 2, 1],
            [2, 2, 2, 2, 2, 2],  # somewhere near the end
            [-2, -2, -2, -2, -2, -2],
        ]
    ).T
    expected = np.array([4 + 5 * 3 / 4, 1 + 24 * 2 / 6, 0, 25, 20.5, 0.5]) + np.arange(6)
    assert projection._root(points, slopes) == pytest.approx(expected)
    flat = projection._root(points, np.zeros((6, 6)))
    assert flat == pytest.approx(12.5 + np.arange(6))


# --- Rényi claims ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1.25, 2.0, 9.0, 500.0])
def test_bets_against_renyi_claims_are_e_variables(order):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p, q, x, y = (law(rng, 6, 0.5) + 1e-6 for _ in range(4))
        p, q = p / p.sum(), q / q.sum()  # the claim just holds
        rho = max(divergence(p, q, order), divergence(q, p, order))
        guess = Prediction(np.arange(5.0), x / x.sum(), y / y.sum())
        f, g = renyi_factors(guess, np.array([order]), np.array([rho]))
        assert p @ np.exp(f[:, 0]) + q @ np.exp(g[:, 0]) <= 2 + 1e-9


@pytest.mark.parametrize("order", [1.25, 2.0, 9.0])
def test_a_bet_against_a_renyi_claim_wins_nothing_of_the_farthest_law(order):
    """Of all P' with D_a(P' || Q) <= rho, that in proportion to r Q has the largest mean of phi."""
    rng = np.random.default_rng(1)
    q, ratios = law(rng, 6), rng.uniform(0.2, 4, 6)
    p = ratios * q / (ratios @ q)
    claims = np.array([order]), np.array([divergence(p, q, order)])
    up, down = projection._renyi_bet(q, np.log(ratios)[None, None], *claims)
    assert p @ up[0, 0] - q @ down[0, 0] == pytest.approx(0, abs=1e-9)
    assert np.abs(up).max() > 0.05


def gaussian_cells(ends):
    """Return the probabilities of standard Gaussian noise between these ends, none of them 0."""
    cells = np.diff(norm.cdf(ends), prepend=0, append=1) + 1e-9
    return cells / cells.sum()


@pytest.mark.parametrize(
    ("order", "rho", "distance", "least"),
    [(2.0, 0.05, 0.5, 0.7), (1.25, 0.2, 1.0, 0.7), (4.0, 0.5, 1.0, 0.7), (4.0, 2.0, 2.0, 0.6)],
)
def test_bets_against_a_renyi_claim_grow_nearly_as_fast_as_any(order, rho, distance, least):
    """Of Gaussian noise, by the exact projection; no clip of the log ratio does for all of these.

    There is no bet against a claim that holds.
    """
    edges = np.linspace(-4, 6, 30)
    p, q = gaussian_cells(edges), gaussian_cells(edges - distance)
    orders, rhos = np.array([order, order]), np.array([rho, 50.0])
    f, g = renyi_factors(Prediction(edges, p, q), orders, rhos)
    best = project(p, q, ea.renyi({order: rho})).growth
    assert least < (p @ f[:, 0] + q @ g[:, 0]) / best <= 1 + 1e-6
    assert not np.any([f[:, 1], g[:, 1]])


@pytest.mark.parametrize("seed", range(5))
def test_a_stake_is_that_of_the_largest_growth(seed):
    """To a sixtieth of the largest that leaves a fiftieth of each factor."""
    rng = np.random.default_rng(seed)
    p, q = law(rng, 4), law(rng, 4)
    f, g = rng.uniform(0.5, 1.5, (2, 1, 1, 4))
    up, down = (p - q) / q, (p - q) / p * rng.uniform(0.2, 1)
    if seed == 4:
        up, down = -up, -down  # nothing grows
    most = 0.98 / max(np.max(-up / f), np.max(down / g))

    def shrinks(stake):
        return -(p @ np.log(f[0, 0] + stake * up) + q @ np.log(g[0, 0] - stake * down))

    exact = minimize_scalar(shrinks, bounds=(0, most), method="bounded", options={"xatol": 1e-9}).x
    found = projection._best_stake(p, q, f, g, up[None, None], down[None, None])
    assert found.shape == (1, 1, 1)
    assert found.item() == pytest.approx(exact, abs=most / 60)
    assert seed < 4 or found.item() == 0


def test_bets_on_cells_that_one_side_lacks_are_finite():
    """Predictions may leave a cell without any probability, and no part of the other's."""
    guess = Prediction(np.arange(3.0), np.array([0.5, 0.5, 0, 0]), np.array([0, 0.3, 0.7, 0]), 0.0)
    of_pure = factors(guess, np.array([1.0]), np.array([1e-5]))
    of_renyi = renyi_factors(guess, np.array([2.0]), np.array([0.5]))
    for f, g in (of_pure, of_renyi):
        assert np.isfinite([f, g]).all()
        assert guess.p @ f + guess.q @ g > 0.1

"""The choice of bets on past draws: their moments, and the levels that they should refute."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilometer.events.choosing import ChosenEvent
from epsilometer.events.events import Event
from epsilometer_audit.question.claims import Concentrated, Renyi
from epsilometer_audit.statistics import bets
from epsilometer_audit.statistics.bets import Goal, Moments, PlacedBet, expected_levels, moments


@pytest.mark.parametrize("swapped", [False, True])
def test_the_bet_on_an_event_has_the_moments_of_a_coin(swapped):
    chosen = ChosenEvent(Event(((1, 1),)), swapped, 0.3, 0.1, expected=0.7)
    bet = bets._event_bet(chosen)
    coins = np.array([1.0] * 3 + [0.0] * 7), np.array([1.0] + [0.0] * 9)
    assert (bet.mean_phi, bet.mean_psi) == pytest.approx([coin.mean() for coin in coins])
    assert (bet.variance_phi, bet.variance_psi) == pytest.approx([coin.var() for coin in coins])
    assert (bet.swapped, bet.expected, bet.event()) == (swapped, 0.7, chosen.event)
    outputs = np.array([0, 1, 1, 2, 1]), np.array([1, 0, 0, 0, 2])
    counted = bet.on(outputs, [5], 100).counted()
    assert (counted.hits, counted.hits_prime) == ((1, 3) if swapped else (3, 1))
    assert bet.phi[bet.coded(outputs[0])].tolist() == [0, 1, 1, 0, 1]


@pytest.mark.parametrize("more", [0.0, 3.0])
def test_moments_are_those_of_all_draws_and_of_some_at_the_top(more):
    rng = np.random.default_rng(0)
    folds, values = rng.integers(1, 9, (5, 4)), rng.random((2, 5, 4))
    found = moments(folds, values, more)
    for i in range(2):
        draws = np.append(values[i].ravel(), [1.0, 0.0])
        weights = np.append(folds.ravel(), [more, more])
        mean = np.average(draws, weights=weights)
        assert found.mean[i] == pytest.approx(mean)
        assert found.variance[i] == pytest.approx(np.average((draws - mean) ** 2, weights=weights))


P, Q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])


def exact_moments(values, law):
    mean = law @ values
    return Moments(np.array([mean]), np.array([law @ (values - mean) ** 2]))


def learned(order, log_ratio):
    phi, psi = np.exp((order - 1) * log_ratio), np.exp(order * log_ratio)
    return phi, psi, exact_moments(phi, P), exact_moments(psi, Q)


@pytest.mark.parametrize(("claim", "order"), [(Renyi(2.0, 0.05), 2.0), (Concentrated(0.02), 3.0)])
def test_of_many_draws_the_expected_level_is_the_divergence(claim, order):
    """The best functions are powers of p/q, which attain it, by sums over all outcomes."""
    log_ratio = np.log(P / Q)
    _, _, of_phi, of_psi = learned(order, log_ratio - log_ratio.max())
    goal = Goal(claim, order, 10**12, 0.05)
    divergence = math.log(np.sum(P**order * Q ** (1 - order))) / (order - 1)
    (level,) = expected_levels(of_phi, of_psi, goal, 10**12)
    exact = divergence / claim.divergence(1.0, order)
    assert exact * (1 - 1.5 / (bets._LEVELS - 1)) <= level <= exact * (1 + 1e-9)


@pytest.mark.parametrize("ahead", [1000, 3000, 30_000])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_an_expected_level_is_one_that_the_mean_growth_refutes(ahead, alpha):
    """Its bet reaches 1/alpha in the draws ahead, and one at a level a little higher does not."""
    order, claim = 2.0, Renyi(2.0, 0.01)
    log_ratio = np.log(P / Q)
    phi, psi, of_phi, of_psi = learned(order, log_ratio - log_ratio.max())
    (level,) = expected_levels(of_phi, of_psi, Goal(claim, order, ahead, alpha), 10**12)
    bet = bets.Bet(
        lambda outputs: outputs,
        phi,
        psi,
        False,
        of_phi.mean[0],
        of_psi.mean[0],
        of_phi.variance[0],
        of_psi.variance[0],
        order,
    )
    placed = PlacedBet(bet, ahead * P[None], ahead * Q[None], ahead)
    grown = placed.growth(claim, np.array([0.9 * level, 1.1 * level + 0.01]), alpha)[0]
    assert grown[0] > math.log(1 / alpha) > grown[1]


def test_where_nothing_should_be_refuted_more_growth_is_nearer_to_0():
    order, claim = 2.0, Renyi(2.0, 0.5)
    _, _, of_phi, of_psi = learned(order, np.array([-0.01, -0.02, -0.03]))
    levels = [
        float(expected_levels(of_phi, of_psi, Goal(claim, order, ahead, 0.05), 10**6)[0])
        for ahead in (10, 1000, 10_000)
    ]
    assert -0.5 <= levels[0] < levels[1] < levels[2]
    phi, psi = np.array([1.0, 0.9, 0.8]), np.array([0.9, 0.9, 0.99])  # the mean shows no level
    of_phi, of_psi = exact_moments(phi, P), exact_moments(psi, Q)
    (level,) = expected_levels(of_phi, of_psi, Goal(claim, order, 10**6, 0.05), 10**6)
    assert level == pytest.approx(2 * math.log(P @ phi) - math.log(Q @ psi))
    assert level < 0


@pytest.mark.parametrize("shrinkage", [0.5, 5.0])
def test_a_log_ratio_of_frequencies_is_shrunken_by_so_many_draws(shrinkage):
    counts, counts_prime = np.array([[3, 0, 7]]), np.array([[1, 4, 15]])
    more = shrinkage / 10
    expected = [math.log((a / 10 + more) / (b / 20 + more)) for a, b in ((3, 1), (0, 4), (7, 15))]
    found = bets._log_ratio(counts, counts_prime, shrinkage)
    assert found[0] == pytest.approx(expected)

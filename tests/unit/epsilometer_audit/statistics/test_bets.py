"""The choice of bets on past draws: their moments, and the levels that they should refute."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilometer.claims import Claim
from epsilometer.events.choosing import ChosenEvent
from epsilometer.events.events import Event
from epsilometer.events.looks import PastDraws
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.question.claims import Concentrated, Renyi, pure
from epsilometer_audit.statistics import bets
from epsilometer_audit.statistics.bets import (
    Bet,
    Goal,
    Moments,
    PlacedBet,
    expected_levels,
    moments,
    stake,
)
from epsilometer_audit.statistics.rounds import Step
from tests.unit.audits import single_claims

by_claim = pytest.mark.parametrize("claim", single_claims(), ids=Claim.text)
CELLS = np.array([0.0, 1.0])
EVENT_BET = Bet(lambda s: s, CELLS, CELLS, False, 0.7, 0.1, 0.2, 0.1, lambda: None, 0.0)


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
    top = float(claim.grid[-1])  # there is none above
    beyond = np.array([math.exp(-1.2 * claim.divergence(top, order))])
    sure = Moments(np.ones(1), np.zeros(1)), Moments(beyond, np.zeros(1))
    assert expected_levels(*sure, replace(goal, ahead=10**200), 10**12) == top
    assert exact * (1 - 1.5 / (bets._LEVELS - 1)) <= level <= exact * (1 + 1e-9)


@pytest.mark.parametrize("ahead", [1000, 3000, 30_000])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_an_expected_level_is_one_that_the_mean_growth_refutes(ahead, alpha):
    """Its bet reaches 1/alpha in the draws ahead, and one at a level a little higher does not."""
    order, claim = 2.0, Renyi(2.0, 0.01)
    log_ratio = np.log(P / Q)
    phi, psi, of_phi, of_psi = learned(order, log_ratio - log_ratio.max())
    (level,) = expected_levels(of_phi, of_psi, Goal(claim, order, ahead, alpha), 10**12)
    means = {"mean_phi": of_phi.mean[0], "mean_psi": of_psi.mean[0]}
    variances = {"variance_phi": of_phi.variance[0], "variance_psi": of_psi.variance[0]}
    bet = replace(EVENT_BET, phi=phi, psi=psi, order=order, **means, **variances)
    placed = PlacedBet(bet, ahead * P[None], ahead * Q[None], ahead)
    grown = placed.growth(claim, np.array([0.9 * level, 1.1 * level + 0.01]), alpha)[0]
    assert grown[0] > math.log(1 / alpha) > grown[1]


@pytest.mark.parametrize("ahead", [2, 25, 60])
def test_of_few_draws_the_growth_at_level_0_is_expected(ahead):
    """The stake is as large as is aimed at, but for factors below 0: that of psi = 1 is the least.

    Less a standard deviation of the mean, after 400 draws.
    """
    claim, log_ratio = Renyi(2.0, 0.01), np.log(P / Q)
    _, _, of_phi, of_psi = learned(2.0, log_ratio - log_ratio.max())
    kappa, b = (of_level[0] for of_level in claim.null(np.zeros(1), of_psi.mean[0], 2.0))
    variance = of_phi.variance[0] + kappa**2 * of_psi.variance[0]
    excess = of_phi.mean[0] - kappa * of_psi.mean[0] - b - math.sqrt(variance / 400)
    aimed = math.sqrt(2 * math.log(20) / (ahead * variance))
    at = min(aimed, 1 / (kappa * (1 - of_psi.mean[0])))
    assert (at < aimed) == (ahead == 2)
    growth = ahead * at * (excess - at * variance / 2)
    (level,) = expected_levels(of_phi, of_psi, Goal(claim, 2.0, ahead, 0.05), 400)
    assert growth < math.log(20)
    assert level == pytest.approx(-1 / (1 + math.exp(growth)))


def test_where_nothing_should_be_refuted_more_growth_is_nearer_to_0():
    order, claim = 2.0, Renyi(2.0, 0.5)
    _, _, of_phi, of_psi = learned(order, np.array([-0.01, -0.02, -0.03]))
    levels = [
        float(expected_levels(of_phi, of_psi, Goal(claim, order, ahead, 0.05), 10**6)[0])
        for ahead in (10, 1000, 10_000)
    ]
    assert -0.5 <= levels[0] < levels[1] < levels[2]
    shrunk = np.array([1.0, 0.9, 0.8]), np.array([0.9, 0.9, 0.99])
    for phi, psi in (shrunk, np.ones((2, 3))):  # the mean shows no level
        of_phi, of_psi = exact_moments(phi, P), exact_moments(psi, Q)
        (level,) = expected_levels(of_phi, of_psi, Goal(claim, order, 10**6, 0.05), 10**6)
        assert level == pytest.approx(2 * math.log(P @ phi) - math.log(Q @ psi))
        assert level <= 0


@pytest.mark.parametrize("shrinkage", [0.5, 5.0])
def test_a_log_ratio_of_frequencies_is_shrunken_by_so_many_draws(shrinkage):
    counts, counts_prime = np.array([[3, 0, 7]]), np.array([[1, 4, 15]])
    more = shrinkage / 10
    expected = [math.log((a / 10 + more) / (b / 20 + more)) for a, b in ((3, 1), (0, 4), (7, 15))]
    found = bets._log_ratio(counts, counts_prime, shrinkage)
    assert found[0] == pytest.approx(expected)


# --- the growth of the wealth --------

laws = st.lists(st.floats(0.01, 1), min_size=4, max_size=4).map(lambda w: np.array(w) / sum(w))


def level_of(claim, p, q, order):
    """The exact level of two laws of few outcomes, from x to x': of an order, or of all events."""
    if claim.orders:
        divergence = math.log(np.sum(p**order * q ** (1 - order))) / (order - 1)
        return divergence / claim.divergence(1.0, order)
    events = np.array([*itertools.product([0.0, 1.0], repeat=p.size)])[1:-1]
    return float(claim.of(events @ p, events @ q).max())


@settings(max_examples=60)
@given(p=laws, q=laws, mean=st.floats(0.02, 0.98), ahead=st.integers(1, 10**6), data=st.data())
@by_claim
def test_no_bet_wins_on_average_where_the_claim_holds(claim, p, q, mean, ahead, data):
    """E[e] <= 1, by exact sums over the outcomes, for anything that was learned from the past."""
    if claim.events:
        event = np.array(data.draw(st.lists(st.booleans(), min_size=4, max_size=4)), float)
        phi = psi = event
        order = math.nan
    else:
        g = np.array(data.draw(st.lists(st.floats(-2, 2), min_size=4, max_size=4)))
        order = data.draw(st.sampled_from(claim.orders))
        phi, psi = np.exp((order - 1) * g), np.exp(order * g)
        mean *= float(psi.max())
    kappa, b = claim.null(np.array([max(level_of(claim, p, q, order), 0.0)]), mean, order)
    u = kappa * mean + b
    most = u - phi.min(), kappa * (psi.max() - mean)
    at = stake(np.array(1e9), u, most, 0.1 + 0.1 * kappa**2, ahead, 0.05)
    won, lost = 1 + at * (phi - u), 1 - at * kappa * (psi - mean)
    assert won.min() > 0
    assert lost.min() > 0
    assert (p @ won) * (q @ lost) <= 1 + 1e-9


@by_claim
def test_growth_is_the_sum_over_single_draws(claim):
    rng = np.random.default_rng(3)
    order = next(iter(claim.orders), math.nan)
    phi = psi = np.array([0.0, 1.0])
    if claim.orders:
        phi, psi = np.array([0.5, 2.0]), np.array([0.25, 4.0])
    bet = replace(EVENT_BET, phi=phi, psi=psi, mean_phi=phi.mean() + 0.3, mean_psi=0.4, order=order)
    bet = replace(bet, variance_psi=0.2)
    x, y = rng.integers(2, size=50), rng.integers(2, size=50)
    sizes = Step(1, 50, 1000).blocks(50)
    levels = np.array([0.01, 0.2])
    placed = bet.on((x, y), sizes, 1000)
    rates = placed.growth(claim, levels, 0.05)
    kappa, b = claim.null(levels, 0.4, order)
    u = kappa * 0.4 + b
    most = u - phi.min(), kappa * (psi.max() - 0.4)
    at = stake(np.array(bet.mean_phi), u, most, 0.2 + kappa**2 * 0.2, 1000, 0.05)
    single = np.log1p(at * (phi[x][:, None] - u)) + np.log1p(-at * kappa * (psi[y][:, None] - 0.4))
    assert np.allclose(rates, np.add.reduceat(single, np.cumsum([0, *sizes[:-1]]), axis=0))
    assert np.allclose(placed.growth(claim, levels, 0.05, by_block=False), single.sum(axis=0))


@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_a_stake_reaches_one_over_alpha_within_the_draws_at_the_smallest_excess(alpha):
    """Its growth is l e - l^2 v / 2 a draw; it is largest at e = l v."""
    n, v = 5000, 0.3
    most = np.array(0.5), np.array(0.5)
    at = float(stake(1.0, np.array(0.9), most, v, n, alpha))
    assert n * (at * (at * v) - at**2 * v / 2) == pytest.approx(math.log(1 / alpha))
    for mean in (0.9, 0.8):  # the past shows no excess
        assert stake(mean, np.array(0.9), most, v, n, alpha) == 0
    few = stake(1.0, np.array(0.9), (np.array(2.0), np.array(0.5)), v, 1, alpha)
    assert 0 < 1 - few * 2.0 < 0.1  # no factor is 0
    assert few == stake(1.0, np.array(0.9), (np.array(0.5), np.array(2.0)), v, 1, alpha)


@pytest.mark.parametrize(
    ("claim", "phi", "psi", "v"),
    [
        (pure(0.0), [0.0, 1.0], [0.0, 1.0], 0.1),
        (pure(0.0), [0.0, 1.0], [0.0, 1.0], 0.9),
        (Renyi(2.0, 0.1), [0.7, 1.0], [0.49, 1.0], 0.98),
        (Renyi(2.0, 0.1), [0.7, 1.0], [0.49, 1.0], 0.55),
    ],
)
def test_no_draw_takes_more_than_most_of_the_wealth(claim, phi, psi, v):
    """Where few draws are to come, the worst of them leaves a twentieth."""
    bet = replace(EVENT_BET, phi=np.array(phi), psi=np.array(psi), mean_phi=1.1, mean_psi=v)
    bet = replace(bet, order=next(iter(claim.orders), math.nan))
    inside, outside = np.array([[0, 1]]), np.array([[1, 0]])
    nothing = np.array([[0, 0]])
    draws = [(inside, nothing), (outside, nothing), (nothing, inside), (nothing, outside)]
    levels = np.array([0.01, 0.05])
    logs = [PlacedBet(bet, *counts, 1).growth(claim, levels, 0.05) for counts in draws]
    assert np.exp(np.min(logs, axis=0))[0] == pytest.approx([0.05, 0.05])


# --- the choice of functions ----------------------------------------------------------------------


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("shrinkage", [2.0, 16.0])
@pytest.mark.parametrize(("order", "clip"), [(1.5, 1.0), (2.0, 0.99), (4.0, 0.7), (9.0, 0.5)])
def test_functions_are_taught_by_other_draws_than_those_of_their_moments(
    monkeypatch, swapped, shrinkage, order, clip
):
    """By the functions of each draw: four fifths of the draws teach those of the others."""
    monkeypatch.setattr(bets, "_CLIPS", (clip,))
    rng = np.random.default_rng(1)
    x, y = (
        rng.multinomial(40, [0.4, 0.3, 0.2, 0.1], 5),
        rng.multinomial(60, [0.2, 0.2, 0.5, 0.1], 5),
    )
    look = SimpleNamespace(folds=(x, y), coded=len, event=lambda cells: cells.tolist())
    goal = Goal(Renyi(order, 0.1), order, 5000, 0.05)
    bet = bets._function_bet(look, goal, swapped, shrinkage)
    ours, theirs = (y, x) if swapped else (x, y)

    def log_ratio(kept):
        shares = [side[kept].sum(axis=0) / side[kept].sum() for side in (ours, theirs)]
        more = shrinkage / ours[kept].sum()
        return np.log(shares[0] + more) - np.log(shares[1] + more)

    whole = log_ratio(np.arange(5))
    top = clip * whole.max()
    phis, psis = [], [1.0] * 10 + [0.0] * 10  # half of a draw more at either end, by twentieths
    for fold in range(5):
        others = np.maximum(log_ratio(np.arange(5) != fold), 2 * whole.min())
        off = np.minimum(others, top) - top
        phis += np.repeat(np.exp((order - 1) * off), ours[fold]).tolist()
        psis += np.repeat(np.exp(order * off), 20 * theirs[fold]).tolist()
    assert bet.mean_phi == pytest.approx(np.mean(phis))
    assert bet.variance_phi == pytest.approx(np.var(phis))
    assert bet.mean_psi == pytest.approx(np.mean(psis))
    assert bet.variance_psi == pytest.approx(np.var(psis))
    off = np.append(np.minimum(whole, top), 0.0) - top  # the ratio is 1 outside all cells
    assert bet.phi == pytest.approx(np.exp((order - 1) * off))
    assert bet.psi == pytest.approx(np.exp(order * off))
    assert (bet.swapped, bet.order, bet.coded) == (swapped, order, len)
    assert bet.event() == np.flatnonzero(whole > 0).tolist()
    of_phi, of_psi = (
        Moments(np.array([mean]), np.array([variance]))
        for mean, variance in (
            (bet.mean_phi, bet.variance_phi),
            (bet.mean_psi, bet.variance_psi),
        )
    )
    fewer = min(x.sum(), y.sum())
    assert bet.expected == pytest.approx(expected_levels(of_phi, of_psi, goal, fewer)[0])


@pytest.mark.parametrize("claim", [Renyi(2.0, 0.05), Concentrated(0.02)])
@pytest.mark.parametrize("turned", [False, True])
def test_the_bet_that_is_learned_should_refute_most_of_what_there_is(claim, turned):
    """Half of the divergence or more, of many draws; its event has the likelier cells."""
    rng, q = np.random.default_rng(0), np.array([0.05, 0.25, 0.7])
    x, y = rng.choice(3, 4000, p=P), rng.choice(3, 4000, p=q)
    sides = (y, x) if turned else (x, y)
    (bet,) = bets.learn_bets(PastDraws(*sides, learn_layout(*sides)), claim, 100_000, 0.05)
    divergences = [
        math.log(np.sum(p**order * r ** (1 - order))) / (order - 1) / claim.divergence(1.0, order)
        for order in claim.orders
        for p, r in ((P, q), (q, P))
    ]
    assert 0.5 * max(divergences) < bet.expected < 1.1 * max(divergences)
    on_p = bet.swapped == turned
    assert bet.event().holds(np.arange(3)).tolist() == [on_p, on_p, not on_p]

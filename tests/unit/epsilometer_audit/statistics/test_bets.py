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
from epsilometer_audit.question.claims import Concentrated, Renyi
from epsilometer_audit.statistics import bets
from epsilometer_audit.statistics.bets import (
    Goal,
    Moments,
    PlacedBet,
    expected_levels,
    stake,
)
from epsilometer_audit.statistics.rounds import Step
from tests.unit.audits import single_claims
from tests.unit.epsilometer_audit.statistics.examples import EVENT_BET, divergence

by_claim = pytest.mark.parametrize("claim", single_claims(), ids=Claim.text)


@pytest.mark.parametrize("swapped", [False, True])
def test_the_bet_on_an_event_has_the_moments_of_a_coin(swapped):
    chosen = ChosenEvent(Event(((1, 1),)), swapped, 0.3, 0.1, expected=0.7)
    bet = bets._event_bet(chosen)
    assert (bet.mean_phi, bet.mean_psi) == (0.3, 0.1)
    assert (bet.variance_phi, bet.variance_psi) == pytest.approx((0.3 * 0.7, 0.1 * 0.9))
    assert (bet.swapped, bet.expected, bet.event()) == (swapped, 0.7, chosen.event)
    outputs = np.array([0, 1, 1, 2, 1]), np.array([1, 0, 0, 0, 2])
    for sizes in ([5], [2, 3]):
        counted = bet.on(outputs, sizes, 100).counted()
        assert (counted.hits, counted.hits_prime) == ((1, 3) if swapped else (3, 1))
        assert counted.draws == 5
    for values in (bet.phi, bet.psi):
        assert values[bet.coded(outputs[0])].tolist() == [0, 1, 1, 0, 1]


# --- expected levels ------------------------------------------------------------------------------

P, Q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])


def exact_moments(values, law):
    mean = law @ values
    return Moments(np.array([mean]), np.array([law @ (values - mean) ** 2]))


def best_functions(order):
    """Return the powers of P/Q, at most 1, that attain its divergence, and their moments."""
    log_ratio = np.log(P / Q)
    log_ratio = log_ratio - log_ratio.max()
    phi = np.exp((order - 1) * log_ratio)
    psi = np.exp(order * log_ratio)
    return phi, psi, exact_moments(phi, P), exact_moments(psi, Q)


@pytest.mark.parametrize(("claim", "order"), [(Renyi(2.0, 0.05), 2.0), (Concentrated(0.02), 3.0)])
def test_of_many_draws_the_expected_level_is_the_divergence(claim, order):
    """Of 48 levels up to it; at most the highest of the claim's grid."""
    _, _, of_phi, of_psi = best_functions(order)
    goal = Goal(claim, order, 10**12, 0.05)
    (level,) = expected_levels(of_phi, of_psi, goal, 10**12)
    exact = divergence(P, Q, order) / claim.divergence(1.0, order)
    assert exact * (1 - 1.5 / 47) <= level <= exact * (1 + 1e-9)
    top = float(claim.grid[-1])
    sure = Moments(np.ones(1), np.zeros(1))
    beyond = Moments(np.exp([-1.2 * claim.divergence(top, order)]), np.zeros(1))
    assert expected_levels(sure, beyond, replace(goal, ahead=10**200), 10**12) == top


@pytest.mark.parametrize(("ahead", "alpha"), [(1000, 0.05), (3000, 0.001), (30_000, 0.05)])
def test_an_expected_level_is_one_that_the_mean_growth_refutes(ahead, alpha):
    """Its bet reaches 1/alpha in the draws ahead, and one at a level a little higher does not."""
    claim = Renyi(2.0, 0.01)
    phi, psi, of_phi, of_psi = best_functions(2.0)
    goal = Goal(claim, 2.0, ahead, alpha)
    (level,) = expected_levels(of_phi, of_psi, goal, 10**12)
    bet = replace(
        EVENT_BET,
        phi=phi,
        psi=psi,
        order=2.0,
        mean_phi=of_phi.mean[0],
        mean_psi=of_psi.mean[0],
        variance_phi=of_phi.variance[0],
        variance_psi=of_psi.variance[0],
    )
    placed = PlacedBet(bet, ahead * P[None], ahead * Q[None], ahead)
    grown = placed.growth(claim, np.array([0.9 * level, 1.1 * level + 0.01]), alpha)[0]
    assert grown[0] > math.log(1 / alpha) > grown[1]
    (cautious,) = expected_levels(of_phi, of_psi, goal, 400)  # by an error of the mean
    assert cautious < level


def growth_by_stake(claim, order, level, of_phi, of_psi, ahead):
    """Return the mean growth in so many draws at 100,001 stakes, if 900 draws are past.

    A draw adds l e - l^2 v / 2, where e is less by its error. The last stake is the largest with
    which no draw of Y takes all: l kappa (1 - E psi) is 1.
    """
    kappa, b = claim.null(level, of_psi[0], order)
    variance = of_phi[1] + kappa**2 * of_psi[1]
    excess = of_phi[0] - kappa * of_psi[0] - b - math.sqrt(variance / 900)
    stakes = np.linspace(0, 1 / (kappa * (1 - of_psi[0])), 100_001)
    return ahead * (stakes * excess - stakes**2 * variance / 2)


def expected_of(of_phi, of_psi, goal):
    each = (Moments(*np.array(of)[:, None]) for of in (of_phi, of_psi))
    return expected_levels(*each, goal, 900)


@pytest.mark.parametrize(("claim", "order"), [(Renyi(2.0, 0.05), 2.0), (Concentrated(0.02), 3.0)])
@pytest.mark.parametrize(
    ("of_phi", "of_psi", "bound"),  # means and variances
    [((0.6, 0.05), (0.3, 0.08), False), ((0.9, 0.02), (0.02, 0.005), True)],
)
def test_a_level_is_expected_if_any_stake_reaches_one_over_alpha(
    claim, order, of_phi, of_psi, bound
):
    """Where none does, it is the nearer to 0 the more the largest stake wins at level 0."""
    shown = (order / (order - 1) * math.log(of_phi[0]) - math.log(of_psi[0])) / (
        claim.divergence(1.0, order)
    )
    levels = np.linspace(0, shown, 48)
    for number, ahead in ((4, 40), (16, 5)):
        won = growth_by_stake(claim, order, levels[number], of_phi, of_psi, ahead)
        assert (won.argmax() == 100_000) == bound
        for times, last in ((1 + 1e-5, number), (1 - 1e-5, number - 1)):
            goal = Goal(claim, order, ahead, math.exp(-won.max()) * times)
            assert expected_of(of_phi, of_psi, goal) == pytest.approx(levels[last])
        most = growth_by_stake(claim, order, 0.0, of_phi, of_psi, ahead).max()
        goal = Goal(claim, order, ahead, math.exp(-2 * most))
        expected = -1 / (1 + math.exp(most))
        assert not bound or expected_of(of_phi, of_psi, goal) == pytest.approx(expected)


def test_where_nothing_should_be_refuted_more_growth_is_nearer_to_0():
    claim = Renyi(2.0, 0.5)
    phi = np.exp([-0.01, -0.02, -0.03])
    of_phi, of_psi = exact_moments(phi, P), exact_moments(phi**2, Q)
    levels = []
    for ahead in (10, 1000, 10_000):
        levels += expected_levels(of_phi, of_psi, Goal(claim, 2.0, ahead, 0.05), 10**6).tolist()
    assert -0.5 <= levels[0] < 0
    assert levels[0] < levels[1] < levels[2]


def test_where_the_mean_shows_no_level_it_is_expected():
    phi, psi = np.array([1.0, 0.9, 0.8]), np.array([0.9, 0.9, 0.99])
    goal = Goal(Renyi(2.0, 0.5), 2.0, 10**6, 0.05)
    (level,) = expected_levels(exact_moments(phi, P), exact_moments(psi, Q), goal, 10**6)
    assert level == pytest.approx(2 * math.log(P @ phi) - math.log(Q @ psi))
    assert level < 0


# --- the growth of the wealth ---------------------------------------------------------------------

laws = st.lists(st.floats(0.01, 1), min_size=4, max_size=4).map(lambda w: np.array(w) / sum(w))
in_event = st.lists(st.booleans(), min_size=4, max_size=4)
log_ratios = st.lists(st.floats(-2, 2), min_size=4, max_size=4)


def level_of(claim, p, q, order):
    """The exact level of two laws of few outcomes, from x to x': of an order, or of all events."""
    if claim.orders:
        return divergence(p, q, order) / claim.divergence(1.0, order)
    events = np.array([*itertools.product([0.0, 1.0], repeat=p.size)])[1:-1]
    return float(claim.of(events @ p, events @ q).max())


@settings(max_examples=30)
@given(p=laws, q=laws, mean=st.floats(0.02, 0.98), ahead=st.integers(1, 10**6), data=st.data())
@by_claim
def test_no_bet_wins_on_average_where_the_claim_holds(claim, p, q, mean, ahead, data):
    """E[e] <= 1, by exact sums over the outcomes, for anything that was learned from the past.

    No draw takes more than .95 of the wealth.
    """
    order = math.nan
    if claim.events:
        phi = psi = np.array(data.draw(in_event), float)
    else:
        log_ratio = np.array(data.draw(log_ratios))
        order = data.draw(st.sampled_from(claim.orders))
        phi = np.exp((order - 1) * log_ratio)
        psi = np.exp(order * log_ratio)
        mean *= float(psi.max())
    bet = replace(EVENT_BET, phi=phi, psi=psi, mean_phi=1e9, mean_psi=mean, order=order)
    level = np.array([max(level_of(claim, p, q, order), 0.0)])
    each, nothing = np.eye(4), np.zeros((4, 4))
    won = np.exp(PlacedBet(bet, each, nothing, ahead).growth(claim, level, 0.05)[:, 0])
    lost = np.exp(PlacedBet(bet, nothing, each, ahead).growth(claim, level, 0.05)[:, 0])
    assert min(won.min(), lost.min()) >= 0.05 - 1e-9
    assert (p @ won) * (q @ lost) <= 1 + 1e-9


@by_claim
@pytest.mark.parametrize("mean", [0.05, 0.9])
def test_the_worst_draw_takes_nineteen_twentieths_where_nothing_speaks_against_it(claim, mean):
    """That of X where the mean of psi is large, that of Y where it is small."""
    order = next(iter(claim.orders), math.nan)
    phi = psi = np.array([0.0, 1.0])
    if claim.orders:
        phi, psi = functions(np.array([-1.0, 0.5]), order)
    sure = replace(EVENT_BET, variance_phi=0.0, variance_psi=0.0, mean_phi=1e9, order=order)
    bet = replace(sure, phi=phi, psi=psi, mean_psi=mean * float(psi.max()))
    each, nothing, levels = np.eye(2), np.zeros((2, 2)), np.array([0.01, 0.2])
    won = np.exp(PlacedBet(bet, each, nothing, 1).growth(claim, levels, 0.05)).min(axis=0)
    lost = np.exp(PlacedBet(bet, nothing, each, 1).growth(claim, levels, 0.05)).min(axis=0)
    assert np.minimum(won, lost) == pytest.approx(0.05)
    assert ((won < lost) == (mean > 0.5)).all()


@by_claim
def test_growth_is_the_sum_over_single_draws(claim):
    rng = np.random.default_rng(3)
    order = next(iter(claim.orders), math.nan)
    phi = psi = np.array([0.0, 1.0])
    if claim.orders:
        phi, psi = np.array([0.5, 2.0]), np.array([0.25, 4.0])
    bet = replace(EVENT_BET, phi=phi, psi=psi, mean_phi=2.0, mean_psi=0.4, order=order)
    x, y = rng.integers(2, size=(2, 50))
    sizes = Step(1, 50, 1000).blocks(50)
    levels = np.array([0.01, 0.2])
    kappa, b = claim.null(levels, 0.4, order)
    u = kappa * 0.4 + b
    most = u - phi.min(), kappa * (psi.max() - 0.4)
    at = stake(2.0, u, most, 0.2 + kappa**2 * 0.1, 1000, 0.05)
    single = np.log1p(at * (phi[x][:, None] - u)) + np.log1p(-at * kappa * (psi[y][:, None] - 0.4))
    placed = bet.on((x, y), sizes, 1000)
    by_block = np.add.reduceat(single, np.cumsum([0, *sizes[:-1]]), axis=0)
    assert placed.growth(claim, levels, 0.05) == pytest.approx(by_block)
    together = placed.growth(claim, levels, 0.05, by_block=False)
    assert together[0] == pytest.approx(single.sum(axis=0))


@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_a_stake_reaches_one_over_alpha_within_the_draws_at_the_smallest_excess(alpha):
    """Its growth is l e - l^2 v / 2 a draw; it is largest at e = l v."""
    n, v, u = 5000, 0.3, np.array(0.9)
    little, much = np.array(0.5), np.array(2.0)
    at = float(stake(1.0, u, (little, little), v, n, alpha))
    assert n * (at * (at * v) - at**2 * v / 2) == pytest.approx(math.log(1 / alpha))
    assert stake(0.9, u, (little, little), v, n, alpha) == 0  # the past shows no excess
    of_few_draws = stake(1.0, u, (much, little), v, 1, alpha)
    assert of_few_draws * much == pytest.approx(0.95)  # no factor is 0
    assert of_few_draws == stake(1.0, u, (little, much), v, 1, alpha)


# --- the choice of functions ----------------------------------------------------------------------


def functions(log_ratio, order):
    return np.exp((order - 1) * log_ratio), np.exp(order * log_ratio)


def moments(values, weights):
    mean = np.average(values, weights=weights)
    return mean, np.average((values - mean) ** 2, weights=weights)


@pytest.mark.parametrize(
    ("order", "clip", "shrinkage", "swapped"),
    [(1.5, 1.0, 2.0, False), (2.0, 0.99, 16.0, True), (9.0, 0.5, 16.0, False)],
)
def test_functions_are_taught_by_other_draws_than_those_of_their_moments(
    monkeypatch, order, clip, shrinkage, swapped
):
    """Four fifths of the draws teach those of the others; psi has half a draw more at 0 and 1."""
    monkeypatch.setattr(bets, "_CLIPS", (clip,))
    rng = np.random.default_rng(1)
    ours = rng.multinomial(40, [0.4, 0.3, 0.2, 0.1], 5)
    theirs = rng.multinomial(60, [0.2, 0.2, 0.5, 0.1], 5)
    ours[:, 3] = [8, 0, 0, 0, 0]  # a ratio that other draws show too small
    folds = (theirs, ours) if swapped else (ours, theirs)
    look = SimpleNamespace(folds=folds, coded=len, event=lambda cells: cells.tolist())
    goal = Goal(Renyi(order, 0.1), order, 5000, 0.05)
    bet = bets._function_bet(look, goal, swapped, shrinkage)

    def log_ratio(kept):
        more = shrinkage / ours[kept].sum()
        share = ours[kept].sum(axis=0) / ours[kept].sum()
        share_prime = theirs[kept].sum(axis=0) / theirs[kept].sum()
        return np.log(share + more) - np.log(share_prime + more)

    whole = log_ratio(np.arange(5))
    top = clip * whole.max()
    learned = np.array([log_ratio(np.arange(5) != fold) for fold in range(5)])
    assert (learned.min() < 2 * whole.min()) == (shrinkage < 16)
    phi, psi = functions(np.clip(learned, 2 * whole.min(), top) - top, order)
    of_phi = moments(phi.ravel(), ours.ravel())
    of_psi = moments(np.append(psi, [1, 0]), np.append(theirs, [0.5, 0.5]))
    assert (bet.mean_phi, bet.variance_phi) == pytest.approx(of_phi)
    assert (bet.mean_psi, bet.variance_psi) == pytest.approx(of_psi)
    phi, psi = functions(np.append(np.minimum(whole, top), 0.0) - top, order)
    assert (bet.phi, bet.psi) == (pytest.approx(phi), pytest.approx(psi))  # 1 outside all cells
    assert (bet.swapped, bet.order, bet.coded) == (swapped, order, len)
    assert bet.event() == np.flatnonzero(whole > 0).tolist()
    both = (Moments(*np.array(of)[:, None]) for of in (of_phi, of_psi))
    assert bet.expected == pytest.approx(expected_levels(*both, goal, 200)[0])


@pytest.mark.parametrize("claim", [Renyi(2.0, 0.05), Concentrated(0.02)])
@pytest.mark.parametrize("turned", [False, True])
def test_the_bet_that_is_learned_should_refute_most_of_what_there_is(claim, turned):
    """Half of the divergence or more, of many draws; its event has the likelier cells."""
    rng, q = np.random.default_rng(0), np.array([0.05, 0.25, 0.7])
    x, y = rng.choice(3, 4000, p=P), rng.choice(3, 4000, p=q)
    sides = (y, x) if turned else (x, y)
    (bet,) = bets.learn_bets(PastDraws(*sides, learn_layout(*sides)), claim, 100_000, 0.05)
    levels = []
    for order in claim.orders:
        levels.append(level_of(claim, P, q, order))
        levels.append(level_of(claim, q, P, order))
    assert 0.5 * max(levels) < bet.expected < 1.1 * max(levels)
    on_p = bet.swapped == turned
    assert bet.event().holds(np.arange(3)).tolist() == [on_p, on_p, not on_p]

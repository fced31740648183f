"""The wealth of all pairs and purses: an account, what it refutes, and the bet that won most."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from epsilometer_audit.question.claims import approximate, pure
from epsilometer_audit.statistics.bets import PlacedBet
from epsilometer_audit.statistics.portfolio import Growth
from epsilometer_audit.statistics.wealth import PairBets, Wealth
from tests.unit.epsilometer_audit.statistics.examples import EVENT_BET


@dataclass(frozen=True)
class Multiplied:
    """Bets that multiply the wealth of each purse by these factors, ``(blocks, purses)``."""

    factors: np.ndarray
    bets: tuple[int, ...] = ()

    def logs(self, claim, levels, alpha, by_block):
        return np.log(np.repeat(self.factors[:, :, None], levels.size, axis=2))


def test_the_wealth_of_pairs_and_purses_is_that_of_an_account():
    """In plain numbers: who is dropped leaves all to the others; who joins gets a tenth."""
    rng, claim = np.random.default_rng(0), pure(1.0)
    shares = np.append(0.95, 0.05 * np.array(claim.bet_shares))
    later = np.append(0.5, 0.5 * np.array(claim.bet_shares))
    wealth = Wealth(claim, pairs=3, alpha=0.05)
    account = dict.fromkeys(range(3), shares / 3)
    expected = []
    for number, pairs in enumerate([[0, 1, 2], [0, 2], [0, 2], [2], [2, 3, 4], [4]]):
        given = {pair: account.pop(pair) for pair in [*account] if pair not in pairs}
        if not given and len(account) < len(pairs):
            given = {pair: 0.1 * purses for pair, purses in account.items()}
            account = {pair: 0.9 * purses for pair, purses in account.items()}
        inherited = np.sum([*given.values()]) / len(pairs)
        account = {pair: account.get(pair, 0 * shares) + inherited * shares for pair in pairs}
        if number == 2:  # events are chosen
            shares = later
            account = {pair: purses.sum() * later for pair, purses in account.items()}
        blocks = rng.uniform(0.5, 2, (3, len(pairs), shares.size))
        bets = (1,) if number >= 2 else ()
        wealth.record({pair: Multiplied(blocks[:, i], bets) for i, pair in enumerate(pairs)})
        for factors in blocks:
            account = {pair: account[pair] * of for pair, of in zip(pairs, factors, strict=True)}
            expected.append(np.sum([*account.values()]))
    assert np.exp(wealth.history) == pytest.approx(expected)
    assert math.exp(wealth.of_pairs[4]) == pytest.approx(account[4].sum())


@pytest.mark.parametrize("each", [1e-300, 1e300])
def test_a_wealth_that_is_no_double_has_a_log(each):
    """Of three blocks, in each of which one pair wins or loses so much, the other less."""
    claim = pure(1.0)
    wealth = Wealth(claim, pairs=2, alpha=0.05)
    purses = 1 + len(claim.bet_shares)
    of_one, of_other = np.full((3, purses), each), np.full((3, purses), each**-0.5)
    wealth.record({0: Multiplied(of_one), 1: Multiplied(of_other)})
    largest = max(math.log(each), -0.5 * math.log(each))
    expected = largest * np.arange(1, 4) - math.log(2)
    assert wealth.history == pytest.approx(expected)
    assert wealth.of_pairs[0] == pytest.approx(3 * math.log(each) - math.log(2))


@pytest.mark.parametrize("share", [1.0, 0.25])
def test_a_level_is_refuted_where_its_wealth_reaches_one_over_alpha(share):
    wealth = Wealth(pure(1.0), pairs=1, alpha=0.05, share=share)
    enough = math.log(1 / (0.05 * share))
    for log, refuted in ((enough, True), (enough - 1e-9, False), (enough + 1, True)):
        wealth.history = [0.3, log, -4.0]  # whether it ever was so large
        assert wealth.refuted == refuted
        assert wealth.p_value() == pytest.approx(math.exp(-log) / share)
        wealth.history = [0.3, log]
        assert wealth.refuted == refuted
    assert wealth.uniform == 1  # there is no last look
    wealth.history = [-2.0]
    assert (wealth.p_value(), wealth.refuted) == (1.0, False)


@pytest.mark.parametrize(("alpha", "share"), [(0.05, 1.0), (0.5, 0.25)])
@pytest.mark.parametrize("won", [-1.0, 0.2, 0.51, 0.8, 1.0, 1.2])
def test_the_last_look_refutes_with_probability_alpha_times_the_wealth(alpha, share, won):
    """So it refutes a claim that holds with probability alpha at most: its mean wealth is 1.

    No U decides for an audit that has won less than half of the nats that are needed.
    """
    needed = -math.log(alpha * share)
    wealth = Wealth(pure(1.0), pairs=1, alpha=alpha, share=share)
    wealth.history = [0.1 * needed, won * needed]
    refutes = []
    for uniform in np.arange(0.0005, 1, 0.001):
        wealth.uniform = uniform
        refutes.append(wealth.refuted)
        assert wealth.refuted == (wealth.p_value() <= alpha * (1 + 1e-12))
    expected = min(math.exp(won * needed - needed), 1.0) if won > 0.5 else 0.0
    assert np.mean(refutes) == pytest.approx(expected, abs=0.001)
    assert refutes == sorted(refutes, reverse=True)


def placed_on(hits, bet=EVENT_BET):
    """Return a bet on an event with these hits of 100 draws on x, by block, and a tenth on x'."""
    counts = np.array([[100 - number, number] for number in hits])
    return PlacedBet(bet, counts, np.tile([90, 10], (len(hits), 1)), 400)


def with_hits(*hits, blocks=1):
    """Return the wealth of a bet on an event with so many hits, in steps of so many blocks."""
    wealth = Wealth(pure(0.2), pairs=1, alpha=0.05)
    for start in range(0, len(hits), blocks):
        wealth.record({0: PairBets([placed_on(hits[start : start + blocks])])})
    return wealth


@pytest.mark.parametrize("hits", [(70, 70), (90, 5), (99, 99, 0, 0), (15, 15), (30, 35)])
@pytest.mark.parametrize(
    ("share", "blocks", "uniform"), [(1.0, 1, 1.0), (1.0, 4, 0.3), (0.3, 1, 0.9), (1.0, 1, 1e-6)]
)
def test_a_bound_is_the_last_level_before_the_first_that_is_not_refuted(
    hits, share, blocks, uniform
):
    """At whatever time: of all levels of the grid, one by one, which get the same last look."""
    wealth, claim = with_hits(*hits, blocks=blocks), pure(0.2)
    wealth.uniform = uniform
    grid = np.union1d(claim.grid, [claim.level])
    logs = wealth.log_wealth(claim, grid)
    last = logs[-1] + min(-math.log(uniform), math.log(20) / 2)
    stands = np.maximum(logs.max(axis=0), last) < math.log(1 / (0.05 * share))
    assert wealth.lower_bound(claim, share) == grid[max(stands.argmax() - 1, 0)]
    assert (wealth.lower_bound(claim) >= claim.level) == wealth.refuted
    assert share < 1 or wealth.lower_bound(claim) == wealth.lower_bound(claim, share)


def test_where_all_levels_are_refuted_the_bound_is_the_highest():
    wealth, claim = Wealth(pure(0.2), pairs=1, alpha=0.05), pure(0.2)
    wealth.record({0: Multiplied(np.full((2, 1 + len(claim.bet_shares)), 9.0))})
    assert wealth.lower_bound(claim) == claim.grid[-1]


@pytest.mark.parametrize("bets", [(), (1,)])
def test_the_last_portfolio_refutes_where_it_wins_what_it_lacks(bets):
    """With what the others leave it; where no events are chosen so far, they will be."""
    rng, claim = np.random.default_rng(0), pure(0.2)
    wealth = Wealth(claim, pairs=3, alpha=0.05, share=0.5)
    purses = 1 + len(claim.bet_shares)
    factors = rng.uniform(0.5, 2, (3, 2, 1)) * np.ones(purses)
    wealth.record({pair: Multiplied(factors[pair], bets) for pair in range(3)})
    won = np.append(math.exp(wealth.lacking(1)), np.full(purses - 1, 1e-12))
    wealth.record({1: Multiplied(won[None], (1,))})
    assert wealth.history[-1] == pytest.approx(wealth.needed)


def test_a_bound_follows_each_round():
    wealth, hits = Wealth(pure(0.2), pairs=1, alpha=0.05), (40, 70, 70, 5)
    for number in range(4):
        wealth.record({0: PairBets([placed_on(hits[number : number + 1])])})
        fresh = with_hits(*hits[: number + 1])
        assert wealth.lower_bound(wealth.claim) == fresh.lower_bound(wealth.claim)


def test_the_purses_of_a_pair_are_the_portfolios_and_those_of_its_bets():
    """Each has a part of the wealth that it multiplies; one without bets keeps it."""
    claim, levels = approximate(0.2, 0.01), np.array([0.1, 0.2, 0.3])
    bets = [placed_on([70, 20]), placed_on([30, 90])]
    grown = np.array([[0.4, 0.3, 0.2], [-0.1, 0.1, 0.0]])
    growth = Growth([({claim.quantity: levels}, {claim.quantity: grown})])
    nothing = np.zeros((2, 3))
    first, second = (bet.growth(claim, levels, 0.05) for bet in bets)
    for pair, purses in (
        (PairBets(bets, growth), [grown, first, second, nothing]),
        (PairBets((), growth), [grown, nothing, nothing, nothing]),
        (PairBets(bets), [nothing, first, second, nothing]),
    ):
        logs = pair.logs(claim, levels, 0.05)
        assert logs == pytest.approx(np.stack(purses, axis=1))
        assert pair.logs(claim, levels, 0.05, False)[0] == pytest.approx(logs.sum(axis=0))


def test_from_the_first_event_on_bets_have_half_of_the_wealth():
    claim, bet = approximate(0.2, 0.01), placed_on([70, 20])
    wealth = Wealth(claim, pairs=1, alpha=0.05)
    wealth.record({0: PairBets([bet])})
    won = np.exp(bet.growth(claim, np.array([claim.level]), 0.05).cumsum())
    share = 0.5 * claim.bet_shares[0]
    assert np.exp(wealth.history) == pytest.approx(1 - share + share * won)


@pytest.mark.parametrize("level", [0.2, 0.8])
@pytest.mark.parametrize("more", [-0.01, 0.01])
def test_a_portfolio_won_where_it_won_more_than_all_bets_together(level, more):
    """Its bets count at the level that is asked, whatever they won at the claimed one."""
    claim, bet = pure(0.2), placed_on([60])
    won = math.exp(bet.growth(claim, np.array([level]), 0.05)[0, 0])
    share = claim.bet_shares[0]
    of_bets = math.log(share * won + 1 - share)
    levels = np.array([0.2, 0.8])
    grown = np.where(levels == level, of_bets + more, 9.0 * (more < 0))
    growth = Growth([({claim.quantity: levels}, {claim.quantity: grown[None]})])
    wealth = Wealth(claim, pairs=1, alpha=0.05)
    assert wealth.witness(0, level) == (None, True)  # .95 of the first wealth
    wealth.record({0: PairBets([bet], growth)})
    assert wealth.witness(0, level)[1] == (more > 0)


def test_the_witness_is_the_bet_that_won_most():
    wealth = Wealth(pure(0.2), pairs=1, alpha=0.05)
    bets = [replace(EVENT_BET, mean_phi=0.7 - i / 100) for i in range(3)]
    for i, hits in ((0, 30), (1, 80), (0, 40), (2, 75)):
        wealth.record({0: PairBets([placed_on([hits], bets[i])])})
    placed, portfolio_won = wealth.witness(0, 0.2)
    assert placed.bet is bets[1]
    assert placed.counts.tolist() == [[20, 80]]
    assert not portfolio_won


def test_a_witness_has_the_counts_of_all_blocks_of_its_bet():
    placed, _ = with_hits(75, 70).witness(0, 1.0)
    assert sorted(placed.counts.tolist()) == [[25, 75], [30, 70]]
    assert placed.counts_prime.tolist() == [[90, 10]] * 2

"""The wealth of all pairs and purses: an account, what it refutes, and the bet that won most."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from epsilometer_audit.question.claims import approximate, pure
from epsilometer_audit.question.shares import share_of
from epsilometer_audit.statistics.bets import PlacedBet
from epsilometer_audit.statistics.portfolio import Growth
from epsilometer_audit.statistics.wealth import PairBets, Wealth
from tests.unit.epsilometer_audit.statistics.examples import EVENT_BET


def test_the_tests_of_all_members_of_a_family_spend_alpha_together():
    """The tail of the sum of 6 / (pi i)^2 beyond n is 6 / pi^2 / (n + 1/2), nearly."""
    for members in (1, 4):
        assert members * share_of(0.05, members) == pytest.approx(0.05)
        spent = members * sum(share_of(0.05, members, i) for i in range(1, 1001))
        assert spent == pytest.approx(0.05 * (1 - 6 / math.pi**2 / 1000.5), rel=1e-9)


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
    first = np.append(0.95, 0.05 * np.array(claim.bet_shares))
    later = np.append(0.5, 0.5 * np.array(claim.bet_shares))
    wealth, shares = Wealth(claim, pairs=3, alpha=0.05), first
    account = dict.fromkeys(range(3), first / 3)
    expected = []
    for number, pairs in enumerate([[0, 1, 2], [0, 2], [0, 2], [2], [2, 3, 4], [4]]):
        given = {pair: purses for pair, purses in account.items() if pair not in pairs}
        if not given and any(pair not in account for pair in pairs):
            given = {pair: 0.1 * purses for pair, purses in account.items()}
            account = {pair: 0.9 * purses for pair, purses in account.items()}
        inherited = sum(purses.sum() for purses in given.values()) / len(pairs)
        account = {pair: account.get(pair, 0 * first) + inherited * shares for pair in pairs}
        if number == 2:  # events are chosen
            shares = later
            account = {pair: purses.sum() * later for pair, purses in account.items()}
        blocks = rng.uniform(0.5, 2, (len(pairs), 3, first.size))
        step = dict(
            zip(pairs, (Multiplied(of, (1,) * (number >= 2)) for of in blocks), strict=True)
        )
        wealth.record(step)
        for block in range(3):
            for pair, factors in zip(pairs, blocks, strict=True):
                account[pair] = account[pair] * factors[block]
            expected.append(sum(purses.sum() for purses in account.values()))
    assert np.exp(wealth.history) == pytest.approx(expected)
    assert {pair: math.exp(log) for pair, log in wealth.of_pairs.items()} == pytest.approx(
        {pair: purses.sum() for pair, purses in account.items()}
    )


@pytest.mark.parametrize("share", [1.0, 0.25])
def test_a_level_is_refuted_where_its_wealth_reaches_one_over_alpha(share):
    wealth = Wealth(pure(1.0), pairs=1, alpha=0.05, share=share)
    enough = math.log(1 / (0.05 * share))
    for log, refuted in ((enough, True), (enough - 1e-9, False), (enough + 1, True)):
        wealth.history = [0.3, log, -4.0]  # whether it ever was so large
        assert wealth.refuted == refuted
        assert wealth.p_value() == pytest.approx(math.exp(-log) / share)
    wealth.history = [-2.0]
    assert (wealth.p_value(), wealth.refuted) == (1.0, False)


@pytest.mark.parametrize(("alpha", "share"), [(0.05, 1.0), (0.5, 0.25)])
@pytest.mark.parametrize("won", [-1.0, 0.0, 0.2, 0.51, 0.8, 1.0, 1.2])
def test_the_last_look_refutes_with_probability_alpha_times_the_wealth(alpha, share, won):
    """So it refutes a claim that holds with probability alpha at most: its mean wealth is 1."""
    needed = -math.log(alpha * share)
    wealth = Wealth(pure(1.0), pairs=1, alpha=alpha, share=share)
    wealth.history = [0.1 * needed, won * needed]  # won as a share of what is needed
    refutes = []
    uniforms = np.arange(0.0005, 1, 0.001)
    for uniform in uniforms:
        wealth.uniform = uniform
        refutes.append(wealth.refuted)
        assert wealth.refuted == (wealth.p_value() <= alpha * (1 + 1e-12))
    expected = min(math.exp(won * needed - needed), 1.0)
    if won < 0.5:  # no U decides for an audit that has won little
        expected = 0.0
    assert np.mean(refutes) == pytest.approx(expected, abs=0.001)
    assert refutes == sorted(refutes, reverse=True)


def with_hits(*hits, draws=100, blocks=1):
    """Return the wealth of bets on an event with so many hits on x, and a tenth on x'.

    Each number of hits is that of a block; a step has so many of them.
    """
    wealth = Wealth(pure(0.2), pairs=1, alpha=0.05)
    few = draws // 10
    for start in range(0, len(hits), blocks):
        of_step = hits[start : start + blocks]
        counts = np.array([[draws - number, number] for number in of_step])
        counts_prime = np.array([[draws - few, few]] * len(of_step))
        wealth.record({0: PairBets([PlacedBet(EVENT_BET, counts, counts_prime, 4 * draws)])})
    return wealth


@pytest.mark.parametrize(
    "hits", [(70, 70), (90, 5), (99, 99, 0, 0), (40,), (15, 15), (99, 99, 99), (10,)]
)
@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("blocks", [1, 4])
def test_a_bound_is_the_last_level_before_the_first_that_is_not_refuted(hits, share, blocks):
    """At whatever time: of all levels of the grid, one by one."""
    wealth, claim = with_hits(*hits, blocks=blocks), pure(0.2)
    grid = np.union1d(claim.grid, [claim.level])
    largest = wealth.log_wealth(claim, grid).max(axis=0)
    stands = largest < math.log(1 / (0.05 * share))
    first = int(stands.argmax()) if stands.any() else grid.size
    assert wealth.lower_bound(claim, share) == grid[max(first - 1, 0)]
    assert (wealth.lower_bound(claim) >= claim.level) == wealth.refuted


@pytest.mark.parametrize("uniform", [0.9, 0.3, 1e-6])
def test_all_levels_get_the_same_last_look(uniform):
    """A bound is that of a larger alpha for the last wealth, as large as U makes it."""
    wealth = with_hits(30, 35)
    levels = np.union1d(wealth.claim.grid, [wealth.claim.level])
    logs = wealth.log_wealth(wealth.claim, levels)
    needed = -math.log(0.05)
    refuted = (logs >= needed).any(axis=0)
    refuted |= logs[-1] >= needed - min(-math.log(uniform), needed / 2)
    wealth.uniform = uniform
    assert wealth.lower_bound(wealth.claim) == levels[max(refuted.argmin() - 1, 0)]


def test_where_all_levels_are_refuted_the_bound_is_the_highest():
    wealth, claim = Wealth(pure(0.2), pairs=1, alpha=0.05), pure(0.2)
    wealth.record({0: Multiplied(np.full((2, 1 + len(claim.bet_shares)), 9.0))})
    assert wealth.lower_bound(claim) == claim.grid[-1]


@pytest.mark.parametrize("chosen", [False, True])
def test_the_last_portfolio_refutes_where_it_wins_what_it_lacks(chosen):
    """With what the others leave it; where no events are chosen so far, they will be."""
    rng, claim = np.random.default_rng(0), pure(0.2)
    wealth = Wealth(claim, pairs=3, alpha=0.05, share=0.5)
    purses, step = 1 + len(claim.bet_shares), {}
    for pair in range(3):
        factors = rng.uniform(0.5, 2, (2, purses if chosen else 1))
        step[pair] = Multiplied(np.tile(factors, 1 if chosen else purses), (1,) * chosen)
    wealth.record(step)
    won = np.append(math.exp(wealth.lacking(1)), np.full(purses - 1, 1e-12))
    wealth.record({1: Multiplied(won[None], (1,))})
    assert wealth.history[-1] == pytest.approx(wealth.needed)


def test_a_bound_follows_each_round():
    wealth, all_hits = Wealth(pure(0.2), pairs=1, alpha=0.05), (40, 70, 70, 5)
    for number, step in enumerate(with_hits(*all_hits).steps, start=1):
        wealth.record(step)
        bound = wealth.lower_bound(wealth.claim)
        assert bound == with_hits(*all_hits[:number]).lower_bound(wealth.claim)


def test_the_purses_of_a_pair_are_the_portfolios_and_those_of_its_bets():
    """Each has a part of the wealth that it multiplies; one without bets keeps it."""
    claim, levels = approximate(0.2, 0.01), np.array([0.1, 0.2, 0.3])
    counts = np.array([[30, 70], [80, 20]]), np.array([[90, 10], [70, 30]])
    bets = [PlacedBet(EVENT_BET, *counts, 400), PlacedBet(EVENT_BET, *counts[::-1], 900)]
    grown = np.array([[0.4, 0.3, 0.2], [-0.1, 0.1, 0.0]])
    growth = Growth([({claim.quantity: levels}, {claim.quantity: grown})])
    nothing = np.zeros((2, 3))
    won = [grown, *(bet.growth(claim, levels, 0.05) for bet in bets)]
    for kept, pair in ((3, PairBets(bets, growth)), (1, PairBets((), growth))):
        expected = [*won[:kept], *[nothing] * (4 - kept)]
        logs = pair.logs(claim, levels, 0.05)
        assert logs == pytest.approx(np.stack(expected, axis=1))
        assert pair.logs(claim, levels, 0.05, False)[0] == pytest.approx(logs.sum(axis=0))
    logs = PairBets(bets).logs(claim, levels, 0.05)
    assert (logs[:, 0] == 0).all()
    assert logs[:, 2] == pytest.approx(won[2])
    parts = np.append(0.5, 0.5 * np.array(claim.bet_shares))  # from the first event on
    wealth = Wealth(claim, pairs=1, alpha=0.05)
    wealth.record({0: PairBets(bets, growth)})
    exact = np.log(parts @ np.exp(np.cumsum(np.stack([*won, nothing]), axis=1)[..., 1]))
    assert wealth.history == pytest.approx(exact.tolist())


@pytest.mark.parametrize("level", [0.2, 0.8])
def test_a_portfolio_won_where_it_won_more_than_all_bets_together(level):
    """Its bets count at the level that is asked, whatever they won at the claimed one."""
    claim = pure(0.2)
    bet = PlacedBet(EVENT_BET, np.array([[40, 60]]), np.array([[90, 10]]), 400)
    (of_bet,) = bet.growth(claim, np.array([level]), 0.05, by_block=False)[0]
    shares = np.array(claim.bet_shares)
    of_bets = math.log(shares[0] * math.exp(of_bet) + shares[1:].sum())
    for more in (-0.01, 0.01):
        grown = np.where(np.array([0.2, 0.8]) == level, of_bets + more, 9.0 * (more < 0))
        growth = Growth([({claim.quantity: np.array([0.2, 0.8])}, {claim.quantity: grown[None]})])
        wealth = Wealth(claim, pairs=1, alpha=0.05)
        wealth.record({0: PairBets([bet], growth)})
        assert wealth.witness(0, level)[1] == (more > 0)
    assert Wealth(claim, 1, 0.05).witness(0, level) == (None, True)  # .95 of the first wealth


def test_the_witness_is_the_bet_that_won_most():
    wealth = Wealth(pure(0.2), pairs=1, alpha=0.05)
    bets = [replace(EVENT_BET, mean_phi=0.7 - i / 100) for i in range(3)]
    for i, hits in ((0, 30), (1, 80), (0, 40), (2, 75)):
        counts = np.array([[100 - hits, hits]]), np.array([[90, 10]])
        wealth.record({0: PairBets([PlacedBet(bets[i], *counts, 400)])})
    placed, portfolio_won = wealth.witness(0, 0.2)
    assert placed.bet is bets[1]
    assert not portfolio_won
    assert wealth.witness(0, 0.2)[0].counts.tolist() == [[20, 80]]
    both = Wealth(pure(0.2), pairs=1, alpha=0.05)
    for hits in (75, 70):
        counts = np.array([[100 - hits, hits]]), np.array([[90, 10]])
        both.record({0: PairBets([PlacedBet(bets[0], *counts, 400)])})
    assert sorted(both.witness(0, 1.0)[0].counts.tolist()) == [[25, 75], [30, 70]]

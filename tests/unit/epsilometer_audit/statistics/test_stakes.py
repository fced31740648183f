"""Stakes by the draws that are left: valid bets, which reach a goal by the end more often."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

import epsilometer_audit as ea
from epsilometer_audit.statistics import projection, rounds
from epsilometer_audit.statistics.portfolio import Growth, Portfolio
from epsilometer_audit.statistics.predictors import Prediction
from epsilometer_audit.statistics.stakes import Plan, staked
from epsilometer_audit.statistics.wealth import PairBets, Wealth

LEAST, MOST, TRUSTED = 0.5, 3.0, 0.7


GOAL = math.log(20)


def stake(wealth, growth, left):
    return Plan(left, np.array(GOAL)).stakes(np.array([wealth]), np.array([growth]))[0]


@pytest.mark.parametrize("left", [30, 100])
@pytest.mark.parametrize("missing", [0.5, 1.5, 2.5])
def test_a_stake_replicates_the_probability_to_win_by_the_end(missing, left):
    """A fair game that pays at the end where a random walk is high: its price is the wealth."""
    growth = 0.02
    step = math.sqrt(2 * growth * TRUSTED)  # of the walk, and of the log wealth with stake 1
    place = norm.ppf(math.exp(-missing)) * math.sqrt(left)
    low, high = (norm.cdf((place + h) / math.sqrt(left)) for h in (-1e-4, 1e-4))
    slope = (math.log(high) - math.log(low)) / 2e-4
    expected = np.clip(slope / step, LEAST, MOST)
    assert stake(GOAL - missing, growth, left) == pytest.approx(expected, rel=1e-6)


def test_who_is_behind_stakes_more_and_who_has_won_stakes_little():
    stakes = [stake(wealth, 0.02, 100) for wealth in (-2, 0, 1, 2, 2.9)]
    assert stakes == sorted(stakes, reverse=True)
    assert stake(GOAL + 1, 0.02, 100) == LEAST
    assert stake(0, 0.02, 100_000) == LEAST  # far more draws than it takes
    assert stake(-5, 0.02, 2) == MOST
    assert stake(0, 0.0, 100) == stake(0, -0.1, 100) == 1.0


LAWS = st.lists(st.floats(0.01, 1.0), min_size=6, max_size=6).map(lambda p: np.array(p) / sum(p))


@given(LAWS, LAWS, LAWS, LAWS, st.floats(LEAST, MOST))
def test_staked_bets_are_e_variables(p, q, x, y, size):
    ratio = np.abs(np.log(x / y)).max()  # a pair of laws, and the claim that it just satisfies
    bets = projection.factors(Prediction(np.arange(5.0), p, q), np.array([ratio]), np.zeros(1))
    f, g = (np.exp(side[:, 0]) for side in staked(*bets, np.array([size])))
    assert min(f.min(), g.min()) > 0
    assert x @ f + y @ g <= 2 + 1e-9


def test_no_cell_loses_more_than_98_percent_by_a_larger_stake():
    f, g = (np.log(np.array([[0.5, 0.9], [1.5, 1.1]])) for _ in range(2))
    sides = staked(f, g, np.full(2, 3.0))
    assert np.exp(sides[0]) == pytest.approx(np.array([[0.02, 0.7], [1.98, 1.3]]))
    flat = np.zeros((2, 2))
    assert np.exp(staked(f, flat, np.full(2, 3.0))[0]) == pytest.approx(np.exp(sides[0]))
    assert np.exp(staked(flat, g, np.full(2, 3.0))[1]) == pytest.approx(np.exp(sides[1]))
    heavy = np.log(np.array([[0.001], [1.999]]))
    assert np.exp(staked(heavy, heavy, np.array([3.0]))[0]) == pytest.approx(np.exp(heavy))
    assert np.exp(staked(heavy, heavy, np.array([0.5]))[1])[0] == pytest.approx(0.5005)


def test_known_laws_are_refuted_more_often_and_no_false_claim_more_often():
    """A coin of .6 for a fair one, 60 draws: by all numbers of heads, in blocks of ten draws."""
    runs, alpha = 20_000, 0.05
    won = {}
    for share in (0.5, 0.6):
        heads = np.random.default_rng(1).binomial(10, share, (runs, 6))
        for planned in (False, True):
            logs = np.zeros(runs)
            largest = np.zeros(runs)
            for i in range(6):
                sizes = np.ones(runs)
                if planned:
                    growth = 0.6 * math.log(1.2) + 0.4 * math.log(0.8)
                    plan = Plan(60 - 10 * i, np.array(-math.log(alpha)))
                    sizes = plan.stakes(logs, np.full(runs, growth))
                logs = logs + heads[:, i] * np.log1p(0.2 * sizes)
                logs += (10 - heads[:, i]) * np.log1p(-0.2 * sizes)
                largest = np.maximum(largest, logs)
            won[share, planned] = np.mean(largest >= -math.log(alpha))
    # alpha is a bound for any stakes; 5 standard errors of 20,000 runs are .008
    assert won[0.5, True] <= alpha + 0.008
    best = binom.sf(binom.isf(alpha, 60, 0.5) - 1, 60, 0.6)  # the most powerful test
    assert won[0.6, False] + 0.05 < won[0.6, True] < best


def test_a_plan_counts_the_draws_that_are_left(monkeypatch):
    rng = np.random.default_rng(0)
    seen = []
    of_views = Portfolio.bet

    def noted(self, x, x_prime, sizes, plan=None):
        seen.append((self._draws, plan))
        return of_views(self, x, x_prime, sizes, plan)

    monkeypatch.setattr(Portfolio, "bet", noted)
    for each_block in (False, True):
        seen.clear()
        evidence = rounds.Evidence(ea.pure(1.0), 1, 0.05)
        rounds.run_rounds(
            lambda sides, n: [rng.normal(0, 1, n) for _ in sides],
            rounds.schedule(200, 1),
            evidence,
            each_block=each_block,
        )
        if each_block:  # it may stop at any time, and so has no planned end
            assert {plan for _, plan in seen} == {None}
        else:
            assert [draws + plan.left for draws, plan in seen] == [200] * len(seen)


def growth(nats):
    return Growth([({"epsilon": np.array([1.0])}, {"epsilon": np.array([[nats]])})])


@pytest.mark.parametrize("pairs", [1, 3])
def test_a_last_portfolio_that_wins_what_it_lacks_refutes_the_claim(pairs):
    for more, refuted in ((1e-6, True), (-0.5, False)):
        wealth = Wealth(ea.pure(1.0), pairs, 0.05)
        wealth.record({pair: PairBets((), growth(0.7)) for pair in range(pairs)})
        missing = wealth.lacking(0) + math.log(0.5 / 0.95)  # no events are chosen after it
        wealth.record({0: PairBets((), growth(missing + more))})
        assert wealth.refuted is refuted


def test_pairs_that_are_compared_bet_for_growth(monkeypatch):
    plans = []
    monkeypatch.setattr(Portfolio, "record", lambda *_: plans.append(_[4]) or growth(0.0))
    for pairs in (1, 2):
        evidence = rounds.Evidence(ea.pure(1.0), pairs, 0.05)
        draws = {pair: (np.zeros(5), np.ones(5)) for pair in range(pairs)}
        evidence.record(draws, {}, [1] * 5, 100)
    assert [plan is None for plan in plans] == [False, True, True]

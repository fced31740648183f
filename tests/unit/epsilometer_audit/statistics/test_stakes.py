"""Stakes by the draws that are left: valid bets, which reach a goal by the end more often."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from epsilometer_audit.statistics import projection
from epsilometer_audit.statistics.predictors import Prediction
from epsilometer_audit.statistics.stakes import Plan, staked

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


@pytest.mark.parametrize(
    ("factors", "stake", "expected"),
    [
        ([0.5, 1.5], 3.0, [0.02, 1.98]),
        ([0.9, 1.1], 3.0, [0.7, 1.3]),
        ([0.001, 1.999], 3.0, [0.001, 1.999]),  # it loses more already
        ([0.001, 1.999], 0.5, [0.5005, 1.4995]),
    ],
)
def test_no_cell_loses_more_than_98_percent_by_a_larger_stake(factors, stake, expected):
    """On either side; the stakes of both are the same."""
    logs, flat = np.log(factors)[:, None], np.zeros((2, 1))
    for f, g in ((logs, logs), (logs, flat), (flat, logs)):
        sides = staked(f, g, np.array([stake]))
        for side, with_stake in zip((f, g), sides, strict=True):
            exact = expected if side is logs else [1, 1]
            assert np.exp(with_stake[:, 0]) == pytest.approx(exact)


@pytest.mark.parametrize("share", [0.5, 0.6])
def test_known_laws_are_refuted_more_often_and_no_true_claim_more_often(share):
    """A coin for a fair one, 60 draws: by all numbers of heads, in blocks of ten draws."""
    runs, alpha = 20_000, 0.05
    heads = np.random.default_rng(1).binomial(10, share, (runs, 6))
    goal = -math.log(alpha)
    growth = np.full(runs, 0.6 * math.log(1.2) + 0.4 * math.log(0.8))
    won = []
    for planned in (False, True):
        logs, largest = np.zeros((2, runs))
        for i in range(6):
            sizes = Plan(60 - 10 * i, np.array(goal)).stakes(logs, growth) if planned else 1
            logs = logs + heads[:, i] * np.log1p(0.2 * sizes)
            logs = logs + (10 - heads[:, i]) * np.log1p(-0.2 * sizes)
            largest = np.maximum(largest, logs)
        won.append(np.mean(largest >= goal))
    if share == 0.5:  # alpha is a bound for any stakes; 5 standard errors are .008
        assert won[1] <= alpha + 0.008
    else:
        best = binom.sf(binom.isf(alpha, 60, 0.5) - 1, 60, 0.6)  # the most powerful test
        assert won[0] + 0.05 < won[1] < best

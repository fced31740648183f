"""Bets from the first draws on: all kinds of outputs and claims."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

import epsilometer_audit as ea
from epsilometer_audit.statistics.claims import Delta, parts
from epsilometer_audit.statistics.portfolio import Portfolio
from epsilometer_audit.statistics.predictors import Prediction, renyi_factors
from limit.kl_inf.project import project

CLAIMS = [
    ea.pure(0.0),
    ea.pure(1.0),
    ea.approximate(1.0, 1e-5),
    ea.gdp(1.0),
    ea.zcdp(0.5),
    ea.renyi({2: 0.7}),
]


def ids(claim):
    return claim.text()


def words(side, n, rng):
    return rng.choice(
        ["yes", "no", "never"], n, p=[(0.96, 0.02, 0.02), (0.02, 0.96, 0.02)][side]
    ).tolist()


def numbers(side, n, rng):
    return rng.laplace(3 * side, 1, n)


def vectors(side, n, rng):
    return rng.normal([0, 3 * side, 0], 1, (n, 3))


def dictionaries(side, n, rng):
    keys = rng.random(n) < (0.97, 0.03)[side]
    return [{"a": 1.5, "b": 2} if key else {"a": 1.5} for key in keys]


KINDS = [words, numbers, vectors, dictionaries]


def test_implied_claims_are_those_of_gaussian_noise():
    levels = np.array([0.3, 1.0, 3.0])
    for mu, epsilons, deltas in zip(levels, *ea.gdp(1.0).implied(levels), strict=True):
        tail = np.exp(epsilons) * norm.cdf(-mu / 2 - epsilons / mu)
        assert np.allclose(deltas, norm.cdf(mu / 2 - epsilons / mu) - tail)


@pytest.mark.parametrize("order", [1.25, 2.0, 9.0])
@pytest.mark.parametrize("seed", range(20))
def test_bets_against_renyi_claims_are_e_variables(order, seed):
    rng = np.random.default_rng(seed)
    p, q, x, y = rng.dirichlet(np.full(6, 0.5), 4) + 1e-6
    p, q, x, y = (side / side.sum() for side in (p, q, x, y))
    rho = logsumexp(order * np.log(p) + (1 - order) * np.log(q)) / (order - 1)
    back = logsumexp(order * np.log(q) + (1 - order) * np.log(p)) / (order - 1)
    claims = np.array([order]), np.array([max(rho, back)])
    f, g = renyi_factors(Prediction(np.arange(5.0), x, y), *claims)
    assert p @ np.exp(f[:, 0]) + q @ np.exp(g[:, 0]) <= 2 + 1e-9


def test_bets_against_a_renyi_claim_grow_nearly_as_fast_as_any():
    edges = np.linspace(-4, 6, 60)
    p, q = (np.diff(norm.cdf(edges - side), prepend=0, append=1) for side in (0.0, 1.5))
    p, q = ((side + 1e-9) / (side + 1e-9).sum() for side in (p, q))
    f, g = renyi_factors(Prediction(edges, p, q), np.array([2.0]), np.array([1.0]))
    grown = p @ f[:, 0] + q @ g[:, 0]
    assert 0.7 < grown / project(p, q, ea.renyi({2: 1.0})).growth <= 1 + 1e-6


@pytest.mark.parametrize("draw", KINDS, ids=lambda draw: draw.__name__)
@pytest.mark.parametrize("claim", CLAIMS, ids=ids)
def test_wealth_grows_on_all_kinds_of_outputs(claim, draw):
    rng = np.random.default_rng(0)
    portfolio = Portfolio(claim)
    growth = portfolio.record(draw(0, 150, rng), draw(1, 150, rng), [1] * 150)
    at_claim = growth.at(claim, np.array([claim.level]))
    assert at_claim.shape == (150, 1)
    assert at_claim.sum() > math.log(20)
    assert (at_claim[:2] == 0).all()  # nothing is known yet


@pytest.mark.parametrize("draw", KINDS, ids=lambda draw: draw.__name__)
def test_wealth_does_not_depend_on_how_draws_come(draw):
    rng = np.random.default_rng(1)
    x, y = draw(0, 140, rng), draw(1, 140, rng)
    claim = ea.approximate(0.5, 1e-5)
    levels = np.array([0.3, 0.5, 0.6, 0.9])
    whole = Portfolio(claim).record(x, y, [1] * 140).at(claim, levels)
    portfolio = Portfolio(claim)
    pieces = [portfolio.record(x[i : i + 1], y[i : i + 1], [1]) for i in range(140)]
    assert np.allclose(whole, np.concatenate([each.at(claim, levels) for each in pieces]))
    blocks = Portfolio(claim).record(x, y, [2, 2, 4, 8, 16, 32, 64, 12]).at(claim, levels)
    assert np.allclose(whole.sum(axis=0), blocks.sum(axis=0), atol=1e-9)


def test_a_bet_on_a_level_counts_for_lower_levels_and_for_no_higher_one():
    rng, claim = np.random.default_rng(2), ea.approximate(1.0, 1e-3)
    growth = Portfolio(claim).record(rng.normal(0, 1, 60), rng.normal(9, 1, 60), [1] * 60)
    at = growth.at(claim, np.array([0.0, 0.7, 1.0, 1e6])).sum(axis=0)
    assert at[0] == at[1] == at[2] > 0 == at[3]
    deltas = growth.at(Delta(1.0, 1e-3), np.array([0.0, 1e-3, 0.9, 1.0])).sum(axis=0)
    assert deltas[0] == deltas[1] > 0 == deltas[2] == deltas[3]


# The mean of an e-variable is at most 1: a law that just meets the claim, summed exactly over all
# outcomes of the next draws, for portfolios that learned from draws of another law.
@pytest.mark.parametrize(
    ("claim", "one"),  # and the probability of 1 on x, and of 0 on x'
    [
        (ea.pure(1.0), 1 / (1 + math.exp(-1.0))),
        (ea.approximate(0.5, 0.1), 0.1 + 0.9 / (1 + math.exp(-0.5))),
        (ea.gdp(1.0), norm.cdf(0.5)),
        (ea.renyi({2: 0.7}), 0.55),  # its divergences are far below the claim
        (ea.zcdp(0.1), 0.55),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_the_mean_factor_is_at_most_one_where_the_claim_holds(claim, one, seed):
    p, q = (one, 1 - one), (1 - one, one)
    rng = np.random.default_rng(seed)
    past = rng.random(40) < 0.9, rng.random(40) < 0.1  # another law, which violates the claim
    (part,) = parts(claim)
    mean = 0.0
    for i, j in itertools.product((0, 1), repeat=2):
        portfolio = Portfolio(part)
        portfolio.record(*(side.astype(float) for side in past), [40])
        growth = portfolio.record(np.array([float(i)]), np.array([float(j)]), [1])
        factor = math.exp(growth.at(part, np.array([part.level]))[0, 0])
        mean += p[1 - i] * q[1 - j] * factor
    assert mean <= 1 + 1e-9


def answers(side, n, rng):
    """Whole numbers of eight bits, half of which fall from x to x', while the others rise."""
    probabilities = np.where((np.arange(8) < 4) ^ bool(side), 0.55, 0.45)
    return (rng.random((n, 8)) < probabilities) @ (1 << np.arange(8))


def refuted_level(draw, claim, n):
    """The largest of some levels at which a portfolio wins 20 times its wealth."""
    rng = np.random.default_rng(5)
    growth = Portfolio(claim).record(draw(0, n, rng), draw(1, n, rng), [10] * (n // 10))
    levels = np.linspace(0.0, 2.0, 81)
    won = growth.at(claim, levels).sum(axis=0) >= math.log(20)
    return levels[won].max(initial=0.0)


def test_bits_of_whole_numbers_have_a_score():
    # each bit has a level of .2, all together of 1.6; the order of the numbers shows high bits only
    assert refuted_level(answers, ea.pure(0.4), 4000) > 0.7
    assert refuted_level(lambda *of: 3000 + answers(*of), ea.pure(0.4), 4000) < 0.6  # not as bits


def test_a_bound_below_the_claim_has_bets_of_its_own():
    assert refuted_level(answers, ea.pure(1.5), 4000) > 0.6


@pytest.mark.parametrize("claim", [ea.pure(299.9), ea.pure(300.0), ea.gdp(30.0)])
def test_the_largest_claims_are_bet_against(claim):
    def mechanism(x, size, rng):
        return rng.laplace(x, 1, size)

    verdict = ea.audit(mechanism, [(0, 1)], claim, samples=1000, as_reals=True)
    assert verdict.verdict != "violated"

"""Predictions of draws, and bets on them: all kinds of outputs and claims."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import betaln, logsumexp
from scipy.stats import norm

import epsilometer_audit as ea
from epsilometer.claims import Delta
from epsilometer.events.events import View
from epsilometer.events.looks import PastDraws
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.question.claims import approximate, pure
from epsilometer_audit.statistics import portfolio as portfolios
from epsilometer_audit.statistics.portfolio import Portfolio
from epsilometer_audit.statistics.predictors import (
    ATOMS,
    DENSE,
    DISCRETE,
    FLOOR,
    POINTS,
    Mixture,
    Points,
    Prediction,
    families,
    histogram,
    spikes,
    tree,
)
from epsilometer_audit.statistics.projection import factors, renyi_factors
from epsilometer_audit.statistics.witnesses import beyond
from limit.kl_inf.project import project
from tests.unit.audits import single_claims

PREDICTORS = (families, spikes, tree)
CLAIMS = [(0.0, 0.0), (0.01, 1e-5), (1.0, 1e-5), (1.0, 0.05), (3.0, 0.0), (0.1, 0.3)]


def law(rng, k, spread=1.0):
    weights = rng.gamma(spread, size=k) + 1e-9
    return weights / weights.sum()


def prediction(rng, k):
    return Prediction(np.arange(k - 1.0), law(rng, k), law(rng, k))


def bets(rng, k, epsilon, delta):
    return factors_of(prediction(rng, k), epsilon, delta)


def factors_of(guess, epsilon, delta):
    return [np.exp(f[:, 0]) for f in factors(guess, np.array([epsilon]), np.array([delta]))]


def largest_sum(f, g, epsilon, delta):
    """Return the largest E_P'[f] + E_Q'[g] under the claim, by a linear programme."""
    k, e = f.size, math.exp(epsilon)
    one, none = np.eye(k), np.zeros((k, k))
    ones, zeros = np.ones((1, k)), np.zeros((1, k))
    # variables: P', Q', and the excess of either side
    excess = np.block([[one, -e * one, -one, none], [-e * one, one, none, -one]])
    sums = np.block([[zeros, zeros, ones, zeros], [zeros, zeros, zeros, ones]])
    sides = np.block([[ones, zeros, zeros, zeros], [zeros, ones, zeros, zeros]])
    solution = linprog(
        -np.concatenate([f, g, np.zeros(2 * k)]),
        A_ub=np.vstack([excess, sums]),
        b_ub=np.concatenate([np.zeros(2 * k), [delta, delta]]),
        A_eq=sides,
        b_eq=[1.0, 1.0],
        method="highs",
    )
    return -solution.fun


@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_the_largest_sum_of_means_is_two(epsilon, delta):
    rng = np.random.default_rng(1)
    for _ in range(10):
        f, g = bets(rng, 8, epsilon, delta)
        assert largest_sum(f, g, epsilon, delta) == pytest.approx(2, abs=1e-7)


def noises(rng, n):
    yield rng.normal(0, 2, n), rng.normal(0.5, 1, n)
    yield rng.laplace(0, 1e-6, n), rng.laplace(3e-6, 1e-6, n)
    yield rng.integers(0, 3, n), rng.integers(1, 4, n)
    yield np.zeros(n), np.ones(n)
    yield np.zeros(n), np.zeros(n)
    yield rng.standard_cauchy(n) * 1e300, rng.normal(0, 1e-300, n)
    yield np.where(rng.random(n) < 0.1, np.nan, rng.random(n)), rng.random(n)
    yield np.where(rng.random(n) < 0.1, -np.inf, 1.0), np.where(rng.random(n) < 0.2, np.inf, 2.0)


@pytest.mark.parametrize("predictor", [*PREDICTORS, histogram])
@pytest.mark.parametrize("n", [2, 3, 30, 2000])
def test_predictions_are_distributions(predictor, n):
    rng = np.random.default_rng(3)
    for x, y in noises(rng, n):
        guess = predictor(Points().with_draws(x, y))
        if guess is not None:
            assert (guess.edges[1:] >= guess.edges[:-1]).all()
            assert guess.p.size == guess.q.size == guess.edges.size + 1
            for side in (guess.p, guess.q):
                assert side.min() > 0
                assert side.sum() == pytest.approx(1)


@pytest.mark.parametrize("predictor", [families, tree])
def test_predictions_come_near_the_distributions(predictor):
    rng = np.random.default_rng(4)
    guess = predictor(Points().with_draws(rng.normal(0, 2, 4000), rng.normal(0.5, 1, 4000)))
    for side, noise in ((guess.p, norm(0, 2)), (guess.q, norm(0.5, 1))):
        exact = np.diff(noise.cdf(np.concatenate([[-np.inf], guess.edges, [np.inf]])))
        assert np.abs(side - exact).sum() < 0.12


@pytest.mark.parametrize("predictor", [spikes, tree])
def test_values_that_repeat_have_cells_of_their_own(predictor):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=300), rng.normal(size=300)
    x[:30] = 0.25
    guess = predictor(Points().with_draws(x, y))
    cell = np.searchsorted(guess.edges, 0.25)
    assert guess.edges[cell] == 0.25
    assert guess.edges[cell - 1] == np.nextafter(0.25, -1)
    assert guess.p[cell] == pytest.approx(0.1, rel=0.15)
    assert guess.q[cell] < 0.02


def predicted_share(left, right, mean, draws):
    """Return the log likelihood and the posterior mean of a share with a Beta prior."""
    a, b = draws * mean, draws * (1 - mean)
    return betaln(left + a, right + b) - betaln(a, b), (left + a) / (left + right + draws)


def cut_in_two(counts):
    """Return the probabilities of cells on both sides, ``(2, k)``, from their counts, by recursion.

    Each cut is as near to half of the draws as may be. The share on its left is the same on both
    sides, similar or any, with the probabilities .3, .2 and .5 before the draws.
    """
    pooled = counts.sum(axis=0)
    if pooled.size == 1:
        return np.ones((2, 1))
    off = np.abs(np.cumsum(pooled)[:-1] - pooled.sum() / 2)
    cut = off.size - int(np.argmin(off[::-1]))
    left, right = counts[:, :cut].sum(axis=1), counts[:, cut:].sum(axis=1)
    mean = (left.sum() + 0.5) / (pooled.sum() + 1)
    logs = [left.sum() * math.log(mean) + right.sum() * math.log(1 - mean)]
    shares = [np.full(2, mean)]
    for draws in (10.0, 1.0):
        of_sides, posterior = predicted_share(left, right, mean, draws)
        logs.append(of_sides.sum())
        shares.append(posterior)
    weights = np.array([0.3, 0.2, 0.5]) * np.exp(np.array(logs) - max(logs))
    share = (weights @ np.array(shares) / weights.sum())[:, None]
    return np.hstack(
        [share * cut_in_two(counts[:, :cut]), (1 - share) * cut_in_two(counts[:, cut:])]
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_tree_predicts_by_three_hypotheses_at_each_cut(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(0, 1, 90), rng.normal(seed, 2, 90)
    if seed > 1:  # values that repeat
        x, y = x.round(seed - 2), y.round(seed - 2)
    guess = tree(Points().with_draws(x, y))
    size = guess.p.size
    cells = (np.bincount(guess.edges.searchsorted(side), None, size) for side in (x, y))
    assert np.array([guess.p, guess.q]) == pytest.approx(cut_in_two(np.array([*cells])), rel=1e-9)
    assert 8 < size <= 2 * 32 + 1


def test_a_histogram_has_a_dozen_draws_more_in_each_cell_by_what_lies_near():
    """Three, two and one ninths of a cell's draws count as near it; its share is that of x."""
    counts = np.array([[5, 0, 2, 9], [1, 7, 2, 0]])
    x, y = (np.repeat([0.0, 1.0, 2.0, 10.0], row) for row in counts)
    near = np.array([[3, 2, 1, 0], [2, 3, 2, 1], [1, 2, 3, 2], [0, 1, 2, 3]]) / 9
    nearby = counts @ near + 0.01
    expected = counts + 12 * nearby / nearby.sum(axis=0)
    guess = histogram(Points().with_draws(x, y))
    assert guess.p == pytest.approx(expected[0] / expected[0].sum())
    assert guess.q == pytest.approx(expected[1] / expected[1].sum())


MANY = np.random.default_rng(7).normal(size=(2, 100))


@pytest.mark.parametrize(
    ("predictor", "x", "y"),
    [
        (spikes, *MANY),  # no value repeats
        (spikes, np.zeros(7), np.zeros(7)),
        (spikes, np.append(np.zeros(7), math.inf), np.zeros(8)),
        (histogram, np.array([0.0, 1, 1]), MANY[0]),
        (histogram, np.array([0.0, 1, 1]), np.array([1.0, math.inf])),
    ],
)
def test_a_predictor_says_nothing_where_it_does_not_fit(predictor, x, y):
    assert predictor(Points().with_draws(x, y)) is None


def test_a_histogram_has_a_cell_for_each_value_and_few_draws_of_its_neighbours():
    rng = np.random.default_rng(1)
    x, y = rng.choice(6, 4000, p=[0.4, 0.3, 0.2, 0.05, 0.04, 0.01]), rng.integers(6, size=4000)
    found = histogram(Points().with_draws(x, y))
    assert found.edges.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert np.allclose(found.p, np.bincount(x) / 4000, atol=0.005)
    assert np.allclose(found.q, np.bincount(y) / 4000, atol=0.005)
    assert found.p.sum() == pytest.approx(1)
    assert found.q.sum() == pytest.approx(1)
    few = histogram(Points().with_draws(np.array([0.0, 0, 1, 2]), np.array([2.0, 2, 2, 1])))
    assert min(few.p.min(), few.q.min()) > 0.1  # values that a side lacks


def test_a_mixture_that_inherits_has_wealth_one_and_most_of_the_other_weights():
    rng = np.random.default_rng(3)
    old = mixture(shares={families: 0.5, tree: 0.5})
    old.record(rng.choice(3, 300, p=[0.5, 0.5, 0]), rng.choice(3, 300, p=[0, 0.5, 0.5]))
    new = mixture(shares={families: 0.5, tree: 0.5})
    new.inherit(old)
    assert new.wealth == pytest.approx([0.0, 0.0])
    part, other = np.exp(new.logs[:, 0]) / 2, np.exp(old.logs[:, 0] - old.wealth[0]) / 2
    assert part == pytest.approx(0.8 * other + 0.2 * 0.5)


def test_points_keep_draws_and_means():
    rng = np.random.default_rng(7)
    draws = np.concatenate([rng.normal(size=20_000), np.full(3000, 0.5), [np.nan, np.inf]])
    past = Points()
    for _ in range(6):
        past = past.with_draws(draws, 2 * draws)
    finite, both = np.isfinite(past.values), past.weights.sum(axis=0)
    assert past.values.size <= 2 * POINTS
    assert (np.diff(past.values) > 0).all()
    assert past.weights.sum(axis=1).tolist() == [6 * draws.size] * 2
    assert past.weights[:, ~finite].sum() == 24
    assert (past.weights[:, np.isin(past.values, [0.5, 1.0])].max(axis=1) >= 18_000).all()
    mean = np.average(past.values[finite], weights=both[finite])
    assert mean == pytest.approx(1.5 * draws[:-2].mean(), abs=1e-9)


def mixture(epsilon=0.1, delta=1e-5, **more):
    epsilons, deltas = np.array([epsilon, 2.0]), np.array([delta, 0.0])
    return Mixture(2, lambda each: factors(each, epsilons, deltas), **more)


def naive(x, y, epsilon, delta, shares):
    """Return the log wealth after each pair of draws, pair by pair."""
    wealth, logs, guesses, fitted = np.ones(len(shares)), [], [None] * len(shares), 0
    for n in range(len(x)):
        if n >= 2 and n >= fitted + max(fitted // 6, 1):
            fitted = n
            guesses = [each(Points().with_draws(x[:n], y[:n])) for each in PREDICTORS]
        for i, guess in enumerate(guesses):
            if guess is not None:
                f, g = factors_of(guess, epsilon, delta)
                cells = [int(np.sum(guess.edges < side[n])) for side in (x, y)]
                wealth[i] *= f[cells[0]] * g[cells[1]]
        logs.append(math.log(np.average(wealth, weights=shares)))
    return np.array(logs)


@pytest.mark.parametrize("discrete", [False, True])
def test_the_wealth_is_that_of_a_naive_oracle(discrete):
    rng = np.random.default_rng(8)
    x, y = rng.normal(0, 2, 80), rng.normal(0.5, 1, 80)
    if discrete:
        x, y = np.round(x), np.round(y)
    shares = (0.5, 0.3, 0.2)
    whole = mixture(shares=dict(zip(PREDICTORS, shares, strict=True))).record(x, y)
    assert whole[:, 0] == pytest.approx(naive(x, y, 0.1, 1e-5, shares), abs=1e-9)
    assert whole[:, 1] == pytest.approx(naive(x, y, 2.0, 0.0, shares), abs=1e-9)


@pytest.mark.parametrize(("unit", "origin"), [(1e-9, 0.0), (1e9, 0.0), (1.0, 1e6)])
def test_the_wealth_does_not_depend_on_units(unit, origin):
    rng = np.random.default_rng(10)
    x, y = rng.laplace(0, 2, 100), rng.laplace(0.5, 1, 100)
    ends = [
        mixture(shares={families: 1.0}).record(*sides)[-1]
        for sides in ((x, y), (unit * x + origin, unit * y + origin))
    ]
    assert ends[1] == pytest.approx(ends[0], abs=1e-3)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0.01, 0.0), (1.0, 0.0), (3.0, 0.0), (1.0, 1e-3), (1.0, 0.05), (0.1, 0.3)],
)
def test_a_quick_bet_grows_as_fast_as_the_exact_projection(epsilon, delta):
    """They solve the same problem in another way; for a large delta they may fall short."""
    short = 0.05 if delta > 0.01 else 1e-6
    claim = approximate(epsilon, delta) if delta else pure(epsilon)
    for seed in range(20):
        guess = prediction(np.random.default_rng(seed), 12)
        f, g = factors_of(guess, epsilon, delta)
        both = np.array([guess.p, guess.q])
        p, q = (1 - FLOOR / 2) * both + FLOOR / 2 * both[::-1]
        growth = p @ np.log(f) + q @ np.log(g)
        best = project(p, q, claim)
        assert best.growth - short <= growth <= best.kl_inf + 1e-9


# --- bets from the first draws on -----------------------------------------------------------------


def words(side, n, rng):
    law = [(0.96, 0.02, 0.02), (0.02, 0.96, 0.02)][side]
    return rng.choice(["yes", "no", "never"], n, p=law).tolist()


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


@pytest.mark.parametrize(
    ("claim", "draw"),
    [(claim, numbers) for claim in [ea.pure(0.0), *single_claims()]]
    + [(ea.pure(0.5), draw) for draw in KINDS],
)
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
    x, y = draw(0, 60, rng), draw(1, 60, rng)
    claim = ea.approximate(0.5, 1e-5)
    levels = np.array([0.3, 0.5, 0.6, 0.9])
    whole = Portfolio(claim).record(x, y, [1] * 60).at(claim, levels)
    portfolio = Portfolio(claim)
    pieces = [portfolio.record(x[i : i + 1], y[i : i + 1], [1]) for i in range(60)]
    assert np.allclose(whole, np.concatenate([each.at(claim, levels) for each in pieces]))
    blocks = Portfolio(claim).record(x, y, [2, 2, 4, 8, 16, 28]).at(claim, levels)
    assert np.allclose(whole.sum(axis=0), blocks.sum(axis=0), atol=1e-9)


def test_a_bet_on_a_level_counts_for_lower_levels_and_for_no_higher_one():
    rng, claim = np.random.default_rng(2), ea.approximate(1.0, 1e-3)
    growth = Portfolio(claim).record(rng.normal(0, 1, 60), rng.normal(9, 1, 60), [1] * 60)
    at = growth.at(claim, np.array([0.0, 0.7, 1.0, 1e6])).sum(axis=0)
    assert at[0] == at[1] == at[2] > 0 == at[3]
    deltas = growth.at(Delta(1.0, 1e-3), np.array([0.0, 1e-3, 0.9, 1.0])).sum(axis=0)
    assert deltas[0] == deltas[1] > 0 == deltas[2] == deltas[3]


@pytest.mark.parametrize("draw", KINDS, ids=lambda draw: draw.__name__)
@pytest.mark.parametrize("claim", [ea.pure(0.5), ea.approximate(0.5, 1e-5), ea.renyi({2: 0.5})])
def test_the_wealth_that_views_share_is_what_they_have_won(draw, claim):
    """Choosing other views and levels keeps it; a level above all others starts with 1.

    A level between two others has won what the next higher one has.
    """
    rng = np.random.default_rng(4)
    x, y = draw(0, 100, rng), draw(1, 100, rng)
    portfolio = Portfolio(claim)
    won, changed = 0.0, 0
    before = np.zeros(portfolio._levels[claim.quantity].size)
    for i in range(100):
        old = portfolio._levels[claim.quantity]
        growth = portfolio.record(x[i : i + 1], y[i : i + 1], [1])
        before = before + growth.at(claim, old)[0]
        won += growth.at(claim, np.array([claim.level]))[0, 0]
        new = portfolio._levels[claim.quantity]
        changed += new is not old
        after = portfolio._wealth()[: new.size]
        expected = np.append(before, 0.0)[np.searchsorted(old, new)]
        assert after == pytest.approx(expected, abs=1e-9)
        assert after[np.searchsorted(new, claim.level)] == pytest.approx(won, abs=1e-9)
        before = after
    assert won > 1
    assert changed > 0 or claim.orders


def most_exceeding(guess, claim, draws):
    """Of the sets of cells with the largest ratios on a side, the one that exceeds the claim most.

    And whether that is x'.
    """
    best, inside, swapped = -math.inf, None, False
    for turned in (False, True):
        p, q = (guess.q, guess.p) if turned else (guess.p, guess.q)
        for least in np.unique(p / q)[1:]:
            cells = p / q >= least
            sums = (np.array([side[cells].sum()]) for side in (p, q))
            (excess,) = beyond(claim, *sums, draws)
            if excess > best:
                best, inside, swapped = excess, cells, turned
    return inside, swapped


@pytest.mark.parametrize("claim", [*single_claims(), ea.approximate(0.3, 0.1)])
@pytest.mark.parametrize("outputs", ["reals", "whole", "in steps"])
def test_the_event_of_a_bet_has_the_cells_that_exceed_the_claim_most(claim, outputs):
    """To the last number below and above each edge, and where a number is missing."""
    step = 0.5 if outputs == "in steps" else 0.0
    viewed = portfolios._Viewed(View(), 1.0, DISCRETE, step)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        guess = Prediction(np.array([-2.0, 0.0, 0.5, 1.0, 4.0]), law(rng, 6), law(rng, 6))
        sides = [np.append(rng.normal(0, 3, n), [-2, 0, 0.5, 7]) for n in (40, 60)]
        sides[seed % 2][3] = np.nan
        if outputs == "whole":
            sides = [np.arange(-9, 9), np.arange(3)]
        draws = [float(len(side)) for side in sides]
        inside, swapped = most_exceeding(guess, claim, draws)
        event, is_swapped = portfolios._event_of(guess, viewed, sides, claim)
        numbers = np.concatenate([*sides, guess.edges, np.nextafter(guess.edges, 9)])
        if outputs == "whole":
            numbers = np.concatenate(sides)
            assert {type(end) for ends in event.ranges for end in ends} <= {int, type(None)}
        seen = numbers
        if step:
            numbers = numbers[np.abs(numbers / step % 1 - 0.5) > 1e-6]  # ties of rounding
            seen = np.rint(numbers / step)
        expected = inside[np.searchsorted(guess.edges, seen)]
        assert (event.holds(numbers) == expected).all()
        assert is_swapped == swapped


@pytest.mark.parametrize(
    ("numbers", "shares"),
    [
        ([*range(8)] * 2, DISCRETE),
        ([*range(9)] * 2, ATOMS),
        ([0, 1, 2, 3, 4, 5, 5, 5, 5, 5], ATOMS),  # six of ten: more than half
        ([0, 1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 5], DISCRETE),
        ([*range(18)], DENSE),
        ([0, 1], DENSE),
    ],
)
def test_the_predictors_of_numbers_follow_from_how_many_differ(numbers, shares):
    x, y = np.array(numbers[::2], float), np.array(numbers[1::2], float)
    past = PastDraws(x, y, learn_layout(x, y))
    assert portfolios._kinds(View(), past) == [shares]
    assert sum(shares.values()) == pytest.approx(1)


BITS = np.arange(64) % 16


@pytest.mark.parametrize(
    ("x", "y", "bits"),
    [
        (BITS, BITS, 4),
        (BITS, BITS[::-1] % 8, 4),  # on one side only
        (BITS[:63], BITS, 0),  # few
        (BITS.astype(float), BITS, 0),
        (BITS - 1, BITS, 0),  # below 0
        (BITS % 4, BITS % 4, 0),  # two bits
        (BITS % 8, BITS % 8, 3),
        (BITS % 8 + 8, BITS % 8 + 8, 0),  # the highest does not vary
        (np.append(BITS % 8, 8), BITS % 8, 0),  # it is rarely set: in one of 129
        (np.append(BITS % 8, [8, 8]), BITS % 8, 4),  # in a hundredth
    ],
)
def test_whole_numbers_have_bits_where_their_highest_varies(x, y, bits):
    assert portfolios._bits(x, y) == bits


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
    (part,) = claim.parts
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
    assert refuted_level(answers, ea.pure(1.5), 4000) > 0.6  # below the claim: bets of its own


@pytest.mark.parametrize("claim", [ea.pure(299.9), ea.pure(300.0), ea.gdp(30.0)])
def test_the_largest_claims_are_bet_against(claim):
    def mechanism(x, size, rng):
        return rng.laplace(x, 1, size)

    verdict = ea.audit(mechanism, [(0, 1)], claim, samples=1000, as_reals=True)
    assert verdict.verdict != "violated"

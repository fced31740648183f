import math

import numpy as np
import pytest
from scipy.optimize import linprog

from epsilometer_audit.statistics.claims import approximate, pure
from epsilometer_audit.statistics.predictors import (
    FLOOR,
    POINTS,
    Mixture,
    Points,
    Prediction,
    factors,
    families,
    histogram,
    spikes,
    tree,
)
from limit.kl_inf.project import project
from tests.unit.audits import seldom

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
    identity, nothing = np.eye(k), np.zeros((k, k))
    ones, zeros = np.ones((1, k)), np.zeros((1, k))
    # variables: P', Q', and the excess of either side
    excess = np.block(
        [
            [identity, -e * identity, -identity, nothing],
            [-e * identity, identity, nothing, -identity],
        ]
    )
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
        guess = predictor(Points.of(x), Points.of(y))
        if guess is not None:
            assert (guess.edges[1:] >= guess.edges[:-1]).all()
            assert guess.p.size == guess.q.size == guess.edges.size + 1
            for side in (guess.p, guess.q):
                assert side.min() > 0
                assert side.sum() == pytest.approx(1)


@pytest.mark.parametrize("predictor", [families, tree])
def test_predictions_come_near_the_distributions(predictor):
    from scipy.stats import norm

    rng = np.random.default_rng(4)
    guess = predictor(Points.of(rng.normal(0, 2, 4000)), Points.of(rng.normal(0.5, 1, 4000)))
    for side, noise in ((guess.p, norm(0, 2)), (guess.q, norm(0.5, 1))):
        exact = np.diff(noise.cdf(np.concatenate([[-np.inf], guess.edges, [np.inf]])))
        assert np.abs(side - exact).sum() < 0.12


@pytest.mark.parametrize("predictor", [spikes, tree])
def test_values_that_repeat_have_cells_of_their_own(predictor):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=300), rng.normal(size=300)
    x[:30] = 0.25
    guess = predictor(Points.of(x), Points.of(y))
    cell = np.searchsorted(guess.edges, 0.25)
    assert guess.edges[cell] == 0.25
    assert guess.edges[cell - 1] == np.nextafter(0.25, -1)
    assert guess.p[cell] == pytest.approx(0.1, rel=0.15)
    assert guess.q[cell] < 0.02


def test_draws_that_do_not_repeat_are_predicted_by_families_beside_spikes():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=450), rng.normal(1, 1, 450)
    guess, rest = (
        spikes(*(Points.of(np.append(side, [0.25] * 50)) for side in (x, y))),
        families(Points.of(x), Points.of(y)),
    )
    for mixed, alone in ((guess.p, rest.p), (guess.q, rest.q)):
        sums = [np.cumsum(mixed)[:-1][guess.edges == edge] for edge in rest.edges]
        below = 0.1 * (rest.edges >= 0.25)
        assert np.concatenate(sums) == pytest.approx(0.9 * np.cumsum(alone)[:-1] + below, abs=1e-3)


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
    assert predictor(Points.of(x), Points.of(y)) is None


def test_spikes_are_cells_of_one_value():
    guess = spikes(Points.of(np.zeros(8)), Points.of(np.append(np.zeros(7), 1)))
    assert guess.edges.tolist() == [np.nextafter(0, -1), 0]


def test_a_histogram_has_a_cell_for_each_value_and_few_draws_of_its_neighbours():
    rng = np.random.default_rng(1)
    x, y = rng.choice(6, 4000, p=[0.4, 0.3, 0.2, 0.05, 0.04, 0.01]), rng.integers(6, size=4000)
    found = histogram(Points.of(x), Points.of(y))
    assert found.edges.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert np.allclose(found.p, np.bincount(x) / 4000, atol=0.005)
    assert np.allclose(found.q, np.bincount(y) / 4000, atol=0.005)
    assert found.p.sum() == pytest.approx(1)
    assert found.q.sum() == pytest.approx(1)
    few = histogram(Points.of(np.array([0.0, 0, 1, 2])), Points.of(np.array([2.0, 2, 2, 1])))
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
    points = Points.of(draws)
    for _ in range(5):
        points = points.with_draws(draws)
    finite = np.isfinite(points.values)
    assert points.values.size <= 2 * POINTS
    assert (np.diff(points.values) > 0).all()
    assert points.weights.sum() == 6 * draws.size
    assert points.weights[~finite].sum() == 12
    assert points.weights[points.values == 0.5] >= 18_000
    mean = np.average(points.values[finite], weights=points.weights[finite])
    assert mean == pytest.approx(draws[:-2].mean(), abs=1e-9)


def mixture(epsilon=0.1, delta=1e-5, **more):
    epsilons, deltas = np.array([epsilon, 2.0]), np.array([delta, 0.0])
    return Mixture(2, lambda each: factors(each, epsilons, deltas), **more)


def naive(x, y, epsilon, delta, shares):
    """Return the log wealth after each pair of draws, pair by pair."""
    wealth, logs, guesses, fitted = np.ones(len(shares)), [], [None] * len(shares), 0
    for n in range(len(x)):
        if n >= 2 and (fitted < 30 or n >= fitted + fitted // 10):
            fitted = n
            guesses = [each(Points.of(x[:n]), Points.of(y[:n])) for each in PREDICTORS]
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


def test_a_claim_that_holds_is_seldom_refuted():
    def refuted(seed):
        rng = np.random.default_rng(seed)
        wealth = mixture(1.0, 0.0).record(rng.laplace(0, 1, 300), rng.laplace(1, 1, 300))[:, 0]
        return wealth.max() >= math.log(10)

    assert seldom(refuted, 0.1)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0.01, 0.0), (1.0, 0.0), (3.0, 0.0), (1.0, 1e-3), (1.0, 0.05), (0.1, 0.3)],
)
def test_a_quick_bet_grows_as_fast_as_the_exact_projection(epsilon, delta):
    """They solve the same problem in compiled loops; for a large delta they may fall short."""
    short = 0.05 if delta > 0.01 else 1e-6
    claim = approximate(epsilon, delta) if delta else pure(epsilon)
    for seed in range(20):
        guess = prediction(np.random.default_rng(seed), 12)
        f, g = factors_of(guess, epsilon, delta)
        p, q = (1 - FLOOR / 2) * np.array([guess.p, guess.q]) + FLOOR / 2 * np.array(
            [guess.q, guess.p]
        )
        growth = p @ np.log(f) + q @ np.log(g)
        best = project(p, q, claim)
        assert best.growth - short <= growth <= best.kl_inf + 1e-9

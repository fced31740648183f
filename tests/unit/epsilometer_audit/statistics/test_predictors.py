"""Predictions of draws, their mixture, and the bets on predicted cells."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog, minimize_scalar
from scipy.special import betaln, logsumexp
from scipy.stats import laplace, norm

import epsilometer_audit as ea
from epsilometer_audit.question.claims import approximate, pure
from epsilometer_audit.statistics import predictors, projection
from epsilometer_audit.statistics.predictors import (
    ATOMS,
    DENSE,
    DISCRETE,
    FLOOR,
    POINTS,
    SCORES,
    Mixture,
    Points,
    Prediction,
    families,
    histogram,
    spikes,
    tree,
)
from epsilometer_audit.statistics.projection import factors, renyi_factors
from epsilometer_audit.statistics.stakes import Plan, staked
from limit.kl_inf.project import project

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
    guess = predictor(Points().with_draws(rng.normal(0, 2, 10_000), rng.normal(0.5, 1, 10_000)))
    for side, noise in ((guess.p, norm(0, 2)), (guess.q, norm(0.5, 1))):
        exact = np.diff(noise.cdf(np.concatenate([[-np.inf], guess.edges, [np.inf]])))
        assert np.abs(side - exact).sum() < 0.12


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
    assert seed > 1 or 28 <= size <= 32 + 1  # a cell has a 32nd of the draws


@pytest.mark.parametrize("n", [4, 8, 20, 64, 80])
def test_a_cell_of_a_tree_has_two_draws_or_a_32nd_and_a_value_that_comes_twice_its_own(n):
    rng = np.random.default_rng(n)
    x, y = rng.normal(0, 1, (2, n))
    guess = tree(Points().with_draws(x, y))
    assert guess.p.size == min(n, 32)
    between = np.convolve(np.sort([*x, *y]), [0.5, 0.5], "valid")
    assert np.abs(np.subtract.outer(guess.edges, between)).min(axis=1).max() < 1e-12
    x[:2] = 0.01
    own = tree(Points().with_draws(x, y))
    around = np.isin([x[0], np.nextafter(x[0], -9)], own.edges)
    assert around.all() == (n <= 64)  # of more, once it has a 64th


@pytest.mark.parametrize("low", [0.0, 1.0, np.nextafter(1.0, 2)])
def test_a_tree_tells_neighbouring_floats_apart(low):
    """Where half their distance is rounded up, and where down; of two draws, too."""
    high = np.nextafter(low, 2)
    four, two = (np.array([-9, low]), np.array([high, 9])), (np.array([low]), np.array([high]))
    for sides in (four, tuple(side.repeat(2) for side in two)):
        guess = tree(Points().with_draws(*sides))
        assert guess.edges.searchsorted([low, high]).tolist() == [0, 1]
    single = tree(Points().with_draws(*two))  # a cell of two draws
    assert (single.edges.size, single.p.tolist(), single.q.tolist()) == (0, [1.0], [1.0])


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
    assert guess.edges.tolist() == [0.5, 1.5, 6.0]
    for cells in (2, 64):
        assert histogram(Points().with_draws(np.arange(float(cells)), np.zeros(1))).p.size == cells


def log_prior(location, scale, location_prime, scale_prime):
    """Return the log density of a difference of two sides, for which invariance leaves a factor.

    Locations differ with probability .4, scales with .3, both with .2; with .1 hardly anything
    does. Differences are in units of the mean scale, or logs of scales. One that is there has the
    density d^2 / (1 + d^2)^2 of its multiple of 1 or .7, the other 1 / (1 + d^2)^2 of .3.
    """
    unit = math.sqrt(scale * scale_prime)
    off = (location - location_prime) / unit
    wider = math.log(scale / scale_prime)

    def there(d, width):
        return (d / width) ** 2 / (1 + (d / width) ** 2) ** 2 / width

    def little(d):
        return 1 / (1 + (d / 0.3) ** 2) ** 2 / 0.3

    density = (0.4 * little(wider) + 0.2 * there(wider, 0.7)) * there(off, 1)
    density += (0.3 * there(wider, 0.7) + 0.1 * little(wider)) * little(off)
    return math.log(density / unit)


def sums_over_nodes(x, y, edges):
    """Return the distribution functions of both sides, by sums over 25 nodes a side.

    Nodes are whole standard errors from the estimates. The weights are products of the prior, of
    all draws' densities and of the distances of nodes.
    """
    logs, below = [], []
    for noise, width in ((norm, math.sqrt(0.5)), (laplace, 1.0)):
        centres = [side.mean() if noise is norm else np.median(side) for side in (x, y)]
        spreads = []
        for side, centre in zip((x, y), centres, strict=True):
            off = side - centre
            spreads.append(off.std() if noise is norm else np.abs(off).mean())
        pooled = (spreads[0] ** 2 + spreads[1] ** 2) / 2
        nodes = []
        for side, centre, spread in zip((x, y), centres, spreads, strict=True):
            error = 1 / math.sqrt(side.size)
            scale = math.sqrt(spread**2 + pooled / min(x.size, y.size))
            for a, b in itertools.product(range(-2, 3), repeat=2):
                location = centre + a * error * scale
                of_node = scale * math.exp(b * error * width)
                log = noise.logpdf(side, location, of_node).sum()
                log += math.log(error * scale * error * width)
                nodes.append((location, of_node, log))
        for ours, theirs in itertools.product(nodes[:25], nodes[25:]):
            logs.append(ours[2] + theirs[2] + log_prior(*ours[:2], *theirs[:2]))
            below.append([noise.cdf(edges, *ours[:2]), noise.cdf(edges, *theirs[:2])])
    weights = np.exp(np.array(logs) - max(logs))
    return np.tensordot(weights / weights.sum(), np.array(below), 1)


@pytest.mark.parametrize("kind", range(5))
def test_noise_is_predicted_by_the_mean_over_families_and_their_parameters(kind):
    """Nodes of less than a few ten thousandths of the weight are left out."""
    rng = np.random.default_rng(kind)
    x, y = (
        (rng.normal(0, 1, 6), rng.normal(1, 1, 9)),
        (rng.laplace(0, 1, 5), rng.laplace(0, 3, 4)),
        (rng.normal(0, 1, 40), rng.normal(0.2, 1.6, 40)),
        (rng.laplace(5, 1, 25), rng.laplace(5.5, 1, 25)),
        (np.array([0.0, 0.5, 0.5]), np.array([3.0, 3.5, 9.0])),
    )[kind]
    guess = families(Points().with_draws(x, y))
    expected = sums_over_nodes(x, y, guess.edges)
    for side, below in zip((guess.p, guess.q), expected, strict=True):
        assert np.cumsum(side)[:-1] == pytest.approx(below, abs=1e-3)
    centres = [np.median(x), np.median(y)]  # of 16 edges, to six mean absolute deviations away
    spreads = np.array([np.abs(x - centres[0]).mean(), np.abs(y - centres[1]).mean()])
    reach = 6 * np.sqrt(spreads**2 + (spreads**2).mean() / min(x.size, y.size))
    for end in (*(centres - reach), *(centres + reach)):
        assert np.isclose(guess.edges, end, rtol=1e-9).sum() == 1
    assert guess.edges.size == 32


def test_noise_is_predicted_where_one_family_is_out_of_the_question():
    """Laplace noise has a smaller scale: in it, the fourth power of the difference is no number."""
    guess = families(Points().with_draws(np.append(np.zeros(49), 5e-76), np.ones(50)))
    near = slice(np.sum(guess.edges < 0.5))
    assert guess.p[near].sum() > 0.5
    assert guess.q[near].sum() < 1e-9


@pytest.mark.parametrize("others", [(0, 0), (1, 1), (2, 2), (30, 30), (5, 1), (1, 5)])
def test_spikes_have_the_frequencies_of_their_values_and_other_draws_the_noise_between(others):
    """Each has a fifth of a draw more. Sixteen draws are enough."""
    assert spikes(Points().with_draws(np.zeros(8), np.zeros(8))) is not None
    rng = np.random.default_rng(1)
    x = np.concatenate([np.repeat([0.0, 1.0, 1.5], [12, 5, 8]), rng.normal(0.5, 2, others[0])])
    y = np.concatenate([np.repeat([0.0, 1.0, 1.5], [3, 19, 3]), rng.normal(0.5, 2, others[1])])
    guess = spikes(Points().with_draws(x, y))
    wide = families(Points().with_draws(x[25:], y[25:])) if min(others) > 1 else None
    assert (guess.edges.size == 2 * 3) == (wide is None)
    for side, mine, noise in ((x, guess.p, wide and wide.p), (y, guess.q, wide and wide.q)):
        atoms = guess.edges.searchsorted([0.0, 1.0, 1.5])
        assert guess.edges[atoms].tolist() == [0.0, 1.0, 1.5]
        assert (guess.edges[atoms[1:] - 1] == np.nextafter([1.0, 1.5], 0)).all()
        counts = np.array([np.sum(side == value) for value in (0.0, 1.0, 1.5)]) + 0.2
        total = side.size + 4 * 0.2
        assert mine[atoms] == pytest.approx(counts / total)
        if noise is not None:
            cells = wide.edges.searchsorted(np.append(guess.edges, math.inf))
            wider = np.where(np.isin(np.arange(mine.size), atoms), 0.0, mine)
            assert np.bincount(cells, wider) == pytest.approx(noise * (side.size - 24.8) / total)
            parts = [wider[cells == cell] for cell in np.unique(cells)]
            assert all(part[part > 0] == pytest.approx(part.max()) for part in parts)


@pytest.mark.parametrize("shares", [DISCRETE, ATOMS, DENSE, SCORES])
def test_predictors_share_a_wealth_of_one(shares):
    assert sum(shares.values()) == pytest.approx(1)


def test_distributions_are_fitted_anew_as_draws_grow_by_a_sixth_and_later_by_a_half():
    fitted, seen = [], []

    def predictor(past):
        seen.append(past.weights.sum(axis=1).tolist())

    each = mixture(shares={predictor: 1.0})
    n = 2
    while n < 3000:
        fitted.append([n, n])
        n += max(n // 6, 1) if n < 500 else n // 2
    for _ in range(100):
        each.record(np.zeros(1), np.ones(1))
    each.record(np.zeros(2900), np.ones(2900), [1] * 900 + [500] * 4)
    assert seen == fitted
    seen.clear()
    each = mixture(shares={predictor: 1.0})
    each.prime(np.zeros(500), np.ones(500))
    each.record(np.zeros(251), np.ones(251))
    assert seen == [[500, 500], [750, 750]]


@pytest.mark.parametrize("sizes", [[3000, 3000], [6000], [1] * 3000 + [1500, 1500], [4, 5996]])
def test_draws_that_are_sorted_or_learned_part_by_part_win_as_much(monkeypatch, sizes):
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 9, 6000), rng.integers(1, 9, 6000)
    fast = mixture(shares=DISCRETE).record(x.astype(float), y.astype(float), sizes)
    monkeypatch.setattr(predictors, "_MANY_SORTED", 10**9)
    monkeypatch.setattr(predictors, "_FEW_SORTED", 0)
    monkeypatch.setattr(predictors, "PART", 100)
    plain = mixture(shares=DISCRETE).record(x.astype(float), y.astype(float), sizes)
    assert fast == pytest.approx(plain, rel=1e-9)
    assert plain[-1, 0] > 10


def test_predictors_are_ranked_by_their_wealth_against_a_claim():
    rng = np.random.default_rng(5)
    each = mixture(shares={families: 0.3, tree: 0.7})
    assert each.ranked(0) == [(tree, None), (families, None)]
    each.record(rng.normal(0, 1, 300), rng.normal(1, 1, 300))
    for claim in range(2):
        wealth = each.logs[:, claim] + np.log([0.3, 0.7])
        expected = [(families, tree)[i] for i in np.argsort(-wealth)]
        assert [predictor for predictor, _ in each.ranked(claim)] == expected
    assert [guess.p.size for _, guess in each.ranked(0)].count(33) == 1
    each.logs[:, 0] = [0.0, -0.8]  # .3 against .31, and .3 against .35
    each.logs[:, 1] = [0.0, -0.7]
    assert [each.ranked(claim)[0][0] for claim in (0, 1)] == [tree, tree]
    each.logs[:, 0] = [0.0, -0.9]
    assert each.ranked(0)[0][0] is families


MANY = np.random.default_rng(7).normal(size=(2, 100))


@pytest.mark.parametrize(
    ("predictor", "x", "y"),
    [
        (spikes, *MANY),  # no value repeats
        (spikes, np.zeros(7), np.zeros(7)),
        (spikes, np.append(np.zeros(7), math.inf), np.zeros(8)),
        (histogram, np.array([0.0, 1, 1]), MANY[0]),
        (tree, np.zeros(9), np.zeros(9)),
        (histogram, np.array([0.0, 1, 1]), np.array([1.0, math.inf])),
        (histogram, np.array([0.0, 1, 1]), np.array([1.0, -math.inf])),
        (histogram, np.zeros(9), np.zeros(9)),
        (histogram, np.arange(65.0), np.zeros(1)),
    ],
)
def test_a_predictor_says_nothing_where_it_does_not_fit(predictor, x, y):
    assert predictor(Points().with_draws(x, y)) is None


def test_a_mixture_that_inherits_has_wealth_one_and_most_of_the_other_weights():
    rng = np.random.default_rng(3)
    old = mixture(shares={families: 0.5, tree: 0.5})
    old.record(rng.choice(3, 300, p=[0.5, 0.5, 0]), rng.choice(3, 300, p=[0, 0.5, 0.5]))
    new = mixture(shares={families: 0.5, tree: 0.5})
    new.inherit(old)
    assert new.wealth == pytest.approx([0.0, 0.0])
    part, other = np.exp(new.logs[:, 0]) / 2, np.exp(old.logs[:, 0] - old.wealth[0]) / 2
    assert part == pytest.approx(0.8 * other + 0.2 * 0.5)


def test_other_claims_take_the_wealth_of_those_that_they_stand_for():
    rng = np.random.default_rng(3)
    x, y = rng.normal(0, 1, 50), rng.normal(1, 1, 50)
    new, old = mixture(), mixture()
    for each in (new, old):
        each.record(x[:30], y[:30])
    start = old.logs
    claims = np.array([[2.0, 0.1, 0.1], [0.0, 1e-5, 1e-5]])
    new.change_claims(np.array([1, -1, 0]), lambda guess: factors(guess, *claims))
    assert new.logs == pytest.approx(np.column_stack([start[:, 1], np.zeros(2), start[:, 0]]))
    taken = new.logs
    new.record(x[30:], y[30:])
    old.record(x[30:], y[30:])
    assert new.logs - taken == pytest.approx((old.logs - start)[:, [1, 0, 0]])


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


def test_of_many_different_draws_half_as_many_points_are_kept_as_may_be():
    """Each is of as many draws, but for those between which lies a value that is many itself."""
    rng = np.random.default_rng(7)
    past = Points().with_draws(*rng.normal(size=(2, 10 * POINTS)))
    assert POINTS / 2 - 9 <= past.values.size <= POINTS / 2 + 9
    assert past.weights.sum(axis=0).max() <= 41  # 40 in the mean
    as_many = Points().with_draws(*rng.normal(size=(2, POINTS // 2)))
    assert (as_many.weights.sum(axis=0) == 1).all()
    assert not np.signbit(Points().with_draws(-np.zeros(1), -np.zeros(1)).values).any()
    often = np.append(np.repeat(np.arange(900.0), 10), np.arange(900) + 0.5)
    assert Points().with_draws(often, often).values.size <= POINTS


def mixture(epsilon=0.1, delta=1e-5, **more):
    epsilons, deltas = np.array([epsilon, 2.0]), np.array([delta, 0.0])
    return Mixture(2, lambda each: factors(each, epsilons, deltas), **more)


def naive(x, y, epsilon, delta, shares, goal=None):
    """Return the log wealth after each pair of draws, pair by pair; with stakes for a goal."""
    wealth, logs, guesses, fitted = np.ones(len(shares)), [], [None] * len(shares), 0
    for n in range(len(x)):
        if n >= 2 and n >= fitted + max(fitted // 6, 1):
            fitted = n
            guesses = [each(Points().with_draws(x[:n], y[:n])) for each in PREDICTORS]
        if fitted == n:
            wealth_then, left = np.log([np.average(wealth, weights=shares)]), len(x) - n
        for i, guess in enumerate(guesses):
            if guess is not None:
                f, g = factors_of(guess, epsilon, delta)
                if goal is not None:  # as of the last prediction
                    ln_f, ln_g = np.log(f)[:, None], np.log(g)[:, None]
                    growth = guess.p @ ln_f + guess.q @ ln_g
                    stakes = Plan(left, np.array([goal])).stakes(wealth_then, growth)
                    f, g = (np.exp(side[:, 0]) for side in staked(ln_f, ln_g, stakes))
                cells = [int(np.sum(guess.edges < side[n])) for side in (x, y)]
                wealth[i] *= f[cells[0]] * g[cells[1]]
        logs.append(math.log(np.average(wealth, weights=shares)))
    return np.array(logs)


@pytest.mark.parametrize("discrete", [False, True])
def test_the_wealth_is_that_of_a_naive_oracle(discrete):
    rng = np.random.default_rng(8)
    x, y = rng.normal(0, 2, 80), rng.normal(0.5, 1, 80)
    plan, goal = None, None
    if discrete:  # and with a planned end
        x, y = np.round(x), np.round(y)
        goal = 3.0
        plan = Plan(80, np.full(2, goal))
    shares = (0.5, 0.3, 0.2)
    whole = mixture(shares=dict(zip(PREDICTORS, shares, strict=True))).record(x, y, plan=plan)
    assert whole[:, 0] == pytest.approx(naive(x, y, 0.1, 1e-5, shares, goal), abs=1e-7)
    assert whole[:, 1] == pytest.approx(naive(x, y, 2.0, 0.0, shares, goal), abs=1e-7)


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
    """They solve the same problem in another way; for a large delta they may fall short.

    Other claims, which are bet against together with this one, change nothing.
    """
    short = 0.05 if delta > 0.01 else 1e-3
    claim = approximate(epsilon, delta) if delta else pure(epsilon)
    for seed in range(20):
        rng, spread = np.random.default_rng(seed), (1.0, 0.05)[seed % 2]  # few cells have most
        guess = Prediction(np.arange(11.0), law(rng, 12, spread), law(rng, 12, spread))
        claims = np.array([[0.0, epsilon, 5.0], [0.0, delta, 1e-3]])
        f, g = (np.exp(logs[:, 1]) for logs in factors(guess, *claims))
        both = np.array([guess.p, guess.q])
        p, q = (1 - FLOOR / 2) * both + FLOOR / 2 * both[::-1]
        growth = p @ np.log(f) + q @ np.log(g)
        best = project(p, q, claim)
        assert best.growth - short <= growth <= best.kl_inf + 1e-9


def growth_of(p, q, e, delta, a, most, most_prime):
    """Return the growth of the bet with f = a in the middle and these largest f and g."""
    values = (np.array([value]) for value in (e, a, most, most_prime))
    f, g = projection._Bets(*values).of((p / (p + q))[:, None], (q / (p + q))[:, None])
    total = (1 - delta) * (np.max(e * f + g) + np.max(f + e * g)) / (1 + e)
    total += delta * (f.max() + g.max())
    return (p @ np.log(f) + q @ np.log(g)).item() - 2 * math.log(total / 2)


@pytest.mark.parametrize(("epsilon", "delta"), [*CLAIMS, (0.5, 0.01), (2.0, 0.02)])
def test_a_quick_bet_grows_no_faster_with_another_middle_or_another_largest_factor(epsilon, delta):
    """Each in turn, within its range: f and g are at most what is proportional to p and q."""
    e = math.exp(epsilon)
    slack = 1e-3 if delta > 0.1 else 1e-4
    for seed in range(10):
        rng = np.random.default_rng(seed)
        p, q = law(rng, 12), law(rng, 12)
        found = projection._best_bets(p, q, np.array([e]), np.array([delta]))
        a, most, most_prime = (
            each.item() for each in (found.a, found.largest, found.largest_prime)
        )
        reached = growth_of(p, q, e, delta, a, most, most_prime)
        for step in (-0.05, -0.02, 0.02, 0.05):
            near = np.clip(a + step, max(2 - most_prime, 1e-9), min(most, 2 - 1e-9))
            assert growth_of(p, q, e, delta, near, most, most_prime) <= reached + slack
            if delta > 1e-4:
                near = np.clip(most + step, a, a + (2 - a) / e)
                assert growth_of(p, q, e, delta, a, near, most_prime) <= reached + slack
                near = np.clip(most_prime + step, 2 - a, 2 - a + a / e)
                assert growth_of(p, q, e, delta, a, most, near) <= reached + slack


def test_implied_claims_are_those_of_gaussian_noise():
    levels = np.array([0.3, 1.0, 3.0])
    for mu, epsilons, deltas in zip(levels, *ea.gdp(1.0).implied(levels), strict=True):
        tail = np.exp(epsilons) * norm.cdf(-mu / 2 - epsilons / mu)
        assert np.allclose(deltas, norm.cdf(mu / 2 - epsilons / mu) - tail)


@pytest.mark.parametrize("order", [1.25, 2.0, 9.0, 500.0])
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


@pytest.mark.parametrize("order", [1.25, 2.0, 9.0])
def test_a_bet_against_a_renyi_claim_wins_nothing_of_the_farthest_law_and_loses_of_others(order):
    """Of all P' with D_a(P' || Q) <= rho, that in proportion to r Q has the largest mean of phi."""
    rng = np.random.default_rng(1)
    q, ratios, others = law(rng, 6), rng.uniform(0.2, 4, 6), [law(rng, 6) for _ in range(20)]
    p = ratios * q / (ratios @ q)
    rhos = []
    for side in [p, *others]:
        rhos.append(logsumexp(order * np.log(side) + (1 - order) * np.log(q)) / (order - 1))
    orders = np.full(21, order)
    up, down = projection._renyi_bet(q, np.log(ratios)[None, None], orders, np.array(rhos))
    assert p @ up[0, 0] - q @ down[0, 0] == pytest.approx(0, abs=1e-9)
    assert np.abs(up[0, 0]).max() > 0.05
    for side, ours, theirs in zip(others, up[0, 1:], down[0, 1:], strict=True):
        assert side @ ours <= q @ theirs + 1e-9


def test_of_the_clips_of_a_renyi_bet_the_best_is_taken_and_none_where_none_grows(monkeypatch):
    rng = np.random.default_rng(2)
    claims = np.array([2.0, 1.25, 1.05, 1.02, 2.0]), np.array([0.05, 0.2, 0.3, 1.0, 50.0])
    chosen = set()
    for spread in (0.1, 0.2, 1.0) * 12:
        guess = Prediction(np.arange(7.0), law(rng, 8, spread), law(rng, 8, spread), 0.0)
        of_all = renyi_factors(guess, *claims)
        growth = []
        for clip in (0.5, 1.0, 2.0, 4.0):
            with monkeypatch.context() as patch:
                patch.setattr(projection, "_CLIPS", np.array([clip]))
                f, g = renyi_factors(guess, *claims)
            growth.append(guess.p @ f + guess.q @ g)
        best = np.max(growth, axis=0)
        assert guess.p @ of_all[0] + guess.q @ of_all[1] == pytest.approx(best, abs=1e-9)
        assert best.min() >= 0
        chosen |= {*np.argmax(growth, axis=0)[best > 0].tolist()}
    assert chosen == {0, 1, 2, 3}


def test_a_root_is_on_the_line_between_the_last_slope_above_0_and_the_first_below():
    points = np.linspace(0, 5, 6)[:, None] ** 2 + np.arange(6)
    slopes = np.array(
        [
            [9, 6, 3, -1, -2, -9],  # between the points 4 and 9
            [5, 2, 0, 0, 0, -4],  # nothing changes from 4 to 16
            [-1, -2, -3, -4, -5, -6],
            [6, 5, 4, 3, 2, 1],
            [0, 0, 0, 0, 0, 0],
            [5, 4, 3, 2, 1, -3],
        ]
    ).T
    expected = [4 + 5 * 3 / 4, 1 + 24 * 2 / 6, 0, 25, 25 / 2, 16 + 9 * 1 / 4]
    assert projection._root(points, slopes) == pytest.approx(np.array(expected) + np.arange(6))


@pytest.mark.parametrize("seed", range(5))
def test_a_stake_is_that_of_the_largest_growth(seed):
    """To a sixtieth of the largest that leaves a fiftieth of each factor."""
    rng = np.random.default_rng(seed)
    p, q = law(rng, 4), law(rng, 4)
    f, g = rng.uniform(0.5, 1.5, (2, 1, 1, 4))
    up, down = (p - q) / q, (p - q) / p * rng.uniform(0.2, 1)
    if seed == 4:
        up, down = -up, -down  # nothing grows
    lost = np.concatenate([-up / f[0, 0], down / g[0, 0]])
    most = 0.98 / lost.max()

    def shrinks(stake):
        return -(p @ np.log(f[0, 0] + stake * up) + q @ np.log(g[0, 0] - stake * down))

    exact = minimize_scalar(shrinks, bounds=(0, most), method="bounded", options={"xatol": 1e-9}).x
    found = projection._best_stake(p, q, f, g, up[None, None], down[None, None])
    assert found.shape == (1, 1, 1)
    assert found.item() == pytest.approx(exact, abs=most / 60)
    assert seed < 4 or found.item() == 0
    nothing = np.zeros((1, 1, 4))
    gains = projection._best_stake(p, q, f, g, np.ones((1, 1, 4)), nothing)
    assert gains.item() > 9e299  # of which no cell loses


@pytest.mark.parametrize("factors_of", ["delta", "Rényi"])
def test_bets_on_cells_that_one_side_lacks_are_finite(factors_of):
    """Predictions may leave a cell without any probability, and no part of the other's."""
    guess = Prediction(np.arange(3.0), np.array([0.5, 0.5, 0, 0]), np.array([0, 0.3, 0.7, 0]), 0.0)
    arguments = np.array([1.0]), np.array([1e-5])
    bets = factors(guess, *arguments)
    if factors_of == "Rényi":
        bets = renyi_factors(guess, np.array([2.0]), np.array([0.5]))
    assert np.isfinite(bets).all()
    assert guess.p @ bets[0] + guess.q @ bets[1] > 0.1


def test_bets_against_a_renyi_claim_grow_nearly_as_fast_as_any():
    edges = np.linspace(-4, 6, 60)
    p, q = (np.diff(norm.cdf(edges - side), prepend=0, append=1) for side in (0.0, 1.5))
    p, q = ((side + 1e-9) / (side + 1e-9).sum() for side in (p, q))
    f, g = renyi_factors(Prediction(edges, p, q), np.array([2.0]), np.array([1.0]))
    grown = p @ f[:, 0] + q @ g[:, 0]
    assert 0.7 < grown / project(p, q, ea.renyi({2: 1.0})).growth <= 1 + 1e-6

"""Predictions of draws, their mixture, and the bets on predicted cells."""

import math

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import laplace, norm

from epsilometer_audit.statistics import predictors
from epsilometer_audit.statistics.predictors import (
    ATOMS,
    DENSE,
    DISCRETE,
    POINTS,
    SCORES,
    Mixture,
    Points,
    families,
    histogram,
    spikes,
    tree,
)
from epsilometer_audit.statistics.projection import factors
from epsilometer_audit.statistics.stakes import Plan, staked

PREDICTORS = (families, spikes, tree)


def noises(rng, n):
    yield rng.normal(0, 2, n), rng.normal(0.5, 1, n)
    yield rng.integers(0, 3, n), rng.integers(1, 4, n)
    yield np.zeros(n), np.ones(n)
    yield np.zeros(n), np.zeros(n)
    yield rng.standard_cauchy(n) * 1e300, rng.normal(0, 1e-300, n)
    yield np.where(rng.random(n) < 0.1, np.nan, rng.random(n)), rng.random(n)
    yield np.where(rng.random(n) < 0.1, -np.inf, 1.0), np.where(rng.random(n) < 0.2, np.inf, 2.0)


@pytest.mark.parametrize("predictor", [*PREDICTORS, histogram])
@pytest.mark.parametrize("n", [2, 3, 30, 2000])
def test_predictions_are_distributions(predictor, n):
    for x, y in noises(np.random.default_rng(3), n):
        guess = predictor(Points().with_draws(x, y))
        if guess is not None:
            assert (guess.edges[1:] >= guess.edges[:-1]).all()
            assert guess.p.size == guess.q.size == guess.edges.size + 1
            assert min(guess.p.min(), guess.q.min()) > 0
            assert (guess.p.sum(), guess.q.sum()) == pytest.approx((1, 1))


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


@pytest.mark.parametrize("n", [4, 20, 64, 80])
def test_a_cell_of_a_tree_has_two_draws_or_a_32nd_and_a_value_that_comes_twice_its_own(n):
    rng = np.random.default_rng(n)
    x, y = rng.normal(0, 1, (2, n))
    guess = tree(Points().with_draws(x, y))
    assert guess.p.size == min(n, 32)
    pooled = np.sort([*x, *y])
    between = (pooled[1:] + pooled[:-1]) / 2
    assert np.abs(np.subtract.outer(guess.edges, between)).min(axis=1).max() < 1e-12
    x[:2] = 0.01
    own = tree(Points().with_draws(x, y))
    around = np.isin([x[0], np.nextafter(x[0], -9)], own.edges)
    assert around.all() == (n <= 64)  # of more, once it has a 64th


@pytest.mark.parametrize("low", [0.0, 1.0, np.nextafter(1.0, 2)])
@pytest.mark.parametrize("times", [1, 2])
def test_a_tree_tells_neighbouring_floats_apart(low, times):
    """Where half their distance is rounded up, and where down; also values that repeat."""
    high = np.nextafter(low, 2)
    x, y = np.repeat([-9, low], times), np.repeat([high, 9], times)
    guess = tree(Points().with_draws(x, y))
    assert guess.edges.searchsorted(high) == guess.edges.searchsorted(low) + 1


def test_two_draws_are_of_one_cell_of_a_tree():
    guess = tree(Points().with_draws(np.zeros(1), np.ones(1)))
    assert (guess.edges.size, guess.p.tolist(), guess.q.tolist()) == (0, [1.0], [1.0])


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
    unit = np.sqrt(scale * scale_prime)
    off = (location - location_prime) / unit
    wider = np.log(scale / scale_prime)

    def there(d, width):
        return (d / width) ** 2 / (1 + (d / width) ** 2) ** 2 / width

    def little(d):
        return 1 / (1 + (d / 0.3) ** 2) ** 2 / 0.3

    density = (0.4 * little(wider) + 0.2 * there(wider, 0.7)) * there(off, 1)
    density += (0.3 * there(wider, 0.7) + 0.1 * little(wider)) * little(off)
    return np.log(density / unit)


def fitted(noise, side):
    """Return the most likely location and scale."""
    if noise is norm:
        return side.mean(), side.std()
    return np.median(side), np.abs(side - np.median(side)).mean()


def sums_over_nodes(x, y, edges):
    """Return the distribution functions of both sides, by sums over 25 nodes a side.

    Nodes are whole standard errors from the estimates. The weights are products of the prior, of
    all draws' densities and of the distances of nodes.
    """
    logs, below = [], []
    a, b = np.mgrid[-2:3, -2:3].reshape(2, 25)
    for noise, width in ((norm, math.sqrt(0.5)), (laplace, 1.0)):
        fits = [fitted(noise, side) for side in (x, y)]
        pooled = (fits[0][1] ** 2 + fits[1][1] ** 2) / 2
        nodes = []
        for side, (centre, spread) in zip((x, y), fits, strict=True):
            error = 1 / math.sqrt(side.size)
            scale = math.sqrt(spread**2 + pooled / min(x.size, y.size))
            node = centre + a * error * scale, scale * np.exp(b * error * width)
            log = noise.logpdf(side[:, None], *node).sum(axis=0)
            nodes.append((*node, log + math.log(error * scale * error * width)))
        (location, scale, log), (location_prime, scale_prime, log_prime) = nodes
        prior = log_prior(location[:, None], scale[:, None], location_prime, scale_prime)
        logs.append(prior + log[:, None] + log_prime)
        for node in nodes:
            below.append(noise.cdf(edges[:, None], *node[:2]))
    weights = np.exp(np.array(logs) - np.max(logs))
    weights /= weights.sum()
    gaussian, gaussian_prime, of_laplace, of_laplace_prime = below
    of_x, of_prime = weights.sum(axis=2), weights.sum(axis=1)
    return (
        gaussian @ of_x[0] + of_laplace @ of_x[1],
        gaussian_prime @ of_prime[0] + of_laplace_prime @ of_prime[1],
    )


@pytest.mark.parametrize("kind", range(3))
def test_noise_is_predicted_by_the_mean_over_families_and_their_parameters(kind):
    """Nodes of less than a few ten thousandths of the weight are left out."""
    rng = np.random.default_rng(kind)
    x, y = (
        (rng.laplace(0, 1, 5), rng.laplace(0, 3, 4)),
        (rng.normal(0, 1, 40), rng.normal(0.2, 1.6, 40)),
        (np.array([0.0, 0.5, 0.5]), np.array([3.0, 3.5, 9.0])),
    )[kind]
    guess = families(Points().with_draws(x, y))
    below_x, below_prime = sums_over_nodes(x, y, guess.edges)
    assert np.cumsum(guess.p)[:-1] == pytest.approx(below_x, abs=1e-3)
    assert np.cumsum(guess.q)[:-1] == pytest.approx(below_prime, abs=1e-3)


def test_cells_of_noise_reach_to_six_mean_absolute_deviations():
    """From the median, by 16 edges a side; the spread has the error of few draws."""
    x, y = np.array([0.0, 0.5, 0.5]), np.array([9.0, 9.5, 9.5])
    edges = families(Points().with_draws(x, y)).edges
    reach = 6 * math.sqrt(1 + 1 / 3) / 6
    assert edges.size == 32
    ends = edges[[0, 15, 16, 31]]
    assert ends == pytest.approx([0.5 - reach, 0.5 + reach, 9.5 - reach, 9.5 + reach])


def test_noise_is_predicted_where_one_family_is_out_of_the_question():
    """Laplace noise has a smaller scale: in it, the fourth power of the difference is no number."""
    guess = families(Points().with_draws(np.append(np.zeros(49), 5e-76), np.ones(50)))
    near = slice(np.sum(guess.edges < 0.5))
    assert guess.p[near].sum() > 0.5
    assert guess.q[near].min() > 0
    assert guess.q[near].sum() < 1e-9


def spikes_of(others):
    """Return draws of three values that repeat and of noise, and what is predicted of them."""
    rng = np.random.default_rng(1)
    x = np.concatenate([np.repeat([0.0, 1.0, 1.5], [12, 5, 8]), rng.normal(0.5, 2, others[0])])
    y = np.concatenate([np.repeat([0.0, 1.0, 1.5], [3, 19, 3]), rng.normal(0.5, 2, others[1])])
    return x, y, spikes(Points().with_draws(x, y))


@pytest.mark.parametrize("others", [(0, 0), (1, 5), (2, 2), (30, 30)])
def test_spikes_have_the_frequencies_of_their_values(others):
    """Each value, and all noise together, has a fifth of a draw more."""
    x, y, guess = spikes_of(others)
    atoms = guess.edges.searchsorted([0.0, 1.0, 1.5])
    assert guess.edges[atoms].tolist() == [0.0, 1.0, 1.5]
    assert (guess.edges[atoms[1:] - 1] == np.nextafter([1.0, 1.5], 0)).all()
    assert guess.p[atoms] == pytest.approx(np.array([12.2, 5.2, 8.2]) / (x.size + 0.8))
    assert guess.q[atoms] == pytest.approx(np.array([3.2, 19.2, 3.2]) / (y.size + 0.8))
    assert (guess.edges.size == 6) == (min(others) < 2)  # too few for noise


@pytest.mark.parametrize("others", [2, 30])
def test_beside_spikes_other_draws_have_the_noise_between(others):
    """A cell of noise that spikes cut has the same probability in each of its parts."""
    x, y, guess = spikes_of((others, others))
    noise = families(Points().with_draws(x[25:], y[25:]))
    is_atom = np.isin(np.append(guess.edges, math.inf), [0.0, 1.0, 1.5])
    cells = noise.edges.searchsorted(np.append(guess.edges, math.inf))
    for found, expected in ((guess.p, noise.p), (guess.q, noise.q)):
        parts = np.bincount(cells, ~is_atom)
        share = (others + 0.2) / (others + 25.8)
        even = (expected / parts)[cells] * share
        assert found[~is_atom] == pytest.approx(even[~is_atom])


def test_sixteen_draws_of_values_that_repeat_are_enough():
    assert spikes(Points().with_draws(np.zeros(8), np.zeros(8))) is not None


@pytest.mark.parametrize(("n", "is_one"), [(8, True), (64, True), (65, False)])
def test_a_value_that_comes_twice_and_is_a_64th_of_all_draws_is_a_spike(n, is_one):
    x, y = np.zeros((2, n))
    x[0] = y[0] = 7.0
    assert (7.0 in spikes(Points().with_draws(x, y)).edges) == is_one


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
    each = mixture(shares={families: 0.3, tree: 0.7})
    assert each.ranked(0) == [(tree, None), (families, None)]
    each.prime(np.arange(9.0), np.arange(9.0))
    each.logs[:, 0] = [0.0, -0.8]  # .3 against .31
    each.logs[:, 1] = [0.0, -0.9]  # .3 against .28
    assert [predictor for predictor, _ in each.ranked(0)] == [tree, families]
    assert [predictor for predictor, _ in each.ranked(1)] == [families, tree]
    assert dict(each.ranked(0))[families].p.size == 33


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
    x, y = np.random.default_rng(3).normal([[0], [1]], 1, (2, 50))
    new, old = mixture(), mixture()
    for each in (new, old):
        each.record(x[:30], y[:30])
    start = old.logs
    new.change_claims(np.array([1, -1, 0]), lambda guess: factors(guess, *CLAIMS[:, [1, 0, 0]]))
    taken = new.logs
    assert taken == pytest.approx(np.column_stack([start[:, 1], np.zeros(2), start[:, 0]]))
    for each in (new, old):
        each.record(x[30:], y[30:])
    assert new.logs - taken == pytest.approx((old.logs - start)[:, [1, 0, 0]])


def test_points_keep_draws_and_means():
    rng = np.random.default_rng(7)
    draws = np.concatenate([rng.normal(size=20_000), np.full(3000, 0.5), [np.nan, np.inf]])
    past = Points()
    for _ in range(6):
        past = past.with_draws(draws, 2 * draws)
    both = past.weights.sum(axis=0)
    assert past.values.size <= 2 * POINTS
    assert (np.diff(past.values) > 0).all()
    assert past.weights.sum(axis=1).tolist() == [6 * draws.size] * 2
    assert both[-1] == 24  # infinite
    assert (both[np.isin(past.values, [0.5, 1.0])] >= 18_000).all()
    mean = np.average(past.values[:-1], weights=both[:-1])
    assert mean == pytest.approx(1.5 * draws[:-2].mean(), abs=1e-9)


def test_of_many_different_draws_half_as_many_points_are_kept_as_may_be():
    """Each is of as many draws, but for those between which lies a value that is many itself."""
    rng = np.random.default_rng(7)
    past = Points().with_draws(*rng.normal(size=(2, 10 * POINTS)))
    assert POINTS / 2 - 9 <= past.values.size <= POINTS / 2 + 9
    assert past.weights.sum(axis=0).max() <= 41  # 40 in the mean
    as_many = Points().with_draws(*rng.normal(size=(2, POINTS // 2)))
    assert (as_many.weights.sum(axis=0) == 1).all()
    often = np.append(np.repeat(np.arange(900.0), 10), np.arange(900) + 0.5)
    assert Points().with_draws(often, often).values.size <= POINTS


def test_the_number_0_has_no_sign():
    assert not np.signbit(Points().with_draws(-np.zeros(1), -np.zeros(1)).values).any()


CLAIMS = np.array([[0.1, 2.0], [1e-5, 0.0]])  # epsilons and deltas


def mixture(**options):
    return Mixture(2, lambda each: factors(each, *CLAIMS), **options)


def naive(x, y, shares, plan):
    """Return the log wealth after each pair of draws, pair by pair; with the stakes of a plan."""
    wealth, logs, bets, fitted = np.ones((3, 2)), [], [], 0
    for n in range(len(x)):
        if n >= 2 and n >= fitted + max(fitted // 6, 1):
            fitted, bets = n, []
            for i, predictor in enumerate(PREDICTORS):
                guess = predictor(Points().with_draws(x[:n], y[:n]))
                if guess is None:
                    continue
                f, g = factors(guess, *CLAIMS)
                if plan is not None:
                    growth = guess.p @ f + guess.q @ g
                    f, g = staked(f, g, plan.after(n).stakes(np.log(shares @ wealth), growth))
                bets.append((i, guess.edges, f, g))
        for i, edges, f, g in bets:
            wealth[i] *= np.exp(f[np.sum(edges < x[n])] + g[np.sum(edges < y[n])])
        logs.append(np.log(shares @ wealth))
    return np.array(logs)


@pytest.mark.parametrize("discrete", [False, True])
def test_the_wealth_is_that_of_a_naive_oracle(discrete):
    rng = np.random.default_rng(8)
    x, y, plan = rng.normal(0, 2, 80), rng.normal(0.5, 1, 80), None
    if discrete:  # and with a planned end
        x, y = np.round(x), np.round(y)
        plan = Plan(80, np.full(2, 3.0))
    shares = np.array([0.5, 0.3, 0.2])
    whole = mixture(shares=dict(zip(PREDICTORS, shares, strict=True))).record(x, y, plan=plan)
    assert whole == pytest.approx(naive(x, y, shares, plan), abs=1e-7)


@pytest.mark.parametrize(("unit", "origin"), [(1e-9, 0.0), (1e9, 0.0), (1.0, 1e6)])
def test_the_wealth_does_not_depend_on_units(unit, origin):
    rng = np.random.default_rng(10)
    x, y = rng.laplace(0, 2, 100), rng.laplace(0.5, 1, 100)
    ends = [
        mixture(shares={families: 1.0}).record(*sides)[-1]
        for sides in ((x, y), (unit * x + origin, unit * y + origin))
    ]
    assert ends[1] == pytest.approx(ends[0], abs=1e-3)

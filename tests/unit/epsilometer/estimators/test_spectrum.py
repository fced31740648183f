"""The privacy spectrum: against exact curves, by hand, its intervals and its bands."""

import math

import numpy as np
import pytest
from scipy import stats

from epsilometer.errors import ArgumentError
from epsilometer.estimators.spectrum import Spectrum, epsilon_at
from epsilometer.estimators.spectrum import Tested as Verdicts

KNN = {"classifier": "nearest_neighbours"}
CLAIMS = np.array([0.0, 0.7, 1.5])
TESTED = Verdicts(
    CLAIMS,
    np.array([30, 12, 0]),
    np.full(3, 100),
    np.array([5, 40, 80]),
    np.full(3, 80),
    np.exp(-CLAIMS),
)


def rates_of(claim: int, level: float):
    """Return Clopper and Pearson's intervals of both error rates, by SciPy."""
    of_x = stats.binomtest(int(TESTED.wrong[claim]), 100)
    of_x_prime = stats.binomtest(int(TESTED.wrong_prime[claim]), 80)
    return of_x.proportion_ci(level, "exact"), of_x_prime.proportion_ci(level, "exact")


# --- estimates ------------------------------------------------------------------------------------


@pytest.mark.parametrize("coin", ["expected", "drawn"])
def test_knn_meets_the_exact_curve_of_laplace_in_both_directions(coin):
    claims = [0.0, 0.3, 0.6]
    rng = np.random.default_rng(0)
    sides = rng.laplace(0, 1, 200_000), rng.laplace(1, 1, 200_000)
    exact = 1 - np.exp((np.array(claims) - 1) / 2)
    for tested in Spectrum(**KNN, coin=coin, claims=claims).test(*sides, rng):
        assert np.abs(tested.delta - exact).max() < 0.012  # four deviations


def test_delta_and_risk_by_hand():
    claims, size = np.array([0.0, math.log(2)]), np.full(2, 100)
    tested = Verdicts(claims, np.full(2, 10), size, np.full(2, 5), size // 2, np.exp(-claims))
    assert tested.risk.tolist() == pytest.approx([(0.1 + 0.1) / 2, (0.05 + 0.1) / 2])
    assert tested.delta.tolist() == pytest.approx([0.8, 1 - 2 * 2 * 0.075])


@pytest.mark.parametrize("coin", ["expected", "drawn"])
@pytest.mark.parametrize("interval", ["clopper-pearson", "bootstrap"])
def test_few_draws_and_the_largest_claims_give_numbers(coin, interval):
    rng = np.random.default_rng(0)
    for apart in (0.0, 1e12):
        sides = np.arange(3.0), np.arange(2.0) + apart
        for tested in Spectrum(**KNN, coin=coin, claims=[0, 1, 20, 500]).test(*sides, rng):
            low, high = tested.interval(interval, 0.05, rng)
            ends = [np.zeros(4), low, tested.delta, high, np.ones(4)]
            assert (np.diff(ends, axis=0) >= 0).all()


def test_one_draw_of_each_side_is_too_few_and_two_show_nothing():
    rng = np.random.default_rng(0)
    with pytest.raises(ArgumentError, match="n must be at least 2"):
        Spectrum(**KNN).test(np.zeros(1), np.zeros(2), rng)
    tested, _ = Spectrum(**KNN).test(np.arange(2.0), np.arange(2.0), rng)
    low, high = tested.interval("clopper-pearson", 0.05, rng)
    assert low.tolist() == [0.0] * 301
    assert high[0] > 0.9


def test_where_a_drawn_coin_leaves_null_values_only_all_are_classified_right():
    """As Figure 1 has it; the lower end of the interval is 0."""
    rng = np.random.default_rng(0)
    x, x_prime = rng.laplace(size=(2, 100))
    tested, _ = Spectrum(**KNN, coin="drawn", claims=[20.0]).test(x, x_prime, rng)
    assert tested.delta.tolist() == [1.0]
    assert tested.interval("clopper-pearson", 0.05, rng)[0].tolist() == [0.0]


def test_differences_from_rounding_alone_are_0():
    claims = Spectrum(**KNN).grid
    n = np.full(claims.size, 1000)
    tested = Verdicts(claims, n, n, 0 * n, n, np.exp(-claims))  # nothing is ever taken for x
    low, high = tested.interval("bootstrap", 0.05, np.random.default_rng(0))
    assert tested.delta.max() == low.max() == high.max() == 0.0


@pytest.mark.parametrize("sizes", [(11, 30), (30, 7)])
@pytest.mark.parametrize(("coin", "weights"), [("expected", [1, math.exp(-1)]), ("drawn", [1, 1])])
def test_half_of_the_smaller_side_and_as_many_of_the_other_train(sizes, coin, weights):
    rng = np.random.default_rng(0)
    sides = [rng.integers(0, 2, size) for size in sizes]
    rest, rest_prime = (size - min(sizes) // 2 for size in sizes)
    forward, reverse = Spectrum("counting", claims=[0.0, 1.0], coin=coin).test(*sides, rng)
    assert forward.tested.tolist() == reverse.tested_prime.tolist() == [rest] * 2
    assert reverse.tested.tolist() == forward.tested_prime.tolist() == [rest_prime] * 2
    assert forward.weight.tolist() == reverse.weight.tolist() == pytest.approx(weights)


@pytest.mark.parametrize("coin", ["expected", "drawn"])
def test_a_classifier_is_trained_on_all_points_that_train_with_a_seed_of_its_own(coin, monkeypatch):
    """Null values are points, too: they do not reach the classifier, but count.

    Two of 60 seeds are equal with probability 8e-7.
    """
    method = Spectrum("counting", claims=[0.0, 0.5, 1.0], coin=coin)
    kind = type(method.method)
    trained = []
    fit = kind.fit

    def fitting(classifier, x, x_prime, points, seed):
        trained.append((points, seed))
        return fit(classifier, x, x_prime, points, seed)

    monkeypatch.setattr(kind, "fit", fitting)
    rng = np.random.default_rng(0)
    for _ in range(60 if coin == "expected" else 10):
        method.test(rng.integers(0, 2, 40), rng.integers(0, 2, 50), rng)
    points, seeds = zip(*trained, strict=True)
    assert points == (40,) * 60
    assert len(set(seeds)) == 60


# --- intervals and bands --------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.05, 0.4])
def test_an_interval_has_both_error_rates_at_half_of_alpha(alpha):
    """So each end errs with half of it at most, of the classifier's delta, at every n."""
    low, high = TESTED.interval("clopper-pearson", alpha, np.random.default_rng(0))
    for i, claim in enumerate(CLAIMS):
        rate, rate_prime = rates_of(i, 1 - alpha / 2)
        least = 1 - rate.high - math.exp(claim) * rate_prime.high
        most = 1 - rate.low - math.exp(claim) * rate_prime.low
        assert low[i] == pytest.approx(max(least, 0))
        assert high[i] == pytest.approx(max(most, 0))


def test_a_bootstrap_promises_nothing():
    """No error among the test draws is no proof of delta = 1."""
    assert Spectrum(**KNN).guarantee == "finite-sample"
    assert Spectrum(**KNN, interval="bootstrap").guarantee == "none"
    none, size = np.zeros(1), np.array([200])
    tested = Verdicts(none, 0 * size, size, 0 * size, size, np.ones(1))
    assert tested.interval("bootstrap", 0.05, np.random.default_rng(0)) == (1, 1)


@pytest.mark.parametrize("alpha", [0.1, 0.4])
@pytest.mark.parametrize(("wrong", "wrong_prime", "scale"), [(30, 0, 1), (0, 30, 2)])
def test_a_bootstrap_leaves_half_of_alpha_of_the_resamples_on_either_side(
    alpha, wrong, wrong_prime, scale
):
    """To a count; of errors of one side alone, whose resamples are binomial."""
    size = np.array([100])
    tested = Verdicts(
        np.log([2.0]), np.array([wrong]), size, np.array([wrong_prime]), size, np.array([0.5])
    )
    (low,), (high,) = tested.interval("bootstrap", alpha, np.random.default_rng(0))
    most, least = stats.binom.ppf([1 - alpha / 2, alpha / 2], 100, 0.3) / 100
    assert low == pytest.approx(1 - scale * most, abs=scale * 0.0101)
    assert high == pytest.approx(1 - scale * least, abs=scale * 0.0101)


@pytest.mark.parametrize("alpha", [0.05, 0.4])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_a_band_is_that_of_all_rates_at_an_equal_share_of_alpha(alpha, epsilon):
    scale = math.exp(epsilon)
    best, low, high = [0.0], [0.0], [0.0]
    for i in range(3):
        rate, rate_prime = rates_of(i, 1 - alpha / 6)  # of two rates at three claims
        best.append(1 - TESTED.wrong[i] / 100 - scale * TESTED.wrong_prime[i] / 80)
        low.append(1 - rate.high - scale * rate_prime.high)
        high.append(1 - rate.low - scale * rate_prime.low)
    band = np.ravel(TESTED.band(np.array([epsilon]), alpha))
    assert band.tolist() == pytest.approx([max(best), max(low), max(high)])


# --- the curve inverted ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delta", "epsilon"),
    [(1.0, 0.0), (0.9, 0.0), (0.4, 0.5), (0.3, 1.0), (0.2, 2.5), (0.1, 3.0), (0.05, math.inf)],
)
def test_the_curve_inverted(delta, epsilon):
    """It is linear between claims, and does not rise."""
    assert epsilon_at(delta, [0.0, 1.0, 2.0, 3.0], [0.5, 0.3, 0.35, 0.1]) == pytest.approx(epsilon)


def test_a_curve_without_numbers_has_no_inverse():
    assert math.isnan(epsilon_at(0.05, [0.0, 1.0], [math.nan, 0.1]))


@pytest.mark.parametrize(
    ("claims", "deltas"),
    [
        ([1.0, 0.0], [0.3, 0.2]),
        ([1.0, 1.0], [0.3, 0.2]),
        ([0.0], [0.3, 0.2]),
        ([], []),
        ([[0]], [[0]]),
    ],
)
def test_a_curve_needs_claims_that_rise(claims, deltas):
    with pytest.raises(ArgumentError, match="claims must rise"):
        epsilon_at(0.1, claims, deltas)


@pytest.mark.parametrize("delta", [-1e-9, 1 + 1e-9])
def test_a_delta_lies_in_0_to_1(delta):
    with pytest.raises(ArgumentError, match="delta must lie in"):
        epsilon_at(delta, [0.0], [0.0])


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"claims": []}, "claims must rise from 0 or more"),
        ({"claims": [-0.1, 1]}, "claims must rise from 0 or more"),
        ({"claims": [0.5, 0.5]}, "claims must rise"),
        ({"claims": 5}, "claims must be a list"),
        ({"claims": {"from": 0, "to": 1}}, "claims must be a list, or have from, to and by"),
        ({"claims": {"from": 0, "to": 1, "by": 0}}, "claims.by must be positive"),
        ({"claims": [0, 501]}, "claims must be at most 500"),
        ({"claims": {"from": 0, "to": 500, "by": 0.0049999}}, "claims must be at most 100000"),
        ({"options": 5}, "options must be a mapping, got 5"),
        ({"coin": "fair"}, "coin must be expected or drawn"),
        ({"interval": "wald"}, "interval must be clopper-pearson"),
        ({"options": {"m": 1}}, "options has unknown 'm' of nearest_neighbours"),
        ({"classifier": "nearest"}, "classifier is an unknown classifier 'nearest'"),
        ({"classifier": 5}, "classifier must be a name, got 5"),
    ],
)
def test_hyperparameters_are_checked(changes, message):
    with pytest.raises(ArgumentError, match=message):
        Spectrum(**(KNN | changes))


@pytest.mark.parametrize(
    ("claims", "wanted"),
    [
        ({"from": 1.0, "to": 2.0, "by": 0.25}, [1, 1.25, 1.5, 1.75, 2]),
        ({"from": 0.1, "to": 0.3, "by": 0.1}, [0.1, 0.2, 0.3]),  # .3 is 2.9999 steps
        ({"from": 0.0, "to": 0.5, "by": 0.2}, [0, 0.2, 0.4]),
        ({"from": 2.0, "to": 2.0, "by": 1.0}, [2]),
        ({"from": 0.0, "to": 2e-7, "by": 1e-7}, [0, 1e-7, 2e-7]),
        ([0.0, 500.0], [0, 500]),
    ],
)
def test_claims_rise_in_steps_up_to_the_last(claims, wanted):
    assert Spectrum("counting", claims=claims).grid.tolist() == wanted


def test_a_hundred_thousand_steps_are_allowed():
    grid = Spectrum("counting", claims={"from": 0.0, "to": 500.0, "by": 0.005}).grid
    assert (grid.size, grid[-1]) == (100_001, 500)

"""The privacy spectrum: against exact curves, by hand, its intervals and its error bounds."""

import math

import numpy as np
import pytest
from scipy import stats

from epsilometer.errors import ArgumentError
from epsilometer.estimators import accuracy as theory
from epsilometer.estimators import spectrum as sp
from epsilometer.estimators.spectrum import Spectrum
from epsilometer.numerics.proportions import clopper_pearson

KNN = {"classifier": "nearest_neighbours"}
INTERVALS = ("clopper-pearson", "bootstrap")
AT = [0.0, 0.3, 0.6, 0.9]
LAPLACE = np.maximum(1 - np.exp((np.array(AT) - 1) / 2), 0)


def laplace(n, rng):
    return rng.laplace(0, 1, n), rng.laplace(1, 1, n)


@pytest.mark.parametrize("coin", ["expected", "drawn"])
def test_knn_meets_the_exact_curve_of_laplace_in_both_directions(coin):
    method = Spectrum(**KNN, coin=coin, claims=AT)
    rng = np.random.default_rng(0)
    for tested in method.test(*laplace(400_000, rng), rng):
        assert np.abs(tested.delta - LAPLACE).max() < 0.01


def test_delta_and_risk_by_hand():
    ones = np.ones(2)
    claims = np.array([0.0, math.log(2)])
    tested = sp.Tested(claims, 10 * ones, 100 * ones, 5 * ones, 50 * ones, np.exp(-claims))
    assert tested.risk.tolist() == pytest.approx([(0.1 + 0.1) / 2, (0.05 + 0.1) / 2])
    assert tested.delta.tolist() == pytest.approx([0.8, 1 - 2 * 2 * 0.075])


@pytest.mark.parametrize("n", [60, 2000])
def test_intervals_hold_for_the_achieved_delta_of_the_classifier(n):
    """400 runs of a fixed classifier, whose error rates are known."""
    rng = np.random.default_rng(4)
    rate, rate_prime, claims = 0.15, 0.05, np.array([0.0, 0.5])
    truth = np.maximum(1 - np.exp(claims) * (np.exp(-claims) * rate + rate_prime), 0)
    held = np.zeros(2)
    for _ in range(400):
        wrong, wrong_prime = rng.binomial(n, rate, 2), rng.binomial(n, rate_prime, 2)
        size = np.full(2, n)
        tested = sp.Tested(claims, wrong, size, wrong_prime, size, np.exp(-claims))
        low, high = tested.interval("clopper-pearson", 0.05, rng)
        assert (low <= tested.delta + 1e-12).all()
        assert (tested.delta <= high + 1e-12).all()
        held += (low <= truth) & (truth <= high)
    assert (held / 400 >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 400)).all()


def test_a_bootstrap_promises_nothing():
    """No error among the test draws is no proof of delta = 1."""
    assert [Spectrum(**KNN, interval=kind).guarantee for kind in INTERVALS] == [
        *("finite-sample", "none")
    ]
    n = np.array([200])
    tested = sp.Tested(np.zeros(1), 0 * n, n, 0 * n, n, np.ones(1))
    lows = [tested.interval(kind, 0.05, np.random.default_rng(0))[0][0] for kind in INTERVALS]
    assert lows[0] < 0.98
    assert lows[1] == 1


@pytest.mark.parametrize("coin", ["expected", "drawn"])
@pytest.mark.parametrize("sizes", [(2, 2), (3, 2), (4, 5), (5, 5)])
def test_few_draws_and_the_largest_claims_give_numbers(sizes, coin):
    """Odd numbers, too: the draw that is left over is tested."""
    rng = np.random.default_rng(0)
    for apart in (0.0, 100.0, 1e12):
        sides = np.arange(sizes[0]) * 1.0, np.arange(sizes[1]) + apart
        for tested in Spectrum(**KNN, coin=coin, claims=[0, 1, 20, 500]).test(*sides, rng):
            for kind in INTERVALS:
                low, high = tested.interval(kind, 0.05, rng)
                assert (low >= 0).all()
                assert (low <= tested.delta).all()
                assert (tested.delta <= high).all()
                assert (high <= 1).all()
                assert kind == "bootstrap" or low.max() < 1


def test_one_draw_of_each_side_is_too_few_and_two_show_nothing():
    rng = np.random.default_rng(0)
    with pytest.raises(ArgumentError, match="n must be at least 2"):
        Spectrum(**KNN).test(np.zeros(1), np.zeros(1), rng)
    tested, _ = Spectrum(**KNN).test(np.arange(2.0), np.arange(2.0), rng)
    low, high = tested.interval("clopper-pearson", 0.05, rng)
    assert low.tolist() == [0.0] * 301
    assert high[0] > 0.9
    tested, _ = Spectrum(**KNN, coin="drawn", claims=[20.0]).test(*laplace(100, rng), rng)
    assert tested.delta.tolist() == [1.0]  # as Figure 1 has it: all of x seen is the null value
    assert tested.interval("clopper-pearson", 0.05, rng)[0].tolist() == [0.0]


def test_the_curve_inverted():
    claims, deltas = [0.0, 1.0, 2.0, 3.0], [0.5, 0.3, 0.35, 0.1]
    assert sp.epsilon_at(0.4, claims, deltas) == pytest.approx(0.5)
    assert sp.epsilon_at(0.3, claims, deltas) == pytest.approx(1.0)
    assert sp.epsilon_at(0.2, claims, deltas) == pytest.approx(2.5)
    assert sp.epsilon_at(0.9, claims, deltas) == 0.0
    assert sp.epsilon_at(0.05, claims, deltas) == math.inf
    assert math.isnan(sp.epsilon_at(0.05, claims, [math.nan] * 4))
    exact = 1 + 2 * math.log(1 - 0.2)  # of Laplace
    fine = np.linspace(0, 2, 201)
    curve = np.maximum(1 - np.exp((fine - 1) / 2), 0)
    assert sp.epsilon_at(0.2, fine, curve) == pytest.approx(exact, abs=1e-4)
    for bad in ([1.0, 0.0], [1.0, 1.0], [0.0]):
        with pytest.raises(ArgumentError, match="claims must rise"):
            sp.epsilon_at(0.1, bad, [0.3, 0.2])
    for empty in ([], [[0.0], [1.0]]):
        with pytest.raises(ArgumentError, match="claims must rise"):
            sp.epsilon_at(0.1, empty, empty)
    assert sp.epsilon_at(1.0, claims, deltas) == 0.0
    assert sp.epsilon_at(0.0, claims, [0.5, 0.3, 0.1, 0.0]) == 3.0
    for bad in (-1e-9, 1 + 1e-9):
        with pytest.raises(ArgumentError, match="delta must lie in"):
            sp.epsilon_at(bad, claims, deltas)


def test_error_bounds_by_hand():
    assert theory.risk_error(800, 0.04) == pytest.approx(math.sqrt(math.log(100) / 800))
    # (5) solved again: 2 exp(-(n/2) a^2 / (72 c^2)) = beta/2
    a, n, beta = theory.neighbours_error(10**6, 0.1), 10**6, 0.1
    assert 2 * math.exp(-(n / 2) * a**2 / (72 * theory.cones(1) ** 2)) == pytest.approx(beta / 2)
    both = 2 * math.e * (a + theory.risk_error(n, beta))
    assert theory.accuracy(1.0, n, beta) == pytest.approx(both)
    odd = 2 * math.e * (a + theory.risk_error(n + 1, beta))  # half of the points, rounded down
    assert theory.accuracy(1.0, n + 1, beta) == pytest.approx(odd, rel=1e-9)
    # 2 / sqrt(2 - sqrt 3) is sqrt 6 + sqrt 2, as its square says
    ratio = math.sqrt(6) + math.sqrt(2)
    assert [theory.cones(d) for d in (1, 2, 3)] == [
        *(2, math.floor((1 + ratio) ** 2 - 1), math.floor((1 + ratio) ** 3 - 1))
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({"claims": claims}, "claims") for claims in ([-0.1, 1], [])),
        *(({"claims": claims}, "claims must be a list") for claims in (5, "ab", {"from": 0})),
        *(({"claims": claims}, "claims must rise") for claims in ([0.2, 0.1], [0.5, 0.5])),
        ({"claims": {"from": 0, "to": 1}}, "claims must be a list, or have from, to and by"),
        ({"claims": {"from": 0, "to": 1, "by": 0}}, "claims.by must be positive"),
        ({"claims": [0, 800]}, "claims must be at most 500"),
        ({"claims": {"from": 0, "to": 500, "by": 0.0049999}}, "claims must be at most 100000"),
        ({"options": 5}, "options must be a mapping, got 5"),
        ({"coin": "fair"}, "coin must be expected or drawn"),
        ({"interval": "wald"}, "interval must be clopper-pearson"),
        ({"alpha": 1}, "alpha must lie"),
        ({"largest": 1}, "largest must be true or false"),
        ({"options": {"k": 0}}, "k must be at least 1"),
        ({"options": {"m": 1}}, "options has unknown 'm' of nearest_neighbours"),
        ({"classifier": "nearest"}, "classifier is an unknown classifier 'nearest'"),
    ],
)
def test_hyperparameters_are_checked(changes, message):
    with pytest.raises(ArgumentError, match=message):
        Spectrum(**(KNN | changes))


def test_differences_from_rounding_alone_are_0():
    claims = Spectrum(**KNN).grid
    n = np.full(claims.size, 1000)
    tested = sp.Tested(claims, n, n, 0 * n, n, np.exp(-claims))  # nothing is ever taken for x
    low, high = tested.interval("bootstrap", 0.05, np.random.default_rng(0))
    assert tested.delta.max() == low.max() == high.max() == 0.0


@pytest.mark.parametrize("alpha", [0.5, 0.05])
def test_a_band_encloses_the_curve_of_the_classifier(alpha):
    """Events of known probabilities: the share of bands that leave the curve at any epsilon."""
    claims = np.linspace(0, 2, 12)
    p, q = np.exp(-0.4 * claims) / 2, np.exp(-1.2 * claims) / 3
    epsilons = np.linspace(0, 2.5, 60)
    truth = np.maximum((p - np.exp(epsilons)[:, None] * q).max(axis=1), 0)
    n, left = 2000, 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        x, x_prime = rng.random((2, n))  # events are nested, as those of one classifier
        wrong = np.array([np.count_nonzero(x > share) for share in p])
        wrong_prime = np.array([np.count_nonzero(x_prime < share) for share in q])
        sizes = np.full(claims.size, n)
        tested = sp.Tested(claims, wrong, sizes, wrong_prime, sizes, np.exp(-claims))
        deltas, low, high = tested.band(epsilons, alpha)
        left += bool((low > truth + 1e-12).any() or (high < truth - 1e-12).any())
        assert (low <= deltas).all()
        assert (deltas <= high).all()
    assert clopper_pearson(left, 400, 0.999)[0] <= alpha
    assert left > 0 or alpha < 0.1


def ends_of(k, n, level):
    """Return Clopper and Pearson's interval of a probability, by SciPy."""
    return tuple(stats.binomtest(int(k), int(n)).proportion_ci(level, "exact"))


TESTED = sp.Tested(
    np.array([0.0, 0.7, 1.5]),
    np.array([30, 12, 0]),
    np.array([100, 100, 100]),
    np.array([5, 40, 80]),
    np.array([80, 80, 80]),
    np.exp([-0.0, -0.7, -1.5]),
)


@pytest.mark.parametrize("alpha", [0.05, 0.4])
def test_an_interval_has_both_error_rates_at_half_of_alpha(alpha):
    low, high = TESTED.interval("clopper-pearson", alpha, np.random.default_rng(0))
    for i, claim in enumerate(TESTED.claims):
        rate = ends_of(TESTED.wrong[i], 100, 1 - alpha / 2)
        rate_prime = ends_of(TESTED.wrong_prime[i], 80, 1 - alpha / 2)
        for end, j in ((low, 1), (high, 0)):
            delta = 1 - rate[j] - math.exp(claim) * rate_prime[j]
            assert end[i] == pytest.approx(min(max(delta, 0), 1))


@pytest.mark.parametrize("alpha", [0.1, 0.4])
@pytest.mark.parametrize("claim", [0.0, 0.7])
def test_a_bootstrap_leaves_half_of_alpha_of_the_resamples_on_either_side(alpha, claim):
    """Against the law of the resamples, from all counts; 5 deviations are an alarm in 1e-6."""
    shares = np.add.outer(np.arange(101) / 100, math.exp(claim) * np.arange(81) / 80)
    law = np.outer(stats.binom.pmf(range(101), 100, 0.3), stats.binom.pmf(range(81), 80, 5 / 80))
    sizes = [np.array([size]) for size in (30, 100, 5, 80)]
    tested = sp.Tested(np.array([claim]), *sizes, np.exp([-claim]))
    low, high = tested.interval("bootstrap", alpha, np.random.default_rng(0))
    margin = 5 * math.sqrt(alpha / 2 / 2000)
    for beyond, to in ((1 - shares < low[0] - 1e-9, -1e-9), (1 - shares > high[0] + 1e-9, 1e-9)):
        assert law[beyond].sum() <= alpha / 2 + margin
        at = shares <= 1 - high[0] + to if to > 0 else shares >= 1 - low[0] + to
        assert law[at].sum() >= alpha / 2 - margin


@pytest.mark.parametrize("alpha", [0.05, 0.4])
def test_a_band_is_that_of_all_rates_at_an_equal_share_of_alpha(alpha):
    epsilons = np.array([0.0, 0.3, 1.0])
    deltas, below, above = TESTED.band(epsilons, alpha)
    level = 1 - alpha / 6  # of two rates at three claims
    for i, epsilon in enumerate(epsilons):
        lines = {"low": [0.0], "best": [0.0], "high": [0.0]}
        for k in range(3):
            rate = ends_of(TESTED.wrong[k], 100, level)
            rate_prime = ends_of(TESTED.wrong_prime[k], 80, level)
            lines["low"].append(1 - rate[1] - math.exp(epsilon) * rate_prime[1])
            lines["high"].append(1 - rate[0] - math.exp(epsilon) * rate_prime[0])
            shares = TESTED.wrong[k] / 100, TESTED.wrong_prime[k] / 80
            lines["best"].append(1 - shares[0] - math.exp(epsilon) * shares[1])
        wanted = [max(lines[name]) for name in ("best", "low", "high")]
        assert [deltas[i], below[i], above[i]] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("claims", "wanted"),
    [
        ({"from": 1.0, "to": 2.0, "by": 0.25}, [1, 1.25, 1.5, 1.75, 2]),
        ({"from": 0.1, "to": 0.3, "by": 0.1}, [0.1, 0.2, 0.3]),  # .3 is 2.9999 steps
        ({"from": 0.0, "to": 0.5, "by": 0.2}, [0, 0.2, 0.4]),
        ({"from": 2.0, "to": 2.0, "by": 1.0}, [2]),
        ({"from": 0.0, "to": 2e-7, "by": 1e-7}, [0, 1e-7, 2e-7]),
        ({"from": 0.0, "to": 500.0, "by": 0.005}, [i / 200 for i in range(100_001)]),
        ([0.0, 500.0], [0, 500]),
    ],
)
def test_claims_rise_in_steps_up_to_the_last(claims, wanted):
    assert Spectrum("counting", claims=claims).grid.tolist() == wanted


@pytest.mark.parametrize("sizes", [(10, 10), (11, 30), (30, 7)])
@pytest.mark.parametrize("coin", ["expected", "drawn"])
def test_half_of_the_smaller_side_and_as_many_of_the_other_train(sizes, coin):
    rng = np.random.default_rng(0)
    sides = [rng.integers(0, 2, size) for size in sizes]
    half = min(sizes) // 2
    forward, reverse = Spectrum("counting", claims=[0.0, 1.0], coin=coin).test(*sides, rng)
    assert forward.tested.tolist() == reverse.tested_prime.tolist() == [sizes[0] - half] * 2
    assert reverse.tested.tolist() == forward.tested_prime.tolist() == [sizes[1] - half] * 2
    weights = [1, math.exp(-1)] if coin == "expected" else [1, 1]
    assert forward.weight.tolist() == reverse.weight.tolist() == pytest.approx(weights)


@pytest.mark.parametrize("coin", ["expected", "drawn"])
def test_a_classifier_is_trained_on_all_points_that_train_with_a_seed_of_its_own(coin, monkeypatch):
    """Null values are points, too: they do not reach the classifier, but count.

    Two of 60 seeds are equal with probability 8e-7.
    """
    spectrum = Spectrum("counting", claims=[0.0, 0.5, 1.0], coin=coin)
    kind, trained = type(spectrum.method), []
    fit = kind.fit

    def fitting(method, x, x_prime, points, seed):
        trained.append((points, seed))
        return fit(method, x, x_prime, points, seed)

    monkeypatch.setattr(kind, "fit", fitting)
    rng = np.random.default_rng(0)
    for _ in range(60 if coin == "expected" else 10):
        spectrum.test(rng.integers(0, 2, 40), rng.integers(0, 2, 50), rng)
    assert len(trained) == 60
    assert {points for points, _ in trained} == {40}
    assert len({seed for _, seed in trained}) == 60

"""The privacy spectrum: against exact curves, by hand, its intervals and its error bounds."""

import math

import numpy as np
import pytest
from scipy import stats

from epsilometer.errors import ArgumentError
from epsilometer.estimators import spectrum as sp
from epsilometer.estimators.spectrum import Spectrum
from epsilometer_workflow.reports.lu2022 import accuracy as theory

KNN = {"classifier": "nearest_neighbours"}
COUNTING = {"classifier": "counting"}
AT = [0.0, 0.3, 0.6, 0.9]
LAPLACE = np.maximum(1 - np.exp((np.array(AT) - 1) / 2), 0)


def laplace(n, rng):
    return rng.laplace(0, 1, n), rng.laplace(1, 1, n)


P, Q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])


def atoms(n, rng):
    return rng.choice(3, n, p=P).astype(np.int32), rng.choice(3, n, p=Q).astype(np.int32)


def exact_atoms(claims):
    return np.array([np.maximum(P - math.exp(e) * Q, 0).sum() for e in claims])


@pytest.mark.parametrize("coin", ["expected", "drawn"])
def test_knn_meets_the_exact_curve_of_laplace_in_both_directions(coin):
    method = Spectrum(**KNN, coin=coin, claims=AT)
    rng = np.random.default_rng(0)
    for tested in method.test(*laplace(400_000, rng), rng):
        assert np.abs(tested.delta - LAPLACE).max() < 0.01


@pytest.mark.parametrize("coin", ["expected", "drawn"])
def test_counting_meets_the_exact_curve_of_atoms(coin):
    method = Spectrum(**COUNTING, coin=coin, claims=AT)
    rng = np.random.default_rng(1)
    forward, _ = method.test(*atoms(400_000, rng), rng)
    assert np.abs(forward.delta - exact_atoms(AT)).max() < 0.01


def test_the_error_falls_with_n():
    errors = []
    for n in (1000, 16_000, 256_000):
        estimates = []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            estimates.append(Spectrum(**KNN, claims=AT).test(*laplace(n, rng), rng)[0].delta)
        errors.append(np.sqrt(((np.array(estimates) - LAPLACE) ** 2).mean()))
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


def test_an_expected_coin_has_less_variance_than_a_drawn_one():
    estimates = {"expected": [], "drawn": []}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        samples = laplace(4000, rng)
        for coin, deltas in estimates.items():
            deltas.append(Spectrum(**KNN, coin=coin, claims=[0.6]).test(*samples, rng)[0].delta[0])
    assert np.std(estimates["expected"]) < 0.95 * np.std(estimates["drawn"])
    assert np.mean(estimates["expected"]) == pytest.approx(np.mean(estimates["drawn"]), abs=0.01)


@pytest.mark.parametrize("coin", ["expected", "drawn"])
def test_identical_inputs_and_disjoint_supports(coin):
    method = Spectrum(**KNN, coin=coin, claims=AT)
    rng = np.random.default_rng(3)
    same = method.test(rng.normal(size=50_000), rng.normal(size=50_000), rng)[0]
    assert same.delta.max() < 0.02
    apart = method.test(rng.normal(size=5000), rng.normal(100, 1, size=5000), rng)[0]
    np.testing.assert_allclose(apart.delta, 1)


def test_delta_and_risk_by_hand():
    ones = np.ones(2)
    claims = np.array([0.0, math.log(2)])
    tested = sp.Tested(claims, 10 * ones, 100 * ones, 5 * ones, 50 * ones, np.exp(-claims))
    assert tested.risk.tolist() == pytest.approx([(0.1 + 0.1) / 2, (0.05 + 0.1) / 2])
    assert tested.delta.tolist() == pytest.approx([0.8, 1 - 2 * 2 * 0.075])
    assert sp.delta_of_risk([0.0, 0.0], [0.25, 0.7]).tolist() == [0.5, 0.0]


@pytest.mark.parametrize("interval", ["clopper-pearson", "hoeffding", "bootstrap"])
@pytest.mark.parametrize("n", [60, 2000])
def test_intervals_hold_for_the_achieved_delta_of_the_classifier(interval, n):
    """400 runs of a fixed classifier, whose error rates are known."""
    rng = np.random.default_rng(4)
    rate, rate_prime, claims = 0.15, 0.05, np.array([0.0, 0.5])
    truth = np.maximum(1 - np.exp(claims) * (np.exp(-claims) * rate + rate_prime), 0)
    held = np.zeros(2)
    for _ in range(400):
        wrong, wrong_prime = rng.binomial(n, rate, 2), rng.binomial(n, rate_prime, 2)
        size = np.full(2, n)
        tested = sp.Tested(claims, wrong, size, wrong_prime, size, np.exp(-claims))
        low, high = tested.interval(interval, 0.05, rng)
        assert (low <= tested.delta + 1e-12).all()
        assert (tested.delta <= high + 1e-12).all()
        held += (low <= truth) & (truth <= high)
    # the bootstrap promises nothing, and has this here
    least = 0.95 if interval != "bootstrap" else 0.93 if n > 1000 else 0.85
    assert (held / 400 >= least - 3 * math.sqrt(0.05 * 0.95 / 400)).all()


def test_more_neighbours_see_a_flat_loss():
    """Noise of scale 10 on a count: near the promise votes are almost even."""
    rng = np.random.default_rng(8)
    sides = rng.laplace(0, 10, 200_000), rng.laplace(1, 10, 200_000)
    errors = {}
    for exponent in (0.5, 0.75):
        method = Spectrum(**KNN, options={"exponent": exponent}, claims=[0.05])
        forward, _ = method.test(*sides, rng)
        errors[exponent] = abs(forward.delta[0] - (1 - math.exp((0.05 - 0.1) / 2)))
    assert errors[0.75] < 0.005 < errors[0.5]


def test_the_lower_end_is_below_the_exact_curve():
    """200 seeds at a small n: no more often above than the level allows."""
    above = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        method = Spectrum(**KNN, claims=[0.5])
        low, _ = method.test(*laplace(2000, rng), rng)[0].interval("clopper-pearson", 0.05, rng)
        above += low[0] > 1 - math.exp(-0.25)
    assert above / 200 <= 0.05


def clamped(n, rng):
    return tuple(np.clip(side, 0.0, 1.0) for side in laplace(n, rng))


def rounded(n, rng):
    return tuple(np.round(side, 1) for side in laplace(n, rng))


def geometric(n, rng):
    noise = rng.geometric(1 - math.exp(-1), (2, 2, n))
    return tuple((noise[0] - noise[1] + [[0], [1]]).astype(float))


def of_cells(edges):
    """Return the exact curve of Laplace noise of which only the interval between edges is known."""
    p, q = (np.diff(stats.laplace.cdf([-np.inf, *edges, np.inf], at)) for at in (0, 1))
    return np.array([np.maximum(p - math.exp(e) * q, 0).sum() for e in AT])


NOISE = np.exp(-np.abs(np.arange(-40, 42)))
TIED = {
    "clamped": (clamped, of_cells(np.linspace(0, 1, 10_001))),
    "rounded": (rounded, of_cells(np.arange(-200.5, 200) / 10)),
    "geometric": (
        geometric,
        np.array([np.maximum(NOISE[1:] - math.exp(e) * NOISE[:-1], 0).sum() for e in AT])
        / NOISE.sum(),
    ),
}


@pytest.mark.parametrize("name", TIED)
def test_numbers_that_tie_are_classified_as_well_as_others(name):
    """200 seeds: the lower end above the exact curve no more often than promised, and near it."""
    draw, truth = TIED[name]
    method, above, missed, estimates = Spectrum(**KNN, claims=AT), np.zeros(4), np.zeros(4), []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        for tested in method.test(*draw(2000, rng), rng):
            low, high = tested.interval("clopper-pearson", 0.05, rng)
            above += low > truth
            missed += high < truth
            estimates.append(tested.delta)
    assert (above / 400 <= 0.025).all()
    assert (missed / 400 <= 0.1).all()  # not promised, as the classifier achieves less than delta
    assert np.abs(np.mean(estimates, axis=0) - truth).max() < 0.035


def test_identical_inputs_that_tie_are_not_accused():
    method, accused = Spectrum(**KNN, claims=AT), np.zeros(4)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        sides = np.round(rng.normal(size=(2, 2000)))
        low, _ = method.test(*sides, rng)[0].interval("clopper-pearson", 0.05, rng)
        accused += low > 0
    assert (accused / 200 <= 0.025 + 3 * math.sqrt(0.025 / 200)).all()


@pytest.mark.parametrize("unit", [1e-300, 1e-9, 1e9, 1e300])
def test_the_unit_does_not_matter(unit):
    rng = np.random.default_rng(2)
    sides = np.array([[0], [1]]) + rng.standard_cauchy((2, 5000))
    method = Spectrum(**KNN, claims=AT)
    first, scaled = (method.test(*(s * sides), rng)[0].delta for s in (1, unit))
    np.testing.assert_allclose(scaled, first, atol=0.002)  # by rounding few points change places


def test_a_bootstrap_promises_nothing():
    """Uniforms that overlap by 0.005: no error among the test draws is no proof of delta = 1."""
    truth, above = 0.995, {"clopper-pearson": 0, "bootstrap": 0}
    for kind in above:
        assert Spectrum(**KNN, interval=kind).guarantee == (
            "none" if kind == "bootstrap" else "finite-sample"
        )
    for seed in range(300):
        rng = np.random.default_rng(seed)
        sides = np.array([[0], [truth]]) + rng.random((2, 400))
        tested, _ = Spectrum(**KNN, claims=[0.0]).test(*sides, rng)
        for kind in above:
            above[kind] += tested.interval(kind, 0.05, rng)[0][0] > truth
    assert above["clopper-pearson"] / 300 <= 0.025
    assert above["bootstrap"] / 300 > 0.1
    assert Spectrum(**KNN, interval="hoeffding").guarantee == "finite-sample"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("coin", ["expected", "drawn"])
@pytest.mark.parametrize("sizes", [(2, 2), (3, 2), (4, 5), (5, 5)])
def test_few_draws_and_the_largest_claims_give_numbers(sizes, coin):
    """Odd numbers, too: the draw that is left over is tested."""
    rng = np.random.default_rng(0)
    for apart in (0.0, 100.0, 1e12):
        sides = np.arange(sizes[0]) * 1.0, np.arange(sizes[1]) + apart
        for tested in Spectrum(**KNN, coin=coin, claims=[0, 1, 20, 500]).test(*sides, rng):
            for kind in ("clopper-pearson", "hoeffding", "bootstrap"):
                low, high = tested.interval(kind, 0.05, rng)
                assert (low >= 0).all()
                assert (low <= tested.delta).all()
                assert (tested.delta <= high).all()
                assert (high <= 1).all()
                assert kind == "bootstrap" or low.max() < 1


def test_one_draw_of_each_side_is_too_few():
    with pytest.raises(ArgumentError, match="n must be at least 2"):
        Spectrum(**KNN).test(np.zeros(1), np.zeros(1), np.random.default_rng(0))
    tested, _ = Spectrum(**KNN).test(np.arange(2.0), np.arange(2.0), np.random.default_rng(0))
    low, high = tested.interval("clopper-pearson", 0.05, np.random.default_rng(0))
    assert low.tolist() == [0.0] * 301
    assert high[0] > 0.9


def test_a_large_claim_leaves_nothing_to_train_on():
    method = Spectrum(**KNN, coin="drawn", claims=[20.0])
    rng = np.random.default_rng(0)
    tested, _ = method.test(*laplace(100, rng), rng)
    assert tested.delta.tolist() == [1.0]  # as Figure 1 has it: all of x seen is the null value
    low, _ = tested.interval("clopper-pearson", 0.05, rng)
    assert low.tolist() == [0.0]  # but nothing is known


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
    for bad in ([1.0, 0.0], [0.0]):
        with pytest.raises(ArgumentError, match="claims must rise"):
            sp.epsilon_at(0.1, bad, [0.3, 0.2])


def test_error_bounds_by_hand():
    assert theory.risk_error(800, 0.04) == pytest.approx(math.sqrt(math.log(100) / 800))
    # (5) solved again: 2 exp(-(n/2) a^2 / (72 c^2)) = beta/2
    a, n, beta = theory.neighbours_error(10**6, 0.1), 10**6, 0.1
    assert 2 * math.exp(-(n / 2) * a**2 / (72 * theory.cones(1) ** 2)) == pytest.approx(beta / 2)
    both = 2 * math.e * (a + theory.risk_error(n, beta))
    assert theory.accuracy(1.0, n, beta) == pytest.approx(both)
    # Corollary 3: ln(8tm/beta), a union over 2tm directions
    any_classifier = theory.estimate_error(lambda points, chance: points * chance, 0.0, 100, 0.2)
    assert any_classifier == pytest.approx(2 * (50 * 0.1 + math.sqrt(math.log(20) / 100)))
    rows = theory.accuracy(0.0, n, beta, directions=2 * 3 * 5)
    logs = math.sqrt(math.log(8 * 15 / beta) / n)
    assert rows == pytest.approx(2 * (12 * theory.cones(1) + 1) * logs)
    assert theory.cones(2) == math.floor((1 + 2 / math.sqrt(2 - math.sqrt(3))) ** 2 - 1)


def test_claims_as_a_list_or_a_range():
    assert Spectrum(**KNN).grid.tolist() == pytest.approx(np.arange(301) / 100)
    grid = Spectrum(**KNN, claims={"from": 0.1, "to": 0.3, "by": 0.1}).grid
    assert grid.tolist() == [0.1, 0.2, 0.3]
    assert Spectrum(**KNN, claims=[0, 2]).grid.tolist() == [0.0, 2.0]
    short = Spectrum(**KNN, claims={"from": 0, "to": 1, "by": 0.6}).grid
    assert short.tolist() == [0.0, 0.6]  # never beyond its end


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"claims": [0.2, 0.1]}, "claims must rise"),
        ({"claims": [-0.1, 0.1]}, "claims must rise from 0"),
        ({"claims": []}, "claims must rise"),
        ({"claims": {"from": 0, "to": 1}}, "claims must be a list, or have from, to and by"),
        ({"claims": {"from": 0, "to": 1, "by": 0}}, "claims.by must be positive"),
        ({"claims": {"from": 0, "to": 1, "by": 1e-9}}, "claims must be at most 100000"),
        ({"claims": [0, 800]}, "claims must be at most 500"),
        ({"claims": 5}, "claims must be a list, or have from, to and by, got 5"),
        ({"options": 5}, "options must be a mapping, got 5"),
        ({"classifier": ["knn"]}, "classifier must be a name"),
        ({"coin": "fair"}, "coin must be expected or drawn"),
        ({"interval": "wald"}, "interval must be one of clopper-pearson"),
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


def test_it_is_of_the_pure_kind():
    with pytest.raises(ArgumentError, match="lambda must be inf"):
        Spectrum(**KNN).check("scalar", 2.0)


def test_coverage_of_the_binomial_is_exact():
    """Both error rates at half the level each: never less than promised, for any rates."""
    n, alpha = 40, 0.1
    k = np.arange(n + 1)
    for rate, rate_prime in [(0.02, 0.3), (0.5, 0.5), (0.9, 0.01)]:
        weights = stats.binom.pmf(k, n, rate)[:, None] * stats.binom.pmf(k, n, rate_prime)
        grid, other = (a.ravel() for a in np.meshgrid(k, k, indexing="ij"))
        size, claims = np.full(grid.size, n), np.zeros(grid.size)
        tested = sp.Tested(claims, grid, size, other, size, np.ones(grid.size))
        low, high = tested.interval("clopper-pearson", alpha, np.random.default_rng(0))
        truth = max(1 - rate - rate_prime, 0)
        assert weights.ravel()[(low <= truth) & (truth <= high)].sum() >= 1 - alpha


def test_differences_from_rounding_alone_are_0():
    claims = Spectrum(**KNN).grid
    n = np.full(claims.size, 1000)
    tested = sp.Tested(claims, n, n, 0 * n, n, np.exp(-claims))  # nothing is ever taken for x
    low, high = tested.interval("bootstrap", 0.05, np.random.default_rng(0))
    assert tested.delta.max() == low.max() == high.max() == 0.0


def test_lower_ends_are_above_the_truth_as_rarely_as_promised_and_not_never():
    """Counting three atoms finds the best set, so that only the interval keeps the end down."""
    rng = np.random.default_rng(6)
    method, runs, above = Spectrum(**COUNTING, claims=[0.3]), 3000, 0
    truth = exact_atoms([0.3])[0]
    for _ in range(runs):
        low, _ = method.test(*atoms(1000, rng), rng)[0].interval("clopper-pearson", 0.4, rng)
        above += low[0] > truth
    assert 0.01 < above / runs <= 0.2

"""Lower bounds for the Rényi divergence: by hand, against exact values, and in coverage."""

import math

import numpy as np
import pytest
from scipy import stats

from epsilometer.densities.base import Densities
from epsilometer.densities.binned import bkde
from epsilometer.densities.pair import reduce_pair
from epsilometer.errors import ArgumentError
from epsilometer.estimators import renyi_bound as rb

P, Q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
SHARP = {"tau": 1e-5, "beta": 1e5}


def exact(p, q, order):
    return math.log((p**order * q ** (1 - order)).sum()) / (order - 1)


@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 7.0, 40.0])
def test_a_sharp_low_floor_leaves_the_divergence_as_it_is(order):
    estimate = rb.divergence(P, Q, order=order, tau=1e-9, beta=1e9)
    assert estimate.value == pytest.approx(exact(P, Q, order), rel=1e-9)
    assert rb.divergence(P, P, order=order, tau=1e-9, beta=1e9).value == pytest.approx(0, abs=1e-12)


def test_the_variance_by_hand():
    """(18) as printed, on three atoms far above the floor."""
    a = 3.0
    main = (P**a * Q ** (1 - a)).sum()
    first = a**2 * ((P ** (2 * a - 1) * Q ** (2 - 2 * a)).sum() - main**2)
    second = (1 - a) ** 2 * ((Q ** (1 - 2 * a) * P ** (2 * a)).sum() - main**2)
    by_hand = (first + second) / ((a - 1) * main) ** 2
    estimate = rb.divergence(P, Q, order=a, tau=1e-9, beta=1e9)
    assert estimate.variance == pytest.approx(by_hand, rel=1e-9)
    bound = estimate.bound(10_000)
    assert bound == pytest.approx(estimate.value - 1.6448536269514722 * math.sqrt(by_hand) / 100)


def test_the_floor_is_smooth_and_from_above():
    t = np.array([-1e-4, 0.0, 0.9e-5, 1e-5, 1.1e-5, 0.3, 1e300])
    floored = rb.soft_floor(t, **SHARP)
    assert (floored >= np.maximum(t, 1e-5)).all()
    assert (floored[:-1] <= np.maximum(t, 1e-5)[:-1] + math.log(2) / 1e5 + 1e-18).all()


def test_it_never_overestimates_the_divergence_of_its_densities():
    rng = np.random.default_rng(0)
    for _ in range(200):
        p, q = rng.dirichlet(np.full(20, 0.2)), rng.dirichlet(np.full(20, 0.2))
        q = np.maximum(q, 1e-12)
        for order in (1.5, 5.0):
            estimate = rb.divergence(p, q, order=order, **SHARP)
            assert estimate.value <= exact(p, q, order) + 1e-9


def bound_of(method, densities, order, n=50_000, pairs=1):
    """Return both directions' bounds of one pair's densities."""
    return method.bounds(densities, order=order, n=n, pairs=pairs)


def test_the_floor_is_where_so_many_draws_fall():
    """50 draws are the paper's tau and beta at its n = 5,000,000."""
    assert rb.RenyiBound(draws_at_floor=50).floor(5_000_000) == pytest.approx((1e-5, 1e5))
    assert rb.RenyiBound(draws_at_floor=25).floor(5_000_000) == pytest.approx((5e-6, 2e5))
    assert rb.RenyiBound(draws_at_floor=50).floor(500) == (0.1, 10.0)
    with pytest.raises(ArgumentError, match="n must be above draws_at_floor=50, got 50"):
        rb.RenyiBound(draws_at_floor=50).floor(50)


def test_pairs_that_share_samples_have_bonferroni_only():
    shared = rb.RenyiBound(50, largest=True, correction="independent")
    shared.check_pairs(3, own_samples=True)
    shared.check_pairs(1, own_samples=False)
    with pytest.raises(ArgumentError, match="correction must be bonferroni"):
        shared.check_pairs(3, own_samples=False)
    rb.RenyiBound(50, largest=True).check_pairs(3, own_samples=False)
    rb.RenyiBound(50).check_pairs(3, own_samples=False)


def alike(k, n, rng):
    """Return two sides of ``n`` draws each, with the same law on ``k`` atoms."""
    law = np.full(k, 1 / k)
    return Densities(rng.multinomial(n, law) / n, rng.multinomial(n, law) / n)


@pytest.mark.parametrize("noise", ["standard_cauchy", "laplace", "lomax", "clamped", "rounded"])
def test_a_bound_has_no_unit_and_fears_no_tail(noise):
    """The same number in every unit, wherever 0 is, whatever rises with the output."""
    rng = np.random.default_rng(5)
    draw = {
        "lomax": lambda: rng.pareto(0.5, 100_000),
        "clamped": lambda: rng.laplace(size=100_000).clip(-1, 0.5),
        "rounded": lambda: np.round(4 * rng.laplace(size=100_000)) / 4,
    }.get(noise, lambda: getattr(rng, noise)(size=100_000))
    method, (x, y) = rb.RenyiBound(draws_at_floor=50), (draw() + 1, draw())
    changes = [
        lambda z: z * 2.0**-30,
        lambda z: z * 2.0**30,
        lambda z: z * 1e-9,
        lambda z: z * 1e3,
        lambda z: z + 1e8,  # outputs that it rounds to one number are one
        np.arctan,
    ]
    plain = bound_of(method, reduce_pair(x, y, method.reduction), 7.0, 100_000)
    changed = [
        bound_of(method, reduce_pair(f(x), f(y), method.reduction), 7.0, 100_000) for f in changes
    ]
    assert changed[:4] == [plain] * 4
    np.testing.assert_allclose(changed, [plain] * 6, atol=1e-5)
    assert plain[0] > 0.1
    grid = bound_of(method, reduce_pair(y, draw(), method.reduction), 7.0, 100_000)
    assert max(grid) < 0.01  # alike


def test_it_is_close_to_the_divergence():
    """Laplace at distance 0.7, order 2: 0.354."""
    rng, n, bounds, method = np.random.default_rng(6), 200_000, [], rb.RenyiBound(50)
    for _ in range(5):
        densities = reduce_pair(rng.laplace(0.7, 1, n), rng.laplace(0, 1, n), method.reduction)
        bounds.append(bound_of(method, densities, 2.0, n)[0])
        assert method.trusted(densities, order=2.0, n=n)
    assert 0.340 <= np.median(bounds) < math.log(2 / 3 * math.exp(0.7) + 1 / 3 * math.exp(-1.4))


@pytest.mark.parametrize("order", [1.1, 2.0, 3.5, 7.0])
@pytest.mark.parametrize("mean", [0.5, 2.0, 6.0, 40.0])
def test_terms_from_counts_are_never_too_high_on_average(order, mean):
    """Over all counts of an outcome, rare or not, and equal where it is not rare."""
    n = 4000
    counts = np.arange(400)
    weights = stats.binom.pmf(counts, n, mean / n)
    share = mean / n
    for side in ("p", "q"):
        total = 0.0
        for count, weight in zip(counts, weights, strict=True):
            # beside an outcome of the other side with all n draws, whose factor is 1
            p, q = (count / n, 1.0) if side == "p" else (1.0, count / n)
            estimate = rb.unbiased(
                np.array([p]), np.array([q]), order=order, tau=1e-12, beta=1e12, n=n
            )
            total += weight * math.exp((order - 1) * estimate)
        truth = share**order if side == "p" else share ** (1 - order)
        assert total <= truth * (1 + 1e-9)
        if mean == 40.0:
            assert total == pytest.approx(truth, rel=1e-5)


@pytest.mark.parametrize(("n", "order"), [(5, 1.1), (5, 2.0), (30, 2.0), (400, 7.0)])
def test_few_draws_are_not_trusted_whatever_they_show(n, order):
    rng, method = np.random.default_rng(0), rb.RenyiBound(0.01 * n)
    for _ in range(100):
        x, y = rng.multinomial(n, [0.5, 0.5]) / n, rng.multinomial(n, [0.3, 0.7]) / n
        assert not method.trusted(Densities(x, y), order=order, n=n)


def test_the_published_bound_is_not_trusted_where_its_bias_shows():
    published = rb.RenyiBoundAsPublished(draws_at_floor=50)
    rng = np.random.default_rng(0)
    assert not published.trusted(alike(100, 100_000, rng), order=2.0, n=100_000)
    sums = reduce_pair(
        rng.laplace(1, 5, 500_000), rng.laplace(0, 5, 500_000), {"points": 1000, "power": 1.1}
    )
    assert published.trusted(sums, order=2.0, n=500_000)
    assert bound_of(published, alike(100, 100_000, rng), 2.0, 100_000)[0] > 0


def test_kernel_estimates_are_no_counts():
    densities = reduce_pair(
        *np.random.default_rng(0).normal(size=(2, 500)), {"points": 50, "power": 1.1}
    )
    with pytest.raises(ArgumentError, match="densities must be relative frequencies"):
        bound_of(rb.RenyiBound(50), densities, 2.0, 500)


def test_where_the_grid_is_coarser_than_the_kernel_the_bias_is_of_the_grid():
    """The noise is that of draws spread over two points, not that of the narrow kernel."""
    rng, n, h = np.random.default_rng(0), 20_000, 1e-6
    values, expected = [], []
    for _ in range(200):
        p, q = (bkde(x, h, points=51, ends=(0, 50))[1] for x in rng.uniform(0, 50, (2, n)))
        settings = {"order": 2.0, "tau": 1e-6, "beta": 1e6, "spacing": 1.0}
        values.append(rb.divergence(p, q, **settings).value)
        expected.append(rb.bias(p, q, n=n, bandwidths=(h, h), **settings))
    assert np.mean(values) == pytest.approx(np.mean(expected), rel=0.1)


@pytest.mark.parametrize("order", [2.0, 5.0])
def test_the_bias_is_the_mean_error_of_the_estimates(order):
    rng = np.random.default_rng(11)
    n, p, q = 3000, np.full(50, 0.02), np.linspace(0.01, 0.03, 50)
    q /= q.sum()
    settings = {"order": order, "tau": 1e-6, "beta": 1e6}
    pairs = [(rng.multinomial(n, p) / n, rng.multinomial(n, q) / n) for _ in range(3000)]
    errors = [rb.divergence(*pair, **settings).value - exact(p, q, order) for pair in pairs]
    expected = rb.bias(p, q, n=n, **settings)
    assert np.mean(errors) == pytest.approx(expected, rel=0.25 if order > 2 else 0.1)


def test_levels_of_several_pairs():
    independent = rb.RenyiBound(50, largest=True, correction="independent").level(10)
    assert (1 - 2 * independent) ** 10 == pytest.approx(0.95)  # both directions share it
    bonferroni = rb.RenyiBound(50, largest=True).level(10)
    assert bonferroni == pytest.approx(0.0025)
    assert independent > bonferroni


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"order": math.inf}, "order must be above 1 and finite"),
        ({"tau": 0.0}, "tau must be positive"),
        ({"q": Q[:2]}, "q has shape"),
        ({"p": np.zeros(3)}, "p is 0 everywhere"),
        ({"q": np.array([0.5, math.nan, 0.5])}, "p and q must be finite"),
    ],
)
def test_bad_arguments_are_named(changes, message):
    arguments = {"p": P, "q": Q, "order": 2.0, **SHARP} | changes
    p, q = arguments.pop("p"), arguments.pop("q")
    with pytest.raises(ArgumentError, match=message):
        rb.divergence(p, q, **arguments)

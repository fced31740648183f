"""Lower bounds of losses and divergences, and who answers: by hand, and against exact values."""

import json
import math
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from epsilometer.densities.base import Densities
from epsilometer.densities.binned import bkde
from epsilometer.densities.kernel import nrd0
from epsilometer.densities.pair import reduce_pair
from epsilometer.errors import ArgumentError
from epsilometer.estimators import local_loss as ll
from epsilometer.estimators import renyi_bound as rb
from epsilometer.estimators.answering import answers
from epsilometer.estimators.base import Claims
from epsilometer.estimators.histogram import HistogramEstimator
from epsilometer.estimators.local_loss import LocalLoss, MaximumPrivacyLoss

# --- DPL and MPL ----------------------------------------------------------------------------------

FLOOR = 1e-3


def laplace_pair(n, shift=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return rng.laplace(0, 1, n), rng.laplace(shift, 1, n)


def dpl(pair, **options):
    """Return the loss, where it is and on which side."""
    ends = {"region": options.pop("region", None)}
    selected, (loss,) = ll.LocalLoss(**({"floor": FLOOR} | options)).screen([pair], **ends)
    assert selected == 0
    return SimpleNamespace(loss=loss.loss, **loss.target)


def test_loss_of_laplace_is_flat_beyond_the_inputs():
    grid, *densities = ll._on_line(*laplace_pair(200_000), (-1.0, 2.0), 301)
    loss = ll.signed_loss(*densities, FLOOR)
    inside = (grid > -0.8) & (grid < -0.2)
    assert loss[inside] == pytest.approx(np.full(inside.sum(), 1.0), abs=0.06)
    assert np.abs(loss[np.argmin(np.abs(grid - 0.5))]) < 0.05


@pytest.mark.parametrize("exchanged", [False, True])
def test_a_region_is_as_wide_as_the_quantiles_of_both_sides(exchanged):
    rng = np.random.default_rng(1)
    for mean, spread in (([[0], [1]], [[5], [1]]), ([[0], [3]], 1)):
        sides = rng.normal(mean, spread, (2, 400))
        low, high = ll.default_region(*(sides[::-1] if exchanged else sides))
        lows = [np.sort(side)[[3, 4]] @ [0.01, 0.99] for side in sides]
        highs = [np.sort(side)[[395, 396]] @ [0.99, 0.01] for side in sides]
        assert (low, high) == pytest.approx((min(lows), max(highs)))


@pytest.mark.parametrize("spread", [0.2, 5.0])
@pytest.mark.parametrize("exchanged", [False, True])
def test_the_second_bandwidth_is_that_of_the_narrower_and_of_the_smaller_side(spread, exchanged):
    rng = np.random.default_rng(2)
    sides = rng.normal(0, 1, 1000), rng.normal(0, spread, 300)
    h = ll.undersmoothed(*(sides[::-1] if exchanged else sides))
    rule = []
    for side in sides:  # Silverman's rule of thumb
        quarters = np.quantile(side, [0.25, 0.75])
        width = min(np.std(side, ddof=1), np.ptp(quarters) / 1.34)
        rule.append(0.9 * width * len(side) ** -0.2)
    assert h == pytest.approx(min(rule) * 300**-0.1)


@pytest.mark.parametrize("method", [rb.RenyiBound(50), rb.RenyiBoundAsPublished(50)])
def test_bounds_of_exchanged_sides_are_exchanged(method):
    ours = Densities(np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6]))
    forward, reverse = method.bounds(ours, order=2.0, n=5000, pairs=1)
    assert (reverse, forward) == method.bounds(ours.swapped(), order=2.0, n=5000, pairs=1)
    assert abs(forward - reverse) > 0.05


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_the_evidence_about_an_output_without_draws_is_floored_on_either_side(kind):
    method, target = LocalLoss(FLOOR), {"output": [50], "sign": 1}
    there = np.linspace(0, 99, 100).astype(kind)
    nowhere = there + 200
    for x, x_prime in ((there, nowhere), (nowhere, there)):
        evidence = method.weigh(x, x_prime, target)
        floored = [evidence.density == FLOOR, evidence.density_prime == FLOOR]
        assert floored == [x is nowhere, x_prime is nowhere]


def test_discrete_outputs_converge():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    for outputs in (np.arange(3), np.array([[0, 0], [0, 1], [1, 0]])):
        rng = np.random.default_rng(0)
        x, y = (outputs[rng.choice(3, 20_000, p=side)] for side in (p, q))
        signs = set()
        for sides in ((x, y), (y, x)):
            result = dpl(sides)
            assert result.loss == pytest.approx(math.log(2.5), abs=0.1)  # six deviations
            signs.add(result.sign)
            hit = outputs[0] if (result.sign == 1) == (sides[0] is x) else outputs[2]
            assert result.output == np.atleast_1d(hit).tolist()
        assert signs == {1, -1}


def at_points(side, points, used=slice(None)):
    """Return the mean of normal densities around the draws that are used, at points."""
    side, points = (v.reshape(len(v), -1) for v in (side, points))
    return stats.norm.pdf(points[:, None], side[used], nrd0(side)).prod(axis=2).mean(axis=1)


@pytest.mark.parametrize("sizes", [(80, 120), (120, 80)])
@pytest.mark.parametrize("region", ["wide", "closed", None])
def test_draws_at_which_densities_are_asked_are_no_part_of_them(sizes, region):
    rng = np.random.default_rng(3)
    x, y = (rng.normal(0, 1 + (n > 100), (n, 2)) for n in sizes)
    x[3, 0], y[4, 1] = 30, -30
    expected = np.concatenate([x[:20], y[:20]])
    if region is None:
        boxes = np.array([ll.default_region(*columns) for columns in zip(x.T, y.T, strict=True)])
        expected = expected[((expected >= boxes[:, 0]) & (expected <= boxes[:, 1])).all(axis=1)]
        assert 0 < len(expected) < 40
    ends = {"wide": (-99.0, 99.0), "closed": (expected.min(), expected.max())}
    points, *densities = ll.estimated(x, y, ends.get(region), 9)
    np.testing.assert_array_equal(points, expected)
    for side, density in zip((x, y), densities, strict=True):
        np.testing.assert_allclose(density, at_points(side, points, slice(20, None)))
    with pytest.raises(
        ArgumentError, match=r"region \[90, 99\] x \[90, 99\] holds none of the first"
    ):
        ll.estimated(x, y, (90.0, 99.0), 9)


def test_each_side_has_a_density_and_a_bandwidth_of_its_own():
    """At given outputs of one or two dimensions, on a grid to the digits of its bins; of counts."""
    rng = np.random.default_rng(4)
    for shape in ((), (2,)):
        sides = rng.normal(0, 1, (300, *shape)), rng.normal(1, 5, (200, *shape))
        points = np.zeros((3, *shape)) + np.arange(3).reshape(3, *[1] * len(shape))
        found = ll.densities_at(*sides, points)
        for side, density in zip(sides, found, strict=True):
            np.testing.assert_allclose(density, at_points(side, points))
    one, other = (side[:, 0] for side in sides)
    for line, region in (((one, other), None), ((other, one), None), ((one, other), (-3.0, 4.0))):
        points, *found = ll.estimated(*line, region, 50)
        low, high = region or ll.default_region(*line)
        np.testing.assert_allclose(points, np.linspace(low, high, 50))
        for side, density in zip(line, found, strict=True):
            np.testing.assert_allclose(density, at_points(side, points), rtol=0.01, atol=1e-4)
    for outcomes in (np.arange(3), np.array([[0, 1], [1, 0], [1, 1]])):
        p, q = ll.densities_at(outcomes[[0, 1, 1, 1]], outcomes[[2, 0]], outcomes)
        assert (p.tolist(), q.tolist()) == ([0.25, 0.75, 0], [0.5, 0, 0.5])


@pytest.mark.parametrize("exchanged", [False, True])
def test_an_atom_of_either_side_is_refused(exchanged):
    rng = np.random.default_rng(5)
    plain = rng.normal(size=(400, 2))
    atom = np.where(np.arange(400)[:, None] < 200, 0.5, plain)
    for x, y in ((plain, atom), (plain[:, 0], atom[:, 0])):
        sides = (y, x) if exchanged else (x, y)
        for ask in (
            lambda x, y: ll.estimated(x, y, None, 9),
            lambda x, y: ll.densities_at(x, y, x[:2]),
            lambda x, y: reduce_pair(x, y, {"points": 9, "power": 1.1}),
        ):
            with pytest.raises(ArgumentError, match=r"reals with an atom \(200 of 800"):
                ask(*sides)


def test_the_densest_candidates_hold_a_share_of_the_draws_at_most_but_for_the_first():
    outputs, p, q = np.array([[0, 1, 2, 3], [0.5, 1.5, 0.75, 0.25], [1.5, 2.5, 0.25, 0.75]])
    for share, kept in ((0.1, [1]), (0.5, [1]), (0.75, [0, 1]), (0.9, [0, 1, 2])):
        found = ll.densest((outputs, p, q), share)
        expected = [part[kept].tolist() for part in (outputs, p, q)]
        assert [part.tolist() for part in found] == expected
    rows = np.array([[0.0, 1], [1, 0], [2, 2], [3, 3]])  # draws: each of them is a quarter
    found = ll.densest((rows, p, q), 0.5)
    assert [part.tolist() for part in found] == [part[[0, 1]].tolist() for part in (rows, p, q)]


def test_disjoint_supports_reach_the_floor():
    x, y = np.zeros(100, int), np.ones(100, int)
    assert dpl((x, y)).loss == pytest.approx(math.log(1000))
    rng = np.random.default_rng(0)
    far = dpl((rng.normal(0, 0.1, 2000), rng.normal(9, 0.1, 2000)))
    assert far.loss == pytest.approx(math.log(4 / FLOOR), rel=0.1)


def test_the_largest_pair_is_selected_and_the_first_of_ties():
    a, b = laplace_pair(5_000, 0.2), laplace_pair(5_000, 1.0)
    selected, losses = ll.LocalLoss(FLOOR).screen([a, b, b])
    assert selected == 1
    assert losses[1].loss == losses[2].loss > losses[0].loss
    assert [loss.target is None for loss in losses] == [True, False, True]
    with pytest.raises(ArgumentError, match="pairs must not be empty"):
        ll.LocalLoss(FLOOR).screen([])


def test_mixed_outputs_and_finite_orders_are_refused():
    with pytest.raises(ArgumentError, match="mixed, neither discrete nor continuous"):
        ll.LocalLoss(floor=1e-3).check("mixed", math.inf)
    with pytest.raises(ArgumentError, match="lambda must be inf"):
        ll.LocalLoss(floor=1e-3).check("scalar", 2.0)
    for bad in (0.0, -1.0, math.nan):
        with pytest.raises(ArgumentError, match="floor must be"):
            ll.LocalLoss(floor=bad)
    with pytest.raises(ArgumentError, match="points must be at least 2"):
        ll.LocalLoss(floor=0.1, points=1)


def test_outputs_beyond_2_to_the_53_are_themselves():
    """Two bit vectors that differ in the lowest of 61 bits: floats would be one and the same."""
    rng = np.random.default_rng(0)
    x, y = (2**60 + rng.binomial(1, p, 5000) for p in (0.8, 0.2))
    selected = ll.LocalLoss(floor=FLOOR).screen([(x, y)])[1][0].target
    assert selected["output"] in ([2**60], [2**60 + 1])
    evidence = ll.LocalLoss(floor=FLOOR).weigh(x, y, json.loads(json.dumps(selected)))
    assert sorted([evidence.density, evidence.density_prime]) == pytest.approx([0.2, 0.8], abs=0.02)


def test_a_region_far_narrower_than_the_kernels_takes_no_memory():
    """At epsilon 1e-5 a grid as fine as the region would have reached over 6 GB."""
    x = np.random.default_rng(0).laplace(0, 1e5, 2000)
    tracemalloc.start()
    result = dpl((x, x + 1e5), region=(-1.0, 1.0), floor=1e-9)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6
    assert result.loss == pytest.approx(0.7, abs=0.5)  # smoothed at the kink


# -- MPL ------------------------------------------------------------------------------------------

Z = 1.6448536269514722
MPL = ll.MaximumPrivacyLoss("screen")


def weigh(x, y, output, floor=1e-6, sign=1):
    return ll.LocalLoss(floor=floor).weigh(x, y, {"output": output, "sign": sign})


def test_frequencies_by_hand():
    x, y = np.repeat([7, 1], [300, 700]), np.repeat([7, 1], [100, 900])
    evidence = weigh(x, y, [7])
    sigma = math.sqrt(1 / 0.3 + 1 / 0.1 - 2)
    by_hand = math.log(3) - Z * sigma / math.sqrt(1000)
    assert MPL.bound(evidence) == pytest.approx(by_hand)
    assert MPL.bound(weigh(y, x, [7], sign=-1)) == pytest.approx(by_hand)
    # where fresh draws gainsay the first ones there is no loss
    assert MPL.bound(weigh(y, x, [7])) == pytest.approx(by_hand - 2 * math.log(3))


def test_densities_by_hand():
    rng = np.random.default_rng(1)
    x, y = rng.normal(0, 1, 4000), rng.normal(0.5, 1, 4000)
    h = ll.undersmoothed(x, y)

    def kernel(sample, width):
        z = (0.0 - sample) / width
        return float(np.exp(-0.5 * z**2).mean() / (width * math.sqrt(2 * math.pi)))

    p, q = kernel(x, h), kernel(y, h)
    variance = (1 / (p * h) + 1 / (q * h)) / (2 * math.sqrt(math.pi)) / 4000
    by_hand = abs(math.log(p / q)) - Z * math.sqrt(variance)
    assert MPL.bound(weigh(x, y, [0.0], sign=-1 if p < q else 1)) == pytest.approx(by_hand)


def test_the_variance_is_that_of_the_estimates():
    """In one and in two dimensions, over 400 samples."""
    for d in (1, 2):
        shape = (1000,) if d == 1 else (1000, 2)
        logs, variances = [], []
        for seed in range(400):
            x = np.random.default_rng(seed).normal(size=shape)
            evidence = weigh(x, x, [0.3] * d)
            logs.append(math.log(evidence.density))
            variances.append(evidence.log_variance)
        assert np.var(logs) == pytest.approx(np.mean(variances), rel=0.25)


@pytest.mark.parametrize(("d", "power"), [(1, 0.3), (2, 1 / 6 + 0.1)])
def test_the_second_bandwidth_shrinks_faster_than_the_first(d, power):
    """(C4): by N^(-1/10) beyond Silverman's N^(-1/(d + 4)), from two sizes of one shape."""
    levels = [(np.arange(n) + 0.5) / n for n in (1000, 32_000)]
    few, many = (np.column_stack([stats.norm.ppf(level)] * d) for level in levels)
    ratio = ll.undersmoothed(few, few) / ll.undersmoothed(many, many)
    assert ratio == pytest.approx(32**power, rel=0.01)


def test_sides_of_unequal_sizes_have_variances_of_their_own():
    x, y = np.repeat([0, 1], [30, 70]), np.repeat([0, 1], [5, 5])
    evidence = ll.LocalLoss(floor=FLOOR).weigh(x, y, {"output": [0], "sign": -1})
    assert (evidence.density, evidence.density_prime) == (0.3, 0.5)
    assert evidence.log_variance == pytest.approx((1 / 0.3 - 1) / 100)
    assert evidence.log_variance_prime == pytest.approx((1 / 0.5 - 1) / 10)
    x, y = np.random.default_rng(0).normal(size=(2, 1000))
    assert ll.undersmoothed(x, y[:500]) == ll.undersmoothed(y[:500], x)


# --- lower bounds for the Rényi divergence --------------------------------------------------------

P, Q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
SHARP = {"tau": 1e-5, "beta": 1e5}


def exact(p, q, order):
    return math.log((p**order * q ** (1 - order)).sum()) / (order - 1)


@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 7.0, 40.0])
def test_a_sharp_low_floor_leaves_the_divergence_as_it_is(order):
    estimate = rb.divergence(P, Q, order=order, tau=1e-9, beta=1e9)
    assert estimate.value == pytest.approx(exact(P, Q, order), rel=1e-9)
    assert rb.divergence(P, P, order=order, tau=1e-9, beta=1e9).value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("spacing", [1.0, 0.25])
@pytest.mark.parametrize("order", [1.5, 2.0, 4.0])
def test_the_variance_is_that_of_the_delta_method(order, spacing):
    """By numeric derivatives of the value, with outcomes on both sides of the floor."""
    p, q = np.array([0.6, 0.3, 0.1]) / spacing, np.array([0.3, 0.62, 0.08]) / spacing
    settings = {"order": order, "tau": 0.2 / spacing, "beta": 9.0 * spacing, "spacing": spacing}

    def value(side, i, step):
        sides = [p.copy(), q.copy()]
        sides[side][i] += step
        return rb.divergence(*sides, **settings).value

    variance = 0.0
    for side, density in enumerate((p, q)):
        step = 1e-5 / spacing
        slopes = [(value(side, i, step) - value(side, i, -step)) / (2 * step) for i in range(3)]
        influence, mass = np.array(slopes) / spacing, density * spacing
        variance += (influence**2 * mass).sum() - (influence * mass).sum() ** 2
    estimate = rb.divergence(p, q, **settings)
    assert estimate.variance == pytest.approx(variance, rel=1e-6)
    deviation = math.sqrt(estimate.variance / 10_000)
    assert estimate.bound(10_000) == pytest.approx(estimate.value - Z * deviation)


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
    for pairs in (2, 3):
        with pytest.raises(ArgumentError, match="correction must be bonferroni"):
            shared.check_pairs(pairs, own_samples=False)
    rb.RenyiBound(50, largest=True).check_pairs(3, own_samples=False)
    rb.RenyiBound(50).check_pairs(3, own_samples=False)
    sides = np.random.default_rng(5).laplace(size=(3, 400))
    with pytest.raises(ArgumentError, match="correction must be bonferroni"):
        list(answers(shared, sides, order=2.0, pairing="all"))


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
        if mean == 40.0 or (side == "p" and order in (2.0, 7.0)):  # whole: a factorial moment
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
    sides = [rng.laplace(at, 5, 500_000) for at in (1, 0)]
    assert published.power == 1.1  # kutta2022, Section 5
    sums = reduce_pair(*sides, published.reduction)
    assert published.trusted(sums, order=2.0, n=500_000)
    assert bound_of(published, alike(100, 100_000, rng), 2.0, 100_000)[0] > 0


def test_a_published_bound_is_trusted_where_its_bias_is_half_of_its_margin_at_most():
    """And its spread is small; each of them decides alone somewhere."""
    rng, order, decides = np.random.default_rng(2), 4.0, set()
    method = rb.RenyiBoundAsPublished(draws_at_floor=20)
    for _ in range(60):
        n, h = int(np.exp(rng.uniform(3.2, 14))), float(rng.choice([0.01, 0.3, 100.0]))
        p, q = rng.dirichlet(np.full(30, rng.choice([0.3, 50.0])), 2) * 4
        settings = {"order": order, "tau": 20 / n, "beta": n / 20, "spacing": 0.25}
        met, shares = {"bias": True, "spread": True}, []
        for one, other in ((p, q), (q, p)):
            estimate = rb.divergence(one, other, **settings)
            margin = Z * math.sqrt(estimate.variance / n)
            shares.append(rb.bias(one, other, n=n, bandwidths=(h, h), **settings) / margin)
            met["spread"] &= estimate.variance * (order - 1) ** 2 / n <= 0.25
        met["bias"] = max(shares) <= 0.5
        sides = Densities(p, q, 0.25, (h, h))
        assert method.trusted(sides, order=order, n=n) == all(met.values())
        decides |= {name for name in met if not met[name] and sum(met.values()) == 1}
    assert decides == {"bias", "spread"}


def test_kernel_estimates_are_no_counts():
    sides = np.random.default_rng(0).normal(size=(2, 500))
    densities = reduce_pair(*sides, {"points": 50, "power": 1.1})
    with pytest.raises(ArgumentError, match="densities must be relative frequencies"):
        bound_of(rb.RenyiBound(50), densities, 2.0, 500)


def test_the_bias_counts_the_slope_of_the_floor_and_not_its_curvature():
    """By second differences of the integral with the floor's tangent, outcomes on both sides."""
    p, q, order, step = np.array([0.6, 0.3, 0.1]), np.array([0.3, 0.62, 0.08]), 2.5, 1e-4
    floor = {"tau": 0.2, "beta": 9.0}
    height = rb.soft_floor(q, **floor)
    slope = (rb.soft_floor(q + 1e-6, **floor) - rb.soft_floor(q - 1e-6, **floor)) / 2e-6

    def terms(more_p, more_q):
        return (p + more_p) ** order * (height + slope * more_q) ** (1 - order)

    second = 0.0
    for along, side in (((step, 0.0), p), ((0.0, step), q)):
        bend = terms(*along) - 2 * terms(0, 0) + terms(-along[0], -along[1])
        second += (bend / step**2 * side / 1000 / 2).sum()
    expected = second / terms(0, 0).sum() / (order - 1)
    assert rb.bias(p, q, order=order, n=1000, **floor) == pytest.approx(expected, rel=1e-4)


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


@pytest.mark.parametrize(("spacing", "h"), [(1.0, 0.0), (0.25, 0.7), (0.25, 0.01)])
@pytest.mark.parametrize("order", [1.5, 2.0, 4.0])
def test_the_bias_is_that_of_numerical_second_derivatives(order, spacing, h):
    """Of the integral in each frequency or density, whose noise has the variance of its docs."""
    rng, n, step = np.random.default_rng(4), 1000, 1e-4
    p, q = rng.dirichlet(np.full(6, 9.0), 2) / spacing

    def integral(sides):
        return float((sides[0] ** order * sides[1] ** (1 - order)).sum() * spacing)

    variances = np.array([p, q]) / n  # of counts
    if h:
        variances = np.array([p, q]) * min(1 / (2 * math.sqrt(math.pi) * h), 2 / 3 / spacing) / n
    sides = np.array([p, q])
    second = 0.0
    for place in np.ndindex(sides.shape):
        changed = np.zeros(sides.shape)
        changed[place] = step
        difference = integral(sides + changed) - 2 * integral(sides) + integral(sides - changed)
        second += difference / step**2 * variances[place] / 2
    settings = {"order": order, "tau": 1e-7, "beta": 1e7, "spacing": spacing}
    bias = rb.bias(p, q, n=n, bandwidths=(h, h), **settings)
    assert bias == pytest.approx(second / integral(sides) / (order - 1), rel=1e-4)


def test_a_bound_is_trusted_where_four_conditions_hold_and_nowhere_else():
    """Each of them decides alone somewhere."""
    rng, method, decides = np.random.default_rng(2), rb.RenyiBound(draws_at_floor=20), set()
    for _ in range(200):
        n, order = int(np.exp(rng.uniform(3.2, 8))), float(rng.choice([1.2, 2.0, 4.0, 7.0]))
        k = int(rng.integers(2, 60))
        sides = rng.dirichlet(np.full(k, rng.choice([0.3, 3.0, 50.0])), 2)
        p, q = rng.multinomial(n, sides[0]) / n, rng.multinomial(n, sides[1]) / n
        tau, beta = method.floor(n)
        settings = {"order": order, "tau": tau, "beta": beta}
        holds = True
        for one, other in ((p, q), (q, p)):
            spread = rb.divergence(one, other, **settings).variance * (order - 1) ** 2 / n
            conditions = {
                "draws": n >= 10 * order**2,
                "hidden": one[np.maximum(one, other) < tau].sum() <= 0.5,
                "bias": rb.bias(one, other, n=n, **settings) * (order - 1) <= 0.5,
                "value": rb.unbiased(one, other, n=n, **settings) > -math.inf,
                "spread": spread <= 0.25,
            }
            holds = holds and all(conditions.values())
            if sum(conditions.values()) == len(conditions) - 1:
                decides |= {name for name, met in conditions.items() if not met}
        assert method.trusted(Densities(p, q), order=order, n=n) == holds
    assert {"hidden", "bias", "spread"} <= decides
    at_floor = Densities(*np.full((2, 50), 0.02))  # 20 draws: no outcome is below the floor
    assert method.trusted(at_floor, order=1.2, n=1000)
    single = Densities(*np.full((2, 1000), 0.001))  # no outcome has 1.2 draws
    assert not rb.RenyiBound(draws_at_floor=0.5).trusted(single, order=1.2, n=1000)


def test_each_limit_of_trust_itself_is_trusted(monkeypatch):
    rng, method, n, order = np.random.default_rng(3), rb.RenyiBound(20), 800, 2.0
    p, q = (rng.multinomial(n, rng.dirichlet(np.full(60, 0.7))) / n for _ in range(2))
    sides = Densities(p, q)
    tau, beta = method.floor(n)
    settings = {"order": order, "tau": tau, "beta": beta}
    largest = dict.fromkeys(("_HIDDEN", "_CORRECTION", "_VARIANCE"), 0.0)
    for one, other in ((p, q), (q, p)):
        values = {
            "_HIDDEN": float(one[np.maximum(one, other) < tau].sum()),
            "_CORRECTION": rb.bias(one, other, n=n, **settings) * (order - 1),
            "_VARIANCE": rb.divergence(one, other, **settings).variance * (order - 1) ** 2 / n,
        }
        largest = {name: max(largest[name], value) for name, value in values.items()}
    for name in largest:
        monkeypatch.setattr(rb, name, math.inf)
    for name, value in largest.items():
        monkeypatch.setattr(rb, name, value)
        assert method.trusted(sides, order=order, n=n)
        monkeypatch.setattr(rb, name, np.nextafter(value, -1))
        assert not method.trusted(sides, order=order, n=n)
        monkeypatch.setattr(rb, name, math.inf)
    for least, trusted in ((n / order**2, True), (n / order**2 + 1e-9, False)):
        monkeypatch.setattr(rb, "_LEAST_DRAWS", least)
        assert method.trusted(sides, order=order, n=n) == trusted
    few = {"order": 3.0, "tau": 1e-3, "beta": 1e3}
    assert rb.unbiased(np.ones(1), np.ones(1), n=3, **few) == -math.inf
    assert rb.unbiased(np.ones(1), np.ones(1), n=4, **few) == pytest.approx(0, abs=1e-9)


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
        ({"p": np.array([P]), "q": np.array([Q])}, "q has shape"),
        ({"p": P[:0], "q": Q[:0]}, "q has shape"),
        ({"p": np.array([0.5, math.inf, 0.5])}, "p and q must be finite"),
        ({"p": np.zeros(3)}, "p is 0 everywhere"),
        ({"q": np.array([0.5, math.nan, 0.5])}, "p and q must be finite"),
    ],
)
def test_bad_arguments_are_named(changes, message):
    arguments = {"p": P, "q": Q, "order": 2.0, **SHARP} | changes
    p, q = arguments.pop("p"), arguments.pop("q")
    with pytest.raises(ArgumentError, match=message):
        rb.divergence(p, q, **arguments)


# --- one function answers for every estimator -----------------------------------------------------

AT = (0.0, 0.1, 0.0, 1.0)


@pytest.fixture
def sides():
    rng = np.random.default_rng(5)
    return [rng.laplace(at, 1, 4000) for at in AT]


def test_a_histogram_that_fails_is_no_level_and_others_answer():
    sides = [np.array(side, np.int32) for side in ([0, 0, 1], [0, 1, 1], [0, 0, 0])]
    taken = (side for side in sides)  # one at a time
    claims = Claims(outcomes=2)
    estimator = HistogramEstimator(gamma=1.0)
    first, *others = answers(estimator, taken, order=math.inf, pairing="all", claims=claims)
    assert (first.sides, first.both) == ((0, 1), pytest.approx(math.log(2)))
    assert [answer.sides for answer in others] == [(0, 2), (1, 2)]
    assert all(math.isnan(answer.both) for answer in others)


def test_every_pair_has_a_loss_and_fresh_draws_are_of_the_selected_one(sides):
    screen, estimator = LocalLoss(floor=1e-3), MaximumPrivacyLoss(after="dpl")
    losses = list(answers(screen, sides, order=math.inf, region=(-1.0, 1.0)))
    rng, drawn = np.random.default_rng(6), []

    def fresh(pair):
        drawn.append(pair)
        return [rng.laplace(AT[side], 1, 20_000) for side in pair]

    options = {"order": math.inf, "region": (-1.0, 1.0)}
    (bound,) = answers(estimator, sides, screen=screen, fresh=fresh, **options)
    assert drawn == [bound.sides] == [max(losses, key=lambda answer: answer.both).sides]
    assert 0.5 < bound.both < 1.0
    for part in ({}, {"screen": screen}, {"fresh": fresh}):
        with pytest.raises(ArgumentError, match="after must name the estimator that selects"):
            list(answers(estimator, sides, order=math.inf, **part))


def test_a_bound_is_from_as_many_draws_of_either_side_the_first_ones(sides):
    method = rb.RenyiBound(50)
    for pair in ([sides[0], sides[3][:3000]], [sides[3][:3000], sides[0]]):
        (given,) = answers(method, pair, order=2.0)
        first = reduce_pair(*(side[:3000] for side in pair), method.reduction)
        assert (given.forward, given.reverse) == bound_of(method, first, 2.0, 3000)
        assert given.trusted() == method.trusted(first, order=2.0, n=3000)

"""The local loss of pairs of inputs, its largest value, and its lower bound (askin2022)."""

import json
import math

import numpy as np
import pytest

from epsilometer.densities.kernel import density_at, nrd0
from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import OutputEvidence
from epsilometer.estimators.local_loss import (
    LocalLoss,
    MaximumPrivacyLoss,
    default_region,
    densest,
    densities_at,
    estimated,
    undersmoothed,
)

FLOOR = 1e-3
Z = 1.6448536269514722  # the 95 % quantile


def largest_loss(x, x_prime, **options):
    """Return the loss of a pair, its output and its sign."""
    _, (loss,) = LocalLoss(FLOOR).screen([(x, x_prime)], **options)
    return loss.loss, loss.target["output"], loss.target["sign"]


# --- the densities of both sides ------------------------------------------------------------------


@pytest.mark.parametrize(("mean", "spread"), [(5, 1), (0, 3), (0, 0.3)])
def test_a_region_is_as_wide_as_the_quantiles_of_both_sides(mean, spread):
    rng = np.random.default_rng(1)
    x, x_prime = rng.normal(0, 1, 400), rng.normal(mean, spread, 400)
    low = min(np.quantile(x, 0.01), np.quantile(x_prime, 0.01))
    high = max(np.quantile(x, 0.99), np.quantile(x_prime, 0.99))
    assert default_region(x, x_prime) == (low, high)
    assert default_region(x_prime, x) == (low, high)


def test_each_side_has_a_density_and_a_bandwidth_of_its_own():
    rng = np.random.default_rng(4)
    x, x_prime, points = rng.normal(size=(300, 2)), rng.normal(1, 5, (200, 2)), np.eye(2)
    p, q = densities_at(x, x_prime, points)
    assert p.tolist() == density_at(x, points, nrd0(x)).tolist()
    assert q.tolist() == density_at(x_prime, points, nrd0(x_prime)).tolist()


@pytest.mark.parametrize("outcomes", [[0, 1, 2], [[0, 1], [1, 0], [1, 1]]])
def test_integers_have_relative_frequencies(outcomes):
    outcomes = np.array(outcomes)
    p, q = densities_at(outcomes[[0, 1, 1, 1]], outcomes[[2, 0]], outcomes)
    assert (p.tolist(), q.tolist()) == ([0.25, 0.75, 0], [0.5, 0, 0.5])


@pytest.mark.parametrize("region", [None, (-3.0, 4.0)])
def test_on_the_line_densities_are_on_a_grid_to_the_digits_of_its_bins(region):
    rng = np.random.default_rng(4)
    x, x_prime = rng.normal(0, 1, 300), rng.normal(1, 5, 200)
    points, *found = estimated(x, x_prime, region, 50)
    np.testing.assert_allclose(points, np.linspace(*(region or default_region(x, x_prime)), 50))
    exact = densities_at(x, x_prime, points)
    np.testing.assert_allclose(found, exact, rtol=0.01, atol=1e-4)


@pytest.mark.parametrize("sizes", [(80, 120), (120, 80)])
def test_draws_at_which_densities_are_asked_are_no_part_of_them(sizes):
    """A quarter of the smaller side, on both sides; the region is closed."""
    rng = np.random.default_rng(3)
    x, y = (rng.normal(0, 1, (size, 2)) for size in sizes)
    expected = np.concatenate([x[:20], y[:20]])
    points, p, q = estimated(x, y, (expected.min(), expected.max()), 9)
    np.testing.assert_array_equal(points, expected)
    assert p.tolist() == density_at(x[20:], points, nrd0(x)).tolist()
    assert q.tolist() == density_at(y[20:], points, nrd0(y)).tolist()


@pytest.mark.parametrize("shift", [0, 5, -5])
def test_without_a_region_vectors_are_asked_in_the_default_one_of_each_entry(shift):
    x, y = np.random.default_rng(3).normal(0, [1, 9], (2, 100, 2))
    x[3, 0] = y[4, 1] = 30
    y += shift
    points, _, _ = estimated(x, y, None, 9)
    expected = np.concatenate([x[:25], y[:25]])
    for j in range(2):
        low, high = default_region(x[:, j], y[:, j])
        expected = expected[(expected[:, j] >= low) & (expected[:, j] <= high)]
    np.testing.assert_array_equal(points, expected)


def test_a_region_without_draws_is_refused():
    rows = np.random.default_rng(3).normal(size=(80, 2))
    with pytest.raises(ArgumentError, match=r"region \[90, 99\] x \[90, 99\] holds none of the"):
        estimated(rows, rows, (90.0, 99.0), 9)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("side", [0, 1])
def test_an_atom_of_either_side_is_refused(d, side):
    sides = np.random.default_rng(5).normal(size=(2, 400, d))
    sides[side, :200] = 0.5
    x, y = sides.reshape(2, 400) if d == 1 else sides
    with pytest.raises(ArgumentError, match=r"reals with an atom \(200 of 800"):
        estimated(x, y, None, 9)
    with pytest.raises(ArgumentError, match=r"reals with an atom \(200 of 800"):
        densities_at(x, y, x[:2])


@pytest.mark.parametrize(
    ("share", "kept"), [(0.1, [1]), (0.5, [1]), (0.75, [0, 1]), (0.9, [0, 1, 2])]
)
def test_the_densest_candidates_hold_a_share_of_the_draws_at_most_but_for_the_first(share, kept):
    candidates = np.array([[0, 1, 2, 3], [0.5, 1.5, 0.75, 0.25], [1.5, 2.5, 0.25, 0.75]])
    np.testing.assert_array_equal(densest(tuple(candidates), share), candidates[:, kept])


def test_each_of_the_candidates_that_are_draws_has_an_equal_share():
    rows = np.array([[0.0, 1], [1, 0], [2, 2], [3, 3]])
    density = np.array([2.0, 9.0, 1.5, 1.0])
    assert densest((rows, density, density), 0.5)[0].tolist() == rows[:2].tolist()


# --- the largest loss -----------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [[0, 1, 2], [[0, 0], [0, 1], [1, 0]]])
def test_the_loss_of_discrete_outputs_by_hand(outputs):
    outputs = np.array(outputs)
    x, y = outputs.repeat([5, 3, 2], axis=0), outputs.repeat([2, 4, 4], axis=0)
    where = np.atleast_1d(outputs[0]).tolist()
    assert largest_loss(x, y) == (pytest.approx(math.log(2.5)), where, 1)
    assert largest_loss(y, x) == (pytest.approx(math.log(2.5)), where, -1)


def test_disjoint_supports_reach_the_floor():
    x, y = np.zeros(100, int), np.ones(100, int)
    assert largest_loss(x, y)[0] == pytest.approx(math.log(1 / FLOOR))


def test_the_largest_pair_is_selected_and_the_first_of_ties():
    draws = np.random.default_rng(0).laplace(size=(2, 5000))
    near, far = (draws[0], draws[1] + 0.2), (draws[0], draws[1] + 1)
    selected, losses = LocalLoss(FLOOR).screen([near, far, far])
    assert selected == 1
    assert losses[1].loss == losses[2].loss > losses[0].loss
    assert [loss.target is None for loss in losses] == [True, False, True]
    with pytest.raises(ArgumentError, match="pairs must not be empty"):
        LocalLoss(FLOOR).screen([])


def test_mixed_outputs_finite_orders_and_bad_parameters_are_refused():
    with pytest.raises(ArgumentError, match="mixed, neither discrete nor continuous"):
        LocalLoss(FLOOR).check("mixed", math.inf)
    with pytest.raises(ArgumentError, match="lambda must be inf"):
        LocalLoss(FLOOR).check("scalar", 2.0)
    with pytest.raises(ArgumentError, match="floor must be"):
        LocalLoss(0.0)
    with pytest.raises(ArgumentError, match="points must be at least 2"):
        LocalLoss(FLOOR, points=1)


# --- fresh samples, and the bound -----------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_the_evidence_about_an_output_without_draws_is_floored_on_either_side(kind):
    there = np.arange(100).astype(kind)
    nowhere = there + 200
    target = {"output": [50], "sign": 1}
    evidence = LocalLoss(FLOOR).weigh(there, nowhere, target)
    assert evidence.density > FLOOR == evidence.density_prime
    evidence = LocalLoss(FLOOR).weigh(nowhere, there, target)
    assert evidence.density_prime > FLOOR == evidence.density


def test_outputs_beyond_2_to_the_53_are_themselves():
    """Bit vectors that differ in the lowest of 61 bits: floats would be one and the same."""
    x, y = 2**60 + np.array([0, 0, 0, 0, 1]), 2**60 + np.array([0, 1, 1, 1, 1])
    _, output, sign = largest_loss(x, y)
    assert (output, sign) == ([2**60], 1)
    evidence = LocalLoss(FLOOR).weigh(x, y, json.loads(json.dumps({"output": output, "sign": 1})))
    assert (evidence.density, evidence.density_prime) == (0.8, 0.2)


def test_the_evidence_of_sides_of_unequal_sizes_by_hand():
    x, y = np.repeat([0, 1], [30, 70]), np.repeat([0, 1], [5, 5])
    evidence = LocalLoss(FLOOR).weigh(x, y, {"output": [0], "sign": -1})
    assert (evidence.density, evidence.density_prime, evidence.sign) == (0.3, 0.5, -1)
    assert evidence.log_variance == pytest.approx((1 / 0.3 - 1) / 100)
    assert evidence.log_variance_prime == pytest.approx((1 / 0.5 - 1) / 10)


@pytest.mark.parametrize("d", [1, 2])
def test_the_variance_of_a_density_is_that_of_the_estimates(d):
    """Over 400 samples; a quarter is three and a half deviations."""
    logs, variances = [], []
    for seed in range(400):
        x = np.random.default_rng(seed).normal(size=1000 if d == 1 else (1000, d))
        evidence = LocalLoss(FLOOR).weigh(x, x, {"output": [0.3] * d, "sign": 1})
        logs.append(math.log(evidence.density))
        variances.append(evidence.log_variance)
    assert np.var(logs) == pytest.approx(np.mean(variances), rel=0.25)


def test_the_evidence_of_a_density_is_of_the_second_bandwidth():
    x, y = np.random.default_rng(1).normal([[0], [1]], 1, (2, 400))
    evidence = LocalLoss(FLOOR).weigh(x, y, {"output": [0.0], "sign": 1})
    h = undersmoothed(x, y)
    assert evidence.density == density_at(x, np.zeros(1), h)
    assert evidence.density_prime == density_at(y, np.zeros(1), h)


@pytest.mark.parametrize("spread", [0.2, 5.0])
@pytest.mark.parametrize("exchanged", [False, True])
def test_the_second_bandwidth_is_that_of_the_narrower_and_of_the_smaller_side(spread, exchanged):
    """It shrinks by N^(-1/10) faster than the first (C4)."""
    rng = np.random.default_rng(2)
    sides = [rng.normal(0, 1, 1000), rng.normal(0, spread, 300)]
    rule = min(map(nrd0, sides))
    h = undersmoothed(*(sides[::-1] if exchanged else sides))
    assert h == pytest.approx(rule * 300**-0.1)


def test_the_bound_by_hand():
    margin = Z * math.sqrt(0.02 + 0.03)
    bound = MaximumPrivacyLoss().bound(OutputEvidence(0.3, 0.1, 0.02, 0.03, 1))
    assert bound == pytest.approx(math.log(3) - margin)
    # where fresh draws gainsay the first ones there is no loss
    bounds = MaximumPrivacyLoss().bound(OutputEvidence(0.1, 0.3, 0.02, 0.03, [1, -1]))
    assert bounds == pytest.approx([-math.log(3) - margin, math.log(3) - margin])

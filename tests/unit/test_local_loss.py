"""DPL and MPL: by hand, on every kind of outputs, and at the edges."""

import json
import math
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.estimators import local_loss as ll

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


def test_discrete_outputs_converge():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    for outputs in (np.arange(3), np.array([[0, 0], [0, 1], [1, 0]])):
        rng = np.random.default_rng(0)
        x, y = (outputs[rng.choice(3, 200_000, p=side)] for side in (p, q))
        result = dpl((x, y))
        assert result.loss == pytest.approx(math.log(2.5), abs=0.02)
        hit = outputs[2 if result.sign < 0 else 0]
        assert result.output == np.atleast_1d(hit).tolist()


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


def test_sides_of_unequal_sizes_have_variances_of_their_own():
    x, y = np.repeat([0, 1], [30, 70]), np.repeat([0, 1], [5, 5])
    evidence = ll.LocalLoss(floor=FLOOR).weigh(x, y, {"output": [0], "sign": -1})
    assert (evidence.density, evidence.density_prime) == (0.3, 0.5)
    assert evidence.log_variance == pytest.approx((1 / 0.3 - 1) / 100)
    assert evidence.log_variance_prime == pytest.approx((1 / 0.5 - 1) / 10)
    x, y = np.random.default_rng(0).normal(size=(2, 1000))
    assert ll.undersmoothed(x, y[:500]) == ll.undersmoothed(y[:500], x)

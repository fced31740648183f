"""The local loss and its lower bounds: by hand, and covering as often as they claim."""

import math

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.estimators import local_loss as ll
from epsilometer.exact.noisy_max import ReportNoisyMaxLaw
from epsilometer.mechanisms.noisy_max import ReportNoisyMax

FLOOR = 1e-3


def test_loss_of_laplace_is_flat_beyond_the_inputs():
    rng = np.random.default_rng(0)
    x, y = rng.laplace(0, 1, 200_000), rng.laplace(1, 1, 200_000)
    grid, loss = ll.loss_on_grid(x, y, (-1.0, 2.0), 301, FLOOR)
    inside = (grid > -0.8) & (grid < -0.2)
    assert loss[inside] == pytest.approx(np.full(inside.sum(), 1.0), abs=0.06)
    assert np.abs(loss[np.argmin(np.abs(grid - 0.5))]) < 0.05
    best = ll.largest(grid, loss)
    assert best.loss == pytest.approx(1.0, abs=0.1)


def test_largest_takes_the_first_of_ties_and_the_sign():
    assert ll.largest([1, 2, 3], [0.5, -0.7, 0.7]) == ll.Maximum(2.0, 0.7, -1)
    with pytest.raises(ArgumentError, match="loss has shape"):
        ll.largest([1, 2], [1.0])


def test_identical_samples_have_no_loss():
    x = np.random.default_rng(0).normal(size=500)
    _, loss = ll.loss_on_grid(x, x, (-1.0, 1.0), 50, FLOOR)
    assert np.abs(loss).max() == 0


def test_floors_keep_disjoint_supports_finite():
    loss = ll.signed_loss([0.5, 0.0], [0.0, 0.5], 1e-3)
    assert loss.tolist() == pytest.approx([math.log(500), -math.log(500)])
    with pytest.raises(ArgumentError, match="floor must be positive"):
        ll.signed_loss([0.5], [0.5], 0.0)


def test_frequency_bound_by_hand():
    p, q, n = 0.3, 0.1, 1000
    sigma = math.sqrt(1 / p + 1 / q - 2)
    by_hand = math.log(3) - 1.6448536269514722 * sigma / math.sqrt(n)
    assert ll.frequency_bound((300, 100), (n, n), floor=1e-6) == pytest.approx(by_hand)
    assert ll.frequency_bound((100, 300), (n, n), floor=1e-6) == pytest.approx(by_hand)


def test_density_bound_by_hand():
    rng = np.random.default_rng(1)
    x, y = rng.normal(0, 1, 4000), rng.normal(0.5, 1, 4000)
    h, h_prime = ll.undersmoothed(x), ll.undersmoothed(y)

    def kernel(sample, width):
        z = (0.0 - sample) / width
        return float(np.exp(-0.5 * z**2).mean() / (width * math.sqrt(2 * math.pi)))

    p, q = kernel(x, h), kernel(y, h_prime)
    variance = (1 / (p * h) + 1 / (q * h_prime)) / (2 * math.sqrt(math.pi)) / 4000
    by_hand = abs(math.log(p / q)) - 1.6448536269514722 * math.sqrt(variance)
    assert ll.density_bound(x, y, 0.0, floor=1e-6) == pytest.approx(by_hand)


def test_the_second_stage_undersmooths():
    x = np.random.default_rng(2).normal(size=50_000)
    assert ll.undersmoothed(x) == pytest.approx(ll.nrd0(x) * 50_000**-0.1)


def test_exact_bound_at_the_edges():
    assert ll.exact_bound((0, 10), (5, 10)) == 0.0
    assert ll.exact_bound((10, 10), (10, 10)) == 0.0
    assert ll.exact_bound((5, 10), (5, 10)) == 0.0
    never = ll.exact_bound((1000, 1000), (0, 1000))
    assert never == pytest.approx(math.log(0.025**0.001 / (1 - 0.025**0.001)))
    for wrong in [((11, 10), (1, 10)), ((-1, 10), (1, 10)), ((0, 0), (0, 10))]:
        with pytest.raises(ArgumentError, match="counts must have"):
            ll.exact_bound(*wrong)


def test_the_chosen_set_is_where_the_loss_is_largest():
    p = np.array([0.4, 0.3, 0.2999, 1e-4])
    q = np.array([0.1, 0.3, 0.599995, 1e-6])
    assert ll.best_set(p, q, draws=1000).tolist() == [True, False, False, True]
    # with draws enough, the rare output with the larger loss is worth being bounded alone
    assert ll.best_set(p, q, draws=10**9).tolist() == [False, False, False, True]


RUNS = 400


def test_coverage_of_both_bounds_for_laplace():
    """MPL and the exact bound on (0, 1/2): at most 5 % of runs above the truth, up to noise."""
    truth, n, fresh = 0.5, 5_000, 12_000
    above = {"mpl": 0, "exact": 0}
    ratios = []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        x, y = rng.laplace(0, 1, n), rng.laplace(0.5, 1, n)
        grid, loss = ll.loss_on_grid(x, y, (-1.0, 1.0), 201, FLOOR)
        best = ll.largest(grid, loss)
        x, y = rng.laplace(0, 1, fresh), rng.laplace(0.5, 1, fresh)
        mpl = ll.density_bound(x, y, best.output, floor=FLOOR)
        near = best.sign * loss >= best.loss - 0.25
        first, second = (x, y) if best.sign > 0 else (y, x)
        inside = [int(_in_cells(side, grid, near).sum()) for side in (first, second)]
        exact = ll.exact_bound((inside[0], fresh), (inside[1], fresh))
        above["mpl"] += mpl > truth
        above["exact"] += exact > truth
        ratios.append(exact / truth)
    noise = 3 * math.sqrt(0.05 * 0.95 / RUNS)
    assert above["mpl"] / RUNS <= 0.08
    assert above["exact"] / RUNS <= 0.05 + noise
    assert np.median(ratios) > 0.7  # it is a bound worth having


def _in_cells(sample, grid, chosen):
    """Tell which draws lie nearest to a chosen grid point, within the grid."""
    spacing = grid[1] - grid[0]
    cell = np.rint((sample - grid[0]) / spacing)
    within = (cell >= 0) & (cell < grid.size)
    return within & chosen[np.clip(cell, 0, grid.size - 1).astype(int)]


def test_coverage_of_both_bounds_for_report_noisy_max():
    law = ReportNoisyMaxLaw(ReportNoisyMax(0.7))
    pair = [1.0] * 6, [2.0] * 5 + [0.0]
    p, q = (law.probabilities(x) for x in pair)
    truth = max(law.privacy_loss(*pair), law.privacy_loss(*pair[::-1]))
    n, fresh = 5_000, 12_000
    above = {"mpl": 0, "exact": 0}
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        f, g = rng.multinomial(n, p) / n, rng.multinomial(n, q) / n
        best = ll.largest(np.arange(6), ll.signed_loss(f, g, FLOOR))
        likelier = (f, g) if best.sign > 0 else (g, f)
        chosen = ll.best_set(*likelier, draws=fresh, floor=FLOOR)
        counts = rng.multinomial(fresh, p), rng.multinomial(fresh, q)
        at = int(best.output)
        mpl = ll.frequency_bound(
            (int(counts[0][at]), int(counts[1][at])), (fresh, fresh), floor=FLOOR
        )
        sides = counts if best.sign > 0 else counts[::-1]
        exact = ll.exact_bound(*[(int(side[chosen].sum()), fresh) for side in sides])
        above["mpl"] += mpl > truth
        above["exact"] += exact > truth
    noise = 3 * math.sqrt(0.05 * 0.95 / RUNS)
    assert above["mpl"] / RUNS <= 0.08
    assert above["exact"] / RUNS <= 0.05 + noise

"""Lower bounds: by hand, at the edges, and covering as often as they claim."""

import math

import numpy as np
import pytest

from epsilometer.densities.kernel import nrd0
from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import Evidence
from epsilometer.estimators.local_loss import Loss, screen
from epsilometer.estimators.lower_bounds import (
    ClopperPearson,
    MaximumPrivacyLoss,
    undersmoothed,
    weigh,
)
from epsilometer.exact.noisy_max import ReportNoisyMaxLaw
from epsilometer.mechanisms.noisy_max import ReportNoisyMax

Z = 1.6448536269514722
MPL, EXACT = MaximumPrivacyLoss("screen"), ClopperPearson("screen")


def evidence(in_event, in_event_prime, draws, sign=1):
    return Evidence(1.0, 1.0, 0.0, 0.0, in_event, in_event_prime, draws, sign)


def test_frequencies_by_hand():
    x, y = np.repeat([7, 1], [300, 700]), np.repeat([7, 1], [100, 900])
    at = Loss(1.0, 1, np.array([7.0]), np.array([[7.0]]))
    found = weigh(x, y, at, floor=1e-6)
    sigma = math.sqrt(1 / 0.3 + 1 / 0.1 - 2)
    by_hand = math.log(3) - Z * sigma / math.sqrt(1000)
    assert MPL.bound(found) == pytest.approx(by_hand)
    assert MPL.bound(weigh(y, x, at, floor=1e-6)) == pytest.approx(by_hand)
    assert (found.in_event, found.in_event_prime, found.draws) == (300, 100, 1000)


def test_tuples_are_atoms_too():
    x, y = np.repeat([[7, 7], [7, 1]], [300, 700], axis=0), np.repeat([[7, 7]], 1000, axis=0)
    at = Loss(1.0, 1, np.array([7.0, 1.0]), np.array([[7.0, 1.0]]))
    found = weigh(x, y, at, floor=1e-3)
    assert (found.density, found.density_prime) == (0.7, 1e-3)
    assert (found.in_event, found.in_event_prime) == (700, 0)


def test_densities_by_hand():
    rng = np.random.default_rng(1)
    x, y = rng.normal(0, 1, 4000), rng.normal(0.5, 1, 4000)
    h = undersmoothed(x, y)

    def kernel(sample, width):
        z = (0.0 - sample) / width
        return float(np.exp(-0.5 * z**2).mean() / (width * math.sqrt(2 * math.pi)))

    p, q = kernel(x, h), kernel(y, h)
    variance = (1 / (p * h) + 1 / (q * h)) / (2 * math.sqrt(math.pi)) / 4000
    by_hand = abs(math.log(p / q)) - Z * math.sqrt(variance)
    at = Loss(1.0, 1, np.array([0.0]), np.array([[-1.0, 0.0]]))
    assert MPL.bound(weigh(x, y, at, floor=1e-6)) == pytest.approx(by_hand)


def test_the_variance_is_that_of_the_estimates():
    """In one and in two dimensions, over 400 samples."""
    for d in (1, 2):
        shape = (4000,) if d == 1 else (4000, 2)
        at = Loss(1.0, 1, np.full(d, 0.3), np.tile([-1.0, 1.0], (d if d > 1 else 1, 1)))
        logs, variances = [], []
        for seed in range(400):
            x = np.random.default_rng(seed).normal(size=shape)
            found = weigh(x, x, at, floor=1e-6)
            logs.append(math.log(found.density))
            variances.append(found.log_variance)
        assert np.var(logs) == pytest.approx(np.mean(variances), rel=0.25)


def test_the_second_stage_undersmooths():
    x = np.random.default_rng(2).normal(size=50_000)
    assert undersmoothed(x, 2 * x) == pytest.approx(nrd0(x) * 50_000**-0.1)


def test_one_bandwidth_cancels_the_bias_of_proportional_densities():
    """Exponential densities whose ratio is constant: however wide the kernel, it stays."""
    rng = np.random.default_rng(0)
    x = rng.laplace(0, 1, 400_000)
    y = np.where(rng.random(400_000) < 0.5, x, 50.0 + x)  # half of its density around 0
    at = Loss(1.0, 1, np.array([0.0]), np.array([[-1.0, 1.0]]))
    found = weigh(x, y, at, floor=1e-6)
    assert math.log(found.density / found.density_prime) == pytest.approx(math.log(2), abs=0.02)


def test_clopper_pearson_at_the_edges():
    assert EXACT.bound(evidence(0, 5, 10)) == 0.0
    assert EXACT.bound(evidence(10, 10, 10)) == 0.0
    assert EXACT.bound(evidence(5, 5, 10)) == 0.0
    never = EXACT.bound(evidence(1000, 0, 1000))
    assert never == pytest.approx(math.log(0.025**0.001 / (1 - 0.025**0.001)))
    assert EXACT.bound(evidence(0, 1000, 1000, sign=-1)) == never
    assert EXACT.bound(evidence(0, 1000, 1000, sign=1)) == 0.0
    several = EXACT.bound(evidence([1000, 0], [0, 1000], [1000, 1000], [1, 1]))
    assert several.tolist() == [never, 0.0]
    for wrong in [(11, 1, 10), (1, -1, 10), (0, 0, 0)]:
        with pytest.raises(ArgumentError, match="0 <= in_event <= draws"):
            EXACT.bound(evidence(*wrong))


def test_bad_arguments_are_refused():
    for alpha in (0, 1, math.nan):
        with pytest.raises(ArgumentError, match="alpha must"):
            ClopperPearson("screen", alpha=alpha)
    at = Loss(1.0, 1, np.array([0.0]), np.array([[0.0, 1.0]]))
    with pytest.raises(ArgumentError, match="x_prime has 2 draws, x has 3"):
        weigh(np.zeros(3), np.zeros(2), at, floor=0.1)


RUNS = 400


def coverage(draw, pairs, truths, floor=1e-3, n=5_000, fresh=12_000):
    """Return the shares of runs that the bounds hold in, and their medians as shares of truth."""
    held, ratios = {"mpl": 0, "exact": 0}, []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        samples = [(draw(x, n, rng), draw(y, n, rng)) for x, y in pairs]
        chosen, losses = screen(samples, floor=floor, draws=fresh, region=(-1.0, 1.0), points=201)
        x, y = (draw(side, fresh, rng) for side in pairs[chosen])
        found = weigh(x, y, losses[chosen], floor=floor)
        held["mpl"] += bool(MPL.bound(found) <= truths[chosen])
        held["exact"] += bool(EXACT.bound(found) <= truths[chosen])
        ratios.append([MPL.bound(found) / max(truths), EXACT.bound(found) / max(truths)])
    return held["mpl"] / RUNS, held["exact"] / RUNS, np.median(ratios, axis=0)


def check(mpl, exact, ratios):
    assert mpl >= 0.92
    assert exact >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / RUNS)
    assert (ratios > 0.7).all()  # they are bounds worth having


def test_coverage_for_laplace():
    distances = [0.25, 0.5]
    check(*coverage(lambda x, n, rng: rng.laplace(x, 1, n), [(0, d) for d in distances], distances))


def test_coverage_for_report_noisy_max():
    mechanism = ReportNoisyMax(0.7)
    law = ReportNoisyMaxLaw(mechanism)
    pairs = [([1.0] * 6, [2.0] * 5 + [0.0]), ([1.0] * 6, [0.0] + [2.0] * 5)]
    truths = [max(law.privacy_loss(*pair), law.privacy_loss(*pair[::-1])) for pair in pairs]
    check(*coverage(mechanism.sample, pairs, truths))


@pytest.mark.parametrize("alpha", [0.01, 0.2])
def test_another_alpha_is_kept_too(alpha):
    """The exact bound on coins that hardly differ, where its error is easiest to see."""
    rng = np.random.default_rng(0)
    k, m = rng.binomial(500, 0.5, 20_000), rng.binomial(500, 0.45, 20_000)
    bound = ClopperPearson("screen", alpha=alpha).bound(evidence(k, m, 500))
    assert (bound > math.log(0.5 / 0.45)).mean() <= alpha
    assert ClopperPearson("screen", alpha=0.2).bound(evidence(k, m, 500)).mean() > 0

"""Every exact law: against quadrature and brute force; where doubles cancel or underflow."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln, logsumexp

from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import pairs_of
from epsilometer.exact import EXACT
from epsilometer.exact.base import spectrum
from epsilometer.exact.noisy_sum import ExactNoisySum
from epsilometer.mechanisms import MECHANISMS
from epsilometer.mechanisms.noisy_sum import NoisySum
from epsilometer.testing import check_exact
from tests.contract.examples import by_speed, configured, inputs, law, mechanism, window

SCALAR = [name for name in sorted(EXACT) if mechanism(name).outputs == "scalar"]
continuous = pytest.mark.parametrize("name", by_speed(SCALAR, ("continuous_noisy_max",)))
ORDERS = [1.01, 1.5, 2.0, 3.0, 10.0]
CLAIMS = [0.0, 0.1, 0.5, 1.0, 2.5]


NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


def panels(low, high, *inputs):
    """Return points and weights of a rule for an interval.

    Where densities may have kinks, at the inputs' own values, panels end; each piece has a hundred.
    """
    values = np.unique(np.concatenate([np.ravel(x) for x in inputs]).astype(float))
    ends = [low, *values[(low < values) & (values < high)], high]
    pieces = [np.linspace(a, b, 101) for a, b in pairwise(ends)]
    cuts = np.concatenate([*[piece[:-1] for piece in pieces], [high]])
    half = np.diff(cuts)[:, None] / 2
    return (cuts[:-1, None] + half * (1 + NODES)).ravel(), (half * WEIGHTS).ravel()


@continuous
def test_densities_levels_and_spectra_against_quadrature(name):
    exact = law(name)
    for x in inputs(name):
        lower, upper = window(exact, x)
        for z in np.linspace(lower, upper, 9)[1:]:
            points, weights = panels(lower, z, x)
            assert exact.cdf(z, x) == pytest.approx(weights @ exact.pdf(points, x), abs=1e-8)
        assert exact.cdf(upper, x) == pytest.approx(1, abs=1e-11)
        assert exact.cdf(lower, x) == pytest.approx(0, abs=1e-11)
    for x, y in [(x, y) for x in inputs(name) for y in inputs(name) if x != y]:
        lower, upper = np.array([window(exact, v) for v in (x, y)]).T
        lower, upper = lower.min(), upper.max()
        z = np.linspace(lower, upper, 100_001)[1:-1]
        p, q = exact.pdf(z, x), exact.pdf(z, y)
        losses = np.log(p / q)
        assert losses.max() <= exact.privacy_loss(x, y) + 1e-9
        if math.isfinite(exact.privacy_loss(x, y)):
            assert exact.privacy_loss(x, y) == pytest.approx(losses.max(), abs=1e-3)
        else:  # it grows with the window
            assert losses.argmax() in (0, losses.size - 1)
        for claim, delta in zip(CLAIMS, spectrum(exact, CLAIMS, x, y), strict=True):
            excess = np.maximum(p - math.exp(claim) * q, 0)
            assert delta == pytest.approx(np.trapezoid(excess, z), abs=2e-4)
        points, weights = panels(lower, upper, x, y)
        logs = [np.log(exact.pdf(points, side)) for side in (x, y)]
        for order in ORDERS:
            area = weights @ np.exp(order * logs[0] + (1 - order) * logs[1])
            assert exact.renyi(order, x, y) == pytest.approx(math.log(area) / (order - 1), abs=1e-7)


@pytest.mark.parametrize("name", [n for n in SCALAR if hasattr(law(n), "support")])
def test_lipschitz_constants_are_the_steepest_slopes(name):
    exact = law(name)
    lower, upper = exact.support
    grid = np.linspace(lower, upper, 2001)
    step = grid[1] - grid[0]
    coarse = np.linspace(lower, upper, 41)
    slopes = max(np.abs(np.diff(exact.pdf(grid, x))).max() / step for x in coarse)
    assert slopes <= exact.lipschitz_output * (1 + 1e-9)
    assert slopes == pytest.approx(exact.lipschitz_output, rel=2e-3)
    density = np.array([exact.pdf(coarse, x) for x in grid])
    slopes = np.abs(np.diff(density, axis=0)).max() / step
    assert slopes <= exact.lipschitz_input * (1 + 1e-9)
    assert slopes == pytest.approx(exact.lipschitz_input, rel=5e-3)


@pytest.mark.parametrize(
    "name", by_speed(sorted(EXACT), ("continuous_noisy_max", "laplace_vector"))
)
def test_every_law_keeps_the_contract(name):
    check_exact(law(name), mechanism(name), inputs(name))


def test_a_law_enumerates_the_bits_of_twenty_people_at_most():
    exact, bits = EXACT.load("randomized_bits"), MECHANISMS.load("randomized_bits")
    exact(bits(1.0, people=20))
    with pytest.raises(ArgumentError, match="20"):
        exact(bits(1.0, people=21))


@pytest.mark.parametrize("name", ["randomized_response", "bernoulli_pair"])
def test_the_smallest_probability_is_that_of_the_rarest_output(name):
    exact = EXACT.load(name)(mechanism(name))
    chances = [exact.probabilities(x).min() for x in inputs(name)]
    assert exact.smallest_probability == pytest.approx(min(chances))


class Scaled:
    """A law that multiplies some of its levels; of an infinite one it says 100."""

    def __init__(self, exact, factor, names):
        self._exact, self._factor, self._names = exact, factor, names

    def __getattr__(self, name):
        value = getattr(self._exact, name)
        return self._scaled(value) if name in self._names else value

    def _scaled(self, method):
        def scaled(*arguments):
            level = method(*arguments)
            return self._factor * level if np.isfinite(level).all() else 100.0

        return scaled


@pytest.mark.parametrize("factor", [1.1, 0.9])
@pytest.mark.parametrize(
    "names", [["privacy_loss"], ["renyi"], ["spectrum"], ["privacy_loss", "renyi"]], ids="-".join
)
@pytest.mark.parametrize("name", sorted(EXACT))
def test_levels_a_tenth_too_large_or_too_small_are_refused(name, names, factor):
    scaled = Scaled(law(name), factor, names)
    with pytest.raises(AssertionError, match=r"privacy_loss|renyi|level|spectrum"):
        check_exact(scaled, mechanism(name), inputs(name))


TABLE_1 = {  # parameter: D, C, epsilon
    "truncated_laplace": {0.5: (9.25, 4.63, 2.00), 0.8: (4.38, 2.19, 1.25), 1: (3.16, 1.58, 1.00)}
    | {2: (1.27, 0.64, 0.50), 5: (0.44, 0.22, 0.20)},
    "truncated_gaussian": {
        0.3: (7.06, 5.38, 5.56),
        0.5: (2.42, 2.03, 2.00),
        0.6: (1.62, 1.49, 1.39),
    }
    | {1: (0.54, 0.71, 0.50), 2: (0.13, 0.23, 0.13)},
}


@pytest.mark.parametrize("name", TABLE_1)
def test_table_1(name):
    for parameter, printed in TABLE_1[name].items():
        calibrated = 1 / parameter if name == "truncated_laplace" else 1 / (2 * parameter**2)
        exact = EXACT.load(name)(MECHANISMS.load(name)(calibrated))
        ours = exact.lipschitz_input, exact.lipschitz_output, exact.privacy_loss(0.0, 1.0)
        assert ours == pytest.approx(printed, abs=0.0051)


@pytest.mark.slow(seconds=1)
def test_levels_of_the_patterns_of_askin2022():
    """The ten patterns of the configuration reach the levels computed independently."""
    for entry, level in [("svt2", 0.6928), ("svt4", 0.6998), ("report-noisy-max-6", 0.6927)]:
        assert max(levels_of(entry, 0.7)) == pytest.approx(level, abs=5.1e-5)
    assert math.inf in levels_of("svt5", 0.7)
    assert any(level > 0.7 for level in levels_of("svt6", 0.7))


def levels_of(entry, epsilon):
    """Yield the levels of an entry's ten patterns, in either direction."""
    study = configured()
    which = study.mechanisms[entry].mechanism
    exact = EXACT.load(which)(study.mechanism(entry, epsilon))
    sides = study.inputs(entry, "patterns").sides()
    chosen = pairs_of(len(sides), study.inputs(entry, "patterns").pairing)
    assert len(chosen) == 10
    for i, j in chosen:
        yield exact.privacy_loss(sides[i], sides[j])
        yield exact.privacy_loss(sides[j], sides[i])


@pytest.mark.parametrize(
    ("entry", "epsilon", "levels"),
    [
        ("noisy-gradient-descent", 1.0, [0.0072547, 0.0181367, 0.0253913]),
        ("noisy-sum-gaussian-subsampled", 0.2, [0.0101510, 0.0261684, 0.0374120]),
        ("noisy-sum-laplace-subsampled", 0.2, [0.0093830, 0.0230600, 0.0314931]),
        ("noisy-sum-gaussian", 0.2, [2 / 50, 5 / 50, 7 / 50]),
        ("noisy-sum-laplace", 0.2, [0.0370149, 0.0841026, 0.1071132]),
        ("randomized-bits", 1.5, [1.3096345, 1.4496470, 1.4664311]),
        ("randomized-bits-shuffled", 1.5, [0.2393963, 0.4371704, 0.5303911]),
    ],
)
def test_divergences_of_kutta2022(entry, epsilon, levels):
    """Orders 2, 5 and 7, computed independently."""
    study = configured()
    exact = EXACT.load(study.mechanisms[entry].mechanism)(study.mechanism(entry, epsilon))
    x, y = study.inputs(entry, "first-person").sides()
    computed = [exact.renyi(order, x, y) for order in (2.0, 5.0, 7.0)]
    assert computed == pytest.approx(levels, abs=6e-8)


@pytest.mark.parametrize("order", [5.0, 80.0, 1000.0])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
def test_noisy_sums_at_high_orders(epsilon, order):
    """Without subsampling the closed form; with, the binomial sum of the normal moments."""
    x, y = [1] + [0] * 9, [0] * 10
    exact = order * epsilon**2 / 2
    whole = ExactNoisySum(NoisySum(epsilon, noise="gaussian"))
    for others in (0, 0.5):
        sides = [1] + [others] * 9, [0] + [others] * 9
        for first, second in (sides, sides[::-1]):
            assert whole.renyi(order, first, second) == pytest.approx(exact, rel=1e-9)
    half = ExactNoisySum(NoisySum(epsilon, noise="gaussian", included=0.5)).renyi(order, x, y)
    k = np.arange(order + 1)
    log_ways = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1) - order * math.log(2)
    total = logsumexp(log_ways + k * (k - 1) * epsilon**2 / 2)
    assert half == pytest.approx(total / (order - 1), rel=1e-8)


@pytest.mark.parametrize("shifts", [[0.02] * 50, [0.3, -0.2, 0.1], [1.0] * 4])
def test_losses_of_many_entries_add_up(shifts):
    """The integral of the spectrum that is the divergence of order 2, which entries share out."""
    exact, x_prime = law("laplace_vector"), shifts + [0.0] * (50 - len(shifts))
    level = np.abs(shifts).sum()
    claims = level * (NODES + 1) / 2
    deltas = spectrum(exact, claims, [0.0] * 50, x_prime)
    rise = level * WEIGHTS @ (deltas * (np.exp(claims) + np.exp(-2 * claims)))
    entries = [(2 * math.exp(d) + math.exp(-2 * d)) / 3 for d in np.abs(shifts)]
    assert 1 + rise == pytest.approx(math.prod(entries), rel=5e-4)
    if len(shifts) == 50:  # as it is published
        assert spectrum(exact, [0.0], [0.0] * 50, x_prime)[0] == pytest.approx(0.056, abs=0.0005)


@pytest.mark.parametrize("claim", [0.0, 0.35, 1.1, 2.0])
def test_the_spectrum_of_two_entries_is_that_of_one_averaged_over_the_other(claim):
    """The loss of an entry has atoms at both ends, and between them half the density of a tail."""
    exact, level, other = law("laplace_vector"), 1.3, 0.9
    scale = mechanism("laplace_vector").scale
    x, x_prime = [0.0] * 50, [level * scale, other * scale] + [0.0] * 48

    def of_one(claim):
        if claim <= -level:
            return -math.expm1(claim)
        return -math.expm1(min(claim - level, 0.0) / 2)

    def density(loss):
        return math.exp((loss - other) / 2) / 4 * of_one(claim - loss)

    kinks = [claim - level, claim + level]
    ends = [-other, *sorted(kink for kink in kinks if abs(kink) < other), other]
    between = sum(quad(density, a, b, epsabs=1e-13)[0] for a, b in pairwise(ends))
    at_ends = (of_one(claim - other) + math.exp(-other) * of_one(claim + other)) / 2
    assert spectrum(exact, [claim], x, x_prime)[0] == pytest.approx(at_ends + between, abs=2e-9)


def variants():
    """Yield the first and last entry of every law, and all whose noise makes another law."""
    entries = configured().mechanisms.items()
    for name in EXACT:
        same = [entry for entry, about in entries if about.mechanism == name]
        yield from same if name in ("noisy_sum", "noisy_max_value") else {same[0], same[-1]}


ROUNDING = 1e-9


@pytest.mark.parametrize("epsilon", [1e-8, 1.0, 100.0])
@pytest.mark.parametrize("entry", sorted(variants()))
def test_levels_and_spectra_where_doubles_cancel_or_underflow(entry, epsilon):
    """Levels rise to the pure level; spectra fall to 0 from the total variation."""
    study = configured()
    about = study.mechanisms[entry]
    exact = EXACT.load(about.mechanism)(study.mechanism(entry, epsilon))
    x, y = study.inputs(entry, next(iter(about.inputs))).sides()[:2]
    pure = [exact.privacy_loss(x, y), exact.privacy_loss(y, x)]
    for loss, sides in [(pure[0], (x, y)), (pure[1], (y, x))]:
        levels = [exact.renyi(order, *sides) for order in (1.01, 2.0, 10.0, 100.0)]
        assert levels[0] > 0
        assert all(b >= a * (1 - ROUNDING) for a, b in pairwise([*levels, loss]))
        if max(pure) < 1e-5:  # a divergence is order / 2 times the mean square of the loss
            spread = 300 * max(pure) + 1e-8
            rates = np.array(levels) / [1.01, 2.0, 10.0, 100.0]
            assert rates == pytest.approx(np.full(4, rates[0]), rel=spread, abs=0)
            assert rates[0] <= max(pure) ** 2 / 2 * (1 + spread)
    if not hasattr(exact, "spectrum"):
        with pytest.raises(ArgumentError, match="has no spectrum"):
            spectrum(exact, [0.0], x, y)
        return
    starts = [falls(exact, epsilon, *sides) for sides in ((x, y), (y, x))]
    assert starts[0] == pytest.approx(starts[1], rel=1e-8, abs=0)
    claims = np.array([0.4 * epsilon, 40.0])  # below 0 the other direction has as much
    below = -np.expm1(-claims) + np.exp(-claims) * spectrum(exact, claims, y, x)
    computed = spectrum(exact, -claims, x, y)
    assert computed == pytest.approx(below, rel=1e-8, abs=0)
    assert computed.max() <= 1


def falls(exact, epsilon, x, y):
    """Check a spectrum, and return where it begins."""
    loss = exact.privacy_loss(x, y)
    top = loss if math.isfinite(loss) else 5 * epsilon
    claims = np.array([0, 1e-6, 0.1, 0.5, 0.9, 0.999, 1, 1 + 1e-9, 2, 1000]) * top
    deltas = spectrum(exact, claims, x, y)
    assert 0 < deltas[0] <= 1
    assert deltas.min() >= 0
    assert (deltas[1:] <= deltas[:-1] * (1 + ROUNDING)).all()
    if math.isfinite(loss):
        assert not deltas[6:].any()
        assert deltas[0] <= -math.expm1(-loss) * (1 + ROUNDING)
    if top <= 500:  # in exp(claim), a number, delta is convex, and falls by Q(loss > claim) at most
        steps = np.exp(claims[:5]) * np.expm1(np.diff(claims[:6]))
        slopes, noise = np.diff(deltas[:6]) / steps, 1e-12 * deltas[:5] / steps
        assert (slopes >= -1 - noise).all()
        assert (np.diff(slopes) >= -(noise[1:] + noise[:-1]) - 1e-12 * np.abs(slopes[1:])).all()
    return deltas[0]

"""Exact laws where doubles run out of digits, against 400-digit arithmetic and closed forms."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal, getcontext, localcontext
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from epsilometer.exact import EXACT, quadrature
from epsilometer.exact.base import divergence, spectrum
from epsilometer.exact.finite import ExactBernoulliPair
from epsilometer.exact.noise import ExponentialNoise, LaplaceNoise
from epsilometer.mechanisms import MECHANISMS
from epsilometer.mechanisms.finite import BernoulliPair

EPSILONS = [1e-8, 1e-4, 1.0, 40.0, 700.0]
ORDERS = [1.01, 2.0, 10.0, 100.0]
ONE = Decimal(1)
Finite = tuple[Any, Any, Any, list[Decimal], list[Decimal]]  # a law, two inputs, all probabilities


@pytest.fixture(autouse=True)
def _many_digits():
    with localcontext(prec=400):
        yield


def law(name, *arguments, **parameters):
    return EXACT.load(name)(MECHANISMS.load(name)(*arguments, **parameters))


def close(value, expected, rel=1e-10):
    """Whether a double is a Decimal to that relative precision, also far below 1e-308's digits."""
    if not math.isfinite(value):
        return False
    return abs(Decimal(float(value)) - expected) <= Decimal(rel) * abs(expected)


def check_one_way(exact, x, y, p, q):
    """Compare loss, divergences and spectrum with those of the probabilities as Decimals."""
    possible = Counter((a, b) for a, b in zip(p, q, strict=True) if a > 0)  # many are alike
    if hasattr(exact, "probabilities"):
        drawn = exact.probabilities(x)
        assert drawn.size <= len(p)
        likely = sorted(float(a) for a in p if a > Decimal("1e-300"))
        assert np.sort(drawn[drawn > 1e-300]) == pytest.approx(likely, rel=1e-10)
    losses = {(a, b): (a / b).ln() for a, b in possible if b > 0}
    if len(losses) < len(possible):
        assert exact.privacy_loss(x, y) == exact.renyi(2.0, x, y) == math.inf
    else:
        level = max(losses.values())
        assert close(exact.privacy_loss(x, y), level)
        for order in ORDERS if hasattr(exact, "probabilities") else ():
            a = Decimal(order)
            terms = (n * u * ((a - 1) * losses[u, v]).exp() for (u, v), n in possible.items())
            assert close(exact.renyi(order, x, y), sum(terms).ln() / (a - 1))
        assert not spectrum(exact, [float(level), float(level) * 1.01], x, y).any()
    losses = sorted({*map(abs, losses.values()), Decimal(0)})
    between = [*pairwise(losses), (losses[-1], 2 * losses[-1] + 1)]
    for low, high in between[:: 1 + len(between) // 10]:
        if high - low < high / 100:
            continue  # a loss's own rounding would show
        claim = float((low + high) / 2)
        factor = Decimal(claim).exp()
        delta = sum(max(a - factor * b, Decimal(0)) for a, b in zip(p, q, strict=True))
        assert close(spectrum(exact, [claim], x, y)[0], delta, 1e-9) or delta < Decimal("1e-300")


def response(epsilon: float) -> Iterator[Finite]:
    e = Decimal(epsilon).exp()
    for outcomes in (2, 5):
        p = [(e if i == 0 else ONE) / (e + outcomes - 1) for i in range(outcomes)]
        yield law("randomized_response", epsilon, outcomes=outcomes), 0, 1, p, [p[1], p[0], *p[2:]]


def bits(epsilon: float) -> Iterator[Finite]:
    keep = ONE / (1 + Decimal(-epsilon).exp())
    chance = {True: keep, False: Decimal(-epsilon).exp() * keep}
    vectors = [v[::-1] for v in product((0, 1), repeat=3)]  # bit i for person i

    def chances(x, shuffled):
        of = {v: math.prod(chance[a == b] for a, b in zip(v, x, strict=True)) for v in vectors}
        if not shuffled:
            return list(of.values())
        same = [[u for u in vectors if sum(u) == sum(v)] for v in vectors]
        return [sum(of[u] for u in alike) / len(alike) for alike in same]

    for shuffled in (False, True):
        exact = law("randomized_bits", epsilon, people=3, shuffled=shuffled)
        for x, y in [((1, 0, 0), (0, 0, 0)), ((1, 1, 0), (0, 0, 1)), ((1, 0, 1), (0, 1, 1))]:
            if shuffled and sum(x) == sum(y):
                assert exact.privacy_loss(x, y) == exact.renyi(2.0, x, y) == 0
            else:
                yield exact, x, y, chances(x, shuffled), chances(y, shuffled)


def exponential(epsilon: float) -> Iterator[Finite]:
    def chances(x):
        weights = [(Decimal(epsilon) * x.count(v) / 2).exp() for v in range(3)]
        return [w / sum(weights) for w in weights]

    exact = law("counting_exponential", epsilon)
    for x, y in [([0, 1, 1], [0, 1]), ([0, 0, 1, 2], [0, 1, 2]), ([], [2])]:
        yield exact, x, y, chances(x), chances(y)


def coins(epsilon: float) -> Iterator[Finite]:
    likely_or_not = (1000, 0.8, 3.0), (1000, 0.8, math.inf), (1, 0.99, math.inf)
    for budget, delta, order in likely_or_not if epsilon < 700 else ():
        mechanism = MECHANISMS.load("bernoulli_pair")(epsilon, budget, delta, order)
        likely = Decimal(mechanism.chances[0])
        power = 1 if math.isinf(order) else Decimal(order) / (Decimal(order) - 1)
        rare = (power * likely.ln() - Decimal(epsilon)).exp()
        p, q = [1 - likely, likely], [1 - rare, rare]
        yield EXACT.load("bernoulli_pair")(mechanism), 0, 1, p, q
        yield EXACT.load("bernoulli_pair")(mechanism), 1, 0, q, p


def matches(rarity: float) -> Iterator[Finite]:
    chance = Decimal(-rarity).exp()
    yield law("rare_match", 1.0, rarity), 1, 0, [1 - chance, chance], [ONE, Decimal(0)]


def rows(epsilon: float) -> Iterator[Finite]:
    def chances(known, others):
        of = [Decimal(known), *map(Decimal, others)]
        odds = [Decimal(0)] * (len(of) + 1)
        for vector in product((0, 1), repeat=len(of)):
            drawn = zip(of, vector, strict=True)
            odds[sum(vector)] += math.prod(r if bit else 1 - r for r, bit in drawn)
        return odds

    for others in [(0.5, 0.5), (0.1, 0.1, 0.9), ()] if epsilon == 1 else ():
        for a, b in ((0.3, 0.8), (0.0, 1.0)):
            sides = [a, *others], [b, *others]
            yield law("random_rows", 1.0), *sides, chances(a, others), chances(b, others)


def ones(epsilon: float) -> Iterator[Finite]:
    if epsilon == 1:
        ways = [Decimal(math.comb(99, k)) / Decimal(2) ** 99 for k in range(100)]
        sides = [100, 0], [100, 1]
        yield law("noiseless_count", 1.0), *sides, [*ways, Decimal(0)], [Decimal(0), *ways]
        few, more = ([Decimal(math.comb(n, k)) / 2**n for k in range(n + 1)] for n in (3, 5))
        yield (
            law("noiseless_count", 1.0),
            [4, 0],
            [6, 0],
            [*few, *[Decimal(0)] * 3],
            [*more, Decimal(0)],
        )


def index_of_two(epsilon: float) -> Iterator[Finite]:
    """The difference of two Laplace noises exceeds t scales with chance (1 + t/2) exp(-t) / 2.

    That of two exponential noises is Laplace noise.
    """
    one_sided = {"noise": "exponential"}
    kinds = (
        ("noisy_max_index", {}, 1),
        ("report_noisy_max", {}, 2),
        ("noisy_max_index", one_sided, 1),
    )
    for name, noise, factor in kinds:

        def behind(gap, scale=Decimal(factor / epsilon), kept=0 if noise else 1):
            t = Decimal(gap) / scale
            return (1 + kept * t / 2) * (-t).exp() / 2

        p, q = behind(2), behind(1)
        if epsilon < 700:
            sides = ([2.0, 0.0], [1 - p, p]), ([1.0, 0.0], [1 - q, q])
            for (x, chances), (y, others) in (sides, sides[::-1]):
                yield law(name, epsilon, queries=2, **noise), x, y, chances, others


def above_a_threshold(epsilon: float) -> Iterator[Finite]:
    """With scales a and b the noises differ by t with chance (a^2 e^(-t/a) - b^2 e^(-t/b)) / ..."""
    for name in ("sparse_vector", "sparse_vector_first") if epsilon < 700 else ():
        a, b = (Decimal(s) for s in MECHANISMS.load(name)(epsilon, 1, 1).noise_scales)

        def outputs(x, a=a, b=b, first=name == "sparse_vector_first"):
            t = 3 - Decimal(x)
            chance = (a * a * (-t / a).exp() - b * b * (-t / b).exp()) / (2 * (a * a - b * b))
            return [chance, 1 - chance][:: 1 if first else -1]

        exact = law(name, epsilon, variant=1, queries=1, threshold=3.0)
        yield exact, [1.0], [2.0], outputs(1), outputs(2)


def variant_5(epsilon: float) -> Iterator[Finite]:
    def chances(low, high):  # both above, the higher one, none: by the tails of rho
        low, high = ((-Decimal(t) / Decimal(2 / epsilon)).exp() / 2 for t in (low, high))
        return [1 - low, low - high, high]

    if epsilon < 700:
        exact = law("sparse_vector_bits", epsilon, variant=5, queries=2, threshold=0.0)
        yield exact, [1.0, 3.0], [2.0, 3.0], chances(1, 3), chances(2, 3)
        yield exact, [-2.0, -1.0], [-3.0, -1.0], chances(1, 2), chances(1, 3)


FINITE: list[Callable[[float], Iterator[Finite]]] = [
    *(response, bits, exponential, coins, matches, rows, ones),
    *(index_of_two, above_a_threshold, variant_5),
]


@pytest.mark.parametrize(
    "epsilon", [*EPSILONS[:-1], pytest.param(700.0, marks=pytest.mark.slow(seconds=1))]
)
@pytest.mark.parametrize("laws", FINITE, ids=lambda laws: laws.__name__)
def test_laws_of_few_outputs(laws, epsilon):
    with localcontext(prec=400 if epsilon == 700 else 80):
        for exact, x, y, p, q in laws(epsilon):
            check_one_way(exact, x, y, p, q)
            if laws is not variant_5:  # the other way an output is impossible
                check_one_way(exact, y, x, q, p)


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("laws", [response, bits, exponential])
def test_losses_of_every_size(laws):
    """Formulas change where a loss or a divergence is no longer small."""
    with localcontext(prec=50):
        for epsilon in np.geomspace(1e-4, 10, 30).tolist():
            for exact, x, y, p, q in laws(epsilon):
                check_one_way(exact, x, y, p, q)
                check_one_way(exact, y, x, q, p)


def laplace_law(u):
    """Return the density at u, and the mass below."""
    tail = (-abs(u)).exp() / 2
    return tail, tail if u < 0 else 1 - tail


def exponential_law(u):
    return ((-u).exp(), 1 - (-u).exp()) if u >= 0 else (0, 0)


@pytest.mark.parametrize(
    ("noise", "law_at"), [(LaplaceNoise(), laplace_law), (ExponentialNoise(), exponential_law)]
)
def test_gains_of_noise_at_two_answers(noise, law_at):
    """Of numbers near and far, on either side, as little as 1e-12 apart."""
    getcontext().prec = 60
    ends = [0.0, 1e-9, 0.2, 0.9, 3.0, 30.0]
    numbers = [*ends, *(-end for end in ends[1:])]
    for u, shift in product(numbers, [0.0, 1e-12, -1e-12, 0.3, -0.6, 2.0, -2.0, 40.0]):
        v = Decimal(u) + Decimal(shift)
        pair = [np.array([float(each)]) for each in (u, v, shift)]
        for log, chance in zip((noise.log_pdf, noise.log_cdf), law_at(Decimal(u)), strict=True):
            expected = float(chance.ln()) if chance else -math.inf
            assert log(pair[0]) == pytest.approx(expected, rel=1e-12, abs=1e-15)
        gains = noise.pdf_gain(*pair)[0], noise.cdf_gain(*pair)[0]
        for gain, p, q in zip(gains, law_at(Decimal(u)), law_at(v), strict=True):
            if p > 0 and q > 0:
                assert close(gain, (p / q).ln(), 1e-12) or abs(gain) < 1e-25
            elif max(p, q) > 0:
                assert gain == (math.inf if p > 0 else -math.inf)


@pytest.mark.parametrize("faster", [1.0, 3.0, 10.0])
@pytest.mark.parametrize("scale", [1e-6, 0.5, 1e6])
def test_what_falls_off_beside_kinks_is_integrated(scale, faster):
    """By closed forms, at kinks that are near and far apart."""
    kinks = scale * np.array([-60.0, -2.0, 0.0, 0.2, 400.0])
    z, weights = quadrature.nodes(kinks, scale)
    for kink in kinks:
        u = faster * np.abs(z - kink) / scale
        assert weights @ np.exp(-u) == pytest.approx(2 * scale / faster, rel=1e-12)
        assert weights @ np.exp(-u * u / 2) == pytest.approx(
            math.sqrt(2 * math.pi) * scale / faster, rel=1e-12
        )


@pytest.mark.parametrize("epsilon", [*EPSILONS, 0.045])
@pytest.mark.parametrize("name", ["laplace", "noisy_sum", "laplace_vector"])
def test_laplace_noise(name, epsilon):
    if name == "laplace":
        exact, x, y = law(name, epsilon), 0.0, 1.0
    elif name == "noisy_sum":
        exact, x, y = law(name, epsilon, people=2), [1, 0], [0, 0]
    else:
        exact, x, y = law(name, epsilon, dimension=3), [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]
    d = 1 / Decimal(1 / epsilon)
    for order in ORDERS:
        a = Decimal(order)
        total = (a * ((a - 1) * d).exp() + (a - 1) * (-a * d).exp()) / (2 * a - 1)
        assert close(exact.renyi(order, x, y), total.ln() / (a - 1), 1e-9)
    for share in (0.0, 0.3, 0.9):
        delta = 1 - ((Decimal(share * epsilon) - d) / 2).exp()
        assert close(spectrum(exact, [share * epsilon], x, y)[0], delta, 1e-9)
    assert spectrum(exact, [epsilon, 2 * epsilon, 1e4], x, y).tolist() == [0, 0, 0]


def upper(t):
    """Return 1 - Phi(t) by the series of Phi, all terms of one sign."""
    term = total = t
    k = 1
    while abs(term) > Decimal("1e-390"):
        k += 2
        term = term * t * t / k
        total += term
    return Decimal("0.5") - (-t * t / 2).exp() / (2 * PI).sqrt() * total


def pi():
    """Return pi by Machin's formula."""
    with localcontext(prec=420):

        def arctan(n):
            return sum(
                Decimal((-1) ** k) / ((2 * k + 1) * Decimal(n) ** (2 * k + 1)) for k in range(310)
            )

        return 4 * (4 * arctan(5) - arctan(239))


PI = pi()


@pytest.mark.parametrize("distance", [1e-8, 1e-3, 0.2, 1.0, 6.0, 12.0])
@pytest.mark.parametrize("claim", [-3.0, -0.01, 0.0, 1e-9, 0.01, 1.0, 40.0, 100.0])
def test_gaussian_noise(distance, claim):
    """Delta from 1 down to 1e-250, at claims up to 100."""
    scale = law("gaussian_vector", 1.0, dimension=1).sigma
    for name in ("gaussian", "gaussian_vector"):
        exact = law(name, 1.0) if name == "gaussian" else law(name, 1.0, dimension=1)
        x, y = (0.0, distance * scale) if name == "gaussian" else ([0.0], [distance * scale])
        d = Decimal(distance * scale) / Decimal(scale)
        t = Decimal(claim) / d - d / 2
        delta = max(1 - Decimal(claim).exp(), Decimal(0))
        if -36 < t < 36 - d:  # else it is that, but for 1e-280
            delta = upper(t) - Decimal(claim).exp() * upper(t + d)
        for first, second in ((x, y), (y, x)):
            assert close(spectrum(exact, [claim], first, second)[0], delta, 1e-9)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 1.0, 20.0, 50.0])
def test_truncated_laplace_between_the_ends(epsilon):
    exact, e = law("truncated_laplace", epsilon), 1 / Decimal(1 / epsilon)
    mass = 1 - (-e).exp()
    for x, y in [(0.0, 1.0), (1.0, 0.0)]:
        assert close(exact.privacy_loss(x, y), e)
        for order in ORDERS:
            a = Decimal(order)
            total = ((a - 1) * e).exp() * (1 - (-(2 * a - 1) * e).exp()) / (2 * a - 1) / mass
            assert close(exact.renyi(order, x, y), total.ln() / (a - 1), 1e-9)
        for share in (0.0, 0.4, 0.99):
            claim = Decimal(share * epsilon)
            z = (1 - claim / e) / 2
            delta = ((1 - (-e * z).exp()) - (claim - e).exp() * ((e * z).exp() - 1)) / mass
            assert close(spectrum(exact, [float(claim)], x, y)[0], delta, 1e-9)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-6])
def test_truncated_gaussian_as_good_as_uniform(epsilon):
    """The loss is linear from epsilon to -epsilon, of an output as good as uniform."""
    exact = law("truncated_gaussian", epsilon)
    for x, y in [(0.0, 1.0), (1.0, 0.0), (0.9, 0.5)]:
        level = epsilon * abs(x - y)
        assert exact.privacy_loss(x, y) == pytest.approx(level, rel=10 * epsilon + 1e-10, abs=0)
        for order in ORDERS:
            expected = order * level**2 / 6
            assert exact.renyi(order, x, y) == pytest.approx(expected, rel=200 * epsilon, abs=0)
        for share in (0.0, 0.5, 0.99):
            delta = spectrum(exact, [share * level], x, y)[0]
            expected = level * (1 - share) ** 2 / 4
            assert delta == pytest.approx(expected, rel=1000 * epsilon + 1e-9, abs=0)
    slopes = exact.lipschitz_input, exact.lipschitz_output  # of 1 + 2 epsilon (x - 1/2)(z - 1/2)
    assert slopes == pytest.approx((epsilon, 2 * epsilon), rel=10 * epsilon, abs=0)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 1.0, 20.0, 100.0, 1000.0])
def test_exponential_half_line(epsilon):
    exact = law("exponential_half_line", epsilon)
    rate = Decimal(exact._rate)
    for x, y in [(1.0, 2.0), (2.0, 1.0), (1.2, 1.3)]:
        x_mass, y_mass = (2 - (-rate * Decimal(v)).exp() for v in (x, y))
        level = rate * abs(Decimal(x) - Decimal(y)) + (y_mass / x_mass).ln()
        assert close(exact.privacy_loss(x, y), level, 1e-9)
        end = float(rate * (-rate * Decimal(x)).exp() / x_mass)
        assert exact.pdf([-1e-9, 0.0], x) == pytest.approx([0.0, end])
    assert exact.privacy_loss(1.0, 2.0) == pytest.approx(epsilon)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-4, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_subsampled_sums(noise, epsilon):
    """At order 2 from the chi-square divergence of the noise, a quarter of which is left."""
    exact = law("noisy_sum", epsilon, noise=noise, included=0.5, people=2)
    e = 1 / Decimal(1 / epsilon)
    chi = (2 * e.exp() + (-2 * e).exp()) / 3 - 1 if noise == "laplace" else (e * e).exp() - 1
    assert close(exact.renyi(2.0, [1, 0], [0, 0]), (1 + chi / 4).ln(), 1e-9)
    if noise == "laplace":
        assert close(exact.privacy_loss([1, 0], [0, 0]), ((1 + e.exp()) / 2).ln())
        assert close(exact.privacy_loss([0, 0], [1, 0]), -((1 + (-e).exp()) / 2).ln())
        tiny = law("noisy_sum", 1e9 * epsilon, included=0.5, people=2)  # noise as small as numbers
        assert close(tiny.privacy_loss([1e-9, 0], [0, 0]), ((1 + e.exp()) / 2).ln(), 1e-3)
    else:  # far out the extreme sums decide
        assert exact.privacy_loss([1, 0], [0, 0]) == math.inf
        exact = law("noisy_sum", epsilon, noise=noise, included=0.3, people=2)
        assert exact.privacy_loss([1, 0], [1, 1]) == pytest.approx(-math.log(0.7), rel=1e-12)
        assert exact.privacy_loss([1, 0], [0.5, 0.5]) == pytest.approx(-math.log(0.3), rel=1e-12)
        sparse = law("noisy_sum", epsilon, noise=noise, included=0.05, people=3)
        uneven, even = [0.8, 0.1, 0.1], [0.5, 0.5, 0.0]
        losses = of_subsets(uneven, 0.05, epsilon) - of_subsets(even, 0.05, epsilon)
        largest = max(losses.max(), -math.log(0.95))
        assert sparse.privacy_loss(uneven, even) == pytest.approx(largest, rel=1e-4)


def of_subsets(x, included, epsilon):
    """Return log densities of a normal noisy sum, beside that of its noise, at t scale^2."""
    t = np.linspace(-60, 160, 22_001)
    density = np.zeros(t.size)
    for vector in product((0, 1), repeat=len(x)):
        kept = np.dot(vector, x)
        chance = math.prod(included if bit else 1 - included for bit in vector)
        density += chance * np.exp(t * kept - (kept * epsilon) ** 2 / 2)
    return np.log(density)


@pytest.mark.parametrize("epsilon", [0.5, 1.5])
@pytest.mark.parametrize("included", [0.3, 1.0])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_distribution_of_a_sum_is_the_integral_of_its_density(noise, included, epsilon):
    exact = law("noisy_sum", epsilon, noise=noise, included=included, people=3)
    x = [1, 1, 0]
    z, step = np.linspace(*exact.window(x), 40_001, retstep=True)
    density = np.exp(exact.log_pdf(z, x))
    integral = np.append(0.0, np.cumsum((density[1:] + density[:-1]) / 2 * step))
    assert np.abs(exact.cdf(z, x) - integral).max() < 1e-5
    for of, side in ((exact, x), (law("gaussian", epsilon), 3.0)):
        low, high = of.window(side)
        for tail in (of.cdf(low, side), 1 - of.cdf(high, side)):  # the window has all but these
            assert 1e-16 < tail < 1e-13


@pytest.mark.parametrize("epsilon", [0.3, 5.0])
@pytest.mark.parametrize("name", ["truncated_gaussian", "truncated_laplace"])
def test_noise_on_an_interval_is_that_on_another_in_other_units(name, epsilon):
    unit, other = (MECHANISMS.load(name)(epsilon, *ends) for ends in ((0.0, 1.0), (2.0, 5.0)))
    of_unit, of_other = (EXACT.load(name)(mechanism) for mechanism in (unit, other))
    z = np.linspace(-0.1, 1.1, 13)
    for x, y in [(0.0, 1.0), (0.9, 0.3), (0.3, 0.4)]:
        there, y_there = 2 + 3 * x, 2 + 3 * y
        assert of_other.pdf(2 + 3 * z, there) == pytest.approx(of_unit.pdf(z, x) / 3)
        assert of_other.cdf(2 + 3 * z, there) == pytest.approx(of_unit.cdf(z, x))
        loss = of_unit.privacy_loss(x, y)
        assert of_other.privacy_loss(there, y_there) == pytest.approx(loss)
        for order in (1.5, 40.0):
            level = of_unit.renyi(order, x, y)
            assert of_other.renyi(order, there, y_there) == pytest.approx(level)
        deltas = spectrum(of_unit, [0.0, 0.5 * loss], x, y)
        assert spectrum(of_other, [0.0, 0.5 * loss], there, y_there) == pytest.approx(deltas)
        drawn = unit.sample(x, 100, np.random.default_rng(1))
        assert other.sample(there, 100, np.random.default_rng(1)) == pytest.approx(2 + 3 * drawn)
    for slope in ("lipschitz_input", "lipschitz_output"):
        assert getattr(of_other, slope) == pytest.approx(getattr(of_unit, slope) / 9)


@pytest.mark.parametrize("epsilon", [0.3, 8.0])
@pytest.mark.parametrize(
    "name", ["truncated_gaussian", "truncated_laplace", "exponential_half_line"]
)
def test_the_loss_of_close_inputs_is_the_score_times_their_distance(name, epsilon):
    """By differences of inputs that are farther apart; the difference of two logs has no digits."""
    exact, step, gap = law(name, epsilon), 1e-4, 2.0**-46
    for x in (0.0, 0.3, 1.0) if name.startswith("truncated") else (1.2, 2.0):
        inner = min(max(x, step), 1 - step) if name.startswith("truncated") else x
        z = np.linspace(0, 1 if name.startswith("truncated") else 3, 3001)
        scores = (exact.log_pdf(z, inner + step) - exact.log_pdf(z, inner - step)) / (2 * step)
        other = x - gap if x > 0 else x + gap
        largest = (scores if other < x else -scores).max()
        assert exact.privacy_loss(x, other) / gap == pytest.approx(largest, rel=3e-3)


@pytest.mark.parametrize(
    ("queries", "epsilon"), [*product([2, 12, 100], [1e-3, 0.1, 1.0, 10.0, 50.0]), (1000, 1.0)]
)
def test_the_largest_of_many(queries, epsilon):
    """Below all answers every one adds its own loss; above them they share one."""
    high, low = [1.0] * queries, [0.0] * queries
    value = law("noisy_max_value", epsilon, queries=queries)
    assert value.privacy_loss(low, high) == pytest.approx(queries * epsilon, rel=1e-12)
    assert value.privacy_loss(high, low) == pytest.approx(epsilon, rel=1e-12)
    spread = law("continuous_noisy_max", epsilon, queries=queries)
    assert spread.privacy_loss(low, high) == pytest.approx(epsilon, rel=1e-12)
    assert spread.privacy_loss(high, low) == pytest.approx(epsilon / queries, rel=1e-12)
    one_sided = law("noisy_max_value", epsilon, queries=queries, noise="exponential")
    assert one_sided.privacy_loss(high, low) == pytest.approx(epsilon, rel=1e-12)
    assert one_sided.privacy_loss(low, high) == math.inf
    for noise in ("laplace", "exponential"):  # the index does not move
        index = law("noisy_max_index", epsilon, queries=queries, noise=noise)
        assert index.privacy_loss(high, low) == pytest.approx(0, abs=1e-13 * epsilon)
        assert index.probabilities(high) == pytest.approx(1 / queries, rel=1e-12)


# --- gorla2022, theorems 1 and 5: within its budget every estimator errs as often as they say -----


@pytest.mark.parametrize("order", [1.5, 2.0, 8.0, math.inf])
@pytest.mark.parametrize("budget", [10, 1000, 10**6, 10**9])
@pytest.mark.parametrize("delta", [0.1, 0.8, 0.99])
def test_the_pair_defeats_the_budget(order, budget, delta):
    for answer in (-1.0, 0.0, 0.4):
        pair = BernoulliPair.against(answer, gamma=0.7, budget=budget, delta=delta, order=order)
        level = divergence(ExactBernoulliPair(pair), order, 0, 1)
        assert level >= pair.epsilon * (1 - 1e-9)
        assert pair.epsilon == pytest.approx(max(answer, 0.0) + 2 * 0.7)  # no more than is needed
    # all of the budget may go to the likelier coin; zeros only is then still likely enough
    assert (1 - max(pair.chances)) ** budget > 1 - delta
    assert (1 - budget * max(pair.chances)) ** 3 == pytest.approx(1 - delta)  # rho of the theorem

"""Exact laws where doubles run out of digits, against 400-digit arithmetic and closed forms."""

import math
from collections import Counter
from decimal import Decimal, localcontext
from itertools import pairwise, product

import pytest

from epsilometer.exact import EXACT
from epsilometer.exact.base import spectrum
from epsilometer.mechanisms import MECHANISMS

EPSILONS = [1e-8, 1e-5, 0.01, 1.0, 20.0, 40.0, 100.0, 700.0]
ORDERS = [1.01, 2.0, 10.0, 100.0]
ONE = Decimal(1)


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


def check_finite(exact, x, y, p, q):
    """Compare, in both directions, with the probabilities of all outputs as Decimals."""
    check_one_way(exact, x, y, p, q)
    check_one_way(exact, y, x, q, p)


def check_one_way(exact, x, y, p, q):
    """Compare loss, divergences and spectrum with those of the probabilities as Decimals."""
    possible = Counter((a, b) for a, b in zip(p, q, strict=True) if a > 0)  # many are alike
    losses = {(a, b): (a / b).ln() for a, b in possible if b > 0}
    if len(losses) < len(possible):
        assert exact.privacy_loss(x, y) == math.inf
    else:
        level = max(losses.values())
        assert close(exact.privacy_loss(x, y), level)
        for order in ORDERS:
            a = Decimal(order)
            terms = (n * u * ((a - 1) * losses[u, v]).exp() for (u, v), n in possible.items())
            assert close(exact.renyi(order, x, y), sum(terms).ln() / (a - 1))
        assert not spectrum(exact, [float(level), float(level) * 1.01], x, y).any()
    losses = sorted({*map(abs, losses.values()), Decimal(0)})
    for low, high in [*pairwise(losses), (losses[-1], 2 * losses[-1] + 1)]:
        if high - low < high / 100:
            continue  # a loss's own rounding would show
        claim = float((low + high) / 2)
        factor = Decimal(claim).exp()
        delta = sum(max(a - factor * b, Decimal(0)) for a, b in zip(p, q, strict=True))
        assert close(spectrum(exact, [claim], x, y)[0], delta, 1e-9) or delta < Decimal("1e-300")


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("outcomes", [2, 5])
def test_randomized_response(epsilon, outcomes):
    e = Decimal(epsilon).exp()
    p = [(e if i == 0 else ONE) / (e + outcomes - 1) for i in range(outcomes)]
    q = [(e if i == 1 else ONE) / (e + outcomes - 1) for i in range(outcomes)]
    exact = law("randomized_response", epsilon, outcomes=outcomes)
    check_finite(exact, 0, 1, p, q)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("shuffled", [False, True])
def test_randomized_bits(epsilon, shuffled):
    people = 3
    keep = ONE / (1 + Decimal(-epsilon).exp())
    flip = Decimal(-epsilon).exp() * keep
    vectors = [v[::-1] for v in product((0, 1), repeat=people)]  # bit i for person i

    def probabilities(x):
        chances = [math.prod(keep if a == b else flip for a, b in zip(v, x)) for v in vectors]  # noqa: B905
        if not shuffled:
            return chances
        same = [[u for u, w in enumerate(vectors) if sum(w) == sum(v)] for v in vectors]
        return [sum(chances[u] for u in alike) / len(alike) for alike in same]

    exact = law("randomized_bits", epsilon, people=people, shuffled=shuffled)
    for x, y in [((1, 0, 0), (0, 0, 0)), ((1, 1, 0), (0, 0, 1)), ((1, 0, 1), (0, 1, 1))]:
        if shuffled and sum(x) == sum(y):
            assert exact.privacy_loss(x, y) == exact.renyi(2.0, x, y) == 0
            continue
        p, q = probabilities(x), probabilities(y)
        check_finite(exact, x, y, p, q)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_counting_exponential(epsilon):
    def probabilities(x):
        weights = [(Decimal(epsilon) * x.count(v) / 2).exp() for v in range(3)]
        return [w / sum(weights) for w in weights]

    exact = law("counting_exponential", epsilon)
    for x, y in [([0, 1, 1], [0, 1]), ([0, 0, 1, 2], [0, 1, 2]), ([], [2])]:
        p, q = probabilities(x), probabilities(y)
        check_finite(exact, x, y, p, q)


@pytest.mark.parametrize("epsilon", EPSILONS[:-1])
@pytest.mark.parametrize("order", [2.0, math.inf])
def test_bernoulli_pair(epsilon, order):
    mechanism = MECHANISMS.load("bernoulli_pair")(epsilon, 1000, 0.8, order)
    exact = EXACT.load("bernoulli_pair")(mechanism)
    likely = Decimal(mechanism.chances[0])
    power = 1 if math.isinf(order) else Decimal(order) / (Decimal(order) - 1)
    rare = (power * likely.ln() - Decimal(epsilon)).exp()
    p, q = [1 - likely, likely], [1 - rare, rare]
    check_finite(exact, 0, 1, p, q)


@pytest.mark.parametrize("rarity", EPSILONS)
def test_rare_match(rarity):
    exact = law("rare_match", 1.0, rarity)
    chance = Decimal(-rarity).exp()
    check_finite(exact, 1, 0, [1 - chance, chance], [ONE, Decimal(0)])


def test_noiseless_count():
    rows = 100
    exact = law("noiseless_count", 1.0)
    ways = [math.comb(rows - 1, k) for k in range(rows)]
    whole = Decimal(2) ** (rows - 1)
    p, q = [Decimal(w) / whole for w in [*ways, 0]], [Decimal(w) / whole for w in [0, *ways]]
    exponents = [Decimal(claim).exp() for claim in (0.0, 0.1, 0.5, 1.0)]
    for x, y, first, second in [([rows, 0], [rows, 1], p, q), ([rows, 1], [rows, 0], q, p)]:
        assert exact.privacy_loss(x, y) == exact.renyi(2.0, x, y) == math.inf
        for claim, factor in zip((0.0, 0.1, 0.5, 1.0), exponents, strict=True):
            delta = sum(max(a - factor * b, Decimal(0)) for a, b in zip(first, second, strict=True))
            assert close(spectrum(exact, [claim], x, y)[0], delta)


@pytest.mark.parametrize("others", [(0.5, 0.5), (0.1, 0.1, 0.9), ()])
def test_random_rows(others):
    def chances(known):
        rows = [Decimal(known), *map(Decimal, others)]
        vectors = product((0, 1), repeat=len(rows))
        odds = [(sum(v), math.prod(r if b else 1 - r for r, b in zip(rows, v))) for v in vectors]  # noqa: B905
        return [sum(chance for ones, chance in odds if ones == k) for k in range(len(rows) + 1)]

    exact = law("random_rows", 1.0)
    x, y = [0.3, *others], [0.8, *others]
    check_finite(exact, x, y, chances(0.3), chances(0.8))
    check_finite(exact, [0.0, *others], [1.0, *others], chances(0), chances(1))


@pytest.mark.parametrize("epsilon", EPSILONS)
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
@pytest.mark.parametrize("claim", [0.0, 1e-9, 0.01, 1.0, 40.0, 100.0])
def test_gaussian_noise(distance, claim):
    """Delta from 1 down to 1e-250, at claims up to 100."""
    scale = law("gaussian_vector", 1.0, dimension=1)._sigma
    for name in ("gaussian", "gaussian_vector"):
        exact = law(name, 1.0) if name == "gaussian" else law(name, 1.0, dimension=1)
        x, y = (0.0, distance * scale) if name == "gaussian" else ([0.0], [distance * scale])
        d = Decimal(distance * scale) / Decimal(scale)
        t = Decimal(claim) / d - d / 2
        if t > 36:
            return  # below 1e-280
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
    for x, y in [(0.0, 1.0), (1.0, 0.0)]:
        assert exact.privacy_loss(x, y) == pytest.approx(epsilon, rel=1e-10, abs=0)
        for order in ORDERS:
            expected = order * epsilon**2 / 6
            assert exact.renyi(order, x, y) == pytest.approx(expected, rel=200 * epsilon, abs=0)
        for share in (0.0, 0.5, 0.99):
            delta = spectrum(exact, [share * epsilon], x, y)[0]
            expected = epsilon * (1 - share) ** 2 / 4
            assert delta == pytest.approx(expected, rel=10 * epsilon + 1e-9, abs=0)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 1.0, 20.0, 100.0])
def test_exponential_half_line(epsilon):
    exact = law("exponential_half_line", epsilon)
    rate = Decimal(exact._rate)
    for x, y in [(1.0, 2.0), (2.0, 1.0), (1.2, 1.3)]:
        masses = [2 - (-rate * Decimal(v)).exp() for v in (y, x)]
        far = rate * abs(Decimal(x) - Decimal(y))
        assert close(exact.privacy_loss(x, y), far + (masses[0] / masses[1]).ln(), 1e-9)


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


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 10.0, 50.0])
@pytest.mark.parametrize("queries", [2, 12, 100, 1000])
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


@pytest.mark.parametrize("epsilon", EPSILONS[:-1])
def test_the_index_of_two(epsilon):
    """The difference of two Laplace noises exceeds t scales with chance (1 + t/2) exp(-t) / 2."""
    for name in ("noisy_max_index", "report_noisy_max"):
        exact = law(name, epsilon, queries=2)
        scale = Decimal(1 / epsilon if name == "noisy_max_index" else 2 / epsilon)

        def behind(gap, scale=scale):
            t = Decimal(gap) / scale
            return (1 + t / 2) * (-t).exp() / 2

        p, q = behind(2), behind(1)
        check_finite(exact, [2.0, 0.0], [1.0, 0.0], [1 - p, p], [1 - q, q])


@pytest.mark.parametrize("epsilon", EPSILONS[:-1])
@pytest.mark.parametrize("name", ["sparse_vector", "sparse_vector_first"])
def test_one_query_against_a_threshold(name, epsilon):
    """With scales a and b the noises differ by t with chance (a^2 e^(-t/a) - b^2 e^(-t/b)) / ..."""
    exact = law(name, epsilon, variant=1, queries=1, threshold=3.0)
    a, b = (Decimal(s) for s in MECHANISMS.load(name)(epsilon, 1, 1).noise_scales)

    def above(x):
        t = 3 - Decimal(x)
        return (a * a * (-t / a).exp() - b * b * (-t / b).exp()) / (2 * (a * a - b * b))

    p, q = above(1), above(2)
    outputs = (lambda r: [1 - r, r]) if name == "sparse_vector" else (lambda r: [r, 1 - r])
    check_finite(exact, [1.0], [2.0], outputs(p), outputs(q))


@pytest.mark.parametrize("epsilon", EPSILONS[:-1])
def test_variant_5_by_the_tails_of_rho(epsilon):
    exact = law("sparse_vector_bits", epsilon, variant=5, queries=2, threshold=0.0)
    scale = Decimal(2 / epsilon)

    def beyond(t):
        return (-Decimal(t) / scale).exp() / 2

    def probabilities(x):  # both above, the higher one, none: P(rho <= 1) and so on
        low, high = sorted(x)
        return [1 - beyond(low), beyond(low) - beyond(high), beyond(high)]

    x, y = [1.0, 3.0], [2.0, 3.0]
    p, q = probabilities(x), probabilities(y)
    level = max((a / b).ln() for a, b in zip(p, q, strict=True))
    assert close(exact.privacy_loss(x, y), level)
    for claim in (0.0, float(level) / 2):
        factor = Decimal(claim).exp()
        delta = sum(max(a - factor * b, Decimal(0)) for a, b in zip(p, q, strict=True))
        assert close(spectrum(exact, [claim], x, y)[0], delta)

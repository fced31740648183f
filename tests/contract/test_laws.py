"""Every exact law: against quadrature and brute force; where doubles cancel or underflow."""

import math
from itertools import pairwise, permutations

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.exact import EXACT
from epsilometer.exact.base import spectrum
from epsilometer.testing import check_exact
from tests.contract.examples import by_speed, configured, inputs, law, mechanism, window

SCALAR = [name for name in sorted(EXACT) if mechanism(name).outputs == "scalar"]
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


@pytest.mark.parametrize("name", by_speed(SCALAR, ("continuous_noisy_max",)))
def test_densities_and_divergences_against_quadrature(name):
    exact = law(name)
    for x in inputs(name):
        lower, upper = window(exact, x)
        for z in np.linspace(lower, upper, 9)[1:]:
            points, weights = panels(lower, z, x)
            assert exact.cdf(z, x) == pytest.approx(weights @ exact.pdf(points, x), abs=1e-8)
        assert exact.cdf([lower, upper], x) == pytest.approx([0, 1], abs=1e-11)
    for x, y in permutations(inputs(name), 2):
        ends = np.array([window(exact, x), window(exact, y)])
        points, weights = panels(ends.min(), ends.max(), x, y)
        p, q = exact.pdf(points, x), exact.pdf(points, y)
        for order in (1.01, 2.0, 10.0):
            area = weights @ np.exp(order * np.log(p) + (1 - order) * np.log(q))
            assert exact.renyi(order, x, y) == pytest.approx(math.log(area) / (order - 1), abs=1e-7)


@pytest.mark.parametrize(
    "name", by_speed(sorted(EXACT), ("continuous_noisy_max", "laplace_vector"))
)
def test_every_law_keeps_the_contract(name):
    check_exact(law(name), mechanism(name), inputs(name))


class Scaled:
    """A law that multiplies one of its levels; of an infinite one it says 100."""

    def __init__(self, exact, factor, name):
        self._exact, self._factor, self._name = exact, factor, name

    def __getattr__(self, name):
        value = getattr(self._exact, name)
        return self._scaled(value) if name == self._name else value

    def _scaled(self, method):
        def scaled(*arguments):
            level = method(*arguments)
            return self._factor * level if np.isfinite(level).all() else 100.0

        return scaled


@pytest.mark.parametrize("factor", [1.1, 0.9])
@pytest.mark.parametrize("method", ["privacy_loss", "renyi", "spectrum"])
@pytest.mark.parametrize(
    "name", ["laplace", "randomized_response", "sparse_vector_bits", "laplace_vector"]
)
def test_levels_a_tenth_too_large_or_too_small_are_refused(name, method, factor):
    scaled = Scaled(law(name), factor, method)
    with pytest.raises(AssertionError, match=r"privacy_loss|renyi|level|spectrum"):
        check_exact(scaled, mechanism(name), inputs(name))


# --- where doubles cancel or underflow ------------------------------------------------------------


def variants():
    """Yield the first and last entry of every law, and all whose noise makes another law."""
    entries = configured().mechanisms.items()
    for name in EXACT:
        same = [entry for entry, about in entries if about.mechanism == name]
        yield from same if name in ("noisy_sum", "noisy_max_value") else {same[0], same[-1]}


ROUNDING = 1e-9
ORDERS = np.array([1.01, 2.0, 10.0, 100.0])


@pytest.fixture(params=sorted(variants()))
def entry(request):
    return request.param


@pytest.fixture(params=[1e-8, 100.0])
def epsilon(request):
    return request.param


@pytest.fixture
def exact(entry, epsilon):
    study = configured()
    return EXACT.load(study.mechanisms[entry].mechanism)(study.mechanism(entry, epsilon))


@pytest.fixture(params=[1, -1], ids=["forward", "backward"])
def sides(entry, request):
    which = next(iter(configured().mechanisms[entry].inputs))
    return configured().inputs(entry, which).sides()[:2][:: request.param]


def test_levels_rise_to_the_pure_level(exact, sides):
    pure = exact.privacy_loss(*sides)
    levels = np.array([exact.renyi(order, *sides) for order in ORDERS])
    assert levels[0] > 0
    assert all(b >= a * (1 - ROUNDING) for a, b in pairwise([*levels, pure]))
    most = max(pure, exact.privacy_loss(*sides[::-1]))
    if most < 1e-5:  # a divergence is order / 2 times the mean square of the loss
        rates, spread = levels / ORDERS, 300 * most + 1e-8
        assert rates == pytest.approx(np.full(4, rates[0]), rel=spread, abs=0)
        assert rates[0] <= most**2 / 2 * (1 + spread)


def test_spectra_fall_to_0_from_the_total_variation(exact, sides, epsilon):
    if not hasattr(exact, "spectrum"):
        with pytest.raises(ArgumentError, match="has no spectrum"):
            spectrum(exact, [0.0], *sides)
        return
    pure = exact.privacy_loss(*sides)
    top = pure if math.isfinite(pure) else 5 * epsilon
    claims = np.array([0, 1e-6, 0.1, 0.5, 0.9, 0.999, 1, 1 + 1e-9, 2, 1000]) * top
    deltas = spectrum(exact, claims, *sides)
    other = sides[::-1]
    assert deltas[0] == pytest.approx(spectrum(exact, [0.0], *other)[0], rel=1e-8, abs=0)
    assert 0 < deltas[0] <= 1
    assert deltas.min() >= 0
    assert (deltas[1:] <= deltas[:-1] * (1 + ROUNDING)).all()
    if math.isfinite(pure):
        assert not deltas[6:].any()
        assert deltas[0] <= -math.expm1(-pure) * (1 + ROUNDING)
    claims = np.array([0.4 * epsilon, 40.0])  # below 0 the other direction has as much
    below = -np.expm1(-claims) + np.exp(-claims) * spectrum(exact, claims, *other)
    assert spectrum(exact, -claims, *sides) == pytest.approx(below, rel=1e-8, abs=0)

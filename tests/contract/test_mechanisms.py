"""Rules that every registered mechanism keeps."""

import math
from dataclasses import fields, is_dataclass
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from epsilometer import checks, seeds
from epsilometer.errors import ArgumentError, MechanismError
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.mechanisms.drawing import draw
from epsilometer.testing import check_mechanism
from tests.contract.examples import EPSILON, by_speed, configured, inputs, mechanism, outside

every_mechanism = pytest.mark.parametrize("name", sorted(MECHANISMS))
MIXED = [name for name in MECHANISMS if mechanism(name).outputs == "mixed"]
ENTRIES = [entry for entry, e in configured().mechanisms.items() if e.mechanism not in MIXED]


@every_mechanism
def test_every_mechanism_keeps_the_contract(name):
    check_mechanism(mechanism(name), inputs(name), outside(name))


def obeys(drawn, outputs, exact, x):
    """Tell whether draws of any kind follow a law."""
    if outputs == "scalar":
        return stats.kstest(drawn, partial(exact.cdf, x=x)).pvalue > 1e-4
    if outputs == "vector":  # every entry, all together, and every two
        uniform = np.stack([exact.entry.cdf(d, a) for d, a in zip(drawn.T, x, strict=True)])
        related = np.abs(np.triu(np.corrcoef(uniform), k=1)).max()
        far = max(distance(uniform).max(), distance(uniform.ravel()))
        return far < math.sqrt(-math.log(1e-5 / 2) / 2) and related < 6 / math.sqrt(len(drawn))
    if outputs == "bits":
        place = {output: i for i, output in enumerate(exact.atoms(x))}
        drawn = np.array([place[output] for output in drawn.tolist()])
    return follows(drawn, exact.probabilities(x))


def distance(uniform):
    """Return Kolmogorov and Smirnov's distance from uniform numbers, times the root of their n.

    Above sqrt(-log(a / 2) / 2) with chance a, where they are uniform and many.
    """
    n = uniform.shape[-1]
    steps = np.arange(n + 1) / n
    ranked = np.sort(uniform)
    far = np.maximum(steps[1:] - ranked, ranked - steps[:-1]).max(axis=-1)
    return far * math.sqrt(n)


def follows(drawn, probabilities):
    """Tell whether integers are as likely as they should be: chi-square, rare ones together."""
    counts = np.bincount(drawn, minlength=probabilities.size)
    assert counts[probabilities == 0].sum() == 0
    order = np.argsort(probabilities)
    expected = drawn.size * probabilities[order]
    rare = max(np.searchsorted(np.cumsum(expected), 5) + 1, (expected < 5).sum())
    cells = [np.append(v[rare:], v[:rare].sum()) for v in (counts[order], expected)]
    return cells[0].size == 1 or stats.chisquare(*cells).pvalue > 1e-4


@pytest.mark.parametrize("entry", by_speed(ENTRIES, ("svt5", "svt6")))
@pytest.mark.parametrize("epsilon", [EPSILON, 2.3])  # at 1 many scales are their own squares
def test_every_configured_entry_follows_its_law(entry, epsilon):
    sampler = configured().mechanism(entry, epsilon)
    exact = EXACT.load(configured().mechanisms[entry].mechanism)(sampler)
    for which in configured().mechanisms[entry].inputs:
        for x in configured().inputs(entry, which).sides()[:4]:
            rng = seeds.generator(3, entry, which, str(x))
            many = sampler.outputs != "vector" and epsilon == EPSILON
            drawn = sampler.sample(x, 25_000 if many else 10_000, rng)
            assert obeys(drawn, sampler.outputs, exact, x), x


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_noise_of_a_count_attains_epsilon_or_its_inverse(epsilon):
    for wrong, level in ((False, epsilon), (True, 1 / epsilon)):
        noisy = MECHANISMS.load("noisy_histogram")(epsilon, wrong=wrong)
        exact = EXACT.load("noisy_histogram")(noisy)
        assert exact.privacy_loss(3, 4) == pytest.approx(level)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("name", ["gaussian", "gaussian_vector"])
def test_gaussian_noise_is_as_wide_as_its_delta_needs(name, epsilon):
    """Where delta is the usual bound of a tail, 1.25 exp(-(sigma epsilon)^2 / 2), or not given."""
    dimension = {"dimension": 2} if name == "gaussian_vector" else {}
    for delta in ({"delta": 0.01}, {}):
        noisy = MECHANISMS.load(name)(epsilon, **dimension, **delta)
        of_tail = 1.25 * math.exp(-((noisy.sigma * epsilon) ** 2) / 2)
        assert of_tail == pytest.approx(delta.get("delta", 1e-5))


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_a_sum_of_all_people_is_an_answer_plus_the_same_noise(noise):
    """Of one number, by the mechanism of that noise: of several blocks, draw by draw."""
    answer = MECHANISMS.load(noise)(0.7)
    scale = answer.scale if noise == "laplace" else answer.sigma
    whole = MECHANISMS.load("noisy_sum")(1 / scale, noise=noise, people=3)
    drawn = whole.sample([1, 0.25, 0.5], 70_000, np.random.default_rng(1))
    expected = answer.sample(1.75, 70_000, np.random.default_rng(1))
    np.testing.assert_allclose(drawn, expected, rtol=1e-12, atol=1e-12)


def test_a_default_is_what_a_paper_has():
    """Of the class that sets it, or of one that follows it: an entry of their configuration."""
    entries = configured().mechanisms
    studied = [configured().mechanism(entry, EPSILON) for entry in entries]
    for kind in {kind for each in studied for kind in type(each).__mro__ if is_dataclass(kind)}:
        used = [each for each in studied if isinstance(each, kind)]
        for field in fields(kind):
            if field.name in vars(kind):
                assert field.default in {getattr(each, field.name) for each in used}, (kind, field)


def test_numbers_that_are_not_positive_are_refused():
    for number in (0, -1.0, math.nan, math.inf, "1", None, True):
        with pytest.raises(ArgumentError, match="epsilon must be"):
            checks.positive("epsilon", number)


@pytest.mark.parametrize(
    ("name", "key", "most"),
    [("randomized_bits", "people", 30), ("sparse_vector", "queries", 30)]
    + [(f"sparse_vector_{kind}", "queries", 62) for kind in ("bits", "first")],
)
def test_an_output_has_as_many_bits_as_its_type_at_most(name, key, most):
    variant = {} if name == "randomized_bits" else {"variant": 1}
    MECHANISMS.load(name)(epsilon=1.0, **variant, **{key: most})
    with pytest.raises(ArgumentError, match=str(most)):
        MECHANISMS.load(name)(epsilon=1.0, **variant, **{key: most + 1})


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_noise_of_sparse_vector_is_that_of_the_table(epsilon):
    """The threshold's share of epsilon, and the queries' noise in scales of the threshold's."""
    of_variants = {1: (1 / 2, 2), 2: (1 / 2, 2), 4: (1 / 4, 1 / 3), 5: (1 / 2, 0), 6: (1 / 2, 1)}
    for variant, (share, factor) in of_variants.items():
        rho, nu = MECHANISMS.load("sparse_vector")(epsilon, variant).noise_scales
        assert rho == pytest.approx(1 / (share * epsilon))
        assert nu == pytest.approx(factor * rho)
    corrected = MECHANISMS.load("sparse_vector")(epsilon, 4, corrected=True)
    weaker = MECHANISMS.load("sparse_vector")(4 / 7 * epsilon, 4)  # as 4 is 7/4 epsilon-private
    assert corrected.noise_scales == pytest.approx(weaker.noise_scales)


@pytest.mark.parametrize(
    ("included", "allowed"), [(0.0, False), (1e-9, True), (1.0, True), (1.001, False)]
)
def test_a_share_of_people_is_above_0_and_at_most_1(included, allowed):
    if allowed:
        assert MECHANISMS.load("noisy_sum")(epsilon=1.0, included=included).included == included
    else:
        with pytest.raises(ArgumentError, match="included must lie in"):
            MECHANISMS.load("noisy_sum")(epsilon=1.0, included=included)


@pytest.mark.parametrize(
    ("outputs", "fit"),
    [
        ([2**31 - 1, -(2**31)], True),
        ([2**31, 0], False),
        ([0, -(2**31) - 1], False),
        ([-(2**31) - 1, 2**31], False),
    ],
)
def test_outputs_beyond_the_bits_of_their_kind_are_refused(outputs, fit):
    drawn = SimpleNamespace(outputs="index", sample=lambda *_: np.array(outputs))
    rng = np.random.default_rng(0)
    if fit:
        assert draw(drawn, 0, 2, rng, name="m").dtype == np.int32
    else:
        with pytest.raises(MechanismError, match="beyond 32 bits"):
            draw(drawn, 0, 2, rng, name="m")


@pytest.mark.parametrize("shape", [(2,), (2, 2), (2, 3, 1), (3, 3)])
def test_outputs_of_another_shape_are_refused(shape):
    """Two outputs of three entries are expected."""
    drawn = SimpleNamespace(outputs="vector", dimension=3, sample=lambda *_: np.zeros(shape))
    with pytest.raises(MechanismError, match="returned 3 outputs" if shape == (3, 3) else "shape"):
        draw(drawn, 0, 2, np.random.default_rng(0), name="m")
    drawn.sample = lambda *_: np.zeros((2, 3))
    assert draw(drawn, 0, 2, np.random.default_rng(0), name="m").shape == (2, 3)

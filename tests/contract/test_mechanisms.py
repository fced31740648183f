"""What every registered mechanism keeps."""

import math
from functools import partial

import numpy as np
import pytest
from scipy import stats

from epsilometer import seeds
from epsilometer.errors import ArgumentError
from epsilometer.exact import LAWS
from epsilometer.exact.sparse_vector import SparseVectorLaw
from epsilometer.mechanisms import MECHANISMS
from epsilometer.mechanisms.base import dimension_of
from epsilometer.mechanisms.sparse_vector import SparseVector
from epsilometer.sampling import draw
from tests.contract.examples import (
    EPSILON,
    OUTSIDE,
    configured,
    inputs,
    law,
    mechanism,
    parameters,
)

every_mechanism = pytest.mark.parametrize("name", sorted(MECHANISMS))
MIXED = [name for name in MECHANISMS if mechanism(name).outputs == "mixed"]
with_a_law = pytest.mark.parametrize("name", sorted(set(LAWS) - set(MIXED)))
calibrated = pytest.mark.parametrize(
    "name", ["bernoulli_pair", "randomized_response", "truncated_gaussian", "truncated_laplace"]
)
N = 200_000


def sample(name, x, size=N, run=0):
    return draw(mechanism(name), x, size, seeds.generator(1, name, str(x), run), name=name)


@every_mechanism
def test_same_seed_same_draws_other_seed_other_draws(name):
    for x in inputs(name):
        np.testing.assert_array_equal(sample(name, x), sample(name, x))
        if not constant(name, x):
            assert (sample(name, x) != sample(name, x, run=1)).any()


@every_mechanism
def test_draws_have_the_promised_shape_and_type(name):
    dtype = {"index": np.int32, "tuple": np.int32, "bits": np.int64}.get(
        mechanism(name).outputs, np.float64
    )
    dimension = dimension_of(mechanism(name))
    for x in inputs(name):
        for size in (1, 7):
            outputs = sample(name, x, size)
            assert outputs.shape == ((size,) if dimension is None else (size, dimension))
            assert outputs.dtype == dtype


def constant(name, x):
    """Tell whether there is one output only."""
    return hasattr(law(name), "probabilities") and law(name).probabilities(x).max() == 1


@with_a_law
def test_draws_follow_the_exact_law(name):
    for x in inputs(name):
        assert obeys(sample(name, x)[:50_000], mechanism(name).outputs, law(name), x)


def obeys(drawn, outputs, exact, x):
    """Tell whether draws of any kind follow a law."""
    if outputs == "scalar":
        return stats.kstest(drawn, partial(exact.cdf, x=x)).pvalue > 1e-4
    if outputs == "vector":  # entry by entry; that they are independent is tested elsewhere
        entries = zip(drawn.T, x, strict=True)
        tests = (stats.kstest(d, partial(exact.entry.cdf, x=a)) for d, a in entries)
        return min(test.pvalue for test in tests) > 1e-5
    if outputs == "bits":
        place = {output: i for i, output in enumerate(exact.atoms(x))}
        drawn = np.array([place[output] for output in drawn.tolist()])
    return follows(drawn, exact.probabilities(x))


def follows(drawn, probabilities):
    """Tell whether integers are as likely as they should be: chi-square, rare ones together."""
    n = drawn.size
    seen = np.bincount(drawn, minlength=probabilities.size)
    assert seen[probabilities == 0].sum() == 0
    rare = n * probabilities < 5
    cells = [np.append(v[~rare], v[rare].sum()) for v in (seen, n * probabilities)]
    usable = cells[1] > 0
    if usable.sum() == 1:
        return seen.max() == n
    return stats.chisquare(*(v[usable] for v in cells)).pvalue > 1e-4


@pytest.mark.parametrize(
    "entry", [k for k, e in configured().mechanisms.items() if e.mechanism not in MIXED]
)
def test_every_configured_entry_follows_its_law(entry):
    made = configured().mechanism(entry, EPSILON)
    exact = LAWS.load(configured().mechanisms[entry].mechanism)(made)
    for which in configured().mechanisms[entry].inputs:
        for x in configured().input_values(entry, which)[:4]:
            drawn = made.sample(x, 50_000, seeds.generator(3, entry, which, str(x)))
            assert obeys(drawn, made.outputs, exact, x), x


@pytest.mark.parametrize("variant", [1, 2, 4, 5, 6])
@pytest.mark.parametrize("positives", [1, 2, 3])
def test_sparse_vector_with_more_positives_follows_its_law(variant, positives):
    made = SparseVector(1.0, variant, queries=4, positives=positives)
    for x in ([1, 1, 1, 1], [0, 2, 1, 1], [2, 0, 0, 2]):
        drawn = made.sample(x, 100_000, np.random.default_rng(0))
        assert follows(drawn, SparseVectorLaw(made).probabilities(x))


@with_a_law
def test_moments(name):
    for x in inputs(name):
        if constant(name, x) or mechanism(name).outputs in ("bits", "vector"):
            continue
        exact = law(name)
        if mechanism(name).outputs == "scalar":
            z = np.linspace(*exact.window(x), 200_001)
            weights = exact.pdf(z, x) * (z[1] - z[0])
            weights[[0, -1]] /= 2
        else:
            weights = exact.probabilities(x)
            z = np.arange(weights.size)
        mean = z @ weights
        variance, fourth = ((z - mean) ** k @ weights for k in (2, 4))
        outputs = sample(name, x)
        assert abs(outputs.mean() - mean) < 5 * math.sqrt(variance / N)
        assert abs(outputs.var() - variance) < 5 * math.sqrt((fourth - variance**2) / N)


@every_mechanism
def test_inputs_outside_the_domain_are_refused(name):
    for x in inputs(name):
        mechanism(name).check_input(x)
    for x in OUTSIDE.get(name, ()):
        with pytest.raises(ArgumentError, match="input"):
            mechanism(name).check_input(x)


@every_mechanism
@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, "1", None, True])
def test_a_bad_epsilon_is_refused(name, epsilon):
    with pytest.raises(ArgumentError, match="epsilon must be"):
        MECHANISMS.load(name)(**parameters(name), epsilon=epsilon)


@calibrated
def test_the_level_is_epsilon(name):
    level = max(law(name).privacy_loss(x, y) for x in inputs(name) for y in inputs(name))
    assert level == pytest.approx(EPSILON, rel=1e-9)

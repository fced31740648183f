"""What every registered mechanism keeps."""

import math

import numpy as np
import pytest
from scipy import stats

from epsilometer import seeds
from epsilometer.errors import ArgumentError
from epsilometer.exact import LAWS
from epsilometer.mechanisms import MECHANISMS
from epsilometer.sampling import draw
from tests.contract.examples import EXAMPLES, law, mechanism

pytestmark = pytest.mark.parametrize("name", sorted(MECHANISMS))
N = 200_000


def sample(name, x, size=N, run=0):
    return draw(mechanism(name), x, size, seeds.generator(1, name, str(x), run), name=name)


def test_has_an_example(name):
    assert name in EXAMPLES


def test_same_seed_same_draws_other_seed_other_draws(name):
    for x in EXAMPLES[name].inputs:
        assert (sample(name, x) == sample(name, x)).all()
        assert (sample(name, x) != sample(name, x, run=1)).any()


def test_draws_have_the_promised_shape_and_type(name):
    kind = {"scalar": np.float64, "index": np.int32}[mechanism(name).outputs]
    for x in EXAMPLES[name].inputs:
        for size in (1, 7):
            outputs = sample(name, x, size)
            assert outputs.shape == (size,)
            assert outputs.dtype == kind


def test_draws_follow_the_exact_law(name):
    if name not in LAWS:
        pytest.fail(f"{name} has no exact law; add one, or say here why there is none")
    for x in EXAMPLES[name].inputs:
        outputs = sample(name, x)
        if mechanism(name).outputs == "scalar":
            assert stats.kstest(outputs[:50_000], lambda z, x=x: law(name).cdf(z, x)).pvalue > 1e-4
        else:
            probabilities = law(name).probabilities(x)
            seen = np.bincount(outputs, minlength=probabilities.size)
            assert stats.chisquare(seen, N * probabilities).pvalue > 1e-4


def test_moments(name):
    for x in EXAMPLES[name].inputs:
        exact = law(name)
        if mechanism(name).outputs == "scalar":
            lower, upper = exact.support
            z = np.linspace(lower, upper, 20_001)
            weights = exact.pdf(z, x)
            mean = np.trapezoid(z * weights, z)
            variance = np.trapezoid((z - mean) ** 2 * weights, z)
        else:
            values = np.arange(exact.probabilities(x).size)
            mean = values @ exact.probabilities(x)
            variance = (values - mean) ** 2 @ exact.probabilities(x)
        outputs = sample(name, x)
        assert abs(outputs.mean() - mean) < 5 * math.sqrt(variance / N)
        assert outputs.var() == pytest.approx(variance, rel=0.05)


def test_inputs_outside_the_domain_are_refused(name):
    for x in EXAMPLES[name].inputs:
        mechanism(name).check_input(x)
    for x in EXAMPLES[name].outside:
        with pytest.raises(ArgumentError, match="input"):
            mechanism(name).check_input(x)


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, "1", None, True])
def test_a_bad_epsilon_is_refused(name, epsilon):
    with pytest.raises(ArgumentError, match="epsilon must be"):
        MECHANISMS.load(name)(**(EXAMPLES[name].parameters | {"epsilon": epsilon}))


def test_the_level_is_at_most_epsilon_and_reached(name):
    """Every example is calibrated: the largest loss over its inputs is its epsilon."""
    inputs = EXAMPLES[name].inputs
    level = max(law(name).privacy_loss(x, y) for x in inputs for y in inputs if x != y)
    assert level == pytest.approx(mechanism(name).epsilon, rel=1e-9)

"""The Sparse Vector Technique: of few queries by the laws of its noise, of more by its promises."""

import math
from decimal import Decimal

import pytest

from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.sparse_vector import SparseVector
from tests.unit.epsilometer.exact.laws import EPSILONS, check_both_ways, check_law, law


@pytest.mark.parametrize("epsilon", EPSILONS[:-1])
@pytest.mark.parametrize("name", ["sparse_vector", "sparse_vector_first"])
def test_one_query_is_above_its_threshold(name, epsilon):
    """With scales a and b the noises differ by t with chance (a^2 e^(-t/a) - b^2 e^(-t/b)) / ..."""
    a, b = map(Decimal, SparseVector(epsilon, 1).noise_scales)

    def outputs(answer):
        t = 3 - Decimal(answer)
        chance = (a * a * (-t / a).exp() - b * b * (-t / b).exp()) / (2 * (a * a - b * b))
        return [chance, 1 - chance]

    exact = law(name, epsilon, variant=1, queries=1, threshold=3.0)
    check_both_ways(exact, [1.0], [2.0], outputs(1), outputs(2))
    above = 1 if name == "sparse_vector" else 0  # the bit, or the index of the first
    assert exact.probabilities([1.0])[above] == pytest.approx(float(outputs(1)[0]))


@pytest.mark.parametrize("epsilon", EPSILONS[:-1])
@pytest.mark.parametrize(("x", "y"), [([1.0, 3.0], [2.0, 3.0]), ([-2.0, -1.0], [-3.0, -1.0])])
def test_variant_5_shows_the_answers_above_one_noise(x, y, epsilon):
    """Both above, the higher one, or none: by the tails of rho. The other way one is impossible."""

    def chances(answers):
        low, high = ((-abs(Decimal(t)) / Decimal(2 / epsilon)).exp() / 2 for t in sorted(answers))
        if answers[0] < 0:
            low, high = 1 - low, 1 - high
        return [1 - low, low - high, high]

    exact = law("sparse_vector_bits", epsilon, variant=5, queries=2, threshold=0.0)
    check_law(exact, x, y, chances(x), chances(y))


def test_bit_vectors_have_an_exact_law_in_variant_5_only():
    with pytest.raises(ArgumentError, match="variant must be 5"):
        law("sparse_vector_bits", 1.0, variant=1, queries=2)


@pytest.mark.parametrize(
    ("variant", "corrected", "least", "most"),
    [
        (1, False, 0.0, 1.0),
        (2, False, 0.0, 1.0),
        (4, False, 1.0, 7 / 4),
        (4, True, 0.0, 1.0),
        (5, False, math.inf, math.inf),
        (6, False, 1.0, 9.0),
    ],
)
def test_levels_of_the_variants_are_those_of_the_table(variant, corrected, least, most):
    """Where many answers move one way, and the last the other."""
    exact = law("sparse_vector", 1.0, variant, queries=9, corrected=corrected)
    x, y = [0.0] * 8 + [2.0], [1.0] * 8 + [1.0]
    level = max(exact.privacy_loss(x, y), exact.privacy_loss(y, x))
    assert least <= level <= most

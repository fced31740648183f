"""The Sparse Vector Technique: by integrals of exponentials, piece by piece, in many digits."""

import math
from decimal import Decimal
from itertools import pairwise, product

import numpy as np
import pytest

from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.sparse_vector import SparseVector
from tests.unit.epsilometer.exact.laws import check_both_ways, law

INFINITE = Decimal("inf")


def tail_terms(gap, scale, side, below):
    """Return P(gap + nu >= rho) for side 1, or < for -1, as {rate in 1/scale: factor}.

    For rho ``below`` the gap or above it; of no noise (scale 0) the chance is 1 or 0.
    """
    if scale == 0:
        return {0: Decimal(below == (side == 1))}
    sign = 1 if below else -1
    tail = (-sign * gap / scale).exp() / 2
    rare = below == (side == -1)
    return {sign: tail} if rare else {0: Decimal(1), sign: -tail}


def integral(rate, low, high):
    """Return that of exp(rate rho) from a number, or infinity where it falls off, to another."""
    if rate == 0:
        return high - low
    ends = (0 if end.is_infinite() else (rate * end).exp() for end in (high, low))
    return (next(ends) - next(ends)) / rate


def chance_of(bits, gaps, scales):
    """Return the chance of such answers: given rho they are independent."""
    a, b = scales
    cuts = sorted({Decimal(0), *gaps})
    total = Decimal(0)
    for low, high in pairwise([-INFINITE, *cuts, INFINITE]):
        sign = 1 if high <= 0 else -1
        terms = {(sign, 0): 1 / (2 * a)}  # by rates in 1/a and in 1/b
        for bit, gap in zip(bits, gaps, strict=True):
            following = {}
            of_query = tail_terms(gap, b, 1 if bit else -1, high <= gap)
            for ((i, j), factor), (more, times) in product(terms.items(), of_query.items()):
                new = i, j + more
                following[new] = following.get(new, Decimal(0)) + factor * times
            terms = following
        for (i, j), factor in terms.items():
            rate = (i * b + j * a) / (a * b) if j else i / a
            total += factor * integral(rate, low, high) if factor else 0
    return total


def chances(mechanism, x, first=False):
    """Return the probabilities of all words of bits, or of each first positive and of none."""
    scales = [Decimal(scale) for scale in mechanism.noise_scales]
    gaps = [Decimal(answer) - Decimal(mechanism.threshold) for answer in x]
    n = len(x)
    of_words = [Decimal(0)] * 2**n
    for bits in product((0, 1), repeat=n):
        word = sum(bit << j for j, bit in enumerate(bits))
        if mechanism.stops:
            word &= -word
        of_words[word] += chance_of(bits, gaps, scales)
    if first:
        return [*(of_words[1 << j] for j in range(n)), of_words[0]]
    return of_words


@pytest.mark.parametrize("epsilon", [1e-8, 1.0, 40.0])
@pytest.mark.parametrize(
    ("variant", "corrected"),
    [(1, False), (2, False), (4, False), (4, True), (5, False), (6, False)],
)
def test_words_of_bits_and_first_positives(variant, corrected, epsilon):
    """Of an answer at the threshold, of one that passes it, and of one that is the same."""
    x, y = [1.0, 0.57, 2.1], [0.13, 1.41, 2.1]
    about = {"variant": variant, "queries": len(x), "threshold": 1.0, "corrected": corrected}
    mechanism = SparseVector(epsilon, **about)
    for name in ["sparse_vector", "sparse_vector_first"][: 1 + mechanism.stops]:
        exact = law(name, epsilon, **about)
        p, q = (chances(mechanism, answers, name != "sparse_vector") for answers in (x, y))
        np.testing.assert_allclose(exact.probabilities(x), [*map(float, p)], rtol=1e-10)
        check_both_ways(exact, x, y, p, q)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1.0, 3.0], [2.0, 3.0]),
        ([2.0, 3.0], [2.0, 2.5]),
        ([5.0, 5.0], [6.0, 6.0]),
        ([0.0, 3.0], [2.0, 2.0]),
        ([-1.0, 0.0], [-2.0, 0.0]),
        ([-2.0, 4.0, 1.0], [-2.0, 3.0, 1.0]),
        ([1.0, 3.0, 1.0], [2.0, 3.0, 2.0]),
        ([2.0, 1.0], [1.0, 2.0]),
    ],
)
@pytest.mark.parametrize("epsilon", [1e-8, 1.0, 40.0])
def test_positives_of_variant_5_are_the_answers_above_one_noise(x, y, epsilon):
    """An input has few outputs: the levels are those where the others have probability 0."""
    exact = law("sparse_vector_bits", epsilon, variant=5, queries=len(x), threshold=1.0)
    mechanism = SparseVector(epsilon, 5, queries=len(x), threshold=1.0)
    p, q = chances(mechanism, x), chances(mechanism, y)
    check_both_ways(exact, x, y, p, q)
    assert {*exact.atoms(x)} == {word for word, chance in enumerate(p) if chance > 0}


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

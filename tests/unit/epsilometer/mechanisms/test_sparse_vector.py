"""The noise of the Sparse Vector variants, and how many queries fit into an output."""

import pytest

from epsilometer.errors import ArgumentError
from epsilometer.mechanisms.sparse_vector import SparseVector, SparseVectorBits, SparseVectorFirst


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_noise_of_sparse_vector_is_that_of_the_table(epsilon):
    """The threshold's share of epsilon, and the queries' noise in scales of the threshold's."""
    of_variants = {1: (1 / 2, 2), 2: (1 / 2, 2), 4: (1 / 4, 1 / 3), 5: (1 / 2, 0), 6: (1 / 2, 1)}
    for variant, (share, factor) in of_variants.items():
        rho, nu = SparseVector(epsilon, variant).noise_scales
        assert rho == pytest.approx(1 / (share * epsilon))
        assert nu == pytest.approx(factor * rho)
    corrected = SparseVector(epsilon, 4, corrected=True)
    weaker = SparseVector(4 / 7 * epsilon, 4)  # as 4 is 7/4 epsilon-private
    assert corrected.noise_scales == pytest.approx(weaker.noise_scales)


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (SparseVector, {"variant": 1, "corrected": True}, "corrected applies to variant 4"),
        (SparseVector, {"variant": 3}, "variant must be one of 1, 2, 4, 5, 6"),
        (SparseVectorFirst, {"variant": 5}, "variant must be 1, 2 or 4"),
    ],
)
def test_other_variants_are_refused(kind, arguments, message):
    with pytest.raises(ArgumentError, match=message):
        kind(1.0, **arguments)


@pytest.mark.parametrize(
    ("kind", "most"), [(SparseVector, 30), (SparseVectorBits, 62), (SparseVectorFirst, 62)]
)
def test_an_output_has_as_many_bits_as_its_type_at_most(kind, most):
    kind(1.0, variant=1, queries=most)
    with pytest.raises(ArgumentError, match=str(most)):
        kind(1.0, variant=1, queries=most + 1)

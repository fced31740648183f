"""The product of complex arrays, and numbers at even distances."""

import numpy as np

from epsilometer.numerics.arrays import complex_product, evenly_spaced


def test_a_complex_product_is_that_of_its_parts():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 99)) + 1j * rng.normal(size=(2, 99))
    np.testing.assert_allclose(complex_product(a, b), a * b, rtol=1e-13)


def test_evenly_spaced_numbers_have_both_ends_and_are_at_most_so_many():
    assert evenly_spaced(9, 3) == [0, 4, 8]
    assert evenly_spaced(3, 9) == [0, 1, 2]
    assert evenly_spaced(1, 9) == [0]

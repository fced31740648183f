"""Types of NumPy arrays, and a product of complex ones that is the same on all processors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Indices = NDArray[np.int32]
Integers = NDArray[np.integer]
Bools = NDArray[np.bool_]
Sample = NDArray[Any]
"""Outputs: of shape ``(n,)``, or ``(n, d)`` where each has d entries."""


def complex_product(a: NDArray[np.complex128], b: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return the product of two complex arrays, each part rounded as real numbers are.

    NumPy's own fuses multiplications and additions where the processor can, which changes the last
    digit.

    >>> complex_product(np.array([1 + 2j]), np.array([3 - 1j])).tolist()
    [(5+5j)]
    """
    product = np.empty(a.shape, np.complex128)
    product.real = a.real * b.real - a.imag * b.imag
    product.imag = a.real * b.imag + a.imag * b.real
    return product


def evenly_spaced(size: int, most: int) -> list[int]:
    """Return at most ``most`` of the first ``size`` numbers, evenly spaced, with both ends.

    >>> evenly_spaced(9, 3)
    [0, 4, 8]
    """
    return sorted({round(i) for i in np.linspace(0, size - 1, min(size, most)).tolist()})

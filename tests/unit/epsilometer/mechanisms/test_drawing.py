"""Outputs of a mechanism that is not trusted: shapes, types and values."""

from types import SimpleNamespace

import numpy as np
import pytest

from epsilometer.errors import MechanismError
from epsilometer.mechanisms.drawing import draw


def drawn(outputs, kind):
    """Draw two outputs, which may have three entries."""
    mechanism = SimpleNamespace(outputs=kind, dimension=3, sample=lambda *_: np.array(outputs))
    return draw(mechanism, 0, 2, np.random.default_rng(0), name="m")


def test_outputs_up_to_the_bits_of_their_kind_are_kept():
    ends = drawn([2**31 - 1, -(2**31)], "index")
    assert (ends.tolist(), ends.dtype) == ([2**31 - 1, -(2**31)], np.int32)


@pytest.mark.parametrize("outputs", [[2**31, 0], [0, -(2**31) - 1], [-(2**31) - 1, 2**31]], ids=str)
def test_outputs_beyond_the_bits_of_their_kind_are_refused(outputs):
    with pytest.raises(MechanismError, match="beyond 32 bits"):
        drawn(outputs, "index")


@pytest.mark.parametrize("shape", [(2,), (2, 2), (2, 3, 1), (3, 3)])
def test_outputs_of_another_shape_are_refused(shape):
    assert drawn(np.zeros((2, 3)), "vector").shape == (2, 3)
    with pytest.raises(MechanismError, match="returned 3 outputs" if shape == (3, 3) else "shape"):
        drawn(np.zeros(shape), "vector")

"""A mechanism under audit is not trusted: each way to break the contract is one line."""

from types import SimpleNamespace

import numpy as np
import pytest

from epsilometer.errors import MechanismError
from epsilometer.mechanisms.drawing import draw


def drawn(returned, outputs):
    """Draw three outputs from a mechanism that returns a value, or raises an error."""

    def sample(x, size, rng):
        if isinstance(returned, Exception):
            raise returned
        return returned

    mechanism = SimpleNamespace(outputs=outputs, dimension=2, sample=sample)
    return draw(mechanism, 0.25, 3, np.random.default_rng(0), name="mine")


@pytest.mark.parametrize(
    ("returned", "outputs", "message"),
    [
        (ZeroDivisionError("noise\nof scale 0"), "scalar", r"raised ZeroDivisionError: noise of"),
        (np.array([1.0, np.nan, np.inf]), "scalar", "returned 2 NaN or infinite outputs"),
        ([[np.nan, 1.0], [np.inf, 0.0], [1.0, -np.inf]], "mixed", "returned 2 NaN or inf"),
        (np.zeros(2), "scalar", "returned 2 outputs, not 3"),
        (["a", "b", "c"], "scalar", "returned <U1, not scalar outputs"),
        (np.zeros(3), "index", "returned float64, not index outputs"),
        (np.array([1, 2, 3]), "scalar", "returned int64, not scalar outputs"),
        (np.array([True, False, True]), "index", "returned bool, not index outputs"),
        (np.full(3, 2**63, np.uint64), "bits", "outputs beyond 64 bits"),
    ],
)
def test_the_error_of_a_broken_sampler_is_one_line(returned, outputs, message):
    with pytest.raises(MechanismError, match=message) as caught:
        drawn(returned, outputs)
    assert "mechanism 'mine' on input 0.25" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("returned", "outputs", "dtype"),
    [
        (np.zeros(3, np.float32), "scalar", np.float64),
        ([0, 1, 2**31 - 1], "index", np.int32),
        (np.full(3, 2**60 + 1, np.uint64), "bits", np.int64),
    ],
)
def test_other_widths_are_converted_and_never_wrapped(returned, outputs, dtype):
    found = drawn(returned, outputs)
    assert found.dtype == dtype
    assert found.tolist() == np.asarray(returned).tolist()

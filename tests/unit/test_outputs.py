"""Kinds of output: those that mechanisms may declare, the type and memory of an entry."""

from typing import get_args, get_type_hints

import numpy as np
import pytest

from epsilometer.mechanisms.base import OUTPUT_KINDS, Kind, Outputs


def test_kinds_are_those_that_mechanisms_may_name():
    assert set(OUTPUT_KINDS) == set(get_args(Outputs))


@pytest.mark.parametrize(
    ("name", "dtype", "size", "real", "several", "missing"),
    [
        ("scalar", np.float64, 8, True, False, False),
        ("index", np.int32, 4, False, False, False),
        ("bits", np.int64, 8, False, False, False),
        ("vector", np.float64, 8, True, True, False),
        ("tuple", np.int32, 4, False, True, False),
        ("mixed", np.float64, 8, True, True, True),
    ],
)
def test_how_each_kind_is_held(name, dtype, size, real, several, missing):
    """Files of samples depend on it: another type is another format."""
    kind = OUTPUT_KINDS[name]
    assert kind == Kind(dtype, several, missing)
    assert (kind.real, kind.bytes) == (real, size)


def test_every_kind_is_in_the_table_above():
    assert len(OUTPUT_KINDS) == 6
    assert get_type_hints(Kind)["several"] is bool

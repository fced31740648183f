"""Loops that are compiled on their first call, for each kind of arguments."""

import numba
import numpy as np

from epsilometer.numerics.compiled import compiled
from tests.unit.loading import printed


@compiled
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result


def test_a_loop_has_code_for_each_kind_of_arguments(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    values = np.array([1.0, 2.0])
    fixed = values.copy()
    fixed.flags.writeable = False
    strided = np.array([1.0, 0.0, 2.0, 0.0])[::2]
    kinds = [values, fixed, strided, np.array([1, 2], np.int8)]
    for each in [*kinds, *kinds, values[:]]:
        assert total(each) == 3
    assert len(total._machine_code) == len(kinds)


def test_importing_a_loop_does_not_import_numba():
    program = "import sys, epsilometer.numerics.compiled; print('numba' in sys.modules)"
    assert printed(program) == "False"

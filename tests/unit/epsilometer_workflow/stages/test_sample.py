"""Samples on files: the same draws whatever else is drawn, and nothing after a failure."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from epsilometer.errors import MechanismError
from tests.unit.stages import drawn, samples_of

SPEC = samples_of("truncated_laplace", [0.0, 1.0], n=50, runs=[0, 3])


def test_draws_do_not_depend_on_the_batch_and_a_shorter_sample_is_a_prefix(tmp_path):
    whole = drawn(tmp_path / "whole.parquet", SPEC)
    assert len({outputs.tobytes() for outputs in whole.values()}) == 8
    short = drawn(tmp_path / "short.parquet", replace(SPEC, n=20, runs=[2, 3]))
    assert list(short) == [(2, 0), (2, 1), (3, 0), (3, 1)]
    for key, outputs in short.items():
        np.testing.assert_array_equal(outputs, whole[key][:20])


class Breaks:
    outputs: ClassVar[str] = "scalar"

    def __init__(self, epsilon, **_):
        self.calls = 0

    def sample(self, x, size, rng):
        self.calls += 1
        return np.full(size, 0.5 if self.calls < 4 else np.nan)


def test_a_failure_leaves_no_file(tmp_path):
    with pytest.raises(MechanismError, match="NaN"):
        drawn(tmp_path / "out.parquet", replace(SPEC, registered=f"{__name__}:Breaks"))
    assert list(tmp_path.iterdir()) == []


def test_the_global_state_is_untouched(tmp_path):
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    drawn(tmp_path / "out.parquet", SPEC)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002

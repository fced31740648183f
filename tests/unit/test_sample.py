"""A mechanism under audit is not trusted: each way to break the contract is one line."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from epsilometer import seeds
from epsilometer.errors import MechanismError
from epsilometer_workflow.files.storage import read_samples
from epsilometer_workflow.stages import sample
from epsilometer_workflow.stages.sample import draw
from tests.unit.stages import quiet, samples_of


@dataclass(frozen=True)
class Returns:
    returned: Any
    outputs: str = "scalar"

    def sample(self, x, size, rng):
        if isinstance(self.returned, Exception):
            raise self.returned
        return self.returned


@dataclass(frozen=True)
class Wide(Returns):
    outputs: str = "mixed"
    dimension: int = 2


@pytest.mark.parametrize(
    ("mechanism", "message"),
    [
        (Returns(ZeroDivisionError("noise\nof scale 0")), r"raised ZeroDivisionError: noise of"),
        (Returns(np.array([1.0, np.nan, np.inf])), "returned 2 NaN or infinite outputs"),
        (Wide(np.array([[np.nan, 1.0], [np.inf, 0.0], [1.0, -np.inf]])), "returned 2 NaN or inf"),
        (Returns(np.zeros(2)), "returned 2 outputs, not 3"),
        (Returns(np.zeros((3, 1))), r"returned shape \(3, 1\), not \(3,\)"),
        (Returns(["a", "b", "c"]), "returned <U1, not scalar outputs"),
        (Returns(np.zeros(3), "index"), "returned float64, not index outputs"),
        (Returns(np.array([1, 2, 3])), "returned int64, not scalar outputs"),
        (Returns(np.array([True, False, True]), "index"), "returned bool, not index outputs"),
    ],
)
def test_the_error_of_a_broken_sampler_is_one_line(mechanism, message):
    with pytest.raises(MechanismError, match=message) as caught:
        draw(mechanism, 0.25, 3, np.random.default_rng(0), name="mine")
    assert "mechanism 'mine' on input 0.25" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_widths_are_converted():
    outputs = draw(Returns(np.zeros(3, np.float32)), 0, 3, np.random.default_rng(0), name="m")
    assert outputs.dtype == np.float64
    outputs = draw(Returns([0, 1, 2], "index"), 0, 3, np.random.default_rng(0), name="m")
    assert outputs.dtype == np.int32


SPEC = samples_of("truncated_laplace", [0.0, 1.0], n=50, runs=[0, 3])


def test_draws_do_not_depend_on_the_batch(tmp_path):
    whole, part = str(tmp_path / "whole.parquet"), str(tmp_path / "part.parquet")
    sample.run(whole, SPEC, quiet)
    sample.run(part, SPEC | {"runs": [2, 3]}, quiet)
    by_key = {(run, side): outputs for run, side, outputs in read_samples(whole, SPEC)}
    for run, side, outputs in read_samples(part, SPEC | {"runs": [2, 3]}):
        np.testing.assert_array_equal(outputs, by_key[run, side])
    assert len({outputs.tobytes() for outputs in by_key.values()}) == 8


def test_a_shorter_sample_is_a_prefix(tmp_path):
    long, short = str(tmp_path / "long.parquet"), str(tmp_path / "short.parquet")
    sample.run(long, SPEC, quiet)
    sample.run(short, SPEC | {"n": 20}, quiet)
    pairs = zip(read_samples(long, SPEC), read_samples(short, SPEC | {"n": 20}), strict=True)
    for (_, _, whole), (_, _, prefix) in pairs:
        np.testing.assert_array_equal(whole[:20], prefix)


class Breaks:
    outputs: ClassVar[str] = "scalar"

    def __init__(self, epsilon, **_):
        self.calls = 0

    def sample(self, x, size, rng):
        self.calls += 1
        return np.full(size, 0.5 if self.calls < 4 else np.nan)


def test_a_failure_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(sample, "load", lambda target: Breaks)
    with pytest.raises(MechanismError, match="NaN"):
        sample.run(str(tmp_path / "out.parquet"), SPEC, quiet)
    assert list(tmp_path.iterdir()) == []


def test_generators_are_injected_and_the_global_state_is_untouched(tmp_path):
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    sample.run(str(tmp_path / "out.parquet"), SPEC, quiet)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
    assert seeds.generator(1, "a").random() == seeds.generator(1, "a").random()


@pytest.mark.parametrize(
    ("outputs", "value", "fits"),
    [
        ("bits", np.uint64(2**60 + 1), True),
        ("bits", np.uint64(2**63), False),
        ("index", np.int64(2**31 - 1), True),
        ("index", np.int64(-(2**31) - 1), False),
    ],
)
def test_whole_numbers_are_kept_or_refused_never_wrapped(outputs, value, fits):
    class Constant:
        def sample(self, x, size, rng):
            return np.full(size, value)

    mechanism, rng = Constant(), np.random.default_rng(0)
    mechanism.outputs = outputs
    if fits:
        assert draw(mechanism, 0, 3, rng, name="m").tolist() == [int(value)] * 3
    else:
        with pytest.raises(MechanismError, match=r"outputs beyond (32|64) bits"):
            draw(mechanism, 0, 3, rng, name="m")

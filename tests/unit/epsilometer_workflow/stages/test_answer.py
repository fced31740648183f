"""Estimators that read draws themselves: their answers on files, and what is refused."""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from epsilometer import seeds
from epsilometer.errors import ArgumentError, ConfigError, DataError
from epsilometer.estimators.base import Claims, LevelEstimate, SampleMethod
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files.identities import AnswersIdentity, EstimateJob, plain
from epsilometer_workflow.files.storage import by_run, read_samples, write_columns
from epsilometer_workflow.stages import answer, sample
from epsilometer_workflow.stages.estimate import estimates_of
from tests.unit.stages import COMMON, done, estimates_by, quiet, samples_of

VALUES = [0.0, 0.1, 0.0, 1.0]  # two pairs


@dataclass(frozen=True)
class Shift(SampleMethod):
    """The difference of means, and an interval that is drawn."""

    kind: str = ""

    def check(self, outputs, order):
        if outputs != "scalar":
            raise ArgumentError("outputs", "must be scalar")

    def estimate(self, x, x_prime, claims, order, rng):
        shift = float(x_prime.mean() - x.mean()) * order
        if self.kind == "number":
            return shift
        if self.kind == "refusal":
            raise ArgumentError("x", "must be longer")
        if self.kind == "failure" and shift < 0:
            return LevelEstimate(np.nan)
        return LevelEstimate(shift, shift - rng.random(), shift + 1)


class Both(Shift):
    symmetric = True


def estimated(folder, runs, kind="", registered=f"{__name__}:Shift"):
    """Return estimates from a batch of samples, by way of all files; and the draws of each run."""
    files = [str(folder / f"{name}{runs}.parquet") for name in ("samples", "answers")]
    samples = samples_of("laplace", VALUES, n=50, runs=runs)
    done(sample, files[0], samples)
    about: Any = {"registered": registered, "parameters": {"kind": kind}}
    goal: Any = {"pairing": "consecutive", "order": "2", "claims": Claims()}
    answers = AnswersIdentity(**COMMON, **about, **goal, samples=samples)
    write_columns(answer.answers_of(files[0], answers, quiet), files[1], "answers", answers)
    identity = estimates_by("histogram", VALUES, **about)
    reads = EstimateJob(identity=identity, reads="samples", data=[plain(answers)])
    draws = dict(by_run(read_samples(files[0], samples)))
    return pd.DataFrame(estimates_of([files[1]], reads)), draws


def test_every_run_and_pair_has_its_level_both_ways_whatever_the_batches(tmp_path):
    table, draws = estimated(tmp_path, [2, 3])
    assert table[["run", "side_x"]].to_numpy().tolist() == [[2, 0], [2, 2], [3, 0], [3, 2]]
    for row in table.itertuples():
        x, x_prime = draws[row.run][row.side_x], draws[row.run][row.side_x_prime]
        shift = 2 * (x_prime.mean() - x.mean())
        assert (row.estimate, row.estimate_reverse) == pytest.approx((shift, -shift))
        words = (f"pair={row.side_x},{row.side_x_prime}", f"run={row.run}")
        rng = seeds.generator(3, "answer", "laplace", "epsilon=1.0", "distances", *words)
        ends = [shift - rng.random(), -shift - rng.random()]
        assert [row.low, row.low_reverse] == pytest.approx(ends)
        assert row.high_reverse == pytest.approx(1 - shift)
    assert not table["failed"].any()
    alone, _ = estimated(tmp_path, [3, 3])
    pd.testing.assert_frame_equal(alone, table[table["run"] == 3].reset_index(drop=True))


def test_a_symmetric_method_is_asked_once_and_nan_is_a_failure(tmp_path):
    table, _ = estimated(tmp_path, [0, 1], registered=f"{__name__}:Both")
    assert (table["estimate"] == table["estimate_reverse"]).all()
    assert (table["low"] == table["low_reverse"]).all()
    table, _ = estimated(tmp_path, [0, 1], kind="failure")
    assert table["failed"].all()  # in one direction
    assert table["estimate"].isna().sum() + table["estimate_reverse"].isna().sum() == len(table)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("number", r"estimate\(\) must return a LevelEstimate, not -?\d"),
        ("refusal", "x must be longer"),
    ],
)
def test_other_answers_are_one_line(kind, message, tmp_path):
    with pytest.raises(DataError, match=f"run 0, sides 0 and 1: {message}"):
        estimated(tmp_path, [0, 0], kind=kind)


OWN = """
from dataclasses import dataclass

@dataclass(frozen=True)
class Own:
    reads, symmetric, guarantee, precision = "samples", False, "none", None

    def check(self): ...

    def estimate(self): ...
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("estimate(", "estimates(", "own.Own has no estimate"),
        ('"samples"', '"sample"', "unknown `reads` of own.Own 'sample'; did you mean 'samples'?"),
        ("@dataclass(frozen=True)", "", "own.Own has no @dataclass decorator"),
        ("class Own", "class Mine", "'own:Own' cannot be imported: module 'own' has no"),
        ("precision", "precise", "own.Own has no precision"),
    ],
)
def test_what_lacks_a_part_is_refused_before_the_first_job(old, new, said, tmp_path, monkeypatch):
    (tmp_path / "config/reports").mkdir(parents=True)
    (tmp_path / "config/estimators.yaml").write_text("mine: {estimator: own.Own}\n")
    (tmp_path / "code").mkdir()
    (tmp_path / "code/own.py").write_text(OWN.replace(old, new))
    monkeypatch.syspath_prepend(str(tmp_path / "code"))
    monkeypatch.delitem(sys.modules, "own", raising=False)
    with pytest.raises(ConfigError, match=r"estimators\.yaml: mine\.estimator: ") as refused:
        Study(tmp_path / "config").estimator("mine")
    assert said in str(refused.value)

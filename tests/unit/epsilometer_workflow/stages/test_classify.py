"""Verdicts of classifiers on files, and the seeds of all that is drawn on the way to estimates."""

from collections import Counter
from dataclasses import replace

import pytest

from epsilometer import seeds
from epsilometer.errors import DataError
from epsilometer.estimators import ESTIMATORS
from epsilometer_workflow.files.identities import EstimatesToTime, VerdictsIdentity
from epsilometer_workflow.stages import classify, sample, time
from tests.unit.stages import COMMON, done, estimated, estimates_by, quiet, samples_of

SAMPLES = samples_of("laplace", [0.0, 0.1, 0.0, 1.0], n=60, runs=[2, 3])
TRAINED = {"classifier": "nearest_neighbours", "claims": [0.0, 0.5]}
METHOD = {"registered": ESTIMATORS["spectrum"], "parameters": TRAINED, "classifier": None}
VERDICTS = VerdictsIdentity(samples=SAMPLES, pairing="consecutive", **METHOD, **COMMON)


def test_what_is_drawn_has_a_seed_of_its_own(tmp_path, monkeypatch):
    """Of each run and side, of each run and pair, of each interval, and of fresh draws."""
    named = []
    generator = seeds.generator

    def noting(*identity):
        named.append(identity)
        return generator(*identity)

    monkeypatch.setattr(seeds, "generator", noting)
    path, verdicts = str(tmp_path / "s.parquet"), str(tmp_path / "v.parquet")
    done(sample, path, SAMPLES)
    done(sample, tmp_path / "fresh.parquet", replace(SAMPLES, stage="confirm"))
    done(sample, tmp_path / "near.parquet", replace(SAMPLES, epsilon=1.0000001))
    done(classify, verdicts, VERDICTS, samples=path)
    bootstrap = TRAINED | {"interval": "bootstrap"}
    estimates = estimates_by("spectrum", SAMPLES.inputs.sides, parameters=bootstrap)
    estimated(verdicts, "verdicts", estimates, VERDICTS)
    time.time_runs([EstimatesToTime(samples=SAMPLES, fresh=0, estimates=estimates)], quiet)
    times = Counter(named)
    twice = [name for name, number in times.items() if number > 1]
    assert all(name[1] == "timing" and name[-1] == 2 for name in twice)  # one run warms up
    draws, pairs, directions = 3 * 2 * 4, 2 * 2, 2 * 2 * 2
    timed = 2 * 2  # draws and training of each run
    assert len(times) == draws + pairs + directions + timed


def test_the_error_of_bad_training_draws_names_the_run(tmp_path):
    samples, path = replace(SAMPLES, n=1), str(tmp_path / "s.parquet")
    done(sample, path, samples)
    with pytest.raises(DataError, match=r"s.parquet: run 2, sides 0 and 1: n must be at least 2"):
        classify.verdicts_of(path, replace(VERDICTS, samples=samples), quiet)

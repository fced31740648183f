"""Seconds of estimates: of every run, and charged to what takes them."""

import numpy as np
import pandas as pd
import pytest

from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.answering import Answer
from epsilometer.mechanisms.drawing import draw
from epsilometer_workflow.files.identities import EstimatesToTime, Method
from epsilometer_workflow.stages import time
from tests.unit.stages import estimates_by, quiet, samples_of

SAMPLES = samples_of("laplace", [0.0, 0.1, 0.0, 1.0, 0.0, 0.2], n=2000, runs=[0, 2])
FLOOR = {"floor": 1e-3}


def timed(estimator, fresh=0, **about):
    estimates = estimates_by(estimator, SAMPLES.inputs.sides, estimator=estimator, **about)
    member = EstimatesToTime(samples=SAMPLES, fresh=fresh, estimates=estimates)
    return pd.DataFrame(time.time_runs([member], quiet))


def test_timings_are_of_every_run_and_of_a_real_bound():
    after = Method(registered=ESTIMATORS["local_loss"], parameters=FLOOR)
    about = {"parameters": {"after": "e"}, "after": after, "region": [-1.0, 1.0]}
    frame = timed("mpl", fresh=3000, **about)
    assert frame["run"].tolist() == [0, 1, 2]
    spent = frame["sampling"] + frame["estimating"]
    assert frame["seconds"].tolist() == pytest.approx(spent.tolist())
    assert (frame[["sampling", "estimating"]] > 0).all(axis=None)
    assert frame["bound"].between(0.3, 1.1).all()
    assert frame["pairs"].unique().tolist() == [3]


def test_seconds_are_charged_to_what_takes_them(monkeypatch):
    """A draw takes one, and what reads it ten, by a clock that only these move."""
    now = [0.0]

    def drawing(*arguments, **options):
        now[0] += 1
        return draw(*arguments, **options)

    def answering(_, sides, **__):
        for _ in sides:
            now[0] += 10
        return [Answer((0, 1), np.array([0.5, 0.2]), 0.7), Answer((2, 3), 0.4, 0.4)]

    monkeypatch.setattr(time.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(time, "draw", drawing)
    monkeypatch.setattr(time, "answers", answering)
    frame = timed("local_loss", parameters=FLOOR)
    seconds = frame[["sampling", "estimating", "seconds"]]  # of six sides
    assert seconds.to_numpy().tolist() == [[6.0, 60.0, 66.0]] * 3
    assert frame["bound"].tolist() == [0.5] * 3  # the largest from x to x'

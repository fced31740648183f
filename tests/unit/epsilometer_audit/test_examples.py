"""The examples of a training and of a session are as described, right and with each fault."""

import functools
from pathlib import Path

import pytest

import epsilometer_audit as ea
from epsilometer_audit.answer.one_run import draw_canaries
from epsilometer_audit.cli.cases import AuditsFile
from epsilometer_audit.outputs.callables import callable_source
from epsilometer_audit.serving.loading import load

FOLDER = Path(__file__).parents[3] / "docs/examples/training"
SETTING = {"rate": 0.05, "steps": 80, "noise_multiplier": 1.5}
EPSILON = 1.505  # of dp-accounting 0.6.0 at delta = 1e-5; computed in the lock's environment
FAULTS = ("no clipping", "noise of one microbatch", "sampling not accounted for")


@pytest.fixture(scope="module")
def training():
    return load("dp_sgd.py:scores", FOLDER).function.__globals__


# --- audits ---------------------------------------------------------------------------------------


@pytest.mark.slow(seconds=3)
@pytest.mark.parametrize(("fault", "samples"), [("none", 300), *((f, 500) for f in FAULTS)])
def test_faults_are_detected_and_the_right_training_is_not_refuted(training, fault, samples):
    verdict = ea.audit(
        functools.partial(training["scores"], fault=fault, **SETTING),
        {"a canary": ([0], [1])},
        ea.approximate(EPSILON, 1e-5),
        samples=samples,
        alpha=0.01,
        as_reals=True,
        check_sampler=False,
        stop=True,
    )
    assert verdict.verdict == ("not refuted" if fault == "none" else "violated")


@pytest.mark.parametrize("fault", ["none", *FAULTS])
def test_one_training_detects_them_too(training, fault):
    score = "batch" if fault == FAULTS[2] else "steps"
    function = training["scores_in_one_run"]
    mechanism = functools.partial(function, fault=fault, score=score, **SETTING)
    claim = ea.approximate(EPSILON, 1e-5)
    coins, scores = draw_canaries(callable_source(mechanism), 2000, seed=1)
    verdict = ea.audit_one_run(scores, coins, claim, seed=1, alpha=0.01)
    assert verdict.verdict == ("not refuted" if fault == "none" else "violated")


@pytest.mark.parametrize("name", ["dp-sgd", "dp-sgd-in-one-run"])
def test_files_of_audits_have_expected_verdicts_and_the_claim(name):
    cases = AuditsFile(FOLDER / f"{name}.yaml").cases.values()
    assert {case.mechanism.parameters["fault"] for case in cases} == {"none", *FAULTS}
    for case in cases:
        parameters = case.mechanism.parameters
        right = parameters["fault"] == "none"
        assert case.entry.expected == ("not refuted" if right else "violated")
        assert {key: parameters[key] for key in SETTING} == SETTING
        assert case.request().claim == ea.approximate(EPSILON, 1e-5)


def audit_session(function, **options):
    place = f"{FOLDER.parent}/session.py:{function}"
    common = {"alpha": 0.001, "check_sampler": False}
    return ea.audit(place, [([1, 1, 0], [1, 1, 0, 1])], ea.pure(1.0), **common, **options)


def test_the_answers_of_a_session_are_one_output_within_its_budget():
    verdict = audit_session("session", samples=8000)
    assert verdict.verdict == "not refuted"
    assert verdict.outputs.startswith("vectors of 2")


def test_queries_that_are_not_counted_are_found():
    assert audit_session("forgetful", samples=30_000, stop=True).verdict == "violated"

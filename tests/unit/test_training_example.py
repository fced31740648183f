"""The example of a training is as described, right and with each fault, and is audited so."""

import functools
import math
import re
from pathlib import Path

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer_audit.canaries.one_run import draw_canaries
from epsilometer_audit.grids.cases import Audits
from epsilometer_audit.serving.loading import find
from epsilometer_audit.sources.callables import callable_source

FOLDER = Path(__file__).parents[2] / "docs/examples/training"
SETTING = {"rate": 0.05, "steps": 80, "noise_multiplier": 1.5}
EPSILON = 1.505  # of dp-accounting 0.6.0 at delta = 1e-5; computed in the lock's environment
FAULTS = ("no clipping", "noise of one microbatch", "sampling not accounted for")


@pytest.fixture(scope="module")
def training():
    return find("dp_sgd.py:scores", FOLDER)[0].__globals__


@pytest.fixture
def scores(training):
    def draw(included, size, seed, fault="none", **changed):
        rng = np.random.default_rng(seed)
        return training["scores"](included, size, rng, fault, **{**SETTING, **changed})

    return draw


def test_rows_are_taken_each_with_its_probability(training):
    row, count = np.zeros(50), []
    for seed in range(40):
        sampled = training["_sample"](200, 50, 0.1, np.random.default_rng(seed))
        assert (np.diff(sampled[0] * 50 + sampled[1]) > 0).all()
        row += np.bincount(sampled[1], minlength=50)
        count += np.bincount(sampled[0], minlength=200).tolist()
    assert np.abs(row / 8000 - 0.1).max() < 5 * math.sqrt(0.09 / 8000)
    assert np.var(count) == pytest.approx(50 * 0.09, rel=0.1)


def test_slices_are_the_same_in_every_epoch_and_hold_every_row_once(training):
    taken = np.concatenate([training["_slice"](3, 569, turn, 20)[1][:29] for turn in range(20)])
    first = [training["_slice"](1, 569, turn, 20)[1] for turn in range(20)]
    assert sorted(np.concatenate(first)) == list(range(569))
    assert set(taken) == set(range(569))


@pytest.mark.parametrize("clip", [0.3, math.inf])
def test_gradients_are_clipped_one_by_one(training, clip):
    rows, labels = training["table"]()
    rng = np.random.default_rng(1)
    weights = rng.normal(0, 0.3, (4, rows.shape[1]))
    which, row = training["_sample"](4, len(rows), 0.1, rng)
    wanted = np.zeros_like(weights)
    for t, i in zip(which, row, strict=True):
        gradient = (1 / (1 + math.exp(-rows[i] @ weights[t])) - labels[i]) * rows[i]
        wanted[t] += gradient * min(1, clip / np.linalg.norm(gradient))
    clipped = training["_clipped_sum"](weights, rows, labels, which, row, clip)
    assert clipped == pytest.approx(wanted)


def test_it_learns(training):
    rows, labels = training["table"]()
    steps = training["_trained"]([1], 20, np.random.default_rng(1), "none", **SETTING)
    for weights, _ in steps:
        right = ((rows @ weights.T > 0) == labels[:, None]).mean(axis=0)
        assert right.min() > 0.94


@pytest.mark.parametrize(
    ("fault", "moved", "spread"),
    [  # of the inner product with the model: by the canary, and of its noise
        ("none", 80 * 0.05, 1.5 * math.sqrt(80)),
        ("no clipping", 10 * 80 * 0.05, 1.5 * math.sqrt(80)),
        ("noise of one microbatch", 80 * 0.05, 1.5 / 4 * math.sqrt(80)),
        ("sampling not accounted for", 80 * 0.05, 1.5 * math.sqrt(80)),
    ],
)
def test_a_canary_moves_the_released_model_according_to_its_fault(scores, fault, moved, spread):
    without, with_it = (scores([bit], 400, seed, fault) for seed, bit in ((1, 0), (2, 1)))
    assert without.shape == (400, 3)
    assert without[:, 0].std() == pytest.approx(spread, rel=0.12)
    far = 5 * spread * math.sqrt(2 / 400) + 5 * moved / math.sqrt(400)
    assert with_it[:, 0].mean() - without[:, 0].mean() == pytest.approx(moved, abs=far)
    own = with_it[:, 2].mean() - without[:, 2].mean()
    sliced = fault == "sampling not accounted for"
    assert own == pytest.approx(4 if sliced else moved / 20, abs=1.0 if sliced else 2.0)


def test_each_canary_has_a_score_of_its_own(training):
    included = [1, 0] * 40
    rng = np.random.default_rng(3)
    table = training["scores_in_one_run"](included, 3, rng, "no clipping", **SETTING)
    assert table.shape == (3, 80)
    mean = table.mean(axis=0)
    assert mean[::2].mean() > mean[1::2].mean() + 1


# --- audits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fault", "samples"), [("none", 800), *((f, 1000) for f in FAULTS)])
def test_faults_are_detected_and_the_right_training_is_not_refuted(training, fault, samples):
    verdict = ea.audit(
        functools.partial(training["scores"], fault=fault, **SETTING),
        {"a canary": ([0], [1])},
        ea.approximate(EPSILON, 1e-5),
        samples=samples,
        alpha=0.01,
        as_reals=True,
        check_sampler=False,
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
    cases = Audits(FOLDER / f"{name}.yaml", "").all_cases()
    assert {case.arguments["fault"] for case in cases} == {"none", *FAULTS}
    for case in cases:
        assert case.expected == ("not refuted" if case.arguments["fault"] == "none" else "violated")
        assert {key: case.arguments[key] for key in SETTING} == SETTING
        (entry,) = case.claims
        assert entry["claim"] == {"epsilon": EPSILON, "delta": 1e-5}


def test_the_example_and_its_page_have_the_same_setting():
    text = (FOLDER.parents[1] / "training.md").read_text()
    assert re.search(r"epsilon = 1\.505 and delta = 1e-5", text)
    example = (FOLDER / "dp-sgd.yaml").read_text()
    assert f"epsilon: {EPSILON}" in example

"""Verdicts on files: every pair, direction and claim, and their estimates."""

import numpy as np
import pandas as pd
import pytest

from epsilometer import seeds
from epsilometer.errors import DataError
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.spectrum import Spectrum
from epsilometer_workflow.files.storage import by_run, read_samples
from epsilometer_workflow.stages import classify, sample
from epsilometer_workflow.stages.estimate import estimates_of
from tests.unit.stages import COMMON, estimates_by, quiet, samples_of

SAMPLES = samples_of("laplace", [0.0, 0.1, 0.0, 1.0], n=3000, runs=[2, 3])
AT = [0.0, 0.5]
TRAINED = {"classifier": "nearest_neighbours", "claims": AT}
VERDICTS = COMMON | {
    "samples": SAMPLES,
    "pairing": "consecutive",
    "registered": ESTIMATORS["spectrum"],
    "parameters": TRAINED,
}


@pytest.fixture
def files(tmp_path):
    samples, verdicts = str(tmp_path / "s.parquet"), str(tmp_path / "v.parquet")
    sample.run(samples, SAMPLES, quiet)
    classify.run(samples, verdicts, VERDICTS, quiet)
    return samples, verdicts


def estimated(file, **parameters):
    identity = estimates_by("spectrum", SAMPLES, parameters=TRAINED | parameters)
    spec = {"identity": identity, "reads": "verdicts", "data": [VERDICTS]}
    return pd.DataFrame(estimates_of([file], spec))


def by_hand(samples):
    """Return both directions by run and pair, straight from the draws."""
    method, tests = Spectrum(**TRAINED), {}
    for run, sides in by_run(read_samples(samples, SAMPLES)):
        for i in (0, 2):
            words = "epsilon=1.0", "distances", f"pair={i},{i + 1}", f"run={run}"
            rng = seeds.generator(3, "classify", "laplace", *words)
            tests[run, i] = method.test(sides[i], sides[i + 1], rng)
    return tests


def test_every_run_pair_and_claim_has_its_delta(files):
    samples, verdicts = files
    table, hand = estimated(verdicts), by_hand(samples)
    assert len(table) == 2 * 2 * 2
    for row in table.itertuples():
        forward, reverse = hand[row.run, row.side_x]
        at = AT.index(row.claim)
        assert (row.estimate, row.estimate_reverse) == (forward.delta[at], reverse.delta[at])
        assert row.low <= row.estimate <= row.high
        assert row.low_reverse <= row.estimate_reverse <= row.high_reverse
        low, _ = forward.interval("clopper-pearson", 0.05, np.random.default_rng(0))
        assert row.low == low[at]


def test_the_largest_holds_for_all_pairs_and_directions(files):
    samples, verdicts = files
    table, hand = estimated(verdicts, largest=True), by_hand(samples)
    assert len(table) == 2 * 2
    for row in table.itertuples():
        at = AT.index(row.claim)
        every = [t for (run, _), both in hand.items() if run == row.run for t in both]
        assert row.estimate == row.estimate_reverse == max(t.delta[at] for t in every)
        assert row.side_x == 2
        ends = [t.interval("clopper-pearson", 0.05 / 4, np.random.default_rng(0)) for t in every]
        assert row.low == max(low[at] for low, _ in ends)
        assert row.high == max(high[at] for _, high in ends)


def test_a_bootstrap_is_the_same_every_time(files):
    _, verdicts = files
    first, second = (estimated(verdicts, interval="bootstrap") for _ in range(2))
    assert first.equals(second)
    assert (first["low"] <= first["high"]).all()
    assert (first["low"] < first["high"]).any()


def test_the_error_of_bad_training_draws_names_the_run(tmp_path):
    spec = SAMPLES | {"n": 1}
    path = str(tmp_path / "s.parquet")
    sample.run(path, spec, quiet)
    with pytest.raises(DataError, match=r"s.parquet: run 2, sides 0 and 1: n must be at least 2"):
        classify.verdicts_of(path, VERDICTS | {"samples": spec}, quiet)

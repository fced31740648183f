"""Tables of estimates without pandas, against pandas on the same rows."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilometer.estimators import ESTIMATORS
from epsilometer_workflow.files.storage import read_table, write_counts
from epsilometer_workflow.stages import estimate

KEYS = ["run", "n", "side_x", "side_x_prime"]
seeds = st.integers(0, 2**32 - 1)


def tied(rng, rows):
    """Return few different values, so that many are the largest of their group."""
    return rng.integers(-2, 3, rows) / 2


def test_the_largest_by_hand():
    chosen = estimate._largest(np.array([1.0, 5.0, 7.0, 5.0, 7.0]), np.array([9, 2, 9, 2, 9]))
    assert chosen.tolist() == [2, 1]  # the first of the largest; groups as they first appear


def verdicts(seed, runs, pairs, claims):
    """Return rows as of `_from_verdicts`: every run, pair, direction and claim, in that order."""
    rng = np.random.default_rng(seed)
    index = np.indices((runs, pairs, 2, claims)).reshape(4, -1)
    rows = index.shape[1]
    return {
        "run": (3 + index[0]).astype(np.int32),
        "n": np.full(rows, 100),
        "side_x": (2 * index[1]).astype(np.int32),
        "side_x_prime": (2 * index[1] + 1).astype(np.int32),
        "reverse": index[2] == 1,
        "claim": rng.permutation(claims)[index[3]] / 10,
        "estimate": tied(rng, rows),
        "low": tied(rng, rows),
        "high": tied(rng, rows),
    }


many = (seeds, st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))


@settings(max_examples=40)
@given(*many)
def test_the_largest_of_all_keeps_the_largest_ends_of_all_intervals(seed, runs, pairs, claims):
    """As pandas did it: idxmax by run and claim, joined with the largest ends of each."""
    rows = verdicts(seed, runs, pairs, claims)
    frame = pd.DataFrame(rows)
    groups = frame.groupby(["run", "claim"], sort=False)
    largest = frame.loc[groups["estimate"].idxmax()].drop(columns=["low", "high", "reverse"])
    expected = largest.merge(groups[["low", "high"]].max().reset_index(), on=["run", "claim"])
    for name in ("estimate", "low", "high"):
        expected[f"{name}_reverse"] = expected[name]
    table = estimate._largest_of_all(rows)
    assert (table.pop("fresh") == 0).all()
    pd.testing.assert_frame_equal(pd.DataFrame(table)[list(expected)], expected)
    assert set(table) == set(expected)


@settings(max_examples=40)
@given(*many)
def test_both_directions_of_a_pair_and_claim_stand_side_by_side(seed, runs, pairs, claims):
    """As pandas did it: a merge of the rows of either direction."""
    rows = verdicts(seed, runs, pairs, claims)
    frame = pd.DataFrame(rows)
    forward, back = (
        frame[frame["reverse"] == way].drop(columns="reverse") for way in (False, True)
    )
    expected = forward.merge(back, on=[*KEYS, "claim"], suffixes=("", "_reverse"))
    table = estimate._side_by_side(rows)
    assert (table.pop("fresh") == 0).all()
    pd.testing.assert_frame_equal(pd.DataFrame(table)[list(expected)], expected)
    assert set(table) == set(expected)


def test_values_that_come_again_are_another_stretch():
    columns = {"k": np.array([1, 1, 2, 1]), "flag": np.array([True, True, True, False])}
    stretches = list(estimate._stretches(columns, ["k", "flag"]))
    assert [np.arange(4)[part].tolist() for part in stretches] == [[0, 1], [2], [3]]
    (whole,) = estimate._stretches({"k": np.ones(1)}, ["k"])
    assert np.arange(1)[whole].tolist() == [0]


IDENTITY = {
    "seed": 1,
    "mechanism": "é",
    "epsilon": 0.5,
    "lambda": "inf",
    "estimator": "h",
    "cells": 2,
    "inputs": {"id": "ends", "values": [0, 1, 2], "pairing": "all"},
    "registered": ESTIMATORS["histogram"],
    "parameters": {"gamma": 0.5},
    "claims": {"outcomes": 2, "smallest_probability": 0.1},
}


def counted(folder, name, runs):
    """Write histograms of three sides at two n, and return the file and its identity."""
    path, identity = str(folder / f"{name}.parquet"), {"seed": 1, "runs": name}
    rng = np.random.default_rng(0)
    rows = [
        {"run": run, "side": side, "n": [10, 100], "counts": rng.multinomial([10, 100], [0.4, 0.6])}
        for run in runs
        for side in range(3)
    ]
    write_counts(iter(rows), path, 2, identity)
    return path, identity


def test_estimates_of_several_files_are_one_table_as_pandas_reads_it(tmp_path):
    """Every run, n and pair of sides of every file, in order, with their identity."""
    files, data = zip(
        *(counted(tmp_path, *about) for about in [("0-1", (0, 1)), ("2-2", (2,))]), strict=True
    )
    claims = {"lipschitz": None, **IDENTITY["claims"]}
    spec = {"identity": IDENTITY | {"claims": claims}, "reads": "histograms", "data": data}
    output = str(tmp_path / "estimates.parquet")
    estimate.run(files, output, spec)
    frame = read_table(output, "estimates", spec["identity"])
    pd.testing.assert_frame_equal(
        frame, pd.DataFrame(estimate.estimates_of(files, spec)), check_dtype=False
    )
    assert frame["run"].tolist() == [0, 0, 1, 1] * 3 + [2, 2] * 3
    assert frame["n"].tolist() == [10, 100] * 9
    pairs = [(0, 1)] * 4 + [(0, 2)] * 4 + [(1, 2)] * 4 + [(0, 1)] * 2 + [(0, 2)] * 2 + [(1, 2)] * 2
    assert list(zip(frame["side_x"], frame["side_x_prime"], strict=True)) == pairs
    same = {"mechanism": "é", "epsilon": 0.5, "lambda": "inf", "estimator": "h", "cells": 2}
    for key, value in (same | {"inputs": "ends", "fresh": 0}).items():
        assert frame[key].unique().tolist() == [value]
    types = frame.dtypes[["side_x", "side_x_prime", "failed", "trusted"]].astype(str).tolist()
    assert types == ["int32", "int32", "bool", "bool"]
    claimed = {"identity": spec["identity"] | {"claims": claims | {"lipschitz": 1.5}}}
    assert set(estimate.estimates_of(files, spec | claimed)["claimed_lipschitz"]) == {1.5}
    assert frame["claimed_lipschitz"].isna().all()


def test_every_estimator_reads_a_product_with_an_answer():
    reads = {ESTIMATORS.load(name).reads for name in ESTIMATORS}
    assert reads == set(estimate._ANSWERS)


def test_histograms_are_shaped_by_run_n_and_side():
    """Cells of counts that identify their place."""
    runs, sides, n = [4, 7], 4, [10, 100]
    index = np.array([(r, s, m) for r in runs for s in range(sides) for m in n])
    arrays = dict(zip(("run", "side", "n"), index.T, strict=True)) | {"counts": index}
    found_runs, found_n, counts = estimate._by_run(arrays)
    assert (found_runs.tolist(), found_n.tolist()) == (runs, n)
    for i, j, k in np.ndindex(2, 2, sides):
        assert counts[i, j, k].tolist() == [runs[i], k, n[j]]

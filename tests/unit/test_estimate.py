"""Tables of estimates without pandas, against pandas on the same rows."""

import numpy as np
import pandas as pd

from epsilometer.estimators import ESTIMATORS
from epsilometer_workflow.files.storage import read_table, write_counts
from epsilometer_workflow.stages import estimate

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
    assert reads | {"samples"} == set(estimate._ANSWERS)


def test_histograms_are_shaped_by_run_n_and_side():
    """Cells of counts that identify their place."""
    runs, sides, n = [4, 7], 4, [10, 100]
    index = np.array([(r, s, m) for r in runs for s in range(sides) for m in n])
    arrays = dict(zip(("run", "side", "n"), index.T, strict=True)) | {"counts": index}
    found_runs, found_n, counts = estimate._by_run(arrays)
    assert (found_runs.tolist(), found_n.tolist()) == (runs, n)
    for i, j, k in np.ndindex(2, 2, sides):
        assert counts[i, j, k].tolist() == [runs[i], k, n[j]]

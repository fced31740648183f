"""From files of samples to the densities of every pair, which serve all Rényi orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from epsilometer.densities.pair import reduce_pair
from epsilometer.errors import ArgumentError, DataError
from epsilometer.estimators.base import pairs_of
from epsilometer_workflow.files.storage import by_run, read_samples, write_columns

Spec = Mapping[str, Any]


def run(samples: str, output: str, spec: Spec, progress: Callable[[str], None]) -> None:
    """Estimate the densities of every pair in one batch of samples."""
    write_columns(densities_of(samples, spec, progress), output, "densities", spec)


def densities_of(path: str, spec: Spec, progress: Callable[[str], None]) -> dict[str, Any]:
    """Return columns with a row for every run and pair; in ``p`` and ``q`` an array each."""
    keys: list[tuple[int, int, int]] = []
    densities = []
    for run, sides in by_run(read_samples(path, spec["samples"])):
        for i, j in pairs_of(len(sides), spec["pairing"]):
            keys.append((run, i, j))
            try:
                densities.append(reduce_pair(sides[i], sides[j], spec))
            except ArgumentError as error:
                raise DataError(path, f"run {run}, sides {i} and {j}: {error}") from None
        progress(f"run {run} of runs {spec['samples']['runs']}")
    runs, side_x, side_x_prime = np.array(keys, np.int32).T
    bandwidth, bandwidth_prime = np.array([pair.bandwidths for pair in densities], np.float64).T
    return {
        "run": runs,
        "n": np.full(runs.size, spec["samples"]["n"], np.int64),
        "side_x": side_x,
        "side_x_prime": side_x_prime,
        "spacing": np.array([pair.spacing for pair in densities], np.float64),
        "bandwidth": bandwidth,
        "bandwidth_prime": bandwidth_prime,
        "p": [pair.p for pair in densities],
        "q": [pair.q for pair in densities],
    }

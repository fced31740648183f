"""From files of samples to the densities of every pair, which serve all Rényi orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from epsilometer.densities.pair import densities_of
from epsilometer.errors import ArgumentError, DataError
from epsilometer.estimators.base import pairs_of
from epsilometer.storage import by_run, read_samples

Spec = Mapping[str, Any]


def smooth_file(path: str, spec: Spec, progress: Callable[[str], None]) -> pd.DataFrame:
    """Return a row for every run and pair; columns ``p`` and ``q`` are lists of equal length."""
    rows = []
    for run, sides in by_run(read_samples(path, spec["samples"])):
        for i, j in pairs_of(len(sides), spec["pairing"]):
            try:
                found = densities_of(sides[i], sides[j], points=spec["points"], power=spec["power"])
            except ArgumentError as error:
                raise DataError(path, f"run {run}, sides {i} and {j}: {error}") from None
            rows.append(
                {
                    "run": np.int32(run),
                    "n": np.int64(spec["samples"]["n"]),
                    "side_x": np.int32(i),
                    "side_x_prime": np.int32(j),
                    "spacing": found.spacing,
                    "bandwidth": found.bandwidths[0],
                    "bandwidth_prime": found.bandwidths[1],
                    "p": found.p,
                    "q": found.q,
                }
            )
        progress(f"run {run} of runs {spec['samples']['runs']}")
    return pd.DataFrame(rows)

"""From files of samples to what classifiers, trained on half of the draws, make of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from epsilometer import seeds
from epsilometer.errors import ArgumentError, DataError
from epsilometer.estimators.base import pairs_of
from epsilometer.registry import load
from epsilometer.storage import by_run, read_samples

Spec = Mapping[str, Any]


def verdicts_of(path: str, spec: Spec, progress: Callable[[str], None]) -> pd.DataFrame:
    """Return a row for every run, pair, direction and claim (`epsilometer.estimators.spectrum`)."""
    method = load(spec["registered"])(**spec["parameters"])
    samples, frames = spec["samples"], []
    for run, sides in by_run(read_samples(path, samples)):
        for i, j in pairs_of(len(sides), spec["pairing"]):
            words = f"epsilon={samples['epsilon']!r}", samples["inputs"]["id"], f"pair={i},{j}"
            rng = seeds.generator(
                spec["seed"], "classify", samples["mechanism"], *words, f"run={run}"
            )
            try:
                directions = method.test(sides[i], sides[j], rng)
            except ArgumentError as error:
                raise DataError(path, f"run {run}, sides {i} and {j}: {error}") from None
            for reverse, tested in enumerate(directions):
                columns = {
                    "run": np.int32(run),
                    "n": np.int64(samples["n"]),
                    "side_x": np.int32(i),
                    "side_x_prime": np.int32(j),
                    "reverse": bool(reverse),
                }
                frames.append(pd.DataFrame(columns | vars(tested)))
        progress(f"run {run} of runs {samples['runs']}")
    return pd.concat(frames, ignore_index=True)

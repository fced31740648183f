"""From files of samples to the losses of all pairs, and the pair that each run selects."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.errors import ArgumentError, DataError
from epsilometer.estimators.base import pairs_of
from epsilometer.registry import load
from epsilometer.storage import by_run, read_columns, read_samples, write_columns

Spec = Mapping[str, Any]
Progress = Callable[[str], None]
Sample = NDArray[Any]


def run(samples: str, output: str, spec: Spec, progress: Progress) -> None:
    """Compute the local loss of every pair in one batch of samples, and select."""
    write_columns(losses_of(samples, spec, progress), output, "losses", spec)


def losses_of(path: str, spec: Spec, progress: Progress) -> dict[str, Any]:
    """Return columns with the loss of every pair in every run, from one file of samples.

    Column ``found`` tells, of the selected pairs, what fresh samples are to be asked, as JSON.
    """
    rows: list[tuple[Any, ...]] = []
    for run, sides in by_run(read_samples(path, spec["samples"])):
        try:
            rows.extend((run, *row) for row in losses_of_run(sides, spec))
        except ArgumentError as error:
            raise DataError(path, f"run {run}: {error}") from None
        progress(f"run {run} of runs {spec['samples']['runs']}")
    runs, side_x, side_x_prime, losses, found, selected = zip(*rows, strict=True)
    return {
        "run": np.array(runs, np.int32),
        "n": np.full(len(rows), spec["samples"]["n"], np.int64),
        "fresh": np.zeros(len(rows), np.int64),
        "side_x": np.array(side_x, np.int32),
        "side_x_prime": np.array(side_x_prime, np.int32),
        "loss": np.array(losses, np.float64),
        "found": found,
        "selected": np.array(selected, bool),
    }


def losses_of_run(
    sides: list[Sample], spec: Spec
) -> list[tuple[int, int, float, str | None, bool]]:
    """Return a row for every pair of one run's samples: sides, loss, what was found, selected."""
    pairs = pairs_of(len(sides), spec["pairing"])
    method = load(spec["registered"])(**spec["parameters"])
    chosen, losses = method.screen(
        ((sides[i], sides[j]) for i, j in pairs), draws=spec["draws"], region=spec["region"]
    )
    rows = []
    for k, ((i, j), loss) in enumerate(zip(pairs, losses, strict=True)):
        found = None if loss.found is None else json.dumps(loss.found, allow_nan=False)
        rows.append((i, j, loss.loss, found, k == chosen))
    return rows


def selected(path: str, expected: Spec) -> dict[int, tuple[tuple[int, int], Mapping[str, Any]]]:
    """Return for each run the selected sides, and what fresh samples of them are to be asked."""
    losses = read_columns(path, "losses", expected)
    return {
        int(losses["run"][row]): (
            (int(losses["side_x"][row]), int(losses["side_x_prime"][row])),
            json.loads(losses["found"][row]),
        )
        for row in np.flatnonzero(losses["selected"])
    }

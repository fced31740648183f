"""From files of samples to the losses of all pairs, and the pair that each run selects."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from epsilometer.errors import ArgumentError, DataError
from epsilometer.estimators.base import pairs_of
from epsilometer.registry import load
from epsilometer_workflow.files.storage import by_run, read_columns, read_samples, write_columns

Spec = Mapping[str, Any]


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `screen`."""
    run(snakemake.input.samples, snakemake.output[0], snakemake.params.spec, progress)


def run(samples: str, output: str, spec: Spec, progress: Progress) -> None:
    """Compute the local loss of every pair in one batch of samples, and select."""
    write_columns(losses_of(samples, spec, progress), output, "losses", spec)


def losses_of(path: str, spec: Spec, progress: Progress) -> dict[str, Any]:
    """Return columns with the loss of every pair in every run, from one file of samples.

    Column ``found`` holds, for the selected pairs, the output to confirm on fresh samples, as JSON.
    """
    method, rows = load(spec["registered"])(**spec["parameters"]), []
    for run, sides in by_run(read_samples(path, spec["samples"])):
        pairs = pairs_of(len(sides), spec["pairing"])
        drawn = ((sides[i], sides[j]) for i, j in pairs)
        try:
            chosen, pair_losses = method.screen(drawn, spec["region"])
        except ArgumentError as error:
            raise DataError(path, f"run {run}: {error}") from None
        for pair, loss in zip(pairs, pair_losses, strict=True):
            target = None if loss.target is None else json.dumps(loss.target, allow_nan=False)
            rows.append((run, *pair, loss.loss, target, pair == pairs[chosen]))
        progress(f"run {run} of runs {spec['samples']['runs']}")
    runs, side_x, side_x_prime, losses, targets, selected = zip(*rows, strict=True)
    return {
        "run": np.array(runs, np.int32),
        "n": np.full(len(rows), spec["samples"]["n"], np.int64),
        "fresh": np.zeros(len(rows), np.int64),
        "side_x": np.array(side_x, np.int32),
        "side_x_prime": np.array(side_x_prime, np.int32),
        "loss": np.array(losses, np.float64),
        "found": targets,
        "selected": np.array(selected, bool),
    }


def selected(path: str, expected: Spec) -> dict[int, tuple[tuple[int, int], Mapping[str, Any]]]:
    """Return for each run the selected sides, and the output to confirm on fresh samples."""
    losses = read_columns(path, "losses", expected)
    return {
        int(losses["run"][row]): (
            (int(losses["side_x"][row]), int(losses["side_x_prime"][row])),
            json.loads(losses["found"][row]),
        )
        for row in np.flatnonzero(losses["selected"])
    }

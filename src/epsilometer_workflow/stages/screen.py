"""From files of samples to the losses of all pairs, and the pair that each run selects."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from epsilometer.errors import ArgumentError, DataError
from epsilometer.estimators.base import pairs_of
from epsilometer_workflow.files.identities import LossesIdentity, job_of
from epsilometer_workflow.files.pairs import Pair, key_columns
from epsilometer_workflow.files.storage import by_run, read_columns, read_samples, write_columns


class Selected(NamedTuple):
    """The pair of sides that a run selects, and the output to confirm on fresh samples."""

    sides: tuple[int, int]
    target: Mapping[str, Any]


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `screen`."""
    job = job_of(snakemake, LossesIdentity)
    columns = losses_of(snakemake.input.samples, job, progress)
    write_columns(columns, snakemake.output[0], "losses", job)


def losses_of(path: str, job: LossesIdentity, progress: Progress) -> dict[str, Any]:
    """Return columns with the loss of every pair in every run, from one file of samples.

    Column ``found`` holds, for the selected pairs, the output to confirm on fresh samples, as JSON.
    """
    method = job.load()
    samples = job.samples
    pairs: list[Pair] = []
    levels: list[float] = []
    targets: list[str | None] = []
    best_rows = []
    for run, sides in by_run(read_samples(path, samples)):
        pairs_of_run = pairs_of(len(sides), job.pairing)
        draws = ((sides[i], sides[j]) for i, j in pairs_of_run)
        try:
            best, losses = method.screen(draws, job.region)
        except ArgumentError as error:
            raise DataError(path, f"run {run}: {error}") from None
        best_rows.append(len(pairs) + best)
        for pair, loss in zip(pairs_of_run, losses, strict=True):
            pairs.append(Pair(run, *pair))
            levels.append(loss.loss)
            targets.append(_as_json(loss.target))
        progress(f"run {run} of runs {samples.runs}")
    selected_rows = np.zeros(len(pairs), bool)
    selected_rows[best_rows] = True
    return {
        **key_columns(pairs, samples.n),
        "loss": np.array(levels, np.float64),
        "found": targets,
        "selected": selected_rows,
    }


def _as_json(target: Mapping[str, Any] | None) -> str | None:
    return None if target is None else json.dumps(target, allow_nan=False)


def selected(path: str, expected: LossesIdentity) -> dict[int, Selected]:
    """Return what each run selected."""
    losses = read_columns(path, "losses", expected)
    chosen = {}
    for row in np.flatnonzero(losses["selected"]):
        sides = int(losses["side_x"][row]), int(losses["side_x_prime"][row])
        chosen[int(losses["run"][row])] = Selected(sides, json.loads(losses["found"][row]))
    return chosen

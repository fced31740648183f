"""Evidence about the selected pairs, from files of fresh samples."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Mapping
from typing import Any

import numpy as np

from epsilometer.registry import load
from epsilometer_workflow.files.storage import by_run, read_samples, write_columns
from epsilometer_workflow.stages.screen import selected

Spec = Mapping[str, Any]


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `weigh`."""
    samples, losses = snakemake.input.samples, snakemake.input.losses
    run(samples, losses, snakemake.output[0], snakemake.params.spec)


def run(samples: str, losses: str, output: str, spec: Spec) -> None:
    """Reduce one batch of fresh samples to evidence about the selected pairs."""
    write_columns(evidence_of(samples, losses, spec), output, "evidence", spec)


def evidence_of(path: str, losses_path: str, spec: Spec) -> dict[str, Any]:
    """Return columns of evidence, with a row for every run."""
    fresh = spec["fresh"]
    losses_spec = fresh["selected_by"]
    chosen = selected(losses_path, losses_spec)
    method = load(losses_spec["registered"])(**losses_spec["parameters"])
    keys, results = [], []
    for run, (x, x_prime) in by_run(read_samples(path, fresh)):
        sides, target = chosen[run]
        keys.append((run, *sides))
        results.append(vars(method.weigh(x, x_prime, target)))
    runs, side_x, side_x_prime = np.array(keys, np.int32).T
    return {
        "run": runs,
        "n": np.full(runs.size, losses_spec["samples"]["n"], np.int64),
        "fresh": np.full(runs.size, fresh["n"], np.int64),
        "side_x": side_x,
        "side_x_prime": side_x_prime,
        **{name: np.array([result[name] for result in results]) for name in results[0]},
    }

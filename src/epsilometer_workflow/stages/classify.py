"""Verdicts of classifiers that are trained on half of the draws and tested on the others."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Mapping
from typing import Any

import numpy as np

from epsilometer import seeds
from epsilometer.errors import ArgumentError, DataError
from epsilometer.estimators.base import pairs_of
from epsilometer.registry import load
from epsilometer_workflow.files.storage import by_run, read_samples, write_columns

Spec = Mapping[str, Any]


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `classify`."""
    run(snakemake.input.samples, snakemake.output[0], snakemake.params.spec, progress)


def run(samples: str, output: str, spec: Spec, progress: Progress) -> None:
    """Train and test a classifier on every pair of one batch of samples."""
    write_columns(verdicts_of(samples, spec, progress), output, "verdicts", spec)


def verdicts_of(path: str, spec: Spec, progress: Progress) -> dict[str, Any]:
    """Return columns with a row for every run, pair, direction and claim.

    The answers of a classifier are in `epsilometer.estimators.spectrum.Tested`.
    """
    method = load(spec["registered"])(**spec["parameters"])
    samples, parts = spec["samples"], []
    for run, sides in by_run(read_samples(path, samples)):
        for i, j in pairs_of(len(sides), spec["pairing"]):
            stream = f"epsilon={samples['epsilon']!r}", samples["inputs"]["id"], f"pair={i},{j}"
            rng = seeds.generator(
                spec["seed"], "classify", samples["mechanism"], *stream, f"run={run}"
            )
            try:
                directions = method.test(sides[i], sides[j], rng)
            except ArgumentError as error:
                raise DataError(path, f"run {run}, sides {i} and {j}: {error}") from None
            for reverse, tested in enumerate(directions):
                answers = vars(tested)
                rows = np.size(answers["claims"])
                keys = {
                    "run": np.full(rows, run, np.int32),
                    "n": np.full(rows, samples["n"], np.int64),
                    "side_x": np.full(rows, i, np.int32),
                    "side_x_prime": np.full(rows, j, np.int32),
                    "reverse": np.full(rows, bool(reverse)),
                }
                parts.append(keys | {k: np.broadcast_to(v, rows) for k, v in answers.items()})
        progress(f"run {run} of runs {samples['runs']}")
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

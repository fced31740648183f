"""The answers of an estimator that reads the draws of a pair themselves."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

from collections.abc import Mapping
from typing import Any

import numpy as np

from epsilometer import seeds
from epsilometer.errors import ArgumentError, DataError
from epsilometer.estimators.base import Claims, both_ways, pairs_of
from epsilometer.registry import load
from epsilometer_workflow.files.storage import by_run, read_samples, write_columns

Spec = Mapping[str, Any]


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `answer`."""
    run(snakemake.input.samples, snakemake.output[0], snakemake.params.spec, progress)


def run(samples: str, output: str, spec: Spec, progress: Progress) -> None:
    """Answer for every pair of one batch of samples."""
    write_columns(answers_of(samples, spec, progress), output, "answers", spec)


def answers_of(path: str, spec: Spec, progress: Progress) -> dict[str, Any]:
    """Return columns with a row for every run and pair, in both directions."""
    method = load(spec["registered"])(**spec["parameters"])
    claims, order = Claims(**spec["claims"]), float(spec["lambda"])
    samples, keys, levels = spec["samples"], [], []
    names = "answer", samples["mechanism"], f"epsilon={samples['epsilon']!r}"
    for run, sides in by_run(read_samples(path, samples)):
        for i, j in pairs_of(len(sides), spec["pairing"]):
            stream = samples["inputs"]["id"], f"pair={i},{j}", f"run={run}"
            rng = seeds.generator(spec["seed"], *names, *stream)
            try:
                ways = both_ways(method, sides[i], sides[j], claims, order, rng)
            except ArgumentError as error:
                raise DataError(path, f"run {run}, sides {i} and {j}: {error}") from None
            keys.append((run, i, j))
            levels.append([(way.level, way.low, way.high) for way in ways])
        progress(f"run {run} of runs {samples['runs']}")
    runs, side_x, side_x_prime = np.array(keys, np.int32).T
    columns = {"run": runs, "side_x": side_x, "side_x_prime": side_x_prime}
    columns["n"] = np.full(runs.size, samples["n"], np.int64)
    values = np.array(levels, np.float64)  # (rows, directions, 3)
    return columns | {
        f"{name}{end}": values[:, way, k]
        for way, end in enumerate(("", "_reverse"))
        for k, name in enumerate(("estimate", "low", "high"))
    }

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
_KEYS = ("run", "side_x", "side_x_prime")
_ENDS = ("estimate", "low", "high", "estimate_reverse", "low_reverse", "high_reverse")


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `answer`."""
    spec = snakemake.params.spec
    columns = answers_of(snakemake.input.samples, spec, progress)
    write_columns(columns, snakemake.output[0], "answers", spec)


def answers_of(path: str, spec: Spec, progress: Progress) -> dict[str, Any]:
    """Return columns with a row for every run and pair, in both directions."""
    method = load(spec["registered"])(**spec["parameters"])
    claims, order = Claims(**spec["claims"]), float(spec["lambda"])
    samples, rows = spec["samples"], []
    names = "answer", samples["mechanism"], f"epsilon={samples['epsilon']!r}"
    for run, sides in by_run(read_samples(path, samples)):
        for i, j in pairs_of(len(sides), spec["pairing"]):
            stream = samples["inputs"]["id"], f"pair={i},{j}", f"run={run}"
            rng = seeds.generator(spec["seed"], *names, *stream)
            try:
                ways = both_ways(method, sides[i], sides[j], claims, order, rng)
            except ArgumentError as error:
                raise DataError(path, f"run {run}, sides {i} and {j}: {error}") from None
            rows.append([run, i, j, *(value for way in ways for value in vars(way).values())])
        progress(f"run {run} of runs {samples['runs']}")
    columns = dict(zip((*_KEYS, *_ENDS), np.array(rows, np.float64).T, strict=True))
    keys = {key: columns[key].astype(np.int32) for key in _KEYS}
    return columns | keys | {"n": np.full(len(rows), samples["n"], np.int64)}

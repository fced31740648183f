"""Seconds of one estimate, from drawing to the answer, in this process alone."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from epsilometer import seeds
from epsilometer.estimators.answering import answers
from epsilometer.estimators.base import pairs_of
from epsilometer.mechanisms.drawing import draw
from epsilometer_workflow.files.identities import EstimatesToTime, TimeJob, job_of
from epsilometer_workflow.files.storage import write_columns


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `time`."""
    job = job_of(snakemake, TimeJob)
    columns = time_runs(job.members, progress)
    write_columns(columns, snakemake.output[0], "timings", job.identity)


def time_runs(members: Sequence[EstimatesToTime], progress: Progress) -> dict[str, Any]:
    """Return columns with a row for every combination and run; one run before them warms up."""
    rows = []
    for member in members:
        first, last = member.samples.runs
        _time(member, first)
        for run in range(first, last + 1):
            rows.append(_time(member, run))
            progress(f"{rows[-1]['mechanism']} run {run}: {rows[-1]['seconds']:.3f} s")
    columns = {}
    for name, value in rows[0].items():
        values = [row[name] for row in rows]
        columns[name] = values if isinstance(value, str) else np.array(values)
    return columns


class _Clock:
    """Seconds since the last look, charged to what was done in them."""

    def __init__(self) -> None:
        self.spent = {"sampling": 0.0, "estimating": 0.0}
        self._last = time.perf_counter()

    def charge(self, activity: str) -> None:
        now = time.perf_counter()
        self.spent[activity] += now - self._last
        self._last = now


def _time(member: EstimatesToTime, run: int) -> dict[str, Any]:
    """Draw and answer once, for all pairs; the largest answer from x to x' is kept."""
    samples = member.samples
    estimates = member.estimates
    estimator = estimates.load()
    mechanism = samples.load()
    name = samples.mechanism
    seed = samples.seed
    pairing = estimates.inputs.pairing
    rng = seeds.generator(seed, "timing", name, run)
    clock = _Clock()

    def sides(which: Iterable[int], n: int) -> Iterator[np.ndarray]:
        for side in which:
            clock.charge("estimating")
            outputs = draw(mechanism, samples.inputs.sides[side], n, rng, name=name)
            clock.charge("sampling")
            yield outputs

    results = list(
        answers(
            estimator,
            sides(range(samples.sides), samples.n),
            order=float(estimates.order),
            pairing=pairing,
            claims=estimates.claims,
            screen=estimates.after and estimates.after.load(),
            fresh=lambda pair: list(sides(pair, member.fresh)),
            region=estimates.region,
            rng=seeds.generator(seed, "timing", "classify", name, run),
            outputs=mechanism.outputs,
        )
    )
    clock.charge("estimating")
    return {
        "mechanism": name,
        "epsilon": samples.epsilon,
        "inputs": samples.inputs.id,
        "lambda": estimates.order,
        "estimator": estimates.estimator,
        "run": run,
        "n": samples.n,
        "fresh": member.fresh,
        "pairs": len(pairs_of(samples.sides, pairing)),
        **clock.spent,
        "seconds": sum(clock.spent.values()),
        "bound": float(np.fmax.reduce([np.max(answer.forward) for answer in results])),
    }

"""Summaries of estimates over runs, joined with the exact value."""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from epsilometer.exact.base import divergence, spectrum
from epsilometer.numerics.proportions import clopper_pearson
from epsilometer_workflow.files.identities import EstimatesToSummarise, SummariseJob, job_of
from epsilometer_workflow.files.storage import read_table, write_table
from epsilometer_workflow.reports.grouping import law_of

KEYS = [
    *("mechanism", "parameters", "epsilon", "inputs", "lambda", "estimator", "cells"),
    *("claimed_lipschitz", "n", "fresh", "claim", "pair"),
    *("side_x", "side_x_prime", "x", "x_prime", "level"),
]


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `summarise`."""
    output = snakemake.output
    job = job_of(snakemake, SummariseJob)
    run(snakemake.input.estimates, output.summary, output.runs, job)


def run(estimates: Sequence[str], summary: str, runs: str, job: SummariseJob) -> None:
    """Write every run of one experiment beside the exact values, and statistics over runs."""
    parts = []
    summaries = []
    for path, member in zip(estimates, job.members, strict=True):
        rows = read_table(path, "estimates", member.identity)
        parts.append(with_truth(rows, member))
        summaries.append(summarise(parts[-1], member.precision))
    write_table(pd.concat(parts, ignore_index=True), runs, "runs", job.identity)
    write_table(pd.concat(summaries, ignore_index=True), summary, "summary", job.identity)


def summarise(estimates: pd.DataFrame, gamma: float | None) -> pd.DataFrame:
    """Summarise over runs: a row for every combination of `KEYS`.

    ``estimates`` has the columns `KEYS`, ``run``, ``estimate``, ``estimate_reverse``, ``failed``,
    ``truth`` and ``truth_reverse``; parameters and inputs are written as JSON, so that any fit.
    For a lower bound, whose runs select different pairs, a row is of the runs that selected one:
    read the runs themselves. Moments are over the runs that did not fail; the share of runs within
    ``gamma`` of the truth counts a failure as a miss, as gorla2022's theorems do, and comes with an
    exact 95 % (Clopper-Pearson) interval.
    """
    error = estimates["estimate"] - estimates["truth"]
    precision = np.nan if gamma is None else gamma
    frame = estimates.assign(
        squared_error=error**2, within=(error.abs() <= precision) & ~estimates["failed"]
    )
    grouped = frame.groupby(KEYS, sort=False, dropna=False)
    summary = grouped.agg(
        truth=("truth", "first"),
        truth_reverse=("truth_reverse", "first"),
        runs=("run", "size"),
        failures=("failed", "sum"),
        mean=("estimate", "mean"),
        sd=("estimate", "std"),
        mean_reverse=("estimate_reverse", "mean"),
        mse=("squared_error", "mean"),
        successes=("within", "sum"),
    ).reset_index()
    summary.insert(summary.columns.get_loc("truth"), "gamma", np.float64(precision))
    summary["bias"] = summary["mean"] - summary["truth"]
    summary["share_within"] = summary["successes"] / summary["runs"]
    low, high = clopper_pearson(summary["successes"], summary["runs"])
    summary["share_low"], summary["share_high"] = low, high
    return summary.drop(columns="successes")


def with_truth(estimates: pd.DataFrame, member: EstimatesToSummarise) -> pd.DataFrame:
    """Add parameters, inputs, the pair's name and the exact levels (NaN if they are unknown).

    ``parameters`` are the mechanism's and ``settings`` the estimator's, both as JSON; ``guarantee``
    is the estimator's, too.

    ``truth`` and ``truth_reverse`` are the pair's levels in both directions; for an estimator that
    answers for both at once, both are the larger. ``level`` is the largest of all pairs of the
    inputs: the data-centric level, where they are an input's neighbourhood.
    """
    identity = member.identity
    inputs = identity.inputs.sides
    names = identity.inputs.names
    chosen = identity.inputs.pairs
    pairs = pd.DataFrame(chosen, columns=["side_x", "side_x_prime"]).astype("int32")
    pairs["pair"] = "" if names is None else names
    for key in ("x", "x_prime"):
        pairs[key] = [json.dumps(inputs[side]) for side in pairs[f"side_{key}"]]
    levels = _levels(member, chosen, estimates["claim"].unique())
    larger = levels[["truth", "truth_reverse"]].max(axis=1)
    levels["level"] = larger.groupby(levels["claim"], dropna=False).transform("max")
    if member.symmetric:
        levels["truth"] = levels["truth_reverse"] = larger
    joined = estimates.merge(pairs, on=["side_x", "side_x_prime"], how="left")
    joined = joined.merge(levels, on=["side_x", "side_x_prime", "claim"], how="left")
    return joined.assign(
        parameters=json.dumps(identity.mechanism_parameters, sort_keys=True),
        settings=json.dumps(identity.parameters, sort_keys=True),
        guarantee=member.guarantee,
    )


def _levels(
    member: EstimatesToSummarise, pairs: Sequence[tuple[int, int]], claims: NDArray[np.float64]
) -> pd.DataFrame:
    """Return exact levels in both directions, a row a pair and claim; delta of a claim."""
    identity = member.identity
    inputs = identity.inputs.sides
    order = float(identity.order)
    law: Any = None
    if member.law is not None:
        parameters = json.dumps(identity.mechanism_parameters)
        mechanism = identity.mechanism_registered
        law = law_of(member.law, mechanism, identity.epsilon, parameters)

    def levels(i: int, j: int) -> Sequence[float]:
        if law is None:
            return [math.nan] * claims.size
        if np.isnan(claims).all():
            return [divergence(law, order, inputs[i], inputs[j])]
        return list(spectrum(law, claims, inputs[i], inputs[j]))

    frames = []
    for i, j in pairs:
        frame = pd.DataFrame({"claim": claims, "truth": levels(i, j)})
        sides = {"side_x": np.int32(i), "side_x_prime": np.int32(j)}
        frames.append(frame.assign(truth_reverse=levels(j, i), **sides))
    return pd.concat(frames, ignore_index=True)

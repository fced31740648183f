"""Statements of gorla2022 about its algorithms that its tables do not show: from draws."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import scipy
from pydantic import PositiveFloat

from epsilometer.errors import ArgumentError
from epsilometer.estimators import planner
from epsilometer.exact.truncated import ExactTruncatedLaplace
from epsilometer.mechanisms.truncated import TruncatedLaplace

_KEYS = ["mechanism", "epsilon", "lambda", "estimator", "n"]


def precision(runs: list[pd.DataFrame]) -> pd.DataFrame:
    """Tabulate how far the answers are from the truth, against the precision that is asked for.

    ``largest_error`` is over the runs that did not fail; ``share_within`` counts a failure as a
    miss, ``share_wrong`` is the rest.
    """
    frame = _with_errors(runs)
    table = frame.groupby([*_KEYS, "gamma"], sort=False).agg(
        runs=("run", "size"),
        failures=("failed", "sum"),
        truth=("truth", "first"),
        mean=("estimate", "mean"),
        largest_error=("error", "max"),
        share_within=("within", "mean"),
    )
    return table.assign(share_wrong=1 - table["share_within"]).reset_index()


def _with_errors(runs: list[pd.DataFrame]) -> pd.DataFrame:
    frame = pd.concat(runs, ignore_index=True)
    gamma = pd.Series([json.loads(text).get("gamma", np.nan) for text in frame["settings"]])
    if gamma.isna().any():
        raise ArgumentError("data", "must hold estimators with a gamma")
    error = (frame["estimate"] - frame["truth"]).abs()
    return frame.assign(gamma=gamma, error=error, within=(error <= gamma) & ~frame["failed"])


def largest_pair(runs: list[pd.DataFrame]) -> pd.DataFrame:
    """Tabulate the maximum over all pairs and both directions, a row a run (Algorithms 2 and 4).

    ``level`` is the largest level of all pairs.
    """
    frame = _with_errors(runs)
    either = frame[["estimate", "estimate_reverse"]].max(axis=1)
    cells = frame.assign(either=either).groupby([*_KEYS, "gamma", "run"], sort=False)
    table = cells.agg(
        pairs=("either", "size"),
        failures=("failed", "sum"),
        estimate=("either", "max"),
        level=("level", "first"),
    ).reset_index()
    return table.assign(within=(table["estimate"] - table["level"]).abs() <= table["gamma"])


def stopping(runs: list[pd.DataFrame], *, agreement: PositiveFloat) -> pd.DataFrame:
    """Tabulate an estimator that decides for itself when to stop (Theorem 1).

    It looks at ever more samples, and stops at the first n at which it has an answer within
    ``agreement`` of the one before. On zeros only it always stops. ``share_wrong`` are the runs
    whose answer is off by more than gamma, or that had none; ``used`` the median of n.
    """
    frame = _with_errors(runs).sort_values("n", kind="stable")
    built = pd.DataFrame([json.loads(text) for text in frame["parameters"]], index=frame.index)
    frame = frame.assign(budget=built["budget"], delta=built["delta"])
    rows = []
    keys = ["mechanism", "epsilon", "lambda", "estimator", "gamma", "budget", "delta"]
    for names, group in frame.groupby(keys, sort=False):
        stopped = [_stop(run, agreement) for _, run in group.groupby("run")]
        wrong = [row is None or not row["within"] for row in stopped]
        used = [np.inf if row is None else row["n"] for row in stopped]
        rows.append((*names, len(stopped), np.mean(wrong), np.median(used)))
    return pd.DataFrame(rows, columns=[*keys, "runs", "share_wrong", "used"])


def _stop(run: pd.DataFrame, agreement: float) -> pd.Series | None:
    """Return the row at which one run stops; nothing if it never does."""
    close = run["estimate"].diff().abs() <= agreement
    return run[close].iloc[0] if close.any() else None


def failures(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Compare the share of failed runs with 2 m (1 - w tau)^n, at every n of a search.

    For the truncated Laplace mechanism, where C < 2.
    """
    if len(tables) != 1:
        raise ArgumentError("tables", "must be one, of searches")
    (search,) = tables.values()
    table = search[np.isinf(search["lambda"].astype(float))].copy()
    laws = {e: ExactTruncatedLaplace(TruncatedLaplace(e)) for e in table["epsilon"].unique()}
    smallest = 1 - table["epsilon"].map({e: law.lipschitz_output / 2 for e, law in laws.items()})
    table = table.assign(smallest=smallest)[smallest > 0]
    missed = table["n"] * np.log1p(-table["smallest"] / table["cells"])
    return table[["epsilon", "gamma", "cells", "n", "runs"]].assign(
        share_failed=table["failures"] / table["runs"],
        bound=np.minimum(2 * table["cells"] * np.exp(missed), 1.0),
    )


def theory(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Tell what Theorem 3 promises at each C of a safety check, with c = C w^2/2."""
    if len(tables) != 1:
        raise ArgumentError("tables", "must be one, of a safety check")
    (checked,) = tables.values()
    claimed = checked["estimator"].str.endswith("claimed")
    tested = checked["actual_C"].where(~claimed, checked["claimed_C"])
    slack = [
        planner.safety_slack(lipschitz=c, cells=int(m))
        for c, m in zip(tested, checked["cells"], strict=True)
    ]
    promised = 1 - 8 * checked["cells"] * np.exp(-checked["n"] * np.square(slack) / 3)
    return checked.assign(claimed=claimed, tested_C=tested, slack=slack, promised=promised)


def kolmogorov(samples: list[pd.DataFrame]) -> pd.DataFrame:
    """Test the draws of the truncated Laplace mechanism against its distribution function."""
    rows = []
    for (epsilon, x), drawn in pd.concat(samples).groupby(["epsilon", "x"]):
        law = ExactTruncatedLaplace(TruncatedLaplace(epsilon))
        test = scipy.stats.kstest(law.cdf(drawn["output"], json.loads(x)), "uniform")
        rows.append({"epsilon": epsilon, "x": x, "n": len(drawn), "p_value": test.pvalue})
    return pd.DataFrame(rows)

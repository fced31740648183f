"""Statements of lu2022 about its estimator's error that its tables do not show: from runs."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
from pydantic import PositiveInt

from epsilometer.errors import ArgumentError
from epsilometer_audit.grids.options import Fractional
from epsilometer_workflow.reports.lu2022.accuracy import cones, estimate_error

_CELL = ["mechanism", "epsilon", "inputs", "estimator", "n", "claim"]


def risks(runs: list[pd.DataFrame], *, beta: Fractional) -> pd.DataFrame:
    """Tabulate errors of the estimate and of the risk over runs, and what theory allows.

    ``alpha`` is Lemma 1's, with the mean excess over the Bayes risk for g, and ``share_within`` the
    share of runs within it; ``reach`` is where Theorem 2 bounds the probability that kNN's risk is
    further from the Bayes risk by 1/2 (on the line), and ``share_beyond`` the share that is.
    """
    frame = pd.concat(runs, ignore_index=True)
    error = frame["estimate"] - frame["truth"]
    risk = -error / (2 * np.exp(frame["claim"]))
    frame = frame.assign(error=error, risk=risk)
    rows = []
    for names, cell in frame.groupby(_CELL, sort=False):
        key = dict(zip(_CELL, names, strict=True))
        claim, points = float(key["claim"]), 2 * int(key["n"])
        excess = max(float(cell["risk"].mean()), 0.0)
        alpha = estimate_error(lambda *_, g=excess: g, claim, points, beta)
        reach = math.sqrt(72 * cones(1) ** 2 * math.log(4) / (points / 2))
        rows.append(
            key
            | {
                "runs": len(cell),
                "truth": cell["truth"].iloc[0],
                "median_error": cell["error"].abs().median(),
                "sd": cell["estimate"].std(),
                "excess": excess,
                "alpha": alpha,
                "share_within": (cell["error"].abs() <= alpha).mean(),
                "largest": (cell["error"].abs() / alpha).max(),
                "reach": reach,
                "share_beyond": (cell["risk"].abs() > reach).mean(),
            }
        )
    return pd.DataFrame(rows)


def spread(runs: list[pd.DataFrame]) -> pd.DataFrame:
    """Compare the deviation of the estimate over runs with that of a binomial risk.

    ``scale`` is sd / (exp(e) sqrt(r (1 - r))), which Lemma 1 has constant in e for a drawn coin.
    """
    frame = pd.concat(runs, ignore_index=True)
    drawn = [json.loads(text).get("coin") == "drawn" for text in frame["settings"]]
    cells = frame[drawn].groupby(_CELL, sort=False)["estimate"]
    table = cells.agg(runs="size", mean="mean", sd="std").reset_index()
    grown = np.exp(table["claim"])
    risk = (1 - table["mean"]) / (2 * grown)
    return table.assign(risk=risk, scale=table["sd"] / (grown * np.sqrt(risk * (1 - risk))))


def relative_errors(
    runs: list[pd.DataFrame],
    *,
    claim: float,
    beta: Fractional,
    databases: PositiveInt,
    rows: PositiveInt,
) -> pd.DataFrame:
    """Tabulate the error of the largest delta over the first 1, 2, ... pairs, both directions each.

    ``alpha`` is what Theorem 5 allows for t databases of at most m rows, without the excess risk of
    the classifier; ``share_within`` the share of runs whose every error is within it.
    """
    frame = pd.concat(runs, ignore_index=True)
    frame = frame[np.isclose(frame["claim"], claim)]
    if frame.empty:
        raise ArgumentError("claim", "is not in the data")
    forward = (frame["estimate"] - frame["truth"]).abs()
    reverse = (frame["estimate_reverse"] - frame["truth_reverse"]).abs()
    wide = frame.assign(worst=np.maximum(forward, reverse)).pivot_table(
        index="run", columns="side_x", values="worst"
    )
    n = int(frame["n"].iloc[0])
    alpha = estimate_error(lambda *_: 0.0, claim, 2 * n, beta, directions=2 * databases * rows)
    worst = wide.cummax(axis=1)
    return pd.DataFrame(
        {
            "claim": claim,
            "n": n,
            "runs": len(wide),
            "pairs": np.arange(1, wide.shape[1] + 1),
            "error": worst.quantile(1 - beta).to_numpy(),
            "alpha": alpha,
            "share_within": (worst <= alpha).mean().to_numpy(),
        }
    )

"""The tables of kutta2022, and those behind its figures."""

from __future__ import annotations

import json
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import Field, NonNegativeInt, PositiveInt

from epsilometer.errors import ArgumentError
from epsilometer.estimators.renyi_bound import RenyiBoundAsPublished
from epsilometer.numerics.proportions import clopper_pearson
from epsilometer_workflow.reports.grouping import PAIRS, Law, grouped

_BEGIN = ["panel", "mechanism", "epsilon", "inputs"]


@grouped(first=_BEGIN, order=["panel", "lambda", "tau"])
def ratios(runs: pd.DataFrame) -> pd.DataFrame:
    """Figures 1 and A: every run's bound as a share of the divergence, in rising order.

    ``alpha_hat`` is the share of runs whose bound lies above it, of the same panel, order and tau.
    """
    frame = _with_ratios(runs).sort_values(["ratio", "run"])
    columns = ["lambda", "tau", "n", "run", "bound", "divergence", "ratio"]
    return frame[columns].assign(alpha_hat=(frame["ratio"] > 1).mean())


@grouped(first=_BEGIN, order=["panel", "-draws_at_floor", "lambda"])
def alpha_hat(runs: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the share of runs above the truth in every cell, with an exact 95 % interval."""
    cells = _with_ratios(runs).groupby(["lambda", "tau", "n", "draws_at_floor"])
    table = cells.agg(
        divergence=("divergence", "first"),
        runs=("ratio", "size"),
        above=("ratio", lambda ratio: int((ratio > 1).sum())),
        median_ratio=("ratio", "median"),
        sd_ratio=("ratio", "std"),
        smallest_ratio=("ratio", "min"),
    ).reset_index()
    low, high = clopper_pearson(table["above"], table["runs"])
    share = table.pop("above") / table["runs"]
    return table.assign(alpha_hat=share, alpha_hat_low=low, alpha_hat_high=high)


@grouped(first=["mechanism", "epsilon", "lambda", "estimator", "n"])
def minutes(timings: pd.DataFrame) -> pd.DataFrame:
    """Table I: minutes of one bound (the mean over runs), sampling and the rest apart."""
    mean = timings[["seconds", "sampling", "estimating"]].mean()
    return pd.DataFrame([{**mean, "runs": len(timings), "minutes": mean["seconds"] / 60}])


@grouped(
    across=["lambda", "estimator", "settings"],
    first=_BEGIN,
    order=["panel", "estimator", "lambda"],
    curve={"between": 100},
)
def orders(runs: pd.DataFrame, law: Law, *, between: NonNegativeInt = 0) -> pd.DataFrame:
    """Tabulate the bounds of many orders, and estimates of the pure level, over runs.

    ``above`` is the share of runs with an answer above the truth. With orders ``between``, the
    table has their exact divergences alone.
    """
    frame = _known(runs).astype({"lambda": float})
    if between:
        return _divergences(frame[frame["lambda"] < np.inf], law, between)
    frame["above"] = frame["estimate"] > frame["truth"]
    cells = frame.groupby(["lambda", "estimator", "n"], sort=False)
    table = cells.agg(runs=("run", "size"), divergence=("truth", "first"))
    for name, level in (("low", 0.25), ("median", 0.5), ("high", 0.75)):
        table[name] = cells["estimate"].quantile(level)
    return table.assign(above=cells["above"].mean()).reset_index()


def _divergences(frame: pd.DataFrame, law: Law, between: int) -> pd.DataFrame:
    """Return exact divergences at so many orders, from the least to the largest."""
    if frame.empty:
        return pd.DataFrame({"lambda": [], "divergence": []}, float)
    first = frame.iloc[0]
    span = frame["lambda"]
    inputs = json.loads(first["x"]), json.loads(first["x_prime"])
    distribution = law(float(first["epsilon"]))
    orders_between = np.geomspace(span.min(), span.max(), between).tolist()
    exact = [distribution.renyi(order, *inputs) for order in orders_between]
    return pd.DataFrame({"lambda": orders_between, "divergence": exact})


@grouped(
    across=[*PAIRS, "estimator", "settings"],
    first=["mechanism", "epsilon", "inputs", "lambda", "n"],
)
def maxima(
    runs: pd.DataFrame, *, pairs: Annotated[list[PositiveInt], Field(min_length=1)]
) -> pd.DataFrame:
    """Tabulate the largest bound of several pairs, in one direction and corrected for both.

    Without a correction it is the largest over the first so many pairs, and ``promised`` is (8);
    ``covered`` is the share of runs in which it lies at most at the largest divergence of these
    pairs, with an exact 95 % interval.
    """
    runs = _known(runs)
    runs = runs.assign(sides=list(zip(runs["side_x"], runs["side_x_prime"], strict=True)))
    corrected = runs["settings"].map(lambda text: json.loads(text).get("largest", False))
    every = sorted(set(runs.loc[~corrected, "sides"]))  # of all, a corrected bound shows one pair
    if max(pairs) > len(every):
        raise ArgumentError("pairs", f"has {max(pairs)}, the data have {len(every)}")
    rows = []
    for (estimator, of_all), group in runs.groupby(["estimator", corrected], sort=False):
        alpha = json.loads(group["settings"].iloc[0]).get("alpha", RenyiBoundAsPublished.alpha)
        about = {"estimator": estimator}
        if of_all:
            truth = group["level"].max()
            rows.append(about | {"pairs": len(every)} | _coverage(group, truth, 1 - alpha))
            continue
        for count in pairs:
            chosen = group[group["sides"].isin(every[:count])]
            coverage = _coverage(chosen, chosen["truth"].max(), (1 - alpha) ** count)
            rows.append(about | {"pairs": count} | coverage)
    return pd.DataFrame(rows)


def _coverage(runs: pd.DataFrame, truth: float, promised: float) -> dict[str, float]:
    """Return how often the largest bound of a run is at most the truth."""
    bound = runs.groupby("run")["estimate"].max()
    covered = int((bound <= truth).sum())
    low, high = clopper_pearson(covered, bound.size)
    return {
        "runs": bound.size,
        "promised": promised,
        "covered": covered / bound.size,
        "covered_low": float(low),
        "covered_high": float(high),
        "divergence": truth,
        "median_ratio": bound.median() / truth,
    }


def _known(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs, all of which must have an exact value to be compared with."""
    unknown = runs.loc[runs["truth"].isna(), "mechanism"]
    if len(unknown):
        raise ArgumentError("data", f"must have exact values; {unknown.iloc[0]} has no exact law")
    return runs


def _with_ratios(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of one estimator, with their floor and ratio."""
    frame = _known(runs).astype({"lambda": float})
    first = frame.iloc[0]
    parameters = json.loads(first["settings"])
    if "draws_at_floor" not in parameters or parameters.get("largest"):
        raise ArgumentError("data", "must hold Rényi bounds of single pairs only")
    tau = RenyiBoundAsPublished(**parameters).floor(int(first["n"]))[0]
    frame = frame.rename(columns={"estimate": "bound", "truth": "divergence"})
    frame = frame.assign(tau=tau, draws_at_floor=np.round(tau * frame["n"], 6))
    return frame.assign(ratio=frame["bound"] / frame["divergence"])

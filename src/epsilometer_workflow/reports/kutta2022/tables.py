"""The tables of kutta2022, and those behind its figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field, NonNegativeInt, PositiveInt

from epsilometer.errors import ArgumentError
from epsilometer.estimators.renyi_bound import RenyiBoundAsPublished
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.proportions import clopper_pearson
from epsilometer_workflow.reports.panels import Titles, in_order, of_panels, with_curve

_CELL = ["panel", "mechanism", "epsilon", "inputs", "lambda", "tau", "n"]


def ratios(runs: list[pd.DataFrame], *, panels: Titles) -> pd.DataFrame:
    """Figures 1 and A: every run's bound as a share of the divergence, in rising order.

    ``alpha_hat`` is the share of runs whose bound lies above it, of the same panel, order and tau.
    """
    frame = _with_ratios(runs, panels)
    cells = frame.groupby(_CELL, sort=False)["ratio"]
    frame["alpha_hat"] = cells.transform(lambda ratio: (ratio > 1).mean())
    columns = [*_CELL, "run", "bound", "divergence", "ratio", "alpha_hat"]
    return frame[columns].sort_values(
        ["panel", "lambda", "tau", "ratio", "run"], key=in_order(panels), ignore_index=True
    )


def alpha_hat(runs: list[pd.DataFrame], *, panels: Titles) -> pd.DataFrame:
    """Tabulate the share of runs above the truth in every cell, with an exact 95 % interval."""
    frame = _with_ratios(runs, panels)
    cells = frame.groupby([*_CELL, "draws_at_floor"], sort=False)
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
    table = table.assign(alpha_hat=share, alpha_hat_low=low, alpha_hat_high=high)
    return table.sort_values(
        ["panel", "draws_at_floor", "lambda"],
        key=in_order(panels),
        ascending=[True, False, True],
        ignore_index=True,
    )


def minutes(timings: pd.DataFrame) -> pd.DataFrame:
    """Table I: minutes of one bound (the mean over runs), sampling and the rest apart."""
    keys = ["mechanism", "epsilon", "lambda", "estimator", "n"]
    measured = timings.groupby(keys, sort=False)[["seconds", "sampling", "estimating"]].mean()
    table = measured.join(timings.groupby(keys, sort=False).size().rename("runs")).reset_index()
    return table.assign(minutes=table["seconds"] / 60)


def _between(_: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options with a hundred orders for exact divergences."""
    return {**options, "between": 100}


@with_curve(_between)
def orders(
    runs: list[pd.DataFrame], *, panels: Titles, laws: dict[str, str], between: NonNegativeInt = 0
) -> pd.DataFrame:
    """Tabulate the bounds of many orders, and estimates of the pure level, over runs.

    ``above`` is the share of runs with an answer above the truth. ``laws`` has the registered name
    of each mechanism: with orders ``between``, the table has their exact divergences alone.
    """
    frame = _chosen(runs, panels)
    for mechanism in frame["mechanism"].unique():
        if laws.get(mechanism) not in EXACT:
            raise ArgumentError("laws", f"must name the exact distribution of {mechanism}")
    if between:
        return _divergences(frame[frame["lambda"] < np.inf], laws, between)
    frame["above"] = frame["estimate"] > frame["truth"]
    keys = ["panel", "mechanism", "epsilon", "inputs", "lambda", "estimator", "n"]
    table = (
        frame.groupby(keys, sort=False)
        .agg(
            runs=("run", "size"),
            divergence=("truth", "first"),
            low=("estimate", lambda values: values.quantile(0.25)),
            median=("estimate", "median"),
            high=("estimate", lambda values: values.quantile(0.75)),
            above=("above", "mean"),
        )
        .reset_index()
    )
    return table.sort_values(
        ["panel", "estimator", "lambda"], key=in_order(panels), ignore_index=True
    )


def _divergences(frame: pd.DataFrame, laws: Mapping[str, str], between: int) -> pd.DataFrame:
    """Return each panel's exact divergences at so many orders, from the least to the largest."""
    rows = []
    for panel, estimates in frame.groupby("panel", sort=False):
        first, span = estimates.iloc[0], estimates["lambda"]
        name, parameters = laws[first["mechanism"]], json.loads(first["parameters"])
        law = EXACT.load(name)(MECHANISMS.load(name)(first["epsilon"], **parameters))
        inputs = json.loads(first["x"]), json.loads(first["x_prime"])
        orders_between = np.geomspace(span.min(), span.max(), between).tolist()
        rows += [(panel, order, law.renyi(order, *inputs)) for order in orders_between]
    return pd.DataFrame(rows, columns=["panel", "lambda", "divergence"])


def maxima(
    runs: pd.DataFrame, *, pairs: Annotated[list[PositiveInt], Field(min_length=1)]
) -> pd.DataFrame:
    """Tabulate the largest bound of several pairs, in one direction and corrected for both.

    Without a correction it is the largest over the first so many pairs, and ``promised`` is (8);
    ``covered`` is the share of runs in which it lies at most at the largest divergence of these
    pairs, with an exact 95 % interval.
    """
    runs = _known(runs)
    rows = []
    keys = ["mechanism", "epsilon", "inputs", "lambda", "n"]
    for names, cell in runs.groupby(keys, sort=False):
        all_pairs = sorted(set(zip(cell["side_x"], cell["side_x_prime"], strict=True)))
        for settings, group in cell.groupby("settings", sort=False):
            parameters = json.loads(settings)
            alpha = parameters.get("alpha", RenyiBoundAsPublished.alpha)
            corrected = group.groupby("run").size().max() == 1 < len(all_pairs)
            for count in [len(all_pairs)] if corrected else pairs:
                if count > len(all_pairs):
                    raise ArgumentError("pairs", f"has {count}, the data have {len(all_pairs)}")
                pair = zip(group["side_x"], group["side_x_prime"], strict=True)
                selected = group[[corrected or sides in all_pairs[:count] for sides in pair]]
                bound = selected.groupby("run")["estimate"].max()
                truth = selected["level" if corrected else "truth"].max()
                covered = int((bound <= truth).sum())
                low, high = clopper_pearson(covered, bound.size)
                rows.append(
                    {
                        **dict(zip(keys, names, strict=True)),
                        "estimator": group["estimator"].iloc[0],
                        "pairs": count,
                        "runs": bound.size,
                        "promised": 1 - alpha if corrected else (1 - alpha) ** count,
                        "covered": covered / bound.size,
                        "covered_low": float(low),
                        "covered_high": float(high),
                        "divergence": truth,
                        "median_ratio": bound.median() / truth,
                    }
                )
    return pd.DataFrame(rows)


def _chosen(runs: list[pd.DataFrame], panels: Titles) -> pd.DataFrame:
    """Return the runs of the mechanisms that have a panel, under its title."""
    frame = _known(of_panels(runs, panels).reset_index(drop=True))
    return frame.astype({"lambda": float})


def _known(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs, all of which must have an exact value to be compared with."""
    unknown = runs.loc[runs["truth"].isna(), "mechanism"]
    if len(unknown):
        raise ArgumentError("data", f"must have exact values; {unknown.iloc[0]} has no exact law")
    return runs


def _with_ratios(runs: list[pd.DataFrame], panels: Titles) -> pd.DataFrame:
    """Return the runs of the mechanisms that have a panel, with their floor and ratio."""
    frame = _chosen(runs, panels)
    tau = np.empty(len(frame))
    for (settings, n), rows in frame.groupby(["settings", "n"]).groups.items():
        parameters = json.loads(settings)
        if "draws_at_floor" not in parameters or parameters.get("largest"):
            raise ArgumentError("data", "must hold Rényi bounds of single pairs only")
        tau[rows] = RenyiBoundAsPublished(**parameters).floor(int(n))[0]
    return frame.assign(
        tau=tau,
        draws_at_floor=np.round(tau * frame["n"], 6),
        bound=frame["estimate"],
        divergence=frame["truth"],
        ratio=frame["estimate"] / frame["truth"],
    )

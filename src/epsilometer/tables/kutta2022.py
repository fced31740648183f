"""The tables of kutta2022, and those behind its figures."""

from __future__ import annotations

import json
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import Field, PositiveInt

from epsilometer.errors import ArgumentError
from epsilometer.estimators.renyi_bound import RenyiBound, maximum_confidence
from epsilometer.summaries import clopper_pearson

Titles = Annotated[dict[str, str], Field(min_length=1)]


def ratios(runs: list[pd.DataFrame], *, panels: Titles) -> pd.DataFrame:
    """Figures 1 and A: every run's bound as a share of the divergence, in rising order.

    ``alpha_hat`` is the share of runs whose bound lies above it, of the same panel, order and tau.
    """
    frame = _with_ratios(runs, panels)
    groups = frame.groupby(["panel", "lambda", "tau"], sort=False)["ratio"]
    frame["alpha_hat"] = groups.transform(lambda ratio: (ratio > 1).mean())
    columns = ["panel", "mechanism", "lambda", "tau", "n", "run", "bound", "divergence", "ratio"]
    table = frame[[*columns, "alpha_hat"]]
    return table.sort_values(
        ["panel", "lambda", "tau", "ratio", "run"], key=_in_order(panels), ignore_index=True
    )


def alpha_hat(runs: list[pd.DataFrame], *, panels: Titles) -> pd.DataFrame:
    """Tabulate the share of runs above the truth in every cell, with an exact 95 % interval."""
    frame = _with_ratios(runs, panels)
    keys = ["panel", "mechanism", "lambda", "tau", "n", "draws_at_floor"]
    cells = frame.groupby(keys, sort=False)
    table = cells.agg(
        divergence=("divergence", "first"),
        runs=("ratio", "size"),
        above=("ratio", lambda ratio: int((ratio > 1).sum())),
        median_ratio=("ratio", "median"),
        sd_ratio=("ratio", "std"),
        smallest_ratio=("ratio", "min"),
    ).reset_index()
    low, high = clopper_pearson(table["above"], table["runs"])
    found = pd.DataFrame(
        {
            "alpha_hat": table["above"] / table["runs"],
            "alpha_hat_low": low,
            "alpha_hat_high": high,
        }
    )
    table = pd.concat([table.drop(columns="above"), found], axis=1)
    return table.sort_values(
        ["panel", "draws_at_floor", "lambda"],
        key=_in_order(panels),
        ascending=[True, False, True],
        ignore_index=True,
    )


def minutes(timings: pd.DataFrame) -> pd.DataFrame:
    """Table I: minutes of one bound (the mean over runs), sampling and the rest apart."""
    keys = ["mechanism", "epsilon", "lambda", "n"]
    measured = timings.groupby(keys, sort=False)[["seconds", "sampling", "estimating"]].mean()
    table = measured.join(timings.groupby(keys, sort=False).size().rename("runs")).reset_index()
    return table.assign(minutes=table["seconds"] / 60)


def orders(runs: list[pd.DataFrame], *, panels: Titles) -> pd.DataFrame:
    """Tabulate the bounds of many orders, and estimates of the pure level, over runs."""
    frame = pd.concat(runs, ignore_index=True)
    frame = frame[frame["mechanism"].isin(panels)]
    frame = frame.assign(
        panel=frame["mechanism"].map(panels), **{"lambda": frame["lambda"].astype(float)}
    )
    cells = frame.groupby(["panel", "mechanism", "lambda", "estimator", "n"], sort=False)
    table = cells.agg(
        runs=("run", "size"),
        divergence=("truth", "first"),
        low=("estimate", lambda values: values.quantile(0.25)),
        median=("estimate", "median"),
        high=("estimate", lambda values: values.quantile(0.75)),
        above=("estimate", lambda values: (values > frame.loc[values.index, "truth"]).mean()),
    ).reset_index()
    return table.sort_values(["panel", "lambda"], key=_in_order(panels), ignore_index=True)


def maxima(
    runs: pd.DataFrame, *, pairs: Annotated[list[PositiveInt], Field(min_length=1)]
) -> pd.DataFrame:
    """Tabulate the largest bound of several pairs, in one direction and corrected for both.

    Without a correction it is the largest over the first so many pairs, and ``promised`` is (8);
    ``covered`` is the share of runs in which it lies at most at the largest divergence of these
    pairs, with an exact 95 % interval.
    """
    rows = []
    for (mechanism, order), asked in runs.groupby(["mechanism", "lambda"], sort=False):
        every = sorted(set(asked["side_x"]))
        if max(pairs) > len(every):
            raise ArgumentError("pairs", f"has {max(pairs)}, the data have {len(every)}")
        for settings, group in asked.groupby("settings", sort=False):
            parameters = json.loads(settings)
            alpha = parameters.get("alpha", RenyiBound.alpha)
            correction = parameters.get("correction", "none")
            for count in pairs if correction == "none" else [len(every)]:
                looked_at = group[group["side_x"].isin(every[:count])]
                bound = looked_at.groupby("run")["estimate"].max()
                truth = looked_at["truth" if correction == "none" else "level"].max()
                held = int((bound <= truth).sum())
                low, high = clopper_pearson(held, bound.size)
                rows.append(
                    {
                        "mechanism": mechanism,
                        "lambda": order,
                        "pairs": count,
                        "correction": correction,
                        "n": int(group["n"].iloc[0]),
                        "runs": bound.size,
                        "promised": maximum_confidence(count if correction == "none" else 1, alpha),
                        "covered": held / bound.size,
                        "covered_low": float(low),
                        "covered_high": float(high),
                        "divergence": truth,
                        "median_ratio": bound.median() / truth,
                    }
                )
    return pd.DataFrame(rows)


def _with_ratios(runs: list[pd.DataFrame], panels: Titles) -> pd.DataFrame:
    """Return the runs of the mechanisms that have a panel, with their floor and ratio."""
    frame = pd.concat(runs, ignore_index=True)
    missing = sorted(set(panels) - set(frame["mechanism"]))
    if missing:
        raise ArgumentError("panels", f"has {missing[0]!r}, which is not in the data")
    frame = frame[frame["mechanism"].isin(panels)].reset_index(drop=True)
    tau = np.empty(len(frame))
    for (settings, n), rows in frame.groupby(["settings", "n"]).groups.items():
        tau[rows] = RenyiBound(**json.loads(settings)).floor(int(n))[0]
    return frame.assign(
        panel=frame["mechanism"].map(panels),
        tau=tau,
        draws_at_floor=np.round(tau * frame["n"], 6),
        bound=frame["estimate"],
        divergence=frame["truth"],
        ratio=frame["estimate"] / frame["truth"],
        **{"lambda": frame["lambda"].astype(float)},
    )


def _in_order(panels: Titles):  # type: ignore[no-untyped-def]
    """Return a sort key under which panels keep the order of the configuration."""
    places = {title: i for i, title in enumerate(panels.values())}
    return lambda column: column.map(places) if column.name == "panel" else column

"""The tables of lu2022, and those behind its figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field, NonNegativeFloat, PositiveInt
from scipy.special import stdtrit

from epsilometer.errors import ArgumentError
from epsilometer.estimators.spectrum import epsilon_at
from epsilometer.exact.base import spectrum
from epsilometer.exact.real_line import ExactGaussian, ExactLaplace
from epsilometer.mechanisms.real_line import Gaussian, Laplace
from epsilometer.models import Fractional
from epsilometer_workflow.files.options import Epsilon
from epsilometer_workflow.reports.lu2022.accuracy import accuracy, cones
from epsilometer_workflow.reports.panels import Titles, in_order, with_curve

Claims = Annotated[list[NonNegativeFloat], Field(min_length=1)]

_CURVE = ["panel", "mechanism", "epsilon", "inputs", "estimator", "n"]
_POINT = [*_CURVE, "claim"]


def listing(*, columns: list[str], rows: list[list[str]]) -> pd.DataFrame:
    """Table 1: what the configuration says, row by row."""
    for row in rows:
        if len(row) != len(columns):
            raise ArgumentError("rows", f"must hold {len(columns)} entries each, got {row!r}")
    return pd.DataFrame(rows, columns=columns)


def _every_claim(data: list[Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options with every claim of the data from the first to the last asked for."""
    claims = options.get("claims")
    known = np.unique(pd.concat([rows["claim"] for rows in data]))
    low, high = (min(claims), max(claims)) if claims else (0, np.inf)
    return {**options, "claims": [c for c in known if low - 1e-9 <= c <= high + 1e-9]}


@with_curve(_every_claim)
def spectra(
    runs: list[pd.DataFrame], *, panels: Titles, claims: Claims | None = None, larger: bool = False
) -> pd.DataFrame:
    """Tabulate estimated and exact delta at each claim, in the direction from x to x'.

    Or, with ``larger``, the larger of both directions, and of the ends of their intervals.

    ``panels`` maps mechanisms, or ``mechanism inputs`` where these differ, to a curve's title.
    An estimate of the largest of all pairs is compared with the largest. ``low`` and ``high`` are
    the interval of one run; of several, Student's for their mean.
    """
    frame = _chosen(runs, panels, claims)
    if larger:
        for name in ("estimate", "low", "high", "truth"):
            frame[name] = frame[[name, f"{name}_reverse"]].max(axis=1)
    frame["above"] = frame["low"] > frame["truth"]
    cells = frame.groupby(_POINT, sort=False)
    table = cells.agg(
        runs=("run", "size"),
        delta=("estimate", "mean"),
        sd=("estimate", "std"),
        low=("low", "mean"),
        high=("high", "mean"),
        truth=("truth", "first"),
        above=("above", "mean"),
    ).reset_index()
    reach = stdtrit(table["runs"] - 1, 0.975) * table["sd"] / np.sqrt(table["runs"])
    several = table["runs"] > 1
    table.loc[several, "low"] = (table["delta"] - reach).clip(lower=0)[several]
    table.loc[several, "high"] = (table["delta"] + reach)[several]
    table["error"] = table["delta"] - table["truth"]
    return table.sort_values(
        ["panel", "claim"], key=in_order(panels), kind="stable", ignore_index=True
    )


def verdicts(runs: list[pd.DataFrame], *, panels: Titles) -> pd.DataFrame:
    """Say of each curve whether it refutes the promise (epsilon, 0), and how wrong it is at most.

    ``excess`` is the largest lower end of delta at the promised epsilon, over both directions, and
    ``refuted`` whether it is above 0.
    """
    frame = _chosen(runs, panels, None)
    rows = []
    for names, curve in frame.groupby(_CURVE, sort=False):
        key = dict(zip(_CURVE, names, strict=True))
        at = curve[np.isclose(curve["claim"], key["epsilon"])]
        if at.empty:
            raise ArgumentError("data", "must hold delta at the promised epsilon itself")
        excess, delta, truth = (
            at[[name, f"{name}_reverse"]].max(axis=1) for name in ("low", "estimate", "truth")
        )
        error = (curve["estimate"] - curve["truth"]).abs().max()
        shown = delta.mean(), excess.mean(), (excess > 0).mean(), truth.iloc[0], error
        rows.append((*names, curve["run"].nunique(), *shown))
    columns = ["runs", "delta", "excess", "refuted", "truth", "largest_error"]
    return pd.DataFrame(rows, columns=[*_CURVE, *columns])


@with_curve(_every_claim)
def classical(runs: list[pd.DataFrame], *, claims: Claims) -> pd.DataFrame:
    """Figure 6a: the classical bound of the Gaussian mechanism, 1.25 exp(-(claim sigma)^2 / 2).

    It is what sigma = sqrt(2 ln(1.25/delta))/claim says when it is solved for delta.
    """
    table = spectra(runs, panels={"gaussian": "Gaussian"}, claims=claims)
    sigma = np.array([Gaussian(epsilon).sigma for epsilon in table["epsilon"]])
    bound = 1.25 * np.exp(-((table["claim"] * sigma) ** 2) / 2)
    return table.assign(classical=np.minimum(bound, 1.0))


@with_curve(_every_claim)
def among_neighbours(
    runs: list[pd.DataFrame],
    *,
    mechanism: str,
    claims: Claims,
    epsilons: Annotated[list[Epsilon], Field(min_length=1)],
) -> pd.DataFrame:
    """Figures 10 and 11: an estimate among exact curves of nearly the same epsilon."""
    laws: dict[str, Any] = {
        "laplace": lambda epsilon: ExactLaplace(Laplace(epsilon)),
        "gaussian": lambda epsilon: ExactGaussian(Gaussian(epsilon)),
    }
    if mechanism not in laws:
        raise ArgumentError("mechanism", f"must be one of {', '.join(laws)}, got {mechanism!r}")
    table = spectra(runs, panels={mechanism: mechanism}, claims=claims)
    for epsilon in epsilons:
        table[f"exact_{epsilon:g}"] = spectrum(laws[mechanism](epsilon), table["claim"], 0.0, 1.0)
    return table


def accuracies(
    *,
    n: Annotated[list[PositiveInt], Field(min_length=1)],
    beta: Fractional,
    claim: NonNegativeFloat,
    dimensions: Annotated[list[PositiveInt], Field(min_length=1)],
) -> pd.DataFrame:
    """Figure 4c: alpha of kNN with n points, but for beta (Corollary 2, logarithm corrected)."""
    rows = [
        (d, cones(d), size, claim, beta, accuracy(claim, size, beta, d))
        for d, size in product(dimensions, n)
    ]
    return pd.DataFrame(rows, columns=["dimension", "cones", "n", "claim", "beta", "alpha"])


def bootstrapped(runs: pd.DataFrame, *, beta: Fractional) -> pd.DataFrame:
    """Figure 4d: the accuracy that the bootstrap tells, and the errors as they are, against n.

    ``alpha`` is half of the interval's width, ``error`` the quantile 1 - beta of |delta' - delta|.
    """
    frame = runs.assign(
        alpha=(runs["high"] - runs["low"]) / 2, error=(runs["estimate"] - runs["truth"]).abs()
    )
    cells = frame.groupby(["mechanism", "epsilon", "inputs", "n", "claim"], sort=False)
    table = cells.agg(
        runs=("run", "size"),
        alpha=("alpha", "mean"),
        error=("error", lambda values: values.quantile(1 - beta)),
        bias=("estimate", "mean"),
        truth=("truth", "first"),
    ).reset_index()
    table["bias"] -= table["truth"]
    theory = [
        accuracy(e, 2 * int(n), beta) for e, n in zip(table["claim"], table["n"], strict=True)
    ]
    return table.assign(theory=theory).sort_values(["claim", "n"], ignore_index=True)


def random_rows(runs: list[pd.DataFrame], *, claim: NonNegativeFloat) -> pd.DataFrame:
    """Figure 8: delta against the number of random rows."""
    frame = pd.concat(runs, ignore_index=True)
    frame = frame[np.isclose(frame["claim"], claim)]
    frame = frame.assign(rows=[json.loads(x)[0] for x in frame["x"]])
    cells = frame.groupby(["rows", "n", "claim"])
    table = cells.agg(
        runs=("run", "size"),
        delta=("estimate", "mean"),
        low=("low", "mean"),
        high=("high", "mean"),
        truth=("truth", "first"),
    ).reset_index()
    return table.assign(error=table["delta"] - table["truth"])


def coins(runs: list[pd.DataFrame]) -> pd.DataFrame:
    """Tabulate the spread over runs with a drawn and with an expected coin, at the same claims."""
    frame = pd.concat(runs, ignore_index=True)
    frame["coin"] = [json.loads(text).get("coin", "expected") for text in frame["settings"]]
    drawn = set(frame.loc[frame["coin"] == "drawn", "claim"].round(9))
    frame = frame[frame["claim"].round(9).isin(drawn)]
    table = frame.pivot_table(
        index=["mechanism", "epsilon", "inputs", "n", "claim"],
        columns="coin",
        values="estimate",
        aggfunc=["mean", "std", "size"],
    )
    table.columns = [f"{name}_{coin}" for name, coin in table.columns]
    table = table.reset_index()
    return table.assign(variance_saved=1 - (table["std_expected"] / table["std_drawn"]) ** 2)


def epsilons(
    runs: list[pd.DataFrame],
    *,
    panels: Titles,
    deltas: Annotated[list[Fractional], Field(min_length=1)],
) -> pd.DataFrame:
    """Invert the curves: the smallest epsilon at which each has at most a given delta.

    ``low`` and ``high`` invert the ends of the intervals; the exact curve is inverted likewise.
    """
    frame = _chosen(runs, panels, None)
    rows = []
    for names, curve in frame.groupby(_CURVE, sort=False):
        means = curve.groupby("claim")[["estimate", "low", "high", "truth"]].mean()
        for delta in deltas:
            inverted = {name: epsilon_at(delta, means.index, means[name]) for name in means}
            rows.append({**dict(zip(_CURVE, names, strict=True)), "delta": delta, **inverted})
    return pd.DataFrame(rows).rename(columns={"estimate": "at_delta"})


def _chosen(runs: list[pd.DataFrame], panels: Titles, claims: Claims | None) -> pd.DataFrame:
    """Return the rows of the curves that have a title, at the claims asked for."""
    frame = pd.concat(runs, ignore_index=True)
    both = frame["mechanism"] + " " + frame["inputs"]
    titles = both.map(panels).fillna(frame["mechanism"].map(panels))
    missing = sorted(set(panels) - set(both) - set(frame["mechanism"]))
    if missing:
        raise ArgumentError("panels", f"has {missing[0]!r}, which is not in the data")
    largest = np.array([json.loads(text).get("largest", False) for text in frame["settings"]])
    frame["truth"] = frame["truth"].where(~largest, frame["level"])
    frame = frame.assign(panel=titles)[titles.notna()]
    if frame.duplicated([*_POINT, "run"]).any():
        raise ArgumentError("data", "must hold one pair a curve, or the largest of all")
    if claims is None:
        return frame
    chosen = np.isclose(frame["claim"].to_numpy()[:, None], claims, atol=1e-9).any(axis=1)
    lost = [c for c in claims if not np.isclose(frame["claim"], c, atol=1e-9).any()]
    if lost:
        raise ArgumentError("claims", f"has {lost[0]:g}, which is not in the data")
    return frame[chosen]

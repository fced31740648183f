"""The tables of lu2022, and those behind its figures."""

from __future__ import annotations

import json
from itertools import product
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import Field, NonNegativeFloat, PositiveInt
from scipy.special import stdtrit

from epsilometer.errors import ArgumentError
from epsilometer.estimators.accuracy import accuracy, cones
from epsilometer.estimators.spectrum import epsilon_at
from epsilometer.exact.base import spectrum
from epsilometer.settings.models import Epsilon, Fractional
from epsilometer_workflow.reports.grouping import PAIRS, Law, grouped

Claims = Annotated[list[NonNegativeFloat], Field(min_length=1)]

_CURVE = ["panel", "mechanism", "epsilon", "inputs", "estimator", "n"]


def listing(*, columns: list[str], rows: list[list[str]]) -> pd.DataFrame:
    """Table 1: what the configuration says, row by row."""
    for row in rows:
        if len(row) != len(columns):
            raise ArgumentError("rows", f"must hold {len(columns)} entries each, got {row!r}")
    return pd.DataFrame(rows, columns=columns)


@grouped(across=PAIRS, first=_CURVE, order=["panel", "claim"], curve={"between": True})
def spectra(
    runs: pd.DataFrame, *, claims: Claims | None = None, larger: bool = False, between: bool = False
) -> pd.DataFrame:
    """Tabulate estimated and exact delta at each claim, in the direction from x to x'.

    Or, with ``larger``, the larger of both directions, and of the ends of their intervals; or,
    ``between``, at all claims of the data from the least to the largest. An estimate of the largest
    of all pairs is compared with the largest. ``low`` and ``high`` are the interval of one run; of
    several, Student's for their mean.
    """
    frame = _at(_curve(runs), claims, between=between)
    frame = _larger(frame) if larger else frame
    frame["above"] = frame["low"] > frame["truth"]
    cells = frame.groupby("claim", sort=False)
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
    return table.assign(error=table["delta"] - table["truth"])


@grouped(across=PAIRS, first=_CURVE)
def verdicts(runs: pd.DataFrame) -> pd.DataFrame:
    """Say of each curve whether it refutes the promise (epsilon, 0), and how wrong it is at most.

    ``excess`` is the largest lower end of delta at the promised epsilon, over both directions, and
    ``refuted`` whether it is above 0.
    """
    curve = _curve(runs)
    at = curve[np.isclose(curve["claim"], curve["epsilon"])]
    if at.empty:
        raise ArgumentError("data", "must hold delta at the promised epsilon itself")
    larger = _larger(at)
    row = {
        "runs": curve["run"].nunique(),
        "delta": larger["estimate"].mean(),
        "excess": larger["low"].mean(),
        "refuted": (larger["low"] > 0).mean(),
        "truth": larger["truth"].iloc[0],
        "largest_error": (curve["estimate"] - curve["truth"]).abs().max(),
    }
    return pd.DataFrame([row])


@grouped(across=PAIRS, first=_CURVE, order=["panel", "claim"], curve={"between": True})
def classical(
    runs: pd.DataFrame, law: Law, *, claims: Claims, between: bool = False
) -> pd.DataFrame:
    """Figure 6a: the classical bound of the Gaussian mechanism, 1.25 exp(-(claim sigma)^2 / 2).

    It is what sigma = sqrt(2 ln(1.25/delta))/claim says when it is solved for delta; a mechanism
    without Gaussian noise has none.
    """
    table = spectra(runs, claims=claims, between=between)
    sigma = getattr(law(float(runs["epsilon"].iloc[0])), "sigma", np.nan)
    bound = 1.25 * np.exp(-((table["claim"] * sigma) ** 2) / 2)
    return table.assign(classical=np.minimum(bound, 1.0))


@grouped(across=PAIRS, first=_CURVE, order=["panel", "claim"], curve={"between": True})
def among_neighbours(
    runs: pd.DataFrame,
    law: Law,
    *,
    claims: Claims,
    epsilons: Annotated[list[Epsilon], Field(min_length=1)],
    between: bool = False,
) -> pd.DataFrame:
    """Figures 10 and 11: an estimate among exact curves of nearly the same epsilon."""
    table = spectra(runs, claims=claims, between=between)
    inputs = [json.loads(runs[side].iloc[0]) for side in PAIRS]
    for epsilon in epsilons:
        distribution = law(epsilon)
        exact = np.nan if distribution is None else spectrum(distribution, table["claim"], *inputs)
        table[f"exact_{epsilon:g}"] = exact
    return table


def accuracies(
    *,
    n: Annotated[list[PositiveInt], Field(min_length=1)],
    beta: Fractional,
    claim: NonNegativeFloat,
    dimensions: Annotated[list[PositiveInt], Field(min_length=1)],
) -> pd.DataFrame:
    """Figure 4c: alpha of kNN with n points, but for beta (Corollary 2, logarithm corrected)."""
    rows = []
    for d, size in product(dimensions, n):
        row = {"dimension": d, "cones": cones(d), "n": size, "claim": claim, "beta": beta}
        rows.append(row | {"alpha": accuracy(claim, size, beta, d)})
    return pd.DataFrame(rows)


@grouped(first=["mechanism", "epsilon", "inputs", "n"], order=["claim", "n"])
def bootstrapped(runs: pd.DataFrame, *, beta: Fractional) -> pd.DataFrame:
    """Figure 4d: the accuracy that the bootstrap tells, and the errors as they are, against n.

    ``alpha`` is half of the interval's width, ``error`` the quantile 1 - beta of |delta' - delta|.
    """
    width = runs["high"] - runs["low"]
    error = runs["estimate"] - runs["truth"]
    cells = runs.assign(alpha=width / 2, error=error.abs()).groupby("claim", sort=False)
    table = cells.agg(runs=("run", "size"), alpha=("alpha", "mean"))
    table["error"] = cells["error"].quantile(1 - beta)
    table["truth"] = cells["truth"].first()
    table.insert(3, "bias", cells["estimate"].mean() - table["truth"])
    both = 2 * int(runs["n"].iloc[0])
    table["theory"] = [accuracy(claim, both, beta) for claim in table.index]
    return table.reset_index()


@grouped(across=PAIRS, order=["rows"])
def random_rows(runs: pd.DataFrame, *, claim: NonNegativeFloat) -> pd.DataFrame:
    """Figure 8: delta against the number of random rows."""
    frame = _at(runs, [claim])
    frame["rows"] = frame["x"].map(_rows_of)
    if frame.duplicated(["rows", "run"]).any():
        raise ArgumentError("data", "must hold one pair of inputs for each number of rows")
    table = frame.groupby(["rows", "n", "claim"]).agg(
        runs=("run", "size"),
        delta=("estimate", "mean"),
        low=("low", "mean"),
        high=("high", "mean"),
        truth=("truth", "first"),
    )
    return table.reset_index().assign(error=lambda rows: rows["delta"] - rows["truth"])


def _rows_of(text: str) -> int:
    """Return the number of rows of an input, which is that number and the bit of the known row."""
    match json.loads(text):
        case [int(rows), 0 | 1]:
            return rows
    raise ArgumentError("data", f"must have inputs of a number of rows and a bit, not {text}")


@grouped(across=["estimator", "settings"], first=["mechanism", "epsilon", "inputs", "n"])
def coins(runs: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the spread over runs with a drawn and with an expected coin, at the same claims."""
    frame = runs.assign(
        coin=[json.loads(text).get("coin", "expected") for text in runs["settings"]]
    )
    kinds = frame.groupby("coin")["estimator"].unique()
    if sorted(kinds.index) != ["drawn", "expected"] or (kinds.map(len) > 1).any():
        named = ", ".join(frame["estimator"].unique())
        raise ArgumentError("data", f"must hold one estimator a coin, drawn or expected; {named}")
    drawn = set(frame.loc[frame["coin"] == "drawn", "claim"].round(9))
    frame = frame[frame["claim"].round(9).isin(drawn)]
    table = frame.pivot_table(
        index="claim", columns="coin", values="estimate", aggfunc=["mean", "std", "size"]
    )
    table.columns = [f"{name}_{coin}" for name, coin in table.columns]
    table = table.reset_index()
    return table.assign(variance_saved=1 - (table["std_expected"] / table["std_drawn"]) ** 2)


@grouped(across=PAIRS, first=_CURVE)
def epsilons(
    runs: pd.DataFrame, *, deltas: Annotated[list[Fractional], Field(min_length=1)]
) -> pd.DataFrame:
    """Invert the curves: the smallest epsilon at which each has at most a given delta.

    ``low`` and ``high`` invert the ends of the intervals; the exact curve is inverted likewise.
    """
    means = _curve(runs).groupby("claim")[["estimate", "low", "high", "truth"]].mean()
    table = pd.DataFrame({"delta": deltas})
    for name, curve in means.items():
        table[name] = [epsilon_at(delta, means.index, curve) for delta in deltas]
    return table.rename(columns={"estimate": "at_delta"})


def _larger(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the larger of both directions, and of the ends of their intervals."""
    runs = runs.copy()
    for name in ("estimate", "low", "high", "truth"):
        runs[name] = runs[[name, f"{name}_reverse"]].max(axis=1)
    return runs


def _curve(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of one curve; an estimate of the largest of all pairs has its exact value."""
    if json.loads(runs["settings"].iloc[0]).get("largest", False):
        runs = runs.assign(truth=runs["level"])
    if runs.duplicated(["claim", "run"]).any():
        raise ArgumentError("data", "must hold one pair a curve, or the largest of all")
    return runs


def _at(frame: pd.DataFrame, claims: Claims | None, *, between: bool = False) -> pd.DataFrame:
    """Return the rows at the claims asked for, or between the least and the largest of them."""
    if claims is None:
        return frame.copy()
    if between:
        return frame[frame["claim"].between(min(claims) - 1e-9, max(claims) + 1e-9)].copy()
    near = np.isclose(frame["claim"].to_numpy()[:, None], claims, atol=1e-9)
    for claim, found in zip(claims, near.any(axis=0), strict=True):
        if not found:
            raise ArgumentError("claims", f"has {claim:g}, which is not in the data")
    return frame[near.any(axis=1)].copy()

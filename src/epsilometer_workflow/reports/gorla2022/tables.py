"""The tables of gorla2022, and those behind its figures.

Outputs and inputs are [0, 1] throughout (W = 1), as in the paper's experiments; B is the scale of
the truncated Laplace mechanism, whose pure level is 1/B.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt

from epsilometer.errors import ArgumentError, NoGuaranteeError
from epsilometer.estimators import planner
from epsilometer.exact.base import divergence
from epsilometer.exact.finite import ExactBernoulliPair
from epsilometer.exact.truncated import ExactTruncatedGaussian, ExactTruncatedLaplace
from epsilometer.mechanisms.finite import BernoulliPair
from epsilometer.mechanisms.truncated import TruncatedGaussian, TruncatedLaplace
from epsilometer.numerics.proportions import clopper_pearson
from epsilometer.settings.models import Epsilon, Fractional, Order
from epsilometer_workflow.reports.grouping import PAIRS, Law, grouped

TwoInputs = Annotated[list[float], Field(min_length=2, max_length=2)]
Values = Annotated[list[PositiveFloat], Field(min_length=1)]

_RUNG = ["epsilon", "lambda", "gamma", "cells", "n", "runs", "failures", "truth"]
_SHARES = ["share_within", "share_low", "share_high"]


def lipschitz_constants(*, scales: Values, sigmas: Values) -> pd.DataFrame:
    """Table I: C, D and epsilon of both mechanisms, and whether C < 2/W^2."""
    laws: list[Any] = []
    for scale in scales:
        laplace = TruncatedLaplace(1 / scale)
        laws.append(("truncated Laplace", scale, ExactTruncatedLaplace(laplace), 1 / scale))
    for sigma in sigmas:
        gaussian = TruncatedGaussian(1 / (2 * sigma**2))
        law = ExactTruncatedGaussian(gaussian)
        laws.append(("truncated Gaussian", sigma, law, gaussian.epsilon))
    rows = []
    for name, parameter, law, epsilon in laws:
        constants = {"D": law.lipschitz_input, "C": law.lipschitz_output}
        rows.append({"mechanism": name, "parameter": parameter} | constants | {"epsilon": epsilon})
    table = pd.DataFrame(rows)
    return table.assign(guaranteed=table["C"] < 2)


@grouped(across=PAIRS)
def all_pairs(
    summary: pd.DataFrame,
    law: Law,
    *,
    pairs: Annotated[list[TwoInputs], Field(min_length=1)],
    delta: Fractional,
) -> pd.DataFrame:
    """Tables II and IV: Algorithm 2 or 4 on a grid, at the pairs that the paper shows.

    The first row is the answer of the algorithm: the maximum over all pairs that succeeded. Pairs
    are given as printed, rounded to two digits; both directions count, as in Section III-D.
    """
    if (summary["runs"] > 1).any():
        raise ArgumentError("data", "must hold one run: the table shows one run of the algorithm")
    frame = _numbers(summary)
    points = len({*frame["x"], *frame["x_prime"]})
    keys = [frame[key].round(2) for key in frame]
    frame["estimate"] = summary[["mean", "mean_reverse"]].max(axis=1)
    frame["truth"] = summary[["truth", "truth_reverse"]].max(axis=1)
    frame = frame.join(summary[["n", "cells"]]).set_index(keys)
    answered = frame[frame["estimate"].notna()]
    best = answered.sort_values("estimate", kind="stable").tail(1)
    if best.empty:  # all failed
        best = frame.head(1).assign(x=np.nan, x_prime=np.nan, estimate=np.nan, truth=np.nan)
    rows = [{"pair": "maximum", **best.iloc[0]}]
    for x, x_prime in pairs:
        key = (min(x, x_prime), max(x, x_prime))
        if key not in frame.index:
            raise ArgumentError("pairs", f"has {[x, x_prime]}, {_nearest(key, frame)}")
        row = {"pair": f"{x:.2f} {x_prime:.2f}", **frame.loc[key]}
        if x > x_prime:  # both directions are in the estimate; only the labels swap
            row["x"], row["x_prime"] = row["x_prime"], row["x"]
        rows.append(row)
    first = summary.iloc[0]
    exact = law(float(summary["epsilon"].iloc[0]))
    goal = {"lipschitz": _constant(exact, "output"), "gamma": first["gamma"]}
    goal["order"] = float(first["lambda"])
    buckets = {"lipschitz_input": _constant(exact, "input"), **goal}
    return (
        pd.DataFrame(rows)
        .astype({"n": int, "cells": int})
        .assign(
            grid_points=points,
            planned_grid_points=_planned(planner.input_buckets, **buckets),
            pairs=len(frame),
            failures=int(summary["failures"].sum()),
            planned_n=_planned(planner.sample_size, **goal, delta=delta, union=False),
        )
    )


def _numbers(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the inputs of pairs, which must be numbers."""
    inputs = rows[[*PAIRS]].map(json.loads)
    if not inputs.map(lambda x: isinstance(x, int | float)).all(axis=None):
        raise ArgumentError("data", f"must have numbers as inputs, not {rows['x'].iloc[0]}")
    return inputs.astype(float)


def _nearest(pair: tuple[float, float], frame: pd.DataFrame) -> str:
    """Say that a pair is none of the grid, and which is the nearest."""
    distances = [math.dist(pair, known) for known in frame.index]
    nearest = [float(x) for x in frame.index[int(np.argmin(distances))]]
    return f"which is not a pair of the grid; the nearest of its {len(frame)} is {nearest}"


def _constant(law: Any, of: str) -> float:
    """Return a law's Lipschitz constant in the output or the input; NaN if it has none."""
    return float(getattr(law, f"lipschitz_{of}", math.nan))


def _planned(plan: Callable[..., float], **goal: Any) -> float:
    """Return what a theorem plans; NaN where it promises nothing, or something is not known."""
    if any(math.isnan(number) for number in goal.values()):
        return math.nan
    try:
        return plan(**goal)
    except NoGuaranteeError:
        return math.nan


@grouped(across=PAIRS, order=["-n"])
def over_inputs(
    runs: pd.DataFrame,
    law: Law,
    *,
    delta: Fractional,
    gammas: dict[str, PositiveFloat],
    settings: dict[str, str],
) -> pd.DataFrame:
    """Algorithms 2 and 4: how often the largest answer of all pairs is within gamma of the truth.

    ``gammas`` has the precision that the algorithm promises, by the estimator that it calls, and
    ``settings`` the title of inputs. An answer counts both directions, and no failed pair; a run in
    which all fail is a miss. Of each side, n_th is the n of the theorem, n_direct that without
    gamma/3 and sqrt(delta), and n_union that with a union over all pairs.
    """
    first = runs.iloc[0]
    inputs = _numbers(runs)
    estimator = first["estimator"]
    epsilon = first["epsilon"]
    order = float(first["lambda"])
    if estimator not in gammas:
        raise ArgumentError("gammas", f"lacks the estimator {estimator!r} of the data")
    if first["inputs"] not in settings:
        raise ArgumentError("settings", f"lacks the inputs {first['inputs']!r} of the data")
    gamma = gammas[estimator]
    setting = settings[first["inputs"]]
    if np.isclose(json.loads(first["settings"]).get("gamma", math.nan), gamma):
        setting += ", called with γ"
    exact = law(float(epsilon))
    level = math.nan
    if exact is not None:
        level = max(divergence(exact, order, 0.0, 1.0), divergence(exact, order, 1.0, 0.0))
    answers = runs[["estimate", "estimate_reverse"]].max(axis=1)
    largest = answers.groupby(runs["run"]).max()
    within = ((largest - level).abs() <= gamma).sum()
    low, high = clopper_pearson(within, len(largest))
    pairs = len(runs) // len(largest)
    plan = partial(_planned, planner.sample_size, lipschitz=_constant(exact, "output"), order=order)
    row = {
        "setting": f"ε = {epsilon:.3g}, {setting}",
        **first[["mechanism", "lambda", "cells", "n"]],
        "k": len({*inputs["x"], *inputs["x_prime"]}),
        "gamma": gamma,
        "n_th": plan(gamma=gamma / 3, delta=math.sqrt(delta), union=False),
        "n_direct": plan(gamma=gamma, delta=delta, union=False),
        "n_union": plan(gamma=gamma / 3, delta=1 - (1 - delta) / pairs),
        "runs": len(largest),
        "failed": largest.isna().sum(),
        "level": level,
        "mean": largest.mean(),
        "sd": largest.std(),
        "share_within": within / len(largest),
        "share_low": float(low),
        "share_high": float(high),
        "delta": delta,
    }
    return pd.DataFrame([row])


@grouped(across=["n"], order=["epsilon", "-gamma"])
def sample_sizes(summary: pd.DataFrame, *, delta: Fractional) -> pd.DataFrame:
    """Tables III and V: what the theorem asks for (n_th), and what was enough in practice (n_pr).

    Beside n_th: the n of the union bound that Theorem 2 needs, the confidence that this bound gives
    at n_th, and the share of runs within gamma at the largest n searched. ``n_pr`` is NaN where no
    n up to ``searched_to`` was enough.
    """
    last = summary.loc[summary["n"].idxmax()]
    goal = _goal_of(summary)
    n_th = _planned(planner.sample_size, **goal, delta=delta, union=False)
    row = {
        "epsilon": last["epsilon"],
        "scale": 1 / last["epsilon"],
        "C": goal["lipschitz"],
        "level": last["truth"],
        "gamma": goal["gamma"],
        "n_th": n_th,
        "n_pr": _smallest_sufficient_n(summary, delta),
        "m": last["cells"],
        "n_th_union": _planned(planner.sample_size, **goal, delta=delta),
        "confidence_union": 1 - _planned(planner.failure_bound, n=n_th, **goal),
        "runs": last["runs"],
        "searched_to": last["n"],
        "share_at_last": last["share_within"],
    }
    integers = ["n_th", "n_pr", "m", "n_th_union", "runs", "searched_to"]
    table = pd.DataFrame([row]).astype(dict.fromkeys(integers, "Int64"))
    return table.assign(confidence_union=table["confidence_union"].clip(lower=0))


def _goal_of(search: pd.DataFrame) -> dict[str, float]:
    """Return what a search is to reach, with the Lipschitz constant that is claimed."""
    first = search.iloc[0]
    goal = {"lipschitz": first["claimed_lipschitz"], "gamma": first["gamma"]}
    return goal | {"order": float(first["lambda"])}


@grouped(across=["n"])
def searches(summary: pd.DataFrame) -> pd.DataFrame:
    """List every rung of the searches for n_PR, with the share of runs within gamma."""
    return summary[[*_RUNG, "mean", *_SHARES]]


@grouped(across=["n"])
def convergence(summary: pd.DataFrame, *, delta: Fractional) -> pd.DataFrame:
    """Figures 3 and 7: mean, spread and share within gamma against n, for one search."""
    n_th = _planned(planner.sample_size, **_goal_of(summary), delta=delta, union=False)
    n_pr = _smallest_sufficient_n(summary, delta)
    return summary[[*_RUNG, "mean", "sd", *_SHARES]].assign(delta=delta, n_th=n_th, n_pr=n_pr)


@grouped(curve={"between": 100})
def planned_samples(
    *,
    gamma: PositiveFloat,
    delta: Fractional,
    lipschitz: PositiveFloat,
    gammas: Values,
    deltas: Annotated[list[Fractional], Field(min_length=1)],
    lipschitzes: Values,
    order: Order = math.inf,
    orders: list[Order] | None = None,
    between: NonNegativeInt = 0,
) -> pd.DataFrame:
    """Figures 2 and 6: n of the theorem as published, one parameter varying, the others fixed.

    Or, with so many values ``between``, at these, from the least to the largest of each list.
    """
    fixed = {"gamma": gamma, "delta": delta, "lipschitz": lipschitz, "order": order}
    varied = {"delta": deltas, "gamma": gammas, "lipschitz": lipschitzes, "order": orders or []}
    rows = []
    for name, values in varied.items():
        if between and len(values) > 1:
            values = np.linspace(min(values), max(values), between).tolist()  # noqa: PLW2901
        for value in values:
            n = planner.sample_size(**fixed | {name: value}, union=False)
            log_n = math.log(n)  # n may be beyond 64 bits
            rows.append({"varied": name, "value": value, "n": float(n), "log_n": log_n})
    return pd.DataFrame(rows)


def cell_means(
    *, epsilon: Epsilon, cells: PositiveInt, gamma: PositiveFloat, points: PositiveInt
) -> pd.DataFrame:
    """Figure 1: a smooth density against its cell means (a), and the two log ratios (b)."""
    law = ExactTruncatedLaplace(TruncatedLaplace(epsilon))
    z = np.linspace(0, 1, points)
    edges = np.linspace(0, 1, cells + 1)
    cell = np.minimum((z * cells).astype(int), cells - 1)
    p = law.pdf(z, 0.0)
    q = law.pdf(z, 1.0)
    p_cells = np.diff(law.cdf(edges, 0.0))
    q_cells = np.diff(law.cdf(edges, 1.0))
    table = pd.DataFrame({"z": z, "cell": cell, "density": p})
    return table.assign(
        cell_mean=p_cells[cell] * cells,
        log_ratio=np.log(p / q),
        cell_log_ratio=np.log(p_cells / q_cells)[cell],
        truth=law.privacy_loss(0.0, 1.0),
        gamma=gamma,
        lipschitz=law.lipschitz_output,
    )


def bernoulli_pair(
    *, gamma: PositiveFloat, delta: Fractional, budget: PositiveInt, order: Order
) -> pd.DataFrame:
    """Figure 5: the two coins of the impossibility proof, for an estimator that answers 0."""
    parts = []
    for which in (math.inf, order):
        pair = BernoulliPair.against(0.0, gamma=gamma, budget=budget, delta=delta, order=which)
        law = ExactBernoulliPair(pair)
        coins = {
            "order": which,
            "x": [0, 0, 1, 1],
            "outcome": [0, 1, 0, 1],
            "probability": [*law.probabilities(0), *law.probabilities(1)],
            "log_h": pair.epsilon,
            "level": divergence(law, which, 0, 1),
            "budget": budget,
            "zeros_only": float(np.prod((1 - np.array(pair.chances)) ** (budget / 2))),
        }
        parts.append(pd.DataFrame(coins))
    return pd.concat(parts, ignore_index=True)


@grouped(order=["estimator", "actual_C"])
def safety_check(
    summary: pd.DataFrame, *, claimed: PositiveFloat, probability: Fractional
) -> pd.DataFrame:
    """Figure 4: the share of runs that pass against the actual C, for the claim and the truth."""
    table = summary.rename(columns={"claimed_lipschitz": "actual_C", "mean": "share_passing"})
    passing = (table["share_passing"] * table["runs"]).round()
    low, high = clopper_pearson(passing, table["runs"])
    columns = ["estimator", "epsilon", "actual_C", "cells", "n", "runs", "share_passing"]
    return table[columns].assign(low=low, high=high, claimed_C=claimed, required=probability)


@grouped(across=["n"])
def impossibility(summary: pd.DataFrame) -> pd.DataFrame:
    """Beyond the paper: every estimator's answer on the pair built to defeat it, against n.

    The pair's budget and the confidence it defeats are its mechanism's parameters.
    """
    table = summary.rename(columns={"mean": "answer"})
    built = pd.DataFrame(table["parameters"].map(json.loads).tolist(), index=table.index)
    if not {"budget", "delta"} <= set(built):
        raise ArgumentError("data", "must hold Bernoulli pairs, which have a budget and a delta")
    table["budget"] = built["budget"]
    columns = ["estimator", "lambda", "mechanism", "budget", "n", "runs", "failures"]
    columns += ["answer", "truth", "gamma"]
    return table[columns].assign(
        share_wrong=1 - table["share_within"],
        share_wrong_low=1 - table["share_high"],
        share_wrong_high=1 - table["share_low"],
        delta=built["delta"],
    )


def _smallest_sufficient_n(summary: pd.DataFrame, delta: float) -> float:
    """Return the smallest n of a search whose share within gamma reaches delta; NaN if none does.

    The search looks at half octaves (`epsilometer.densities.histogram`), each run's prefixes of one
    sample, so the answer is at most a factor of 1.5 above the smallest n there is.
    """
    return float(summary.loc[summary["share_within"] >= delta, "n"].min())

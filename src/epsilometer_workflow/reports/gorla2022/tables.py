"""The tables of gorla2022, and those behind its figures.

Outputs and inputs are [0, 1] throughout (W = 1), as in the paper's experiments; B is the scale of
the truncated Laplace mechanism, whose pure level is 1/B.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field, PositiveFloat, PositiveInt

from epsilometer.errors import ArgumentError, NoGuaranteeError
from epsilometer.estimators import planner
from epsilometer.exact.base import divergence
from epsilometer.exact.finite import ExactBernoulliPair
from epsilometer.exact.truncated import ExactTruncatedGaussian, ExactTruncatedLaplace
from epsilometer.mechanisms.finite import BernoulliPair
from epsilometer.mechanisms.truncated import TruncatedGaussian, TruncatedLaplace
from epsilometer.models import Fractional
from epsilometer.proportions import clopper_pearson
from epsilometer_workflow.files.options import Epsilon, Order
from epsilometer_workflow.reports.grouping import PAIRS, Law, grouped

TwoInputs = Annotated[list[float], Field(min_length=2, max_length=2)]
Values = Annotated[list[PositiveFloat], Field(min_length=1)]

_RUNG = ["epsilon", "lambda", "gamma", "cells", "n", "runs", "failures", "truth"]
_SHARES = ["share_within", "share_low", "share_high"]


def lipschitz_constants(*, scales: Values, sigmas: Values) -> pd.DataFrame:
    """Table I: C, D and epsilon of both mechanisms, and whether C < 2/W^2."""
    rows: list[Any] = []
    for scale in scales:
        laplace = TruncatedLaplace(1 / scale)
        rows.append(("truncated Laplace", scale, ExactTruncatedLaplace(laplace), 1 / scale))
    for sigma in sigmas:
        gaussian = TruncatedGaussian(1 / (2 * sigma**2))
        law = ExactTruncatedGaussian(gaussian)
        rows.append(("truncated Gaussian", sigma, law, gaussian.epsilon))
    table = pd.DataFrame(
        [(*names, law.lipschitz_input, law.lipschitz_output, eps) for *names, law, eps in rows],
        columns=["mechanism", "parameter", "D", "C", "epsilon"],
    )
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
    frame = _numbers(summary)
    keys = [frame[key].round(2) for key in frame]
    frame["estimate"] = summary[["mean", "mean_reverse"]].max(axis=1)
    frame["truth"] = summary[["truth", "truth_reverse"]].max(axis=1)
    frame = frame.join(summary[["n", "cells"]]).set_index(keys)
    if (summary["runs"] > 1).any():
        raise ArgumentError("data", "must hold one run: the table shows one run of the algorithm")
    answered = frame["estimate"].notna()
    best = frame[answered].sort_values("estimate", kind="stable").tail(1)  # none if all failed
    maximum = best.iloc[0] if len(best) else frame.iloc[0].where(frame.columns.isin(["n", "cells"]))
    rows = [{"pair": "maximum"} | maximum.to_dict()]
    for x, x_prime in pairs:
        key = (min(x, x_prime), max(x, x_prime))
        if key not in frame.index:
            raise ArgumentError("pairs", f"has {[x, x_prime]}, {_nearest(key, frame)}")
        row = {"pair": f"{x:.2f} {x_prime:.2f}"} | frame.loc[key].to_dict()
        if x > x_prime:  # both directions are in the estimate; only the labels swap
            row["x"], row["x_prime"] = row["x_prime"], row["x"]
        rows.append(row)
    first = summary.iloc[0]
    goal = _goal(law(float(first["epsilon"])), first["lambda"])
    buckets = _planned(planner.input_buckets, gamma=first["gamma"], **goal)
    n = _planned_n(goal, gamma=first["gamma"], delta=delta, union=False)  # as the paper plans
    return (
        pd.DataFrame(rows)
        .astype({"n": int, "cells": int})
        .assign(
            grid_points=len({*frame["x"], *frame["x_prime"]}),
            planned_grid_points=buckets,
            pairs=len(frame),
            failures=int(summary["failures"].sum()),
            planned_n=n,
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


def _goal(law: Any, order: str) -> dict[str, Any]:
    """Return what plans need of a law: its Lipschitz constants, if it has any, and the order."""
    names = {"lipschitz": "lipschitz_output", "lipschitz_input": "lipschitz_input"}
    known = {name: getattr(law, of) for name, of in names.items() if hasattr(law, of)}
    return {"order": float(order), **known}


def _planned(plan: Callable[..., float], **goal: Any) -> float:
    """Return what a theorem plans; NaN where it promises nothing."""
    if "lipschitz" not in goal or any(math.isnan(number) for number in goal.values()):
        return math.nan
    try:
        return plan(**goal)
    except NoGuaranteeError:
        return math.nan


def _planned_n(goal: Mapping[str, Any], **more: Any) -> float:
    """Return the theorem's number of samples a side."""
    known = {name: value for name, value in goal.items() if name != "lipschitz_input"}
    return _planned(planner.sample_size, **known, **more)


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
    first, exact, answers = runs.iloc[0], _numbers(runs), runs[["estimate", "estimate_reverse"]]
    if first["estimator"] not in gammas:
        raise ArgumentError("gammas", f"lacks the estimator {first['estimator']!r} of the data")
    if first["inputs"] not in settings:
        raise ArgumentError("settings", f"lacks the inputs {first['inputs']!r} of the data")
    gamma, epsilon, order = gammas[first["estimator"]], first["epsilon"], float(first["lambda"])
    distribution = law(float(epsilon))
    level = math.nan
    if distribution is not None:
        level = max(divergence(distribution, order, *ends) for ends in ((0.0, 1.0), (1.0, 0.0)))
    largest = answers.max(axis=1).groupby(runs["run"]).max()
    within = ((largest - level).abs() <= gamma).sum()
    low, high = clopper_pearson(within, len(largest))
    called = json.loads(first["settings"]).get("gamma", math.nan)
    setting = settings[first["inputs"]] + (", called with γ" if np.isclose(called, gamma) else "")
    goal, pairs = _goal(distribution, first["lambda"]), len(runs) // len(largest)
    row = {
        "setting": f"ε = {epsilon:.3g}, {setting}",
        **{name: first[name] for name in ("mechanism", "lambda", "cells", "n")},
        "k": len({*exact["x"], *exact["x_prime"]}),
        "gamma": gamma,
        "n_th": _planned_n(goal, gamma=gamma / 3, delta=math.sqrt(delta), union=False),
        "n_direct": _planned_n(goal, gamma=gamma, delta=delta, union=False),
        "n_union": _planned_n(goal, gamma=gamma / 3, delta=1 - (1 - delta) / pairs),
        "runs": len(largest),
        "failed": largest.isna().sum(),
        "level": level,
        "mean": largest.mean(),
        "sd": largest.std(),
        **dict(zip(_SHARES, (within / len(largest), float(low), float(high)), strict=True)),
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
    epsilon, lipschitz, gamma = (float(last[k]) for k in ("epsilon", "claimed_lipschitz", "gamma"))
    goal = {"lipschitz": lipschitz, "order": float(last["lambda"]), "gamma": gamma}
    n_th = _planned_n(goal, delta=delta, union=False)
    row = {
        "epsilon": epsilon,
        "scale": 1 / epsilon,
        "C": lipschitz,
        "level": last["truth"],
        "gamma": gamma,
        "n_th": n_th,
        "n_pr": _smallest_sufficient_n(summary, delta),
        "m": last["cells"],
        "n_th_union": _planned_n(goal, delta=delta),
        "confidence_union": 1 - _planned(planner.failure_bound, n=n_th, **goal),
        "runs": last["runs"],
        "searched_to": last["n"],
        "share_at_last": last["share_within"],
    }
    integers = ["n_th", "n_pr", "m", "n_th_union", "runs", "searched_to"]
    table = pd.DataFrame([row]).astype(dict.fromkeys(integers, "Int64"))
    return table.assign(confidence_union=table["confidence_union"].clip(lower=0))


@grouped(across=["n"])
def searches(summary: pd.DataFrame) -> pd.DataFrame:
    """List every rung of the searches for n_PR, with the share of runs within gamma."""
    return summary[[*_RUNG, "mean", *_SHARES]]


@grouped(across=["n"])
def convergence(summary: pd.DataFrame, *, delta: Fractional) -> pd.DataFrame:
    """Figures 3 and 7: mean, spread and share within gamma against n, for one search."""
    first = summary.iloc[0]
    goal = {"lipschitz": first["claimed_lipschitz"], "order": float(first["lambda"])}
    n_th = _planned_n(goal, gamma=first["gamma"], delta=delta, union=False)
    return summary[[*_RUNG, "mean", "sd", *_SHARES]].assign(
        delta=delta, n_th=n_th, n_pr=_smallest_sufficient_n(summary, delta)
    )


def _evenly(_: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options with 100 values from the least to the largest of each list."""
    lists = {name: v for name, v in options.items() if isinstance(v, list) and len(v) > 1}
    return {**options, **{k: np.linspace(min(v), max(v), 100).tolist() for k, v in lists.items()}}


@grouped(curve=_evenly)
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
) -> pd.DataFrame:
    """Figures 2 and 6: n of the theorem as published, one parameter varying, the others fixed."""
    fixed: dict[str, Any] = {"gamma": gamma, "delta": delta, "lipschitz": lipschitz, "order": order}
    fixed["union"] = False
    varied = {"delta": deltas, "gamma": gammas, "lipschitz": lipschitzes, "order": orders or []}
    rows = [(name, value) for name, values in varied.items() for value in values]
    n = [planner.sample_size(**fixed | {name: value}) for name, value in rows]
    table = pd.DataFrame(rows, columns=["varied", "value"])
    return table.assign(n=list(map(float, n)), log_n=list(map(math.log, n)))  # beyond 64 bits


def cell_means(
    *, epsilon: Epsilon, cells: PositiveInt, gamma: PositiveFloat, points: PositiveInt
) -> pd.DataFrame:
    """Figure 1: a smooth density against its cell means (a), and the two log ratios (b)."""
    law = ExactTruncatedLaplace(TruncatedLaplace(epsilon))
    z = np.linspace(0, 1, points)
    edges = np.linspace(0, 1, cells + 1)
    cell = np.minimum((z * cells).astype(int), cells - 1)
    p, q = (np.diff(law.cdf(edges, x)) for x in (0.0, 1.0))
    return pd.DataFrame(
        {
            "z": z,
            "cell": cell,
            "density": law.pdf(z, 0.0),
            "cell_mean": p[cell] * cells,
            "log_ratio": np.log(law.pdf(z, 0.0) / law.pdf(z, 1.0)),
            "cell_log_ratio": np.log(p / q)[cell],
            "truth": law.privacy_loss(0.0, 1.0),
            "gamma": gamma,
            "lipschitz": law.lipschitz_output,
        }
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
    built = pd.DataFrame([json.loads(text) for text in table["parameters"]], index=table.index)
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

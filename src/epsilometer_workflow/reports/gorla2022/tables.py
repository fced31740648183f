"""The tables of gorla2022, and those behind its figures.

Outputs and inputs are [0, 1] throughout (W = 1), as in the paper's experiments; B is the scale of
the truncated Laplace mechanism, whose pure level is 1/B.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
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
from epsilometer_workflow.reports.panels import with_curve

TwoInputs = Annotated[list[float], Field(min_length=2, max_length=2)]
Values = Annotated[list[PositiveFloat], Field(min_length=1)]

_RUNG = ["epsilon", "lambda", "gamma", "cells", "n", "runs", "failures", "truth"]
_SHARES = ["share_within", "share_low", "share_high"]
_CALL = ["mechanism", "epsilon", "inputs", "lambda", "estimator", "cells", "n"]


def _laplace(epsilon: float) -> ExactTruncatedLaplace:
    return ExactTruncatedLaplace(TruncatedLaplace(epsilon))


def lipschitz_constants(*, scales: Values, sigmas: Values) -> pd.DataFrame:
    """Table I: C, D and epsilon of both mechanisms, and whether C < 2/W^2."""
    laws: list[tuple[str, float, float, ExactTruncatedLaplace | ExactTruncatedGaussian]] = [
        ("truncated Laplace", scale, 1 / scale, _laplace(1 / scale)) for scale in scales
    ]
    for sigma in sigmas:
        gaussian = TruncatedGaussian(1 / (2 * sigma**2))
        law = ExactTruncatedGaussian(gaussian)
        laws.append(("truncated Gaussian", sigma, gaussian.epsilon, law))
    rows = [
        (*names, law.lipschitz_input, law.lipschitz_output, epsilon)
        for *names, epsilon, law in laws
    ]
    table = pd.DataFrame(rows, columns=["mechanism", "parameter", "D", "C", "epsilon"])
    return table.assign(guaranteed=table["C"] < 2)


def all_pairs(
    summary: pd.DataFrame,
    *,
    pairs: Annotated[list[TwoInputs], Field(min_length=1)],
    gamma: PositiveFloat,
    delta: Fractional,
    order: Order = math.inf,
) -> pd.DataFrame:
    """Tables II and IV: Algorithm 2 or 4 on a grid, at the pairs that the paper shows.

    The first row is the answer of the algorithm: the maximum over all pairs that succeeded. Pairs
    are given as printed, rounded to two digits; both directions count, as in Section III-D.
    """
    frame = summary[["x", "x_prime"]].astype(float)
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
            raise ArgumentError("pairs", f"has {[x, x_prime]}, which is not a pair of the grid")
        row = {"pair": f"{x:.2f} {x_prime:.2f}"} | frame.loc[key].to_dict()
        if x > x_prime:  # both directions are in the estimate; only the labels swap
            row["x"], row["x_prime"] = row["x_prime"], row["x"]
        rows.append(row)
    law = _laplace(float(summary["epsilon"].iloc[0]))
    goal: dict[str, Any] = {"gamma": gamma, "lipschitz": law.lipschitz_output, "order": order}
    buckets = planner.input_buckets(**goal, lipschitz_input=law.lipschitz_input)
    return (
        pd.DataFrame(rows)
        .astype({"n": int, "cells": int})
        .assign(
            grid_points=len({*frame["x"], *frame["x_prime"]}),
            planned_grid_points=buckets,
            pairs=len(frame),
            failures=int(summary["failures"].sum()),
            planned_n=planner.sample_size(**goal, delta=delta, union=False),  # as the paper plans
        )
    )


def over_inputs(
    runs: list[pd.DataFrame],
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
    frame = pd.concat(runs, ignore_index=True)
    lost = {*frame["estimator"]} - {*gammas} | {*frame["inputs"]} - {*settings}
    if lost:
        raise ArgumentError("gammas", f"or settings lack {min(lost)!r}, which is in the data")
    frame["answer"] = frame[["estimate", "estimate_reverse"]].max(axis=1)
    rows = []
    for names, calls in frame.groupby(_CALL, sort=False):
        call = dict(zip(_CALL, names, strict=True))
        gamma, order, law = gammas[call["estimator"]], float(call["lambda"]), _laplace(names[1])
        level = max(divergence(law, order, 0.0, 1.0), divergence(law, order, 1.0, 0.0))
        answers = calls.groupby("run")["answer"].max()
        within = ((answers - level).abs() <= gamma).sum()
        low, high = clopper_pearson(within, len(answers))
        direct = np.isclose(json.loads(calls["settings"].iloc[0])["gamma"], gamma)
        setting = settings[call["inputs"]] + (", called with γ" if direct else "")
        goal: dict[str, Any] = {"lipschitz": law.lipschitz_output, "order": order}
        third = goal | {"gamma": gamma / 3}
        pairs = len(calls) // len(answers)
        rows.append(
            {
                "setting": f"ε = {call['epsilon']:.3g}, {setting}",
                **{name: call[name] for name in ("mechanism", "lambda", "cells", "n")},
                "k": len({*calls["x"], *calls["x_prime"]}),
                "gamma": gamma,
                "n_th": planner.sample_size(**third, delta=math.sqrt(delta), union=False),
                "n_direct": planner.sample_size(**goal, gamma=gamma, delta=delta, union=False),
                "n_union": planner.sample_size(**third, delta=1 - (1 - delta) / pairs),
                "runs": len(answers),
                "failed": answers.isna().sum(),
                "level": level,
                "mean": answers.mean(),
                "sd": answers.std(),
                **dict(zip(_SHARES, (within / len(answers), float(low), float(high)), strict=True)),
                "delta": delta,
            }
        )
    return pd.DataFrame(rows).sort_values("n", ascending=False, kind="stable", ignore_index=True)


def sample_sizes(summaries: list[pd.DataFrame], *, delta: Fractional) -> pd.DataFrame:
    """Tables III and V: what the theorem asks for (n_th), and what was enough in practice (n_pr).

    Beside n_th: the n of the union bound that Theorem 2 needs, the confidence that this bound gives
    at n_th, and the share of runs within gamma at the largest n searched. ``n_pr`` is NaN where no
    n up to ``searched_to`` was enough.
    """
    summary = pd.concat(summaries, ignore_index=True)
    rows = []
    for (epsilon, order, gamma), search in summary.groupby(["epsilon", "lambda", "gamma"]):
        lipschitz = float(search["claimed_lipschitz"].iloc[0])
        n_th, n_union = _theory(gamma, delta, lipschitz, float(order))
        last = search.loc[search["n"].idxmax()]
        rows.append(
            {
                "epsilon": epsilon,
                "scale": 1 / epsilon,
                "C": lipschitz,
                "level": last["truth"],
                "gamma": gamma,
                "n_th": n_th,
                "n_pr": _smallest_sufficient_n(search, delta),
                "m": last["cells"],
                "n_th_union": n_union,
                "confidence_union": _confidence(n_th, gamma, lipschitz, float(order)),
                "runs": last["runs"],
                "searched_to": last["n"],
                "share_at_last": last["share_within"],
            }
        )
    table = pd.DataFrame(rows).sort_values(["epsilon", "gamma"], ascending=[True, False])
    integers = ["n_th", "n_pr", "m", "n_th_union", "runs", "searched_to"]
    return table.astype(dict.fromkeys(integers, "Int64")).reset_index(drop=True)


def _theory(gamma: float, delta: float, lipschitz: float, order: float) -> tuple[float, float]:
    goal: dict[str, Any] = {"gamma": gamma, "delta": delta, "lipschitz": lipschitz, "order": order}
    try:
        return planner.sample_size(**goal, union=False), planner.sample_size(**goal)
    except NoGuaranteeError:
        return math.nan, math.nan


def _confidence(n: float, gamma: float, lipschitz: float, order: float) -> float:
    """Return what the union bound promises at n; NaN without a guarantee."""
    if math.isnan(n):
        return math.nan
    goal: dict[str, Any] = {"gamma": gamma, "lipschitz": lipschitz, "order": order}
    return max(0.0, 1 - planner.failure_bound(int(n), **goal))


def searches(summaries: list[pd.DataFrame]) -> pd.DataFrame:
    """List every rung of the searches for n_PR, with the share of runs within gamma."""
    return pd.concat(summaries, ignore_index=True)[[*_RUNG, "mean", *_SHARES]]


def convergence(
    summary: pd.DataFrame, *, epsilon: Epsilon, gamma: PositiveFloat, delta: Fractional
) -> pd.DataFrame:
    """Figures 3 and 7: mean, spread and share within gamma against n, for one search."""
    chosen = summary[np.isclose(summary["epsilon"], epsilon) & np.isclose(summary["gamma"], gamma)]
    if chosen.empty:
        known = sorted(set(zip(summary["epsilon"], summary["gamma"], strict=True)))
        known_pairs = ", ".join(f"{e:g} with {g:g}" for e, g in known)
        raise ArgumentError("epsilon", f"and gamma must be one of the grid's: {known_pairs}")
    first = chosen.iloc[0]
    n_th, _ = _theory(gamma, delta, first["claimed_lipschitz"], float(first["lambda"]))
    return chosen[[*_RUNG, "mean", "sd", *_SHARES]].assign(
        delta=delta, n_th=n_th, n_pr=_smallest_sufficient_n(chosen, delta)
    )


def _evenly(_: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options with 100 values from the least to the largest of each list."""
    lists = {name: v for name, v in options.items() if isinstance(v, list) and len(v) > 1}
    return {**options, **{k: np.linspace(min(v), max(v), 100).tolist() for k, v in lists.items()}}


@with_curve(_evenly)
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
    law = _laplace(epsilon)
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


def safety_check(
    summary: pd.DataFrame, *, claimed: PositiveFloat, probability: Fractional
) -> pd.DataFrame:
    """Figure 4: the share of runs that pass against the actual C, for the claim and the truth."""
    table = summary.rename(columns={"claimed_lipschitz": "actual_C", "mean": "share_passing"})
    passing = (table["share_passing"] * table["runs"]).round()
    low, high = clopper_pearson(passing, table["runs"])
    columns = ["estimator", "epsilon", "actual_C", "cells", "n", "runs", "share_passing"]
    table = table[columns].assign(low=low, high=high, claimed_C=claimed, required=probability)
    return table.sort_values(["estimator", "actual_C"], ignore_index=True)


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

"""The tables of askin2022, and those behind its figures."""

from __future__ import annotations

import json
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import Field, PositiveFloat

from epsilometer import checks
from epsilometer.densities.kernel import density_at, density_on_grid, nrd0
from epsilometer.errors import ArgumentError
from epsilometer.estimators.local_loss import signed_loss
from epsilometer.exact.finite import ExactRandomizedResponse
from epsilometer.exact.real_line import ExactGaussian, ExactLaplace
from epsilometer.mechanisms.finite import RandomizedResponse
from epsilometer.mechanisms.real_line import Gaussian, Laplace
from epsilometer.numerics.proportions import clopper_pearson
from epsilometer.settings.models import Epsilon, Fractional
from epsilometer_workflow.reports.grouping import PAIRS, Law, grouped

Points = Annotated[int, Field(ge=2)]


Ends = Annotated[list[float], Field(min_length=2, max_length=2)]

# What an entry of the configuration that begins so is called in a legend.
_KINDS = {"mpl": "MPL", "largest-loss": "estimate"}


@grouped(across=PAIRS)
def density_estimate(
    samples: pd.DataFrame, law: Law, *, points: Points, reach: PositiveFloat
) -> pd.DataFrame:
    """Figure 1: a density, its kernel estimate, and the draws it was made of.

    Rows of kind ``curve`` have density and estimate at ``z``; one of kind ``draw`` is a draw.
    """
    draws = _two_sides(samples)[0]
    z = np.linspace(-reach, reach, points)
    bandwidth = nrd0(draws)
    curve = pd.DataFrame({"kind": "curve", "z": z, "density": _densities(samples, law, z)[0]})
    curve = curve.assign(estimate=density_at(draws, z, bandwidth), bandwidth=bandwidth)
    return pd.concat([curve, pd.DataFrame({"kind": "draw", "z": np.sort(draws)})])


def _two_sides(samples: pd.DataFrame) -> list[np.ndarray]:
    """Return the draws of both sides in the first run."""
    first = samples[samples["run"] == samples["run"].min()]
    sides = [np.asarray(side["output"], float) for _, side in first.groupby("side")]
    if len(sides) != 2:
        raise ArgumentError("data", f"must hold samples of two inputs, got {len(sides)}")
    return sides


def _densities(samples: pd.DataFrame, law: Law, z: np.ndarray) -> list[np.ndarray]:
    """Return the exact density at both inputs; NaN for a mechanism without a known one."""
    distribution = law(float(samples["epsilon"].iloc[0]))
    densities = []
    for text in samples.groupby("side")["x"].first():
        if hasattr(distribution, "pdf"):
            densities.append(distribution.pdf(z, json.loads(text)))
        else:
            densities.append(np.full(z.size, np.nan))
    return densities


def losses(
    *, epsilon: Epsilon, sigma: PositiveFloat, points: Points, reach: PositiveFloat
) -> pd.DataFrame:
    """Figure 2: densities and losses of three mechanisms on the inputs 0 and 1."""
    response = ExactRandomizedResponse(RandomizedResponse(epsilon))
    laplace = ExactLaplace(Laplace(epsilon))
    gaussian = ExactGaussian(Gaussian(Gaussian(1.0).sigma / sigma))  # sigma goes as 1/epsilon
    z = np.linspace(-reach, 1 + reach, points)
    rows = [
        _loss_rows("Randomized Response", [0, 1], *map(response.probabilities, (0, 1))),
        _loss_rows("Laplace", z, laplace.pdf(z, 0.0), laplace.pdf(z, 1.0)),
        _loss_rows("Gaussian", z, gaussian.pdf(z, 0.0), gaussian.pdf(z, 1.0)),
    ]
    return pd.concat(rows, ignore_index=True)


def _loss_rows(name: str, z: object, p: np.ndarray, q: np.ndarray) -> pd.DataFrame:
    loss = np.abs(np.log(p) - np.log(q))
    return pd.DataFrame({"mechanism": name, "z": z, "p": p, "q": q, "loss": loss})


@grouped(across=PAIRS)
def empirical_loss(
    samples: pd.DataFrame, law: Law, *, region: Ends, points: Points, floor: PositiveFloat
) -> pd.DataFrame:
    """Figure 3: loss and empirical loss of a mechanism, and the latter's maximum."""
    low, high = checks.interval("region", *region)
    z = np.linspace(low, high, points)
    sides = _two_sides(samples)
    p_hat, q_hat = (density_on_grid(side, low, high, points, nrd0(side)) for side in sides)
    empirical = np.abs(signed_loss(p_hat, q_hat, floor))
    p, q = _densities(samples, law, z)
    best = int(np.argmax(empirical))
    table = pd.DataFrame({"z": z, "loss": np.abs(np.log(p) - np.log(q)), "empirical": empirical})
    return table.assign(n=samples["n"].iloc[0], t_hat=z[best], eps_hat=empirical[best])


@grouped(across=PAIRS)
def patterns(summary: pd.DataFrame) -> pd.DataFrame:
    """Table I: the input patterns, with the exact violation of each and its mean estimate."""
    table = summary.rename(columns={"pair": "pattern", "truth": "violation", "mean": "estimate"})
    for side in PAIRS:
        table[side] = table[side].map(_vector)
    columns = ["mechanism", "epsilon", "pattern", "x", "x_prime", "violation", "estimate", "sd"]
    return table[[*columns, "n", "runs", "level"]]


def _vector(text: str) -> str:
    return " ".join(f"{entry:g}" for entry in np.ravel(json.loads(text)))


@grouped(
    across=PAIRS, first=["panel", "mechanism", "epsilon"], order=["panel", "epsilon", "estimator"]
)
def bounds(runs: pd.DataFrame) -> pd.DataFrame:
    """Figures 4 and 5: the answer of every run, in rising order, with its rank as a share.

    ``level`` is the exact level of the set of pairs, ``violation`` that of the selected pair.
    """
    names = {"estimate": "bound", "truth": "violation"}
    frame = _answers(runs).rename(columns=names).sort_values("bound", kind="stable")
    shown = ["estimator", "run", "bound", "pair", "violation", "level", "n", "fresh"]
    return frame[shown].assign(share=np.arange(1, len(frame) + 1) / len(frame))


def _answers(runs: pd.DataFrame) -> pd.DataFrame:
    """Return one answer a run, with the kind of its estimator."""
    if runs["run"].duplicated().any():
        raise ArgumentError("data", "must hold one answer a run, of all pairs of inputs")
    name = str(runs["estimator"].iloc[0])
    kinds = [kind for start, kind in _KINDS.items() if name.startswith(start)]
    return runs.assign(estimator=kinds[0] if kinds else name)


@grouped(across=PAIRS, first=["panel", "epsilon"], order=["panel", "epsilon", "estimator"])
def coverage(runs: pd.DataFrame) -> pd.DataFrame:
    """Beyond the paper: how often the bounds hold, and how close they come.

    ``covered`` is the share of runs with LB <= exact violation of the selected pair, with an exact
    95 % interval; ``share_above_epsilon`` those that refute the promise epsilon; ``median_ratio``
    the median of LB / level.
    """
    runs = _answers(runs)
    bound = runs["estimate"]
    level = runs["level"].iloc[0]
    count = len(runs)
    covered = (bound <= runs["truth"]).sum()
    low, high = clopper_pearson(covered, count)
    row = {
        "estimator": runs["estimator"].iloc[0],
        "runs": count,
        "level": level,
        "covered": covered / count,
        "covered_low": float(low),
        "covered_high": float(high),
        "median": bound.median(),
        "median_ratio": bound.median() / level,
        "sd": bound.std(),
        "share_above_epsilon": (bound > runs["epsilon"]).mean(),
        "best_pair_selected": (runs["truth"] > level - 1e-9).mean(),
    }
    return pd.DataFrame([row])


@grouped(order=["mechanism", "n"])
def errors(summary: pd.DataFrame) -> pd.DataFrame:
    """Figure 6: the mean squared error of the estimated violation against n.

    The paper's statement is on ``mse_share``, the error as a share of epsilon.
    """
    table = summary[["mechanism", "epsilon", "n", "runs", "truth", "mean", "sd", "mse", "panel"]]
    return table.assign(mse_share=table["mse"] / table["epsilon"], rmse=np.sqrt(table["mse"]))


@grouped(first=["mechanism", "epsilon", "n", "fresh"])
def seconds(timings: pd.DataFrame) -> pd.DataFrame:
    """Table II: seconds of one run of MPL (medians), sampling and the rest apart."""
    measured = timings[["seconds", "sampling", "estimating"]].median()
    row = {"pairs": timings["pairs"].iloc[0], **measured, "runs": len(timings)}
    return pd.DataFrame([row])


@grouped(order=["estimator", "k"])
def rare_match(summary: pd.DataFrame, *, floor: Fractional) -> pd.DataFrame:
    """Tabulate Example 2: all answers where only an event of probability e^-k tells.

    ``expected`` is the mean number of draws among n that show it; ``floor`` the estimators' tau.
    """
    rarity = json.loads(summary["parameters"].iloc[0]).get("rarity")
    if rarity is None:
        raise ArgumentError("data", "must hold mechanisms with a rarity")
    expected = summary["n"] * np.exp(-float(rarity))
    table = summary.assign(k=rarity, floor=floor, expected=expected, truth=summary["level"])
    table["answer"] = summary[["mean", "mean_reverse"]].max(axis=1)
    columns = ["k", "estimator", "epsilon", "n", "fresh", "floor", "expected", "runs", "failures"]
    return table[[*columns, "answer", "sd", "truth"]]

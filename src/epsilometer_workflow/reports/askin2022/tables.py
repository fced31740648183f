"""The tables of askin2022, and those behind its figures."""

from __future__ import annotations

import json
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import AfterValidator, Field, PositiveFloat

from epsilometer.densities.kernel import density_at, density_on_grid, nrd0
from epsilometer.errors import ArgumentError
from epsilometer.estimators.local_loss import signed_loss
from epsilometer.exact.base import ContinuousDistribution
from epsilometer.exact.finite import ExactRandomizedResponse
from epsilometer.exact.real_line import ExactGaussian, ExactLaplace
from epsilometer.mechanisms import MECHANISMS
from epsilometer.mechanisms.finite import RandomizedResponse
from epsilometer.mechanisms.real_line import Gaussian, Laplace
from epsilometer.models import Fractional
from epsilometer.proportions import clopper_pearson
from epsilometer_workflow.files.options import Epsilon
from epsilometer_workflow.reports.panels import Titles, of_panels

Points = Annotated[int, Field(ge=2)]


def _rising(ends: list[float]) -> list[float]:
    if not ends[0] < ends[1]:
        raise ValueError("must rise")
    return ends


Ends = Annotated[list[float], Field(min_length=2, max_length=2), AfterValidator(_rising)]

# What an entry of the configuration that begins so is called in a legend.
_KINDS = {"mpl": "MPL", "largest-loss": "estimate"}


def density_estimate(
    samples: pd.DataFrame, *, points: Points, reach: PositiveFloat
) -> pd.DataFrame:
    """Figure 1: a density, its kernel estimate, and the draws it was made of.

    Rows of kind ``curve`` have density and estimate at ``z``; one of kind ``draw`` is a draw.
    """
    draws = _one_side(samples, 0)
    law = ExactLaplace(Laplace(float(samples["epsilon"].iloc[0])))
    z = np.linspace(-reach, reach, points)
    bandwidth = nrd0(draws)
    curve = {
        "kind": "curve",
        "z": z,
        "density": law.pdf(z, json.loads(samples["x"].iloc[0])),
        "estimate": density_at(draws, z, bandwidth),
        "bandwidth": bandwidth,
    }
    return pd.concat([pd.DataFrame(curve), pd.DataFrame({"kind": "draw", "z": np.sort(draws)})])


def _one_side(samples: pd.DataFrame, side: int) -> np.ndarray:
    """Return the draws of one side of the first run of the Laplace mechanism at one epsilon."""
    drawn = samples[["registered", "parameters", "epsilon"]].drop_duplicates()
    if len(drawn) != 1 or tuple(drawn.iloc[0, :2]) != (MECHANISMS["laplace"], "{}"):
        raise ArgumentError("data", "must hold samples of the plain Laplace mechanism only")
    chosen = (samples["run"] == samples["run"].min()) & (samples["side"] == side)
    return np.asarray(samples.loc[chosen, "output"])


def losses(
    *, epsilon: Epsilon, sigma: PositiveFloat, points: Points, reach: PositiveFloat
) -> pd.DataFrame:
    """Figure 2: densities and losses of three mechanisms on the inputs 0 and 1."""
    response = ExactRandomizedResponse(RandomizedResponse(epsilon))
    rows = [_loss_rows("Randomized Response", [0, 1], *map(response.probabilities, (0, 1)))]
    z = np.linspace(-reach, 1 + reach, points)
    gaussian = ExactGaussian(Gaussian(Gaussian(1.0).sigma / sigma))  # sigma goes as 1/epsilon
    laws: list[tuple[str, ContinuousDistribution]] = [("Laplace", ExactLaplace(Laplace(epsilon)))]
    for name, law in [*laws, ("Gaussian", gaussian)]:
        rows.append(_loss_rows(name, z, *(law.pdf(z, x) for x in (0.0, 1.0))))
    return pd.concat(rows, ignore_index=True)


def _loss_rows(name: str, z: object, p: np.ndarray, q: np.ndarray) -> pd.DataFrame:
    loss = np.abs(np.log(p) - np.log(q))
    return pd.DataFrame({"mechanism": name, "z": z, "p": p, "q": q, "loss": loss})


def empirical_loss(
    samples: pd.DataFrame, *, region: Ends, points: Points, floor: PositiveFloat
) -> pd.DataFrame:
    """Figure 3: loss and empirical loss of the Laplace mechanism, and the latter's maximum."""
    x, x_prime = (_one_side(samples, side) for side in (0, 1))
    low, high = region
    z = np.linspace(low, high, points)
    p, q = (density_on_grid(side, low, high, points, nrd0(side)) for side in (x, x_prime))
    signed = signed_loss(p, q, floor)
    inputs = [json.loads(text) for text in samples.groupby("side")["x"].first()]
    law = ExactLaplace(Laplace(float(samples["epsilon"].iloc[0])))
    exact = np.abs(np.log(law.pdf(z, inputs[0])) - np.log(law.pdf(z, inputs[1])))
    empirical = np.abs(signed)
    best = int(np.argmax(empirical))
    table = pd.DataFrame({"z": z, "loss": exact, "empirical": empirical, "n": x.size})
    return table.assign(t_hat=z[best], eps_hat=empirical[best])


def patterns(summary: pd.DataFrame) -> pd.DataFrame:
    """Table I: the input patterns, with the exact violation of each and its mean estimate."""
    table = summary.rename(columns={"pair": "pattern", "truth": "violation", "mean": "estimate"})
    table["x"] = [_vector(text) for text in table["x"]]
    table["x_prime"] = [_vector(text) for text in table["x_prime"]]
    columns = ["mechanism", "epsilon", "pattern", "x", "x_prime", "violation", "estimate", "sd"]
    return table[[*columns, "n", "runs", "level"]].reset_index(drop=True)


def _vector(text: str) -> str:
    return " ".join(f"{entry:g}" for entry in json.loads(text))


def bounds(runs: list[pd.DataFrame], *, panels: Titles) -> pd.DataFrame:
    """Figures 4 and 5: the answer of every run, in rising order, with its rank as a share.

    ``level`` is the exact level of the set of pairs, ``violation`` that of the selected pair.
    """
    frame = _chosen(runs, panels)
    frame = frame.sort_values(["panel", "epsilon", "estimator", "bound"], kind="stable")
    groups = frame.groupby(["panel", "epsilon", "estimator"], sort=False)["bound"]
    frame["share"] = (groups.cumcount() + 1) / groups.transform("size")
    return frame.reset_index(drop=True)


def _chosen(runs: list[pd.DataFrame], panels: Titles) -> pd.DataFrame:
    """Return the runs of the mechanisms that have a panel, under its title."""
    frame = of_panels(runs, panels).rename(columns={"estimate": "bound", "truth": "violation"})
    for start, kind in _KINDS.items():
        frame.loc[frame["estimator"].str.startswith(start), "estimator"] = kind
    columns = ["panel", "mechanism", "epsilon", "estimator", "run", "bound"]
    return frame[[*columns, "pair", "violation", "level", "n", "fresh"]]


def coverage(runs: list[pd.DataFrame], *, panels: Titles) -> pd.DataFrame:
    """Beyond the paper: how often the bounds hold, and how close they come.

    ``covered`` is the share of runs with LB <= exact violation of the selected pair, with an exact
    95 % interval; ``share_above_epsilon`` those that refute the promise epsilon; ``median_ratio``
    the median of LB / level.
    """
    frame = _chosen(runs, panels)
    frame = frame.assign(
        covered=frame["bound"] <= frame["violation"],
        above=frame["bound"] > frame["epsilon"],
        best=frame["violation"] > frame["level"] - 1e-9,
    )
    table = frame.groupby(["panel", "epsilon", "estimator"], as_index=False).agg(
        runs=("run", "size"),
        level=("level", "first"),
        covered=("covered", "mean"),
        hits=("covered", "sum"),
        median=("bound", "median"),
        sd=("bound", lambda bound: bound.std()),
        share_above_epsilon=("above", "mean"),
        best_pair_selected=("best", "mean"),
    )
    low, high = clopper_pearson(table.pop("hits"), table["runs"])
    table.insert(6, "covered_low", low)
    table.insert(7, "covered_high", high)
    table.insert(9, "median_ratio", table["median"] / table["level"])
    return table


def errors(summary: pd.DataFrame, *, panels: Titles) -> pd.DataFrame:
    """Figure 6: the mean squared error of the estimated violation against n.

    The paper's statement is on ``mse_share``, the error as a share of epsilon.
    """
    table = summary[["mechanism", "epsilon", "n", "runs", "truth", "mean", "sd", "mse"]]
    panel = table["mechanism"].map(panels).fillna(table["mechanism"])
    shares = {"mse_share": table["mse"] / table["epsilon"], "rmse": np.sqrt(table["mse"])}
    table = table.assign(panel=panel, **shares)
    return table.sort_values(["mechanism", "n"], ignore_index=True)


def seconds(timings: list[pd.DataFrame]) -> pd.DataFrame:
    """Table II: seconds of one run of MPL (medians), sampling and the rest apart."""
    frame = pd.concat(timings, ignore_index=True)
    keys = ["mechanism", "epsilon", "n", "fresh", "pairs"]
    measured = frame.groupby(keys, sort=False)[["seconds", "sampling", "estimating"]].median()
    runs = frame.groupby(keys, sort=False).size().rename("runs")
    return measured.join(runs).reset_index()


def rare_match(summaries: list[pd.DataFrame], *, floor: Fractional) -> pd.DataFrame:
    """Tabulate Example 2: all answers where only an event of probability e^-k tells.

    ``expected`` is the mean number of draws among n that show it; ``floor`` the estimators' tau.
    """
    frame = pd.concat(summaries, ignore_index=True)
    rarity = [json.loads(text).get("rarity") for text in frame["parameters"]]
    if None in rarity:
        raise ArgumentError("data", "must hold mechanisms with a rarity")
    table = frame.assign(
        k=rarity,
        floor=floor,
        expected=frame["n"] * np.exp(-np.array(rarity, float)),
        answer=frame[["mean", "mean_reverse"]].max(axis=1),
        truth=frame["level"],
    )
    columns = ["k", "estimator", "epsilon", "n", "fresh", "floor", "expected", "runs", "failures"]
    table = table[[*columns, "answer", "sd", "truth"]]
    return table.sort_values(["estimator", "k"], ignore_index=True)

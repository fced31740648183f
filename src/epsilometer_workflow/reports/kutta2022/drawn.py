"""Statements of kutta2022 about its estimators and their density estimates: from draws."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy
from scipy.special import ndtri

from epsilometer.arrays import Floats
from epsilometer.densities.binned import bkde, dpik
from epsilometer.densities.kernel import nrd0
from epsilometer.errors import ArgumentError
from epsilometer.estimators.renyi_bound import RenyiBoundAsPublished, divergence
from epsilometer.exact.finite import ExactRandomizedResponse
from epsilometer.mechanisms.finite import RandomizedResponse
from epsilometer_workflow.files.options import Order
from epsilometer_workflow.reports.kutta2022.pairs import FIRST, NOBODY, distributions, floored

_POINTS = 8101
_CELL = ["panel", "mechanism", "epsilon", "inputs", "lambda", "n"]


def moments(runs: list[pd.DataFrame], *, panels: dict[str, str]) -> pd.DataFrame:
    """Compare the estimate, and its estimated deviation, over runs with what (18) says exactly.

    The bound at level 1/2 is the plug-in estimate itself; beside the bound at another level it
    tells the estimated deviation. ``scaled_sd`` is the deviation of the estimate over runs, and
    ``scaled_sigma`` the mean estimated variance, as shares of their exact values at the floor;
    ``p_value`` is of a Kolmogorov-Smirnov test that standardised estimates are normal.
    """
    frame = pd.concat(runs, ignore_index=True)
    usual = RenyiBoundAsPublished.alpha
    alpha = [json.loads(text).get("alpha", usual) for text in frame["settings"]]
    frame = frame.assign(alpha=alpha, panel=frame["mechanism"].map(panels))
    rows = []
    for names, cell in frame.groupby(_CELL, sort=False):
        key = dict(zip(_CELL, names, strict=True))
        wide = cell.pivot_table(index="run", columns="alpha", values="estimate")
        if 0.5 not in wide or wide.shape[1] != 2:
            raise ArgumentError("data", "must hold bounds at level 1/2 and at another one")
        (other,) = (level for level in wide.columns if level != 0.5)
        estimate, n = wide[0.5], int(key["n"])
        sigma = (wide[other] - estimate) * math.sqrt(n) / float(ndtri(other))
        tau, _ = RenyiBoundAsPublished(**json.loads(cell["settings"].iloc[0])).floor(n)
        exact = floored(key["panel"], float(key["lambda"]), tau)
        standard = (estimate - estimate.mean()) / estimate.std()
        normal = scipy.stats.kstest(standard, "norm").pvalue if len(wide) > 2 else math.nan
        scaled_sd = estimate.std() * math.sqrt(n / exact.variance)
        scaled_sigma = (sigma**2).mean() / exact.variance
        moments = (len(wide), exact.value, estimate.mean(), scaled_sd, scaled_sigma, normal)
        rows.append((*names, *moments))
    columns = ["runs", "floored", "mean", "scaled_sd", "scaled_sigma", "p_value"]
    return pd.DataFrame(rows, columns=[*_CELL, *columns]).astype({"lambda": float})


def _sides(samples: list[pd.DataFrame]) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield what is drawn, and the draws, of each run and side."""
    keys = ["mechanism", "epsilon", "parameters", "x", "n", "run", "side"]
    for names, drawn in pd.concat(samples).groupby(keys, sort=False):
        yield dict(zip(keys, names, strict=True)), drawn["output"].to_numpy()


def frequencies(samples: list[pd.DataFrame], *, order: Order) -> pd.DataFrame:
    """Tabulate how far relative frequencies of randomised response are from its probabilities.

    ``error`` is the mean of the largest deviation over runs and sides, ``within`` the share of
    these in which it is at most sqrt(ln n / n); ``divergence_error`` the mean distance of the
    plug-in, floored at n^-0.1 / k, from the exact divergence.
    """
    frequencies_of: dict[tuple[int, int], list[Floats]] = {}
    rows = []
    for key, outputs in _sides(samples):
        parameters = json.loads(key["parameters"])
        law = ExactRandomizedResponse(RandomizedResponse(key["epsilon"], **parameters))
        p = law.probabilities(json.loads(key["x"]))
        shares = np.bincount(outputs.astype(int), minlength=p.size) / outputs.size
        frequencies_of.setdefault((key["n"], key["run"]), []).append(shares)
        rows.append((key["n"], np.abs(shares - p).max()))
    errors = pd.DataFrame(rows, columns=["n", "error"])
    errors["within"] = errors["error"] <= np.sqrt(np.log(errors["n"]) / errors["n"])
    exact = law.renyi(order, 0, 1)
    plugged = []
    for (n, _), (x, x_prime) in frequencies_of.items():
        tau = n**-0.1 / x.size
        level = divergence(x, x_prime, order=order, tau=tau, beta=100 / tau).value
        plugged.append((n, abs(level - exact)))
    distances = pd.DataFrame(plugged, columns=["n", "divergence_error"])
    means = errors.groupby("n").mean().join(distances.groupby("n").mean())
    return means.join(errors.groupby("n").size().rename("sides")).reset_index()


def kernels(samples: list[pd.DataFrame]) -> pd.DataFrame:
    """Tabulate errors of kernel estimates of the density of a sum with noise, on a fine grid.

    By the bandwidth dpik, and by n^(-1/3) times the noise's deviation at n = 1. Means over runs and
    sides of the L2 and the largest error; ``variance`` is the integrated variance over runs times n
    and h, and ``bandwidth`` their mean.
    """
    numerals = {"laplace": "v", "gaussian": "iv"}
    rows = []
    for key, outputs in _sides(samples):
        noise = json.loads(key["parameters"])["noise"]
        law, x = distributions()[numerals[noise]], json.loads(key["x"])
        for rule, h in (("dpik", dpik(outputs)), ("n^(-1/3)", 5.0 * outputs.size ** (-1 / 3))):
            z, density = bkde(outputs, h, points=_POINTS, ends=(-40.0, 41.0))
            error = density - law.pdf(z, x)
            l2, largest = math.sqrt((error**2).sum() * (z[1] - z[0])), np.abs(error).max()
            rows.append((key["mechanism"], key["n"], rule, key["x"], h, l2, largest, density))
    cells, means = ["mechanism", "n", "rule"], ["bandwidth", "l2", "largest"]
    frame = pd.DataFrame(rows, columns=[*cells, "x", *means, "density"])
    spread = []
    for names, cell in frame.groupby(cells, sort=False):
        densities = [np.stack(side["density"]) for _, side in cell.groupby("x")]
        variance = np.mean([np.var(of_runs, axis=0, ddof=1).sum() for of_runs in densities])
        step, mean = 81 / (_POINTS - 1), cell[means].mean()
        scaled = variance * step * names[1] * mean["bandwidth"]
        spread.append([*names, len(cell), *mean, scaled])
    return pd.DataFrame(spread, columns=[*cells, "sides", *means, "variance"])


def bandwidths(samples: list[pd.DataFrame]) -> pd.DataFrame:
    """Tabulate dpik and its power 1.1 for the draws of each side."""
    rows = [
        {name: key[name] for name in ("mechanism", "n", "run", "side")} | {"dpik": dpik(outputs)}
        for key, outputs in _sides(samples)
    ]
    table = pd.DataFrame(rows)
    return table.assign(used=table["dpik"] ** 1.1)


def software(*, golden: str, bandwidth: float, normal_reference: float) -> pd.DataFrame:
    """Compare dpik, bkde and nrd0 with what R made of the same draws.

    ``golden`` is a file of draws (kind ``draw``) and of R's curve (kind ``curve``) at dpik to the
    power 1.1; ``bandwidth`` is R's dpik, ``normal_reference`` its nrd0, the default of kdensity.
    Errors are relative, those of the curve to its peak.
    """
    reference = pd.read_csv(Path(golden))
    draws = reference.loc[reference["kind"] == "draw", "z"].to_numpy()
    curve = reference[reference["kind"] == "curve"]
    h = dpik(draws)
    z, density = bkde(draws, h**1.1, points=len(curve))
    peak = curve["y"].max()
    rows = [
        ("dpik", h, abs(h / bandwidth - 1)),
        ("nrd0", nrd0(draws), abs(nrd0(draws) / normal_reference - 1)),
        ("grid", z[-1], np.abs(z - curve["z"]).max() / np.ptp(z)),
        ("bkde", density.max(), np.abs(density - curve["y"]).max() / peak),
    ]
    return pd.DataFrame(rows, columns=["what", "value", "error"])


def orders_of_a_sample(samples: list[pd.DataFrame], *, orders: list[Order]) -> pd.DataFrame:
    """Tabulate the plug-in divergence of Laplace noise on a sum at many orders, from one sample."""
    sides: dict[int, list[Floats]] = {}
    for key, outputs in _sides(samples):
        if key["run"] == 0 and json.loads(key["parameters"])["noise"] == "laplace":
            sides.setdefault(key["n"], []).append(outputs)
    rows = []
    for n, (x, x_prime) in sides.items():
        ends = (min(x.min(), x_prime.min()), max(x.max(), x_prime.max()))
        (z, p), (_, q) = (
            bkde(side, dpik(side) ** 1.1, points=1000, ends=ends) for side in (x, x_prime)
        )
        for order in orders:
            tau = 50 / n
            estimate = divergence(p, q, order=order, tau=tau, beta=1 / tau, spacing=z[1] - z[0])
            exact = distributions()["v"].renyi(order, FIRST, NOBODY)
            rows.append({"n": n, "lambda": order, "estimate": estimate.value, "divergence": exact})
    return pd.DataFrame(rows)

"""Statements of askin2022 about its estimators that its tables do not show: from draws."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from pydantic import PositiveFloat, PositiveInt
from scipy.special import ndtri

from epsilometer.arrays import Floats
from epsilometer.densities.kernel import density_at
from epsilometer.errors import ArgumentError
from epsilometer.estimators.local_loss import LocalLoss, undersmoothed
from epsilometer.exact.finite import ExactRandomizedResponse
from epsilometer.exact.noisy_max import ExactNoisyMaxIndex
from epsilometer.exact.real_line import ExactLaplace
from epsilometer.exact.truncated import ExactExponentialHalfLine
from epsilometer.mechanisms.finite import RandomizedResponse
from epsilometer.mechanisms.noisy_max import ReportNoisyMax
from epsilometer.mechanisms.real_line import Laplace
from epsilometer.mechanisms.truncated import ExponentialHalfLine

_REGIONS = {"laplace": (-1.0, 2.0), "exponential-half-line": (0.0, 2.0)}
_LAWS: dict[str, tuple[Any, Any]] = {
    "laplace": (ExactLaplace, Laplace),
    "exponential-half-line": (ExactExponentialHalfLine, ExponentialHalfLine),
    "report-noisy-max-6": (ExactNoisyMaxIndex, ReportNoisyMax),
    "randomized-response-5": (ExactRandomizedResponse, RandomizedResponse),
}
_KERNEL = 1 / (2 * math.sqrt(math.pi))  # the integral of its square


def _pairs(samples: list[pd.DataFrame]) -> Iterator[tuple[dict[str, Any], Any, Floats, Floats]]:
    """Yield what is drawn, its law, and the draws of the first two sides, of each run."""
    keys = ["mechanism", "epsilon", "parameters", "n", "run"]
    laws: dict[tuple[Any, ...], Any] = {}
    for names, drawn in pd.concat(samples).groupby(keys, sort=False):
        key = dict(zip(keys, names, strict=True))
        if key["mechanism"] not in _LAWS:
            raise ArgumentError(
                "data", f"has {key['mechanism']}, which has no exact distribution here"
            )
        if names[:3] not in laws:
            parameters = json.loads(key["parameters"])
            law, mechanism = _LAWS[key["mechanism"]]
            laws[names[:3]] = law(mechanism(key["epsilon"], **parameters))
        (_, first), (_, second), *_ = drawn.groupby("side", sort=True)
        key["x"], key["x_prime"] = (json.loads(side["x"].iloc[0]) for side in (first, second))
        law = laws[names[:3]]
        kind = np.int32 if hasattr(law, "probabilities") else np.float64  # one column holds both
        yield key, law, *(side["output"].to_numpy(kind) for side in (first, second))


def located(samples: list[pd.DataFrame], *, floor: PositiveFloat) -> pd.DataFrame:
    """Tabulate DPL's error, and what the loss at its t_hat lacks of the violation, against n."""
    rows = []
    for key, law, x, x_prime in _pairs(samples):
        region = _REGIONS.get(key["mechanism"])
        _, (screened,) = LocalLoss(floor).screen([(x, x_prime)], draws=len(x), region=region)
        t = (screened.target or {})["output"][0]
        sides = key["x"], key["x_prime"]
        if hasattr(law, "probabilities"):
            p, q = (law.probabilities(side)[int(t)] for side in sides)
        else:
            p, q = (float(law.pdf(np.array([t]), side)[0]) for side in sides)
        truth = max(law.privacy_loss(*sides), law.privacy_loss(*sides[::-1]))
        loss = abs(math.log(p) - math.log(q))
        rows.append((key["mechanism"], key["n"], screened.loss - truth, truth - loss))
    frame = pd.DataFrame(rows, columns=["mechanism", "n", "error", "lacking"])
    table = frame.groupby(["mechanism", "n"], sort=False).agg(
        runs=("error", "size"),
        rmse=("error", lambda errors: math.sqrt((errors**2).mean())),
        lacking=("lacking", "mean"),
    )
    return table.reset_index()


def pointwise(samples: list[pd.DataFrame], *, at: float, alpha: PositiveFloat) -> pd.DataFrame:
    """Tabulate the loss at fixed outputs over runs: standardised, and its lower bound.

    Real outputs are looked at where ``at`` says, with our second bandwidth; discrete ones at each
    of theirs. ``mean`` and ``sd`` are of (l_hat - l) c_n / sigma with the exact sigma, that of
    Section IV-B; ``covered`` is the share of runs whose LB is at most the loss there.
    """
    parts = []
    for key, law, x, x_prime in _pairs(samples):
        exact, estimated, scaled = _looked_at(law, key, x, x_prime, at)
        error = np.log(estimated[0] / estimated[1]) - np.log(exact[0] / exact[1])
        sigma, sigma_hat = (np.sqrt(sum(scaled(p) for p in sides)) for sides in (exact, estimated))
        bound = error + float(ndtri(alpha)) * sigma_hat
        columns = {
            "output": np.arange(error.size),
            "standard": error / sigma,
            "covered": bound <= 0,
        }
        parts.append(pd.DataFrame(columns).assign(mechanism=key["mechanism"], n=x.size))
    table = (
        pd.concat(parts)
        .groupby(["mechanism", "n", "output"], sort=False)
        .agg(
            runs=("standard", "size"),
            mean=("standard", "mean"),
            sd=("standard", "std"),
            covered=("covered", "mean"),
        )
    )
    return table.reset_index()


def _looked_at(
    law: Any, key: dict[str, Any], x: Floats, x_prime: Floats, at: float
) -> tuple[list[Floats], list[Floats], Callable[[Floats], Floats]]:
    """Return exact and estimated densities of both sides, and the variance of their logarithms."""
    n, inputs = x.size, (key["x"], key["x_prime"])
    if hasattr(law, "probabilities"):
        exact = [law.probabilities(side) for side in inputs]
        size = exact[0].size
        counted = [np.bincount(side.astype(int), minlength=size) / n for side in (x, x_prime)]
        return exact, counted, lambda p: (1 / p - 1) / n
    t, h = np.array([at]), undersmoothed(x, x_prime)
    smooth = [density_at(side, t, h) for side in (x, x_prime)]
    return [law.pdf(t, side) for side in inputs], smooth, lambda p: _KERNEL / (p * n * h)


def rare_outputs(
    samples: list[pd.DataFrame], *, reach: PositiveFloat, cells: list[PositiveInt]
) -> pd.DataFrame:
    """Tabulate errors of small densities, by histograms of ever more cells and by a kernel.

    The root of the mean squared relative error of the density between ``reach`` and twice that,
    where draws are few, at the mid-points of so many cells of [-2 reach, 2 reach].
    """
    rows = []
    for key, law, x, _ in _pairs(samples):
        for m in cells:
            edges = np.linspace(-2 * reach, 2 * reach, m + 1)
            middle = (edges[1:] + edges[:-1]) / 2
            tail = np.abs(middle) > reach
            exact = law.pdf(middle[tail], key["x"])
            counted = np.histogram(x, edges)[0][tail] / (x.size * (edges[1] - edges[0]))
            smooth = density_at(x, middle[tail], undersmoothed(x, x))
            for method, estimated in (("histogram", counted), ("kernel", smooth)):
                rows.append((method, m, x.size, ((estimated / exact - 1) ** 2).mean()))
    frame = pd.DataFrame(rows, columns=["method", "cells", "n", "squared"])
    table = frame.groupby(["method", "cells", "n"], sort=False)["squared"].mean().reset_index()
    return table.assign(error=np.sqrt(table.pop("squared")))


def answers(runs: list[pd.DataFrame]) -> pd.DataFrame:
    """Tabulate the answers for each set of pairs, the largest pair of each run, against n and N."""
    frame = pd.concat(runs, ignore_index=True)
    frame["alpha"] = [json.loads(text).get("alpha", math.nan) for text in frame["settings"]]
    keys = ["mechanism", "epsilon", "inputs", "estimator", "alpha", "n", "fresh"]
    largest = frame.groupby([*keys, "run"], sort=False, dropna=False).agg(
        answer=("estimate", "max"), level=("level", "first")
    )
    table = largest.groupby(keys, sort=False, dropna=False).agg(
        runs=("answer", "size"),
        mean=("answer", "mean"),
        sd=("answer", "std"),
        level=("level", "first"),
    )
    table = table.reset_index()
    if table["mean"].isna().any():
        raise ArgumentError("data", "must hold answers that are numbers")
    return table.assign(gap=table["level"] - table["mean"])

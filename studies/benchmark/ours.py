"""Our implementations of the tasks: each takes the data of a task and returns its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from epsilometer.classifiers.neighbours import NearestNeighbours
from epsilometer.densities.binned import bkde, dpik
from epsilometer.densities.histogram import histogram
from epsilometer.estimators.renyi_bound import divergence
from epsilometer.mechanisms.noisy_max import ReportNoisyMax
from epsilometer.mechanisms.sparse_vector import SparseVector
from epsilometer.mechanisms.truncated import TruncatedLaplace

Data = Mapping[str, Any]
POINTS = 1000
QUERIES = 10


def bandwidth(data: Data) -> Any:
    return dpik(data["x"])


def density(data: Data) -> Any:
    ends = data["low"], data["high"]
    return bkde(data["x"], data["bandwidth"], points=POINTS, ends=ends)[1]


def renyi(data: Data) -> Any:
    """The level at order 2 by plugging densities in, as kutta2022 does."""
    x, y = data["x"], data["y"]
    ends = float(min(x.min(), y.min())), float(max(x.max(), y.max()))
    (z, p), (_, q) = (bkde(side, dpik(side) ** 1.1, points=POINTS, ends=ends) for side in (x, y))
    return divergence(p, q, order=2.0, tau=1e-5, beta=1e5, spacing=z[1] - z[0]).value


def neighbours(data: Data) -> Any:
    """Which share of the test points of each side is taken for x'."""
    half = data["x"].size // 2
    fitted = NearestNeighbours().fit(data["x"][:half], data["y"][:half], 2 * half, 0)
    zero = np.zeros(1)
    tests = data["x"][half:], data["y"][half:]
    return [fitted.votes(test).above(zero)[0] / test.size for test in tests]


def sort(data: Data) -> Any:
    return NearestNeighbours().fit(data["x"], data["y"], 2 * data["x"].size, 0).points


def count(data: Data) -> Any:
    return histogram(data["x"], 455, (0.0, 1.0), data["prefixes"])


def truncated_laplace(data: Data) -> Any:
    return TruncatedLaplace(1.0).sample(0.3, data["n"], np.random.default_rng(data["seed"]))


def noisy_max(data: Data) -> Any:
    rng = np.random.default_rng(data["seed"])
    return ReportNoisyMax(0.7).sample([1] * 6, data["n"], rng)


def sparse_vector(data: Data) -> Any:
    rng = np.random.default_rng(data["seed"])
    mechanism = SparseVector(0.7, 1, queries=QUERIES)
    return mechanism.sample([1] * QUERIES, data["n"], rng)

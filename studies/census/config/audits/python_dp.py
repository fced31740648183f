"""python-dp (PyDP): wrappers of its algorithms, noise, choice of partitions and quantile trees."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any


def named(feature: str) -> Any:
    """Return what a dotted public name means."""
    module, _, name = feature.rpartition(".")
    return getattr(importlib.import_module(module), name)


def release(
    values: Sequence[Any],
    size: int,
    feature: str,
    epsilon: float = 1,
    dtype: str = "float",
    lower: float | None = 0,
    **options: Any,
) -> list[Any]:
    """Draw results of an algorithm with a range of 10; each is of a new object."""
    algorithm = named(feature)
    if lower is not None and "lower_bound" in inspect.signature(algorithm).parameters:
        options.update(lower_bound=lower, upper_bound=lower + 10)
    if dtype == "float":
        values = [float(value) for value in values]
    return [
        algorithm(epsilon=float(epsilon), dtype=dtype, **options).quick_result(values)
        for _ in range(size)
    ]


def release_once(values: Sequence[Any], feature: str, epsilon: float = 1) -> Any:
    """Draw one result of an algorithm that finds its bounds; it may refuse."""
    return release(values, 1, feature, epsilon, lower=None)[0]


def of_users(
    rows: Sequence[Mapping[str, Any]], size: int, feature: str, per_user: int, epsilon: float = 1
) -> list[Any]:
    """Draw results where a user has several rows."""
    values = [row["x"] for row in rows]
    return release(values, size, feature, epsilon, linf_sensitivity=per_user)


def merged(values: Sequence[float], size: int, feature: str, epsilon: float = 1) -> list[Any]:
    """Draw results of two halves, where one is serialized and merged into the other."""
    make, half, draws = named(feature), len(values) // 2, []
    options = {} if feature.endswith("Count") else {"lower_bound": 0, "upper_bound": 10}
    for _ in range(size):
        left, right = (make(epsilon=float(epsilon), dtype="float", **options) for _ in "lr")
        left.add_entries([float(value) for value in values[:half]])
        right.add_entries([float(value) for value in values[half:]])
        left.merge(right.serialize())
        draws.append(left.result())
    return draws


def number(feature: str, delta: float) -> Any:
    """Return noise for an epsilon and a sensitivity of 1, with a delta or without."""
    return named(feature)(1.0, float(delta), 1.0) if delta else named(feature)(1.0, 1.0)


def noisy(x: float, size: int, feature: str, delta: float = 0) -> list[float]:
    """Draw a number with noise."""
    mechanism = number(feature, delta)
    return [mechanism.add_noise(x) for _ in range(size)]


def above(x: float, size: int, feature: str, delta: float = 0) -> list[bool]:
    """Draw whether a number with noise is above 1."""
    mechanism = number(feature.rpartition(".")[0], delta)
    return [mechanism.noised_value_above_threshold(float(x), 1.0) for _ in range(size)]


def deviation(x: float, size: int, std: float) -> list[float]:
    """Draw a number with Gaussian noise of a given standard deviation."""
    from pydp.algorithms.numerical_mechanisms import GaussianMechanism

    mechanism = GaussianMechanism.create_from_standard_deviation(float(std))
    return [mechanism.add_noise(float(x)) for _ in range(size)]


def strategy(name: str, epsilon: float, delta: float, at_least: int | None = None) -> Any:
    """Return a way to choose partitions."""
    make = named("pydp.algorithms.partition_selection.create_partition_strategy")
    return make(name, float(epsilon), float(delta), 1, at_least)


def kept(
    users: int, size: int, name: str, epsilon: float, delta: float, at_least: int | None = None
) -> list[bool]:
    """Draw whether a partition with so many users is kept."""
    chosen = strategy(name, epsilon, delta, at_least)
    return [chosen.should_keep(users) for _ in range(size)]


def counted(users: int, size: int, name: str, epsilon: float, delta: float) -> list[float | None]:
    """Draw the number of users with noise, if a partition is kept."""
    chosen = strategy(name, epsilon, delta)
    return [chosen.noised_value_if_should_keep(users) for _ in range(size)]


def quantiles(
    values: Sequence[float], size: int, epsilon: float, delta: float = 0, noise: str = "laplace"
) -> list[list[float]]:
    """Draw three quantiles of one tree of values from 0 to 10."""
    from pydp.algorithms.quantile_tree import QuantileTree

    draws = []
    for _ in range(size):
        tree = QuantileTree(0.0, 10.0, 3, 4)
        for value in values:
            tree.add_entry(float(value))
        draws.append(
            tree.compute_quantiles(float(epsilon), float(delta), 1, 1, [0.1, 0.5, 0.9], noise)
        )
    return draws


def machine(x: float, size: int, seed: int, feature: str, epsilon: float = 1) -> list[float]:
    """Draw from a mechanism for machine learning; its bounds are -3 and 3."""
    import numpy as np

    np.random.seed(seed)  # noqa: NPY002 - it draws from these
    mechanism = named(feature)().set_epsilon(float(epsilon)).set_sensitivity(1).set_bounds(-3, 3)
    return [float(mechanism.randomise(x)) for _ in range(size)]

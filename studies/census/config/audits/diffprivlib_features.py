"""Features of diffprivlib 0.6, each drawn with the arguments that ``options`` are, in JSON."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

import diffprivlib
import numpy as np
from diffprivlib import mechanisms, models, tools  # noqa: F401 - features are named by their path
from diffprivlib.mechanisms import transforms  # noqa: F401
from numpy.random import RandomState
from scipy.optimize import minimize

warnings.simplefilter("ignore")

Rows = Sequence[Any]
Table = Sequence[Sequence[float]]


def _feature(name: str) -> Any:
    """Return the class or function with a dotted name."""
    return attrgetter(name.partition(".")[2])(diffprivlib)


def _options(text: str) -> dict[str, Any]:
    """Return keyword arguments; bounds are tuples."""
    options = json.loads(text)
    bounds = {key: tuple(options[key]) for key in options if key.startswith("bounds")}
    return options | bounds


# --- mechanisms -----------------------------------------------------------------------------------


def noise(
    x: float,
    size: int,
    random_state: RandomState,
    feature: str,
    epsilon: float,
    delta: float = 0,
    options: str = "{}",
) -> list[float]:
    """Draw a number, or a label, with noise."""
    arguments = _options(options) | ({"delta": delta} if delta else {})
    mechanism = _feature(feature)(epsilon=epsilon, random_state=random_state, **arguments)
    return [mechanism.randomise(x) for _ in range(size)]


def uniform(x: float, size: int, random_state: RandomState, delta: float) -> list[float]:
    """Draw a number with uniform noise, which has no epsilon."""
    mechanism = mechanisms.Uniform(delta=delta, sensitivity=1, random_state=random_state)
    return [mechanism.randomise(x) for _ in range(size)]


def transformed(
    x: Any, size: int, random_state: RandomState, feature: str, epsilon: float
) -> list[Any]:
    """Draw from a mechanism whose input or output is transformed."""
    shared = {"epsilon": epsilon, "random_state": random_state}
    kind = feature.rpartition(".")[2]
    if kind == "IntToString":
        mechanism: Any = mechanisms.Binary(value0="0", value1="1", **shared)
    elif kind == "StringToInt":
        mechanism = mechanisms.GeometricTruncated(sensitivity=3, lower=0, upper=3, **shared)
    else:
        mechanism = mechanisms.Laplace(sensitivity=1, **shared)
    wrapped = _feature(feature)(mechanism)
    return [wrapped.randomise(x) for _ in range(size)]


def category(
    x: str, size: int, random_state: RandomState, feature: str, epsilon: float
) -> list[str]:
    """Draw one of four labels; two of them are closer than the others."""
    if feature.endswith("Hierarchical"):
        options: dict[str, Any] = {"hierarchy": [["a", "b"], ["c", "d"]]}
    else:
        pairs = [(p, q) for p in "abcd" for q in "abcd" if p < q]
        near = {("a", "b"), ("c", "d")}
        options = {"utility_list": [[p, q, 1 if (p, q) in near else 2] for p, q in pairs]}
    mechanism = _feature(feature)(epsilon=epsilon, random_state=random_state, **options)
    return [mechanism.randomise(x) for _ in range(size)]


def choice(
    x: Sequence[str] | Mapping[str, int],
    size: int,
    random_state: RandomState,
    feature: str,
    epsilon: float,
    options: str = "{}",
) -> list[str]:
    """Draw one of the labels a, b and c, of which the most frequent is the best."""
    counts = Counter(x)
    labels = ["a", "b", "c"]
    mechanism = _feature(feature)(
        epsilon=epsilon,
        sensitivity=1,
        utility=[counts[label] for label in labels],
        candidates=labels,
        random_state=random_state,
        **_options(options),
    )
    return [mechanism.randomise() for _ in range(size)]


def direction(
    rows: Table, size: int, random_state: RandomState, epsilon: float
) -> list[list[float]]:
    """Draw the main direction of rows of two entries with a norm of 1 at most."""
    table = np.asarray(rows, float).reshape(-1, 2)
    mechanism = mechanisms.Bingham(epsilon=epsilon, sensitivity=1, random_state=random_state)
    return [mechanism.randomise(table.T @ table).tolist() for _ in range(size)]


def objective(rows: Table, random_state: RandomState, epsilon: float, alpha: float) -> float:
    """Draw the slope of a logistic regression of the second entry, 0 or 1, on the first.

    Its loss is the mean of the rows' losses and ``alpha / 2 / n`` times the square of the slope,
    as in Chaudhuri et al. (2011). The first entries lie in [-1, 1].
    """
    table = np.asarray(rows, float)
    x, signs, n = table[:, 0], 2 * table[:, 1] - 1, len(table)
    mechanism = mechanisms.Vector(
        epsilon=epsilon,
        function_sensitivity=0.25,
        data_sensitivity=1,
        dimension=1,
        alpha=alpha,
        n=n,
        random_state=random_state,
    )

    def loss(slope: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * x * slope[0]
        gradient = (-signs * x / (1 + np.exp(margins))).mean() + alpha / n * slope[0]
        value = np.logaddexp(0, -margins).mean() + alpha / 2 / n * slope[0] ** 2
        return value, np.array([gradient])

    least = minimize(mechanism.randomise(loss), np.zeros(1), jac=True, tol=1e-12)
    return float(least.x[0])


# --- tools ----------------------------------------------------------------------------------------


def statistic(
    rows: Rows,
    size: int,
    random_state: RandomState,
    feature: str,
    epsilon: float,
    options: str = "{}",
) -> list[Any]:
    """Draw a statistic of numbers, or of the columns of a table."""
    options = _options(options)
    if "dtype" in options:
        options["dtype"] = int
    function, table = _feature(feature), np.asarray(rows)
    shared = {"epsilon": epsilon, "random_state": random_state, **options}
    return [np.asarray(function(table, **shared)).tolist() for _ in range(size)]


def histogram(
    rows: Rows, size: int, random_state: RandomState, feature: str, epsilon: float, options: str
) -> list[dict[str, Any]]:
    """Draw a histogram and its edges; with ``weights``, the last column is the weight."""
    options = _options(options)
    table = np.asarray(rows, float)
    columns = 2 if feature.endswith(("dd", "2d")) else 1
    table = table.reshape(len(table), columns + ("weights" in options))
    if options.pop("weights", False):
        table, options["weights"] = table[:, :-1], table[:, -1]
    inputs = table.T if feature.endswith("2d") else [table if columns == 2 else table.ravel()]
    shared = {"epsilon": epsilon, "random_state": random_state, **options}
    draws = []
    for _ in range(size):
        counts, *edges = _feature(feature)(*inputs, **shared)
        draws.append({"counts": counts.ravel().tolist(), "edges": _plain(edges)})
    return draws


# --- models ---------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    """Return arrays as lists, and fitted trees as their splits and the labels of their leaves."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    tree = getattr(value, "tree_", value)
    if hasattr(tree, "threshold"):
        split = tree.feature >= 0
        labels = tree.value[~split].argmax(axis=-1)
        return [
            tree.feature[split].tolist(),
            tree.threshold[split].tolist(),
            labels.ravel().tolist(),
        ]
    return value if isinstance(value, str | float | int | None) else type(value).__name__


def fitted(
    rows: Rows,
    random_state: RandomState,
    feature: str,
    epsilon: float,
    options: str,
    labels: bool = False,
    attribute: str = "",
    classes: bool = False,
    known: str = "[]",
) -> Any:
    """Draw a fitted model: its public attributes, or one of them.

    With ``labels``, the last entry of a row is its label; with ``classes``, labels are known to be
    0, 1 or 2, and the model is fitted with ``partial_fit``. The ``known`` rows are always added:
    what is private for all tables is private for tables that hold some fixed rows, too.
    """
    table = np.asarray([*json.loads(known), *rows], float)
    table = table.reshape(len(table), -1)
    inputs = [table[:, :-1], table[:, -1]] if labels else [table]
    kind = _feature(feature.removesuffix(".partial_fit"))
    model = kind(epsilon=epsilon, random_state=random_state, **_options(options))
    if classes:
        model.partial_fit(*inputs, classes=[0, 1, 2])
    else:
        model.fit(*inputs)
    if attribute:
        return _plain(getattr(model, attribute))
    names = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    return {name: _plain(getattr(model, name)) for name in sorted(names)}

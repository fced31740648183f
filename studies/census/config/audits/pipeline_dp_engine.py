"""PipelineDP on its local backend: each of ``size`` draws is a part of one pipeline.

A draw has partitions and privacy ids of its own, so draws share nothing but the code: the rows of a
domain become the rows of each draw, and the answers of a draw are a mapping from keys to metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pipeline_dp as pdp
from pipeline_dp import dp_computations

KEYS = ("a", "b")
"""Public partitions, and keys of the rows."""

Rows = Sequence[Mapping[str, Any]]
Draws = list[dict[str, Any]]


def engine(epsilon: float, delta: float, pld: bool = False) -> tuple[Any, pdp.DPEngine]:
    """Return an accountant and an engine on the local backend."""
    kind = PLDAccountant if pld else pdp.NaiveBudgetAccountant
    accountant = kind(total_epsilon=float(epsilon), total_delta=float(delta))
    return accountant, pdp.DPEngine(accountant, pdp.LocalBackend())


class PLDAccountant(pdp.PLDBudgetAccountant):  # type: ignore[misc]
    """It searches the noise of equal mechanisms once; the search takes seconds."""

    _searched: ClassVar[dict[Any, float]] = {}

    def _find_minimum_base_noise_std(self) -> float:
        each = tuple((repr(m.mechanism_spec), m.sensitivity, m.weight) for m in self._mechanisms)
        key = self._total_epsilon, self._total_delta, each
        if key not in self._searched:
            self._searched[key] = super()._find_minimum_base_noise_std()
        return self._searched[key]


def repeated(rows: Rows, size: int) -> Iterable[Any]:
    """Yield (privacy id, partition, value) of all draws, which share neither ids nor keys."""
    for draw in range(size):
        for row in rows:
            yield (draw, row["id"]), (draw, row["key"]), row["x"]


def extractors() -> pdp.DataExtractors:
    """Return what takes the parts of a row."""
    return pdp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )


def by_draw(
    answers: Iterable[tuple[tuple[int, str], Any]], size: int, listed: bool = False
) -> Draws:
    """Return the answers of each draw by their keys, which are sorted unless ``listed``."""
    draws: Draws = [{} for _ in range(size)]
    for (draw, key), answer in answers:
        draws[draw][key] = answer
    return draws if listed else [dict(sorted(draw.items())) for draw in draws]


def metric(name: str) -> Any:
    """Return a metric by its name; ``percentile 90`` has a number."""
    kind, _, number = name.partition(" ")
    return pdp.Metrics.PERCENTILE(float(number)) if number else getattr(pdp.Metrics, kind)


def aggregated(
    rows: Rows,
    size: int,
    metrics: str,
    epsilon: float = 1,
    delta: float = 0,
    noise: str = "LAPLACE",
    public: bool = True,
    pld: bool = False,
    select: str = "TRUNCATED_GEOMETRIC",
    vector: Any = None,
    listed: bool = False,
    **options: Any,
) -> Draws:
    """Draw the answers of an aggregation, with public partitions or private ones."""
    if "max_contributions" not in options:
        bounds = {"max_partitions_contributed": 1, "max_contributions_per_partition": 1}
        options = bounds | options
    if vector is not None:
        norm = pdp.aggregate_params.NormKind[vector]
        options |= {"vector_size": 2, "vector_max_norm": 1.0, "vector_norm_kind": norm}
        rows = [{**row, "x": [row["x"], row["y"]]} for row in rows]
    accountant, made = engine(epsilon, delta, pld)
    params = pdp.AggregateParams(
        metrics=[metric(name) for name in metrics.split(", ")],
        noise_kind=pdp.NoiseKind[noise],
        partition_selection_strategy=pdp.PartitionSelectionStrategy[select],
        **options,
    )
    partitions = [(draw, key) for draw in range(size) for key in KEYS] if public else None
    answers = made.aggregate(repeated(rows, size), params, extractors(), partitions)
    accountant.compute_budgets()
    plain = ((key, {n: plainly(v) for n, v in answer._asdict().items()}) for key, answer in answers)
    return by_draw(plain, size, listed)


def plainly(value: Any) -> Any:
    """Return numbers of NumPy as Python's."""
    if isinstance(value, np.ndarray):
        return [float(entry) for entry in value]
    return None if value is None else float(value)


def enforced(rows: Rows, size: int, **options: Any) -> Draws:
    """Draw the answers of an aggregation of rows without privacy ids."""
    return aggregated(
        [{"id": None, **row} for row in rows],
        size,
        contribution_bounds_already_enforced=True,
        **options,
    )


def selected(
    rows: Rows,
    size: int,
    select: str,
    epsilon: float = 1,
    delta: float = 0.01,
    partitions: int = 1,
    **options: Any,
) -> list[list[str]]:
    """Draw which partitions are kept."""
    accountant, made = engine(epsilon, delta)
    params = pdp.SelectPartitionsParams(
        max_partitions_contributed=partitions,
        partition_selection_strategy=pdp.PartitionSelectionStrategy[select],
        **options,
    )
    answers = made.select_partitions(repeated(rows, size), params, extractors())
    accountant.compute_budgets()
    draws: list[list[str]] = [[] for _ in range(size)]
    for draw, key in answers:
        draws[draw].append(key)
    return [sorted(keys) for keys in draws]


def noised(
    x: float,
    size: int,
    epsilon: float = 1,
    delta: float = 0,
    noise: str = "LAPLACE",
    **options: Any,
) -> list[float]:
    """Draw a sum that its caller has made, with noise for a change of 1 in one partition."""
    accountant, made = engine(epsilon, delta)
    sensitivities = options or {"l0_sensitivity": 1, "linf_sensitivity": 1}
    params = pdp.AddDPNoiseParams(noise_kind=pdp.NoiseKind[noise], **sensitivities)
    answers = made.add_dp_noise([(draw, x) for draw in range(size)], params)
    accountant.compute_budgets()
    return [float(value) for _, value in answers]


def bounds(
    rows: Rows, size: int, epsilon: float = 1, noise: str = "LAPLACE", most: int = 3
) -> list[int]:
    """Draw bounds of contributions, found privately; a pipeline makes one draw."""
    params = pdp.CalculatePrivateContributionBoundsParams(
        aggregation_noise_kind=pdp.NoiseKind[noise],
        aggregation_eps=1.0,
        aggregation_delta=0.01 if noise == "GAUSSIAN" else 0.0,
        calculation_eps=float(epsilon),
        max_partitions_contributed_upper_bound=most,
    )
    draws = []
    for _ in range(size):
        made = engine(1, 0.01)[1]
        answers = made.calculate_private_contribution_bounds(
            list(repeated(rows, 1)), params, extractors(), [(0, key) for key in "abc"]
        )
        draws.append(int(next(iter(answers)).max_partitions_contributed))
    return draws


class Counts(dp_computations.ExponentialMechanism.ScoringFunction):
    """The number of rows with a key: it changes by 1, and all scores change in one direction."""

    global_sensitivity = 1.0
    is_monotonic = True

    def __init__(self, rows: Sequence[str]) -> None:
        self._rows = rows

    def score(self, k: str) -> float:
        """Return how often a key occurs."""
        return self._rows.count(k)


def chosen(rows: Sequence[str], size: int, epsilon: float = 1, monotonic: bool = True) -> list[str]:
    """Draw the most frequent key."""
    scores = Counts(rows)
    scores.is_monotonic = monotonic
    mechanism = dp_computations.ExponentialMechanism(scores)
    return [str(mechanism.apply(float(epsilon), ["a", "b", "c"])) for _ in range(size)]


def mechanism(
    x: float, size: int, make: Callable[..., Any] | str, epsilon: float = 1, delta: float = 0
) -> list[float]:
    """Draw a number with noise of a mechanism for a sensitivity of 1."""
    kind = getattr(dp_computations, str(make))
    made = (
        kind.create_from_epsilon_delta(float(epsilon), float(delta), 1.0)
        if delta
        else kind.create_from_epsilon(float(epsilon), 1.0)
    )
    return [made.add_noise(x) for _ in range(size)]

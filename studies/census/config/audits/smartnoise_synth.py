"""smartnoise-synth: what transformers and synthesizers learn from a table, and covariances."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

LEARNT = ("mean", "var", "fit_lower", "fit_upper")


def named(feature: str) -> Any:
    """Return what a dotted public name means."""
    module, _, name = feature.rpartition(".")
    return getattr(importlib.import_module(module), name)


def learnt(
    values: Sequence[float | None], feature: str, epsilon: float = 1, bounds: str = ""
) -> list[float | None]:
    """Draw what a transformer learns from a column; ``bounds`` are two numbers, or not given."""
    remember_scales()
    given = dict(zip(("lower", "upper"), map(float, bounds.split()), strict=False))
    transformer = named(feature)(epsilon=float(epsilon), nullable=True, **given)
    transformer.fit(list(values))
    return of(transformer)


def remember_scales() -> None:
    """Search each scale of StandardScaler once: it follows from a sensitivity and a budget."""
    from snsynth.transform import standard

    if hasattr(standard, "searched"):
        return
    standard.searched, search, known = True, standard.binary_search_param, {}

    def remembered(predicate: Any, d_in: int, d_out: float, T: type) -> float:
        before = predicate.__closure__[0].cell_contents
        key = before.map(d_in), d_out
        if key not in known:
            known[key] = search(predicate, d_in=d_in, d_out=d_out, T=T)
        return known[key]

    standard.binary_search_param = remembered


def of(transformer: Any) -> list[float | None]:
    """Return what a transformer has learnt."""
    values = [getattr(transformer, name, None) for name in LEARNT]
    return [None if value is None else float(value) for value in values]


def tables(rows: Sequence[Sequence[float]], epsilon: float = 1) -> list[list[float | None]]:
    """Draw what the transformers of two columns learn, of which each finds bounds."""
    from snsynth.transform import ChainTransformer, MinMaxTransformer, StandardScaler

    remember_scales()
    first = ChainTransformer([StandardScaler(lower=0.0, upper=10.0)])
    second = MinMaxTransformer()
    table = named("snsynth.TableTransformer")([first, second])
    table.fit([tuple(row) for row in rows], epsilon=float(epsilon))
    return [*of(first.transformers[0]), *of(second)]


def covariances(
    rows: Sequence[Sequence[float]], size: int, seed: int, epsilon: float = 1, widths: str = "1 1"
) -> list[tuple[float, ...]]:
    """Draw covariances of columns from 0 to their widths; entries are shares of these."""
    from snsynth.models.dp_covariance import DPcovariance

    each = [float(width) for width in widths.split()]
    names = [str(i) for i in range(len(each))]
    table = pd.DataFrame(rows, columns=["a", "b", "c"], dtype=float).iloc[:, : len(each)]
    table = table.set_axis(names, axis=1) * each
    bounds = pd.DataFrame({name: [0.0, w] for name, w in zip(names, each, strict=True)})
    np.random.seed(seed)  # noqa: NPY002 - it draws from these
    made = DPcovariance(len(table), names, bounds, float(epsilon))
    return [tuple(map(float, made.release(table))) for _ in range(size)]


def mwem(
    rows: Sequence[Sequence[int]], epsilon: float = 1, **options: Any
) -> Mapping[str, list[int]]:
    """Draw a table of ten rows that MWEM makes of a table of categories 0, 1 and 2."""
    from snsynth.mwem import MWEMSynthesizer
    from snsynth.transform import NoTransformer

    made = MWEMSynthesizer(
        epsilon=float(epsilon), iterations=2, mult_weights_iterations=2, **options
    )
    made.fit(np.array(rows, dtype=int), transformer=NoTransformer())
    table = np.asarray(made.sample(10))
    return [int(count) for count in np.bincount(table.ravel().astype(int), minlength=3)]


def aggregates(
    rows: Sequence[Sequence[str]], epsilon: float = 1, delta: float = 0.01
) -> Mapping[str, int]:
    """Draw the counts of combinations that the aggregate seeded synthesizer makes.

    It refuses where its noisy number of rows is negative; this is an output.
    """
    from snsynth.aggregate_seeded import AggregateSeededSynthesizer
    from snsynth.transform import NoTransformer

    made = AggregateSeededSynthesizer(
        reporting_length=2,
        epsilon=float(epsilon),
        delta=float(delta),
        percentile_epsilon_proportion=0.1,
        number_of_records_epsilon_proportion=0.3,
    )
    table = pd.DataFrame(rows, columns=["a", "b"], dtype=str)
    try:
        made.fit(table, transformer=NoTransformer())
    except BaseException as error:  # pyo3's, which is no Exception
        if type(error).__name__ != "PanicException":
            raise
        return {"refused": 1}
    return {**made.get_dp_aggregates(), "rows": made.get_dp_number_of_records()}


def noisy(x: float, size: int, kind: str = "laplace") -> list[float]:
    """Draw a number with noise of scale 1, which the library adds to what it measures."""
    utils = importlib.import_module("snsynth.utils")
    return [x + noise for noise in getattr(utils, f"{kind}_noise")(1.0, size)]


def chosen(scores: Sequence[int], size: int, seed: int, epsilon: float = 1) -> list[int]:
    """Draw the position of the largest score."""
    from snsynth.utils import exponential_mechanism

    np.random.seed(seed)  # noqa: NPY002 - it draws from these
    return [int(exponential_mechanism(list(scores), float(epsilon))) for _ in range(size)]

"""smartnoise-synth: what transformers learn from a column, and covariances."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import numpy as np
import pandas as pd

LEARNT = ("mean", "var", "fit_lower", "fit_upper")


def learnt(
    values: Sequence[float | None], feature: str, epsilon: float = 1, bounded: bool = True
) -> list[float | None]:
    """Draw what a transformer learns from a column; bounds are 0 and 10, or not given."""
    module, _, name = feature.rpartition(".")
    bounds = {"lower": 0.0, "upper": 10.0} if bounded else {}
    transformer = getattr(importlib.import_module(module), name)(
        epsilon=float(epsilon), nullable=True, **bounds
    )
    transformer.fit(list(values))
    found = [getattr(transformer, name, None) for name in LEARNT]
    return [None if one is None else float(one) for one in found]


def covariances(
    rows: Sequence[Sequence[float]], size: int, seed: int, epsilon: float = 1, width: float = 1
) -> list[tuple[float, ...]]:
    """Draw the covariances of three columns: two from 0 to 1, one from 0 to ``width``."""
    from snsynth.models.dp_covariance import DPcovariance

    table = pd.DataFrame(rows, columns=["a", "b", "c"], dtype=float)
    bounds = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0], "c": [0.0, float(width)]})
    np.random.seed(seed)  # noqa: NPY002 - it draws from these
    made = DPcovariance(len(table), ["a", "b", "c"], bounds, float(epsilon))
    return [tuple(map(float, made.release(table))) for _ in range(size)]

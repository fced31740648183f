"""Covariances of smartnoise-synth: of a row and 199 others, among whom nobody is beyond 1."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import pandas as pd
import sklearn.linear_model._base

# Its regression is not used here; it imports a name that scikit-learn removed after 0.23.
sys.modules.setdefault("sklearn.linear_model.base", sklearn.linear_model._base)

from snsynth.models.dp_covariance import DPcovariance  # noqa: E402

_OTHERS = [[float(i % 2)] * 2 for i in range(199)]


def covariances(
    rows: Sequence[Sequence[float]], size: int, seed: int, epsilon: float = 1
) -> list[tuple[float, ...]]:
    """Draw the covariances of two columns; both are said to lie from 0 to 1."""
    table = pd.DataFrame([*_OTHERS, *rows], columns=["a", "b"], dtype=float)
    bounds = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0]})
    mechanism = DPcovariance(len(table), ["a", "b"], bounds, epsilon)
    np.random.seed(seed)  # noqa: NPY002 - it draws from these
    return [tuple(map(float, mechanism.release(table))) for _ in range(size)]

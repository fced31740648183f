"""Models of diffprivlib 0.6: what is drawn is a model that was fitted to rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from diffprivlib import models
from numpy.random import RandomState

Rows = Sequence[Sequence[float]]


def slope(rows: Rows, random_state: RandomState, epsilon: float = 1, lower: float = 0) -> float:
    """Draw the slope of the second entries of rows on the first; both lie from ``lower`` to 1."""
    table = np.asarray(rows, float)
    model = models.LinearRegression(
        epsilon=epsilon,
        bounds_X=(lower, 1),
        bounds_y=(lower, 1),
        fit_intercept=False,
        random_state=random_state,
    )
    return float(model.fit(table[:, :1], table[:, 1]).coef_[0])


def bayes(rows: Rows, random_state: RandomState, epsilon: float = 1) -> dict[str, Any]:
    """Draw a classifier of rows: its classes, and how often they are there.

    The last entry of a row is its class, the others lie in [0, 1].
    """
    table = np.asarray(rows, float)
    model = models.GaussianNB(epsilon=epsilon, bounds=(0, 1), random_state=random_state)
    model.fit(table[:, :-1], table[:, -1])
    return {"classes": model.classes_.tolist(), "counts": model.class_count_.tolist()}

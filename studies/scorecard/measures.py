"""Numbers from the columns of a table, by which statements are decided.

Columns are arrays of shape ``(rows,)``. A curve is a column and the column that orders it, ``by``.

>>> round(slope(np.array([1.0, 100.0]), np.array([10.0, 1000.0])), 9)
1.0
>>> falls(np.array([0.1, 0.3]), by=np.array([16, 4]))
True
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scorecard.rows import Rows


def numbers(text: object) -> NDArray[np.float64]:
    """Return the numbers in a text, or in the first entry of a column, in order.

    >>> numbers("n=2e4, tau=1e-3, [.5, 7]").tolist()
    [20000.0, 0.001, 0.5, 7.0]
    """
    text = str(np.atleast_1d(np.asarray(text))[0])
    pattern = r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
    return np.array([float(number) for number in re.findall(pattern, text)])


def digits(value: Any, count: int) -> Any:
    """Round to so many significant digits.

    >>> digits(8743210, 2)
    8700000.0
    """
    rounded = [float(f"{x:.{count - 1}e}") for x in np.atleast_1d(value).astype(float)]
    return rounded[0] if np.ndim(value) == 0 else np.array(rounded)


def spread(p: Any, n: Any, other: Any, m: Any) -> Any:
    """Return 2.6 standard errors of the difference of two shares, of n and of m runs."""
    pooled = (n * p + m * other) / (n + m)
    return 2.6 * np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))


def allowance(p: Any, n: Any) -> Any:
    """Return 2.6 standard errors of the share of n runs where p is expected."""
    return 2.6 * np.sqrt(p * (1 - p) / n)


def in_order(values: ArrayLike, by: ArrayLike | None = None) -> NDArray[Any]:
    """Return the values in the order of others, or as they stand."""
    values = np.atleast_1d(np.asarray(values))
    return values if by is None else values[np.argsort(np.atleast_1d(by), kind="stable")]


def first(values: ArrayLike, by: ArrayLike | None = None) -> Any:
    """Return the first value, in the order of others if they are given."""
    return in_order(values, by)[0]


def last(values: ArrayLike, by: ArrayLike | None = None) -> Any:
    """Return the last value, in the order of others if they are given."""
    return in_order(values, by)[-1]


def _steps(values: ArrayLike, by: ArrayLike | None = None) -> NDArray[Any]:
    """Return the differences of neighbours; raise `ValueError` for fewer than two values."""
    steps = np.diff(in_order(values, by))
    if steps.size == 0:
        raise ValueError("a curve needs two points")
    return steps


def falls(values: ArrayLike, by: ArrayLike | None = None) -> bool:
    """Return whether each value is smaller than the last; raise `ValueError` for a single value."""
    return bool((_steps(values, by) < 0).all())


def slope(y: ArrayLike, x: ArrayLike) -> float:
    """Return the slope of log y in log x, by least squares; raise `ValueError` for one x."""
    log_x, log_y = (np.log(np.atleast_1d(values).astype(float)) for values in (x, y))
    if np.ptp(log_x) == 0:
        raise ValueError("a slope needs two points")
    return float(np.polyfit(log_x, log_y, 1)[0])


def grown(y: ArrayLike, x: ArrayLike, factor: float) -> NDArray[np.float64]:
    """Return y at ``factor`` times x as a share of y at x, where there is an x within 10 %."""
    at, values = in_order(x, x).astype(float), in_order(y, x).astype(float)
    nearest = np.abs(np.log(at[None, :] / (factor * at[:, None]))).argmin(axis=1)
    near = np.abs(at[nearest] / (factor * at) - 1) < 0.1
    return np.asarray((values[nearest] / values)[near])


def smallest(column: str) -> Callable[..., Any]:
    """Return the function of rows that is the smallest value of a column."""
    return lambda t, *_: np.min(t[column])


def largest(column: str) -> Callable[..., Any]:
    """Return the function of rows that is the largest value of a column."""
    return lambda t, *_: np.max(t[column])


# Of tables whose rows hold a ``value`` of ours beside its ``bound``.


def error(t: Rows) -> float:
    """Return the largest distance of value and bound."""
    return float(np.max(abs(t.value - t.bound)))


def relative_error(t: Rows) -> float:
    """Return the largest distance of value and bound, as a share of the bound."""
    return float(np.max(abs(t.value / t.bound - 1)))


def excess(t: Rows) -> float:
    """Return the largest value less its bound."""
    return float(np.max(t.value - t.bound))


def largest_ratio(t: Rows) -> float:
    """Return the largest value over its bound."""
    return float(np.max(t.value / t.bound))

"""Exact checks as a table: the quantity of a statement, worked out at some points.

A check gives, for each point, what it is called, a value, and what the statement compares it with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

Points = Iterable[tuple[Any, ...]]
"""What a point is called, a value, and what bounds it."""


def table_of(checks: Mapping[str, Points]) -> pd.DataFrame:
    """Return the points of all checks, by their names, with columns check, at, value and bound.

    >>> table_of({"square-root": [("x=4", 2.0, 2.0)]}).to_dict("records")
    [{'check': 'square-root', 'at': 'x=4', 'value': 2.0, 'bound': 2.0}]
    """
    rows = [
        (name, at, float(value), float(bound))
        for name, points in checks.items()
        for at, value, bound in points
    ]
    return pd.DataFrame(rows, columns=["check", "at", "value", "bound"])


def at(**where: object) -> str:
    """Name a point by its parameters: ``at(n=10, p=.5)`` is n=10 p=0.5."""
    parts = (f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in where.items())
    return " ".join(parts)


def refuses(error: type[Exception], function: Callable[..., Any], *x: Any, **named: Any) -> bool:
    """Tell whether a function raises an error with these arguments."""
    try:
        function(*x, **named)
    except error:
        return True
    return False

"""Exact checks as a table: the quantity of a statement, worked out at some points.

A check yields, for each point, what it is called, a value, and what the statement compares it with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from inspect import signature
from types import FunctionType
from typing import Any

import pandas as pd

Points = Iterator[tuple[str, float, float]]


def table_of(module: Mapping[str, Any]) -> pd.DataFrame:
    """Return the points of all checks of a module, with columns check, at, value and bound.

    Checks are its functions without arguments that yield `Points`, in their order, also partial
    ones; each is called what its function is, without the underscore in front.

    >>> def _square_root() -> Points:
    ...     yield "x=4", 2.0, 2.0
    >>> table_of({"_square_root": _square_root}).to_dict("records")
    [{'check': 'square-root', 'at': 'x=4', 'value': 2.0, 'bound': 2.0}]
    """
    checks = {
        name.strip("_").replace("_", "-"): part
        for name, part in module.items()
        if isinstance(part, FunctionType | partial)
        and signature(part).return_annotation == "Points"
        and not signature(part).parameters
    }
    rows = [
        (name, at, float(value), float(bound))
        for name, check in checks.items()
        for at, value, bound in check()
    ]
    return pd.DataFrame(rows, columns=["check", "at", "value", "bound"])


def at(**where: object) -> str:
    """Name a point by its parameters: ``at(n=10, p=.5)`` is n=10 p=0.5."""
    parts = (f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in where.items())
    return " ".join(parts)

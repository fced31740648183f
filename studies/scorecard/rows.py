"""Rows of a table, whose columns are attributes: what criteria select, and measures read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from epsilometer.errors import EpsilometerError, suggest

Value = Any
"""A number, a text or a truth value, or an array of them with one entry."""

Columns = Mapping[str, NDArray[Any]]
Measure = Callable[..., Value]
"""A function of `Rows`: of one table, or of several, in the order of the criterion."""

_DIGITS = 1e-9


def same(left: ArrayLike, right: ArrayLike) -> NDArray[np.bool_]:
    """Compare element by element: numbers to nine digits, text exactly."""
    left, right = np.asarray(left), np.asarray(right)
    if left.dtype.kind in "fiub" and right.dtype.kind in "fiub":
        return np.asarray(np.isclose(left, right, rtol=_DIGITS, atol=1e-12))
    return np.asarray(left.astype(object) == right.astype(object), bool)


def within(values: ArrayLike, choices: Sequence[object]) -> NDArray[np.bool_]:
    """Return where a value is the same as one of the choices."""
    return np.asarray(np.any([same(values, np.asarray(choice)) for choice in choices], axis=0))


def as_number(text: object) -> float | None:
    """Return the number that a text is, or None if it is more than a number.

    >>> as_number(".22"), as_number("about 400")
    (0.22, None)
    """
    try:
        return float(str(text))
    except ValueError:
        return None


class MissingRows(EpsilometerError):  # noqa: N818 (it reads as a cause)
    """No row of a table is as a criterion asks for."""


class UnknownColumn(EpsilometerError, AttributeError):  # noqa: N818 (as in a message)
    """A table, a column or a key does not exist, whatever was drawn."""


class Keys(dict[str, Any]):
    """The parameters of a statement, as numbers where they are numbers."""

    def __missing__(self, name: str) -> Any:
        raise UnknownColumn(f"unknown key {name!r}{suggest(name, self)}")


@dataclass(frozen=True)
class key:  # noqa: N801 (it reads as a function)
    """The parameter of the statement with this name, as the value that a column equals."""

    name: str


class Rows:
    """Rows of a table: columns are attributes, or entries if their names are not Python's.

    ``key`` and ``printed`` are those of the statement, ``ours`` is known where limits are decided.
    """

    def __init__(self, columns: Columns, key: Keys | None = None, printed: Value = None) -> None:
        self._columns, self.key, self.printed = columns, Keys() if key is None else key, printed
        self.ours: Value = None

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name not in self._columns:
            raise UnknownColumn(f"unknown column {name!r}{suggest(name, self._columns)}")
        return self._columns[name]

    __getitem__ = __getattr__

    def where(self, condition: NDArray[np.bool_] | None = None, /, **equal: object) -> Rows:
        """Return the rows where a condition holds, and columns equal a value.

        A value may be a tuple, of which a column equals one, or `key` of the statement.
        """
        size = len(next(iter(self._columns.values())))
        chosen = np.ones(size, bool) if condition is None else np.broadcast_to(condition, (size,))
        for name, wanted in equal.items():
            value = self.key[wanted.name] if isinstance(wanted, key) else wanted
            choices = value if isinstance(value, tuple) else (value,)
            chosen = chosen & within(self[name], choices)
        return Rows(
            {name: only(column, chosen) for name, column in self._columns.items()},
            self.key,
            self.printed,
        )

    def by(self, *names: str) -> Iterator[Rows]:
        """Yield the rows for each combination of values of these columns."""
        values = list(zip(*(self[name].tolist() for name in names), strict=True))
        for group in dict.fromkeys(values):
            yield self.where(np.array([value == group for value in values]))


def only(values: NDArray[Any], condition: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the values where a condition holds; raise `MissingRows` if it holds nowhere."""
    if not np.any(condition):
        raise MissingRows("no row fits the condition")
    return values[condition]


def columns(table: pd.DataFrame) -> dict[str, NDArray[Any]]:
    """Return the columns of a table; numbers are floats, also if they are kept as text."""
    return {str(name): _column(table[name]) for name in table}


def _column(values: pd.Series) -> NDArray[Any]:
    if pd.api.types.is_bool_dtype(values.dtype):
        return np.asarray(values, bool)
    if pd.api.types.is_numeric_dtype(values.dtype):
        return np.asarray(values.to_numpy(float, na_value=np.nan))
    try:
        return np.asarray(pd.to_numeric(values), float)
    except (TypeError, ValueError):
        return np.asarray(values, object)

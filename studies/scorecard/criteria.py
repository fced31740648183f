"""How a statement of a paper is decided: a number of ours, and where it may lie.

``<paper>.py`` maps patterns of ids, without the paper, to criteria:

>>> CRITERIA = {
...     "table1/laplace-*-D": number(
...         rows("table1", lambda t: t.parameter == t.key["B"]), "D", within=0.005
...     ),
...     "fig2/layout": holds(rows("fig2"), lambda t: np.max(t.panel) == 6),
... }

A criterion sees `Rows` of one table or of several. It raises where rows are missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from epsilometer.errors import suggest
from scorecard.measures import numbers
from scorecard.rows import (
    Columns,
    Keys,
    Measure,
    Rows,
    UnknownColumn,
    Value,
    as_number,
    same,
)

_ROUNDING = 1e-9  # of a limit, for the rounding errors of its own arithmetic


@dataclass(frozen=True)
class Selection:
    """A table, ``report/table`` or one of the paper's own report, and which rows of it count."""

    table: str
    condition: Measure | None
    equal: Mapping[str, object]

    def path(self, paper: str) -> str:
        """Return ``report/table``."""
        return self.table if "/" in self.table else f"{paper}/{self.table}"

    def rows(self, columns: Columns, key: Keys, printed: Value) -> Rows:
        """Return the chosen rows of the table's columns; raise `MissingRows`, `UnknownColumn`."""
        every = Rows(columns, key, printed)
        if self.condition is None and not self.equal:
            return every
        return every.where(None if self.condition is None else self.condition(every), **self.equal)


def rows(table: str, condition: Measure | None = None, /, **equal: object) -> Selection:
    """Select rows of a table: where the condition holds, and columns equal values; see `Rows`."""
    return Selection(table, condition, equal)


def named(table: str, column: str = "check") -> Callable[..., Selection]:
    """Return the function that selects rows of a table by names in a column, and other columns."""
    return lambda *names, **equal: rows(table, **{column: names}, **equal)


def printed(t: Rows, *_: Rows) -> Value:
    """Return the printed value, a number if it is one."""
    return t.printed


def printed_numbers(t: Rows, *_: Rows) -> Value:
    """Return the numbers in the printed value, in order."""
    return numbers(t.printed)


Limit = float | str | Measure


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """How statements are decided: by ``ours``, and where it may lie.

    ``ours`` is a column with one row, or a function of the selected rows. It may lie ``within`` so
    much of the printed number, off by a ``factor`` at most, from ``low`` to ``high``, ``above`` or
    ``below``, or it ``equals`` something. ``says`` is the number that is printed in words. A limit
    is a number or a function, which sees ``ours`` too.

    ``erratum`` is the reason why the print is wrong. It counts where ours does not agree with the
    print but with the correct value ``instead``: a value for ``within``, ``factor`` and
    ``equals``, or else a condition. ``because`` is part of the reason of every verdict, and
    ``differs`` says why ours does not agree.
    """

    selections: tuple[Selection, ...] = ()
    ours: str | Measure = ""
    condition: bool = False
    says: Limit | None = None
    within: Limit | None = None
    factor: float | None = None
    low: Limit | None = None
    high: Limit | None = None
    above: Limit | None = None
    below: Limit | None = None
    equals: Limit | None = None
    erratum: str = ""
    instead: Limit | None = None
    because: str = ""
    differs: str = ""

    def __post_init__(self) -> None:
        bounds = (self.within, self.factor, self.low, self.high, self.above, self.below)
        limited = any(bound is not None for bound in (*bounds, self.equals))
        if limited == self.condition:
            raise ValueError("a criterion has a number and where it may lie, or a condition")
        if bool(self.erratum) != (self.instead is not None):
            raise ValueError("a criterion has erratum and instead, or neither")

    def tables(self, paper: str) -> list[str]:
        """Return the tables that are read, ``report/table``."""
        return list(dict.fromkeys(selection.path(paper) for selection in self.selections))

    def compare(self, tables: Mapping[str, Columns], paper: str, key: Keys, text: str) -> Compared:
        """Compare ours with a printed ``text``.

        Raise `UnknownColumn`, and `MissingRows`, `ArithmeticError`, `IndexError`, `TypeError` or
        `ValueError` where the tables have too few rows.
        """
        number = as_number(text)
        value = text if number is None else number
        parts = []
        for selection in self.selections:
            path = selection.path(paper)
            if path not in tables:
                raise UnknownColumn(f"unknown table {path!r}{suggest(path, tables)}")
            parts.append(selection.rows(tables[path], key, value))
        with np.errstate(all="ignore"):
            result = parts[0][self.ours] if isinstance(self.ours, str) else self.ours(*parts)
            ours = self._single(result)
            for part in parts:
                part.ours = ours
            return Compared(self, parts, ours)

    def _single(self, value: Value) -> Value:
        """Return a single value; several only where they are compared in turn."""
        if np.size(value) == 1:
            return np.asarray(value).reshape(-1)[0]
        if self.equals is not None and np.ndim(value) > 0:
            return np.asarray(value)
        raise TypeError(f"ours has {np.size(value)} values, not one")


class Compared:
    """Ours beside its limits; ``low`` and ``high`` are NaN where there is no limit."""

    def __init__(self, criterion: Criterion, parts: list[Rows], ours: Value) -> None:
        self._criterion, self._parts = criterion, parts
        self.ours, self.low, self.high = ours, math.nan, math.nan
        says = parts[0].printed if criterion.says is None else self._value(criterion.says)
        self.ratio = math.nan if criterion.condition else _ratio(ours, says)
        self.agrees = self._agrees(says)
        ends = self.low, self.high
        self.corrected = criterion.instead is not None and self._is_corrected(criterion.instead)
        self.low, self.high = ends

    def _value(self, limit: Limit) -> Value:
        return self._criterion._single(limit(*self._parts)) if callable(limit) else limit

    def _ends(self, *limits: Limit | None) -> list[float]:
        return [float(self._value(limit)) for limit in limits if limit is not None]

    def _agrees(self, printed: Value) -> bool:
        """Return whether ours agrees with this value."""
        criterion = self._criterion
        if criterion.condition:
            return bool(self.ours)
        if criterion.equals is not None:
            return self._is_same(self._value(criterion.equals))
        ours = float(self.ours)
        low, high = self._ends(criterion.low), self._ends(criterion.high)
        above, below = self._ends(criterion.above), self._ends(criterion.below)
        if criterion.within is not None:
            reach = float(self._value(criterion.within))
            low.append(float(printed) - reach)
            high.append(float(printed) + reach)
        if criterion.factor is not None:
            low.append(float(printed) / criterion.factor)
            high.append(float(printed) * criterion.factor)
        self.low = max([*low, *above], default=math.nan)
        self.high = min([*high, *below], default=math.nan)
        return (
            all(ours >= end - _ROUNDING * abs(end) for end in low)
            and all(ours <= end + _ROUNDING * abs(end) for end in high)
            and all(ours > end for end in above)
            and all(ours < end for end in below)
        )

    def _is_same(self, expected: Value) -> bool:
        """Return whether two numbers, texts or lists of numbers are the same."""
        if np.ndim(self.ours) or np.ndim(expected):
            left, right = np.atleast_1d(self.ours), np.atleast_1d(expected)
            return left.shape == right.shape and bool(np.allclose(left, right, rtol=_ROUNDING))
        if as_number(expected) is None or as_number(self.ours) is None:
            return str(self.ours).strip().casefold() == str(expected).strip().casefold()
        return bool(same(float(self.ours), float(expected)))

    def _is_corrected(self, instead: Limit) -> bool:
        """Return whether ours agrees with the value that should have been printed."""
        criterion = self._criterion
        correct = self._value(instead)
        if criterion.within is not None or criterion.factor is not None:
            return self._agrees(correct)
        return self._is_same(correct) if criterion.equals is not None else bool(correct)


def _ratio(ours: Value, printed: Value) -> float:
    """Return ours over the printed number; NaN unless both are numbers."""
    if np.ndim(ours):
        return math.nan
    left, right = as_number(ours), as_number(printed)
    return math.nan if left is None or not right else left / right


Source = Selection | tuple[Selection, ...]


def number(
    source: Source, ours: str | Measure, between: tuple[Limit, Limit] | None = None, **limits: Any
) -> Criterion:
    """Decide by a number or a text: a column, or a function of the rows; see `Criterion`.

    ``between`` is ``low`` and ``high``.
    """
    ends: dict[str, Any] = dict(zip(("low", "high"), between or (), strict=False))
    return Criterion(selections=_several(source), ours=ours, **ends, **limits)


def holds(source: Source, condition: str | Measure, **reasons: Any) -> Criterion:
    """Decide by a condition on the rows; see `Criterion`."""
    return Criterion(selections=_several(source), ours=condition, condition=True, **reasons)


def setting(name: str, **limits: Any) -> Criterion:
    """Decide by an entry of the configuration, which is to be the printed one unless said."""
    limits = limits or {"equals": printed}
    return number(rows("scorecard/settings", setting=name), "value", **limits)


def setting_numbers(name: str, **limits: Any) -> Criterion:
    """Decide by the numbers in an entry of the configuration, which are to be the printed ones."""
    limits = limits or {"equals": printed_numbers}
    source = rows("scorecard/settings", setting=name)
    return number(source, lambda t: numbers(t.value), **limits)


def settings(values: Mapping[str, str]) -> Criterion:
    """Decide by several entries of the configuration: each is this JSON."""

    def equal(t: Rows) -> bool:
        return all(t.where(setting=name).value == text for name, text in values.items())

    return holds(rows("scorecard/settings"), equal)


def _several(source: Source) -> tuple[Selection, ...]:
    return source if isinstance(source, tuple) else (source,)

"""A claim held against tables: ours, where it may lie, and whether it does.

A verdict is ``yes``; ``no``; ``erratum`` where the paper has it wrong; ``not at this scale`` where
more has to be drawn than was; or ``cannot be decided``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from epsilometer.errors import ConfigError, suggest
from epsilometer_workflow.reports.scorecard.claims import Claim, Line, Rule
from epsilometer_workflow.reports.scorecard.expressions import (
    Expression,
    ExpressionError,
    UnknownName,
    Value,
    as_number,
    rounding,
)
from epsilometer_workflow.reports.scorecard.outcomes import ERRATUM, NO, NOT_HERE, UNDECIDED, YES

Columns = Mapping[str, NDArray[Any]]
_ROUNDING = 1e-9  # of a bound, for what its own arithmetic loses


@dataclass(frozen=True)
class Judged:
    """The verdict on one claim; ``low`` and ``high`` are the limits of ours, NaN where open."""

    ours: str
    low: float
    high: float
    agrees: str
    reason: str


def columns(table: pd.DataFrame) -> dict[str, NDArray[Any]]:
    """Return a table's columns, numbers as floats also where they are written as text."""
    return {str(name): _column(table[name]) for name in table}


def _column(values: pd.Series) -> NDArray[Any]:
    kind = values.dtype
    if pd.api.types.is_bool_dtype(kind):
        return np.asarray(values, bool)
    if pd.api.types.is_numeric_dtype(kind):
        return np.asarray(values.to_numpy(float, na_value=np.nan))
    try:
        return np.asarray(pd.to_numeric(values), float)
    except (TypeError, ValueError):
        return np.asarray(values, object)


def judge(claim: Claim, line: Line, tables: Mapping[str, Columns], *, decides: bool) -> Judged:
    """Decide a claim; ``decides`` tells whether the scale is large enough for it.

    ``tables`` holds columns by ``report/table``. Raise `ConfigError` naming the line where they do
    not hold what it asks for: at a scale that does not decide, rows may be missing, columns not.
    """
    rule = line.rule
    if rule.undecided is not None:
        return Judged("", math.nan, math.nan, UNDECIDED, rule.undecided)
    try:
        comparison = _Comparison(claim, rule, tables)
    except ExpressionError as error:
        if not decides and not isinstance(error, UnknownName):
            return Judged("", math.nan, math.nan, NOT_HERE, f"needs the scale {claim.scale}")
        raise ConfigError(line.file, line.pattern, f"{claim.id}: {error}") from None
    if not decides:
        agrees, reason = NOT_HERE, f"needs the scale {claim.scale}"
    elif comparison.agrees:
        agrees, reason = YES, rule.because or ""
    elif comparison.corrected:
        agrees, reason = ERRATUM, rule.erratum or ""
    else:
        agrees, reason = NO, "; ".join(filter(None, [rule.because, "see docs/scorecard.md"]))
    low, high = (float(f"{end:.12g}") for end in (comparison.low, comparison.high))
    return Judged(_written(comparison.ours), low, high, agrees, reason)


class _Comparison:
    """Ours and its bounds, by one rule, in these tables."""

    def __init__(self, claim: Claim, rule: Rule, tables: Mapping[str, Columns]) -> None:
        self._rule, self._claim = rule, claim
        self._known: dict[str, Value] = {"key": claim.keys, "printed": claim.number}
        rows = self._rows(tables)
        if rule.per is None:
            self._known |= rows
            self._define(self._known)
            self.ours = self._single(Expression(self._text).value(self._known))
        else:
            self.ours = self._per_group(rows)
            self._known |= rows
            if any(name in text for name in rule.let for text in self._bounds()):
                self._define(self._known)
        self._known["ours"] = self.ours
        self.low, self.high = math.nan, math.nan
        self.agrees = self._compare(claim.number)
        ends = self.low, self.high
        self.corrected = rule.instead is not None and self._is_corrected()
        self.low, self.high = ends

    @property
    def _text(self) -> str:
        return str(self._rule.ours if self._rule.holds is None else self._rule.holds)

    def _bounds(self) -> list[str]:
        rule = self._rule
        bounds = (rule.within, rule.low, rule.high, rule.above, rule.below, rule.equals)
        return [str(bound) for bound in bounds if bound is not None]

    def _rows(self, tables: Mapping[str, Columns]) -> dict[str, Value]:
        """Return the columns of the wanted rows, or whole tables by their names."""
        names = self._rule.tables(self._claim.paper)
        for table in names.values():
            if table not in tables:
                raise UnknownName(f"unknown table {table!r}{suggest(table, tables)}")
        if "" not in names:
            return {name: tables[table] for name, table in names.items()}
        all_rows = tables[names[""]]
        if self._rule.where is None:
            return dict(all_rows)
        chosen = Expression(self._rule.where).value({**self._known, **all_rows})
        size = len(next(iter(all_rows.values())))
        chosen = np.broadcast_to(np.asarray(chosen, bool), (size,))
        if not chosen.any():
            raise ExpressionError(f"no row of {names['']} has {self._rule.where}")
        return {name: values[chosen] for name, values in all_rows.items()}

    def _define(self, known: dict[str, Value]) -> None:
        """Evaluate the named expressions, in turn."""
        for name, text in self._rule.let.items():
            known[name] = Expression(text).value(known)

    def _per_group(self, rows: dict[str, Value]) -> Value:
        """Return one number of those of all groups."""
        per, take = str(self._rule.per).split(), str(self._rule.take)
        for name in per:
            if name not in rows:
                raise UnknownName(f"unknown column {name!r}{suggest(name, rows)}")
        values = []
        keys = list(zip(*(rows[name].tolist() for name in per), strict=True))
        for names in dict.fromkeys(keys):
            group = np.array([key == names for key in keys])
            known = self._known | {name: column[group] for name, column in rows.items()}
            self._define(known)
            values.append(self._single(Expression(self._text).value(known)))
        return self._single(Expression(take).value({"each": np.array(values)}))

    def _single(self, value: Value) -> Value:
        """Return the one value that there is; several only where they are compared one by one."""
        if self._rule.equals is not None and np.ndim(value) > 0 and np.size(value) != 1:
            return np.asarray(value)
        if np.size(value) != 1:
            raise ExpressionError(f"{self._text!r} has {np.size(value)} values, not one")
        return np.asarray(value).reshape(-1)[0]

    def _end(self, text: object) -> float:
        return float(self._single(Expression(str(text)).value(self._known)))

    def _compare(self, printed: float | str) -> bool:
        """Tell whether ours agrees with the printed value, or with the corrected one."""
        rule, ours = self._rule, self.ours
        if rule.holds is not None:
            return bool(ours)
        if rule.equals is not None:
            expected = rule.equals
            if isinstance(expected, str):
                expected = Expression(expected).value(self._known | {"printed": printed})
            return self._same(ours, expected)
        value = _number(ours)
        low, high = [], []
        if rule.within is not None:
            centre = _number(printed)
            reach = (
                rounding(self._claim.printed)
                if rule.within == "rounding"
                else self._end(rule.within)
            )
            low.append(centre - reach)
            high.append(centre + reach)
        if rule.factor is not None:
            low.append(_number(printed) / rule.factor)
            high.append(_number(printed) * rule.factor)
        low += [self._end(text) for text in (rule.low,) if text is not None]
        high += [self._end(text) for text in (rule.high,) if text is not None]
        above = None if rule.above is None else self._end(rule.above)
        below = None if rule.below is None else self._end(rule.below)
        self.low = max([*low, *([] if above is None else [above])], default=math.nan)
        self.high = min([*high, *([] if below is None else [below])], default=math.nan)
        return (
            all(value >= end - _ROUNDING * abs(end) for end in low)
            and all(value <= end + _ROUNDING * abs(end) for end in high)
            and (above is None or value > above)
            and (below is None or value < below)
        )

    def _same(self, ours: Value, expected: Value) -> bool:
        """Tell whether two numbers, words or lists of numbers are the same."""
        if np.ndim(ours) or np.ndim(expected):
            left, right = np.atleast_1d(ours), np.atleast_1d(expected)
            return left.shape == right.shape and bool(np.allclose(left, right, rtol=_ROUNDING))
        if as_number(expected) is None or as_number(ours) is None:
            return str(ours).strip().casefold() == str(expected).strip().casefold()
        self.low = self.high = float(expected)
        return math.isclose(float(ours), float(expected), rel_tol=_ROUNDING, abs_tol=1e-12)

    def _is_corrected(self) -> bool:
        """Tell whether ours fits what should have been printed."""
        rule = self._rule
        value = rule.instead
        if isinstance(value, str):
            value = self._single(Expression(value).value(self._known))
        if rule.within is not None or rule.factor is not None:
            return self._compare(float(value or 0.0))
        if rule.equals is not None:
            return self._same(self.ours, value)
        return bool(value)


def _number(value: Value) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ExpressionError(f"{value!r} is no number") from None


def _written(value: Value) -> str:
    """Return a number to ten digits, or a word, as the table has it."""
    if np.ndim(value):
        return ", ".join(_written(entry) for entry in value)
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    number = value if isinstance(value, str) else f"{float(value):.10g}"
    return str(number)

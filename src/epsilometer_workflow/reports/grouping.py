"""The identity of estimates, and tables made of one group of it after the other.

A builder cannot mix two values of an axis of identity that it does not know: it is called for each
combination of the axes that it does not work across, with the rows of this group alone. The table
gets a column for each axis that varies and that no column of it tells.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from epsilometer.errors import ArgumentError, suggest
from epsilometer.settings.registry import load

Builder = TypeVar("Builder", bound=Callable[..., pd.DataFrame])
Law = Callable[[float], Any]
"""The exact distribution of a group's mechanism at an epsilon; None if it is not known."""

IDENTITY: Mapping[str, tuple[str, ...]] = {
    "mechanism": (),
    "epsilon": (),
    "inputs": ("mechanism",),
    "lambda": (),
    "estimator": ("gamma",),
    "settings": ("mechanism", "estimator", "gamma"),
    "gamma": ("estimator",),
    "n": (),
    "fresh": ("n", "estimator"),
    "x": ("mechanism", "inputs"),
    "x_prime": ("mechanism", "inputs", "x"),
}
"""The axes of identity; and for each the axes that may tell it, so that it needs no column."""

PAIRS = ("x", "x_prime")
ALL = ("panel", *IDENTITY)


@dataclass(frozen=True)
class Grouping:
    """How a builder's tables are made of groups.

    ``across`` are the axes that the builder itself works across. Tables begin with the axes
    ``first``, also where they do not vary, and have the ``order`` of these columns (``-n``: the
    largest first). ``curve`` are further options, with which the table has many points.
    """

    across: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    curve: Mapping[str, Any] | None = None


@lru_cache(maxsize=64)
def law_of(law: str, mechanism: str, epsilon: float, parameters: str) -> Any:
    """Return the exact distribution of a mechanism; its cached values serve all estimators."""
    return load(law)(load(mechanism)(epsilon=epsilon, **json.loads(parameters)))


def grouped(**declared: Any) -> Callable[[Builder], Builder]:
    """Declare the `Grouping` of a builder."""

    def declare(builder: Builder) -> Builder:
        builder.grouping = Grouping(**declared)  # type: ignore[attr-defined]
        return builder

    return declare


def grouping_of(builder: Callable[..., Any]) -> Grouping:
    """Return what a builder declares; without, it works across nothing."""
    return getattr(builder, "grouping", Grouping())


def chosen(
    rows: pd.DataFrame, panels: Mapping[str, str] | None = None, **values: Any
) -> pd.DataFrame:
    """Return the rows with these values of axes, and of the curves that have a title.

    ``panels`` maps mechanisms, or ``mechanism inputs`` where these differ, to titles, which get a
    column ``panel``; without it all rows are shown, by the names of their mechanisms.
    """
    for axis, value in values.items():
        if value is not None:
            rows = _with_value(rows, axis, value)
    if panels is None:
        return rows.assign(panel=rows["mechanism"])
    both = rows["mechanism"] + " " + rows["inputs"]
    for name in panels:
        if name not in {*both, *rows["mechanism"]}:
            known = suggest(name, [*rows["mechanism"].unique(), *both.unique()])
            raise ArgumentError("panels", f"has {name!r}, which is not in the data{known}")
    titles = both.map(panels).fillna(rows["mechanism"].map(panels))
    return rows.assign(panel=titles)[titles.notna()]


def _with_value(rows: pd.DataFrame, axis: str, value: str | float) -> pd.DataFrame:
    """Return the rows with a value of an axis; raise `ArgumentError` if there are none."""
    if axis not in rows:
        raise ArgumentError(axis, "chooses nothing: the data do not have it")
    if isinstance(value, str):
        same = rows[axis] == value
    else:
        same = np.isclose(rows[axis].astype(float), value)
    if not same.any():
        known = ", ".join(map(str, rows[axis].unique()))
        raise ArgumentError(axis, f"must be one of the data, {known}, got {value}")
    return rows[same]


def by_group(
    build: Callable[[pd.DataFrame], pd.DataFrame],
    rows: pd.DataFrame,
    grouping: Grouping,
    titles: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the tables of all groups as one, whose columns tell the groups apart."""
    axes = [axis for axis in ALL if axis in rows and axis not in grouping.across]
    if not axes:
        return build(rows)
    rows = _with_plain_texts(rows)
    keys = []
    parts = []
    for key, group in rows.groupby(axes, sort=False, dropna=False):
        with _naming(dict(zip(axes, key, strict=True)), rows):
            part = build(group.reset_index(drop=True))
        keys += [key] * len(part)
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    values = _with_plain_texts(pd.DataFrame(keys, columns=axes))
    own = table[[axis for axis in axes if axis in table]]
    once = ~pd.concat([values, own], axis=1).duplicated()
    true = values[once]
    seen = values.assign(**own)[once]
    shown = [axis for axis in axes if axis in table or axis in grouping.first]
    front = []
    for axis in axes:
        tellers = [teller for teller in IDENTITY.get(axis, ()) if teller in shown]
        if axis not in ("panel", *shown) and not told(true[axis], seen[tellers]):
            front.append(axis)
            shown.append(axis)
    for axis in axes:
        if not told(true[axis], seen[shown]):
            names = ", ".join(map(str, true[axis].unique()[:3]))
            raise ArgumentError("data", f"has {axis} {names}, which no column tells apart")
    front += [axis for axis in grouping.first if axis not in table]
    for place, axis in enumerate(front):
        table.insert(place, axis, values[axis])
    return _in_order(table.infer_objects(), grouping.order, titles)


def _with_plain_texts(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with texts as objects of Python: in small groups, those of Arrow are slow."""
    return rows.astype(dict.fromkeys(rows.select_dtypes("str"), object))


@contextmanager
def _naming(group: Mapping[str, Any], rows: pd.DataFrame) -> Iterator[None]:
    """Let errors about a group name its values of axes that vary."""
    try:
        yield
    except ArgumentError as error:
        varying = []
        for axis, value in group.items():
            if len(rows[axis].drop_duplicates()) > 1:
                varying += [f"{axis} = {value}"]
        wrong = str(error).removeprefix(f"{error.argument} ")
        if varying:
            wrong += f"; {', '.join(varying)}"
        raise ArgumentError(error.argument, wrong) from None


def check_once(rows: pd.DataFrame) -> None:
    """Raise `ArgumentError` where two rows of estimates have one identity, as of two searches."""
    keys = [k for k in (*IDENTITY, "run", "claim", "side_x", "side_x_prime") if k in rows]
    twice = rows[rows.duplicated(keys)]
    if len(twice):
        which = ", ".join(f"{k} {twice[k].iloc[0]}" for k in ("mechanism", "estimator", "n"))
        raise ArgumentError("data", f"have two rows of {which}; keep one")


def told(axis: pd.Series, tellers: pd.DataFrame) -> bool:
    """Return whether columns tell the value of an axis; no column does if it has one value."""
    values = _numbered(axis)
    if tellers.empty:
        return len(set(values)) <= 1
    told_by = list(zip(*(_numbered(tellers[name]) for name in tellers), strict=True))
    return len(set(told_by)) == len(set(zip(told_by, values, strict=True)))


def _numbered(column: pd.Series) -> list[int]:
    """Return numbers in place of values, the same for equal and for missing ones."""
    numbers, _ = pd.factorize(column, use_na_sentinel=False)
    return list(numbers)


def _in_order(table: pd.DataFrame, order: Sequence[str], titles: Sequence[str]) -> pd.DataFrame:
    """Return the table in the order of columns; panels have the order of their titles."""
    columns = []
    rising = []
    for entry in order:
        column = entry.removeprefix("-")
        if column in table:
            columns.append(column)
            rising.append(entry == column)
    if not columns:
        return table
    every_title = list(dict.fromkeys(titles))

    def ranked(column: pd.Series) -> pd.Series:
        return column.map(every_title.index) if column.name == "panel" and titles else column

    return table.sort_values(
        columns, ascending=rising, key=ranked, kind="stable", ignore_index=True
    )

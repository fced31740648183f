"""Which inputs a declared domain has, and which two of them are neighbours.

The tables of declarations and relations in docs/audit.md say the same in words. What makes the
pairs of a domain shares no code with this module: a pair of an audit is one of its relation because
`neighbours` says so. Each function has a case for each kind of domain.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial, singledispatch
from typing import Any

import numpy as np

from epsilometer_audit.outputs.formats import ends_alike
from epsilometer_audit.question.entries import (
    NORMS,
    Choices,
    Counts,
    Entry,
    Number,
    Row,
    Users,
    Vector,
)
from epsilometer_audit.question.tables import Table

_ROUNDED = 1 + 1e-9  # times a distance: floats that are so far apart are rounded


@singledispatch
def contains(space: Any, x: Any) -> bool:
    """Tell whether ``x`` is an input of a declared domain, to the bit."""
    raise TypeError(f"no domain: {space!r}")


@singledispatch
def neighbours(space: Any, x: Any, y: Any) -> bool:
    """Tell whether two different inputs of a declared domain are neighbours."""
    raise TypeError(f"no domain: {space!r}")


@singledispatch
def relation(space: Any) -> str:
    """Return which two inputs of a declared domain are neighbours, and which are not."""
    raise TypeError(f"no domain: {space!r}")


def _same(x: Any, y: Any) -> bool:
    """Tell whether two plain values are the same: 1 is not 1.0, and NaN is NaN."""
    return repr(x) == repr(y)


def _same_or_neighbours(space: Any, x: Any, y: Any) -> bool:
    return _same(x, y) or neighbours(space, x, y)


# --- entries --------------------------------------------------------------------------------------


@relation.register
def _(space: Entry) -> str:
    if space.free:
        return near_values(space)
    return f"{near_values(space)}; not: any others"


@singledispatch
def near_values(entry: Entry) -> str:
    """Return which values of an entry are neighbours."""
    return "any two values"


@contains.register
def _(space: Number, x: Any) -> bool:
    if x is None or (isinstance(x, float) and math.isnan(x)):
        return any(_same(x, value) for value in space.missing)
    kind = int if space.whole else float
    if type(x) is not kind or abs(x) == math.inf:
        return False
    return space.clipped or space.lower <= x <= space.upper


@neighbours.register
def _(space: Number, x: Any, y: Any) -> bool:
    return space.distance is None or abs(x - y) <= space.distance * _ROUNDED


@near_values.register
def _(entry: Number) -> str:
    if entry.free:
        return "any two values"
    return f"numbers at most {entry.distance:g} apart"


@contains.register
def _(space: Choices, x: Any) -> bool:
    return any(_same(x, option) for option in space.options)


@neighbours.register
def _(space: Choices, x: Any, y: Any) -> bool:
    return True


@contains.register
def _(space: Row, x: Any) -> bool:
    if space.names is None:
        values = x
        if not isinstance(x, list) or len(x) != len(space.columns):
            return False
    else:
        if not isinstance(x, dict) or list(x) != space.names:
            return False
        values = list(x.values())
    return all(map(contains, space.columns, values))


@neighbours.register
def _(space: Row, x: Any, y: Any) -> bool:
    keys = space.names or range(len(space.columns))
    for key, column in zip(keys, space.columns, strict=True):
        if not _same_or_neighbours(column, x[key], y[key]):
            return False
    return True


@near_values.register
def _(entry: Row) -> str:
    if entry.free:
        return "any two values"
    names = entry.names or [f"column {i}" for i in range(1, len(entry.columns) + 1)]
    parts = []
    for name, column in zip(names, entry.columns, strict=True):
        parts.append(f"{name}: {near_values(column)}")
    return f"rows alike but for {', '.join(parts)}"


@neighbours.register
def _(space: Vector, x: Any, y: Any) -> bool:
    apart = np.subtract(x, y, dtype=float)
    return bool(np.linalg.norm(apart, NORMS[space.norm]) <= space.distance * _ROUNDED)


@near_values.register
def _(entry: Vector) -> str:
    return f"vectors in {entry.norm} at most {entry.distance:g} apart"


@contains.register
def _(space: Users, x: Any) -> bool:
    return 1 <= len(x) <= space.most and all(contains(space.rows, row) for row in x)


@neighbours.register
def _(space: Users, x: Any, y: Any) -> bool:
    if space.free:
        return True
    return len(x) == len(y) and all(map(partial(_same_or_neighbours, space.rows), x, y))


# --- tables ---------------------------------------------------------------------------------------


@contains.register
def _(space: Table, x: Any) -> bool:
    if not isinstance(x, list):
        return False
    units = x
    if space.user is not None:
        users = []
        for row in x:
            if not isinstance(row, dict) or type(row.get(space.user)) is not int:
                return False
            users.append(row[space.user])
        if users != sorted(users):
            return False
        units = list(_by_user(space.user, x).values())
    if not space.shortest <= len(units) <= space.longest:
        return False
    different = {repr(unit): unit for unit in units}  # tables have many equal rows
    return all(contains(space.unit, unit) for unit in different.values())


@neighbours.register
def _(space: Table, x: Any, y: Any) -> bool:
    if space.user is not None:
        users = _by_user(space.user, x)
        users_prime = _by_user(space.user, y)
        if space.replace and {*users} != {*users_prime}:
            return False
        only = _other_rows(users, users_prime)
        only_prime = _other_rows(users_prime, users)
    elif space.any_order:
        only, only_prime = _in_one_only(x, y)
    else:
        start, end = ends_alike(x, y)
        only = x[start : len(x) - end]
        only_prime = y[start : len(y) - end]
    if space.replace:
        return len(only) == len(only_prime) == 1 and neighbours(space.unit, only[0], only_prime[0])
    return len(only) + len(only_prime) == 1


@relation.register
def _(space: Table) -> str:
    unit = "a row" if space.user is None else "all rows of a user"
    change = f"{unit} added or removed"
    other = f"{unit} replaced"
    if space.replace:
        change, other = other, change
    if not space.rows.free:
        change += f" by near ones ({near_values(space.rows)})"
    if space.any_order:
        return f"tables with {change}, in any order; not: {other}"
    return f"tables with {change}, in the same order; not: {other}, another order"


def _by_user(user: str, table: Sequence[dict[str, Any]]) -> dict[int, list[Any]]:
    """Return the rows of each user, without the number."""
    users: dict[int, list[Any]] = {}
    for row in table:
        without = dict(row)
        users.setdefault(without.pop(user), []).append(without)
    return users


def _other_rows(users: dict[int, list[Any]], others: dict[int, list[Any]]) -> list[Any]:
    """Return the rows of each user who has other rows, or none, among others."""
    return [rows for user, rows in users.items() if not _same(rows, others.get(user))]


def _in_one_only(x: list[Any], y: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the rows that only one table has, whatever their order."""
    rows = {repr(row): row for row in (*x, *y)}
    surplus = Counter(map(repr, x))
    surplus.subtract(map(repr, y))
    only = [rows[text] for text in surplus.elements()]
    return only, [rows[text] for text in (-surplus).elements()]


# --- counts ---------------------------------------------------------------------------------------


@contains.register
def _(space: Counts, x: Any) -> bool:
    if not isinstance(x, dict) or not {*x} <= {*space.names} or 0 in x.values():
        return False
    counts = [x.get(key, 0) for key in space.names]
    return all(map(contains, space.columns, counts))


@neighbours.register
def _(space: Counts, x: Any, y: Any) -> bool:
    apart = [x.get(key, 0) - y.get(key, 0) for key in space.names]
    on_one_side = {*apart} <= {0, 1} or {*apart} <= {0, -1}
    return on_one_side and sum(map(abs, apart)) <= space.changed


@relation.register
def _(space: Counts) -> str:
    keys = "one key" if space.changed == 1 else f"up to {space.changed} keys, all on one side"
    return f"counts that are larger by 1 in {keys}; not: in more keys, or by more"

"""Which inputs a declared domain has, and which two of them are neighbours.

The tables of declarations and relations in docs/audit.md say the same in words. What makes the
pairs of a domain shares no code with this module: a pair of an audit is one of its relation because
`neighbours` says so. Each function has a case for each kind of domain.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from epsilometer_audit.inputs.entries import (
    NORMS,
    Choices,
    Counts,
    Entry,
    Number,
    Row,
    Users,
    Vector,
)
from epsilometer_audit.inputs.tables import Table

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


# --- entries --------------------------------------------------------------------------------------


@relation.register
def _(space: Entry) -> str:
    return near_values(space) if space.free else f"{near_values(space)}; not: any others"


@singledispatch
def near_values(entry: Entry) -> str:
    """Return which values of an entry are neighbours."""
    return "any two values"


@contains.register
def _(space: Number, x: Any) -> bool:
    if x is None or (isinstance(x, float) and math.isnan(x)):
        return any(_same(x, value) for value in space.missing)
    if type(x) is not (int if space.whole else float) or abs(x) == math.inf:
        return False
    return space.clipped or space.lower <= x <= space.upper


@neighbours.register
def _(space: Number, x: Any, y: Any) -> bool:
    return space.distance is None or abs(x - y) <= space.distance * _ROUNDED


@near_values.register
def _(entry: Number) -> str:
    return "any two values" if entry.free else f"numbers at most {entry.distance:g} apart"


@contains.register
def _(space: Choices, x: Any) -> bool:
    return any(_same(x, option) for option in space.options)


@neighbours.register
def _(space: Choices, x: Any, y: Any) -> bool:
    return True


@contains.register
def _(space: Row, x: Any) -> bool:
    if space.names is None:
        values = x if isinstance(x, list) else []
    else:
        values = list(x.values()) if isinstance(x, dict) and list(x) == list(space.names) else []
    return len(values) == len(space.columns) and all(map(contains, space.columns, values))


@neighbours.register
def _(space: Row, x: Any, y: Any) -> bool:
    keys = range(len(space.columns)) if space.names is None else space.names
    return all(
        _same(x[key], y[key]) or neighbours(column, x[key], y[key])
        for key, column in zip(keys, space.columns, strict=True)
    )


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
    both = list(zip(x, y, strict=False))
    return len(x) == len(y) and all(_same(a, b) or neighbours(space.rows, a, b) for a, b in both)


# --- tables ---------------------------------------------------------------------------------------


@contains.register
def _(space: Table, x: Any) -> bool:
    if not isinstance(x, list):
        return False
    units: Sequence[Any] = x
    if space.user is not None:
        if not all(isinstance(row, dict) and type(row.get(space.user)) is int for row in x):
            return False
        users = [row[space.user] for row in x]
        if users != sorted(users):
            return False
        units = list(_by_user(space.user, x).values())
    different = {repr(unit): unit for unit in units}  # tables have many equal rows
    enough = space.shortest <= len(units) <= space.longest
    return enough and all(contains(space.unit, unit) for unit in different.values())


@neighbours.register
def _(space: Table, x: Any, y: Any) -> bool:
    if space.user is not None:
        users, users_prime = _by_user(space.user, x), _by_user(space.user, y)
        if space.replace and {*users} != {*users_prime}:
            return False
        numbers = {**users, **users_prime}
        differ = [u for u in numbers if not _same(users.get(u), users_prime.get(u))]
        only = [users[u] for u in differ if u in users]
        only_prime = [users_prime[u] for u in differ if u in users_prime]
    elif space.any_order:
        only, only_prime = _in_one_only(x, y)
    else:
        only, only_prime = _without_common_ends(x, y)
    if space.replace:
        return len(only) == len(only_prime) == 1 and neighbours(space.unit, only[0], only_prime[0])
    return len(only) + len(only_prime) == 1


@relation.register
def _(space: Table) -> str:
    unit = "a row" if space.user is None else "all rows of a user"
    replaced, added = f"{unit} replaced", f"{unit} added or removed"
    own, others = (replaced, [added]) if space.replace else (added, [replaced])
    if not space.rows.free:
        own += f" by near ones ({near_values(space.rows)})"
    if not space.any_order:
        others.append("another order")
    order = "any" if space.any_order else "the same"
    return f"tables with {own}, in {order} order; not: {', '.join(others)}"


def _by_user(user: str, table: Sequence[dict[str, Any]]) -> dict[int, list[Any]]:
    """Return the rows of each user, without the number."""
    users: dict[int, list[Any]] = {}
    for row in table:
        rest = {key: value for key, value in row.items() if key != user}
        users.setdefault(row[user], []).append(rest)
    return users


def _in_one_only(x: list[Any], y: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the rows that only one table has, whatever their order."""
    texts, texts_prime = Counter(map(repr, x)), Counter(map(repr, y))
    rows = {repr(row): row for row in (*x, *y)}
    only, only_prime = texts - texts_prime, texts_prime - texts
    return [rows[text] for text in only.elements()], [rows[text] for text in only_prime.elements()]


def _without_common_ends(x: list[Any], y: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the rows of two tables without the first and the last ones that are the same."""
    texts, texts_prime = list(map(repr, x)), list(map(repr, y))
    shorter = min(len(x), len(y))
    start = 0
    while start < shorter and texts[start] == texts_prime[start]:
        start += 1
    end = 0
    while end < shorter - start and texts[-1 - end] == texts_prime[-1 - end]:
        end += 1
    return x[start : len(x) - end], y[start : len(y) - end]


# --- counts ---------------------------------------------------------------------------------------


@contains.register
def _(space: Counts, x: Any) -> bool:
    if not isinstance(x, dict) or not {*x} <= {*space.names} or 0 in x.values():
        return False
    return all(
        contains(number, x.get(key, 0))
        for key, number in zip(space.names, space.columns, strict=True)
    )


@neighbours.register
def _(space: Counts, x: Any, y: Any) -> bool:
    apart = [x.get(key, 0) - y.get(key, 0) for key in space.names]
    changes = [change for change in apart if change != 0]
    return len(changes) <= space.changed and changes in ([1] * len(changes), [-1] * len(changes))


@relation.register
def _(space: Counts) -> str:
    keys = "one key" if space.changed == 1 else f"up to {space.changed} keys, all on one side"
    return f"counts that are larger by 1 in {keys}; not: in more keys, or by more"

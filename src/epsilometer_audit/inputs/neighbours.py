"""Neighbouring inputs: a table, and the same with a row removed or replaced."""

from __future__ import annotations

import random

from epsilometer import checks
from epsilometer.errors import ArgumentError, suggest
from epsilometer_audit.checks.accepted_pairs import Candidates
from epsilometer_audit.sources import recorded

MOST_PAIRS = 1000  # of declared inputs
_KINDS = {"remove": "without a row", "replace": "with a row replaced by another of its rows"}


def neighbours(
    path: str, kind: str, *, limit: int = 100, seed: int = 0, frame: bool = False
) -> Candidates:
    """Return pairs of a table and the table with a row removed or replaced, for each of its rows.

    ``path`` is a CSV or Parquet file; raise `ArgumentError` if it has no table, or no two different
    rows. A table is a list of rows, which are lists; a single column is a list of its values; with
    ``frame`` it is a pandas data frame with column names. The ``kind`` is ``remove``, or
    ``replace``: by another row, not equal to it, that follows from ``seed``. At most ``limit``
    rows, evenly spaced, are changed.
    """
    checks.integer("limit", limit, maximum=MOST_PAIRS)
    if kind not in _KINDS:
        raise ArgumentError("neighbours", f"has no kind {kind!r}{suggest(kind, _KINDS)}")
    names, table = recorded.table(path)
    if len(names) == 1 and not frame:
        table = [row[0] for row in table]
    if kind == "replace" and all(row == table[0] for row in table):
        raise ArgumentError(path, "has no two different rows, so that none can be replaced")
    rng, count, pairs = random.Random(seed), min(limit, len(table)), {}  # noqa: S311
    for i in (k * len(table) // count for k in range(count)):
        name, new = f"without row {i + 1}", []
        if kind == "replace":
            j = rng.randrange(len(table))
            while table[j] == table[i]:
                j = rng.randrange(len(table))
            name, new = f"row {i + 1} replaced by row {j + 1}", [table[j]]
        sides = table, [*table[:i], *new, *table[i + 1 :]]
        x, y = ({"$frame": names, "rows": side} if frame else side for side in sides)
        pairs[name] = x, y
    left = f"{len(table) - count:,} of {len(table):,} rows were not tried"
    left += "; in a file of audits, a larger limit tries more"
    relation = f"this table and the same {_KINDS[kind]}; not: any other"
    return Candidates(pairs, untried=[left] * (count < len(table)), relations=[relation])

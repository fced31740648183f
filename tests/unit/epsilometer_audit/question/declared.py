"""Declarations of domains that several files of tests ask."""

from collections import Counter

UNIT, NUMBER = {"values": [0, 1]}, {"values": [0, 5], "missing": True}
CLIPPED = {"values": [0, 10], "clipped": True}
TABLE = {"rows": {"values": [0, 5]}, "length": [0, 20]}
REPLACED = {**TABLE, "neighbours": "replace a row", "limit": 8}
ANY_ORDER = {"rows": UNIT, "length": [0, 9], "neighbours": "any order"}
COUNTED = {"counts": [0, 9], "keys": ["a", "b"]}
USERS = {"rows": {"x": {"values": [0, 5]}}, "length": [0, 4], "user": "id"}


def changed_places(pairs):
    """How often each place of tables of one length has another row."""
    places = Counter()
    for x, y in pairs:
        places.update(i for i in range(len(x)) if x[i] != y[i])
    return places


def removed_rows(pairs):
    """The rows that the first table has, and the second does not."""
    rows = Counter()
    for x, y in pairs:
        rows += Counter(x) - Counter(y)
    return {*rows}

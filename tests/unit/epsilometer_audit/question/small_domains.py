"""Small domains: all their inputs, and all neighbours, made by edits.

An input consists of parts: its rows by their places, or the rows of each user by the number; or it
is the only part. An edit removes a part, or replaces it by a near one.
"""

import json
from functools import cache
from itertools import combinations, permutations, product

import numpy as np

SEX, AGE = {"choices": ["m", "f"]}, {"values": [0, 3], "whole": True, "distance": 1}
DIGIT = {"values": [0, 2], "whole": True}
OF_USERS = {"rows": {"s": SEX}, "length": [0, 2], "user": "id", "per user": 2}

SMALL = {
    "number": {"values": [0, 6], "whole": True},
    "missing": {"values": [0, 3], "whole": True, "missing": True},
    "near numbers": {"values": [-2, 4], "whole": True, "distance": 2},
    "choices": {"choices": ["a", 1, 1.0, True, None]},
    "bits": {"bits": 4},
    "any bits": {"bits": 3, "neighbours": "any"},
    "L1": {"values": [0, 3], "whole": True, "length": 3, "distance": 2, "norm": "L1"},
    "L2": {"values": [0, 3], "whole": True, "length": 2, "distance": 2, "norm": "L2"},
    "Linf": {"values": [0, 2], "whole": True, "length": 3, "distance": 1, "norm": "Linf"},
    "removed": {"rows": SEX, "length": [0, 4]},
    "replaced": {"rows": DIGIT, "length": 3},
    "replaced, lengths": {"rows": SEX, "length": [1, 3], "neighbours": "replace a row"},
    "near rows": {"rows": AGE, "length": 3},
    "near names": {"rows": {"age": AGE, "sex": SEX}, "length": 2},
    "flipped column": {"rows": [{"bits": 2, "neighbours": "flip one"}, {"bits": 2}], "length": 1},
    "vector beside": {
        "rows": {"v": {**DIGIT, "length": 2, "distance": 1, "norm": "L2"}, "y": SEX},
        "length": 1,
    },
    "any order": {"rows": DIGIT, "length": [0, 3], "neighbours": "any order"},
    "any order replaced": {"rows": AGE, "length": 3, "neighbours": "any order"},
    "users": OF_USERS,
    "users replaced": {**OF_USERS, "length": 2},
    "near users": {**OF_USERS, "rows": {"a": {**AGE, "values": [0, 2]}}, "length": 2},
    "counts": {"counts": [0, 2], "keys": ["a", "b"]},
    "several counts": {"counts": [0, 2], "keys": ["a", "b", "c"], "changed": 2},
}


def text(x):
    return json.dumps(x)


def values_of(declared):
    """All values of a small entry, or of a row of them."""
    if isinstance(declared, list):
        return list(map(list, product(*map(values_of, declared))))
    if "choices" in declared:
        return declared["choices"]
    if "bits" in declared:
        return values_of([{"choices": [0, 1]}] * declared["bits"])
    if "values" not in declared:
        rows = values_of(list(declared.values()))
        return [dict(zip(declared, row, strict=True)) for row in rows]
    low, high = declared["values"]
    values = [*range(low, high + 1)]
    if declared.get("missing"):
        values.append(None)
    if "length" in declared:
        return values_of([{"choices": values}] * declared["length"])
    return values


def near(declared, x, y):
    """Whether two values of an entry, or of a row of them, are near, or the same."""
    if isinstance(declared, list):
        return all(map(near, declared, x, y))
    if "bits" in declared:
        return declared.get("neighbours") != "flip one" or np.not_equal(x, y).sum() <= 1
    if not {"values", "choices"} & {*declared}:
        return all(near(declared[name], x[name], y[name]) for name in declared)
    if "distance" not in declared:
        return True
    apart = np.abs(np.subtract(x, y))
    sizes = {"L1": apart.sum(), "L2": np.sqrt((apart**2).sum()), "Linf": apart.max()}
    return sizes[declared.get("norm", "Linf")] <= declared["distance"]


def parts_of(declared):
    """All that a part of an input may be."""
    if "rows" not in declared:
        return values_of(declared)
    rows = values_of(declared["rows"])
    if "user" not in declared:
        return rows
    sizes = range(1, declared["per user"] + 1)
    return [list(own) for size in sizes for own in product(rows, repeat=size)]


def near_parts(declared, x, y):
    if "rows" not in declared:
        usual = {"neighbours": "flip one"} if "bits" in declared else {}
        return near({**usual, **declared}, x, y)
    rows = declared["rows"]
    if "user" not in declared:
        return near(rows, x, y)
    free = all(near(rows, a, b) for a, b in product(values_of(rows), repeat=2))
    return free or (len(x) == len(y) and near([rows] * len(x), x, y))


def divided(declared):
    """All inputs of a small domain but counts, each by its parts."""
    parts = parts_of(declared)
    if "rows" not in declared:
        return [{0: value} for value in parts]
    length = declared["length"]
    low, high = length if isinstance(length, list) else (length, length)
    found = []
    for size in range(low, high + 1):
        numberings = combinations(range(1, high + 1), size) if "user" in declared else [range(size)]
        for numbers, own in product(numberings, product(parts, repeat=size)):
            found.append(dict(zip(numbers, own, strict=True)))
    return found


def put_together(declared, parts):
    """The input of these parts."""
    if "rows" not in declared:
        return parts[0]
    if "user" not in declared:
        return list(parts.values())
    return [{"id": number, **row} for number, rows in parts.items() for row in rows]


def edited(declared, parts):
    """The neighbours of an input, and others that are not in the domain."""
    removes = isinstance(declared.get("length"), list) and "replace a row" not in declared.values()
    orders = [parts]
    if declared.get("neighbours") == "any order":
        orders = [dict(enumerate(order)) for order in permutations(parts.values())]
    for order in orders:
        for key, part in order.items():
            if removes:
                yield {other: order[other] for other in order if other != key}
                continue
            for new in parts_of(declared):
                if text(new) != text(part) and near_parts(declared, part, new):
                    yield {**order, key: new}


def counts_and_larger(declared):
    """All counts of a small domain, each with those that are larger by 1 in as many keys."""
    low, high = declared["counts"]
    keys = declared["keys"]
    moves = [move for move in product([0, 1], repeat=len(keys)) if sum(move) <= declared["changed"]]
    for counts in product(range(low, high + 1), repeat=len(keys)):
        larger = np.add(counts, moves).tolist()
        named = [dict(zip(keys, each, strict=True)) for each in (counts, *larger)]
        yield [{key: n for key, n in each.items() if n} for each in named]


@cache
def related(name):
    """All inputs of a small domain by their texts, and the unordered pairs of neighbours."""
    declared = SMALL[name]
    if "counts" in declared:
        both = [(x, ys) for x, *ys in counts_and_larger({"changed": 1, **declared})]
    else:
        both = []
        for parts in divided(declared):
            ys = [put_together(declared, each) for each in edited(declared, parts)]
            both.append((put_together(declared, parts), ys))
    every = {text(x): x for x, _ in both}
    pairs = set()
    for x, ys in both:
        pairs |= {frozenset((text(x), text(y))) for y in ys if text(y) in every}
    return every, {pair for pair in pairs if len(pair) == 2}

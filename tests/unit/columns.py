"""Columns of the outputs of two inputs, compared."""

from collections import defaultdict

import numpy as np

from epsilometer_audit.outputs.callables import callable_source
from epsilometer_audit.outputs.outcomes import learn_layout
from epsilometer_audit.outputs.shapes import joined

DRAWS = 200


def drawn(mechanism, seeds=((0, 1), (2, 3)), **options):
    """Return outputs on 0 and 1, each of two calls with the seeds of its side."""
    source = callable_source(mechanism, **options)
    half = DRAWS // 2
    return [joined([source.draw(x, half, seed) for seed in seeds[x]]) for x in (0, 1)]


def rows_of(sides):
    """Return the columns of each side, in rows; -1e9 stands for missing numbers."""
    layout = learn_layout(*sides)
    encoded = (layout.encode(side) for side in sides)
    return [np.nan_to_num(rows.reshape(len(rows), -1), nan=-1e9) for rows in encoded]


def assert_same_where_keys_are(keys, table):
    """Assert that rows of numbers are the same where keys are equal, and only there."""
    seen = defaultdict(set)
    for key, row in zip(keys, (table + 0).tolist(), strict=True):
        seen[key].add(repr(row))
    assert all(len(rows) == 1 for rows in seen.values()), seen
    assert len(set.union(*seen.values())) == len(seen)

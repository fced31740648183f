"""Numbers of whole vectors that no single entry shows, and of which most do not know an order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from epsilometer.arrays import Floats, Sample


def _centred(rows: Floats) -> Floats:
    return np.asarray(rows - rows.mean(axis=-1, keepdims=True))


def _different(rows: Floats) -> Floats:
    ordered = np.sort(rows, axis=1)
    return np.asarray(1.0 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1))


SUMMARIES: Mapping[str, Callable[[Floats], Floats]] = {
    "sum": lambda rows: rows.sum(axis=1),
    "sum over the root of the number": lambda rows: rows.sum(axis=1) / rows.shape[1] ** 0.5,
    "largest": lambda rows: rows.max(axis=1),
    "smallest": lambda rows: rows.min(axis=1),
    "place of the largest": lambda rows: rows.argmax(axis=1).astype(float),
    "place of the smallest": lambda rows: rows.argmin(axis=1).astype(float),
    "number of different values": _different,
    "spread": lambda rows: rows.std(axis=1),
    "product of neighbours": lambda rows: (_centred(rows)[:, 1:] * _centred(rows)[:, :-1]).sum(
        axis=1
    ),
}
"""Of rows of numbers, ``(n, k)``, all there: one number each, ``(n,)``."""
_WHOLE = "place", "number"
CORRELATION = "correlation"


@np.errstate(all="ignore")  # numbers may be very large
def summary(name: str, groups: Sequence[Sequence[int]], sample: Sample) -> Sample:
    """Return one number for each output, ``(n, d)``; NaN where it has none.

    It is a summary of the entries of the first of the ``groups``, without those that are missing;
    or the correlation of the entries of two groups, one by one.
    """
    columns = [sample[:, list(group)].astype(np.float64) for group in groups]
    if name == CORRELATION:
        first, second = (_centred(rows) for rows in columns)
        spreads = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
        return np.asarray((first * second).sum(axis=1) / spreads)
    rows, numbers = columns[0], np.full(len(sample), np.nan)
    there = ~np.isnan(rows)
    for size in np.unique(lengths := there.sum(axis=1)).tolist():
        if size:
            of_size = lengths == size
            numbers[of_size] = SUMMARIES[name](rows[of_size][there[of_size]].reshape(-1, size))
    if name.startswith(_WHOLE) and not np.isnan(numbers).any():
        return numbers.astype(np.int64)
    return numbers

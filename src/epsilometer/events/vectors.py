"""Numbers of whole vectors that no single entry shows: summaries, and learned sums of products."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from epsilometer.numerics.arrays import Floats, Sample

_PART = 1 << 14  # rows that are worked on at a time
_CLIPPED = 8.0  # units of its spread, at which an entry is clipped


@dataclass(frozen=True)
class Formula:
    """A sum of weighted products of entries in units of their spread.

    It reads d ``entries`` of an output, subtracts ``centres``, divides by ``scales`` and clips to
    [-8, 8]; a missing entry (NaN) counts as its centre. Each of the ``terms`` has the positions of
    its factors among ``entries``, one or two, and its weight.

    >>> product = Formula((0, 1), (0.0, 0.0), (1.0, 1.0), (((0, 1), 0.5), ((1,), 1.0)))
    >>> product.of(np.array([[2.0, 3.0], [np.nan, 1.0]])).tolist()
    [6.0, 1.0]
    """

    entries: tuple[int, ...]
    centres: tuple[float, ...]
    scales: tuple[float, ...]
    terms: tuple[tuple[tuple[int, ...], float], ...] = ()

    def of(self, sample: Sample) -> Floats:
        """Return the score of each output ``(n, d')``, of shape ``(n,)``.

        The terms are added in this order, so the score is the same on every machine.
        """
        if len(sample) > _PART:  # in less memory and time
            parts = np.split(sample, range(_PART, len(sample), _PART))
            return np.concatenate([*map(self.of, parts)])
        columns = self.columns(sample)
        total = np.zeros(len(sample))
        for factors, weight in self.terms:
            total += weight * product(columns, factors)
        return total

    def columns(self, sample: Sample) -> Floats:
        """Return the entries of outputs ``(n, d')`` in units of their spread, ``(d, n)``."""
        columns: Floats = np.array([sample[:, entry] for entry in self.entries], np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            columns = (columns - np.array(self.centres)[:, None]) / np.array(self.scales)[:, None]
        np.clip(columns, -_CLIPPED, _CLIPPED, out=columns)
        columns[np.isnan(columns)] = 0.0
        return columns


def product(columns: Floats, factors: Sequence[int]) -> Floats:
    """Return the product, ``(n,)``, of one or two of the columns, ``(d, n)``."""
    first: Floats = columns[factors[0]]
    return first if len(factors) == 1 else first * columns[factors[1]]


def _sum(rows: Floats) -> Floats:
    return reduce(np.add, rows.T, np.zeros(len(rows)))  # whatever other rows there are


def _centred(rows: Floats) -> Floats:
    return np.asarray(rows - (_sum(rows) / rows.shape[1])[:, None])


def _check_sum(rows: Floats) -> Floats:
    """Return the sums of digits, each second one from the last but one doubled, less its nines."""
    doubled = 2 * rows[:, -2::-2]
    doubled -= 9 * (doubled > 9)
    return _sum(rows[:, ::-2]) + _sum(doubled)


def _distinct(rows: Floats) -> Floats:
    rising = np.sort(rows, axis=1)
    return np.asarray(1.0 + (rising[:, 1:] != rising[:, :-1]).sum(axis=1))


def _products(rows: Floats) -> Floats:
    centred = _centred(rows)
    return _sum(centred[:, 1:] * centred[:, :-1])


SUM = "sum"
CHECK_SUM = "check sum of digits"
DISTINCT = "number of different values"
SUMMARIES: Mapping[str, Callable[[Floats], Floats]] = {
    SUM: _sum,
    "sum over the root of the number": lambda rows: _sum(rows) / rows.shape[1] ** 0.5,
    "largest": lambda rows: rows.max(axis=1),
    "smallest": lambda rows: rows.min(axis=1),
    "place of the largest": lambda rows: rows.argmax(axis=1).astype(float),
    "place of the smallest": lambda rows: rows.argmin(axis=1).astype(float),
    DISTINCT: _distinct,
    "number of rises": lambda rows: (rows[:, 1:] > rows[:, :-1]).sum(axis=1).astype(float),
    CHECK_SUM: _check_sum,
    "spread": lambda rows: np.sqrt(_sum(_centred(rows) ** 2) / rows.shape[1]),
    "product of neighbours": _products,
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
    columns = [sample[:, list(group)].astype(np.float64, order="F") for group in groups]
    if name == CORRELATION:
        first = _centred(columns[0])
        second = _centred(columns[1])
        return _sum(first * second) / np.sqrt(_sum(first**2) * _sum(second**2))
    rows = columns[0]
    numbers = np.full(len(sample), np.nan)
    there = ~np.isnan(rows)
    if there.all():
        numbers = SUMMARIES[name](rows)
    else:
        lengths = there.sum(axis=1)
        for size in set(lengths.tolist()) - {0}:
            of_size = lengths == size
            entries = rows[of_size][there[of_size]].reshape(-1, size)
            numbers[of_size] = SUMMARIES[name](entries)
    whole = name.startswith(_WHOLE) and not np.isnan(numbers).any()
    return numbers.astype(np.int64) if whole else numbers

"""A learned score of several entries: a sum of products, as plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epsilometer.arrays import Floats, Sample

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
    terms: tuple[tuple[tuple[int, ...], float], ...]

    def of(self, sample: Sample) -> Floats:
        """Return the score of each output ``(n, d')``, of shape ``(n,)``.

        The terms are added in this order, so the score is the same on every machine.
        """
        columns = standardised(sample, self.entries, self.centres, self.scales)
        total = np.zeros(len(sample))
        for factors, weight in self.terms:
            total += weight * product(columns, factors)
        return total


def standardised(
    sample: Sample, entries: Sequence[int], centres: Sequence[float], scales: Sequence[float]
) -> list[Floats]:
    """Return entries of outputs ``(n, d)`` as a formula reads them, each of shape ``(n,)``."""
    columns = []
    for entry, centre, scale in zip(entries, centres, scales, strict=True):
        with np.errstate(invalid="ignore", over="ignore"):
            column = (sample[:, entry] - centre) / scale
        columns.append(np.nan_to_num(np.clip(column, -_CLIPPED, _CLIPPED), nan=0.0))
    return columns


def product(columns: Sequence[Floats], factors: Sequence[int]) -> Floats:
    """Return the product of some columns, each of shape ``(n,)``."""
    return math.prod((columns[i] for i in factors[1:]), start=columns[factors[0]])
